// SPDX-License-Identifier: Apache-2.0
// Operators of the domain com.microsoft, which onnxruntime's tools write into models (onnxruntime docs/ContribOperators.md).
// Ownership: const data. Threads: any.
#include "import/onnx/rows/domains/onnx_contrib_parts.h"

#include "loop/loop.h"
#include "ops/math/op_binary.h"
#include "ops/nn/op_activation.h"
#include "ops/nn/op_conv.h"
#include "ops/nn/op_matmul.h"
#include "ops/nn/op_norm.h"

#include <stddef.h>

// ---- fused convolution and matrix products ----

// Activation by name, with as many of activation_params as it takes.
static void fill_act(tn_onnx_node *node, tn_act *act)
{
    static const char *const names[] = {"Relu", "Tanh", "Sigmoid", "LeakyRelu", "Clip", "HardSigmoid", NULL};
    static const struct {
        int code, parameters;
    } codes[] = {{TN_LOOP_RELU, 0},  {TN_LOOP_TANH, 0}, {TN_LOOP_SIGMOID, 0},
                 {TN_LOOP_LEAKY, 1}, {TN_LOOP_CLIP, 2}, {TN_LOOP_HARD_SIGMOID, 2}};
    const tn_reals list = tn_onnx_reals(node, "activation_params");
    const int which = tn_onnx_choice(node, "activation", names, -1);
    if (which < 0) {
        return;
    }
    act->code = codes[which].code;
    if (codes[which].parameters > list.count) {
        tn_onnx_fail(node, TN_INVALID_MODEL, "%s takes %d activation_params, %d are given", names[which], codes[which].parameters,
                     list.count);
        return;
    }
    act->x = codes[which].parameters > 0 ? (double)list.v[0] : 0;
    act->y = codes[which].parameters > 1 ? (double)list.v[1] : 0;
}

static void map_fused_conv(tn_onnx_node *node)
{
    tn_conv_attr attr;
    tn_onnx_fill(node, &tn_op_conv, tn_onnx_conv_fields, TN_COUNT(tn_onnx_conv_fields), &attr);
    fill_act(node, &attr.act);
    tn_onnx_finish(node, &tn_op_conv, &attr, node->in, node->n_in);
}

// transBatch: the first dim of [M, batch..., K] belongs behind the batch.
static tn_value *batch_first(tn_onnx_node *node, int i, const char *attribute)
{
    static const int64_t turns[TN_MAX_RANK - 2][TN_MAX_RANK] = {
        {1, 0, 2},          {1, 2, 0, 3},          {1, 2, 3, 0, 4},
        {1, 2, 3, 4, 0, 5}, {1, 2, 3, 4, 5, 0, 6}, {1, 2, 3, 4, 5, 6, 0, 7},
    };
    tn_value *x = tn_onnx_in(node, i);
    if (tn_onnx_int(node, attribute, 0) == 0) {
        return x;
    }
    const int rank = tn_contrib_rank(x);
    if (rank < 3) {
        tn_onnx_refuse(node, "a transposed batch of an operand of %s", rank < 0 ? "unknown rank" : "fewer than three dims");
        return NULL;
    }
    return tn_contrib_transpose(node, x, turns[rank - 3], rank);
}

static void map_fused_matmul(tn_onnx_node *node)
{
    const tn_matmul_attr attr = {.trans_a = tn_onnx_int(node, "transA", 0) != 0,
                                 .trans_b = tn_onnx_int(node, "transB", 0) != 0,
                                 .alpha = tn_onnx_real(node, "alpha", 1.0f)};
    tn_value *a = batch_first(node, 0, "transBatchA"), *b = batch_first(node, 1, "transBatchB");
    tn_onnx_finish(node, &tn_op_matmul, &attr, TN_IN(a, b));
}

// ---- activations ----

static void finish_gelu(tn_onnx_node *node, bool approximate)
{
    const tn_activation_attr attr = {.approximate = approximate};
    tn_value *x = tn_onnx_in(node, 0), *bias = tn_onnx_in(node, 1);
    if (bias) {
        x = tn_onnx_emit(node, &tn_op_add, NULL, TN_IN(x, bias));
    }
    tn_onnx_finish(node, &tn_op_gelu, &attr, TN_IN(x));
}

static void map_gelu(tn_onnx_node *node)
{
    finish_gelu(node, false);
}

static void map_fast_gelu(tn_onnx_node *node)
{
    finish_gelu(node, true);
}

static void map_quick_gelu(tn_onnx_node *node)
{
    const tn_activation_attr attr = {.alpha = tn_onnx_real(node, "alpha", 1.702f)};
    tn_onnx_finish(node, &tn_op_swish, &attr, node->in, node->n_in);
}

// ---- normalisations of a sum ----

// The sum of x, skip and bias (operand `bias`, may be absent), which is result 3 too.
static tn_value *add_skip(tn_onnx_node *node, int bias)
{
    tn_value *x = tn_onnx_in(node, 0), *skip = tn_onnx_in(node, 1);
    tn_value *sum = tn_onnx_in(node, bias) ? tn_onnx_emit(node, &tn_op_add, NULL, TN_IN(x, skip)) : NULL;
    tn_value *a = sum ? sum : x, *b = sum ? tn_onnx_in(node, bias) : skip;
    if (!tn_onnx_wants(node, 3)) {
        return tn_onnx_emit(node, &tn_op_add, NULL, TN_IN(a, b));
    }
    tn_onnx_finish_one(node, 3, &tn_op_add, NULL, TN_IN(a, b));
    return tn_onnx_good(node) ? node->out[3] : NULL;
}

// x, skip, gamma, beta?, bias? -> y, mean?, inv_std?, sum?
static void map_skip_layer_norm(tn_onnx_node *node)
{
    const tn_layer_norm_attr attr = {.axis = -1, .epsilon = tn_onnx_real(node, "epsilon", 1e-12f), .stash_type = 1};
    tn_value *sum = add_skip(node, 4);
    tn_value *out[3] = {tn_onnx_result(node, 0), tn_onnx_result(node, 1), tn_onnx_result(node, 2)};
    tn_onnx_build(node, &tn_op_layer_norm, &attr, TN_IN(sum, tn_onnx_in(node, 2), tn_onnx_in(node, 3)), out,
                  out[2]   ? 3
                  : out[1] ? 2
                           : 1);
}

// x, skip, gamma, bias? -> y, mean?, inv_std?, sum?
static void map_skip_rms_norm(tn_onnx_node *node)
{
    const tn_layer_norm_attr attr = {.axis = -1, .epsilon = tn_onnx_real(node, "epsilon", 1e-12f), .stash_type = 1};
    if (tn_onnx_wants(node, 1) || tn_onnx_wants(node, 2)) {
        tn_onnx_refuse(node, "results mean and inv_std_var");
    }
    tn_value *sum = add_skip(node, 3);
    tn_onnx_finish_one(node, 0, &tn_op_rms_norm, &attr, TN_IN(sum, tn_onnx_in(node, 2)));
}

static const tn_onnx_row rows[] = {
    {.type = "BiasGelu", .since = 1, .max_in = 2, .op = &tn_op_gelu, .map = map_gelu},
    {.type = "FastGelu", .since = 1, .max_in = 2, .op = &tn_op_gelu, .map = map_fast_gelu},
    {.type = "FusedConv", .since = 1, .max_in = 4, .op = &tn_op_conv, .map = map_fused_conv},
    {.type = "FusedMatMul", .since = 1, .max_in = 2, .op = &tn_op_matmul, .map = map_fused_matmul},
    {.type = "Gelu", .since = 1, .max_in = 1, .op = &tn_op_gelu, .map = map_gelu},
    {.type = "QuickGelu", .since = 1, .max_in = 1, .op = &tn_op_swish, .map = map_quick_gelu},
    {.type = "SkipLayerNormalization", .since = 1, .max_in = 5, .op = &tn_op_layer_norm, .map = map_skip_layer_norm},
    {.type = "SkipSimplifiedLayerNormalization", .since = 1, .max_in = 4, .op = &tn_op_rms_norm, .map = map_skip_rms_norm},
    {.type = "TransposeMatMul", .since = 1, .max_in = 2, .op = &tn_op_matmul, .map = map_fused_matmul},
    {0},
};

const tn_onnx_table tn_onnx_contrib = {"com.microsoft", rows};
