// SPDX-License-Identifier: Apache-2.0
// Cases of where: each of the three operands broadcast, every element size.
// Ownership: the caller's arena. Threads: one at a time.
#include "cases/draw.h"
#include "ops/math/op_select.h"

static const tn_shape listed[][3] = {
    {{2, {3, 67}}, {2, {3, 67}}, {2, {3, 67}}}, {{2, {3, 1}}, {1, {17}}, {0, {0}}},
    {{0, {0}}, {3, {2, 3, 9}}, {3, {1, 3, 1}}}, {{1, {0}}, {1, {1}}, {1, {1}}},
};

static bool make(tn_case *c, tn_arena *arena, tn_rand *r, unsigned i)
{
    const tn_shape full = tn_draw_shape(r, 0, 6);
    const tn_dtype dtype = i < TN_COUNT(listed) ? TN_F32 : tn_draw_dtype(r, TN_DRAW_SIZES);
    const int whole = (int)tn_draw_index(r, 3);
    (void)arena;
    c->op = &tn_op_where;
    c->n_in = 3;
    c->n_out = 1;
    for (int k = 0; k < 3; k++) {
        const tn_shape shape = i < TN_COUNT(listed) ? listed[i][k] : k == whole ? full : tn_draw_part(r, &full);
        c->in[k] = tn_draw_in(k == 0 ? TN_BOOL : dtype, shape);
        c->in[k].constant = k != whole && tn_rand_bool(r);
    }
    c->special = true;
    return true;
}

TN_CASE_EXPORT(select) {"select", TN_COUNT(listed), make};
