// SPDX-License-Identifier: Apache-2.0
// Integer arithmetic: matmul_integer, conv_integer, and the QOperator forms with their scales and zero points as operands (ONNX
// order).
// Ownership: const data. Threads: any.
#ifndef TN_OP_QLINEAR_H
#define TN_OP_QLINEAR_H

#include "ir/op.h"

#include "ops/nn/op_conv.h"

typedef struct tn_qconcat_attr { int64_t axis; } tn_qconcat_attr;

// qlinear_conv and conv_integer use tn_conv_attr (act: none). qlinear_add / qlinear_mul: a, a_scale, a_zero, b, b_scale, b_zero,
// y_scale, y_zero.
// qlinear_concat: y_scale, y_zero, then (x, scale, zero) for each.
extern const tn_op tn_op_matmul_integer;
extern const tn_op tn_op_conv_integer;
extern const tn_op tn_op_qlinear_conv;
extern const tn_op tn_op_qlinear_matmul;
extern const tn_op tn_op_qlinear_add;
extern const tn_op tn_op_qlinear_mul;
extern const tn_op tn_op_qlinear_concat;

#endif
