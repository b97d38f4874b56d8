// SPDX-License-Identifier: Apache-2.0
// x [n, c, d...] read at the places of the grid [n, points, SPATIAL], whose coordinates run from -1 to 1 and name the last dim first. TAPS elements
// along each dim (1 nearest, 2 linear, 4 cubic); taps outside are zeros (PADDING 0), moved to the border (1) or reflected at EDGE (2). One item
// a point and channel. Products and sums are not contracted, so that ties of the nearest mode fall as in the reference.
#pragma OPENCL FP_CONTRACT OFF
__constant int sizes[] = {SIZES};

float mirror(float v, float low, float high)
{
    const float range = high - low;
    if (!(range > 0.0f) || !isfinite(v)) {
        return low;
    }
    const float m = fmod(fabs(v - low), 2.0f * range);
    return low + (m <= range ? m : 2.0f * range - m);
}

float within(float v, float low, float high) { return v > low ? (v < high ? v : high) : low; }     // NaN: low

// The element that stands for number i, which may lie outside; -1 reads as zero.
int element(float i, int length)
{
    const float last = (float)(length - 1);
    if (i >= 0.0f && i <= last) {
        return (int)i;
    }
    return PADDING == 0 ? -1 : PADDING == 1 ? (int)within(i, 0.0f, last) : (int)within(mirror(i, -EDGE, last + EDGE), 0.0f, last);
}

// Keys' cubic convolution with a = -3/4.
float cubic(float d)
{
    const float a = -0.75f;
    d = fabs(d);
    return d <= 1.0f ? ((a + 2.0f) * d - (a + 3.0f)) * d * d + 1.0f : ((a * d - 5.0f * a) * d + 8.0f * a) * d - 4.0f * a;
}

// Elements and weights along one dim; the number of taps.
int find_taps(float given, int length, int *at, float *weight)
{
    const float last = (float)(length - 1), low = -EDGE, high = last + EDGE;
    float v = ALIGNED ? (given + 1.0f) / 2.0f * last : ((given + 1.0f) * (float)length - 1.0f) / 2.0f;
    v = TAPS == 1 ? rint(v) : v;
    if (TAPS != 4 && !(v >= low && v <= high)) {
        v = PADDING == 1 ? within(v, 0.0f, last) : PADDING == 2 ? mirror(v, low, high) : v;
    }
    if (!isfinite(v) || TAPS == 1) {
        at[0] = element(isfinite(v) ? trunc(v) : -1.0f, length);
        weight[0] = 1.0f;
        return 1;
    }
    const float base = floor(v) - (TAPS == 4 ? 1.0f : 0.0f);
    for (int k = 0; k < TAPS; k++) {
        at[k] = element(base + (float)k, length);
        weight[k] = TAPS == 4 ? cubic(v - (base + (float)k)) : 1.0f - fabs(v - (base + (float)k));
    }
    return TAPS;
}

__kernel void run(PARAMETERS)
{
    if (OUTSIDE) {
        return;
    }
    const int point = X_ID, plane = Z_ID * gy + Y_ID;
    __global const float *place = grid + (Z_ID * gx + point) * SPATIAL;
    int at[SPATIAL][TAPS], taps[SPATIAL], all = 1;
    float weight[SPATIAL][TAPS];
    for (int d = 0; d < SPATIAL; d++) {
        taps[d] = find_taps(place[SPATIAL - 1 - d], sizes[d], at[d], weight[d]);
        all *= taps[d];
    }
    VALUE sum = 0;
    for (int t = 0; t < all; t++) {
        int rest = t, from = 0;
        float w = 1.0f;
        bool inside = true;
        for (int d = SPATIAL - 1; d >= 0; d--) {
            const int k = rest % taps[d];
            rest /= taps[d];
            inside = inside && at[d][k] >= 0 && weight[d][k] != 0.0f;
            w *= weight[d][k];
        }
        for (int d = 0, n = t, step = all; inside && d < SPATIAL; d++) {
            step /= taps[d];
            from = from * sizes[d] + at[d][n / step];
            n %= step;
        }
        if (inside) {
            sum = TAPS == 1 ? x[plane * PIXELS + from] : (VALUE)((float)sum + w * (float)x[plane * PIXELS + from]);
        }
    }
    y[plane * gx + point] = sum;
}
