// SPDX-License-Identifier: Apache-2.0
// Cases of softmax, log_softmax and hardmax: every axis, one element, long rows, large values; then random ones.
// Ownership: the caller's arena. Threads: one at a time.
#include "cases/draw.h"
#include "ops/nn/op_softmax.h"

static const tn_op *const ops[] = {&tn_op_softmax, &tn_op_log_softmax, &tn_op_hardmax};

typedef struct line {
    tn_shape shape;
    int64_t axis;
    double range;      // values are -range .. range
} line;

static const line lines[] = {
    {{2, {1, 10}}, -1, 4},           {{2, {5, 33}}, 1, 4},          {{2, {40, 6625}}, -1, 10},     {{4, {1, 2, 20, 33}}, 1, 4},
    {{4, {2, 21, 9, 7}}, 1, 4},      {{3, {1, 4420, 2}}, 2, 4},     {{3, {12, 26, 26}}, -1, 20},   {{3, {7, 5, 3}}, 0, 4},
    {{1, {1}}, 0, 4},                {{1, {17}}, 0, 90},            {{2, {3, 1001}}, -1, 300},     {{4, {1, 4, 1, 1}}, 1, 4},
    {{2, {4, 0}}, 1, 1},             {{2, {0, 4}}, 1, 1},           {{5, {2, 1, 3, 16, 2}}, -2, 4}, {{2, {9, 8}}, 0, 0},
};
enum { LISTED = TN_COUNT(ops) * TN_COUNT(lines) };

static bool make(tn_case *c, tn_arena *arena, tn_rand *r, unsigned i)
{
    const bool listed = i < LISTED;
    line l = {.range = 8};
    if (listed) {
        l = lines[i / TN_COUNT(ops)];
    } else {
        l.shape = tn_draw_shape(r, 1, 5);
        l.axis = tn_rand_range(r, -l.shape.rank, l.shape.rank - 1);
    }
    c->op = listed ? ops[i % TN_COUNT(ops)] : TN_DRAW(r, ops);
    tn_softmax_attr *attr = tn_case_attr(arena, c->op);
    if (!attr) {
        return false;
    }
    attr->axis = l.axis;
    c->attr = attr;
    c->n_in = c->n_out = 1;
    c->in[0] = tn_draw_in(listed ? TN_F32 : tn_draw_dtype(r, TN_DRAW_FLOATS), l.shape);
    c->in[0].low = -l.range;
    c->in[0].high = l.range;
    c->rel = c->op == &tn_op_hardmax ? 0 : 1e-5;
    c->abs = c->op == &tn_op_hardmax ? 0 : 1e-7;
    return true;
}

TN_CASE_EXPORT(softmax){"softmax", LISTED, make};
