// SPDX-License-Identifier: Apache-2.0
// Cases of concat and split: every axis, parts of odd and of zero size, one part, many parts.
// Ownership: the caller's arena. Threads: one at a time.
#include "cases/draw.h"
#include "ops/move/op_join.h"

enum { PARTS = 5 };

typedef struct form {
    tn_shape shape;          // its dim along the axis is replaced by the parts'
    int64_t axis;
    int n;
    int64_t parts[PARTS];
} form;

static const form forms[] = {
    {{4, {2, 0, 5, 7}}, 1, 3, {17, 8, 3}}, {{4, {1, 8, 5, 0}}, -1, 2, {3, 6}}, {{1, {0}}, 0, 5, {1, 0, 2, 1, 4}},
    {{3, {4, 0, 3}}, 1, 1, {9}},           {{2, {0, 33}}, 0, 4, {1, 1, 1, 1}}, {{2, {0, 0}}, 1, 2, {3, 4}},
};

static bool make(tn_case *c, tn_arena *arena, tn_rand *r, unsigned i)
{
    form any = {.shape = tn_draw_shape(r, 1, 6), .n = (int)tn_rand_range(r, 1, PARTS)};
    const bool listed = i < 2 * TN_COUNT(forms), splits = listed ? i % 2 : tn_rand_bool(r);
    int64_t sum = 0;
    any.axis = tn_rand_range(r, -any.shape.rank, any.shape.rank - 1);
    for (int k = 0; k < any.n; k++) {
        any.parts[k] = tn_rand_bool(r) ? tn_rand_range(r, 0, 3) : tn_rand_range(r, 1, 19);
    }
    const form *f = listed ? &forms[i / 2] : &any;
    const tn_dtype dtype = listed ? TN_F32 : tn_draw_dtype(r, TN_DRAW_SIZES);
    const int64_t axis = f->axis < 0 ? f->axis + f->shape.rank : f->axis;
    c->op = splits ? &tn_op_split : &tn_op_concat;
    c->attr = tn_case_attr(arena, c->op);
    if (!c->attr) {
        return false;
    }
    for (int k = 0; k < f->n; k++) {
        tn_shape shape = f->shape;
        shape.dims[axis] = f->parts[k];
        c->in[k] = tn_draw_in(dtype, shape);
        sum += f->parts[k];
    }
    c->special = true;
    if (!splits) {
        ((tn_concat_attr *)c->attr)->axis = f->axis;
        c->n_in = f->n;
        c->n_out = 1;
        return true;
    }
    ((tn_split_attr *)c->attr)->axis = f->axis;
    tn_shape shape = f->shape;
    shape.dims[axis] = sum;
    c->in[0] = tn_draw_in(dtype, shape);
    c->in[1] = tn_draw_list(arena, f->n, f->parts);
    c->n_in = listed || tn_rand_bool(r) ? 2 : 1;
    c->n_out = f->n;
    return true;
}

TN_CASE_EXPORT(join) {"join", 2 * TN_COUNT(forms), make};
