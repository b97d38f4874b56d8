// SPDX-License-Identifier: Apache-2.0
// The texels of a content type to row-major y [d0, d1, d2, d3]: one item a texel (Winograd: one item four filters).
__kernel void run(PARAMETERS)
{
    if (OUTSIDE) {
        return;
    }
    const int px = X_ID, py = Y_ID;
#if CONTENT == 5
    // g = G+ T (G+)^T, with G+ the left inverse of G.
    for (int k = 0; k < 9; k++) {
        float4 sum = (float4)(0.0f);
        for (int t = 0; t < (BLOCK + 2) * (BLOCK + 2); t++) {
            sum += g_inverse[k / 3 * (BLOCK + 2) + t / (BLOCK + 2)] * g_inverse[k % 3 * (BLOCK + 2) + t % (BLOCK + 2)] * X_READ(px, t * d0 + py);
        }
        const float lanes[4] = {sum.x, sum.y, sum.z, sum.w};
        for (int l = 0; l < 4 && 4 * px + l < d1; l++) {
            y[(py * d1 + 4 * px + l) * 9 + k] = lanes[l];
        }
    }
#else
    const TEXEL4 v = X_READ(px, py);
    const ELEMENT lanes[4] = {(ELEMENT)v.x, (ELEMENT)v.y, (ELEMENT)v.z, (ELEMENT)v.w};
    for (int l = 0; l < 4; l++) {
        const int at = lane_index(px, py, l, d0, d1, d2, d3);
        if (at >= 0) {
            y[at] = lanes[l];
        }
    }
#endif
}
