// SPDX-License-Identifier: Apache-2.0
// Mean or maximum over all pixels of each channel: X [n, h, w, c] to a grid [n, 1, 1, c] or to plain y [n, c]. The items of a group share
// one channel block and add up in local memory, always in the same order.
__kernel GROUP void run(PARAMETERS)
{
    const int part = get_local_id(0), cb = Y_ID, pn = Z_ID;
    float4 v = (float4)(MAX ? -INFINITY : 0.0f);
    // Runs of 64 are added up apart: the error of large maps grows with the number of runs, not of pixels.
    for (int p0 = part; p0 < h * w; p0 += 64 * PARTS) {
        float4 run = (float4)(MAX ? -INFINITY : 0.0f);
        for (int p = p0; p < min(h * w, p0 + 64 * PARTS); p += PARTS) {
            const float4 x = X_READ(cb * w + p % w, pn * h + p / w);
            run = MAX ? NAN_OR(fmax, run, x) : run + x;
        }
        v = MAX ? NAN_OR(fmax, v, run) : v + run;
    }
    sums[part] = v;
    for (int half_parts = PARTS / 2; half_parts > 0; half_parts /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (part < half_parts) {
            const float4 x = sums[part + half_parts];
            sums[part] = MAX ? NAN_OR(fmax, sums[part], x) : sums[part] + x;
        }
    }
    if (part == 0) {
        v = MAX ? sums[0] : sums[0] / (float)(h * w);
#ifdef PLAIN_OUT
        const float lanes[4] = {v.x, v.y, v.z, v.w};
        for (int l = 0; l < 4 && 4 * cb + l < channels; l++) {
            y[pn * channels + 4 * cb + l] = lanes[l];
        }
#else
        Y_WRITE(cb, pn, MASK(cb, v));
#endif
    }
}
