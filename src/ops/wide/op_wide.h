// SPDX-License-Identifier: Apache-2.0
// Integer arithmetic on values of 16 bits without zero points, for models that 8 bits are too few for: sums, pairs, means and functions.
// Exact definitions: base/requant.h. These operators exist only between passes and devices; no model file names them.
// Ownership: const data. Threads: any.
#ifndef TN_OP_WIDE_H
#define TN_OP_WIDE_H

#include "ops/nn/op_conv.h"
#include "ops/quant/requantise.h"

// conv: the window; its activation is not used.
typedef struct tn_wide_conv_attr {
    tn_conv_attr conv;
    tn_qlinear_attr q;
} tn_wide_conv_attr;

typedef struct tn_wide_table_attr {
    int to;                   // tn_dtype of the result: int16, or a byte
} tn_wide_table_attr;

// x, x_scale, w (int8 or int16; matmul: [K, N]), w_scale (one, or one for each result channel), y_scale, bias (int64)?: y int16.
extern const tn_op tn_op_wide_conv;
extern const tn_op tn_op_wide_matmul;
// a, a_scale, b, b_scale, y_scale: y int16, with broadcasting. Attributes: tn_qlinear_attr.
extern const tn_op tn_op_wide_add;
extern const tn_op tn_op_wide_sub;
extern const tn_op tn_op_wide_mul;
// x, x_scale, y_scale: the mean over all dims after the second, of at most TN_WIDE_MEAN elements. Attributes: tn_qlinear_attr.
extern const tn_op tn_op_wide_mean;
#define TN_WIDE_MEAN 32768
// x, table (int16): y = a function of x. x of 16 bits: TN_WIDE_ENTRIES entries, interpolated; a byte: 256, looked up by it.
extern const tn_op tn_op_wide_table;

// The bits that the sums of a node lose, from its weights (constant) and bias: w as [lines][count] in steps.
int tn_wide_sum_down(const tn_tensor *w, int64_t lines, int64_t count, int64_t line_step, int64_t step, const tn_tensor *bias);

// Of the node itself: operands as above.
int tn_wide_conv_down(const tn_tensor *w, const tn_tensor *bias);
int tn_wide_matmul_down(const tn_tensor *w, const tn_tensor *bias);

// Everything of a pair from its operands.
void tn_wide_pair_params(const tn_op *op, const tn_qlinear_attr *attr, const tn_tensor *const *in, tn_requant_pair *pair);

#endif
