// SPDX-License-Identifier: Apache-2.0
// The first lengths[b] steps of each sequence in reverse, the others as they are; `inner` elements a step.
__kernel void run(PARAMETERS)
{
    if (OUTSIDE) {
        return;
    }
    const int i = X_ID, step = Y_ID, b = Z_ID;
    const long length = lengths[b];
    if (length < 0 || length > gy) {
        bad[0] = 1;
        return;
    }
    const int from = step < length ? (int)length - 1 - step : step;
    y[b * BATCH_STEP + step * TIME_STEP + i] = a[b * BATCH_STEP + from * TIME_STEP + i];
}
