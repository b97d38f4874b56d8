// SPDX-License-Identifier: Apache-2.0
// Depthwise convolution over grids: every channel has its own filter.
//   X, Y, R  IN_OUT_CHANNEL [n, h, w, c]    F  DW_CONV2D_FILTER [c, 1, kh, kw]    B  ARGUMENT [c]
// One item makes P neighbouring columns of one channel block; a texel that several columns need is read once per tap.
__kernel void run(PARAMETERS)
{
    if (OUTSIDE) {
        return;
    }
    const int x0 = X_ID * P, cb = Y_ID, row = Z_ID, py = row % oh, pn = row / oh;
    float4 acc[P];
    for (int j = 0; j < P; j++) {
        acc[j] = (float4)(0.0f);
    }
    for (int ky = 0; ky < KH; ky++) {
        const int iy = py * STRIDE_Y - PAD_Y + ky * DIL_Y;
        if (iy < 0 || iy >= h) {
            continue;
        }
        for (int kx = 0; kx < KW; kx++) {
            const float4 f = F_READ(ky * KW + kx, cb);
            for (int j = 0; j < P; j++) {
                const int ix = (x0 + j) * STRIDE_X - PAD_X + kx * DIL_X;
                acc[j] = mad(X_READ0(ix >= 0 && ix < w, cb * w + ix, pn * h + iy), f, acc[j]);
            }
        }
    }
    for (int j = 0; j < P && x0 + j < ow; j++) {
        float4 v = acc[j];
        const int at = cb * ow + x0 + j;
#ifdef BIAS
        v += B_READ(cb, 0);
#endif
#ifdef RESIDUAL
        v += R_READ(at, row);
#endif
        v = ACT(v);
        Y_WRITE(at, row, MASK(cb, v));
    }
}
