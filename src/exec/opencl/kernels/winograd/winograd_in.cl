// SPDX-License-Identifier: Apache-2.0
// Winograd, first of three: the tiles of a map, transformed. A tile gives BLOCK x BLOCK results, so it reads SIDE x SIDE texels; its
// transform is B^T d B (Lavin and Gray, arXiv 1509.09308).
//   X  IN_OUT_CHANNEL [n, h, w, c]      V  IN_OUT_HEIGHT [taps, c, tiles]: texel (tile, tap * blocks + block), lanes along c
// One item makes one row of a tile's taps for four channels: one row of B^T d needs few rows of the map, and an item few registers.
#if BLOCK == 2
#define SIDE 4
__constant float bt[SIDE * SIDE] = {1, 0, -1, 0, 0, 1, 1, 0, 0, -1, 1, 0, 0, 1, 0, -1};
#else
#define SIDE 6
__constant float bt[SIDE * SIDE] = {4, 0, -5, 0,  1, 0, 0, -4, -4, 1, 1, 0, 0, 4, -4, -1, 1, 0,
                                    0, -2, -1, 2, 1, 0, 0, 2,  -1, -2, 1, 0, 0, 4, 0, -5, 0, 1};
#endif

__kernel void run(PARAMETERS)
{
    if (OUTSIDE) {
        return;
    }
    const int tile = X_ID, cb = Y_ID, row = Z_ID;
    const int line = OVER(tile, across), pn = OVER(line, down);
    const int x0 = (tile - line * across) * BLOCK - PAD_X, y0 = (line - pn * down) * BLOCK - PAD_Y;
    float4 s[SIDE];
#pragma unroll
    for (int j = 0; j < SIDE; j++) {
        s[j] = (float4)(0.0f);
    }
    for (int i = 0; i < SIDE; i++) {
        const float f = bt[row * SIDE + i];
        const int iy = y0 + i;
        if (f == 0.0f || iy < 0 || iy >= h) {
            continue;
        }
#pragma unroll
        for (int j = 0; j < SIDE; j++) {
            const int ix = x0 + j;
            s[j] = mad((float4)(f), X_READ0(ix >= 0 && ix < w, cb * w + ix, pn * h + iy), s[j]);
        }
    }
#pragma unroll
    for (int i = 0; i < SIDE; i++) {
        float4 v = (float4)(0.0f);
#pragma unroll
        for (int j = 0; j < SIDE; j++) {
            if (bt[i * SIDE + j] != 0.0f) {
                v = mad((float4)(bt[i * SIDE + j]), s[j], v);
            }
        }
        V_WRITE(tile, (row * SIDE + i) * gy + cb, v);
    }
}
