// SPDX-License-Identifier: Apache-2.0
// softmax or log_softmax of plain a [outer, n, inner] over n. The items of a group share one line: maximum, sum, results.
__kernel GROUP void run(PARAMETERS)
{
    const int part = get_local_id(0), line = Y_ID;
    const int base = line / inner * n * inner + line % inner;
    float top = -INFINITY;
    for (int i = part; i < n; i += PARTS) {
        const float v = a[base + i * inner];
        top = NAN_OR(fmax, top, v);
    }
    sums[part] = top;
    for (int left = PARTS / 2; left > 0; left /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (part < left) {
            sums[part] = NAN_OR(fmax, sums[part], sums[part + left]);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    top = sums[0];
    barrier(CLK_LOCAL_MEM_FENCE);
    float sum = 0.0f, lost = 0.0f;
    for (int i0 = part; i0 < n; i0 += RUN * PARTS) {
        float run = 0.0f;
        for (int i = i0; i < min(n, i0 + RUN * PARTS); i += PARTS) {
            run += exp(a[base + i * inner] - top);
        }
        ADD_RUN(sum, lost, run);
    }
    sums[part] = WHOLE(sum, lost);
    for (int left = PARTS / 2; left > 0; left /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (part < left) {
            sums[part] += sums[part + left];
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    sum = sums[0];
    for (int i = part; i < n; i += PARTS) {
        const float v = a[base + i * inner] - top;
        y[base + i * inner] = LOG ? v - log(sum) : exp(v) / sum;
    }
}
