// SPDX-License-Identifier: Apache-2.0
// Cases of arithmetic on 16 bits: convolutions, products, pairs, means, and tables between all pairs of 8 and 16 bits. Exact results.
// Ownership: the caller's arena. Threads: one at a time.
#include "cases/draw.h"
#include "ops/wide/op_wide.h"

#include <string.h>

enum { CONV, MATMUL, PAIR, MEAN, TABLE, KINDS, LISTED = 12 * KINDS };

static tn_case_in wide_in(tn_shape shape) { return (tn_case_in){.dtype = TN_I16, .shape = shape, .low = -32768, .high = 32767}; }

static tn_case_in scale_in(tn_shape shape, double low, double high)
{
    return (tn_case_in){.dtype = TN_F32, .shape = shape, .low = low, .high = high, .constant = true};
}

static tn_case_in weights_in(tn_rand *r, tn_shape shape)
{
    const bool narrow = tn_rand_bool(r);
    return (tn_case_in){.dtype = narrow ? TN_I8 : TN_I16, .shape = shape, .low = narrow ? -128 : -32768, .high = narrow ? 127 : 32767,
                        .constant = true};
}

static tn_qlinear_attr draw_rounding(tn_rand *r)
{
    tn_qlinear_attr q = TN_QLINEAR_DEFAULTS;
    q.rounding = tn_rand_bool(r) ? TN_ROUND_FIXED_Q31 : TN_ROUND_FLOAT_RNE;
    if (tn_draw_index(r, 3) == 0) {
        q.low = tn_rand_range(r, -20000, 0);
        q.high = tn_rand_range(r, 10, 20000);
    }
    return q;
}

static void sum_operands(tn_case *c, tn_rand *r, tn_shape x, tn_shape w, int64_t channels)
{
    const tn_shape one = {0}, each = {1, {channels}};
    const tn_case_in bias = {.dtype = TN_I64, .shape = each, .low = -1e9, .high = 1e9, .constant = true};
    const tn_case_in in[] = {wide_in(x), scale_in(one, 1e-4, 2e-4), weights_in(r, w), scale_in(tn_rand_bool(r) ? each : one, 1e-4, 2e-4),
                             scale_in(one, 1e-3, 0.5), bias};
    memcpy(c->in, in, sizeof in);
    c->n_in = tn_rand_bool(r) ? 6 : 5;
}

static bool make_conv(tn_case *c, tn_arena *arena, tn_rand *r)
{
    const int64_t group = tn_rand_range(r, 1, 3), in = group * tn_rand_range(r, 1, 9), out = group * tn_rand_range(r, 1, 5);
    const int64_t sides[] = {tn_rand_range(r, 1, 3), tn_rand_range(r, 1, 3)}, strides[] = {tn_rand_range(r, 1, 2), tn_rand_range(r, 1, 2)};
    const int64_t pads[] = {sides[0] / 2, sides[1] / 2, sides[0] / 2, sides[1] / 2};
    tn_wide_conv_attr *attr = tn_case_attr(arena, c->op);
    if (!attr) {
        return false;
    }
    attr->conv.kernel = tn_case_ints(arena, 2, sides);
    attr->conv.strides = tn_case_ints(arena, 2, strides);
    attr->conv.pads = tn_case_ints(arena, 4, pads);
    attr->conv.group = group;
    attr->q = draw_rounding(r);
    c->attr = attr;
    sum_operands(c, r, (tn_shape){4, {1, in, tn_rand_range(r, 3, 12), tn_rand_range(r, 3, 12)}},
                 (tn_shape){4, {out, in / group, sides[0], sides[1]}}, out);
    return true;
}

static bool make_table(tn_case *c, tn_arena *arena, tn_rand *r)
{
    static const tn_dtype types[] = {TN_I16, TN_U8, TN_I8};
    const tn_dtype x = TN_DRAW(r, types);
    tn_wide_table_attr *attr = tn_case_attr(arena, c->op);
    if (!attr) {
        return false;
    }
    const tn_shape shape = {4, {1, tn_rand_range(r, 1, 4), tn_rand_range(r, 1, 9), tn_rand_range(r, 1, 9)}};
    const int64_t entries = x == TN_I16 ? TN_WIDE_ENTRIES : 256;
    attr->to = TN_DRAW(r, types);
    c->attr = attr;
    c->in[0] = wide_in(shape);
    c->in[0].dtype = x;
    c->in[0].low = x == TN_I16 ? -32768 : x == TN_I8 ? -128 : 0;
    c->in[0].high = x == TN_I16 ? 32767 : x == TN_I8 ? 127 : 255;
    c->in[1] = wide_in(tn_rand_bool(r) ? (tn_shape){2, {shape.dims[1], entries}} : (tn_shape){1, {entries}});
    c->in[1].constant = true;
    c->n_in = 2;
    return true;
}

static bool make(tn_case *c, tn_arena *arena, tn_rand *r, unsigned i)
{
    static const tn_op *const pairs[] = {&tn_op_wide_add, &tn_op_wide_sub, &tn_op_wide_mul};
    const int kind = i < LISTED ? (int)(i % KINDS) : (int)tn_draw_index(r, KINDS);
    const tn_shape one = {0}, shape = {4, {1, tn_rand_range(r, 1, 6), tn_rand_range(r, 1, 9), tn_rand_range(r, 1, 9)}};
    c->op = kind == CONV ? &tn_op_wide_conv : kind == MATMUL ? &tn_op_wide_matmul : kind == PAIR ? TN_DRAW(r, pairs)
            : kind == MEAN ? &tn_op_wide_mean : &tn_op_wide_table;
    c->n_out = 1;
    if (kind == CONV) {
        return make_conv(c, arena, r);
    }
    if (kind == TABLE) {
        return make_table(c, arena, r);
    }
    tn_qlinear_attr *attr = tn_case_attr(arena, c->op);
    if (!attr) {
        return false;
    }
    *attr = draw_rounding(r);
    c->attr = attr;
    if (kind == MATMUL) {
        const int64_t k = tn_rand_range(r, 1, 60), n = tn_rand_range(r, 1, 20);
        sum_operands(c, r, (tn_shape){2, {tn_rand_range(r, 1, 7), k}}, (tn_shape){2, {k, n}}, n);
        return true;
    }
    c->in[0] = wide_in(shape);
    c->in[1] = scale_in(one, 1e-4, 3e-4);
    if (kind == MEAN) {
        c->in[2] = scale_in(one, 1e-4, 3e-4);
        c->n_in = 3;
        return true;
    }
    c->in[2] = wide_in(tn_rand_bool(r) ? shape : (tn_shape){4, {1, shape.dims[1], 1, 1}});
    c->in[3] = scale_in(one, 1e-4, 3e-4);
    c->in[4] = scale_in(one, 2e-4, 9e-4);
    c->n_in = 5;
    return true;
}

TN_CASE_EXPORT(wide){"wide", LISTED, make};
