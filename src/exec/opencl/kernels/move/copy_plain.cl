// SPDX-License-Identifier: Apache-2.0
// The elements of a plain tensor as they are; one item an element.
__kernel void run(PARAMETERS)
{
    if (OUTSIDE) {
        return;
    }
    y[X_ID] = a[X_ID];
}
