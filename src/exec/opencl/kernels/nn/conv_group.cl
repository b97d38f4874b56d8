// SPDX-License-Identifier: Apache-2.0
// Convolution with any number of groups whose channels need not fill texels; depthwise with multipliers too. Also transposed (DECONV).
//   X  IN_OUT_CHANNEL [n, h, w, c]    f  plain [o, i, kh, kw], i = channels of one group    B  ARGUMENT [o]    R, Y  [n, oh, ow, o]
// One item makes one texel; each lane belongs to the group of its own channel.
__kernel void run(PARAMETERS)
{
    if (OUTSIDE) {
        return;
    }
    const int px = X_ID, ob = Y_ID, row = Z_ID, py = row % oh, pn = row / oh;
    float lanes[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    for (int l = 0; l < 4 && 4 * ob + l < out_channels; l++) {
        const int o = 4 * ob + l, first = o / group_out * group_in;
        for (int t = 0; t < KH * KW; t++) {
            const int ky = t / KW, kx = t % KW;
#ifdef DECONV
            const int sy = py + PAD_Y - ky * DIL_Y, sx = px + PAD_X - kx * DIL_X, iy = sy / STRIDE_Y, ix = sx / STRIDE_X;
            const bool in = sy >= 0 && sx >= 0 && sy % STRIDE_Y == 0 && sx % STRIDE_X == 0 && iy < h && ix < w;
#else
            const int iy = py * STRIDE_Y - PAD_Y + ky * DIL_Y, ix = px * STRIDE_X - PAD_X + kx * DIL_X;
            const bool in = iy >= 0 && ix >= 0 && iy < h && ix < w;
#endif
            for (int i = 0; i < group_in && in; i++) {
                const int c = first + i;
                const float4 v = X_READ(c / 4 * w + ix, pn * h + iy);
                const float s = c % 4 == 0 ? v.x : c % 4 == 1 ? v.y : c % 4 == 2 ? v.z : v.w;
                lanes[l] = mad(s, f[(o * group_in + i) * KH * KW + t], lanes[l]);
            }
        }
    }
    float4 v = (float4)(lanes[0], lanes[1], lanes[2], lanes[3]);
    const int at = ob * ow + px;
    RESULT(ob, at, row, v);
}
