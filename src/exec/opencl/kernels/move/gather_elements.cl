// SPDX-License-Identifier: Apache-2.0
// GatherElements: y has the shape of the indices t; each element comes from its own place in a, but for the axis, where t says which.
// BASE(i): that place without the axis, generated; `stride` and `n` are the axis' stride and length in a.
__kernel void run(PARAMETERS)
{
    if (OUTSIDE) {
        return;
    }
    const int i = X_ID;
    INDEX at = t[i];
    at += at < 0 ? n : 0;
    const bool in = at >= 0 && at < n;
    if (!in) {
        bad[0] = 1;
    }
    y[i] = in ? a[BASE(i) + (int)at * stride] : 0;
}
