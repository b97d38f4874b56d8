// SPDX-License-Identifier: Apache-2.0
// Integer arithmetic: matmul_integer, conv_integer, and the QOperator forms with their scales and zero points as operands (ONNX
// order).
// Ownership: const data. Threads: any.
#ifndef TN_OP_QLINEAR_H
#define TN_OP_QLINEAR_H

#include "ops/nn/op_conv.h"
#include "ops/quant/requantise.h"

typedef struct tn_qconcat_attr { int64_t axis; } tn_qconcat_attr;

// conv: the window; its activation is not used.
typedef struct tn_qconv_attr {
    tn_conv_attr conv;
    tn_qlinear_attr q;
} tn_qconv_attr;

typedef struct tn_qmatmul_attr { tn_qlinear_attr q; } tn_qmatmul_attr;

// conv_integer uses tn_conv_attr (act: none).
// qlinear_conv, qlinear_matmul: x, x_scale, x_zero?, w, w_scale, w_zero?, y_scale, y_zero?, bias (int32)?. The matmul of types other
// than bytes, or with other scales than float32, is always float_rne and has no bounds.
// qlinear_concat: y_scale, y_zero, then (x, scale, zero) for each.
extern const tn_op tn_op_matmul_integer;
extern const tn_op tn_op_conv_integer;
extern const tn_op tn_op_qlinear_conv;
extern const tn_op tn_op_qlinear_matmul;
extern const tn_op tn_op_qlinear_concat;

#endif
