// SPDX-License-Identifier: Apache-2.0
// Reductions, arg_max and arg_min, running sums. The axes were an attribute until opset 12 (sum) or 17 (the others).
// Ownership: const data. Threads: any.
#include "import/onnx/rows/onnx_rows.h"

#include "ops/math/op_reduce.h"

#include <stddef.h>

static const tn_onnx_field reduce_fields[] = {
    TN_FIELD_BOOL(tn_reduce_attr, keepdims, "keepdims", 1),
    TN_FIELD_BOOL(tn_reduce_attr, noop_with_empty_axes, "noop_with_empty_axes", 0),
};
static const tn_onnx_field arg_fields[] = {
    TN_FIELD_INT(tn_arg_attr, axis, "axis", 0),
    TN_FIELD_BOOL(tn_arg_attr, keepdims, "keepdims", 1),
    TN_FIELD_BOOL(tn_arg_attr, select_last_index, "select_last_index", 0),
};
static const tn_onnx_field cum_fields[] = {
    TN_FIELD_BOOL(tn_cum_attr, exclusive, "exclusive", 0),
    TN_FIELD_BOOL(tn_cum_attr, reverse, "reverse", 0),
};

static const tn_onnx_operand axes_until_12[] = {{"axes", TN_ATTR_INTS, 1, 12}};
static const tn_onnx_operand axes_until_17[] = {{"axes", TN_ATTR_INTS, 1, 17}};

#define REDUCE(foreign, ours) \
    {.type = foreign, .since = 1, .op = &tn_op_##ours, TN_FIELDS(reduce_fields), TN_OPERANDS(axes_until_17)}

static const tn_onnx_row rows[] = {
    {.type = "ArgMax", .since = 1, .op = &tn_op_arg_max, TN_FIELDS(arg_fields)},
    {.type = "ArgMin", .since = 1, .op = &tn_op_arg_min, TN_FIELDS(arg_fields)},
    {.type = "CumProd", .since = 26, .op = &tn_op_cum_prod, TN_FIELDS(cum_fields)},
    {.type = "CumSum", .since = 11, .op = &tn_op_cum_sum, TN_FIELDS(cum_fields)},
    REDUCE("ReduceL1", reduce_l1),
    REDUCE("ReduceL2", reduce_l2),
    REDUCE("ReduceLogSum", reduce_log_sum),
    REDUCE("ReduceLogSumExp", reduce_log_sum_exp),
    REDUCE("ReduceMax", reduce_max),
    REDUCE("ReduceMean", reduce_mean),
    REDUCE("ReduceMin", reduce_min),
    REDUCE("ReduceProd", reduce_prod),
    {.type = "ReduceSum", .since = 1, .op = &tn_op_reduce_sum, TN_FIELDS(reduce_fields), TN_OPERANDS(axes_until_12)},
    REDUCE("ReduceSumSquare", reduce_sum_square),
    {0},
};

const tn_onnx_table tn_onnx_reduce = {"", rows};
