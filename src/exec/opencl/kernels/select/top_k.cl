// SPDX-License-Identifier: Apache-2.0
// The k first of `count` elements of a, which lie `inner` apart, in order, and their places. The number of an element in the order is how many
// come before it: each item counts for its elements and writes those below k. NaN is above all numbers; of equal ones the first comes first.
int before(ELEMENT x, int x_at, ELEMENT z, int z_at)
{
    const int x_nan = x != x, z_nan = z != z;
    if (x_nan || z_nan) {
        return x_nan && z_nan ? x_at < z_at : LARGEST ? x_nan : z_nan;
    }
    return x == z ? x_at < z_at : LARGEST ? x > z : x < z;
}

__kernel void run(PARAMETERS)
{
    if (OUTSIDE) {
        return;
    }
    const int j = X_ID, line = Y_ID, outer = line / inner, base = outer * count * inner + line % inner;
    const ELEMENT v = a[base + j * inner];
    int number = 0;
    for (int i = 0; i < count && number < k; i++) {
        number += before(a[base + i * inner], i, v, j);
    }
    if (number < k) {
        const int to = (outer * k + number) * inner + line % inner;
        values[to] = v;
        places[to] = j;
    }
}
