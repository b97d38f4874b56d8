// SPDX-License-Identifier: Apache-2.0
// Slices by index: y [outer, indices, inner] = a [outer, n, inner] at index t[j]; negative indices count from the end. What lies outside
// (the host cannot know) becomes a bit in `bad`, which the run looks at.
__kernel void run(PARAMETERS)
{
    if (OUTSIDE) {
        return;
    }
    const int i = X_ID, j = Y_ID, o = Z_ID;
    INDEX at = t[j];
    at += at < 0 ? n : 0;
    const bool in = at >= 0 && at < n;
    if (!in) {
        bad[0] = 1;
    }
    y[(o * gy + j) * inner + i] = in ? a[(o * n + (int)at) * inner + i] : 0;
}
