// SPDX-License-Identifier: Apache-2.0
// Depthwise convolution over grids: every channel has its own filter.
//   X, Y, R  IN_OUT_CHANNEL [n, h, w, c]    F  DW_CONV2D_FILTER [c, 1, kh, kw]    B  ARGUMENT [c]
// One item makes P texels of one column, one below the other; X_ID counts channel blocks and columns together, as they lie in the grid.
// Texels of the window that several results need are read once (ROWS of them for each tap column), where they fit in
// registers. With HALVES the sums are halves.
#define TEXEL_AT(iy) X_READ0(ix >= 0 && ix < w && (iy) >= 0 && (iy) < h, cb * w + ix, pn * h + (iy))
#define ROWS ((P - 1) * STRIDE_Y + (KH - 1) * DIL_Y + 1)

__kernel GROUP void run(PARAMETERS)
{
    if (OUTSIDE) {
        return;
    }
    const int cb = OVER(X_ID, ow), px = X_ID - cb * ow;
#ifdef ONE_PICTURE
    const int pn = 0, py = Y_ID * P;
#else
    const int strips = (oh + P - 1) / P, pn = Y_ID / strips, py = Y_ID % strips * P;
#endif
    N4 acc[P];
#pragma unroll
    for (int j = 0; j < P; j++) {
        acc[j] = (N4)(0.0f);
    }
#pragma unroll UNROLL
    for (int kx = 0; kx < KW; kx++) {
        const int ix = px * STRIDE_X - PAD_X + kx * DIL_X;
#if ROWS <= 16
        N4 v[ROWS];
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            v[r] = TEXEL_AT(py * STRIDE_Y - PAD_Y + r);
        }
#pragma unroll
        for (int ky = 0; ky < KH; ky++) {
            const N4 f = F_READ(ky * KW + kx, cb);
#pragma unroll
            for (int j = 0; j < P; j++) {
                acc[j] = MAD4(v[j * STRIDE_Y + ky * DIL_Y], f, acc[j]);
            }
        }
#else
        for (int ky = 0; ky < KH; ky++) {
            const N4 f = F_READ(ky * KW + kx, cb);
            for (int j = 0; j < P; j++) {
                acc[j] = MAD4(TEXEL_AT((py + j) * STRIDE_Y - PAD_Y + ky * DIL_Y), f, acc[j]);
            }
        }
#endif
    }
#pragma unroll
    for (int j = 0; j < P; j++) {
        if (py + j < oh) {
            const int at = cb * ow + px, row = pn * oh + py + j;
            float4 v = FLOAT4(acc[j]);
            RESULT(cb, at, row, v);
        }
    }
}
