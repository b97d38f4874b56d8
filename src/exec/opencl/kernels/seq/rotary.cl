// SPDX-License-Identifier: Apache-2.0
// Rotary position embedding: pairs (a, b) of a head become (a cos - b sin, a sin + b cos); elements past 2 HALF stay. Pairs are neighbours
// (INTERLEAVED) or halves. Heads of x and y lie X_B, X_H and X_R apart; rows of cosines by position, or by token. One item an element.
__kernel void run(PARAMETERS)
{
    if (OUTSIDE) {
        return;
    }
    const int d = X_ID, head = Y_ID, token = Z_ID, base = token / tokens * X_B + head * X_H + token % tokens * X_R;
    int at = token;
#ifdef POSITIONS
    const long position = positions[token];
    const bool in = position >= 0 && position < rows;
    if (!in) {
        bad[0] = 1;
    }
    at = in ? (int)position : 0;
#endif
    float v = x[base + d];
    if (d < 2 * HALF) {
#ifdef INTERLEAVED
        const int i = d / 2, a = 2 * i, b = a + 1;
        const bool second = d % 2 == 1;
#else
        const int i = d % HALF, a = i, b = i + HALF;
        const bool second = d >= HALF;
#endif
        const float c = cosines[at * HALF + i], s = sines[at * HALF + i], u = x[base + a], w = x[base + b];
        v = second ? u * s + w * c : u * c - w * s;
    }
    y[base + d] = v;
}
