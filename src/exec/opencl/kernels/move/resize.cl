// SPDX-License-Identifier: Apache-2.0
// Resizing of rows and columns: X [n, h, w, c] to Y [n, oh, ow, c]. Each output row (column) is a weighted sum of ROW_TAPS (COL_TAPS) input
// rows; which, and with what weights, was computed on the host (rows_resize.c), so every coordinate rule of the operator is one kernel.
//   row_at, row_weight [oh, ROW_TAPS]    col_at, col_weight [ow, COL_TAPS]
// With CROP a first index of -1 says that the place lies outside: the result is `extrapolation` there.
__kernel void run(PARAMETERS)
{
    if (OUTSIDE) {
        return;
    }
    const int px = X_ID, cb = Y_ID, row = Z_ID, py = row % oh, pn = row / oh;
    float4 v = (float4)(0.0f);
#ifdef CROP
    if (row_at[py * ROW_TAPS] < 0 || col_at[px * COL_TAPS] < 0) {
        v = (float4)(extrapolation);
        Y_WRITE(cb * ow + px, row, MASK(cb, v));
        return;
    }
#endif
    for (int i = 0; i < ROW_TAPS; i++) {
        float4 line = (float4)(0.0f);
        for (int j = 0; j < COL_TAPS; j++) {
            line = mad((float4)(col_weight[px * COL_TAPS + j]), X_READ(cb * w + col_at[px * COL_TAPS + j], pn * h + row_at[py * ROW_TAPS + i]), line);
        }
        v = mad((float4)(row_weight[py * ROW_TAPS + i]), line, v);
    }
    Y_WRITE(cb * ow + px, row, MASK(cb, v));
}
