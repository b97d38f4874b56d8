// SPDX-License-Identifier: Apache-2.0
// Maxima in their places, zero elsewhere; CLEAR: makes ready the order that unpool_order fills.
__kernel void run(PARAMETERS)
{
    if (OUTSIDE) {
        return;
    }
#ifdef CLEAR
    order[X_ID] = 0;
#else
    const int from = order[X_ID];
    y[X_ID] = from > 0 ? x[from - 1] : 0;
#endif
}
