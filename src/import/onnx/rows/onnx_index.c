// SPDX-License-Identifier: Apache-2.0
// Operators that read, write and find by index.
// Ownership: const data. Threads: any.
#include "import/onnx/rows/onnx_rows.h"

#include "ops/index/op_find.h"
#include "ops/index/op_gather.h"

#include <stddef.h>

static const char *const reductions[] = {"none", "add", "mul", "max", "min", NULL}; // TN_SCATTER_NONE ...

static const tn_onnx_field gather_fields[] = {TN_FIELD_INT(tn_gather_attr, axis, "axis", 0)};
static const tn_onnx_field one_hot_fields[] = {TN_FIELD_INT(tn_gather_attr, axis, "axis", -1)};
static const tn_onnx_field gather_nd_fields[] = {TN_FIELD_INT(tn_gather_nd_attr, batch_dims, "batch_dims", 0)};
static const tn_onnx_field scatter_fields[] = {
    TN_FIELD_INT(tn_scatter_attr, axis, "axis", 0),
    TN_FIELD_ENUM(tn_scatter_attr, reduction, "reduction", reductions, TN_SCATTER_NONE),
};
static const tn_onnx_field scatter_nd_fields[] = {
    TN_FIELD_ENUM(tn_scatter_attr, reduction, "reduction", reductions, TN_SCATTER_NONE),
};
static const char *const write_modes[] = {"linear", "circular", NULL};
static const tn_onnx_field write_fields[] = {
    TN_FIELD_INT(tn_tensor_scatter_attr, axis, "axis", -2),
    TN_FIELD_ENUM(tn_tensor_scatter_attr, circular, "mode", write_modes, 0),
};
static const tn_onnx_field top_k_fields[] = {
    TN_FIELD_INT(tn_top_k_attr, axis, "axis", -1),
    TN_FIELD_BOOL(tn_top_k_attr, largest, "largest", 1),
    TN_FIELD_BOOL(tn_top_k_attr, sorted, "sorted", 1),
};
static const tn_onnx_operand top_k_operands[] = {{"k", TN_ATTR_INT, 1, 9}};
static const tn_onnx_field unique_fields[] = {
    {.name = "axis",
     .kind = TN_ATTR_INT,
     .offset = offsetof(tn_unique_attr, axis),
     .given = offsetof(tn_unique_attr, has_axis) + 1},
    TN_FIELD_BOOL(tn_unique_attr, sorted, "sorted", 1),
};
static const tn_onnx_field compress_fields[] = {
    {.name = "axis",
     .kind = TN_ATTR_INT,
     .offset = offsetof(tn_compress_attr, axis),
     .given = offsetof(tn_compress_attr, has_axis) + 1},
};

static const tn_onnx_row rows[] = {
    {.type = "Compress", .since = 9, .op = &tn_op_compress, TN_FIELDS(compress_fields)},
    {.type = "Gather", .since = 1, .op = &tn_op_gather, TN_FIELDS(gather_fields)},
    {.type = "GatherElements", .since = 11, .op = &tn_op_gather_elements, TN_FIELDS(gather_fields)},
    {.type = "GatherND", .since = 11, .op = &tn_op_gather_nd, TN_FIELDS(gather_nd_fields)},
    TN_ROW("NonZero", 9, non_zero),
    {.type = "OneHot", .since = 9, .op = &tn_op_one_hot, TN_FIELDS(one_hot_fields)},
    {.type = "Scatter", .since = 9, .op = &tn_op_scatter_elements, TN_FIELDS(scatter_fields)},
    {.type = "ScatterElements", .since = 11, .op = &tn_op_scatter_elements, TN_FIELDS(scatter_fields)},
    {.type = "ScatterND", .since = 11, .op = &tn_op_scatter_nd, TN_FIELDS(scatter_nd_fields)},
    {.type = "TensorScatter", .since = 24, .op = &tn_op_tensor_scatter, TN_FIELDS(write_fields)},
    {.type = "TopK", .since = 1, .op = &tn_op_top_k, TN_FIELDS(top_k_fields), TN_OPERANDS(top_k_operands)},
    {.type = "Unique", .since = 11, .op = &tn_op_unique, TN_FIELDS(unique_fields)},
    {0},
};

const tn_onnx_table tn_onnx_index = {"", rows};
