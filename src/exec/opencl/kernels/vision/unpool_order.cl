// SPDX-License-Identifier: Apache-2.0
// Where each of the maxima goes: order [result] becomes 1 + the number of the last one that a place gets, as if they were written in turn. Places
// count in the unpooled sides (UNPOOLED); results may have larger ones (SIDES).
__kernel void run(PARAMETERS)
{
    if (OUTSIDE) {
        return;
    }
    long rest = places[X_ID];
    int at = 0, step = 1;
    if (rest < 0 || rest >= ROOM) {
        bad[0] = 1;
        return;
    }
    for (int d = RANK; d > 0; d--) {
        at += (int)(rest % UNPOOLED[d]) * step;
        rest /= UNPOOLED[d];
        step *= SIDES[d];
    }
    atomic_max(order + at, X_ID + 1);
}
