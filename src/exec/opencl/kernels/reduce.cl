// SPDX-License-Identifier: Apache-2.0
// One number for each result element from `count` operand elements. Where they lie: kept and reduced places are mixed-radix numbers over
// the dims that the host wrote into KEPT(i) and REDUCED(j). The items of a group share a result and add up in the same order always.
//   STEP(acc, v)  takes one element in;  JOIN(a, b)  joins two parts;  LAST(acc)  makes the result.
__kernel GROUP void run(PARAMETERS)
{
    const int part = get_local_id(0), i = Y_ID;
    const int base = KEPT(i);
    float acc = START;
    for (int j = part; j < count; j += PARTS) {
        const float v = a[base + REDUCED(j)];
        acc = STEP(acc, v);
    }
    sums[part] = acc;
    for (int left = PARTS / 2; left > 0; left /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (part < left) {
            sums[part] = JOIN(sums[part], sums[part + left]);
        }
    }
    if (part == 0) {
        y[i] = LAST(sums[0]);
    }
}
