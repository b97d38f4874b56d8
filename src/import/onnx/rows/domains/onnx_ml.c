// SPDX-License-Identifier: Apache-2.0
// Operators of the domain ai.onnx.ml.
// Ownership: const data. Threads: any.
#include "import/onnx/rows/onnx_rows.h"

#include "ops/index/op_gather.h"
#include "ops/math/op_binary.h"
#include "ops/math/op_cast.h"
#include "ops/move/op_reshape.h"

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

static const tn_onnx_row rows[] = {
    {.type = "ArrayFeatureExtractor", .since = 1, .max_in = 2, .map = map_array_feature_extractor},
    {.type = "Binarizer", .since = 1, .max_in = 1, .map = map_binarizer},
    {0},
};

const tn_onnx_table tn_onnx_ml = {"ai.onnx.ml", rows};
