// SPDX-License-Identifier: Apache-2.0
// Whole channel blocks from one grid to another of the same pixels: what concat and split along channels are when their borders fall
// between texels. X [n, h, w, c] from block x_block on, to Y from y_block on; one item a texel.
__kernel void run(PARAMETERS)
{
    if (OUTSIDE) {
        return;
    }
    Y_WRITE((y_block + Y_ID) * w + X_ID, Z_ID, X_READ((x_block + Y_ID) * w + X_ID, Z_ID));
}
