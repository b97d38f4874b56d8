// SPDX-License-Identifier: Apache-2.0
// Upper or lower triangle of matrices [.., rows, columns]: elements on the other side of the diagonal `shift` are 0.
__kernel void run(PARAMETERS)
{
    if (OUTSIDE) {
        return;
    }
    const int column = X_ID, row = Y_ID, at = (Z_ID * gy + row) * gx + column;
    const long shift = SHIFT, diagonal = (long)column - row;
    const bool kept = UPPER ? diagonal >= shift : diagonal <= shift;
    y[at] = kept ? a[at] : 0;
}
