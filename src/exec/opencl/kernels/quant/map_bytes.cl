// SPDX-License-Identifier: Apache-2.0
// y[o, offset + i] = t[byte x[o, i]]: any function of a byte, and the parts of a join, which lie `offset` into rows of `pitch`.
__kernel void run(PARAMETERS)
{
    if (OUTSIDE) {
        return;
    }
    y[Y_ID * pitch + offset + X_ID] = t[x[Y_ID * gx + X_ID]];
}
