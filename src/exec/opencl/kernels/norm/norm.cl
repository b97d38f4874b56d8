// SPDX-License-Identifier: Apache-2.0
// Normalisation of lines of n neighbouring elements of plain a [lines, n]: (x - mean) / sqrt(variance + epsilon) * scale + bias. Two
// passes, so that large means do not eat the variance; the second also finds what the rounded mean is off by (Chan, Golub and LeVeque 1983).
// SCALE_AT(line, i): the element of scale and bias that belongs to element i. With RMS the mean is left out. STATISTICS: mean and factor of each line are results, too.
float total(__local float *sums, int part, float v)
{
    barrier(CLK_LOCAL_MEM_FENCE);
    sums[part] = v;
    for (int left = PARTS / 2; left > 0; left /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (part < left) {
            sums[part] += sums[part + left];
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    return sums[0];
}

__kernel GROUP void run(PARAMETERS)
{
    const int part = get_local_id(0), line = Y_ID;
    __global const float *x = a + line * n;
    float sum = 0.0f, lost = 0.0f, mean = 0.0f, off = 0.0f;
#ifndef RMS
    for (int i0 = part; i0 < n; i0 += RUN * PARTS) {
        float run = 0.0f;
        for (int i = i0; i < min(n, i0 + RUN * PARTS); i += PARTS) {
            run += x[i];
        }
        ADD_RUN(sum, lost, run);
    }
    mean = total(sums, part, WHOLE(sum, lost)) / (float)n;
    sum = lost = 0.0f;
    float rest = 0.0f;
#endif
    for (int i0 = part; i0 < n; i0 += RUN * PARTS) {
        float run = 0.0f, run_rest = 0.0f;
        for (int i = i0; i < min(n, i0 + RUN * PARTS); i += PARTS) {
            const float d = x[i] - mean;
            run = mad(d, d, run);
            run_rest += d;
        }
        ADD_RUN(sum, lost, run);
#ifndef RMS
        rest += run_rest;
#endif
    }
#ifndef RMS
    off = total(sums, part, rest) / (float)n;
#endif
    const float factor = 1.0f / sqrt(max(total(sums, part, WHOLE(sum, lost)) / (float)n - off * off, 0.0f) + epsilon);
#ifdef STATISTICS
    if (part == 0) {
        means[line] = mean + off;
        factors[line] = factor;
    }
#endif
    for (int i = part; i < n; i += PARTS) {
        float v = ((x[i] - mean) - off) * factor;
        v *= scale[SCALE_AT(line, i)];
#ifdef BIAS
        v += bias[SCALE_AT(line, i)];
#endif
        y[line * n + i] = v;
    }
}
