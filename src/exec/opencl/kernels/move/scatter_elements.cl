// SPDX-License-Identifier: Apache-2.0
// ScatterElements into y, which holds the data: one item takes the `each` updates of one line along the axis, in their order, as only these can
// meet. FIRST(i), DATA(i): where line i begins in the updates and in y; `step`, `stride`: from one to the next along the axis in either.
__kernel void run(PARAMETERS)
{
    if (OUTSIDE) {
        return;
    }
    const int first = FIRST(X_ID), base = DATA(X_ID);
    for (int k = 0; k < each; k++) {
        INDEX at = t[first + k * step];
        at += at < 0 ? n : 0;
        if (at < 0 || at >= n) {
            bad[0] = 1;
        } else {
            const int to = base + (int)at * stride;
            const ELEMENT old = y[to], next = u[first + k * step];
            y[to] = (ELEMENT)(UPDATE(old, next));
        }
    }
}
