// SPDX-License-Identifier: Apache-2.0
// Elementwise arithmetic, comparisons, casts, matrix products, reductions.
// Ownership: const data. Threads: any.
#include "import/onnx/rows/onnx_rows.h"

#include "ops/math/op_binary.h"
#include "ops/math/op_cast.h"
#include "ops/math/op_det.h"
#include "ops/math/op_reduce.h"
#include "ops/math/op_select.h"
#include "ops/math/op_unary.h"
#include "ops/nn/op_matmul.h"

#include <stddef.h>

// Before opset 7 the second operand was laid along the first from dim `axis` on (default: at its end, as numpy does): dims of one
// are appended to it until it ends where the first does.
static void map_old_broadcast(tn_onnx_node *node)
{
    const bool broadcast = tn_onnx_int(node, "broadcast", 0) != 0;
    const bool has_axis = tn_onnx_find(node, "axis") != NULL;
    const int64_t axis = tn_onnx_int(node, "axis", 0);
    tn_value *a = tn_onnx_in(node, 0), *b = tn_onnx_in(node, 1);
    if (broadcast && has_axis && a && b) {
        if (a->shape.rank < 0 || b->shape.rank < 0) {
            tn_onnx_refuse(node, "broadcast along an axis of a tensor of unknown rank");
            return;
        }
        const int64_t from = axis < 0 ? axis + a->shape.rank : axis;
        const int64_t more = a->shape.rank - from - b->shape.rank;
        if (from < 0 || from > a->shape.rank || more < 0 || more > TN_MAX_RANK) {
            tn_onnx_fail(node, TN_INVALID_MODEL, "axis %lld does not fit ranks %d and %d", (long long)axis, a->shape.rank,
                         b->shape.rank);
            return;
        }
        int64_t axes[TN_MAX_RANK];
        for (int64_t i = 0; i < more; ++i) {
            axes[i] = b->shape.rank + i;
        }
        if (more > 0) {
            node->in[1] = tn_onnx_unsqueeze(node, b, axes, (size_t)more);
        }
    }
    tn_onnx_plain(node);
}

static const char *const directions[] = {"RIGHT", "LEFT", NULL};
static const char *const round_modes[] = {"up", "down", "nearest", NULL};

static const tn_onnx_field mod_fields[] = {TN_FIELD_BOOL(tn_mod_attr, fmod, "fmod", 0)};
static const tn_onnx_field shift_fields[] = {
    {.name = "direction", .kind = TN_ATTR_BOOL, .offset = offsetof(tn_bit_shift_attr, left), .required = true, .texts = directions},
};
static const tn_onnx_field inf_fields[] = {
    TN_FIELD_BOOL(tn_is_inf_attr, detect_negative, "detect_negative", 1),
    TN_FIELD_BOOL(tn_is_inf_attr, detect_positive, "detect_positive", 1),
};

// ---- casts ----

static const tn_onnx_field cast_fields[] = {
    {.name = "to", .kind = TN_ATTR_DTYPE, .offset = offsetof(tn_cast_attr, to), .required = true},
    TN_FIELD_BOOL(tn_cast_attr, saturate, "saturate", 1),
    {.name = "round_mode", .kind = TN_ATTR_INT, .offset = offsetof(tn_cast_attr, round_mode), .texts = round_modes},
};
static const tn_onnx_field cast_like_fields[] = {
    TN_FIELD_BOOL(tn_cast_attr, saturate, "saturate", 1),
    {.name = "round_mode", .kind = TN_ATTR_INT, .offset = offsetof(tn_cast_attr, round_mode), .texts = round_modes},
};
static const tn_onnx_field bit_cast_fields[] = {
    {.name = "to", .kind = TN_ATTR_DTYPE, .offset = offsetof(tn_cast_attr, to), .required = true},
};

// Opset 1 named the type by a string; the index in this list is its number.
static void map_old_cast(tn_onnx_node *node)
{
    static const char *const types[] = {"UNDEFINED", "FLOAT",  "UINT8",     "INT8",       "UINT16",  "INT16",
                                        "INT32",     "INT64",  "STRING",    "BOOL",       "FLOAT16", "DOUBLE",
                                        "UINT32",    "UINT64", "COMPLEX64", "COMPLEX128", NULL};
    tn_cast_attr attr = {.to = (tn_dtype)tn_onnx_choice(node, "to", types, TN_NONE), .saturate = true};
    if (attr.to == TN_NONE) {
        tn_onnx_fail(node, TN_INVALID_MODEL, "attribute 'to' is missing");
    }
    tn_onnx_finish(node, &tn_op_cast, &attr, node->in, node->n_in);
}

// ---- matrix products ----

static const tn_onnx_field gemm_fields[] = {
    TN_FIELD_BOOL(tn_gemm_attr, trans_a, "transA", 0),
    TN_FIELD_BOOL(tn_gemm_attr, trans_b, "transB", 0),
    TN_FIELD_REAL(tn_gemm_attr, alpha, "alpha", 1.0f),
    TN_FIELD_REAL(tn_gemm_attr, beta, "beta", 1.0f),
    TN_FIELD_SKIP("broadcast"),
};
static const tn_onnx_field einsum_fields[] = {
    {.name = "equation", .kind = TN_ATTR_TEXT, .offset = offsetof(tn_einsum_attr, equation), .required = true},
};

// ---- reductions ----

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

// The axes were an attribute until opset 12 (sum) or 17 (the others).
static const tn_onnx_operand axes_until_12[] = {{"axes", TN_ATTR_INTS, 1, 12}};
static const tn_onnx_operand axes_until_17[] = {{"axes", TN_ATTR_INTS, 1, 17}};

#define REDUCE(foreign, ours)                                                                                                      \
    {                                                                                                                              \
        .type = foreign, .since = 1, .op = &tn_op_##ours, TN_FIELDS(reduce_fields), TN_OPERANDS(axes_until_17)                     \
    }

#define OLD_AND_NEW(foreign, ours)                                                                                                 \
    {.type = foreign, .since = 1, .until = 6, .op = &tn_op_##ours, .map = map_old_broadcast},                                      \
    {                                                                                                                              \
        .type = foreign, .since = 7, .op = &tn_op_##ours                                                                           \
    }

static const tn_onnx_row rows[] = {
    TN_ROW("Abs", 1, abs),
    TN_ROW("Acos", 7, acos),
    TN_ROW("Acosh", 9, acosh),
    TN_ROW("Asin", 7, asin),
    TN_ROW("Asinh", 9, asinh),
    TN_ROW("Atan", 7, atan),
    TN_ROW("Atanh", 9, atanh),
    TN_ROW("BitwiseNot", 18, bitwise_not),
    TN_ROW("Ceil", 1, ceil),
    TN_ROW("Cos", 7, cos),
    TN_ROW("Cosh", 9, cosh),
    TN_ROW("Det", 11, det),
    TN_ROW("Erf", 9, erf),
    TN_ROW("Exp", 1, exp),
    TN_ROW("Floor", 1, floor),
    {.type = "IsInf", .since = 10, .op = &tn_op_is_inf, TN_FIELDS(inf_fields)},
    TN_ROW("IsNaN", 9, is_nan),
    TN_ROW("Log", 1, log),
    TN_ROW("Neg", 1, neg),
    TN_ROW("Not", 1, not ),
    TN_ROW("Reciprocal", 1, reciprocal),
    TN_ROW("Round", 11, round),
    TN_ROW("Sign", 9, sign),
    TN_ROW("Sin", 7, sin),
    TN_ROW("Sinh", 9, sinh),
    TN_ROW("Sqrt", 1, sqrt),
    TN_ROW("Tan", 7, tan),

    OLD_AND_NEW("Add", add),
    OLD_AND_NEW("And", and),
    OLD_AND_NEW("Div", div),
    OLD_AND_NEW("Equal", equal),
    OLD_AND_NEW("Greater", greater),
    OLD_AND_NEW("Less", less),
    OLD_AND_NEW("Mul", mul),
    OLD_AND_NEW("Or", or),
    OLD_AND_NEW("Pow", pow),
    OLD_AND_NEW("Sub", sub),
    OLD_AND_NEW("Xor", xor),
    {.type = "BitShift", .since = 11, .op = &tn_op_bit_shift, TN_FIELDS(shift_fields)},
    TN_ROW("BitwiseAnd", 18, bitwise_and),
    TN_ROW("BitwiseOr", 18, bitwise_or),
    TN_ROW("BitwiseXor", 18, bitwise_xor),
    TN_ROW("GreaterOrEqual", 12, greater_or_equal),
    TN_ROW("LessOrEqual", 12, less_or_equal),
    {.type = "Mod", .since = 10, .op = &tn_op_mod, TN_FIELDS(mod_fields)},
    {.type = "Max", .since = 1, .op = &tn_op_max, .nests = true},
    TN_ROW("Mean", 1, mean),
    {.type = "Min", .since = 1, .op = &tn_op_min, .nests = true},
    {.type = "Sum", .since = 1, .op = &tn_op_sum, .nests = true},
    TN_ROW("Where", 9, where),

    {.type = "Cast", .since = 1, .until = 5, .op = &tn_op_cast, .map = map_old_cast},
    {.type = "Cast", .since = 6, .op = &tn_op_cast, TN_FIELDS(cast_fields)},
    {.type = "CastLike", .since = 15, .op = &tn_op_cast_like, TN_FIELDS(cast_like_fields)},
    {.type = "BitCast", .since = 26, .op = &tn_op_bit_cast, TN_FIELDS(bit_cast_fields)},

    {.type = "Einsum", .since = 12, .op = &tn_op_einsum, TN_FIELDS(einsum_fields)},
    {.type = "Gemm", .since = 1, .op = &tn_op_gemm, TN_FIELDS(gemm_fields)},
    {.type = "MatMul", .since = 1, .op = &tn_op_matmul, .max_in = 2},

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

const tn_onnx_table tn_onnx_math = {"", rows};
