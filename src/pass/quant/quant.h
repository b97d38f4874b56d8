// SPDX-License-Identifier: Apache-2.0
// Passes over quantised graphs: dequantise - compute - quantise becomes one operator on integers (ops/quant), with no float32 in
// between. What cannot be told in integers stays as it is.
// Ownership: const data; views borrow from the graph. Threads: any.
#ifndef TN_QUANT_H
#define TN_QUANT_H

#include "ops/quant/requantise.h"
#include "pass/rewrite.h"

extern const tn_pass tn_pass_quant_move;    // movement is done on the bytes, before they are dequantised or after
extern const tn_pass tn_pass_quant_fold;    // everything else: results that are quantised

// ---- what the files of this folder share ----

// A byte tensor and what its numbers mean: scale * (x - zero), one scale for all or one for each index of `axis`.
typedef struct tn_quantised {
    tn_value *x, *scale, *zero;   // zero NULL: 0
    int64_t count;                // scales
    int axis;                     // when count > 1
    float first;                  // scale 0
    int32_t zero_first;
    tn_dtype dtype;
} tn_quantised;

// `value` is what a dequantize_linear makes of bytes with constant scales that are positive and finite.
bool tn_dequantised(const tn_value *value, tn_quantised *out);

// The same with one scale.
bool tn_dequantised_whole(const tn_value *value, tn_quantised *out);

// The same, and int16 without zero point as well.
bool tn_dequantised_any(const tn_value *value, tn_quantised *out);
bool tn_quantises_any(const tn_node *node, tn_quantised *out);

// `node` is a quantize_linear from float32 to bytes by one such scale; out->x is its operand.
bool tn_quantises(const tn_node *node, tn_quantised *out);

// One scale and one zero point that are the same in both.
bool tn_same_quantisation(const tn_quantised *a, const tn_quantised *b);

// The nearest integer for a real number, in the range of the type.
int32_t tn_quantise_one(const tn_quantised *q, double real);

// New constants; NULL: no memory.
tn_value *tn_new_bytes(tn_graph *graph, tn_dtype dtype, int64_t count, const uint8_t *data);
tn_value *tn_new_i32(tn_graph *graph, int64_t count, int32_t **data);

// Nodes above `value` up to a dequantised value that only bound it from below and above: relu and clip. *low and *high become
// narrower, nodes go to from[*n_from ...]. Returns the value under them.
#define TN_QUANT_CHAIN 8
tn_value *tn_peel_bounds(const tn_pass_context *context, tn_value *value, double *low, double *high, tn_node **from, int *n_from);

// The same bounds in steps of y, and the rounding that the graph is to have.
tn_qlinear_attr tn_quant_bounds(const tn_pass_context *context, const tn_quantised *y, double low, double high);

// What makes a value in floats that is then quantised as y: an operator with one result that nobody else reads, under nodes that bound it.
typedef struct tn_quant_work {
    tn_node *node;
    tn_node *from[TN_QUANT_CHAIN + 1];    // the bounding nodes, then `node`
    int n_from;
    tn_qlinear_attr q;
} tn_quant_work;
bool tn_quant_work_of(const tn_pass_context *context, const tn_quantised *y, tn_quant_work *work);

// The operator on integers for one on floats, by rows of both; NULL: it is in none.
const tn_op *tn_quant_whole(const tn_op *const (*rows)[2], size_t count, const tn_op *real);

// A function of one quantised value, perhaps another one for each channel (axis 1).
#define TN_QUANT_NODES 16     // of a function written out
typedef struct tn_quant_function {
    tn_quantised x;                   // what it is a function of
    tn_node *node[TN_QUANT_NODES];    // operands before their users
    int n_nodes;
    int64_t channels;                 // 1: the same for all
    int after;                        // dims of 1 behind that of the channels' constants
} tn_quant_function;

// false: `value` is none.
bool tn_function_of(tn_quant_function *f, const tn_value *value);

// Its values for the integers first, first + step ...: values[channels][entries]. *done: it could be computed.
tn_status tn_function_values(const tn_quant_function *f, int64_t entries, int32_t first, int32_t step, float *values,
                             tn_pass_context *context, bool *done);

// Does the quantize_linear `node` before the movement whose result it reads, where that is worth it.
tn_status tn_raise_quantise(tn_graph *graph, tn_pass_context *context, tn_node *node);

// The node is a mean over the axes *first ... *last - 1 and says so by constants.
bool tn_mean_axes(const tn_node *node, int *first, int *last);

// Such a mean of bytes, or of int16.
tn_status tn_fold_mean(tn_graph *graph, tn_pass_context *context, tn_node *node, const tn_quantised *y, const tn_quant_work *w, bool *done);

// A linear resize of bytes or of int16.
tn_status tn_fold_resize(tn_graph *graph, tn_pass_context *context, tn_node *node, const tn_quantised *y, const tn_quant_work *w, bool *done);

// Each tries to make one integer operator of the quantize_linear `node` and what is before it; *done tells.
tn_status tn_fold_sum(tn_graph *graph, tn_pass_context *context, tn_node *node, bool *done);       // conv, matmul, gemm
tn_status tn_fold_behind(tn_graph *graph, tn_pass_context *context, tn_node *node, bool *done);    // affine work behind qlinear_conv
tn_status tn_fold_map(tn_graph *graph, tn_pass_context *context, tn_node *node, bool *done);       // functions of a byte, pools, pairs
tn_status tn_fold_wide(tn_graph *graph, tn_pass_context *context, tn_node *node, bool *done);      // everything of 16 bits

#endif
