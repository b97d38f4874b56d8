// SPDX-License-Identifier: Apache-2.0
// A tensor between pads that hold one number, which is computed in the run. BEFORE: elements before it, or, below zero, cut off it. The lists have one
// entry for each dim, behind a first one that means nothing.
__kernel void run(PARAMETERS)
{
    if (OUTSIDE) {
        return;
    }
    int rest = X_ID, from = 0, step = 1;
    bool in = true;
    for (int d = RANK; d > 0; d--) {
        const int place = rest % SIDES[d] - BEFORE[d];
        rest /= SIDES[d];
        in = in && place >= 0 && place < DIMS[d];
        from += in ? place * step : 0;
        step *= DIMS[d];
    }
    y[X_ID] = in ? a[from] : value[0];
}
