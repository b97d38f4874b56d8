// SPDX-License-Identifier: Apache-2.0
// Fourier sums, one item a bin: sum over j < GIVEN of x[START + j * STEP] (parts: 1 real, 2 complex) times turn[bin * j mod LENGTH], a pair of cosine and
// sine that the host made. HALF: of a real result the bins past the middle are the conjugates of those before, so that they count twice.
__kernel void run(PARAMETERS)
{
    if (OUTSIDE) {
        return;
    }
    const int line = X_ID, bin = Y_ID, outer = Z_ID, start = START;
    float re = 0.0f, im = 0.0f, lost_re = 0.0f, lost_im = 0.0f;
    for (int j = 0, at = 0; j < GIVEN; j++) {
        float a = x[start + j * STEP], b = PARTS == 2 ? x[start + j * STEP + 1] : 0.0f;
#ifdef WINDOW
        a *= window[j];
        b *= window[j];
#endif
#ifdef HALF
        if (j > 0 && 2 * j < LENGTH) {
            a *= 2.0f;
            b *= 2.0f;
        }
#endif
        const float c = turn[2 * at], s = turn[2 * at + 1];
        ADD_RUN(re, lost_re, a * c - b * s);
        ADD_RUN(im, lost_im, a * s + b * c);
        at += bin;
        at -= at >= LENGTH ? LENGTH : 0;
    }
    const int to = PLACE;
    y[to] = WHOLE(re, lost_re) * SCALE;
#if RESULT_PARTS == 2
    y[to + 1] = WHOLE(im, lost_im) * SCALE;
#endif
}
