// SPDX-License-Identifier: Apache-2.0
// Sums, differences and products of quantised tensors (com.microsoft QLinearAdd, QLinearMul; TensorFlow Lite ADD, SUB, MUL).
// Ownership: const data. Threads: any.
#ifndef TN_OP_QPAIR_H
#define TN_OP_QPAIR_H

#include "ops/quant/requantise.h"

// All take tn_qlinear_attr. Operands: a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero?; a, b and y of one byte type.
extern const tn_op tn_op_qlinear_add;
extern const tn_op tn_op_qlinear_sub;
extern const tn_op tn_op_qlinear_mul;

// The numbers of one of them, from operands that are all there but for zero points (in: n_in of them).
void tn_qpair_params(const tn_op *op, const tn_qlinear_attr *attr, const tn_tensor *const *in, int n_in, tn_dtype dtype,
                     tn_requant_pair *pair);

#endif
