// SPDX-License-Identifier: Apache-2.0
// theta [n, SPATIAL, SPATIAL + 1] to the places that it moves each element to, [n, d..., SPATIAL]: each row times (last coordinate, ..., first, 1).
__constant int sizes[] = {SIZES};

float position(int i, int n)
{
    return ALIGNED ? (n > 1 ? -1.0f + 2.0f * (float)i / (float)(n - 1) : 0.0f) : -1.0f + (2.0f * (float)i + 1.0f) / (float)n;
}

__kernel void run(PARAMETERS)
{
    if (OUTSIDE) {
        return;
    }
    const int point = X_ID, n = Y_ID;
    float at[SPATIAL];
    for (int d = SPATIAL - 1, rest = point; d >= 0; d--) {
        at[SPATIAL - 1 - d] = position(rest % sizes[d], sizes[d]);
        rest /= sizes[d];
    }
    for (int row = 0; row < SPATIAL; row++) {
        __global const float *r = theta + (n * SPATIAL + row) * (SPATIAL + 1);
        float sum = r[SPATIAL];
        for (int a = 0; a < SPATIAL; a++) {
            sum = mad(r[a], at[a], sum);
        }
        y[(n * gx + point) * SPATIAL + row] = sum;
    }
}
