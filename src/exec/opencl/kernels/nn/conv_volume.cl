// SPDX-License-Identifier: Apache-2.0
// Convolution over plain tensors of up to three spatial dims, any groups; also transposed (DECONV).
//   x [n, channels, d, h, w]    f [results, group_in, KD, KH, KW], transposed [channels, group_out, KD, KH, KW]    bias [results]
//   residual, y [n, results, od, oh, ow]
// An item makes LANES results of one group at one place, so that they share what is read of x; neighbours along x are neighbouring places.
__kernel void run(PARAMETERS)
{
    if (OUTSIDE) {
        return;
    }
    const int at = X_ID, o = Y_ID * LANES, pn = Z_ID, px = at % ow, py = at / ow % oh, pz = at / ow / oh;
    const int first = o / group_out * group_in, taps = KD * KH * KW;
    float acc[LANES];
    for (int l = 0; l < LANES; l++) {
        acc[l] = 0.0f;
    }
    for (int t = 0; t < taps; t++) {
        const int kx = t % KW, ky = t / KW % KH, kz = t / KW / KH;
#ifdef DECONV
        const int sz = pz + PAD_Z - kz * DIL_Z, sy = py + PAD_Y - ky * DIL_Y, sx = px + PAD_X - kx * DIL_X;
        const int iz = sz / STRIDE_Z, iy = sy / STRIDE_Y, ix = sx / STRIDE_X;
        const bool in = sz >= 0 && sy >= 0 && sx >= 0 && sz % STRIDE_Z == 0 && sy % STRIDE_Y == 0 && sx % STRIDE_X == 0 && iz < d && iy < h && ix < w;
#else
        const int iz = pz * STRIDE_Z - PAD_Z + kz * DIL_Z, iy = py * STRIDE_Y - PAD_Y + ky * DIL_Y, ix = px * STRIDE_X - PAD_X + kx * DIL_X;
        const bool in = iz >= 0 && iy >= 0 && ix >= 0 && iz < d && iy < h && ix < w;
#endif
        if (!in) {
            continue;
        }
        for (int i = 0; i < group_in; i++) {
            const float v = x[((pn * channels + first + i) * d + iz) * h * w + iy * w + ix];
            for (int l = 0; l < LANES; l++) {
#ifdef DECONV
                acc[l] = mad(v, f[((first + i) * group_out + (o + l) % group_out) * taps + t], acc[l]);
#else
                acc[l] = mad(v, f[((o + l) * group_in + i) * taps + t], acc[l]);
#endif
            }
        }
    }
    for (int l = 0; l < LANES; l++) {
        const int to = (pn * results + o + l) * od * oh * ow + at;
        float v = acc[l];
        RESULT(to, o + l, v);
    }
}
