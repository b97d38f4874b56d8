// SPDX-License-Identifier: Apache-2.0
// Cases of det: single matrices and batches, of 0 to 9 rows.
// Ownership: the caller's arena. Threads: one at a time.
#include "cases/draw.h"
#include "ops/math/op_det.h"

static const tn_shape listed[] = {{2, {1, 1}}, {2, {2, 2}}, {3, {5, 3, 3}}, {2, {0, 0}}, {4, {2, 3, 6, 6}}};

static bool make(tn_case *c, tn_arena *arena, tn_rand *r, unsigned i)
{
    const int64_t n = tn_draw_index(r, 10);
    (void)arena;
    c->op = &tn_op_det;
    c->n_in = c->n_out = 1;
    c->in[0] = tn_draw_in(tn_draw_dtype(r, TN_DRAW_FLOATS), i < TN_COUNT(listed) ? listed[i] : tn_case_shape(3, (int64_t)3, n, n));
    c->rel = c->abs = 1e-2;
    return true;
}

TN_CASE_EXPORT(det) {"det", TN_COUNT(listed), make};
