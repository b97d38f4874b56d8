// SPDX-License-Identifier: Apache-2.0
// Running sums or products along an axis of `length` elements, `inner` apart; one item an axis. Floats carry the part that each addition rounds
// away (Kahan 1965), as the reference adds in float64. Built so that the compiler keeps the order: the lost part goes through volatile.
__kernel void run(PARAMETERS)
{
    if (OUTSIDE) {
        return;
    }
    const int i = X_ID, base = i / inner * length * inner + i % inner;
    ACC acc = PRODUCT ? 1 : 0;
#if FLOAT
    volatile float lost = 0.0f;
#endif
    for (int k = 0; k < length; k++) {
        const int at = base + (REVERSE ? length - 1 - k : k) * inner;
        const ACC v = (ACC)a[at], before = acc;
#if FLOAT
        if (!PRODUCT) {
            const float small = v - lost;
            volatile float sum = acc + small, gone = sum - acc;
            lost = isfinite(sum) ? gone - small : 0.0f;
            acc = sum;
        } else {
            acc *= v;
        }
#else
        acc = PRODUCT ? acc * v : acc + v;
#endif
        y[at] = (ELEMENT)(EXCLUSIVE ? before : acc);
    }
}
