// SPDX-License-Identifier: Apache-2.0
// Cases of label_encoder on numbers: keys that are there, twice, and not at all.
// Ownership: the caller's arena. Threads: one at a time.
#include "cases/draw.h"
#include "ops/text/op_label.h"

static bool make(tn_case *c, tn_arena *arena, tn_rand *r, unsigned i)
{
    static const uint32_t keys = 1u << TN_F32 | 1u << TN_I64 | 1u << TN_I16 | 1u << TN_F64;
    const int64_t n = tn_rand_range(r, i == 0 ? 0 : 1, 20);
    const tn_dtype x = tn_draw_dtype(r, keys), y = tn_draw_dtype(r, keys);
    (void)arena;
    c->op = &tn_op_label_encoder;
    c->n_in = 4;
    c->n_out = 1;
    c->in[0] = tn_draw_in(x, tn_draw_shape(r, 0, 3));
    c->in[1] = tn_draw_in(x, tn_shape_of(1, &n));
    c->in[0].low = c->in[1].low = -8;
    c->in[0].high = c->in[1].high = 8;
    c->in[2] = tn_draw_in(y, tn_shape_of(1, &n));
    c->in[3] = tn_draw_in(y, tn_case_shape(1, (int64_t)1));
    return true;
}

TN_CASE_EXPORT(label) {"label", 2, make};
