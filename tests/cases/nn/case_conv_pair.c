// SPDX-License-Identifier: Apache-2.0
// Cases of two convolutions in one node: a depthwise and a pointwise one in both orders, of every stride, window and pad, whole groups of
// channels and rests, functions behind both, one strip of rows and many; and pairs that no fast row takes.
// Ownership: the caller's arena. Threads: one at a time.
#include "cases/draw.h"
#include "ops/joined/op_conv_pair.h"

enum { BIAS1 = 1, BIAS2 = 2, RESIDUAL = 4 };

// x [n, c, h, w] to m channels. The depthwise one has kernel k, stride s, dilation d and pad p on all sides; it comes first, or behind the
// pointwise one. OTHER: two with groups.
typedef enum kind { DEPTHWISE_FIRST, POINTWISE_FIRST, OTHER } kind;
typedef struct pair {
    kind kind;
    int64_t n, c, h, w, k, s, d, p, m;
    int fused;
    int64_t act1, act2;
} pair;

static const pair pairs[] = {
    {DEPTHWISE_FIRST, 1, 32, 30, 31, 3, 1, 1, 1, 64, BIAS1 | BIAS2, TN_LOOP_CLIP, TN_LOOP_CLIP},
    {DEPTHWISE_FIRST, 1, 64, 29, 30, 3, 2, 1, 1, 128, BIAS1 | BIAS2, TN_LOOP_RELU, TN_LOOP_RELU},
    {DEPTHWISE_FIRST, 1, 24, 14, 13, 5, 1, 1, 2, 24, BIAS1 | BIAS2 | RESIDUAL, TN_LOOP_HARD_SWISH, TN_LOOP_CONST},
    {DEPTHWISE_FIRST, 2, 33, 17, 16, 5, 2, 1, 2, 40, BIAS2, TN_LOOP_SILU, TN_LOOP_HARD_SWISH},
    {DEPTHWISE_FIRST, 3, 20, 9, 11, 3, 1, 1, 0, 9, 0, TN_LOOP_CONST, TN_LOOP_SILU},
    {DEPTHWISE_FIRST, 1, 8, 40, 120, 3, 1, 1, 1, 16, BIAS1 | BIAS2, TN_LOOP_RELU, TN_LOOP_GELU},
    {DEPTHWISE_FIRST, 1, 16, 3, 3, 3, 1, 1, 1, 17, BIAS1, TN_LOOP_CLIP, TN_LOOP_CONST},
    {DEPTHWISE_FIRST, 1, 16, 1, 1, 3, 2, 1, 1, 32, BIAS1 | BIAS2 | RESIDUAL, TN_LOOP_CLIP, TN_LOOP_CLIP},
    {DEPTHWISE_FIRST, 2, 40, 19, 21, 3, 1, 2, 2, 32, BIAS1 | BIAS2 | RESIDUAL, TN_LOOP_RELU, TN_LOOP_RELU},
    {DEPTHWISE_FIRST, 1, 12, 15, 14, 7, 3, 1, 3, 20, BIAS1 | BIAS2, TN_LOOP_TANH, TN_LOOP_CONST},
    {DEPTHWISE_FIRST, 1, 16, 12, 13, 4, 1, 1, 1, 48, BIAS2 | RESIDUAL, TN_LOOP_CONST, TN_LOOP_SIGMOID},
    {DEPTHWISE_FIRST, 1, 144, 20, 60, 3, 1, 1, 1, 24, BIAS1 | BIAS2, TN_LOOP_CLIP, TN_LOOP_CONST},
    {DEPTHWISE_FIRST, 1, 96, 20, 60, 3, 2, 1, 1, 16, BIAS1 | BIAS2, TN_LOOP_CLIP, TN_LOOP_CONST},
    {DEPTHWISE_FIRST, 0, 8, 5, 5, 3, 1, 1, 1, 4, BIAS1, TN_LOOP_RELU, TN_LOOP_CONST},
    {POINTWISE_FIRST, 1, 16, 40, 41, 3, 2, 1, 1, 96, BIAS1 | BIAS2, TN_LOOP_CLIP, TN_LOOP_CLIP},
    {POINTWISE_FIRST, 1, 24, 29, 30, 3, 1, 1, 1, 72, BIAS1 | BIAS2 | RESIDUAL, TN_LOOP_RELU, TN_LOOP_RELU},
    {POINTWISE_FIRST, 2, 33, 17, 16, 5, 2, 1, 2, 40, BIAS1, TN_LOOP_SILU, TN_LOOP_SILU},
    {POINTWISE_FIRST, 1, 40, 14, 15, 5, 1, 1, 2, 57, BIAS2 | RESIDUAL, TN_LOOP_HARD_SWISH, TN_LOOP_HARD_SWISH},
    {POINTWISE_FIRST, 3, 7, 9, 11, 3, 1, 3, 3, 9, 0, TN_LOOP_CONST, TN_LOOP_CONST},
    {POINTWISE_FIRST, 1, 16, 150, 120, 3, 2, 1, 0, 24, BIAS1 | BIAS2, TN_LOOP_RELU, TN_LOOP_CONST},
    {POINTWISE_FIRST, 1, 8, 90, 230, 7, 1, 1, 3, 16, BIAS1 | BIAS2, TN_LOOP_GELU, TN_LOOP_RELU},
    {POINTWISE_FIRST, 1, 64, 2, 1, 3, 3, 1, 2, 4, BIAS1, TN_LOOP_CLIP, TN_LOOP_TANH},
    {POINTWISE_FIRST, 1, 4, 1, 3000, 5, 1, 9, 40, 24, BIAS1 | BIAS2, TN_LOOP_CLIP, TN_LOOP_CONST},
    {OTHER, 1, 6, 9, 8, 3, 1, 1, 1, 4, BIAS1 | BIAS2 | RESIDUAL, TN_LOOP_RELU, TN_LOOP_LEAKY},
    {OTHER, 2, 8, 7, 8, 3, 2, 1, 1, 6, BIAS2, TN_LOOP_RELU, TN_LOOP_RELU},
};

static const int64_t acts[] = {TN_LOOP_CONST, TN_LOOP_RELU, TN_LOOP_CLIP, TN_LOOP_LEAKY, TN_LOOP_SILU, TN_LOOP_HARD_SWISH, TN_LOOP_GELU};

static pair draw_pair(tn_rand *r)
{
    static const int64_t channels[] = {1, 3, 7, 8, 9, 15, 16, 17, 24, 33}, results[] = {1, 4, 8, 9, 15, 16, 17, 24, 31, 32, 33, 40};
    pair p = {.kind = tn_rand_bool(r) ? POINTWISE_FIRST : DEPTHWISE_FIRST, .n = tn_rand_range(r, 1, 2), .c = TN_DRAW(r, channels),
              .k = tn_rand_range(r, 1, 5), .s = tn_rand_range(r, 1, 3), .d = 1 + (tn_draw_index(r, 3) == 0), .m = TN_DRAW(r, results),
              .fused = (int)tn_draw_index(r, 8), .act1 = TN_DRAW(r, acts), .act2 = TN_DRAW(r, acts)};
    p.p = tn_rand_range(r, 0, (p.k - 1) * p.d);
    p.h = tn_rand_range(r, 1, 19) + (p.k - 1) * p.d;
    p.w = tn_rand_range(r, 1, 27) + (p.k - 1) * p.d;
    return p;
}

// One of the two, from c to m channels.
typedef struct half {
    int64_t c, m, k, s, d, p, g;
} half;

static tn_conv_attr attr_of(tn_arena *arena, const half *h, int64_t act)
{
    return (tn_conv_attr){.kernel = tn_case_ints(arena, 2, (const int64_t[]){h->k, h->k}), .strides = tn_case_ints(arena, 2, (const int64_t[]){h->s, h->s}),
                          .dilations = tn_case_ints(arena, 2, (const int64_t[]){h->d, h->d}),
                          .pads = tn_case_ints(arena, 4, (const int64_t[]){h->p, h->p, h->p, h->p}), .group = h->g,
                          .act = {act, act == TN_LOOP_CLIP ? 0 : 0.1, act == TN_LOOP_CLIP ? 6 : 0}};
}

static int64_t slide(int64_t in, const half *h) { return (in + 2 * h->p - h->d * (h->k - 1) - 1) / h->s + 1; }

static bool make(tn_case *c, tn_arena *arena, tn_rand *r, unsigned i)
{
    const pair p = i < TN_COUNT(pairs) ? pairs[i] : draw_pair(r);
    const int64_t wide = p.kind == POINTWISE_FIRST ? p.m : p.c;
    const half depthwise = {wide, wide, p.k, p.s, p.d, p.p, p.kind == OTHER ? 2 : wide}, pointwise = {p.c, p.m, 1, 1, 1, 0, p.kind == OTHER ? 2 : 1};
    const half first = p.kind == POINTWISE_FIRST ? pointwise : depthwise, second = p.kind == POINTWISE_FIRST ? depthwise : pointwise;
    tn_conv_pair_attr *attr = tn_case_attr(arena, &tn_op_conv_pair);
    if (!attr) {
        return false;
    }
    attr->first = attr_of(arena, &first, p.act1);
    attr->second = attr_of(arena, &second, p.act2);
    c->op = &tn_op_conv_pair;
    c->attr = attr;
    c->n_out = 1;
    c->rel = 1e-4;
    c->abs = 1e-6;
    const int64_t h = slide(slide(p.h, &first), &second), w = slide(slide(p.w, &first), &second);
    c->in[TN_PAIR_X] = tn_draw_in(TN_F32, tn_case_shape(4, p.n, p.c, p.h, p.w));
    c->in[TN_PAIR_W1] = tn_draw_in(TN_F32, tn_case_shape(4, first.m, first.c / first.g, first.k, first.k));
    c->in[TN_PAIR_W2] = tn_draw_in(TN_F32, tn_case_shape(4, second.m, second.c / second.g, second.k, second.k));
    c->in[TN_PAIR_BIAS1] = p.fused & BIAS1 ? tn_draw_in(TN_F32, tn_case_shape(1, first.m)) : TN_ABSENT;
    c->in[TN_PAIR_BIAS2] = p.fused & BIAS2 ? tn_draw_in(TN_F32, tn_case_shape(1, second.m)) : TN_ABSENT;
    c->in[TN_PAIR_RESIDUAL] = p.fused & RESIDUAL ? tn_draw_in(TN_F32, tn_case_shape(4, p.n, p.m, h, w)) : TN_ABSENT;
    for (int k = TN_PAIR_W1; k <= TN_PAIR_BIAS2; k++) {
        c->in[k].constant = true;
    }
    c->n_in = p.fused & RESIDUAL ? 6 : p.fused & BIAS2 ? 5 : p.fused & BIAS1 ? 4 : 3;
    return true;
}

TN_CASE_EXPORT(conv_pair) {"conv_pair", TN_COUNT(pairs), make};
