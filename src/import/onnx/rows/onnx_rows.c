// SPDX-License-Identifier: Apache-2.0
// All tables of foreign operators, and helpers that several of them use.
// Ownership: const data. Threads: any.
#include "import/onnx/rows/onnx_rows.h"

#include "ops/index/op_make.h"
#include "ops/move/op_reshape.h"

const tn_onnx_table *const tn_onnx_tables[] = {
    &tn_onnx_control,
    &tn_onnx_math,
    &tn_onnx_nn,
    &tn_onnx_norm,
    &tn_onnx_move,
    &tn_onnx_index,
    &tn_onnx_make,
    &tn_onnx_quant,
    &tn_onnx_seq,
    &tn_onnx_sequence,
    &tn_onnx_signal,
    &tn_onnx_strings,
    &tn_onnx_vision,
    &tn_onnx_contrib,
    &tn_onnx_contrib_attention,
    &tn_onnx_contrib_layers,
    &tn_onnx_contrib_quant,
    &tn_onnx_contrib_weights,
    &tn_onnx_gradient,
    &tn_onnx_ml,
    &tn_onnx_preview,
    &tn_onnx_train,
    NULL,
};

tn_value *tn_onnx_unsqueeze(tn_onnx_node *node, tn_value *x, const int64_t *axes, size_t count)
{
    tn_value *list = tn_onnx_const_ints(node, axes, count);
    return tn_onnx_emit(node, &tn_op_unsqueeze, NULL, TN_IN(x, list));
}

tn_value *tn_onnx_shape_of(tn_onnx_node *node, tn_value *x)
{
    const tn_shape_attr all = {.start = 0, .end = INT64_MAX};
    return tn_onnx_emit(node, &tn_op_shape, &all, TN_IN(x));
}
