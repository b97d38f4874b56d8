// SPDX-License-Identifier: Apache-2.0
// A convolution as its kernels see it: grids, window, and the two ways to compute it, direct and by Winograd's transform.
// Ownership: plain values; memory is the flow's. Threads: as cl_build.h.
#ifndef TN_CL_CONV_H
#define TN_CL_CONV_H

#include "exec/opencl/rows/cl_rows.h"

#include "ops/nn/op_conv.h"

typedef struct tn_cl_sides {
    int64_t n, c, h, w;
} tn_cl_sides;

// What both directions need to know, with the one spatial dim of a conv1d as width.
typedef struct tn_cl_conv {
    tn_window window;
    tn_cl_sides x, y;
    int64_t group, kh, kw;
    const tn_act *act;
    bool deconv;
} tn_cl_conv;

typedef struct tn_cl_conv_memory {
    tn_cl_mem *x, *bias, *residual, *y;       // bias, residual: or NULL
} tn_cl_conv_memory;

// Bias, residual, result and activation as arguments of the step that is being written.
void tn_cl_conv_results(tn_cl_build *b, const tn_cl_conv *l, const tn_cl_conv_memory *m);

// Results of one side of a tile (2 or 4) where Winograd's way is the cheaper one, or 0: direct. By a measured row of the table, else by
// the model's prices. direct: the layer as the direct kernel has it.
int tn_cl_winograd_block(tn_cl_build *b, const tn_cl_conv *l, const tn_cl_conv_memory *m, const tn_cl_layer *direct);
void tn_cl_winograd_emit(tn_cl_build *b, const tn_cl_conv *l, const tn_cl_conv_memory *m, const void *weights, int block);

#endif
