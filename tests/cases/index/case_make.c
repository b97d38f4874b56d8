// SPDX-License-Identifier: Apache-2.0
// Cases of operators that make tensors from little: shape, size, constant_of_shape, range, trilu, eye_like.
// Ownership: the caller's arena. Threads: one at a time.
#include "cases/draw.h"
#include "ops/index/op_make.h"

static const struct {
    tn_dtype dtype;
    double start, limit, delta;
} ranges[] = {
    {TN_I64, 0, 10, 1}, {TN_I32, 10, 4, -2}, {TN_F32, 0, 1, 0.1}, {TN_F32, 5, 5, 1}, {TN_F64, 1, -1, -0.25}, {TN_I64, 3, 0, 1}, {TN_F16, 0, 300, 1},
};

// One number as a constant scalar.
static tn_case_in number(tn_arena *arena, tn_dtype dtype, double v)
{
    tn_case_in in = tn_dtype_is_float(dtype) ? tn_draw_reals(arena, 1, &v) : tn_draw_scalar(arena, (int64_t)v);
    in.dtype = dtype;
    in.shape = tn_case_shape(0);
    return in;
}

static bool make_range(tn_case *c, tn_arena *arena, tn_rand *r, int which)
{
    const tn_dtype dtype = which >= 0 ? ranges[which].dtype : tn_rand_bool(r) ? TN_I64 : TN_F32;
    const double delta = (double)tn_rand_range(r, 1, 5) * (tn_rand_bool(r) ? 1 : -1);
    c->op = &tn_op_range;
    c->n_in = 3;
    c->in[0] = number(arena, dtype, which >= 0 ? ranges[which].start : (double)tn_rand_range(r, -50, 50));
    c->in[1] = number(arena, dtype, which >= 0 ? ranges[which].limit : (double)tn_rand_range(r, -50, 50));
    c->in[2] = number(arena, dtype, which >= 0 ? ranges[which].delta : delta);
    return true;
}

static bool make_constant(tn_case *c, tn_arena *arena, tn_rand *r)
{
    const tn_shape shape = tn_draw_shape(r, 0, 4);
    c->op = &tn_op_constant_of_shape;
    c->n_in = 2;
    c->in[0] = tn_draw_list(arena, shape.rank, shape.dims);
    c->in[1] = tn_draw_in(tn_draw_dtype(r, TN_DRAW_SIZES), tn_case_shape(1, (int64_t)1));
    c->in[1].constant = true;
    return true;
}

static bool make_trilu(tn_case *c, tn_arena *arena, tn_rand *r)
{
    tn_trilu_attr *attr = tn_case_attr(arena, &tn_op_trilu);
    if (!attr) {
        return false;
    }
    attr->upper = tn_rand_bool(r);
    c->op = &tn_op_trilu;
    c->attr = attr;
    c->n_in = tn_rand_bool(r) ? 2 : 1;
    c->in[0] = tn_draw_in(tn_draw_dtype(r, TN_DRAW_SIZES), tn_draw_shape(r, 2, 4));
    c->in[1] = tn_draw_scalar(arena, tn_draw_rarely(r) ? INT64_MIN : tn_rand_range(r, -9, 9));
    c->special = true;
    return true;
}

static bool make_eye(tn_case *c, tn_arena *arena, tn_rand *r)
{
    tn_eye_like_attr *attr = tn_case_attr(arena, &tn_op_eye_like);
    if (!attr) {
        return false;
    }
    *attr = (tn_eye_like_attr){tn_rand_bool(r) ? TN_NONE : tn_draw_dtype(r, TN_DRAW_NUMBERS), tn_rand_range(r, -9, 9)};
    c->op = &tn_op_eye_like;
    c->attr = attr;
    c->n_in = 1;
    c->in[0] = tn_draw_in(tn_draw_dtype(r, TN_DRAW_NUMBERS), tn_draw_shape(r, 2, 2));
    return true;
}

static bool make(tn_case *c, tn_arena *arena, tn_rand *r, unsigned i)
{
    c->n_out = 1;
    if (i < TN_COUNT(ranges)) {
        return make_range(c, arena, r, (int)i);
    }
    switch (tn_draw_index(r, 6)) {
    case 0: return make_range(c, arena, r, -1);
    case 1: return make_constant(c, arena, r);
    case 2: return make_trilu(c, arena, r);
    case 3: return make_eye(c, arena, r);
    default: break;
    }
    c->op = tn_rand_bool(r) ? &tn_op_shape : &tn_op_size;
    c->attr = tn_case_attr(arena, c->op);
    c->n_in = 1;
    c->in[0] = tn_draw_in(TN_F32, tn_draw_shape(r, 0, 5));
    if (c->op == &tn_op_shape && c->attr) {
        *(tn_shape_attr *)c->attr = (tn_shape_attr){tn_rand_range(r, -7, 7), tn_rand_bool(r) ? INT64_MAX : tn_rand_range(r, -7, 7)};
    }
    return true;
}

TN_CASE_EXPORT(make) {"make", TN_COUNT(ranges), make};
