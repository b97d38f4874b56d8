// SPDX-License-Identifier: Apache-2.0
// Quantisation and integer arithmetic.
// Ownership: const data. Threads: any.
#include "import/onnx/rows/onnx_rows.h"

#include "ops/quant/op_qlinear.h"
#include "ops/quant/op_quantize.h"

#include <stddef.h>

static const tn_onnx_field quantize_fields[] = {
    TN_FIELD_INT(tn_quantize_attr, axis, "axis", 1),          TN_FIELD_INT(tn_quantize_attr, block_size, "block_size", 0),
    TN_FIELD_BOOL(tn_quantize_attr, saturate, "saturate", 1), TN_FIELD_DTYPE(tn_quantize_attr, output_dtype, "output_dtype"),
    TN_FIELD_DTYPE(tn_quantize_attr, precision, "precision"),
};
static const tn_onnx_field dequantize_fields[] = {
    TN_FIELD_INT(tn_quantize_attr, axis, "axis", 1),
    TN_FIELD_INT(tn_quantize_attr, block_size, "block_size", 0),
    TN_FIELD_DTYPE(tn_quantize_attr, output_dtype, "output_dtype"),
};

static const tn_onnx_row rows[] = {
    {.type = "ConvInteger", .since = 10, .max_in = 4, .op = &tn_op_conv_integer, TN_FIELDS(tn_onnx_conv_fields)},
    {.type = "DequantizeLinear", .since = 10, .op = &tn_op_dequantize_linear, TN_FIELDS(dequantize_fields)},
    TN_ROW("DynamicQuantizeLinear", 11, dynamic_quantize_linear),
    TN_ROW("MatMulInteger", 10, matmul_integer),
    {.type = "QLinearConv", .since = 10, .max_in = 9, .op = &tn_op_qlinear_conv, TN_FIELDS(tn_onnx_conv_fields)},
    {.type = "QLinearMatMul", .since = 10, .max_in = 8, .op = &tn_op_qlinear_matmul},
    {.type = "QuantizeLinear", .since = 10, .op = &tn_op_quantize_linear, TN_FIELDS(quantize_fields)},
    {0},
};

const tn_onnx_table tn_onnx_quant = {"", rows};
