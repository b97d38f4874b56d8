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

// A convolution that is left to the step of another: of the depthwise one that alone reads it, or of `reader`, which reads the same map.
typedef struct tn_cl_ahead {
    tn_cl_conv l;
    const tn_node *node;
    const tn_node *reader;
    tn_cl_value *x, *y;                       // y: for a reader of the same map
    const void *weights, *bias;               // bias: or NULL
} tn_cl_ahead;

// Output blocks of a direct convolution that have one tap only; of which node they are; how the table knows the layer without them.
typedef struct tn_cl_centred {
    int64_t tap, from, to;
    const tn_node *node;
    const tn_cl_layer *alone;
} tn_cl_centred;

typedef struct tn_cl_expand_memory {
    tn_cl_mem *filter, *bias, *depthwise;     // bias: or NULL
} tn_cl_expand_memory;

// A convolution's numbers from its attributes and shapes. false: none that kernels know.
bool tn_cl_conv_read(const tn_op *op, const void *attr, const tn_shape *x, const tn_shape *w, const tn_shape *y, tn_cl_conv *l);
// Every tap of every result lies inside the map.
bool tn_cl_conv_inside(const tn_cl_conv *l);
// Operand 0 as `reader` takes it: a grid, or the planes of a picture as they come.
tn_cl_mem *tn_cl_conv_operand(tn_cl_build *b, const tn_cl_conv *reader, tn_cl_value *x);
// Operand 0 of the convolution `reader`, and what tn_cl_conv_results gives of `l`, as arguments; window and sides of `l` as macros and numbers.
void tn_cl_conv_operands(tn_cl_build *b, const tn_cl_conv *l, const tn_cl_conv_memory *m, const tn_cl_conv *reader);
void tn_cl_conv_window(tn_cl_build *b, const tn_cl_conv *l);
// Bias, residual, result and activation as arguments of the step that is being written, and what all convolutions end with as the macro
// RESULT(block, x, y, sum): it stores act(sum + bias + residual) for four channels of a pixel.
void tn_cl_conv_results(tn_cl_build *b, const tn_cl_conv *l, const tn_cl_conv_memory *m);

// Results of one side of a tile (2 or 4) where Winograd's way is the cheaper one, or 0: direct. By a measured row of the table, else by
// the model's prices. direct: the layer as the direct kernel has it.
int tn_cl_winograd_block(tn_cl_build *b, const tn_cl_conv *l, const tn_cl_conv_memory *m, const tn_cl_layer *direct);
// Whether the convolution `l` is left to its reader, by a measured row of the table or by the model's prices; then out->ahead is set.
bool tn_cl_expand_defers(tn_cl_build *b, const tn_cl_conv *l, const tn_query *query, tn_cl_value *const *in, tn_cl_value *out);
// The depthwise convolution `l` with the one before it; m->x is set here.
void tn_cl_expand_emit(tn_cl_build *b, const tn_cl_ahead *ahead, const tn_cl_conv *l, tn_cl_conv_memory *m, const void *weights);

// The layer as tiles depend on it; y: the grid, or one of its kind.
tn_cl_layer tn_cl_conv_layer(const tn_cl_build *b, const tn_cl_conv *l, const tn_cl_mem *y, int64_t in_channels);
// The direct kernel. centred: or NULL.
void tn_cl_direct_emit(tn_cl_build *b, const tn_cl_conv *l, const tn_cl_conv_memory *m, tn_cl_mem *filter, const tn_cl_layer *layer,
                       const tn_cl_centred *centred);

// Whether the convolution `l` is left to another of the same map that comes later; then in[0]->sibling is set.
bool tn_cl_pair_defers(tn_cl_build *b, const tn_cl_conv *l, const tn_query *query, tn_cl_value *const *in, tn_cl_value *out);
// Both in one step.
void tn_cl_pair_emit(tn_cl_build *b, const tn_cl_ahead *sibling, const tn_cl_conv *l, const tn_query *query, tn_cl_value *y);

void tn_cl_winograd_emit(tn_cl_build *b, const tn_cl_conv *l, const tn_cl_conv_memory *m, const void *weights, int block);

#endif
