// SPDX-License-Identifier: Apache-2.0
// GatherND: y [tuples, inner] = the slices of a that tuples of indices t [tuples, SIZE] name; `each` tuples belong to one element of the
// batch, whose data lie `stride` apart. Negative indices count from the end; what lies outside becomes a bit in `bad`.
//   DIMS, STRIDES: lists of the dims that the indices go over
__kernel void run(PARAMETERS)
{
    if (OUTSIDE) {
        return;
    }
    const int dims[] = {DIMS}, strides[] = {STRIDES};
    int from = Y_ID / each * stride + X_ID;
    bool in = true;
    for (int k = 0; k < SIZE; k++) {
        INDEX at = t[Y_ID * SIZE + k];
        at += at < 0 ? dims[k] : 0;
        in = in && at >= 0 && at < dims[k];
        from += in ? (int)at * strides[k] : 0;
    }
    if (!in) {
        bad[0] = 1;
    }
    y[Y_ID * gx + X_ID] = in ? a[from] : 0;
}
