// SPDX-License-Identifier: Apache-2.0
// Bytes x [n, c, pixels] as words of four neighbouring channels y [n, c / 4, pixels]; lanes past the last channel hold zero.
__kernel void run(PARAMETERS)
{
    if (OUTSIDE) {
        return;
    }
    const int p = X_ID, cb = Y_ID, n = Z_ID;
    uchar lanes[4] = {0, 0, 0, 0};
    for (int l = 0; l < 4 && 4 * cb + l < channels; l++) {
        lanes[l] = x[(n * channels + 4 * cb + l) * gx + p];
    }
    y[(n * gy + cb) * gx + p] = as_uint((uchar4)(lanes[0], lanes[1], lanes[2], lanes[3]));
}
