// SPDX-License-Identifier: Apache-2.0
// Pooling over grids, one item a texel: X [n, h, w, c] to Y [n, oh, ow, c]. MAX, or the mean over the window's cells inside the map; with
// COUNT_PAD cells in the padding count too (but not those past pad_end, which only ceil_mode reaches).
__kernel void run(PARAMETERS)
{
    if (OUTSIDE) {
        return;
    }
    const int px = X_ID, cb = Y_ID, row = Z_ID, py = row % oh, pn = row / oh;
    float4 v = (float4)(MAX ? -INFINITY : 0.0f);
    int count = 0;
    for (int ky = 0; ky < KH; ky++) {
        const int iy = py * STRIDE_Y - PAD_Y + ky * DIL_Y;
        for (int kx = 0; kx < KW; kx++) {
            const int ix = px * STRIDE_X - PAD_X + kx * DIL_X;
            const bool in = iy >= 0 && ix >= 0 && iy < h && ix < w;
            count += in || (COUNT_PAD && iy < h + END_Y && ix < w + END_X);
            if (in) {
                const float4 x = X_READ(cb * w + ix, pn * h + iy);
                v = MAX ? NAN_OR(fmax, v, x) : v + x;
            }
        }
    }
    if (!MAX) {
        v /= (float)max(count, 1);
    }
    Y_WRITE(cb * ow + px, row, MASK(cb, v));
}
