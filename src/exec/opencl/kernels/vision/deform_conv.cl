// SPDX-License-Identifier: Apache-2.0
// Convolution whose taps are moved by an offset for each pixel and weighted by a mask, on plain tensors:
//   x [n, c, h, w]    f [m, group_in, KH, KW]    offset [n, G, taps, 2, oh, ow]    mask [n, G, taps, oh, ow]    y [n, m, oh, ow]
// One item makes up to OUT channels of one group at one pixel, so that a sample serves all of them. Samples lie between pixels; x is zero outside.
#define TAPS (KH * KW)
#define PIXEL(iy, ix) ((iy) >= 0 && (iy) < h && (ix) >= 0 && (ix) < w ? p[(iy) * w + (ix)] : 0.0f)

__kernel void run(PARAMETERS)
{
    if (OUTSIDE) {
        return;
    }
    const int at = X_ID, parts = (group_out + OUT - 1) / OUT, group = Y_ID / parts, first = group * group_out + Y_ID % parts * OUT, pn = Z_ID;
    const int last = min(first + OUT, (group + 1) * group_out) - 1, py = at / ow, px = at % ow;
    float acc[OUT];
    for (int k = 0; k < OUT; k++) {
        acc[k] = 0.0f;
    }
    for (int i = 0; i < group_in; i++) {
        const int c = group * group_in + i;
        __global const float *p = x + (pn * channels + c) * h * w;
        for (int t = 0; t < TAPS; t++) {
            const int tap = (pn * OFFSET_GROUPS + c / members) * TAPS + t;
            const float sy = (float)(py * STRIDE_Y - PAD_Y + t / KW * DIL_Y) + offset[2 * tap * gx + at];
            const float sx = (float)(px * STRIDE_X - PAD_X + t % KW * DIL_X) + offset[(2 * tap + 1) * gx + at];
            float v = 0.0f;
            if (sy > -1.0f && sy < (float)h && sx > -1.0f && sx < (float)w) {
                const int top = (int)floor(sy), left = (int)floor(sx);
                const float down = sy - (float)top, right = sx - (float)left;
                v = (PIXEL(top, left) * (1.0f - right) + PIXEL(top, left + 1) * right) * (1.0f - down) +
                    (PIXEL(top + 1, left) * (1.0f - right) + PIXEL(top + 1, left + 1) * right) * down;
            }
            v *= MASK_AT(tap * gx + at);
            for (int k = 0; k < OUT; k++) {
                acc[k] = mad(v, f[(min(first + k, last) * group_in + i) * TAPS + t], acc[k]);
            }
        }
    }
    for (int k = 0; k < OUT && first + k <= last; k++) {
        y[(pn * outputs + first + k) * gx + at] = acc[k] + BIAS_AT(first + k);
    }
}
