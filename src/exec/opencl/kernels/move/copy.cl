// SPDX-License-Identifier: Apache-2.0
// Movement in gather form: for each element of the result, the last box that covers it says where it comes from. t is the table of boxes,
// BOX ints each: source (-1: the fill), rank, source offset, result offset, then rank times size, source stride, result stride, by
// falling result stride. LOAD(s, i) reads element i of source s; it was generated, as sources may be plain or grids.
#define BOX 28

// Index into the source of result element `at`, or -1 where the box does not cover it.
int find(__global const int *t, int at)
{
    int rest = at - t[3], from = t[2];
    if (rest < 0) {
        return -1;
    }
    for (int k = 0; k < t[1]; k++) {
        const int step = t[6 + 3 * k], q = rest / step;
        if (q >= t[4 + 3 * k]) {
            return -1;
        }
        rest -= q * step;
        from += q * t[5 + 3 * k];
    }
    return rest == 0 ? from : -1;
}

#define LANE(v, c) ((c) % 4 == 0 ? (v).x : (c) % 4 == 1 ? (v).y : (c) % 4 == 2 ? (v).z : (v).w)

// Element i of a grid [n, c, h, w], counted row-major.
#define GRID_LANE(READ, i, c, h, w) lane_of(READ((i) / ((h) * (w)) % (c) / 4 * (w) + (i) % (w), (i) / ((c) * (h) * (w)) * (h) + (i) / (w) % (h)), (i) / ((h) * (w)) % (c))
float lane_of(float4 v, int c) { return LANE(v, c); }

__kernel void run(PARAMETERS)
{
    if (OUTSIDE) {
        return;
    }
#ifdef GRID_OUT
    const int px = X_ID, cb = Y_ID, row = Z_ID, py = row % oh, pn = row / oh;
    ELEMENT lanes[4] = {0, 0, 0, 0};
    for (int l = 0; l < 4 && 4 * cb + l < channels; l++) {
        const int i = ((pn * channels + 4 * cb + l) * oh + py) * ow + px;
#else
    const int i = X_ID;
    {
#endif
        for (int box = boxes - 1; box >= 0; box--) {
            const int at = find(t + box * BOX, i), s = t[box * BOX];
            if (at >= 0) {
#ifdef GRID_OUT
                lanes[l] = s < 0 ? fill[0] : LOAD(s, at);
#else
                y[i] = s < 0 ? fill[0] : LOAD(s, at);
#endif
                break;
            }
        }
    }
#ifdef GRID_OUT
    Y_WRITE(cb * ow + px, row, (float4)(lanes[0], lanes[1], lanes[2], lanes[3]));
#endif
}
