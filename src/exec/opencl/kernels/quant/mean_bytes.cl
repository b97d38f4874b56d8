// SPDX-License-Identifier: Apache-2.0
// The mean of each plane of 8-bit x [n c, count], requantised (requant.cl). The items of a group share a plane; integers add up to the same
// in any order.
__kernel GROUP void run(PARAMETERS)
{
    const int part = get_local_id(0), plane = Y_ID;
    int sum = 0;
    for (int i = part; i < count; i += PARTS) {
        sum += x[plane * count + i] - X_ZERO;
    }
    sums[part] = sum;
    for (int left = PARTS / 2; left > 0; left /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (part < left) {
            sums[part] += sums[part + left];
        }
    }
    if (part == 0) {
        y[plane] = REQUANT(sums[0], 0);
    }
}
