// SPDX-License-Identifier: Apache-2.0
// Local response normalisation of plain x [n, c, pixels]: x / (bias + alpha / size * sum of squares of neighbouring channels)^beta; `share` is
// alpha / size. One item an element.
__kernel void run(PARAMETERS)
{
    if (OUTSIDE) {
        return;
    }
    const int p = X_ID, c = Y_ID, base = Z_ID * gy * gx + p;
    const int low = max(c - before, 0), high = min(c + after, gy - 1);
    float sum = 0.0f;
    for (int k = low; k <= high; k++) {
        const float v = x[base + k * gx];
        sum = mad(v, v, sum);
    }
    y[base + c * gx] = x[base + c * gx] / pow(shift + share * sum, beta);
}
