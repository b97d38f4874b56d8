// SPDX-License-Identifier: Apache-2.0
// Cases of normalisations: sizes of real nets, every attribute, optional operands and results; then random ones.
// Ownership: the caller's arena. Threads: one at a time.
#include "cases/draw.h"
#include "ops/nn/op_norm.h"

static const tn_op *const ops[] = {&tn_op_batch_norm, &tn_op_instance_norm, &tn_op_layer_norm, &tn_op_rms_norm,
                                   &tn_op_group_norm, &tn_op_lrn,           &tn_op_lp_norm,    &tn_op_mvn};

static const tn_shape shapes[] = {
    {4, {1, 16, 7, 9}}, {4, {2, 12, 5, 5}}, {3, {1, 26, 384}}, {3, {2, 6, 33}}, {4, {1, 32, 14, 15}}, {5, {1, 4, 2, 3, 5}},
    {4, {3, 8, 1, 1}},  {2, {5, 24}},       {4, {0, 4, 3, 3}}, {3, {4, 2, 257}},
};
enum { LISTED = TN_COUNT(ops) * TN_COUNT(shapes) };

// count operands of shape [n]; a variance is positive.
static void add_vectors(tn_case *c, int count, int64_t n)
{
    for (int i = 0; i < count; i++) {
        c->in[c->n_in] = tn_draw_in(c->in[0].dtype, tn_shape_of(1, &n));
        c->in[c->n_in].constant = true;
        if (i == 3) {
            c->in[c->n_in].low = 0.1;
            c->in[c->n_in].high = 2;
        }
        c->n_in++;
    }
}

// Layer norms: from an axis on; scale has the normalised dims, or fewer; bias and statistics are optional.
static void fill_layer(tn_case *c, tn_layer_norm_attr *attr, const tn_shape *x, unsigned turn)
{
    const bool rms = c->op == &tn_op_rms_norm;
    attr->axis = turn % 3 == 0 ? -1 : (int64_t)(turn % (unsigned)x->rank);
    const int from = (int)(attr->axis < 0 ? attr->axis + x->rank : attr->axis);
    const tn_shape scale = tn_shape_of(x->rank - from, x->dims + from);
    c->in[1] = tn_draw_in(c->in[0].dtype, turn % 4 == 3 ? tn_shape_of(1, &x->dims[x->rank - 1]) : scale);
    c->in[1].constant = true;
    c->n_in = 2;
    if (!rms && turn % 2 == 0) {
        c->in[2] = c->in[1];
        c->n_in = 3;
    }
    c->n_out = !rms && turn % 5 == 4 ? 3 : 1;
}

// Attributes and the operands after x. false: no memory.
static bool fill(tn_case *c, tn_arena *arena, const tn_shape *x, tn_rand *r, unsigned turn)
{
    static const int64_t groups[] = {4, 3, 2, 1};
    void *attr = tn_case_attr(arena, c->op);
    const int64_t channels = x->dims[1];
    if (!attr) {
        return false;
    }
    c->attr = attr;
    if (c->op == &tn_op_batch_norm) {
        tn_batch_norm_attr *a = attr;
        a->training = turn % 5 == 4;
        a->epsilon = turn & 1 ? 1e-3 : a->epsilon;
        c->n_out = a->training ? 3 : 1;
        add_vectors(c, 4, channels);
    } else if (c->op == &tn_op_instance_norm) {
        add_vectors(c, 2, channels);
    } else if (c->op == &tn_op_group_norm) {
        tn_group_norm_attr *a = attr;
        for (size_t i = 0; i < TN_COUNT(groups) && channels; i++) {
            a->groups = groups[(i + turn) % TN_COUNT(groups)];
            if (channels % a->groups == 0) {
                break;
            }
            a->groups = 1;
        }
        add_vectors(c, 2, channels);
    } else if (c->op == &tn_op_layer_norm || c->op == &tn_op_rms_norm) {
        fill_layer(c, attr, x, turn);
    } else if (c->op == &tn_op_lrn) {
        *(tn_lrn_attr *)attr = (tn_lrn_attr){turn & 1 ? 0.01 : 1e-4, 0.75, turn & 2 ? 2 : 1, (int64_t)(turn % 6 + 1)};
    } else if (c->op == &tn_op_lp_norm) {
        *(tn_lp_norm_attr *)attr = (tn_lp_norm_attr){tn_rand_range(r, -x->rank, x->rank - 1), (int64_t)(turn % 2 + 1)};
    } else if (c->op == &tn_op_mvn) {
        const int64_t axes[] = {0, x->rank - 1};
        if (x->rank < 4 || turn & 1) {
            ((tn_mvn_attr *)attr)->axes = tn_case_ints(arena, turn & 2 ? 1 : 2, axes);
        }
    }
    return true;
}

static bool make(tn_case *c, tn_arena *arena, tn_rand *r, unsigned i)
{
    const bool listed = i < LISTED;
    const unsigned turn = listed ? i / TN_COUNT(ops) : (unsigned)tn_draw_index(r, 60);
    const tn_shape x = listed ? shapes[turn] : tn_draw_shape(r, 2, 5);
    c->op = listed ? ops[i % TN_COUNT(ops)] : TN_DRAW(r, ops);
    c->in[0] = tn_draw_in(listed ? TN_F32 : tn_draw_dtype(r, TN_DRAW_FLOATS), x);
    c->n_in = c->n_out = 1;
    c->rel = 2e-5;
    c->abs = 1e-6;
    return fill(c, arena, &x, r, turn);
}

TN_CASE_EXPORT(norm){"norm", LISTED, make};
