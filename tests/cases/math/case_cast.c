// SPDX-License-Identifier: Apache-2.0
// Cases of cast, cast_like and bit_cast: every pair of types that models use, then any pair.
// Ownership: the caller's arena. Threads: one at a time.
#include "cases/draw.h"
#include "ops/math/op_cast.h"

static const tn_dtype common[] = {TN_F32, TN_F64, TN_F16, TN_BF16, TN_I64, TN_I32, TN_I8, TN_U8, TN_BOOL};
enum { LISTED = TN_COUNT(common) * TN_COUNT(common) };

static const tn_dtype pairs[][2] = {
    {TN_F32, TN_I32}, {TN_U32, TN_F32}, {TN_F64, TN_U64}, {TN_F16, TN_I16}, {TN_U8, TN_I8}, {TN_BOOL, TN_U8}, {TN_U4, TN_I4},
};

#define SMALL_FLOATS \
    (1u << TN_F8E4M3FN | 1u << TN_F8E4M3FNUZ | 1u << TN_F8E5M2 | 1u << TN_F8E5M2FNUZ | 1u << TN_F4E2M1 | 1u << TN_F8E8M0)
#define SMALL_INTS (1u << TN_U4 | 1u << TN_I4 | 1u << TN_U2 | 1u << TN_I2)
#define ALL (TN_DRAW_NUMBERS | SMALL_FLOATS | SMALL_INTS | 1u << TN_BOOL)

static bool make(tn_case *c, tn_arena *arena, tn_rand *r, unsigned i)
{
    const bool listed = i < LISTED;
    const int kind = listed ? 0 : (int)tn_draw_index(r, 4);
    const tn_dtype *pair = TN_DRAW(r, pairs);
    const tn_dtype from = listed ? common[i / TN_COUNT(common)] : kind == 3 ? pair[0] : tn_draw_dtype(r, ALL);
    const tn_dtype to = listed ? common[i % TN_COUNT(common)] : kind == 3 ? pair[1] : tn_draw_dtype(r, ALL);
    c->op = kind == 3 ? &tn_op_bit_cast : kind == 2 ? &tn_op_cast_like : &tn_op_cast;
    tn_cast_attr *attr = tn_case_attr(arena, c->op);
    if (!attr) {
        return false;
    }
    attr->to = to;
    attr->saturate = tn_rand_bool(r);
    attr->round_mode = tn_draw_index(r, 3);
    c->attr = attr;
    c->n_in = c->op == &tn_op_cast_like ? 2 : 1;
    c->n_out = 1;
    c->in[0] = tn_draw_in(from, listed ? tn_case_shape(2, (int64_t)3, (int64_t)101) : tn_draw_shape(r, 0, 6));
    if (tn_dtype_is_float(from) && tn_rand_bool(r)) {
        c->in[0].low = -1000;
        c->in[0].high = 1000;
    }
    c->in[1] = tn_draw_in(to, tn_case_shape(1, (int64_t)1));
    c->special = true;
    return true;
}

TN_CASE_EXPORT(cast) {"cast", LISTED, make};
