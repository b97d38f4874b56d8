// SPDX-License-Identifier: Apache-2.0
// Cases of chain: random straight programs over one to eight broadcast operands. Codes whose results blow up errors (division, power,
// logarithm near its pole) are left to the listed cases of one instruction.
// Ownership: the caller's arena. Threads: one at a time.
#include "cases/draw.h"
#include "ops/math/op_chain.h"

static const uint8_t calm[] = {
    TN_LOOP_CONST, TN_LOOP_ADD, TN_LOOP_SUB, TN_LOOP_MUL, TN_LOOP_MIN, TN_LOOP_MAX, TN_LOOP_MADD, TN_LOOP_NEG, TN_LOOP_ABS,
    TN_LOOP_TANH, TN_LOOP_SIGMOID, TN_LOOP_ERF, TN_LOOP_RELU, TN_LOOP_LEAKY, TN_LOOP_CLIP, TN_LOOP_HARD_SIGMOID,
    TN_LOOP_HARD_SWISH, TN_LOOP_SILU, TN_LOOP_GELU, TN_LOOP_GELU_TANH, TN_LOOP_ELU, TN_LOOP_SOFTPLUS, TN_LOOP_AFFINE, TN_LOOP_PRELU,
};

static tn_loop_instr draw_instr(tn_rand *r, uint8_t code, int before)
{
    // operands are mostly fresh results, so that no part of the program is dead
    return (tn_loop_instr){code, (uint8_t)(before - 1), (uint8_t)tn_draw_index(r, before), (uint8_t)tn_draw_index(r, before),
                           (float)tn_rand_real(r, -1, 0), (float)tn_rand_real(r, 0, 2)};
}

static bool make(tn_case *c, tn_arena *arena, tn_rand *r, unsigned i)
{
    const bool listed = i < TN_LOOP_COUNT;
    tn_loop *loop = tn_arena_take(arena, sizeof *loop);
    tn_chain_attr *attr = tn_arena_take(arena, sizeof *attr);
    if (!loop || !attr) {
        return false;
    }
    attr->loop = loop;
    loop->n_inputs = listed ? 3 : (int)tn_rand_range(r, 1, TN_LOOP_MAX_INPUTS);
    loop->n_code = listed ? 1 : (int)tn_rand_range(r, 1, 12);
    for (int k = 0; k < loop->n_code; k++) {
        loop->code[k] = draw_instr(r, listed ? (uint8_t)i : TN_DRAW(r, calm), loop->n_inputs + k);
    }
    c->op = &tn_op_chain;
    c->attr = attr;
    c->n_in = loop->n_inputs;
    c->n_out = 1;
    const tn_shape full = listed ? tn_case_shape(4, (int64_t)2, (int64_t)17, (int64_t)3, (int64_t)5) : tn_draw_shape(r, 0, 6);
    const int whole = (int)tn_draw_index(r, c->n_in);
    for (int k = 0; k < c->n_in; k++) {
        c->in[k] = tn_case_f32(k == whole ? full : tn_draw_part(r, &full));
        c->in[k].constant = k != whole && tn_rand_bool(r);
        if (listed && (i == TN_LOOP_POW || i == TN_LOOP_LOG || i == TN_LOOP_SQRT || i == TN_LOOP_RSQRT)) {
            c->in[k].low = 0.1;
            c->in[k].high = 4;
        }
    }
    c->special = listed && i != TN_LOOP_MADD;
    c->rel = c->abs = listed ? 2e-6 : 2e-5;
    return true;
}

TN_CASE_EXPORT(chain) {"chain", TN_LOOP_COUNT, make};
