// SPDX-License-Identifier: Apache-2.0
// Operators of the domain ai.onnx.ml.
// Ownership: const data. Threads: any.
#include "import/onnx/rows/onnx_rows.h"

#include "import/onnx/onnx_read.h"
#include "ops/index/op_gather.h"
#include "ops/index/op_make.h"
#include "ops/math/op_binary.h"
#include "ops/math/op_cast.h"
#include "ops/ml/op_tree.h"
#include "ops/move/op_reshape.h"
#include "ops/text/op_label.h"

// 1 where x is above the threshold, else 0, in x's type.
static void map_binarizer(tn_onnx_node *node)
{
    tn_value *x = tn_onnx_in(node, 0);
    tn_value *threshold = tn_onnx_const_like(node, x, tn_onnx_real(node, "threshold", 0.0f));
    tn_value *above = tn_onnx_emit(node, &tn_op_greater, NULL, TN_IN(x, threshold));
    tn_onnx_finish(node, &tn_op_cast_like, NULL, TN_IN(above, x));
}

// Elements y of the last axis of x.
static void map_array_feature_extractor(tn_onnx_node *node)
{
    const tn_reshape_attr reshape = {.allowzero = false};
    const tn_gather_attr gather = {.axis = -1};
    const int64_t all = -1;
    tn_value *list = tn_onnx_emit(node, &tn_op_reshape, &reshape, TN_IN(tn_onnx_in(node, 1), tn_onnx_const_ints(node, &all, 1)));
    tn_onnx_finish(node, &tn_op_gather, &gather, TN_IN(tn_onnx_in(node, 0), list));
}

// ---- LabelEncoder ----

// The list that one of four attributes gives: strings, int64s, floats or a tensor. NULL: none is there.
static tn_value *const_list(tn_onnx_node *node, const char *const names[4])
{
    tn_value *list = tn_onnx_const_strings(node, names[0]);
    if (!list && tn_onnx_find(node, names[1])) {
        const tn_ints ints = tn_onnx_ints(node, names[1]);
        list = tn_onnx_const_ints(node, ints.v, (size_t)ints.count);
    }
    if (!list && tn_onnx_find(node, names[2])) {
        const tn_reals reals = tn_onnx_reals(node, names[2]);
        const tn_shape shape = tn_shape_of(1, (const int64_t[]){reals.count});
        list = tn_onnx_const(node, TN_F32, &shape, reals.v);
    }
    return list ? list : tn_onnx_const_attr(node, names[3], NULL);
}

// What unknown labels become, in the type of the values.
static tn_value *const_default(tn_onnx_node *node, tn_dtype dtype)
{
    const char *text = tn_onnx_text(node, "default_string");
    const int64_t number = tn_onnx_int(node, "default_int64", -1);
    const double real = tn_onnx_real(node, "default_float", -0.0f);
    tn_value *tensor = tn_onnx_const_attr(node, "default_tensor", NULL);
    if (tensor) {
        return tensor;
    }
    if (dtype == TN_STRING) {
        return tn_onnx_const_texts(node, (const char *const[]){text ? text : "_Unused"}, 1);
    }
    if (dtype == TN_I64) {
        return tn_onnx_const_int(node, number);
    }
    return tn_onnx_const_real(node, dtype, tn_dtype_is_float(dtype) ? real : (double)number);
}

static void map_label_encoder(tn_onnx_node *node)
{
    static const char *const key_names[] = {"keys_strings", "keys_int64s", "keys_floats", "keys_tensor"};
    static const char *const value_names[] = {"values_strings", "values_int64s", "values_floats", "values_tensor"};
    tn_value *keys = const_list(node, key_names), *values = const_list(node, value_names);
    if (tn_onnx_good(node) && (!keys || !values)) {
        tn_onnx_fail(node, TN_INVALID_MODEL, "keys or values are missing");
    }
    if (tn_onnx_good(node)) {
        tn_value *otherwise = const_default(node, values->dtype);
        tn_onnx_finish(node, &tn_op_label_encoder, NULL, TN_IN(tn_onnx_in(node, 0), keys, values, otherwise));
    }
}

// Opset 1: strings to their places in a list, and back.
static void map_label_encoder_1(tn_onnx_node *node)
{
    tn_value *classes = tn_onnx_const_strings(node, "classes_strings");
    if (tn_onnx_good(node) && (!classes || !tn_onnx_in(node, 0))) {
        tn_onnx_fail(node, TN_INVALID_MODEL, "attribute 'classes_strings' or the operand is missing");
    }
    if (!tn_onnx_good(node)) {
        return;
    }
    const tn_value *x = tn_onnx_in(node, 0);
    tn_value *first = tn_onnx_const_int(node, 0), *last = tn_onnx_const_int(node, classes->shape.dims[0]);
    tn_value *places = tn_onnx_emit(node, &tn_op_range, NULL, TN_IN(first, last, tn_onnx_const_int(node, 1)));
    const bool back = x->dtype == TN_I64;
    tn_value *otherwise = const_default(node, back ? TN_STRING : TN_I64);
    tn_onnx_finish(node, &tn_op_label_encoder, NULL,
                   TN_IN(tn_onnx_in(node, 0), back ? places : classes, back ? classes : places, otherwise));
}

// ---- TreeEnsemble ----

// A tensor attribute of small integers as a list.
static tn_ints ints_of_tensor(tn_onnx_node *node, const char *name)
{
    const tn_value *value = tn_onnx_const_attr(node, name, NULL);
    tn_ints list = {NULL, 0, value != NULL};
    int64_t count;
    if (!value || !tn_shape_count(&value->shape, &count) || count > INT32_MAX || !tn_dtype_is_int(value->dtype)) {
        if (tn_onnx_good(node)) {
            tn_onnx_fail(node, TN_INVALID_MODEL, "attribute '%s' must be a tensor of integers", name);
        }
        return list;
    }
    int64_t *v = tn_arena_array(&node->graph->arena, (size_t)count + 1, sizeof *v);
    for (int64_t i = 0; v && i < count; ++i) {
        v[i] = tn_dtype_load_i64(value->dtype, value->constant->data, (size_t)i);
    }
    if (!v) {
        node->status = tn_fail_memory(node->scope->reader->diag, node->name, (size_t)count * sizeof *v);
    }
    list.v = v;
    list.count = v ? (int32_t)count : 0;
    return list;
}

static void map_tree_ensemble(tn_onnx_node *node)
{
    const tn_tree_attr attr = {.n_targets = tn_onnx_int(node, "n_targets", 0),
                               .aggregate = tn_onnx_int(node, "aggregate_function", TN_TREE_SUM),
                               .transform = tn_onnx_int(node, "post_transform", TN_TREE_NONE),
                               .features = tn_onnx_ints(node, "nodes_featureids"),
                               .modes = ints_of_tensor(node, "nodes_modes"),
                               .true_ids = tn_onnx_ints(node, "nodes_truenodeids"),
                               .false_ids = tn_onnx_ints(node, "nodes_falsenodeids"),
                               .true_leafs = tn_onnx_ints(node, "nodes_trueleafs"),
                               .false_leafs = tn_onnx_ints(node, "nodes_falseleafs"),
                               .missing_true = tn_onnx_ints(node, "nodes_missing_value_tracks_true"),
                               .targets = tn_onnx_ints(node, "leaf_targetids"),
                               .roots = tn_onnx_ints(node, "tree_roots")};
    tn_value *splits = tn_onnx_const_attr(node, "nodes_splits", NULL), *weights = tn_onnx_const_attr(node, "leaf_weights", NULL);
    tn_value *members = tn_onnx_const_attr(node, "membership_values", NULL);
    (void)tn_onnx_find(node, "nodes_hitrates");
    tn_onnx_finish(node, &tn_op_tree_ensemble, &attr, TN_IN(tn_onnx_in(node, 0), splits, weights, members));
}

static const tn_onnx_row rows[] = {
    {.type = "ArrayFeatureExtractor", .since = 1, .max_in = 2, .map = map_array_feature_extractor},
    {.type = "Binarizer", .since = 1, .max_in = 1, .map = map_binarizer},
    {.type = "LabelEncoder", .since = 1, .until = 1, .max_in = 1, .op = &tn_op_label_encoder, .map = map_label_encoder_1},
    {.type = "LabelEncoder", .since = 2, .max_in = 1, .op = &tn_op_label_encoder, .map = map_label_encoder},
    {.type = "TreeEnsemble", .since = 5, .max_in = 1, .op = &tn_op_tree_ensemble, .map = map_tree_ensemble},
    {0},
};

const tn_onnx_table tn_onnx_ml = {"ai.onnx.ml", rows};
