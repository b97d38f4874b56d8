// SPDX-License-Identifier: Apache-2.0
// Regions of x [n, c, h, w] pooled to [regions, c, bins_y, bins_x]: means (LARGEST: maxima) of samples between pixels. rois [regions, 4] are x1, y1,
// x2, y2, batch [regions] the images. One item a bin. Regions may lie anywhere and be of any size up to MAX_SAMPLES samples a side.
__kernel void run(PARAMETERS)
{
    if (OUTSIDE) {
        return;
    }
    const int bin = X_ID, c = Y_ID, region = Z_ID;
    const long image = batch[region];
    const int bins[2] = {bins_y, bins_x}, place[2] = {bin / bins_x, bin % bins_x};
    float start[2], size[2];
    int samples[2];
    bool wrong = image < 0 || image >= images;
    for (int a = 0; a < 2; a++) {
        start[a] = rois[4 * region + 1 - a] * scale - OFFSET;
        const float side = rois[4 * region + 3 - a] * scale - OFFSET - start[a];
        size[a] = (HALF_PIXEL ? side : fmax(side, 1.0f)) / (float)bins[a];
        const float n = RATIO > 0 ? (float)RATIO : ceil(size[a]);
        wrong = wrong || !(n <= (float)MAX_SAMPLES);
        samples[a] = n > 0.0f ? (int)fmin(n, (float)MAX_SAMPLES) : 0;
    }
    if (wrong) {
        bad[0] = 1;
        return;
    }
    __global const float *p = x + ((int)image * gy + c) * h * w;
    float sum = 0.0f, top = 0.0f;
    bool any = false;
    for (int s = 0; s < samples[0] * samples[1]; s++) {
        const float sy = start[0] + size[0] * ((float)place[0] + ((float)(s / samples[1]) + 0.5f) / (float)samples[0]);
        const float sx = start[1] + size[1] * ((float)place[1] + ((float)(s % samples[1]) + 0.5f) / (float)samples[1]);
        const bool inside = sy >= -1.0f && sy <= (float)h && sx >= -1.0f && sx <= (float)w;
        const float py = inside ? fmax(sy, 0.0f) : 0.0f, px = inside ? fmax(sx, 0.0f) : 0.0f;
        const int y0 = min((int)py, h - 1), x0 = min((int)px, w - 1), y1 = min(y0 + 1, h - 1), x1 = min(x0 + 1, w - 1);
        const float fy = y0 == h - 1 ? 0.0f : py - (float)y0, fx = x0 == w - 1 ? 0.0f : px - (float)x0;
        const float v[4] = {p[y0 * w + x0] * ((1.0f - fy) * (1.0f - fx)), p[y0 * w + x1] * ((1.0f - fy) * fx), p[y1 * w + x0] * (fy * (1.0f - fx)),
                            p[y1 * w + x1] * (fy * fx)};
        for (int k = 0; k < 4; k++) {
            const float one = inside ? v[k] : 0.0f;
            sum += one;
            top = any ? fmax(top, one) : one;
            any = true;
        }
    }
    y[(region * gy + c) * gx + bin] = LARGEST ? top : sum / (float)max(samples[0] * samples[1], 1);
}
