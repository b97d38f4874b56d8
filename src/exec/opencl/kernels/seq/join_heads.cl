// SPDX-License-Identifier: Apache-2.0
// y [batch, heads, past + length, size]: the rows of a cache [batch, heads, past, size], then those of x, whose heads lie X_B, X_H and X_R
// apart. One item an element.
__kernel void run(PARAMETERS)
{
    if (OUTSIDE) {
        return;
    }
    const int d = X_ID, at = Y_ID, batch = Z_ID / heads, head = Z_ID % heads;
    float v;
#ifdef CACHED
    v = at < past ? cache[(Z_ID * past + at) * gx + d] : x[batch * X_B + head * X_H + (at - past) * X_R + d];
#else
    v = x[batch * X_B + head * X_H + at * X_R + d];
#endif
    y[(Z_ID * gy + at) * gx + d] = v;
}
