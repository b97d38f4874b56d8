// SPDX-License-Identifier: Apache-2.0
// softmax of 8-bit x [outer, n, inner] over n in integers: t [256] holds exp(-scale d) 2^23 by the distance d from the largest value
// (tn_requant_softmax of base/requant.h). One item a line.
__kernel void run(PARAMETERS)
{
    if (OUTSIDE) {
        return;
    }
    const int base = X_ID / inner * n * inner + X_ID % inner;
    int most = INT_MIN;
    ulong sum = 0;
    for (int i = 0; i < n; i++) {
        most = max(most, (int)x[base + i * inner]);
    }
    for (int i = 0; i < n; i++) {
        sum += t[most - x[base + i * inner]];
    }
    const ulong whole = sum << 16;
    for (int i = 0; i < n; i++) {
        const ulong part = (ulong)t[most - x[base + i * inner]] * (uint)INVERSE, quotient = whole ? (part + whole / 2) / whole : 0;
        y[base + i * inner] = clamp((int)min(quotient, (ulong)65535) + Y_ZERO, LOW, HIGH);
    }
}
