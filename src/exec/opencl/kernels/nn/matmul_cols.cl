// SPDX-License-Identifier: Apache-2.0
// The same product for few rows (M is a constant) where columns of b are dense in memory: neighbouring items read neighbouring elements of
// one column and add up in local memory, always in the same order.
__kernel GROUP void run(PARAMETERS)
{
    const int part = get_local_id(0), slot = get_local_id(1), col = Y_ID, batch = Z_ID, here = min(col, n - 1);
    __global const float *a0 = a + a_at[batch], *b0 = b + b_at[batch] + here * B_COL;
    float acc[M];
#pragma unroll
    for (int i = 0; i < M; i++) {
        acc[i] = 0.0f;
    }
#pragma unroll 4
    for (int d = part; d < k; d += PARTS) {
        const float v = b0[d];
#pragma unroll
        for (int i = 0; i < M; i++) {
            acc[i] = mad(a0[i * A_ROW + d * A_COL], v, acc[i]);
        }
    }
#pragma unroll
    for (int i = 0; i < M; i++) {
        sums[(slot * M + i) * PARTS + part] = acc[i];
    }
    for (int left = PARTS / 2; left > 0; left /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int i = 0; i < M && part < left; i++) {
            sums[(slot * M + i) * PARTS + part] += sums[(slot * M + i) * PARTS + part + left];
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = part; i < M && col < n; i += PARTS) {
        const int at = (batch * M + i) * n + col;
        float v = sums[(slot * M + i) * PARTS] * alpha;
        RESULT(at, col, v);
    }
}
