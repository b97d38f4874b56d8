// SPDX-License-Identifier: Apache-2.0
// Winograd, last of three: results of the tiles, A^T m A, then y = act(that + bias + residual).
//   M  IN_OUT_HEIGHT [taps, o, tiles]    B  ARGUMENT [o]    R, Y  IN_OUT_CHANNEL [n, oh, ow, o]
// One item makes one row of BLOCK results for four channels.
#if BLOCK == 2
#define SIDE 4
__constant float at[BLOCK * SIDE] = {1, 1, 1, 0, 0, 1, -1, -1};
#else
#define SIDE 6
__constant float at[BLOCK * SIDE] = {1, 1, 1, 1, 1, 0, 0, 1, -1, 2, -2, 0, 0, 1, 1, 4, 4, 0, 0, 1, -1, 8, -8, 1};
#endif

__kernel void run(PARAMETERS)
{
    if (OUTSIDE) {
        return;
    }
    const int tile = X_ID, ob = Y_ID, row = Z_ID;
    const int line = OVER(tile, across), pn = OVER(line, down);
    const int px = (tile - line * across) * BLOCK, py = (line - pn * down) * BLOCK + row;
    if (py >= oh) {
        return;
    }
    float4 s[SIDE];
#pragma unroll
    for (int j = 0; j < SIDE; j++) {
        s[j] = (float4)(0.0f);
    }
    for (int i = 0; i < SIDE; i++) {
        const float f = at[row * SIDE + i];
        if (f == 0.0f) {
            continue;
        }
#pragma unroll
        for (int j = 0; j < SIDE; j++) {
            s[j] = mad((float4)(f), M_READ(tile, (i * SIDE + j) * gy + ob), s[j]);
        }
    }
#pragma unroll
    for (int c = 0; c < BLOCK; c++) {
        if (px + c >= ow) {
            break;
        }
        float4 v = (float4)(0.0f);
#pragma unroll
        for (int j = 0; j < SIDE; j++) {
            if (at[c * SIDE + j] != 0.0f) {
                v = mad((float4)(at[c * SIDE + j]), s[j], v);
            }
        }
        const int column = ob * ow + px + c, line_at = pn * oh + py;
        RESULT(ob, column, line_at, v);
    }
}
