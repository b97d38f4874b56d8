// SPDX-License-Identifier: Apache-2.0
// Pooling over plain planes of up to three spatial dims: x [planes, d, h, w] to y [planes, od, oh, ow], one item a result. KIND 0: the maximum
// and with PLACES where it was, counted over all of x; 1: the mean of the cells inside the map, with COUNT_PAD those of the padding too (but
// not past its end, which only ceil_mode reaches); 2: the norm of exponent NORM.
__kernel void run(PARAMETERS)
{
    if (OUTSIDE) {
        return;
    }
    const int at = X_ID, plane = Y_ID, px = at % ow, py = at / ow % oh, pz = at / ow / oh;
    float v = KIND == 0 ? -INFINITY : 0.0f;
    int count = 0, place = -1;
    for (int t = 0; t < KD * KH * KW; t++) {
        const int iz = pz * STRIDE_Z - PAD_Z + t / KW / KH * DIL_Z, iy = py * STRIDE_Y - PAD_Y + t / KW % KH * DIL_Y;
        const int ix = px * STRIDE_X - PAD_X + t % KW * DIL_X;
        const bool in = iz >= 0 && iy >= 0 && ix >= 0 && iz < d && iy < h && ix < w;
        count += in || (COUNT_PAD && iz < d + END_Z && iy < h + END_Y && ix < w + END_X);
        if (!in) {
            continue;
        }
        const int from = ((plane * d + iz) * h + iy) * w + ix;
        const float one = x[from];
        if (KIND == 1) {
            v += one;
        } else if (KIND == 2) {
            v += NORM == 1 ? fabs(one) : NORM == 2 ? one * one : pow(fabs(one), (float)NORM);
        } else if (one > v || isnan(one) || place < 0) {
            v = one;
            place = from;
        }
    }
    if (KIND == 1) {
        v /= (float)max(count, 1);
    } else if (KIND == 2 && NORM != 1) {
        v = NORM == 2 ? sqrt(v) : pow(v, 1.0f / (float)NORM);
    }
    y[plane * od * oh * ow + at] = v;
#ifdef PLACES
    where[plane * od * oh * ow + at] = place;
#endif
}
