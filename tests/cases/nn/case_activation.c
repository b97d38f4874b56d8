// SPDX-License-Identifier: Apache-2.0
// Cases of activations: each operator on short and long rows, with default and other parameters, every operand left out once; then
// random types and shapes.
// Ownership: the caller's arena. Threads: one at a time.
#include "cases/draw.h"
#include "ops/nn/op_activation.h"

#include "base/num.h"

#define SIGNED (1u << TN_I8 | 1u << TN_I16 | 1u << TN_I32 | 1u << TN_I64)
#define WORDS (1u << TN_I32 | 1u << TN_I64 | 1u << TN_U32 | 1u << TN_U64)

typedef struct row {
    const tn_op *op;
    uint32_t set;
    bool special;      // what it does with NaN, infinities and huge numbers is fixed
} row;

static const row table[] = {
    {&tn_op_relu, TN_DRAW_FLOATS | SIGNED, true},
    {&tn_op_leaky_relu, TN_DRAW_FLOATS, true},
    {&tn_op_elu, TN_DRAW_FLOATS, true},
    {&tn_op_selu, TN_DRAW_FLOATS, true},
    {&tn_op_celu, TN_DRAW_FLOATS, false},
    {&tn_op_thresholded_relu, TN_DRAW_FLOATS, true},
    {&tn_op_hard_sigmoid, TN_DRAW_FLOATS, true},
    {&tn_op_hard_swish, TN_DRAW_FLOATS, false},
    {&tn_op_softplus, TN_DRAW_FLOATS, true},
    {&tn_op_softsign, TN_DRAW_FLOATS, false},
    {&tn_op_mish, TN_DRAW_FLOATS, false},
    {&tn_op_gelu, TN_DRAW_FLOATS, false},
    {&tn_op_swish, TN_DRAW_FLOATS, false},
    {&tn_op_sigmoid, TN_DRAW_FLOATS, true},
    {&tn_op_tanh, TN_DRAW_FLOATS, true},
    {&tn_op_shrink, TN_DRAW_NUMBERS, false},
    {&tn_op_clip, TN_DRAW_NUMBERS, true},
    {&tn_op_prelu, TN_DRAW_FLOATS | WORDS, true},
    {&tn_op_swiglu, TN_DRAW_FLOATS, false},
};

static const tn_shape shapes[] = {
    {4, {1, 8, 5, 7}}, {2, {3, 67}}, {1, {1025}}, {0, {0}}, {4, {2, 17, 3, 3}}, {3, {1, 16, 33}}, {5, {1, 3, 2, 2, 9}}, {2, {0, 4}},
};
enum { LISTED = TN_COUNT(table) * TN_COUNT(shapes) };

// Every second case has parameters of its own.
static void set_parameters(tn_activation_attr *attr, const tn_op *op, tn_rand *r)
{
    attr->alpha = op == &tn_op_hard_sigmoid || op == &tn_op_leaky_relu ? tn_rand_real(r, 0.05, 0.5) : tn_rand_real(r, 0.2, 2);
    attr->beta = op == &tn_op_selu ? tn_rand_real(r, 0.5, 1.5) : tn_rand_real(r, -0.5, 0.5);
    attr->approximate = tn_rand_bool(r);
}

// min and max: both, one of them, or none; now and then the wrong way round.
static void add_bounds(tn_case *c, tn_arena *arena, tn_rand *r, unsigned i)
{
    const tn_dtype dtype = c->in[0].dtype;
    const bool real = tn_dtype_is_float(dtype);
    for (int k = 1; k < 3; k++) {
        const double bound = k == 1 ? -0.5 : 0.75;
        const int64_t whole = k == 1 ? (tn_dtype_is_signed(dtype) ? -20 : 5) : 40;
        c->in[k] = (tn_case_in){.absent = !(i >> (k - 1) & 1), .dtype = dtype, .shape = tn_shape_of(0, NULL), .constant = i & 4};
        c->in[k].reals = real ? tn_arena_copy(arena, &bound, sizeof bound) : NULL;
        c->in[k].ints = real ? NULL : tn_arena_copy(arena, &whole, sizeof whole);
    }
    if (tn_draw_rarely(r)) {
        const tn_case_in low = c->in[1];
        c->in[1] = c->in[2];
        c->in[2] = low;
    }
    c->n_in = 3;
}

// A slope for each element, for each channel, or one for all.
static tn_shape slope_of(const tn_shape *x, unsigned i)
{
    tn_shape slope = *x;
    if (x->rank < 2 || i % 3 == 0) {
        return i % 2 ? *x : tn_shape_of(0, NULL);
    }
    for (int d = 0; d < slope.rank; d++) {
        slope.dims[d] = d == 1 ? x->dims[1] : 1;
    }
    return slope;
}

static bool make(tn_case *c, tn_arena *arena, tn_rand *r, unsigned i)
{
    const bool listed = i < LISTED;
    const row *at = listed ? &table[i % TN_COUNT(table)] : &TN_DRAW(r, table);
    const unsigned turn = listed ? i / TN_COUNT(table) : (unsigned)tn_draw_index(r, 64);
    const tn_shape x = listed ? shapes[turn] : tn_draw_shape(r, 0, 5);
    c->op = at->op;
    c->attr = tn_case_attr(arena, c->op);
    if (c->op->attr_size) {
        tn_activation_attr *attr = tn_case_attr(arena, c->op);
        if (!attr) {
            return false;
        }
        if (turn & 1) {
            set_parameters(attr, c->op, r);
        }
        c->attr = attr;
    }
    c->in[0] = tn_draw_in(listed ? TN_F32 : tn_draw_dtype(r, at->set), x);
    c->n_in = c->n_out = 1;
    if (tn_dtype_is_float(c->in[0].dtype)) {
        c->in[0].low = -6;
        c->in[0].high = 6;
    }
    if (c->op == &tn_op_clip) {
        add_bounds(c, arena, r, turn);
    } else if (c->op == &tn_op_prelu) {
        c->in[1] = tn_draw_in(c->in[0].dtype, slope_of(&x, turn));
        c->in[1].constant = turn & 1;
        c->n_in = 2;
    } else if (c->op == &tn_op_swiglu) {
        c->in[1] = tn_draw_in(c->in[0].dtype, x);
        c->n_in = 2;
    }
    c->special = at->special && c->in[0].dtype == TN_F32;
    c->rel = 4e-6;
    c->abs = 1e-6;
    return true;
}

TN_CASE_EXPORT(activation){"activation", LISTED, make};
