// SPDX-License-Identifier: Apache-2.0
// Convolution of 8-bit tensors, sums exact in 32 bits: x [n, c, h, w], f [o, i, kh, kw] (i = channels of one group), one item an element.
// INTEGER: y is the sum. Else y is the sum and the bias requantised (requant.cl), with a factor for each output channel.
__kernel void run(PARAMETERS)
{
    if (OUTSIDE) {
        return;
    }
    const int p = X_ID, o = Y_ID, pn = Z_ID, px = p % ow, py = p / ow, first = o / group_out * group_in;
    const int x_zero = XZ, f_zero = FZ;
    int sum = 0;
    for (int ky = 0; ky < KH; ky++) {
        const int iy = py * STRIDE_Y - PAD_Y + ky * DIL_Y;
        for (int kx = 0; kx < KW; kx++) {
            const int ix = px * STRIDE_X - PAD_X + kx * DIL_X;
            if (iy < 0 || ix < 0 || iy >= h || ix >= w) {
                continue;
            }
            for (int i = 0; i < group_in; i++) {
                const int v = x[((pn * channels + first + i) * h + iy) * w + ix] - x_zero;
                sum += v * (f[((o * group_in + i) * KH + ky) * KW + kx] - f_zero);
            }
        }
    }
    const int at = (pn * gy + o) * oh * ow + p;
#ifdef INTEGER
    y[at] = sum;
#else
#ifdef BIAS
    sum += bias[o];
#endif
    y[at] = REQUANT(sum, o);
#endif
}
