// SPDX-License-Identifier: Apache-2.0
// Convolutions, pooling, activations, softmax, losses, dropout.
// Ownership: const data. Threads: any.
#include "import/onnx/rows/onnx_rows.h"

#include "ops/index/op_make.h"
#include "ops/index/op_random.h"
#include "ops/math/op_binary.h"
#include "ops/move/op_reshape.h"
#include "ops/nn/op_activation.h"
#include "ops/nn/op_conv.h"
#include "ops/nn/op_pool.h"
#include "ops/nn/op_softmax.h"
#include "ops/train/op_loss.h"
#include "ops/vision/op_deform.h"

#include <stddef.h>

// In the order of TN_PAD_NOTSET ...
const char *const tn_onnx_auto_pads[] = {"NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID", NULL};

// The spatial attributes that all of these have, for a struct with the same field names.
#define WINDOW(type)                                                                                                               \
    TN_FIELD_INTS(type, kernel, "kernel_shape"), TN_FIELD_INTS(type, strides, "strides"), TN_FIELD_INTS(type, pads, "pads"),       \
        TN_FIELD_INTS(type, dilations, "dilations"), TN_FIELD_ENUM(type, auto_pad, "auto_pad", tn_onnx_auto_pads, TN_PAD_NOTSET)

const tn_onnx_field tn_onnx_conv_fields[TN_ONNX_CONV_FIELDS] = {WINDOW(tn_conv_attr), TN_FIELD_INT(tn_conv_attr, group, "group", 1)};
static const tn_onnx_field deconv_fields[] = {
    WINDOW(tn_deconv_attr),
    TN_FIELD_INT(tn_deconv_attr, group, "group", 1),
    TN_FIELD_INTS(tn_deconv_attr, output_padding, "output_padding"),
    TN_FIELD_INTS(tn_deconv_attr, output_shape, "output_shape"),
};
static const tn_onnx_field deform_fields[] = {
    TN_FIELD_INTS(tn_deform_conv_attr, kernel, "kernel_shape"), TN_FIELD_INTS(tn_deform_conv_attr, strides, "strides"),
    TN_FIELD_INTS(tn_deform_conv_attr, pads, "pads"),           TN_FIELD_INTS(tn_deform_conv_attr, dilations, "dilations"),
    TN_FIELD_INT(tn_deform_conv_attr, group, "group", 1),       TN_FIELD_INT(tn_deform_conv_attr, offset_group, "offset_group", 1),
};
static const tn_onnx_field max_pool_fields[] = {
    WINDOW(tn_pool_attr),
    TN_FIELD_BOOL(tn_pool_attr, ceil_mode, "ceil_mode", 0),
    TN_FIELD_INT(tn_pool_attr, storage_order, "storage_order", 0),
};
static const tn_onnx_field average_pool_fields[] = {
    WINDOW(tn_pool_attr),
    TN_FIELD_BOOL(tn_pool_attr, ceil_mode, "ceil_mode", 0),
    TN_FIELD_BOOL(tn_pool_attr, count_include_pad, "count_include_pad", 0),
};
static const tn_onnx_field lp_pool_fields[] = {
    WINDOW(tn_pool_attr),
    TN_FIELD_BOOL(tn_pool_attr, ceil_mode, "ceil_mode", 0),
    TN_FIELD_INT(tn_pool_attr, p, "p", 2),
};
static const tn_onnx_field unpool_fields[] = {
    TN_FIELD_INTS(tn_pool_attr, kernel, "kernel_shape"),
    TN_FIELD_INTS(tn_pool_attr, strides, "strides"),
    TN_FIELD_INTS(tn_pool_attr, pads, "pads"),
};
static const tn_onnx_field global_lp_fields[] = {TN_FIELD_INT(tn_global_pool_attr, p, "p", 2)};

// ---- activations ----

#define ALPHA(value) TN_FIELD_REAL(tn_activation_attr, alpha, "alpha", value)

static const char *const approximations[] = {"none", "tanh", NULL};

static const tn_onnx_field leaky_fields[] = {ALPHA(0.01f)};
static const tn_onnx_field one_fields[] = {ALPHA(1.0f)};
static const tn_onnx_field hard_sigmoid_fields[] = {ALPHA(0.2f), TN_FIELD_REAL(tn_activation_attr, beta, "beta", 0.5f)};
static const tn_onnx_field old_selu_fields[] = {ALPHA(1.6732f), TN_FIELD_REAL(tn_activation_attr, beta, "gamma", 1.0507f)};
static const tn_onnx_field selu_fields[] = {
    ALPHA(1.67326319217681884765625f),
    TN_FIELD_REAL(tn_activation_attr, beta, "gamma", 1.05070102214813232421875f),
};
static const tn_onnx_field shrink_fields[] = {
    TN_FIELD_REAL(tn_activation_attr, alpha, "lambd", 0.5f),
    TN_FIELD_REAL(tn_activation_attr, beta, "bias", 0.0f),
};
static const tn_onnx_field gelu_fields[] = {TN_FIELD_CHOICE(tn_activation_attr, approximate, "approximate", approximations, 0)};

static const tn_onnx_operand clip_operands[] = {{"min", TN_ATTR_REAL, 1, 10}, {"max", TN_ATTR_REAL, 2, 10}};

// Before opset 7 a slope of rank 1 had one element or one for each channel.
static void map_old_prelu(tn_onnx_node *node)
{
    tn_value *x = tn_onnx_in(node, 0), *slope = tn_onnx_in(node, 1);
    if (x && slope && slope->shape.rank == 1 && slope->shape.dims[0] != 1) {
        if (x->shape.rank < 0) {
            tn_onnx_refuse(node, "a slope for each channel of a tensor of unknown rank");
            return;
        }
        static const int64_t axes[TN_MAX_RANK] = {1, 2, 3, 4, 5, 6, 7, 8};
        if (x->shape.rank > 2) {
            node->in[1] = tn_onnx_unsqueeze(node, slope, axes, (size_t)x->shape.rank - 2);
        }
    }
    tn_onnx_plain(node);
}

// y = swish(a) * b
static void map_swiglu(tn_onnx_node *node)
{
    const tn_activation_attr attr = {.alpha = tn_onnx_real(node, "alpha", 1.0f)};
    tn_value *gate = tn_onnx_emit(node, &tn_op_swish, &attr, TN_IN(tn_onnx_in(node, 0)));
    tn_onnx_finish(node, &tn_op_mul, NULL, TN_IN(gate, tn_onnx_in(node, 1)));
}

// ---- softmax ----

static const tn_onnx_field softmax_fields[] = {TN_FIELD_INT(tn_softmax_attr, axis, "axis", -1)};

// The axis that alone means the same as all dims from `axis` on: the last, or the only one of them that may differ from 1.
static bool find_single_axis(const tn_value *x, int64_t axis, int64_t *out)
{
    int from, wide = 0;
    *out = axis;
    if (axis == -1) {
        return true;
    }
    if (x->shape.rank < 0 || !tn_axis(axis, x->shape.rank, &from)) {
        return false;
    }
    for (int i = from; i < x->shape.rank; ++i) {
        if (x->shape.dims[i] != 1) {
            *out = i;
            ++wide;
        }
    }
    return wide <= 1;
}

// Before opset 13 all dims from `axis` on were one: the tensor counted as a matrix.
static void map_old_softmax(tn_onnx_node *node)
{
    tn_value *x = tn_onnx_in(node, 0);
    tn_softmax_attr attr = {.axis = tn_onnx_int(node, "axis", 1)};
    const tn_flatten_attr flat = {.axis = attr.axis};
    const tn_reshape_attr reshape = {.allowzero = true};
    if (!x) {
        tn_onnx_fail(node, TN_INVALID_MODEL, "operand 0 is missing");
    } else if (find_single_axis(x, attr.axis, &attr.axis)) {
        tn_onnx_finish(node, node->row->op, &attr, TN_IN(x));
    } else {
        attr.axis = 1;
        tn_value *matrix = tn_onnx_emit(node, &tn_op_flatten, &flat, TN_IN(x));
        tn_value *result = tn_onnx_emit(node, node->row->op, &attr, TN_IN(matrix));
        tn_value *shape = tn_onnx_shape_of(node, x);
        tn_onnx_finish(node, &tn_op_reshape, &reshape, TN_IN(result, shape));
    }
}

// ---- losses ----

static const char *const reductions[] = {"none", "sum", "mean", NULL}; // TN_LOSS_NONE ...

static const tn_onnx_field loss_fields[] = {
    TN_FIELD_ENUM(tn_loss_attr, reduction, "reduction", reductions, TN_LOSS_MEAN),
    {.name = "ignore_index",
     .kind = TN_ATTR_INT,
     .offset = offsetof(tn_loss_attr, ignore_index),
     .given = offsetof(tn_loss_attr, has_ignore) + 1},
};

// ---- dropout ----

static const tn_onnx_field dropout_fields[] = {
    {.name = "seed", .kind = TN_ATTR_INT, .offset = offsetof(tn_dropout_attr, seed), .given = offsetof(tn_dropout_attr, has_seed) + 1},
};

// In inference dropout hands its operand through, and its mask is true everywhere. Where it may train it stays an operator.
static void map_dropout(tn_onnx_node *node)
{
    tn_value *x = tn_onnx_in(node, 0), *training = tn_onnx_in(node, 2);
    double known = 0, ratio = 0.5;
    if (training && (!tn_onnx_known_scalar(training, &known) || known != 0) &&
        !(tn_onnx_known_scalar(tn_onnx_in(node, 1), &ratio) && ratio == 0)) {
        tn_onnx_plain(node);
        return;
    }
    tn_onnx_finish_as(node, 0, x);
    if (tn_onnx_wants(node, 1)) {
        tn_value *one = node->opset >= 10 ? tn_onnx_const_real(node, TN_BOOL, 1) : tn_onnx_const_like(node, x, 1);
        tn_value *shape = tn_onnx_shape_of(node, x);
        tn_onnx_finish_one(node, 1, &tn_op_expand, NULL, TN_IN(one, shape));
    }
    static const char *const without_influence[] = {"ratio", "is_test", "seed"};
    for (size_t i = 0; i < TN_COUNT(without_influence); ++i) {
        tn_onnx_find(node, without_influence[i]);
    }
}

#define OLD_SOFTMAX(foreign, ours)                                                                                                 \
    {.type = foreign, .since = 1, .until = 12, .op = &tn_op_##ours, .map = map_old_softmax},                                       \
    {                                                                                                                              \
        .type = foreign, .since = 13, .op = &tn_op_##ours, TN_FIELDS(softmax_fields)                                               \
    }

static const tn_onnx_row rows[] = {
    {.type = "Conv", .since = 1, .max_in = 3, .op = &tn_op_conv, TN_FIELDS(tn_onnx_conv_fields)},
    {.type = "ConvTranspose", .since = 1, .max_in = 3, .op = &tn_op_deconv, TN_FIELDS(deconv_fields)},
    {.type = "DeformConv", .since = 19, .op = &tn_op_deform_conv, TN_FIELDS(deform_fields)},

    {.type = "AveragePool", .since = 1, .op = &tn_op_average_pool, TN_FIELDS(average_pool_fields)},
    TN_ROW("GlobalAveragePool", 1, global_average_pool),
    {.type = "GlobalLpPool", .since = 2, .op = &tn_op_global_lp_pool, TN_FIELDS(global_lp_fields)},
    TN_ROW("GlobalMaxPool", 1, global_max_pool),
    {.type = "LpPool", .since = 2, .op = &tn_op_lp_pool, TN_FIELDS(lp_pool_fields)},
    {.type = "MaxPool", .since = 1, .op = &tn_op_max_pool, TN_FIELDS(max_pool_fields)},
    {.type = "MaxUnpool", .since = 9, .op = &tn_op_max_unpool, TN_FIELDS(unpool_fields)},

    {.type = "Celu", .since = 12, .op = &tn_op_celu, TN_FIELDS(one_fields)},
    {.type = "Clip", .since = 1, .op = &tn_op_clip, TN_OPERANDS(clip_operands)},
    {.type = "Elu", .since = 1, .op = &tn_op_elu, TN_FIELDS(one_fields)},
    {.type = "Gelu", .since = 20, .op = &tn_op_gelu, TN_FIELDS(gelu_fields)},
    {.type = "HardSigmoid", .since = 1, .op = &tn_op_hard_sigmoid, TN_FIELDS(hard_sigmoid_fields)},
    TN_ROW("HardSwish", 14, hard_swish),
    {.type = "LeakyRelu", .since = 1, .op = &tn_op_leaky_relu, TN_FIELDS(leaky_fields)},
    TN_ROW("Mish", 18, mish),
    {.type = "PRelu", .since = 1, .until = 6, .op = &tn_op_prelu, .map = map_old_prelu},
    TN_ROW("PRelu", 7, prelu),
    TN_ROW("Relu", 1, relu),
    {.type = "Selu", .since = 1, .until = 5, .op = &tn_op_selu, TN_FIELDS(old_selu_fields)},
    {.type = "Selu", .since = 6, .op = &tn_op_selu, TN_FIELDS(selu_fields)},
    {.type = "Shrink", .since = 9, .op = &tn_op_shrink, TN_FIELDS(shrink_fields)},
    TN_ROW("Sigmoid", 1, sigmoid),
    TN_ROW("Softplus", 1, softplus),
    TN_ROW("Softsign", 1, softsign),
    {.type = "SwiGLU", .since = 28, .op = &tn_op_swiglu, TN_FIELDS(one_fields)},
    {.type = "SwiGLU", .since = 28, .max_in = 2, .op = &tn_op_swiglu, .map = map_swiglu},
    {.type = "Swish", .since = 24, .op = &tn_op_swish, TN_FIELDS(one_fields)},
    TN_ROW("Tanh", 1, tanh),
    {.type = "ThresholdedRelu", .since = 10, .op = &tn_op_thresholded_relu, TN_FIELDS(one_fields)},

    OLD_SOFTMAX("Softmax", softmax),
    OLD_SOFTMAX("LogSoftmax", log_softmax),
    OLD_SOFTMAX("Hardmax", hardmax),

    {.type = "NegativeLogLikelihoodLoss", .since = 12, .op = &tn_op_negative_log_likelihood, TN_FIELDS(loss_fields)},
    {.type = "SoftmaxCrossEntropyLoss", .since = 12, .op = &tn_op_softmax_cross_entropy, TN_FIELDS(loss_fields)},

    {.type = "Dropout", .since = 1, .until = 11, .max_in = 1, .map = map_dropout},
    {.type = "Dropout", .since = 12, .op = &tn_op_dropout, .map = map_dropout, TN_FIELDS(dropout_fields)},
    {0},
};

const tn_onnx_table tn_onnx_nn = {"", rows};
