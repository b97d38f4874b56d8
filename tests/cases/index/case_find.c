// SPDX-License-Identifier: Apache-2.0
// Cases of top_k (ties, all of the axis, none of it), non_zero, unique and compress.
// Ownership: the caller's arena. Threads: one at a time.
#include "cases/draw.h"
#include "ops/index/op_find.h"

static const struct {
    tn_shape shape;
    int64_t axis, k;
    bool largest;
} tops[] = {
    {{2, {3, 1000}}, -1, 5, true}, {{3, {4, 9, 5}}, 1, 9, false}, {{1, {1}}, 0, 1, true}, {{2, {2, 33}}, 1, 0, true}, {{2, {40, 7}}, 0, 3, false},
};

// Small numbers, so that there are ties.
static tn_case_in few_values(tn_dtype dtype, tn_shape shape)
{
    tn_case_in in = tn_draw_in(dtype, shape);
    if (!tn_dtype_is_float(dtype)) {
        in.low = 0;
        in.high = 3;
    }
    return in;
}

static bool make_top_k(tn_case *c, tn_arena *arena, tn_rand *r, int which)
{
    const tn_shape shape = which >= 0 ? tops[which].shape : tn_draw_shape(r, 1, 4);
    tn_top_k_attr *attr = tn_case_attr(arena, &tn_op_top_k);
    if (!attr) {
        return false;
    }
    attr->axis = which >= 0 ? tops[which].axis : tn_draw_index(r, shape.rank);
    attr->largest = which >= 0 ? tops[which].largest : tn_rand_bool(r);
    const int64_t dim = shape.dims[attr->axis < 0 ? attr->axis + shape.rank : attr->axis];
    const int64_t k = which >= 0 ? tops[which].k : tn_rand_range(r, 0, dim);
    c->op = &tn_op_top_k;
    c->attr = attr;
    c->n_in = c->n_out = 2;
    c->in[0] = few_values(which >= 0 ? TN_F32 : tn_draw_dtype(r, TN_DRAW_NUMBERS), shape);
    c->in[1] = tn_draw_list(arena, 1, &k);
    c->special = true;
    return true;
}

static bool make_unique(tn_case *c, tn_arena *arena, tn_rand *r)
{
    const tn_shape shape = tn_draw_shape(r, 1, 3);
    tn_unique_attr *attr = tn_case_attr(arena, &tn_op_unique);
    if (!attr) {
        return false;
    }
    *attr = (tn_unique_attr){tn_rand_range(r, -shape.rank, shape.rank - 1), tn_rand_bool(r), tn_rand_bool(r)};
    c->op = &tn_op_unique;
    c->attr = attr;
    c->n_in = 1;
    c->n_out = 4;
    c->in[0] = few_values(tn_draw_dtype(r, TN_DRAW_NUMBERS), shape);
    if (attr->has_axis && !tn_dtype_is_float(c->in[0].dtype)) {
        c->in[0].high = 1;   // so that whole slices repeat
    }
    c->special = true;
    return true;
}

static bool make_compress(tn_case *c, tn_arena *arena, tn_rand *r)
{
    const tn_shape shape = tn_draw_shape(r, 1, 4);
    tn_compress_attr *attr = tn_case_attr(arena, &tn_op_compress);
    if (!attr) {
        return false;
    }
    *attr = (tn_compress_attr){tn_draw_index(r, shape.rank), tn_rand_bool(r)};
    const int64_t length = attr->has_axis ? shape.dims[attr->axis] : tn_shape_span(&shape, 0, shape.rank);
    c->op = &tn_op_compress;
    c->attr = attr;
    c->n_in = 2;
    c->in[0] = tn_draw_in(tn_draw_dtype(r, TN_DRAW_SIZES), shape);
    c->in[1] = tn_draw_in(TN_BOOL, tn_case_shape(1, tn_rand_range(r, 0, length)));
    return true;
}

static bool make(tn_case *c, tn_arena *arena, tn_rand *r, unsigned i)
{
    c->n_out = 1;
    if (i < TN_COUNT(tops)) {
        return make_top_k(c, arena, r, (int)i);
    }
    switch (tn_draw_index(r, 5)) {
    case 0: return make_unique(c, arena, r);
    case 1: return make_compress(c, arena, r);
    case 2:
        c->op = &tn_op_non_zero;
        c->n_in = 1;
        c->in[0] = few_values(tn_draw_dtype(r, TN_DRAW_NUMBERS | 1u << TN_BOOL), tn_draw_shape(r, 0, 4));
        c->in[0].high = c->in[0].dtype == TN_BOOL ? 1 : c->in[0].high;
        return true;
    default: return make_top_k(c, arena, r, -1);
    }
}

TN_CASE_EXPORT(find) {"find", TN_COUNT(tops), make};
