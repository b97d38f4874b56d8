// SPDX-License-Identifier: Apache-2.0
// A fused elementwise program over grids: one item a texel of Y [n, h, w, c]. Operands are grids whose dims are those of the result or 1
// (CELL reads the texel that belongs to block cb, column px, row (pn, py); a single channel is spread over the lanes), or one number.
__kernel void run(PARAMETERS)
{
    if (OUTSIDE) {
        return;
    }
    const int px = X_ID, cb = Y_ID, row = Z_ID, py = row % oh, pn = row / oh;
    const float4 v = program(LOADS);
    Y_WRITE(cb * ow + px, row, MASK(cb, v));
}
