// SPDX-License-Identifier: Apache-2.0
// Cases of optional_has_element and optional_get_element on what is no optional.
// Ownership: the caller's arena. Threads: one at a time.
#include "cases/draw.h"
#include "ops/sequence/op_optional.h"

static bool make(tn_case *c, tn_arena *arena, tn_rand *r, unsigned i)
{
    (void)arena;
    c->op = i % 2 ? &tn_op_optional_has_element : &tn_op_optional_get_element;
    c->n_in = c->n_out = 1;
    c->in[0] = tn_draw_in(tn_draw_dtype(r, TN_DRAW_SIZES), tn_draw_shape(r, 0, 4));
    return true;
}

TN_CASE_EXPORT(optional) {"optional", 2, make};
