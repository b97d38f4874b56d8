// SPDX-License-Identifier: Apache-2.0
// Linear quantisation (rounding float_rne: to nearest, ties to even). ONNX QuantizeLinear, DequantizeLinear, DynamicQuantizeLinear.
// Ownership: const data. Threads: any.
#ifndef TN_OP_QUANTIZE_H
#define TN_OP_QUANTIZE_H

#include "ir/op.h"

// x, scale, zero_point?
typedef struct tn_quantize_attr { int64_t axis, block_size; bool saturate; tn_dtype output_dtype, precision; } tn_quantize_attr;

extern const tn_op tn_op_quantize_linear;
extern const tn_op tn_op_dequantize_linear;
extern const tn_op tn_op_dynamic_quantize_linear;

#endif
