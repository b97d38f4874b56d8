// SPDX-License-Identifier: Apache-2.0
// Convolution over grids, transposed too (DECONV): y = act(conv(x, f) + bias + residual).
//   X  IN_OUT_CHANNEL  [n, h, w, c]        F  CONV2D_FILTER [o, i, kh, kw], i = input channels of one group
//   B  ARGUMENT [o]                        R, Y  IN_OUT_CHANNEL [n, oh, ow, o]
// One item makes OB blocks of four output channels at P pixels, all in registers. Pixel j of an item is its number + j * (number of
// items), so that neighbouring items read neighbouring texels while all of them read the same filter texel. SPLIT_T * SPLIT_C items
// share one reduction: each takes every SPLIT_T-th tap and of it every SPLIT_C-th block of input channels; the sums meet in local memory,
// always added in the same order. Output blocks that are CENTRED have zeros in their filters but for the tap CENTRE.
// With HALVES the products of up to RUN input channels of a tap add up in halves, and these runs in floats.
#define TAPS (KH * KW)
#define SPLIT (SPLIT_T * SPLIT_C)

__kernel GROUP void run(PARAMETERS)
{
    const int item = X_ID, ob = Y_ID * OB, part = get_local_id(2), pixels = n * oh * ow;
    const bool real = item < gx && Y_ID < gy;
    const int group = min(ob, out_blocks - 1) / group_out;      // group_out, group_in: blocks of four channels in a group
    const int x_block = group * group_in;
    float4 acc[OB][P];
    RUN_SUM(OB, P);
    int px[P], py[P], pn[P];
#pragma unroll
    for (int j = 0; j < P; j++) {
        const int p = min(item + j * gx, pixels - 1);
        const int line = OVER(p, ow);
        px[j] = p - line * ow;
#ifdef ONE_PICTURE
        py[j] = line;
        pn[j] = 0;
#else
        pn[j] = OVER(line, oh);
        py[j] = line - pn[j] * oh;
#endif
#pragma unroll
        for (int k = 0; k < OB; k++) {
            acc[k][j] = (float4)(0.0f);
            SUM[k][j] = (N4)(0.0f);
        }
    }
    for (int t = part / SPLIT_C; t < TAPS; t += SPLIT_T) {
        const int ky = t / KW, kx = t % KW;
#ifdef CENTRE
        if (CENTRED(ob) && t != CENTRE) {
            continue;
        }
#endif
        int at_x[P], at_y[P];
        bool in[P];
#pragma unroll
        for (int j = 0; j < P; j++) {
#ifdef DECONV
            const int sy = py[j] + PAD_Y - ky * DIL_Y, sx = px[j] + PAD_X - kx * DIL_X;
            const int iy = sy / STRIDE_Y, ix = sx / STRIDE_X;
            in[j] = sy >= 0 && sx >= 0 && sy % STRIDE_Y == 0 && sx % STRIDE_X == 0 && iy < h && ix < w;
#else
            const int iy = py[j] * STRIDE_Y - PAD_Y + ky * DIL_Y, ix = px[j] * STRIDE_X - PAD_X + kx * DIL_X;
            in[j] = INSIDE || (iy >= 0 && ix >= 0 && iy < h && ix < w);
#endif
            at_x[j] = in[j] ? x_block * w + ix : -1;
            at_y[j] = in[j] ? pn[j] * h + iy : 0;
        }
#pragma unroll UNROLL
        for (int ib = part % SPLIT_C; ib < group_in; ib += SPLIT_C) {
            N4 v[P];
#pragma unroll
            for (int j = 0; j < P; j++) {
                v[j] = X_READ0(in[j], at_x[j] + ib * w, at_y[j]);
            }
#pragma unroll
            for (int k = 0; k < OB; k++) {
                const int row = min(ob + k, out_blocks - 1) * TAPS + t;
                const N4 f0 = F_READ(4 * ib, row), f1 = F_READ(4 * ib + 1, row), f2 = F_READ(4 * ib + 2, row), f3 = F_READ(4 * ib + 3, row);
#pragma unroll
                for (int j = 0; j < P; j++) {
                    SUM[k][j] = MAD4(v[j].xxxx, f0, SUM[k][j]);
                    SUM[k][j] = MAD4(v[j].yyyy, f1, SUM[k][j]);
                    SUM[k][j] = MAD4(v[j].zzzz, f2, SUM[k][j]);
                    SUM[k][j] = MAD4(v[j].wwww, f3, SUM[k][j]);
                    END_RUN(k, j, ib / SPLIT_C % (RUN / 4) == RUN / 4 - 1 || ib + SPLIT_C >= group_in);
                }
            }
        }
    }
#if SPLIT > 1
    const int lane = get_local_id(0) + LANES_X * get_local_id(1);
#endif
#pragma unroll
    for (int k = 0; k < OB; k++) {
#if SPLIT > 1
        if (k > 0) {
            barrier(CLK_LOCAL_MEM_FENCE);
        }
#pragma unroll
        for (int j = 0; j < P; j++) {
            sums[(part * P + j) * LANES_X * LANES_Y + lane] = acc[k][j];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
#endif
#pragma unroll
        for (int j = 0; j < P; j++) {
            const int p = item + j * gx;
            float4 v = acc[k][j];
#if SPLIT > 1
            // The parts share the adding: part s finishes the pixel whose number is s modulo SPLIT.
            if (j % SPLIT != part) {
                continue;
            }
            v = sums[j * LANES_X * LANES_Y + lane];
            for (int s = 1; s < SPLIT; s++) {
                v += sums[(s * P + j) * LANES_X * LANES_Y + lane];
            }
#endif
            if (!real || p >= pixels || ob + k >= out_blocks) {
                continue;
            }
            const int at = (ob + k) * ow + px[j], row = pn[j] * oh + py[j];
            RESULT(ob + k, at, row, v);
        }
    }
}
