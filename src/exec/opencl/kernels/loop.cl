// SPDX-License-Identifier: Apache-2.0
// A fused elementwise program over plain tensors: the function `program` was generated from the loop IR. Each operand is read through
// its own strides over the result's dims (0 where it is broadcast); POSITION and the loads were generated with it.
__kernel void run(PARAMETERS)
{
    if (OUTSIDE) {
        return;
    }
    const int i = X_ID;
    POSITION
    y[i] = program(LOADS);
}
