// SPDX-License-Identifier: Apache-2.0
// Cases of reductions (axes at the end, at the front, in the middle, all, none), arg_max / arg_min (ties) and running sums.
// Ownership: the caller's arena. Threads: one at a time.
#include "cases/draw.h"
#include "ops/math/op_reduce.h"

static const tn_op *const reductions[] = {
    &tn_op_reduce_sum, &tn_op_reduce_mean, &tn_op_reduce_max, &tn_op_reduce_min, &tn_op_reduce_prod, &tn_op_reduce_l1,
    &tn_op_reduce_l2, &tn_op_reduce_log_sum, &tn_op_reduce_log_sum_exp, &tn_op_reduce_sum_square,
};

typedef struct form {
    tn_shape shape;
    int n_axes;               // -1: operand left out
    int64_t axes[4];
} form;

static const form forms[] = {
    {{2, {5, 129}}, 1, {1}},           {{3, {2, 31, 7}}, 1, {1}},   {{4, {2, 5, 9, 13}}, 2, {2, 3}}, {{4, {2, 17, 3, 5}}, 3, {0, 2, -1}},
    {{2, {33, 17}}, -1, {0}},          {{0, {0}}, -1, {0}},         {{3, {3, 0, 5}}, 1, {1}},        {{3, {3, 4, 5}}, 0, {0}},
};
enum { LISTED = TN_COUNT(reductions) * TN_COUNT(forms) };

static bool make_reduce(tn_case *c, tn_arena *arena, tn_rand *r, const tn_op *op, const form *f)
{
    tn_reduce_attr *attr = tn_case_attr(arena, op);
    int64_t axes[TN_MAX_RANK];
    int n = f ? f->n_axes : 0;
    if (!attr) {
        return false;
    }
    const tn_dtype dtype = f ? TN_F32 : tn_draw_dtype(r, TN_DRAW_FLOATS | 1u << TN_I32 | 1u << TN_I64 | 1u << TN_U8);
    c->in[0] = tn_draw_in(dtype, f ? f->shape : tn_draw_shape(r, 0, 6));
    for (int d = 0; !f && d < c->in[0].shape.rank; d++) {
        if (tn_rand_bool(r)) {
            axes[n++] = tn_rand_bool(r) ? d : d - c->in[0].shape.rank;
        }
    }
    attr->keepdims = tn_rand_bool(r);
    attr->noop_with_empty_axes = !f && tn_rand_bool(r);
    c->attr = attr;
    c->n_in = n < 0 ? 1 : 2;
    c->in[1] = tn_draw_list(arena, TN_MAX(n, 0), f ? f->axes : axes);
    // what is multiplied or goes into a logarithm stays positive
    if (op == &tn_op_reduce_prod || op == &tn_op_reduce_log_sum) {
        c->in[0].low = tn_dtype_is_float(dtype) ? 0.6 : 1;
        c->in[0].high = tn_dtype_is_float(dtype) ? 1.6 : 2;
    }
    c->special = op == &tn_op_reduce_max || op == &tn_op_reduce_min;
    c->rel = dtype == TN_F16 || dtype == TN_BF16 ? 1e-2 : op == &tn_op_reduce_prod ? 1e-4 : 1e-5;
    c->abs = c->rel;
    return true;
}

static bool make_arg(tn_case *c, tn_arena *arena, tn_rand *r)
{
    c->op = tn_rand_bool(r) ? &tn_op_arg_max : &tn_op_arg_min;
    tn_arg_attr *attr = tn_case_attr(arena, c->op);
    tn_shape shape = tn_draw_shape(r, 1, 5);
    if (!attr) {
        return false;
    }
    const int axis = (int)tn_draw_index(r, shape.rank);
    shape.dims[axis] = TN_MAX(shape.dims[axis], 1);
    *attr = (tn_arg_attr){tn_rand_bool(r) ? axis : axis - shape.rank, tn_rand_bool(r), tn_rand_bool(r)};
    c->attr = attr;
    c->n_in = 1;
    c->in[0] = tn_draw_in(tn_draw_dtype(r, TN_DRAW_NUMBERS), shape);
    if (!tn_dtype_is_float(c->in[0].dtype)) {
        c->in[0].low = 0;
        c->in[0].high = 3;
    }
    c->special = true;
    return true;
}

static bool make_cum(tn_case *c, tn_arena *arena, tn_rand *r)
{
    c->op = tn_rand_bool(r) ? &tn_op_cum_sum : &tn_op_cum_prod;
    tn_cum_attr *attr = tn_case_attr(arena, c->op);
    const tn_shape shape = tn_draw_shape(r, 1, 5);
    if (!attr) {
        return false;
    }
    *attr = (tn_cum_attr){tn_rand_bool(r), tn_rand_bool(r)};
    c->attr = attr;
    c->n_in = 2;
    c->in[0] = tn_draw_in(tn_draw_dtype(r, TN_DRAW_FLOATS | 1u << TN_I32 | 1u << TN_I64), shape);
    c->in[1] = tn_draw_scalar(arena, tn_rand_range(r, -shape.rank, shape.rank - 1));
    c->rel = c->abs = 1e-2;
    return true;
}

static bool make(tn_case *c, tn_arena *arena, tn_rand *r, unsigned i)
{
    const bool listed = i < LISTED;
    const int kind = listed ? 0 : (int)tn_draw_index(r, 4);
    c->n_out = 1;
    if (kind == 2) {
        return make_arg(c, arena, r);
    }
    if (kind == 3) {
        return make_cum(c, arena, r);
    }
    c->op = listed ? reductions[i % TN_COUNT(reductions)] : TN_DRAW(r, reductions);
    return make_reduce(c, arena, r, c->op, listed ? &forms[i / TN_COUNT(reductions)] : NULL);
}

TN_CASE_EXPORT(reduce) {"reduce", LISTED, make};
