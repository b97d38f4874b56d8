// SPDX-License-Identifier: Apache-2.0
// Resizing of any AXES axes of a plain tensor: y[i] is the sum over all combinations of one tap from each axis, with the product of their
// weights. Lists begin with an unused 0 and then hold one number an axis: taps, where its entries begin in index and weight, its dim in
// y, the elements of y and of a from one of its coordinates to the next. BASE(i): the place in a along all other axes.
// An index of -1 says that the place lies outside: the result is `extrapolation` there.
__kernel void run(PARAMETERS)
{
    if (OUTSIDE) {
        return;
    }
    const int i = X_ID;
    int total = 1;
    for (int d = 1; d <= AXES; d++) {
        total *= taps[d];
    }
    float sum = 0.0f;
    bool outside = false;
    for (int t = 0; t < total; t++) {
        int rest = t, at = BASE(i);
        float w = 1.0f;
        for (int d = 1; d <= AXES; d++) {
            const int entry = first[d] + i / over[d] % dims[d] * taps[d] + rest % taps[d];
            rest /= taps[d];
            outside = outside || index[entry] < 0;
            at += max(index[entry], 0) * strides[d];
            w *= weight[entry];
        }
        sum = mad(w, a[at], sum);
    }
    y[i] = outside ? extrapolation : sum;
}
