// SPDX-License-Identifier: Apache-2.0
// Quantised operators of com.microsoft, as onnxruntime's quantisation tools write them (docs/ContribOperators.md). Those without an
// integer operator of ours are built as what they mean: dequantise, compute, quantise; the fusion passes find the pattern again.
// Ownership: const data. Threads: any.
#include "import/onnx/rows/domains/onnx_contrib_parts.h"

#include "ops/math/op_binary.h"
#include "ops/math/op_cast.h"
#include "ops/math/op_select.h"
#include "ops/move/op_reshape.h"
#include "ops/move/op_transpose.h"
#include "ops/nn/op_activation.h"
#include "ops/nn/op_pool.h"
#include "ops/nn/op_softmax.h"
#include "ops/quant/op_qlinear.h"
#include "ops/quant/op_qpair.h"
#include "ops/quant/op_quantize.h"

#include <stddef.h>

static const tn_onnx_field quantize_fields[] = {TN_FIELD_INT(tn_quantize_attr, axis, "axis", 1),
                                                TN_FIELD_BOOL(tn_quantize_attr, saturate, "saturate", 1)};
static const tn_onnx_field dequantize_fields[] = {TN_FIELD_INT(tn_quantize_attr, axis, "axis", 1)};
static const tn_onnx_field qconcat_fields[] = {
    {.name = "axis", .kind = TN_ATTR_INT, .offset = offsetof(tn_qconcat_attr, axis), .required = true},
};

static const tn_quantize_attr per_tensor = {.axis = 1, .saturate = true};

// ---- dequantise, compute, quantise: operands x, x_scale, x_zero?, y_scale, y_zero? ----

static tn_value *dequantised(tn_onnx_node *node)
{
    return tn_onnx_emit(node, &tn_op_dequantize_linear, &per_tensor,
                        TN_IN(tn_onnx_in(node, 0), tn_onnx_in(node, 1), tn_onnx_in(node, 2)));
}

static void finish_quantised(tn_onnx_node *node, const tn_op *op, const void *attr)
{
    tn_value *y = tn_onnx_emit(node, op, attr, TN_IN(dequantised(node)));
    tn_onnx_finish(node, &tn_op_quantize_linear, &per_tensor, TN_IN(y, tn_onnx_in(node, 3), tn_onnx_in(node, 4)));
}

static void map_leaky_relu(tn_onnx_node *node)
{
    const tn_activation_attr attr = {.alpha = tn_onnx_real(node, "alpha", 0.01f)};
    finish_quantised(node, &tn_op_leaky_relu, &attr);
}

static void map_sigmoid(tn_onnx_node *node)
{
    finish_quantised(node, &tn_op_sigmoid, NULL);
}

// A pooling operator, with the channels where the file has them.
static void finish_pool(tn_onnx_node *node, const tn_op *op, const void *attr)
{
    if (tn_onnx_int(node, "channels_last", 0) == 0) {
        finish_quantised(node, op, attr);
        return;
    }
    const int rank = tn_contrib_rank(tn_onnx_in(node, 0));
    tn_value *x = tn_contrib_channels_first(node, tn_onnx_in(node, 0));
    tn_value *real = tn_onnx_emit(node, &tn_op_dequantize_linear, &per_tensor, TN_IN(x, tn_onnx_in(node, 1), tn_onnx_in(node, 2)));
    tn_value *y = tn_contrib_channels_last(node, tn_onnx_emit(node, op, attr, TN_IN(real)), rank);
    tn_onnx_finish(node, &tn_op_quantize_linear, &per_tensor, TN_IN(y, tn_onnx_in(node, 3), tn_onnx_in(node, 4)));
}

static void map_global_average_pool(tn_onnx_node *node)
{
    finish_pool(node, &tn_op_global_average_pool, NULL);
}

static void map_average_pool(tn_onnx_node *node)
{
    const tn_pool_attr attr = {.kernel = tn_onnx_ints(node, "kernel_shape"),
                               .strides = tn_onnx_ints(node, "strides"),
                               .pads = tn_onnx_ints(node, "pads"),
                               .auto_pad = tn_onnx_choice(node, "auto_pad", tn_onnx_auto_pads, TN_PAD_NOTSET),
                               .ceil_mode = tn_onnx_int(node, "ceil_mode", 0) != 0,
                               .count_include_pad = tn_onnx_int(node, "count_include_pad", 0) != 0,
                               .p = 2};
    finish_pool(node, &tn_op_average_pool, &attr);
}

// Attribute opset says which Softmax is meant; before 13 all dims from the axis on are one, which for the last axis is the same.
static void map_softmax(tn_onnx_node *node)
{
    tn_softmax_attr attr = {.axis = tn_onnx_int(node, "axis", -1)};
    tn_value *x = tn_onnx_in(node, 0);
    if (tn_onnx_int(node, "opset", 13) >= 13 || attr.axis == -1 || (tn_contrib_rank(x) >= 0 && attr.axis == tn_contrib_rank(x) - 1)) {
        finish_quantised(node, &tn_op_softmax, &attr);
        return;
    }
    const tn_flatten_attr flat = {.axis = attr.axis};
    const tn_softmax_attr last = {.axis = -1};
    tn_value *rows = tn_onnx_emit(node, &tn_op_flatten, &flat, TN_IN(dequantised(node)));
    tn_value *y = tn_onnx_emit(node, &tn_op_softmax, &last, TN_IN(rows));
    y = tn_onnx_emit(node, &tn_op_reshape, NULL, TN_IN(y, tn_onnx_shape_of(node, x)));
    tn_onnx_finish(node, &tn_op_quantize_linear, &per_tensor, TN_IN(y, tn_onnx_in(node, 3), tn_onnx_in(node, 4)));
}

// ---- integer products with float results ----

// a [.., M, K] b [K, N] in integers, times both scales, plus bias?. A missing a_zero or b_zero is zero.
static tn_value *scaled_product(tn_onnx_node *node, tn_value *const integer[4], tn_value *a_scale, tn_value *b_scale)
{
    const tn_cast_attr to_float = {.to = TN_F32, .saturate = true};
    tn_value *sum = tn_onnx_emit(node, &tn_op_matmul_integer, NULL, integer, 4);
    tn_value *real = tn_onnx_emit(node, &tn_op_cast, &to_float, TN_IN(sum));
    tn_value *scale = tn_onnx_emit(node, &tn_op_mul, NULL, TN_IN(a_scale, b_scale));
    return tn_onnx_emit(node, &tn_op_mul, NULL, TN_IN(real, scale));
}

static void finish_biased(tn_onnx_node *node, tn_value *y, tn_value *bias)
{
    if (bias) {
        tn_onnx_finish(node, &tn_op_add, NULL, TN_IN(y, bias));
    } else if (tn_onnx_good(node)) {
        tn_onnx_finish_as(node, 0, y);
    }
}

// a, b, a_scale, b_scale, a_zero?, b_zero?, bias?
static void map_integer_to_float(tn_onnx_node *node)
{
    tn_value *const integer[4] = {tn_onnx_in(node, 0), tn_onnx_in(node, 1), tn_onnx_in(node, 4), tn_onnx_in(node, 5)};
    finish_biased(node, scaled_product(node, integer, tn_onnx_in(node, 2), tn_onnx_in(node, 3)), tn_onnx_in(node, 6));
}

// a (float), b, b_scale, b_zero?, bias?: a is quantised by its own range.
static void map_dynamic_matmul(tn_onnx_node *node)
{
    tn_value *parts[3];
    tn_value *a = tn_onnx_in(node, 0);
    tn_onnx_emit_several(node, &tn_op_dynamic_quantize_linear, NULL, TN_IN(a), parts, 3);
    tn_value *const integer[4] = {parts[0], tn_onnx_in(node, 1), parts[2], tn_onnx_in(node, 3)};
    finish_biased(node, scaled_product(node, integer, parts[1], tn_onnx_in(node, 2)), tn_onnx_in(node, 4));
}

static tn_value *turned(tn_onnx_node *node, tn_value *x, const char *attribute)
{
    static const int64_t swap[] = {1, 0};
    const tn_transpose_attr attr = {.perm = {swap, 2, true}};
    return tn_onnx_int(node, attribute, 0) != 0 ? tn_onnx_emit(node, &tn_op_transpose, &attr, TN_IN(x)) : x;
}

// The bias of each column as a vector, for one that the file gives as [N] or [1, N].
static bool is_columns(tn_onnx_node *node, const tn_value *c, const tn_value *b)
{
    const int rank = tn_contrib_rank(c), turned_b = tn_onnx_int(node, "transB", 0) != 0;
    const int64_t n = tn_contrib_rank(b) == 2 ? tn_contrib_known_dim(b, turned_b ? 0 : 1) : -1;
    return n > 0 && rank >= 1 && rank <= 2 && tn_contrib_known_dim(c, rank - 1) == n && (rank == 1 || tn_contrib_known_dim(c, 0) == 1);
}

// The operands of qlinear_matmul, of which `a` and `b` stand as they are multiplied.
static void finish_qgemm(tn_onnx_node *node, tn_value *a, tn_value *b, tn_value *a_scale)
{
    static const int64_t vector[1] = {-1};
    tn_value *c = tn_onnx_in(node, 6);
    if (c && tn_contrib_rank(c) == 2) {
        c = tn_contrib_reshape(node, c, vector, 1);
    }
    tn_value *const in[9] = {a, a_scale, tn_onnx_in(node, 2), b, tn_onnx_in(node, 4), tn_onnx_in(node, 5), tn_onnx_in(node, 7), tn_onnx_in(node, 8), c};
    tn_onnx_finish(node, &tn_op_qlinear_matmul, NULL, in, c ? 9 : 8);
}

// a, a_scale, a_zero, b, b_scale, b_zero, c (int32)?, y_scale?, y_zero?: quantised when y_scale is there, else float. alpha is a factor of the
// scales. A bias that is not one number for each column, which qlinear_matmul has no place for, is added to the sums written out.
static void map_qgemm(tn_onnx_node *node)
{
    const tn_cast_attr to_float = {.to = TN_F32, .saturate = true};
    tn_value *a = turned(node, tn_onnx_in(node, 0), "transA"), *b = turned(node, tn_onnx_in(node, 3), "transB"), *a_scale = tn_onnx_in(node, 1);
    const double alpha = tn_onnx_real(node, "alpha", 1.0f);
    if (alpha != 1) {
        a_scale = tn_onnx_emit(node, &tn_op_mul, NULL, TN_IN(a_scale, tn_onnx_const_real(node, TN_F32, alpha)));
    }
    if (tn_onnx_in(node, 7) && tn_onnx_in(node, 8) && (!tn_onnx_in(node, 6) || is_columns(node, tn_onnx_in(node, 6), tn_onnx_in(node, 3)))) {
        finish_qgemm(node, a, b, a_scale);
        return;
    }
    tn_value *sum = tn_onnx_emit(node, &tn_op_matmul_integer, NULL, TN_IN(a, b, tn_onnx_in(node, 2), tn_onnx_in(node, 5)));
    if (tn_onnx_in(node, 6)) {
        sum = tn_onnx_emit(node, &tn_op_add, NULL, TN_IN(sum, tn_onnx_in(node, 6)));
    }
    tn_value *real = tn_onnx_emit(node, &tn_op_cast, &to_float, TN_IN(sum));
    tn_value *scale = tn_onnx_emit(node, &tn_op_mul, NULL, TN_IN(a_scale, tn_onnx_in(node, 4)));
    if (!tn_onnx_in(node, 7)) {
        tn_onnx_finish(node, &tn_op_mul, NULL, TN_IN(real, scale));
        return;
    }
    tn_value *y = tn_onnx_emit(node, &tn_op_mul, NULL, TN_IN(real, scale));
    tn_onnx_finish(node, &tn_op_quantize_linear, &per_tensor, TN_IN(y, tn_onnx_in(node, 7), tn_onnx_in(node, 8)));
}

// condition, x, x_scale, x_zero, y, y_scale, y_zero, z_scale, z_zero
static void map_where(tn_onnx_node *node)
{
    tn_value *part[2];
    for (int i = 0; i < 2; i++) {
        part[i] = tn_onnx_emit(node, &tn_op_dequantize_linear, &per_tensor,
                               TN_IN(tn_onnx_in(node, 1 + 3 * i), tn_onnx_in(node, 2 + 3 * i), tn_onnx_in(node, 3 + 3 * i)));
    }
    tn_value *z = tn_onnx_emit(node, &tn_op_where, NULL, TN_IN(tn_onnx_in(node, 0), part[0], part[1]));
    tn_onnx_finish(node, &tn_op_quantize_linear, &per_tensor, TN_IN(z, tn_onnx_in(node, 7), tn_onnx_in(node, 8)));
}

static const tn_onnx_row rows[] = {
    {.type = "DequantizeLinear", .since = 1, .op = &tn_op_dequantize_linear, TN_FIELDS(dequantize_fields)},
    {.type = "DynamicQuantizeMatMul", .since = 1, .max_in = 5, .map = map_dynamic_matmul},
    {.type = "MatMulIntegerToFloat", .since = 1, .max_in = 7, .map = map_integer_to_float},
    {.type = "QGemm", .since = 1, .max_in = 9, .map = map_qgemm},
    {.type = "QLinearAdd", .since = 1, .op = &tn_op_qlinear_add},
    {.type = "QLinearAveragePool", .since = 1, .max_in = 5, .map = map_average_pool},
    {.type = "QLinearConcat", .since = 1, .op = &tn_op_qlinear_concat, TN_FIELDS(qconcat_fields)},
    {.type = "QLinearGlobalAveragePool", .since = 1, .max_in = 5, .map = map_global_average_pool},
    {.type = "QLinearLeakyRelu", .since = 1, .max_in = 5, .map = map_leaky_relu},
    {.type = "QLinearMul", .since = 1, .op = &tn_op_qlinear_mul},
    {.type = "QLinearSigmoid", .since = 1, .max_in = 5, .map = map_sigmoid},
    {.type = "QLinearSoftmax", .since = 1, .max_in = 5, .map = map_softmax},
    {.type = "QLinearWhere", .since = 1, .max_in = 9, .map = map_where},
    {.type = "QuantizeLinear", .since = 1, .op = &tn_op_quantize_linear, TN_FIELDS(quantize_fields)},
    {0},
};

const tn_onnx_table tn_onnx_contrib_quant = {"com.microsoft", rows};
