// SPDX-License-Identifier: Apache-2.0
// Normalisations.
// Ownership: const data. Threads: any.
#include "import/onnx/rows/onnx_rows.h"

#include "ops/move/op_reshape.h"
#include "ops/nn/op_norm.h"

#include <stddef.h>

static const tn_onnx_field batch_fields[] = {
    TN_FIELD_REAL(tn_batch_norm_attr, epsilon, "epsilon", 1e-5f),
    TN_FIELD_REAL(tn_batch_norm_attr, momentum, "momentum", 0.9f),
    TN_FIELD_BOOL(tn_batch_norm_attr, training, "training_mode", 0),
};
static const tn_onnx_field instance_fields[] = {TN_FIELD_REAL(tn_instance_norm_attr, epsilon, "epsilon", 1e-5f)};
static const tn_onnx_field layer_fields[] = {
    TN_FIELD_INT(tn_layer_norm_attr, axis, "axis", -1),
    TN_FIELD_REAL(tn_layer_norm_attr, epsilon, "epsilon", 1e-5f),
    TN_FIELD_INT(tn_layer_norm_attr, stash_type, "stash_type", 1),
};
static const tn_onnx_field group_fields[] = {
    {.name = "num_groups", .kind = TN_ATTR_INT, .offset = offsetof(tn_group_norm_attr, groups), .required = true},
    TN_FIELD_REAL(tn_group_norm_attr, epsilon, "epsilon", 1e-5f),
    TN_FIELD_INT(tn_group_norm_attr, stash_type, "stash_type", 1),
};
static const tn_onnx_field lrn_fields[] = {
    TN_FIELD_REAL(tn_lrn_attr, alpha, "alpha", 1e-4f),
    TN_FIELD_REAL(tn_lrn_attr, beta, "beta", 0.75f),
    TN_FIELD_REAL(tn_lrn_attr, bias, "bias", 1.0f),
    {.name = "size", .kind = TN_ATTR_INT, .offset = offsetof(tn_lrn_attr, size), .required = true},
};
static const tn_onnx_field lp_fields[] = {TN_FIELD_INT(tn_lp_norm_attr, axis, "axis", -1),
                                          TN_FIELD_INT(tn_lp_norm_attr, p, "p", 2)};

// Until opset 13 the further results were those of training, and until opset 8 statistics could be one for each element.
static void map_old_batch_norm(tn_onnx_node *node)
{
    const tn_batch_norm_attr attr = {.epsilon = tn_onnx_real(node, "epsilon", 1e-5f),
                                     .momentum = tn_onnx_real(node, "momentum", 0.9f)};
    tn_onnx_find(node, "is_test");
    if (tn_onnx_int(node, "spatial", 1) == 0) {
        tn_onnx_refuse(node, "statistics for each element (spatial = 0)");
    }
    for (int i = 1; i < node->n_out; ++i) {
        if (tn_onnx_wants(node, i)) {
            tn_onnx_refuse(node, "results of training");
        }
    }
    if (tn_onnx_wants(node, 0)) {
        tn_onnx_finish_one(node, 0, &tn_op_batch_norm, &attr, node->in, node->n_in);
    }
}

static void map_mvn(tn_onnx_node *node)
{
    static const int64_t all_but_channels[] = {0, 2, 3};
    tn_mvn_attr attr = {.axes = tn_onnx_ints(node, "axes")};
    if (!attr.axes.set) {
        attr.axes = (tn_ints){all_but_channels, 3, true};
    }
    tn_onnx_finish(node, &tn_op_mvn, &attr, node->in, node->n_in);
}

// One value for each group [G] becomes one for each channel [C].
static tn_value *spread(tn_onnx_node *node, tn_value *x, int64_t groups, int64_t channels)
{
    const tn_reshape_attr attr = {.allowzero = false};
    tn_value *column = tn_onnx_const_ints(node, (const int64_t[]){groups, 1}, 2);
    tn_value *matrix = tn_onnx_const_ints(node, (const int64_t[]){groups, channels / groups}, 2);
    tn_value *row = tn_onnx_const_ints(node, &channels, 1);
    tn_value *a = tn_onnx_emit(node, &tn_op_reshape, &attr, TN_IN(x, column));
    tn_value *b = tn_onnx_emit(node, &tn_op_expand, NULL, TN_IN(a, matrix));
    return tn_onnx_emit(node, &tn_op_reshape, &attr, TN_IN(b, row));
}

// Opset 18 had scale and bias for each group; later ones for each channel.
static void map_old_group_norm(tn_onnx_node *node)
{
    const tn_group_norm_attr attr = {
        .groups = tn_onnx_int(node, "num_groups", 0), .epsilon = tn_onnx_real(node, "epsilon", 1e-5f), .stash_type = 1};
    tn_value *x = tn_onnx_in(node, 0);
    const int64_t channels = x && x->shape.rank > 1 ? x->shape.dims[1] : TN_DIM_UNKNOWN;
    if (!tn_dim_known(channels)) {
        tn_onnx_refuse(node, "a number of channels that is not known");
    } else if (attr.groups < 1 || channels % attr.groups != 0) {
        tn_onnx_fail(node, TN_INVALID_MODEL, "%lld groups of %lld channels", (long long)attr.groups, (long long)channels);
    }
    if (tn_onnx_good(node)) {
        tn_value *scale = spread(node, tn_onnx_in(node, 1), attr.groups, channels);
        tn_value *bias = spread(node, tn_onnx_in(node, 2), attr.groups, channels);
        tn_onnx_finish(node, &tn_op_group_norm, &attr, TN_IN(x, scale, bias));
    }
}

static const tn_onnx_row rows[] = {
    {.type = "BatchNormalization", .since = 1, .until = 13, .op = &tn_op_batch_norm, .map = map_old_batch_norm},
    {.type = "BatchNormalization", .since = 14, .op = &tn_op_batch_norm, TN_FIELDS(batch_fields)},
    {.type = "GroupNormalization", .since = 18, .until = 20, .op = &tn_op_group_norm, .map = map_old_group_norm},
    {.type = "GroupNormalization", .since = 21, .op = &tn_op_group_norm, TN_FIELDS(group_fields)},
    {.type = "InstanceNormalization", .since = 1, .op = &tn_op_instance_norm, TN_FIELDS(instance_fields)},
    {.type = "LRN", .since = 1, .op = &tn_op_lrn, TN_FIELDS(lrn_fields)},
    // Since opset 17; onnxruntime writes it, and SimplifiedLayerNormalization, into models of older opsets too.
    {.type = "LayerNormalization", .since = 1, .op = &tn_op_layer_norm, TN_FIELDS(layer_fields)},
    {.type = "SimplifiedLayerNormalization", .since = 1, .op = &tn_op_rms_norm, TN_FIELDS(layer_fields)},
    {.type = "LpNormalization", .since = 1, .op = &tn_op_lp_norm, TN_FIELDS(lp_fields)},
    {.type = "MeanVarianceNormalization", .since = 9, .op = &tn_op_mvn, .map = map_mvn},
    {.type = "RMSNormalization", .since = 23, .op = &tn_op_rms_norm, TN_FIELDS(layer_fields)},
    {0},
};

const tn_onnx_table tn_onnx_norm = {"", rows};
