// SPDX-License-Identifier: Apache-2.0
// y [outer, depth, inner]: values[1] where the index of [outer, inner] names the place, counted from the end where negative, else values[0].
__kernel void run(PARAMETERS)
{
    if (OUTSIDE) {
        return;
    }
    const int here = X_ID, place = Y_ID, outer = Z_ID;
    const long index = t[outer * gx + here];
    y[(outer * gy + place) * gx + here] = values[index == place || index == (long)place - gy];
}
