// SPDX-License-Identifier: Apache-2.0
// Convolution of 8-bit pictures whose channels lie four to a word: x4 [n, c / 4, h, w] (pack_bytes), groups of whole words. One item makes
// four output channels at P pixels; pixel j of an item is its number + j * (number of items).
//   f4  words of the weights less their zero points: [o / 4, kh, kw, i / 4, 4]. With DOT the last dim are output channels and a word holds
//       four input channels, for the built-in products of four bytes; else the last dim are input channels and a word four outputs
//   start [o]  bias less the input's zero point times all weights; taps outside the map read the zero point
#ifdef SIGNED
#define BYTES4(v) convert_int4(as_char4(v))
#define DOT_BYTES(v, f) dot_4x8packed_ss_int((v), (f))
#else
#define BYTES4(v) convert_int4(as_uchar4(v))
#define DOT_BYTES(v, f) dot_4x8packed_us_int((v), (f))
#endif
#define WEIGHTS(f) convert_int4(as_char4(f))
#if defined(DOT) && !defined(cl_khr_integer_dot_product)
int dot_lanes(int4 p) { return p.x + p.y + p.z + p.w; }
int dot_4x8packed_ss_int(uint a, uint b) { return dot_lanes(convert_int4(as_char4(a)) * WEIGHTS(b)); }
int dot_4x8packed_us_int(uint a, uint b) { return dot_lanes(convert_int4(as_uchar4(a)) * WEIGHTS(b)); }
#endif

__kernel void run(PARAMETERS)
{
    if (OUTSIDE) {
        return;
    }
    const int item = X_ID, ob = Y_ID, group = 4 * ob / group_out;
    int4 acc[P];
    int px[P], py[P], pn[P];
#pragma unroll
    for (int j = 0; j < P; j++) {
        const int p = min(item + j * gx, pixels - 1);
        px[j] = p % ow;
        py[j] = p / ow % oh;
        pn[j] = p / ow / oh;
        acc[j] = vload4(ob, start);
    }
    for (int t = 0; t < KH * KW; t++) {
        int at[P];
        bool in[P];
#pragma unroll
        for (int j = 0; j < P; j++) {
            const int iy = py[j] * STRIDE_Y - PAD_Y + t / KW * DIL_Y, ix = px[j] * STRIDE_X - PAD_X + t % KW * DIL_X;
            in[j] = iy >= 0 && ix >= 0 && iy < h && ix < w;
            at[j] = in[j] ? ((pn[j] * blocks + group * group_blocks) * h + iy) * w + ix : 0;
        }
        for (int ib = 0; ib < group_blocks; ib++) {
            const uint4 f = vload4((ob * KH * KW + t) * group_blocks + ib, f4);
#pragma unroll
            for (int j = 0; j < P; j++) {
                const uint v = in[j] ? x4[at[j] + ib * h * w] : OUTER_WORD;
#ifdef DOT
                acc[j] += (int4)(DOT_BYTES(v, f.x), DOT_BYTES(v, f.y), DOT_BYTES(v, f.z), DOT_BYTES(v, f.w));
#else
                const int4 x = BYTES4(v);
                acc[j] += (int4)(x.x) * WEIGHTS(f.x) + (int4)(x.y) * WEIGHTS(f.y) + (int4)(x.z) * WEIGHTS(f.z) + (int4)(x.w) * WEIGHTS(f.w);
#endif
            }
        }
    }
#pragma unroll
    for (int j = 0; j < P; j++) {
        if (item + j * gx < pixels) {
            const int sums[4] = {acc[j].x, acc[j].y, acc[j].z, acc[j].w};
            for (int l = 0; l < 4 && 4 * ob + l < channels; l++) {
                y[((pn[j] * channels + 4 * ob + l) * oh + py[j]) * ow + px[j]] = REQUANT(sums[l], 4 * ob + l);
            }
        }
    }
}
