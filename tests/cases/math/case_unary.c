// SPDX-License-Identifier: Apache-2.0
// Cases of the elementwise functions of one operand: every one in float32 with planted values, then in its other types.
// Ownership: the caller's arena. Threads: one at a time.
#include "cases/draw.h"
#include "ops/math/op_unary.h"

typedef struct row {
    const tn_op *op;
    uint32_t set;
    double low, high;      // low > high: normal(0, 1)
} row;

#define SIGNED_INTS (1u << TN_I8 | 1u << TN_I16 | 1u << TN_I32 | 1u << TN_I64)
#define ANY 1, 0

static const row table[] = {
    {&tn_op_neg, TN_DRAW_FLOATS | SIGNED_INTS, ANY},
    {&tn_op_abs, TN_DRAW_NUMBERS, ANY},
    {&tn_op_sign, TN_DRAW_NUMBERS, ANY},
    {&tn_op_sqrt, TN_DRAW_FLOATS, 0, 100},
    {&tn_op_exp, TN_DRAW_FLOATS, -20, 20},
    {&tn_op_log, TN_DRAW_FLOATS, 1e-3, 50},
    {&tn_op_floor, TN_DRAW_FLOATS, -9, 9},
    {&tn_op_ceil, TN_DRAW_FLOATS, -9, 9},
    {&tn_op_round, TN_DRAW_FLOATS, -9, 9},
    {&tn_op_reciprocal, TN_DRAW_FLOATS, ANY},
    {&tn_op_sin, TN_DRAW_FLOATS, -9, 9},
    {&tn_op_cos, TN_DRAW_FLOATS, -9, 9},
    {&tn_op_tan, TN_DRAW_FLOATS, -1.5, 1.5},
    {&tn_op_asin, TN_DRAW_FLOATS, -1, 1},
    {&tn_op_acos, TN_DRAW_FLOATS, -1, 1},
    {&tn_op_atan, TN_DRAW_FLOATS, ANY},
    {&tn_op_sinh, TN_DRAW_FLOATS, -9, 9},
    {&tn_op_cosh, TN_DRAW_FLOATS, -9, 9},
    {&tn_op_asinh, TN_DRAW_FLOATS, ANY},
    {&tn_op_acosh, TN_DRAW_FLOATS, 1, 9},
    {&tn_op_atanh, TN_DRAW_FLOATS, -0.9, 0.9},
    {&tn_op_erf, TN_DRAW_FLOATS, -4, 4},
    {&tn_op_not, 1u << TN_BOOL, 0, 1},
    {&tn_op_bitwise_not, TN_DRAW_INTS, ANY},
    {&tn_op_is_nan, TN_DRAW_FLOATS | 1u << TN_F8E5M2, ANY},
    {&tn_op_is_inf, TN_DRAW_FLOATS | 1u << TN_F8E5M2, ANY},
};

static bool make(tn_case *c, tn_arena *arena, tn_rand *r, unsigned i)
{
    const bool listed = i < TN_COUNT(table);
    const row *at = &table[listed ? i : (unsigned)tn_draw_index(r, TN_COUNT(table))];
    const tn_dtype dtype = listed && at->set >> TN_F32 & 1 ? TN_F32 : tn_draw_dtype(r, at->set);
    c->op = at->op;
    c->attr = tn_case_attr(arena, c->op);
    c->n_in = c->n_out = 1;
    c->in[0] = tn_draw_in(dtype, listed ? tn_case_shape(3, (int64_t)2, (int64_t)19, (int64_t)67) : tn_draw_shape(r, 0, 6));
    if (tn_dtype_is_float(dtype) && at->low <= at->high) {
        c->in[0].low = at->low;
        c->in[0].high = at->high;
    }
    if (c->op == &tn_op_is_inf && c->attr && !listed) {
        *(tn_is_inf_attr *)c->attr = (tn_is_inf_attr){tn_rand_bool(r), tn_rand_bool(r)};
    }
    c->special = true;
    c->rel = dtype == TN_F16 || dtype == TN_BF16 ? 1e-2 : 2e-6;
    c->abs = 1e-6;
    return true;
}

TN_CASE_EXPORT(unary) {"unary", TN_COUNT(table), make};
