// SPDX-License-Identifier: Apache-2.0
// Cases of transpose: the orders that models use (channels last and first, attention heads), then any.
// Ownership: the caller's arena. Threads: one at a time.
#include "cases/draw.h"
#include "ops/move/op_transpose.h"

typedef struct form {
    tn_shape shape;
    int64_t perm[6];
} form;

static const form forms[] = {
    {{4, {2, 17, 5, 7}}, {0, 2, 3, 1}}, {{4, {2, 5, 7, 17}}, {0, 3, 1, 2}}, {{4, {1, 9, 4, 16}}, {0, 2, 1, 3}},
    {{4, {1, 4, 9, 16}}, {0, 1, 3, 2}}, {{2, {33, 65}}, {1, 0}},             {{3, {5, 6, 7}}, {2, 1, 0}},
    {{5, {2, 3, 4, 5, 6}}, {0, 2, 1, 3, 4}}, {{6, {2, 1, 3, 2, 3, 2}}, {5, 4, 3, 2, 1, 0}}, {{0, {0}}, {0}}, {{3, {2, 0, 3}}, {1, 2, 0}},
    {{1, {7}}, {0}},                    {{4, {64, 64, 3, 3}}, {2, 3, 1, 0}},
};

static bool make(tn_case *c, tn_arena *arena, tn_rand *r, unsigned i)
{
    const bool listed = i < TN_COUNT(forms);
    const tn_shape shape = listed ? forms[i].shape : tn_draw_shape(r, 0, 7);
    tn_transpose_attr *attr = tn_case_attr(arena, &tn_op_transpose);
    int64_t perm[TN_MAX_RANK];
    if (!attr) {
        return false;
    }
    for (int d = 0; d < shape.rank; d++) {
        perm[d] = listed ? forms[i].perm[d] : d;
    }
    for (int d = shape.rank - 1; !listed && d > 0; d--) {
        const int other = (int)tn_draw_index(r, d + 1);
        const int64_t swap = perm[d];
        perm[d] = perm[other];
        perm[other] = swap;
    }
    if (listed || !tn_draw_rarely(r)) {
        attr->perm = tn_case_ints(arena, shape.rank, perm);
    }
    c->op = &tn_op_transpose;
    c->attr = attr;
    c->n_in = c->n_out = 1;
    c->in[0] = tn_draw_in(listed ? TN_F32 : tn_draw_dtype(r, TN_DRAW_SIZES), shape);
    c->special = true;
    return true;
}

TN_CASE_EXPORT(transpose) {"transpose", TN_COUNT(forms), make};
