// SPDX-License-Identifier: Apache-2.0
// One number for each result element from `count` operand elements. Where they lie: kept and reduced places are mixed-radix numbers over
// the dims that the host wrote into KEPT(i) and REDUCED(j). The items of a group share a result and add up in the same order always.
// VALUE: the operand's elements in registers, ACC: sums of them, RESULT: of y.
// Sums of floats lose nothing by their length (ADD_RUN).
//   STEP(acc, v)  takes one element in;  JOIN(a, b)  joins two parts;  LAST(acc)  makes the result.
__kernel GROUP void run(PARAMETERS)
{
    const int part = get_local_id(0), i = Y_ID;
    const int base = KEPT(i);
    ACC acc = START;
#ifdef FLOAT_SUM
    float lost = 0.0f;
    for (int j0 = part; j0 < count; j0 += RUN * PARTS) {
        float run = 0.0f;
        for (int j = j0; j < min(count, j0 + RUN * PARTS); j += PARTS) {
            const VALUE v = (VALUE)a[base + REDUCED(j)];
            run = STEP(run, v);
        }
        ADD_RUN(acc, lost, run);
    }
    acc = WHOLE(acc, lost);
#else
    for (int j = part; j < count; j += PARTS) {
        const VALUE v = (VALUE)a[base + REDUCED(j)];
        acc = STEP(acc, v);
    }
#endif
    sums[part] = acc;
    for (int left = PARTS / 2; left > 0; left /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (part < left) {
            const ACC x = (ACC)sums[part], z = (ACC)sums[part + left];
            sums[part] = JOIN(x, z);
        }
    }
    if (part == 0) {
        const ACC whole = (ACC)sums[0];
        y[i] = (RESULT)LAST(whole);
    }
}
