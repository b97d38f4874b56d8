// SPDX-License-Identifier: Apache-2.0
// Cases of random draws: with and without a seed. Every run starts from the seed again, so draws can be compared.
// Ownership: the caller's arena. Threads: one at a time.
#include "cases/draw.h"
#include "ops/index/op_random.h"

static const tn_op *const drawn[] = {
    &tn_op_random_normal, &tn_op_random_uniform, &tn_op_random_normal_like, &tn_op_random_uniform_like, &tn_op_bernoulli,
};
enum { LISTED = TN_COUNT(drawn) + 2 };

static bool make(tn_case *c, tn_arena *arena, tn_rand *r, unsigned i)
{
    const size_t which = i < LISTED ? i : (size_t)tn_draw_index(r, LISTED);
    const tn_shape shape = tn_draw_shape(r, 0, 4);
    const double seed = (double)tn_draw_index(r, 1000);
    c->op = which < TN_COUNT(drawn) ? drawn[which] : which == TN_COUNT(drawn) ? &tn_op_multinomial : &tn_op_dropout;
    c->attr = tn_case_attr(arena, c->op);
    c->n_out = 1;
    if (!c->attr) {
        return false;
    }
    if (c->op == &tn_op_multinomial) {
        *(tn_multinomial_attr *)c->attr = (tn_multinomial_attr){TN_I64, tn_rand_range(r, 0, 9), tn_rand_bool(r), seed};
        c->n_in = 1;
        c->in[0] = tn_draw_in(TN_F32, tn_case_shape(2, tn_rand_range(r, 0, 3), tn_rand_range(r, 1, 9)));
        return true;
    }
    if (c->op == &tn_op_dropout) {
        const double ratio = tn_rand_real(r, 0, 0.9);
        *(tn_dropout_attr *)c->attr = (tn_dropout_attr){tn_rand_bool(r), (int64_t)seed};
        c->n_in = (int)tn_rand_range(r, 1, 3);
        c->n_out = (int)tn_rand_range(r, 1, 2);
        c->in[0] = tn_draw_in(tn_draw_dtype(r, TN_DRAW_FLOATS), shape);
        c->in[1] = tn_draw_reals(arena, 1, &ratio);
        c->in[2] = tn_draw_in(TN_BOOL, tn_case_shape(0));
        return true;
    }
    *(tn_random_attr *)c->attr = (tn_random_attr){.dtype = tn_draw_dtype(r, TN_DRAW_FLOATS),
                                                  .shape = tn_case_ints(arena, shape.rank, shape.dims),
                                                  .a = -2, .b = 3, .has_seed = tn_rand_bool(r), .seed = seed};
    c->n_in = c->op->min_in;
    c->in[0] = tn_draw_in(TN_F32, shape);
    c->in[0].low = 0;
    c->in[0].high = 1;
    return true;
}

TN_CASE_EXPORT(random) {"random", LISTED, make};
