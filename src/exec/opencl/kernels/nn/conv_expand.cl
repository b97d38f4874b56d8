// SPDX-License-Identifier: Apache-2.0
// A convolution and the depthwise one that alone reads it: what lies between them stays in local memory.
//   X  IN_OUT_CHANNEL [n, h0, w0, c]    F  CONV2D_FILTER [e, c, KH0, KW0]    A  ARGUMENT [e]      mid = act0(conv(X, F) + A) [n, h, w, e]
//   D  DW_CONV2D_FILTER [e, 1, KH, KW]  B  ARGUMENT [e]                      R, Y  IN_OUT_CHANNEL [n, oh, ow, e]
// A group makes ROWS rows of OB blocks of four channels: first the rows of mid that their windows reach, whole rows of the map, so that
// only the rows above and below are made twice. SPLIT_C items share one reduction, each with a copy of mid in local memory (`room` texels
// for each block); the copies are added in the same order always. HALVES: products and short sums of the first convolution, as in conv.cl.
#define ITEMS (LANES_X * SPLIT_C)
#ifdef BIAS0
#define FIRST(block, v) ((v) + A_READ((block), 0))
#else
#define FIRST(block, v) (v)
#endif
#define MID_ROWS ((ROWS - 1) * STRIDE_Y + (KH - 1) * DIL_Y + 1)

__kernel GROUP void run(PARAMETERS)
{
    const int lane = get_local_id(0), part = get_local_id(2), own = lane + LANES_X * part, ob = Y_ID * OB;
    const int strip = X_ID / LANES_X;
#ifdef ONE_PICTURE
    const int pn = 0, y0 = strip * ROWS;
#else
    const int pn = strip / strips, y0 = (strip - pn * strips) * ROWS;
#endif
    const int reach = y0 * STRIDE_Y - PAD_Y, top = max(reach, 0), pixels = (min(reach + MID_ROWS, h) - top) * w;
    for (int q0 = lane; q0 - lane < pixels; q0 += LANES_X * P) {
        float4 acc[OB][P];
        RUN_SUM(OB, P);
        int px[P], py[P];
#pragma unroll
        for (int j = 0; j < P; j++) {
            const int q = min(q0 + j * LANES_X, pixels - 1), line = OVER(q, w);
            px[j] = q - line * w;
            py[j] = top + line;
#pragma unroll
            for (int k = 0; k < OB; k++) {
                acc[k][j] = (float4)(0.0f);
                SUM[k][j] = (N4)(0.0f);
            }
        }
        for (int t = 0; t < KH0 * KW0; t++) {
            int at_x[P], at_y[P];
            bool in[P];
#pragma unroll
            for (int j = 0; j < P; j++) {
                const int iy = py[j] * STRIDE_Y0 - PAD_Y0 + t / KW0 * DIL_Y0, ix = px[j] * STRIDE_X0 - PAD_X0 + t % KW0 * DIL_X0;
                in[j] = INSIDE || (iy >= 0 && ix >= 0 && iy < h0 && ix < w0);
                at_x[j] = in[j] ? ix : -1;
                at_y[j] = in[j] ? pn * h0 + iy : 0;
            }
#pragma unroll UNROLL
            for (int ib = part; ib < in_blocks; ib += SPLIT_C) {
                N4 v[P];
#pragma unroll
                for (int j = 0; j < P; j++) {
                    v[j] = X_READ0(in[j], at_x[j] + ib * w0, at_y[j]);
                }
#pragma unroll
                for (int k = 0; k < OB; k++) {
                    const int row = min(ob + k, out_blocks - 1) * KH0 * KW0 + t;
                    const N4 f0 = F_READ(4 * ib, row), f1 = F_READ(4 * ib + 1, row), f2 = F_READ(4 * ib + 2, row), f3 = F_READ(4 * ib + 3, row);
#pragma unroll
                    for (int j = 0; j < P; j++) {
                        SUM[k][j] = MAD4(v[j].xxxx, f0, SUM[k][j]);
                        SUM[k][j] = MAD4(v[j].yyyy, f1, SUM[k][j]);
                        SUM[k][j] = MAD4(v[j].zzzz, f2, SUM[k][j]);
                        SUM[k][j] = MAD4(v[j].wwww, f3, SUM[k][j]);
                        END_RUN(k, j, ib / SPLIT_C % (RUN / 4) == RUN / 4 - 1 || ib + SPLIT_C >= in_blocks);
                    }
                }
            }
        }
#pragma unroll
        for (int k = 0; k < OB; k++) {
            for (int j = 0; j < P; j++) {
                const int q = q0 + j * LANES_X;
                if (q < pixels) {
#if SPLIT_C > 1
                    mid[(part * OB + k) * room + q] = acc[k][j];
#else
                    mid[k * room + q] = ACT0(FIRST(min(ob + k, out_blocks - 1), acc[k][j]));
#endif
                }
            }
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
#if SPLIT_C > 1
    for (int k = 0; k < OB; k++) {
        for (int q = own; q < pixels; q += ITEMS) {
            float4 v = mid[k * room + q];
            for (int s = 1; s < SPLIT_C; s++) {
                v += mid[(s * OB + k) * room + q];
            }
            mid[k * room + q] = ACT0(FIRST(min(ob + k, out_blocks - 1), v));
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
    for (int k = 0; k < OB && ob + k < out_blocks; k++) {
        for (int r = own; r < min(ROWS, oh - y0) * ow; r += ITEMS) {
            const int line = OVER(r, ow), px = r - line * ow, py = y0 + line;
            float4 v = (float4)(0.0f);
#pragma unroll
            for (int t = 0; t < KH * KW; t++) {
                const int iy = py * STRIDE_Y - PAD_Y + t / KW * DIL_Y, ix = px * STRIDE_X - PAD_X + t % KW * DIL_X;
                if (iy >= 0 && iy < h && ix >= 0 && ix < w) {
                    v = mad(mid[k * room + (iy - top) * w + ix], D_READ(t, ob + k), v);
                }
            }
            const int at = (ob + k) * ow + px, row = pn * oh + py;
            RESULT(ob + k, at, row, v);
        }
    }
}
