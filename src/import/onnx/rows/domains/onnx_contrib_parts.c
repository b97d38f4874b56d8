// SPDX-License-Identifier: Apache-2.0
// Building blocks of compositions: shapes are taken from the values at run time, so that they hold for any batch and length.
// Ownership: what is built belongs to the node's graph. Threads: as the import.
#include "import/onnx/rows/domains/onnx_contrib_parts.h"

#include "ops/index/op_gather.h"
#include "ops/index/op_make.h"
#include "ops/math/op_binary.h"
#include "ops/math/op_cast.h"
#include "ops/move/op_join.h"
#include "ops/move/op_reshape.h"
#include "ops/move/op_transpose.h"

tn_value *tn_contrib_reshape(tn_onnx_node *node, tn_value *x, const int64_t *dims, size_t count)
{
    return tn_onnx_emit(node, &tn_op_reshape, NULL, TN_IN(x, tn_onnx_const_ints(node, dims, count)));
}

tn_value *tn_contrib_transpose(tn_onnx_node *node, tn_value *x, const int64_t *perm, int rank)
{
    const tn_transpose_attr attr = {.perm = {perm, rank, true}};
    return tn_onnx_emit(node, &tn_op_transpose, &attr, TN_IN(x));
}

tn_value *tn_contrib_pick(tn_onnx_node *node, tn_value *x, int64_t axis, int64_t index)
{
    const tn_gather_attr attr = {.axis = axis};
    return tn_onnx_emit(node, &tn_op_gather, &attr, TN_IN(x, tn_onnx_const_int(node, index)));
}

tn_value *tn_contrib_concat(tn_onnx_node *node, int64_t axis, tn_value *const *in, int n_in)
{
    const tn_concat_attr attr = {.axis = axis};
    return tn_onnx_emit(node, &tn_op_concat, &attr, in, n_in);
}

tn_value *tn_contrib_cast(tn_onnx_node *node, tn_value *x, tn_dtype to)
{
    const tn_cast_attr attr = {.to = to, .saturate = true};
    return tn_onnx_emit(node, &tn_op_cast, &attr, TN_IN(x));
}

tn_value *tn_contrib_dim(tn_onnx_node *node, tn_value *x, int64_t axis)
{
    const tn_shape_attr attr = {.start = axis, .end = axis + 1};
    return tn_onnx_emit(node, &tn_op_shape, &attr, TN_IN(x));
}

tn_value *tn_contrib_range(tn_onnx_node *node, tn_value *count)
{
    tn_value *limit = tn_contrib_reshape(node, count, NULL, 0);
    return tn_onnx_emit(node, &tn_op_range, NULL, TN_IN(tn_onnx_const_int(node, 0), limit, tn_onnx_const_int(node, 1)));
}

tn_value *tn_contrib_add(tn_onnx_node *node, tn_value *a, tn_value *b)
{
    return a && b ? tn_onnx_emit(node, &tn_op_add, NULL, TN_IN(a, b)) : a ? a : b;
}

void tn_contrib_split(tn_onnx_node *node, tn_value *x, int64_t axis, const int64_t *sizes, int count, tn_value **parts)
{
    const tn_split_attr attr = {.axis = axis, .num_outputs = sizes ? 0 : count};
    tn_value *list = sizes ? tn_onnx_const_ints(node, sizes, (size_t)count) : NULL;
    tn_onnx_emit_several(node, &tn_op_split, &attr, TN_IN(x, list), parts, count);
}

static const int64_t swap_heads[] = {0, 2, 1, 3};

tn_value *tn_contrib_heads(tn_onnx_node *node, tn_value *x, int64_t heads)
{
    return tn_contrib_transpose(node, tn_contrib_reshape(node, x, (int64_t[]){0, 0, heads, -1}, 4), swap_heads, 4);
}

tn_value *tn_contrib_join_heads(tn_onnx_node *node, tn_value *x)
{
    return tn_contrib_reshape(node, tn_contrib_transpose(node, x, swap_heads, 4), (int64_t[]){0, 0, -1}, 3);
}

static tn_value *turn_channels(tn_onnx_node *node, tn_value *x, int rank, const int64_t turns[3][5])
{
    if (rank < 3 || rank > 5) {
        tn_onnx_refuse(node, "channels after the spatial dims of an operand of %s", rank < 0 ? "unknown rank" : "this rank");
        return NULL;
    }
    return tn_contrib_transpose(node, x, turns[rank - 3], rank);
}

tn_value *tn_contrib_channels_first(tn_onnx_node *node, tn_value *x)
{
    static const int64_t turns[3][5] = {{0, 2, 1}, {0, 3, 1, 2}, {0, 4, 1, 2, 3}};
    return turn_channels(node, x, tn_contrib_rank(x), turns);
}

tn_value *tn_contrib_channels_last(tn_onnx_node *node, tn_value *x, int rank)
{
    static const int64_t turns[3][5] = {{0, 2, 1}, {0, 2, 3, 1}, {0, 2, 3, 4, 1}};
    return turn_channels(node, x, rank, turns);
}

int tn_contrib_rank(const tn_value *x) { return x ? x->shape.rank : -1; }

int64_t tn_contrib_known_dim(const tn_value *x, int i)
{
    return x && i < x->shape.rank && tn_dim_known(x->shape.dims[i]) ? x->shape.dims[i] : -1;
}
