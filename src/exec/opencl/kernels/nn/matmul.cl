// SPDX-License-Identifier: Apache-2.0
// y[batch, m, n] = act(alpha a b + bias[n] + residual[batch, m, n]) over plain tensors. a_at, b_at: where each batch's matrix begins; the
// steps between rows and columns (A_ROW ...) include any transposition. A group of 8 x 8 items makes a tile of 32 x 32; 16 columns of a
// and rows of b at a time lie in local memory.
#define TILE 32
#define DEPTH 16

__kernel __attribute__((reqd_work_group_size(8, 8, 1))) void run(PARAMETERS)
{
    __local float as[DEPTH][TILE + 1], bs[DEPTH][TILE + 1];
    const int lx = get_local_id(0), ly = get_local_id(1), lane = ly * 8 + lx;
    // by number of item, not of group: a slice of the work begins at an offset
    const int n0 = X_ID / 8 * TILE, m0 = Y_ID / 8 * TILE, batch = Z_ID;
    __global const float *a0 = a + a_at[batch], *b0 = b + b_at[batch];
    float acc[4][4] = {{0.0f}};
    for (int k0 = 0; k0 < k; k0 += DEPTH) {
        for (int i = lane; i < TILE * DEPTH; i += 64) {
            // neighbouring items read along the dim that is dense in memory
            const int am = A_COL == 1 ? i / DEPTH : i % TILE, ak = A_COL == 1 ? i % DEPTH : i / TILE;
            const int bn = B_COL == 1 ? i % TILE : i / DEPTH, bk = B_COL == 1 ? i / TILE : i % DEPTH;
            as[ak][am] = m0 + am < m && k0 + ak < k ? a0[(m0 + am) * A_ROW + (k0 + ak) * A_COL] : 0.0f;
            bs[bk][bn] = n0 + bn < n && k0 + bk < k ? b0[(k0 + bk) * B_ROW + (n0 + bn) * B_COL] : 0.0f;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int d = 0; d < DEPTH; d++) {
            for (int i = 0; i < 4; i++) {
                for (int j = 0; j < 4; j++) {
                    acc[i][j] = mad(as[d][ly + 8 * i], bs[d][lx + 8 * j], acc[i][j]);
                }
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 4; j++) {
            const int row = m0 + ly + 8 * i, col = n0 + lx + 8 * j;
            if (row < m && col < n) {
                const int at = (batch * m + row) * n + col;
                float v = acc[i][j] * alpha;
                RESULT(at, col, v);
            }
        }
    }
}
