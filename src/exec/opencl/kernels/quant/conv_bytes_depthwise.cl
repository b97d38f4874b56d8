// SPDX-License-Identifier: Apache-2.0
// Depthwise convolution of 8-bit pictures whose channels lie four to a word: x4 [n, c / 4, h, w] (pack_bytes). One item makes one pixel of four
// channels.
//   f  weights less their zero points, [c / 4, kh, kw, 4]    start [c]  as in conv_bytes; taps outside the map read the zero point
#ifdef SIGNED
#define BYTES4(v) convert_int4(as_char4(v))
#else
#define BYTES4(v) convert_int4(as_uchar4(v))
#endif

__kernel void run(PARAMETERS)
{
    if (OUTSIDE) {
        return;
    }
    const int px = X_ID, cb = Y_ID, row = Z_ID, py = row % oh, pn = row / oh, plane = (pn * blocks + cb) * h;
    int4 acc = vload4(cb, start);
    for (int ky = 0; ky < KH; ky++) {
        const int iy = py * STRIDE_Y - PAD_Y + ky * DIL_Y;
        for (int kx = 0; kx < KW; kx++) {
            const int ix = px * STRIDE_X - PAD_X + kx * DIL_X;
            const bool in = iy >= 0 && ix >= 0 && iy < h && ix < w;
            const uint v = in ? x4[(plane + iy) * w + ix] : OUTER_WORD;
            acc += BYTES4(v) * vload4((cb * KH + ky) * KW + kx, f);
        }
    }
    const int sums[4] = {acc.x, acc.y, acc.z, acc.w};
    for (int l = 0; l < 4 && 4 * cb + l < channels; l++) {
        y[((pn * channels + 4 * cb + l) * oh + py) * ow + px] = REQUANT(sums[l], 4 * cb + l);
    }
}
