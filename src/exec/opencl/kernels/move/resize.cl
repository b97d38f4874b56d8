// SPDX-License-Identifier: Apache-2.0
// Resizing of rows and columns: X [n, h, w, c] to Y [n, oh, ow, c]. Each output row (column) is a weighted sum of TAPS input rows; which,
// and with what weights, was computed on the host (rows_pool.c), so every coordinate rule of the operator is one kernel.
//   row_at, row_weight [oh, TAPS]    col_at, col_weight [ow, TAPS]
__kernel void run(PARAMETERS)
{
    if (OUTSIDE) {
        return;
    }
    const int px = X_ID, cb = Y_ID, row = Z_ID, py = row % oh, pn = row / oh;
    float4 v = (float4)(0.0f);
    for (int i = 0; i < TAPS; i++) {
        float4 line = (float4)(0.0f);
        for (int j = 0; j < TAPS; j++) {
            line = mad((float4)(col_weight[px * TAPS + j]), X_READ(cb * w + col_at[px * TAPS + j], pn * h + row_at[py * TAPS + i]), line);
        }
        v = mad((float4)(row_weight[py * TAPS + i]), line, v);
    }
    Y_WRITE(cb * ow + px, row, MASK(cb, v));
}
