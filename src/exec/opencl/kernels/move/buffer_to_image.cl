// SPDX-License-Identifier: Apache-2.0
// Row-major a [d0, d1, d2, d3] to the texels of a content type: one item a texel.
__kernel void run(PARAMETERS)
{
    if (OUTSIDE) {
        return;
    }
    const int x = X_ID, y = Y_ID;
    ELEMENT v[4];
    for (int l = 0; l < 4; l++) {
#if CONTENT == 5
        // Tap (row, col) of G g G^T of the filter from input 4 x + l to output o.
        const int t = y / d0, o = y % d0, i = 4 * x + l, row = t / (BLOCK + 2), col = t % (BLOCK + 2);
        float sum = 0.0f;
        for (int k = 0; k < 9 && i < d1; k++) {
            sum += g_rows[3 * row + k / 3] * g_rows[3 * col + k % 3] * a[(o * d1 + i) * 9 + k];
        }
        v[l] = sum;
#else
        const int at = lane_index(x, y, l, d0, d1, d2, d3);
        v[l] = at < 0 ? 0 : a[at];
#endif
    }
    Y_WRITE(x, y, (TEXEL4)(v[0], v[1], v[2], v[3]));
}
