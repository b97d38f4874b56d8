// SPDX-License-Identifier: Apache-2.0
// Overlapping blocks added up: y [planes, image...] of x [planes, TAPS, COLUMNS]. One item is one pixel; it gathers what the blocks say of it, tap
// after tap. The lists have one entry for each spatial dim, behind a first one that means nothing.
__kernel void run(PARAMETERS)
{
    if (OUTSIDE) {
        return;
    }
    const int plane = Y_ID;
    float sum = 0.0f, lost = 0.0f;
    for (int tap = 0; tap < TAPS; tap++) {
        int pixel = X_ID, rest = tap, column = 0, step = 1;
        bool there = true;
        for (int d = SPATIAL; d > 0; d--) {
            const int from = pixel % IMAGE[d] + PAD[d] - rest % BLOCK[d] * DILATION[d], block = from / STRIDE[d];
            there = there && from >= 0 && from % STRIDE[d] == 0 && block < BLOCKS[d];
            pixel /= IMAGE[d];
            rest /= BLOCK[d];
            column += block * step;
            step *= BLOCKS[d];
        }
        if (there) {
            ADD_RUN(sum, lost, x[(plane * TAPS + tap) * COLUMNS + column]);
        }
    }
    y[plane * gx + X_ID] = WHOLE(sum, lost);
}
