// SPDX-License-Identifier: Apache-2.0
// Cases of relayout: channels that fill blocks, leave one lane and all but one, pixels around the sizes of register tiles. The check
// itself tries every pair of layouts.
// Ownership: the caller's arena. Threads: one at a time.
#include "cases/draw.h"
#include "ops/move/op_relayout.h"

static const tn_shape shapes[] = {
    {4, {1, 16, 7, 7}}, {4, {2, 17, 4, 4}},  {4, {1, 15, 1, 33}}, {4, {1, 1, 5, 5}},       {3, {2, 9, 31}},
    {3, {1, 8, 16}},    {5, {1, 24, 2, 3, 4}}, {4, {1, 32, 0, 4}},  {4, {0, 16, 2, 2}}, {4, {1, 3, 64, 64}},
};

static bool make(tn_case *c, tn_arena *arena, tn_rand *r, unsigned i)
{
    const bool listed = i < TN_COUNT(shapes);
    tn_relayout_attr *attr = tn_case_attr(arena, &tn_op_relayout);
    if (!attr) {
        return false;
    }
    attr->layout = TN_LAYOUT_PLAIN;   // the tensors' own layouts decide
    c->op = &tn_op_relayout;
    c->attr = attr;
    c->n_in = c->n_out = 1;
    c->in[0] = tn_draw_in(listed ? TN_F32 : tn_draw_dtype(r, TN_DRAW_SIZES), listed ? shapes[i] : tn_draw_shape(r, 3, 5));
    c->special = true;
    return true;
}

TN_CASE_EXPORT(relayout) {"relayout", TN_COUNT(shapes), make};
