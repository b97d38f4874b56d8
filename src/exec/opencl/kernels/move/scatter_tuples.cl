// SPDX-License-Identifier: Apache-2.0
// ScatterND into y, which holds the data: one item takes element X_ID of all `each` updates, in their order. A tuple of SIZE indices names
// a slice of gx elements. Lists begin with an unused 0: the dims that indices go over and how far apart their slices are.
__kernel void run(PARAMETERS)
{
    if (OUTSIDE) {
        return;
    }
    for (int k = 0; k < each; k++) {
        int to = X_ID;
        bool in = true;
        for (int d = 1; d <= SIZE; d++) {
            INDEX at = t[k * SIZE + d - 1];
            at += at < 0 ? dims[d] : 0;
            in = in && at >= 0 && at < dims[d];
            to += in ? (int)at * strides[d] : 0;
        }
        if (!in) {
            bad[0] = 1;
        } else {
            const ELEMENT old = y[to], next = u[k * gx + X_ID];
            y[to] = (ELEMENT)(UPDATE(old, next));
        }
    }
}
