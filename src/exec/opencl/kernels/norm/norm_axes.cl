// SPDX-License-Identifier: Apache-2.0
// What is computed from all elements of a line over any axes (KEPT, REDUCED as in reduce.cl), and given back to each or as one number:
//   LOG_SUM_EXP  log(sum(exp(x)))    MVN  (x - mean) / (deviation + 1e-9)    LP  x / |x|, p 1 or 2, 0 where the norm is 0
// The items of a group share a line and add up in the same order always.
float total(__local float *sums, int part, float v)
{
    barrier(CLK_LOCAL_MEM_FENCE);
    sums[part] = v;
    for (int left = PARTS / 2; left > 0; left /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (part < left) {
            sums[part] = JOIN(sums[part], sums[part + left]);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    return sums[0];
}

__kernel GROUP void run(PARAMETERS)
{
    const int part = get_local_id(0), line = Y_ID, base = KEPT(line);
    float v = START;
    for (int j = part; j < count; j += PARTS) {
        v = STEP(v, a[base + REDUCED(j)]);
    }
    const float first = total(sums, part, v);
#if defined(LOG_SUM_EXP)
    // An infinite maximum is not taken off: the sum is infinite or 0 without that.
    const float top = isinf(first) ? 0.0f : first;
    v = 0.0f;
    for (int j = part; j < count; j += PARTS) {
        v += exp(a[base + REDUCED(j)] - top);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    sums[part] = v;
    for (int left = PARTS / 2; left > 0; left /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (part < left) {
            sums[part] += sums[part + left];
        }
    }
    if (part == 0) {
        y[line] = log(sums[0]) + top;
    }
#elif defined(MVN)
    const float mean = first / (float)count;
    v = 0.0f;
    for (int j = part; j < count; j += PARTS) {
        const float d = a[base + REDUCED(j)] - mean;
        v = mad(d, d, v);
    }
    const float deviation = sqrt(total(sums, part, v) / (float)count) + 1e-9f;
    for (int j = part; j < count; j += PARTS) {
        y[base + REDUCED(j)] = (a[base + REDUCED(j)] - mean) / deviation;
    }
#else
    const float norm = LP == 1 ? first : sqrt(first);
    for (int j = part; j < count; j += PARTS) {
        y[base + REDUCED(j)] = norm == 0.0f ? 0.0f : a[base + REDUCED(j)] / norm;
    }
#endif
}
