// SPDX-License-Identifier: Apache-2.0
// Windows over 8-bit pictures x [n c, h, w]: the largest (MAX), or the mean in integers, requantised with the factor of the number of elements
// that count (requant.cl): factor [KH * KW + 1]. One item a result.
__kernel void run(PARAMETERS)
{
    if (OUTSIDE) {
        return;
    }
    const int px = X_ID, py = Y_ID, plane = Z_ID, y0 = py * STRIDE_Y - PAD_Y, x0 = px * STRIDE_X - PAD_X;
    int sum = 0, most = LEAST, inside = 0;
    for (int ky = 0; ky < KH; ky++) {
        const int iy = y0 + ky * DIL_Y;
        for (int kx = 0; kx < KW && iy >= 0 && iy < h; kx++) {
            const int ix = x0 + kx * DIL_X;
            if (ix >= 0 && ix < w) {
                const int v = x[(plane * h + iy) * w + ix];
                most = max(most, v);
                sum += v - X_ZERO;
                inside++;
            }
        }
    }
#ifdef MAX
    y[(plane * gy + py) * gx + px] = most;
#else
#ifdef COUNT_PAD
    const int rows = clamp((h + END_Y - 1 - y0) / DIL_Y + 1, 0, KH), cols = clamp((w + END_X - 1 - x0) / DIL_X + 1, 0, KW);
    inside = rows * cols;
#endif
    y[(plane * gy + py) * gx + px] = inside > 0 ? REQUANT(sum, inside) : clamp(Y_ZERO, LOW, HIGH);
#endif
}
