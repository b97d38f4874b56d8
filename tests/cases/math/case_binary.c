// SPDX-License-Identifier: Apache-2.0
// Cases of the elementwise functions of two and more operands: equal shapes, each side broadcast, scalars, zero-size dims; then random
// types and shapes.
// Ownership: the caller's arena. Threads: one at a time.
#include "cases/draw.h"
#include "ops/math/op_binary.h"

typedef struct row {
    const tn_op *op;
    uint32_t set;
    bool divides;          // integer operands after the first are not 0
    bool many;             // any number of operands
} row;

static const row table[] = {
    {&tn_op_add, TN_DRAW_NUMBERS, false, false},
    {&tn_op_sub, TN_DRAW_NUMBERS, false, false},
    {&tn_op_mul, TN_DRAW_NUMBERS, false, false},
    {&tn_op_div, TN_DRAW_NUMBERS, true, false},
    {&tn_op_pow, TN_DRAW_FLOATS | 1u << TN_I32 | 1u << TN_I64, false, false},
    {&tn_op_mod, TN_DRAW_NUMBERS, true, false},
    {&tn_op_and, 1u << TN_BOOL, false, false},
    {&tn_op_or, 1u << TN_BOOL, false, false},
    {&tn_op_xor, 1u << TN_BOOL, false, false},
    {&tn_op_bitwise_and, TN_DRAW_INTS, false, false},
    {&tn_op_bitwise_or, TN_DRAW_INTS, false, false},
    {&tn_op_bitwise_xor, TN_DRAW_INTS, false, false},
    {&tn_op_bit_shift, TN_DRAW_INTS, false, false},
    {&tn_op_equal, TN_DRAW_NUMBERS | 1u << TN_BOOL, false, false},
    {&tn_op_greater, TN_DRAW_NUMBERS, false, false},
    {&tn_op_less, TN_DRAW_NUMBERS, false, false},
    {&tn_op_greater_or_equal, TN_DRAW_NUMBERS, false, false},
    {&tn_op_less_or_equal, TN_DRAW_NUMBERS, false, false},
    {&tn_op_max, TN_DRAW_NUMBERS, false, true},
    {&tn_op_min, TN_DRAW_NUMBERS, false, true},
    {&tn_op_sum, TN_DRAW_FLOATS, false, true},
    {&tn_op_mean, TN_DRAW_FLOATS, false, true},
};

// Pairs of shapes of the listed cases: each operator meets all of them.
static const tn_shape pairs[][2] = {
    {{3, {3, 5, 33}}, {3, {3, 5, 33}}},        {{4, {2, 17, 3, 5}}, {4, {1, 17, 1, 1}}}, {{2, {9, 31}}, {1, {31}}},
    {{0, {0}}, {2, {7, 65}}},                  {{3, {4, 1, 9}}, {2, {13, 1}}},           {{2, {0, 5}}, {2, {1, 5}}},
    {{6, {2, 1, 3, 1, 2, 5}}, {5, {4, 1, 3, 2, 1}}},
};
enum { LISTED = TN_COUNT(table) * TN_COUNT(pairs) };

static void set_attributes(tn_case *c, tn_rand *r)
{
    if (c->op == &tn_op_mod && c->attr) {
        ((tn_mod_attr *)c->attr)->fmod = tn_rand_bool(r);
    }
    if (c->op == &tn_op_bit_shift && c->attr) {
        ((tn_bit_shift_attr *)c->attr)->left = tn_rand_bool(r);
    }
}

// Contents that keep the operator defined and the numbers comparable.
static void set_range(const row *at, tn_case_in *in, int k)
{
    const bool real = tn_dtype_is_float(in->dtype);
    if (at->op == &tn_op_pow) {
        in->low = real ? (k == 0 ? 0.1 : -3) : 0;
        in->high = k == 0 ? 4 : 3;
    } else if (at->op == &tn_op_bit_shift && k == 1) {
        in->low = tn_dtype_is_signed(in->dtype) ? -3 : 0;
        in->high = 70;
    } else if (at->divides && k > 0 && !real) {
        in->low = tn_dtype_is_signed(in->dtype) && k == 1 ? in->low : 1;
        in->low = in->low < 0 ? 1 : in->low;
        in->high = 9;
    } else if (!real && at->op == &tn_op_equal) {
        in->low = 0;
        in->high = 1;
    }
}

static bool make(tn_case *c, tn_arena *arena, tn_rand *r, unsigned i)
{
    const bool listed = i < LISTED;
    const row *at = &table[listed ? i % TN_COUNT(table) : (unsigned)tn_draw_index(r, TN_COUNT(table))];
    const bool f32 = listed && at->set >> TN_F32 & 1;
    const tn_dtype dtype = f32 ? TN_F32 : tn_draw_dtype(r, at->set);
    const tn_shape full = tn_draw_shape(r, 0, 6);
    c->op = at->op;
    c->attr = tn_case_attr(arena, c->op);
    set_attributes(c, r);
    c->n_in = listed || !at->many ? 2 : (int)tn_rand_range(r, 1, 6);
    c->n_out = 1;
    const int whole = (int)tn_draw_index(r, c->n_in);
    for (int k = 0; k < c->n_in; k++) {
        const tn_shape shape = listed ? pairs[i / TN_COUNT(table)][k] : k == whole ? full : tn_draw_part(r, &full);
        const bool mixed = at->op == &tn_op_pow && k == 1 && !f32;
        c->in[k] = tn_draw_in(mixed ? tn_draw_dtype(r, TN_DRAW_NUMBERS) : dtype, shape);
        c->in[k].constant = k != whole && tn_rand_bool(r);
        set_range(at, &c->in[k], k);
    }
    c->special = at->op != &tn_op_pow || f32;
    c->rel = dtype == TN_F16 || dtype == TN_BF16 ? 1e-2 : 2e-6;
    c->abs = dtype == TN_F16 || dtype == TN_BF16 ? 1e-2 : 1e-6;
    return true;
}

TN_CASE_EXPORT(binary) {"binary", LISTED, make};
