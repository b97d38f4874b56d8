// SPDX-License-Identifier: Apache-2.0
// Cases of integer arithmetic: convolutions and products of both 8-bit types, scales and zero points for a tensor and for a
// channel, sums, products and joins with requantisation; then random ones. Results are exact.
// Ownership: the caller's arena. Threads: one at a time.
#include "cases/draw.h"
#include "ops/quant/op_qlinear.h"
#include "ops/quant/op_qpair.h"

#include <string.h>

#define BYTES (1u << TN_U8 | 1u << TN_I8)

enum { CHANNELS = 1, BIAS = 2, NO_ZERO = 4, MIDDLE = 8 };   // scales and zero points for each channel (column); bias; zero points left out; weights around 0

typedef struct layer {
    int64_t n, c, h, w, m, k, s, p, g;
    int flags;
} layer;

static const layer layers[] = {
    {1, 3, 17, 19, 16, 3, 2, 1, 1, BIAS},     {1, 16, 9, 9, 24, 1, 1, 0, 1, CHANNELS | BIAS},
    {1, 24, 7, 7, 24, 3, 1, 1, 24, CHANNELS | BIAS},
    {2, 8, 6, 5, 8, 3, 1, 1, 1, 0},           {1, 33, 4, 4, 17, 1, 1, 0, 1, CHANNELS},        {1, 12, 8, 9, 12, 5, 2, 2, 12, BIAS},
    {1, 8, 10, 10, 12, 3, 1, 1, 4, CHANNELS}, {1, 1, 28, 28, 8, 5, 1, 2, 1, NO_ZERO},         {1, 64, 3, 3, 32, 3, 1, 1, 1, BIAS},
    {0, 3, 4, 4, 5, 3, 1, 1, 1, BIAS},        {1, 160, 9, 13, 33, 1, 1, 0, 1, MIDDLE | BIAS}, {1, 96, 7, 7, 18, 3, 1, 1, 2, MIDDLE | CHANNELS},
    {1, 70, 12, 11, 7, 3, 2, 1, 1, MIDDLE},
};

typedef struct product {
    tn_shape a, b;
    int flags;
} product;

static const product products[] = {
    {{2, {1, 512}}, {2, {512, 128}}, CHANNELS}, {{2, {33, 48}}, {2, {48, 17}}, 0},      {{3, {1, 26, 96}}, {2, {96, 64}}, CHANNELS},
    {{4, {2, 3, 5, 7}}, {4, {2, 3, 7, 9}}, 0},  {{1, {20}}, {2, {20, 5}}, 0},           {{2, {5, 20}}, {1, {20}}, NO_ZERO},
    {{2, {64, 33}}, {2, {33, 64}}, NO_ZERO},    {{2, {3, 0}}, {2, {0, 4}}, 0},
};

static const tn_shape pairs[][2] = {
    {{4, {1, 16, 7, 9}}, {4, {1, 16, 7, 9}}}, {{2, {5, 67}}, {1, {67}}}, {{4, {2, 8, 3, 3}}, {4, {1, 8, 1, 1}}},
    {{1, {1000}}, {0, {0}}},
};
enum {
    LAYERS = 2 * TN_COUNT(layers),
    PRODUCTS = 2 * TN_COUNT(products),
    PAIRS = 3 * TN_COUNT(pairs),
    JOINS = 3,
    LISTED = LAYERS + PRODUCTS + PAIRS + JOINS
};

// Either rounding, and sometimes bounds.
static void draw_rounding(tn_rand *r, tn_qlinear_attr *q)
{
    q->rounding = tn_rand_bool(r) ? TN_ROUND_FIXED_Q31 : TN_ROUND_FLOAT_RNE;
    if (tn_draw_index(r, 3) == 0) {
        q->low = tn_rand_range(r, -140, 20);
        q->high = tn_rand_range(r, 30, 270);
    }
}

static tn_case_in scale_in(tn_shape shape, double low, double high)
{
    return (tn_case_in){.dtype = TN_F32, .shape = shape, .low = low, .high = high, .constant = true};
}

// Any byte, so that sums reach their extremes.
static tn_case_in bytes_in(tn_dtype dtype, tn_shape shape)
{
    return (tn_case_in){.dtype = dtype, .shape = shape, .low = dtype == TN_I8 ? -128 : 0, .high = dtype == TN_I8 ? 127 : 255};
}

static tn_case_in zero_in(tn_dtype dtype, tn_shape shape)
{
    return (tn_case_in){.dtype = dtype, .shape = shape, .low = dtype == TN_I8 ? -9 : 110, .high = dtype == TN_I8 ? 9 : 140,
                        .constant = true};
}

static bool make_conv(tn_case *c, tn_arena *arena, tn_rand *r, const layer *l, bool requantise)
{
    const int64_t sides[] = {l->k, l->k}, strides[] = {l->s, l->s}, pads[] = {l->p, l->p, l->p, l->p};
    const tn_dtype tx = tn_draw_dtype(r, BYTES), tw = tn_draw_dtype(r, BYTES);
    const tn_shape one = {0}, channel = {1, {l->m}}, each = l->flags & CHANNELS ? channel : one;
    c->op = requantise ? &tn_op_qlinear_conv : &tn_op_conv_integer;
    tn_conv_attr *attr = tn_case_attr(arena, c->op);
    if (!attr) {
        return false;
    }
    attr->kernel = tn_case_ints(arena, 2, sides);
    attr->strides = tn_case_ints(arena, 2, strides);
    attr->pads = tn_case_ints(arena, 4, pads);
    attr->group = l->g;
    c->attr = attr;
    if (requantise) {
        draw_rounding(r, &((tn_qconv_attr *)(void *)attr)->q);
    }
    const tn_case_in x = bytes_in(tx, (tn_shape){4, {l->n, l->c, l->h, l->w}});
    tn_case_in w = bytes_in(tw, (tn_shape){4, {l->m, l->c / l->g, l->k, l->k}});
    w.constant = true;
    tn_case_in w_zero = zero_in(tw, each);
    if (l->flags & MIDDLE) {
        // Few or many neighbours whose products leave 16 bits.
        static const int spread[] = {127, 85, 72, 66, 40};
        const int most = TN_DRAW(r, spread);
        w_zero.low = w_zero.high = tw == TN_I8 ? 0 : 128;
        w.low = w_zero.low - most;
        w.high = w_zero.low + most;
    }
    if (!requantise) {
        const tn_case_in in[] = {x, w, zero_in(tx, one), w_zero};
        memcpy(c->in, in, sizeof in);
        c->n_in = l->flags & NO_ZERO ? 2 : 4;
        return true;
    }
    const tn_case_in bias = {.dtype = TN_I32, .shape = channel, .low = -9000, .high = 9000, .constant = true};
    const tn_case_in in[] = {x, scale_in(one, 0.01, 0.03), zero_in(tx, one), w, scale_in(each, 0.005, 0.02), w_zero,
                             scale_in(one, 0.2, 0.9), zero_in(tx, one), bias};
    memcpy(c->in, in, sizeof in);
    c->n_in = l->flags & BIAS ? 9 : 8;
    return true;
}

static bool make_product(tn_case *c, tn_arena *arena, tn_rand *r, const product *p, bool requantise)
{
    const tn_dtype ta = tn_draw_dtype(r, BYTES), tb = tn_draw_dtype(r, BYTES);
    const tn_shape one = {0};
    const tn_shape columns = p->flags & CHANNELS && p->b.rank > 1 ? tn_shape_of(1, &p->b.dims[p->b.rank - 1]) : one;
    const tn_case_in a = bytes_in(ta, p->a);
    tn_case_in b = bytes_in(tb, p->b);
    b.constant = p->b.rank == 2;
    c->op = requantise ? &tn_op_qlinear_matmul : &tn_op_matmul_integer;
    tn_qmatmul_attr *attr = requantise ? tn_case_attr(arena, c->op) : NULL;
    if (requantise && !attr) {
        return false;
    }
    if (!requantise) {
        const tn_case_in in[] = {a, b, zero_in(ta, one), zero_in(tb, columns)};
        memcpy(c->in, in, sizeof in);
        c->n_in = p->flags & NO_ZERO ? 2 : 4;
        return true;
    }
    draw_rounding(r, &attr->q);
    c->attr = attr;
    const tn_case_in in[] = {a, scale_in(one, 0.01, 0.03), zero_in(ta, one), b, scale_in(columns, 0.005, 0.02),
                             zero_in(tb, columns),
                             scale_in(one, 0.2, 0.9), zero_in(ta, one),
                             {.dtype = TN_I32, .shape = {1, {p->b.dims[p->b.rank - 1]}}, .low = -9000, .high = 9000, .constant = true}};
    memcpy(c->in, in, sizeof in);
    c->n_in = p->flags & BIAS && p->b.rank > 1 ? 9 : 8;
    return true;
}

static bool make_pair(tn_case *c, tn_arena *arena, tn_rand *r, const tn_shape pair[2], int kind)
{
    static const tn_op *const ops[] = {&tn_op_qlinear_add, &tn_op_qlinear_mul, &tn_op_qlinear_sub};
    const tn_dtype type = tn_draw_dtype(r, BYTES);
    const tn_shape one = {0};
    const int turn = (int)tn_rand_range(r, 0, 1);
    const tn_case_in in[] = {bytes_in(type, pair[turn]), scale_in(one, 0.01, 0.05), zero_in(type, one),
                             bytes_in(type, pair[1 - turn]),
                             scale_in(one, 0.01, 0.05), zero_in(type, one), scale_in(one, 0.02, 0.2), zero_in(type, one)};
    c->op = ops[kind];
    tn_qlinear_attr *attr = tn_case_attr(arena, c->op);
    if (!attr) {
        return false;
    }
    draw_rounding(r, attr);
    c->attr = attr;
    memcpy(c->in, in, sizeof in);
    c->n_in = 8;
    return true;
}

static bool make_join(tn_case *c, tn_arena *arena, tn_rand *r, unsigned i)
{
    const tn_dtype type = tn_draw_dtype(r, BYTES);
    const tn_shape one = {0};
    const int parts = (int)(i % 3) + 1;
    c->op = &tn_op_qlinear_concat;
    tn_qconcat_attr *attr = tn_case_attr(arena, c->op);
    if (!attr) {
        return false;
    }
    attr->axis = i % 2 ? -1 : 1;
    c->attr = attr;
    c->in[0] = scale_in(one, 0.02, 0.05);
    c->in[1] = zero_in(type, one);
    c->n_in = 2;
    for (int p = 0; p < parts; p++) {
        tn_shape shape = {3, {2, 5, 9}};
        shape.dims[attr->axis < 0 ? 2 : 1] = tn_rand_range(r, 1, 12);
        c->in[c->n_in++] = bytes_in(type, shape);
        c->in[c->n_in++] = scale_in(one, 0.02, 0.05);
        c->in[c->n_in++] = zero_in(type, one);
    }
    return true;
}

static layer draw_layer(tn_rand *r)
{
    static const int64_t channels[] = {1, 3, 4, 8, 15, 16, 17, 33};
    layer l = {.n = tn_rand_range(r, 1, 2), .c = TN_DRAW(r, channels), .m = TN_DRAW(r, channels), .k = tn_rand_range(r, 1, 4),
               .s = tn_rand_range(r, 1, 2), .g = 1, .flags = (int)tn_draw_index(r, 16)};
    if (tn_draw_index(r, 3) == 0) {
        l.g = l.m = l.c;
    }
    l.p = tn_rand_range(r, 0, l.k - 1);
    l.h = tn_rand_range(r, 0, 9) + l.k;
    l.w = tn_rand_range(r, 0, 17) + l.k;
    return l;
}

static bool make_random(tn_case *c, tn_arena *arena, tn_rand *r)
{
    const unsigned kind = (unsigned)tn_draw_index(r, 4);
    if (kind == 0) {
        const layer l = draw_layer(r);
        return make_conv(c, arena, r, &l, tn_rand_bool(r));
    }
    if (kind == 1) {
        const int64_t m = tn_rand_range(r, 1, 20), k = tn_rand_range(r, 1, 70), n = tn_rand_range(r, 1, 40);
        const product p = {{2, {m, k}}, {2, {k, n}}, (int)tn_draw_index(r, 8)};
        return make_product(c, arena, r, &p, tn_rand_bool(r));
    }
    if (kind == 2) {
        const tn_shape whole = tn_draw_shape(r, 0, 4), pair[2] = {whole, tn_draw_part(r, &whole)};
        return make_pair(c, arena, r, pair, (int)tn_draw_index(r, 3));
    }
    return make_join(c, arena, r, (unsigned)tn_draw_index(r, 6));
}

static bool make(tn_case *c, tn_arena *arena, tn_rand *r, unsigned i)
{
    c->n_out = 1;
    if (i < LAYERS) {
        return make_conv(c, arena, r, &layers[i / 2], i % 2);
    }
    if (i < LAYERS + PRODUCTS) {
        return make_product(c, arena, r, &products[(i - LAYERS) / 2], i % 2);
    }
    if (i < LAYERS + PRODUCTS + PAIRS) {
        return make_pair(c, arena, r, pairs[(i - LAYERS - PRODUCTS) / 3], (int)((i - LAYERS - PRODUCTS) % 3));
    }
    return i < LISTED ? make_join(c, arena, r, i - LAYERS - PRODUCTS - PAIRS) : make_random(c, arena, r);
}

TN_CASE_EXPORT(qlinear){"qlinear", LISTED, make};
