// SPDX-License-Identifier: Apache-2.0
// Cases of losses: every reduction, weights, ignored targets, more dims, the second result; then random ones.
// Ownership: the caller's arena. Threads: one at a time.
#include "cases/draw.h"
#include "ops/train/op_loss.h"

static const tn_shape shapes[] = {{2, {5, 7}}, {3, {2, 5, 9}}, {4, {1, 33, 3, 4}}, {5, {2, 3, 2, 2, 3}}, {2, {0, 4}}};
static const tn_op *const ops[] = {&tn_op_negative_log_likelihood, &tn_op_softmax_cross_entropy};
enum { FORMS = 3 * 2 * 2, LISTED = TN_COUNT(shapes) * TN_COUNT(ops) * FORMS };   // reduction, weights, ignore

static bool make(tn_case *c, tn_arena *arena, tn_rand *r, unsigned i)
{
    const unsigned form = i < LISTED ? i : (unsigned)tn_draw_index(r, LISTED), turn = form / TN_COUNT(ops) / TN_COUNT(shapes);
    tn_shape x = shapes[form / TN_COUNT(ops) % TN_COUNT(shapes)], target = {0};
    for (int d = 0; d < x.rank && i >= LISTED; d++) {
        x.dims[d] = tn_rand_range(r, 1, 12);
    }
    for (int d = 0; d < x.rank; d++) {
        if (d != 1) {
            target.dims[target.rank++] = x.dims[d];
        }
    }
    c->op = ops[form % TN_COUNT(ops)];
    tn_loss_attr *attr = tn_case_attr(arena, c->op);
    if (!attr) {
        return false;
    }
    attr->reduction = (int)(turn % 3);
    attr->has_ignore = turn / 6;
    attr->ignore_index = tn_rand_bool(r) ? x.dims[1] : 0;
    c->attr = attr;
    c->in[0] = tn_draw_in(i < LISTED ? TN_F32 : tn_draw_dtype(r, TN_DRAW_FLOATS), x);
    c->in[1] = (tn_case_in){.dtype = tn_rand_bool(r) ? TN_I64 : TN_I32, .shape = target, .low = 0, .high = (double)(x.dims[1] - 1)};
    if (attr->has_ignore && attr->ignore_index) {
        c->in[1].high = (double)x.dims[1];
    }
    c->in[2] = tn_draw_in(c->in[0].dtype, tn_shape_of(1, &x.dims[1]));
    c->in[2].low = 0.1;
    c->in[2].high = 2;
    c->n_in = turn / 3 % 2 ? 3 : 2;
    c->n_out = c->op == &tn_op_softmax_cross_entropy && tn_rand_bool(r) ? 2 : 1;
    c->rel = 1e-5;
    c->abs = 1e-6;
    return true;
}

TN_CASE_EXPORT(loss){"loss", LISTED, make};
