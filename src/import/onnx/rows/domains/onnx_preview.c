// SPDX-License-Identifier: Apache-2.0
// Operators of the domain ai.onnx.preview.
// Ownership: const data. Threads: any.
#include "import/onnx/rows/onnx_rows.h"

#include "ops/index/op_make.h"
#include "ops/math/op_binary.h"
#include "ops/math/op_cast.h"
#include "ops/math/op_unary.h"
#include "ops/move/op_block.h"
#include "ops/move/op_join.h"
#include "ops/move/op_reshape.h"
#include "ops/nn/op_matmul.h"
#include "ops/nn/op_softmax.h"

// x [B, Hkv, S, D] with each head repeated for the heads of q [B, Hq, L, D] that share it: [B, Hq, S, D].
static tn_value *share_heads(tn_onnx_node *node, tn_value *x, tn_value *q)
{
    const int64_t own = x->shape.dims[1], wanted = q->shape.dims[1], two = 2;
    if (own == wanted) {
        return x;
    }
    const tn_shape_attr outer = {.start = 0, .end = 2}, inner = {.start = 2, .end = 4};
    const tn_concat_attr concat = {.axis = 0};
    const tn_reshape_attr reshape = {.allowzero = true};
    tn_value *five = tn_onnx_unsqueeze(node, x, &two, 1);
    tn_value *repeats = tn_onnx_const_ints(node, (const int64_t[]){1, 1, wanted / own, 1, 1}, 5);
    tn_value *many = tn_onnx_emit(node, &tn_op_tile, NULL, TN_IN(five, repeats));
    tn_value *front = tn_onnx_emit(node, &tn_op_shape, &outer, TN_IN(q));
    tn_value *back = tn_onnx_emit(node, &tn_op_shape, &inner, TN_IN(x));
    tn_value *shape = tn_onnx_emit(node, &tn_op_concat, &concat, TN_IN(front, back));
    return tn_onnx_emit(node, &tn_op_reshape, &reshape, TN_IN(many, shape));
}

// The square root of the scale, in q's type: both factors of the product are multiplied by it.
static tn_value *root_of_scale(tn_onnx_node *node, tn_value *q)
{
    tn_value *scale;
    if (tn_onnx_find(node, "scale")) {
        scale = tn_onnx_const_real(node, TN_F32, tn_onnx_real(node, "scale", 1.0f));
    } else {
        const tn_shape_attr last = {.start = 3, .end = 4};
        const tn_cast_attr to_float = {.to = TN_F32, .saturate = true};
        tn_value *size = tn_onnx_emit(node, &tn_op_cast, &to_float, TN_IN(tn_onnx_emit(node, &tn_op_shape, &last, TN_IN(q))));
        scale = tn_onnx_emit(node, &tn_op_reciprocal, NULL, TN_IN(tn_onnx_emit(node, &tn_op_sqrt, NULL, TN_IN(size))));
    }
    return tn_onnx_emit(node, &tn_op_cast_like, NULL, TN_IN(tn_onnx_emit(node, &tn_op_sqrt, NULL, TN_IN(scale)), q));
}

static bool check_heads(tn_onnx_node *node, const tn_value *const operands[3])
{
    for (int i = 0; i < 3; ++i) {
        if (!operands[i] || operands[i]->shape.rank != 4 || operands[i]->shape.dims[1] < 1 || operands[i]->dtype == TN_NONE) {
            tn_onnx_refuse(node, "operands of unknown type or rank, or an unknown number of heads");
            return false;
        }
    }
    if (operands[0]->shape.dims[1] % operands[1]->shape.dims[1] != 0 || operands[1]->shape.dims[1] != operands[2]->shape.dims[1]) {
        tn_onnx_fail(node, TN_INVALID_MODEL, "the numbers of heads do not fit");
        return false;
    }
    return true;
}

// softmax(score_mod(q k^T * scale)), prob_mod of it, times v; the modifiers are graphs of one value.
static void map_flex_attention(tn_onnx_node *node)
{
    tn_value *q = tn_onnx_in(node, 0), *k = tn_onnx_in(node, 1), *v = tn_onnx_in(node, 2);
    if (!check_heads(node, (const tn_value *const[]){q, k, v})) {
        return;
    }
    const int64_t precision = tn_onnx_int(node, "softmax_precision", q->dtype == TN_F64 ? TN_F64 : TN_F32);
    if (precision <= TN_NONE || precision >= TN_DTYPE_COUNT || !tn_dtype_is_float((tn_dtype)precision)) {
        tn_onnx_fail(node, TN_INVALID_MODEL, "softmax_precision %lld", (long long)precision);
        return;
    }
    const tn_matmul_attr straight = {.alpha = 1}, turned = {.trans_b = true, .alpha = 1};
    const tn_cast_attr up = {.to = (tn_dtype)precision, .saturate = true}, down = {.to = q->dtype, .saturate = true};
    const tn_softmax_attr last = {.axis = -1};
    tn_value *root = root_of_scale(node, q);
    tn_value *a = tn_onnx_emit(node, &tn_op_mul, NULL, TN_IN(q, root));
    tn_value *b = tn_onnx_emit(node, &tn_op_mul, NULL, TN_IN(share_heads(node, k, q), root));
    tn_value *scores = tn_onnx_emit(node, &tn_op_cast, &up, TN_IN(tn_onnx_emit(node, &tn_op_matmul, &turned, TN_IN(a, b))));
    if (tn_onnx_find(node, "score_mod")) {
        tn_onnx_inline(node, "score_mod", TN_IN(scores), &scores, 1);
    }
    tn_value *probs = tn_onnx_emit(node, &tn_op_softmax, &last, TN_IN(scores));
    if (tn_onnx_find(node, "prob_mod")) {
        tn_onnx_inline(node, "prob_mod", TN_IN(probs), &probs, 1);
    }
    tn_value *values = tn_onnx_emit(node, &tn_op_cast, &up, TN_IN(share_heads(node, v, q)));
    tn_value *y = tn_onnx_emit(node, &tn_op_matmul, &straight, TN_IN(probs, values));
    tn_onnx_finish(node, &tn_op_cast, &down, TN_IN(y));
}

static const tn_onnx_row rows[] = {
    {.type = "FlexAttention", .since = 1, .max_in = 3, .map = map_flex_attention},
    {0},
};

const tn_onnx_table tn_onnx_preview = {"ai.onnx.preview", rows};
