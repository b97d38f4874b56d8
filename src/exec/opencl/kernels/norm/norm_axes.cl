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
#ifdef LOG_SUM_EXP
    for (int j = part; j < count; j += PARTS) {
        v = STEP(v, a[base + REDUCED(j)]);
    }
#else
    float lost = 0.0f;
    for (int j0 = part; j0 < count; j0 += RUN * PARTS) {
        float run = 0.0f;
        for (int j = j0; j < min(count, j0 + RUN * PARTS); j += PARTS) {
            run = STEP(run, a[base + REDUCED(j)]);
        }
        ADD_RUN(v, lost, run);
    }
    v = WHOLE(v, lost);
#endif
    const float first = total(sums, part, v);
#if defined(LOG_SUM_EXP)
    // An infinite maximum is not taken off: the sum is infinite or 0 without that.
    const float top = isinf(first) ? 0.0f : first;
    float lost = 0.0f;
    v = 0.0f;
    for (int j0 = part; j0 < count; j0 += RUN * PARTS) {
        float run = 0.0f;
        for (int j = j0; j < min(count, j0 + RUN * PARTS); j += PARTS) {
            run += exp(a[base + REDUCED(j)] - top);
        }
        ADD_RUN(v, lost, run);
    }
    v = WHOLE(v, lost);
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
    float rest = 0.0f;                    // what the rounded mean is off by, as in norm.cl
    v = lost = 0.0f;
    for (int j0 = part; j0 < count; j0 += RUN * PARTS) {
        float run = 0.0f, run_rest = 0.0f;
        for (int j = j0; j < min(count, j0 + RUN * PARTS); j += PARTS) {
            const float d = a[base + REDUCED(j)] - mean;
            run = mad(d, d, run);
            run_rest += d;
        }
        ADD_RUN(v, lost, run);
        rest += run_rest;
    }
    const float off = total(sums, part, rest) / (float)count;
    const float deviation = sqrt(max(total(sums, part, WHOLE(v, lost)) / (float)count - off * off, 0.0f)) + 1e-9f;
    for (int j = part; j < count; j += PARTS) {
        y[base + REDUCED(j)] = ((a[base + REDUCED(j)] - mean) - off) / deviation;
    }
#else
    const float norm = LP == 1 ? first : sqrt(first);
    for (int j = part; j < count; j += PARTS) {
        y[base + REDUCED(j)] = norm == 0.0f ? 0.0f : a[base + REDUCED(j)] / norm;
    }
#endif
}
