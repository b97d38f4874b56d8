// SPDX-License-Identifier: Apache-2.0
// Normalisation of lines of n neighbouring elements of plain a [lines, n]: (x - mean) / sqrt(variance + epsilon) * scale + bias. Two
// passes, so that large means do not eat the variance. SCALE_AT(line, i): the element of scale and bias that belongs to element i.
// With RMS the mean is left out.
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
    float sum = 0.0f, mean = 0.0f;
#ifndef RMS
    for (int i = part; i < n; i += PARTS) {
        sum += x[i];
    }
    mean = total(sums, part, sum) / (float)n;
#endif
    sum = 0.0f;
    for (int i = part; i < n; i += PARTS) {
        const float d = x[i] - mean;
        sum = mad(d, d, sum);
    }
    const float factor = 1.0f / sqrt(total(sums, part, sum) / (float)n + epsilon);
    for (int i = part; i < n; i += PARTS) {
        float v = (x[i] - mean) * factor;
        v *= scale[SCALE_AT(line, i)];
#ifdef BIAS
        v += bias[SCALE_AT(line, i)];
#endif
        y[line * n + i] = v;
    }
}
