// SPDX-License-Identifier: Apache-2.0
// Convolution of 8-bit pictures whose channels lie four to a word: x4 [n, c / 4, h, w] (pack_bytes), groups of whole words. One item makes
// OB blocks of four output channels at P pixels; pixel j of an item is its number + j * (number of items).
//   f4  words of the weights less their zero points: [o / 4, kh, kw, i / 4, 4]. With DOT the last dim are output channels and a word holds
//       four input channels, for the built-in products of four bytes; else the last dim are input channels and a word four outputs
//       With FLOATS (devices that multiply floats faster) each weight is a float, the last dim are outputs: sums of CHUNK blocks of products
//       of bytes stay below 2^24, where floats are exact, and go into integers then
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

// P words of input block `block` times the weights of OB output blocks at `place`, into `sums`.
#ifdef FLOATS
#define SUM float4
#define MULTIPLY(sums, v, place) do { \
        const float4 f0 = vload4(4 * (place), f4), f1 = vload4(4 * (place) + 1, f4), f2 = vload4(4 * (place) + 2, f4), f3 = vload4(4 * (place) + 3, f4); \
        for (int j = 0; j < P; j++) { \
            const float4 x = convert_float4(BYTES4(v[j])); \
            sums[j] = mad((float4)(x.x), f0, mad((float4)(x.y), f1, mad((float4)(x.z), f2, mad((float4)(x.w), f3, sums[j])))); \
        } } while (0)
#else
#define SUM int4
#define MULTIPLY(sums, v, place) do { \
        const uint4 f = vload4((place), f4); \
        for (int j = 0; j < P; j++) { \
            sums[j] += PRODUCTS(v[j], f); \
        } } while (0)
#endif
#ifdef DOT
#define PRODUCTS(v, f) (int4)(DOT_BYTES(v, f.x), DOT_BYTES(v, f.y), DOT_BYTES(v, f.z), DOT_BYTES(v, f.w))
#else
#define PRODUCTS(v, f) by_lanes(BYTES4(v), f)
int4 by_lanes(int4 x, uint4 f)
{
    return (int4)(x.x) * WEIGHTS(f.x) + (int4)(x.y) * WEIGHTS(f.y) + (int4)(x.z) * WEIGHTS(f.z) + (int4)(x.w) * WEIGHTS(f.w);
}
#endif

__kernel void run(PARAMETERS)
{
    if (OUTSIDE) {
        return;
    }
    const int item = X_ID, ob = Y_ID * OB, group = 4 * ob / group_out;
    int4 acc[OB][P];
    int px[P], py[P], pn[P];
#pragma unroll
    for (int j = 0; j < P; j++) {
        const int p = min(item + j * gx, pixels - 1);
        px[j] = p % ow;
        py[j] = p / ow % oh;
        pn[j] = p / ow / oh;
        for (int k = 0; k < OB; k++) {
            acc[k][j] = vload4(min(ob + k, out_blocks - 1), start);
        }
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
        for (int first = 0; first < group_blocks; first += CHUNK) {
            SUM sums[OB][P];
            for (int k = 0; k < OB; k++) {
                for (int j = 0; j < P; j++) {
                    sums[k][j] = (SUM)(0);
                }
            }
            for (int ib = first; ib < min(first + CHUNK, group_blocks); ib++) {
                uint v[P];
#pragma unroll
                for (int j = 0; j < P; j++) {
                    v[j] = in[j] ? x4[at[j] + ib * h * w] : OUTER_WORD;
                }
#pragma unroll
                for (int k = 0; k < OB; k++) {
                    MULTIPLY(sums[k], v, (min(ob + k, out_blocks - 1) * KH * KW + t) * group_blocks + ib);
                }
            }
            for (int k = 0; k < OB; k++) {
                for (int j = 0; j < P; j++) {
                    acc[k][j] += convert_int4(sums[k][j]);
                }
            }
        }
    }
    for (int k = 0; k < OB && ob + k < out_blocks; k++) {
#pragma unroll
        for (int j = 0; j < P; j++) {
            if (item + j * gx < pixels) {
                const int sums[4] = {acc[k][j].x, acc[k][j].y, acc[k][j].z, acc[k][j].w}, c = 4 * (ob + k);
                for (int l = 0; l < 4 && c + l < channels; l++) {
                    y[((pn[j] * channels + c + l) * oh + py[j]) * ow + px[j]] = REQUANT(sums[l], c + l);
                }
            }
        }
    }
}
