// SPDX-License-Identifier: Apache-2.0
// The same product for few rows (M is a constant): an item makes one column of one part of the reduction; PARTS items share a column and add
// up in local memory, always in the same order.
__kernel GROUP void run(PARAMETERS)
{
    const int lx = get_local_id(0), width = get_local_size(0), part = get_local_id(1), col = X_ID, batch = Z_ID;
    const int here = min(col, n - 1);
    __global const float *a0 = a + a_at[batch], *b0 = b + b_at[batch];
    float acc[M];
    for (int i = 0; i < M; i++) {
        acc[i] = 0.0f;
    }
    for (int d = part; d < k; d += PARTS) {
        const float v = b0[d * B_ROW + here * B_COL];
        for (int i = 0; i < M; i++) {
            acc[i] = mad(a0[i * A_ROW + d * A_COL], v, acc[i]);
        }
    }
    for (int i = 0; i < M; i++) {
        sums[(part * M + i) * width + lx] = acc[i];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = part; i < M && col < n; i += PARTS) {
        float v = 0.0f;
        for (int s = 0; s < PARTS; s++) {
            v += sums[(s * M + i) * width + lx];
        }
        const int at = (batch * M + i) * n + col;
        v *= alpha;
        RESULT(at, col, v);
    }
}
