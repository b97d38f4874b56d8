// SPDX-License-Identifier: Apache-2.0
// Winograd, second of three: for each tap a product of matrices over grids, m[tap] = u[tap] v[tap].
//   U  WINOGRAD_FILTER [o, i, 3, 3]: texel (block of i, tap * out + o), lanes along i
//   V  IN_OUT_HEIGHT [taps, i, tiles]     M  IN_OUT_HEIGHT [taps, o, tiles]
// One item makes OB blocks of four outputs for P tiles; tile j of an item is its number + j * (number of items). SPLIT_C items share one
// reduction, each takes every SPLIT_C-th block of i, and the sums meet in local memory, always added in the same order.
__kernel GROUP void run(PARAMETERS)
{
    const int item = X_ID, ob = Y_ID * OB, part = get_local_id(2), tap = min(Z_ID, gz - 1) / SPLIT_C;
    const bool real = item < gx && Y_ID < gy && Z_ID < gz;
    float4 acc[OB][P];
    int at[P];
#pragma unroll
    for (int j = 0; j < P; j++) {
        at[j] = min(item + j * gx, tiles - 1);
#pragma unroll
        for (int k = 0; k < OB; k++) {
            acc[k][j] = (float4)(0.0f);
        }
    }
#pragma unroll UNROLL
    for (int ib = part; ib < in_blocks; ib += SPLIT_C) {
        float4 v[P];
#pragma unroll
        for (int j = 0; j < P; j++) {
            v[j] = V_READ(at[j], tap * in_blocks + ib);
        }
#pragma unroll
        for (int k = 0; k < OB; k++) {
            const int o = min(4 * (ob + k), out - 1), row = tap * out;
            const float4 u0 = U_READ(ib, row + o), u1 = U_READ(ib, row + min(o + 1, out - 1));
            const float4 u2 = U_READ(ib, row + min(o + 2, out - 1)), u3 = U_READ(ib, row + min(o + 3, out - 1));
#pragma unroll
            for (int j = 0; j < P; j++) {
                acc[k][j] = mad((float4)(v[j].x), (float4)(u0.x, u1.x, u2.x, u3.x), acc[k][j]);
                acc[k][j] = mad((float4)(v[j].y), (float4)(u0.y, u1.y, u2.y, u3.y), acc[k][j]);
                acc[k][j] = mad((float4)(v[j].z), (float4)(u0.z, u1.z, u2.z, u3.z), acc[k][j]);
                acc[k][j] = mad((float4)(v[j].w), (float4)(u0.w, u1.w, u2.w, u3.w), acc[k][j]);
            }
        }
    }
    const int blocks = CD4(out);
#if SPLIT_C > 1
    const int lane = get_local_id(0) + LANES_X * get_local_id(1);
#endif
#pragma unroll
    for (int k = 0; k < OB; k++) {
#if SPLIT_C > 1
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
            float4 v = acc[k][j];
#if SPLIT_C > 1
            // The parts share the adding: part s finishes the tile whose number is s modulo SPLIT_C.
            if (j % SPLIT_C != part) {
                continue;
            }
            v = sums[j * LANES_X * LANES_Y + lane];
            for (int s = 1; s < SPLIT_C; s++) {
                v += sums[(s * P + j) * LANES_X * LANES_Y + lane];
            }
#endif
            if (real && item + j * gx < tiles && ob + k < blocks) {
                M_WRITE(at[j], tap * blocks + ob + k, v);
            }
        }
    }
}
