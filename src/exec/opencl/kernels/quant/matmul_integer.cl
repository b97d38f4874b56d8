// SPDX-License-Identifier: Apache-2.0
// y[batch, m, n] = (a - a_zero) (b - b_zero) of 8-bit matrices, exact in 32 bits: one item an element. a_at, b_at: where each batch's
// matrix begins. INTEGER: y is the sum. Else it is requantised with the bias (requant.cl), a factor for each column.
__kernel void run(PARAMETERS)
{
    if (OUTSIDE) {
        return;
    }
    const int col = X_ID, row = Y_ID, batch = Z_ID, za = AZ, zb = BZ;
    int sum = 0;
    for (int d = 0; d < k; d++) {
        sum += (a[a_at[batch] + row * k + d] - za) * (b[b_at[batch] + d * gx + col] - zb);
    }
#ifdef BIAS
    sum += bias[col];
#endif
#ifdef INTEGER
    y[(batch * gy + row) * gx + col] = sum;
#else
    y[(batch * gy + row) * gx + col] = REQUANT(sum, col);
#endif
}
