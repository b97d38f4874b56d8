// SPDX-License-Identifier: Apache-2.0
// Cases of matrix products: matmul with every rank, transposition, fused operand and batch form; gemm with every form of c; the
// sizes of real nets (small); then random ones.
// Ownership: the caller's arena. Threads: one at a time.
#include "cases/draw.h"
#include "ops/nn/op_matmul.h"

enum { TRANS_A = 1, TRANS_B = 2, BIAS = 4, RESIDUAL = 8, WEIGHT = 16, HALF = 32 };   // WEIGHT: b is constant; HALF: alpha = 1/2

typedef struct product {
    tn_shape a, b;
    int flags;
    int64_t act;
} product;

static const product products[] = {
    {{2, {1, 257}}, {2, {257, 512}}, WEIGHT | BIAS, TN_LOOP_SIGMOID},
    {{2, {1, 128}}, {2, {128, 10}}, WEIGHT, TN_LOOP_CONST},
    {{3, {1, 26, 384}}, {2, {384, 96}}, WEIGHT | BIAS, TN_LOOP_GELU},
    {{3, {1, 26, 96}}, {2, {96, 384}}, WEIGHT | BIAS | RESIDUAL, TN_LOOP_CONST},
    {{4, {1, 12, 26, 32}}, {4, {1, 12, 32, 26}}, HALF, TN_LOOP_CONST},
    {{4, {1, 12, 26, 32}}, {4, {1, 12, 26, 32}}, TRANS_B, TN_LOOP_CONST},
    {{4, {2, 3, 17, 17}}, {4, {2, 3, 17, 9}}, 0, TN_LOOP_CONST},
    {{2, {33, 65}}, {2, {65, 31}}, 0, TN_LOOP_RELU},
    {{2, {64, 48}}, {2, {48, 64}}, WEIGHT, TN_LOOP_CONST},
    {{2, {48, 33}}, {2, {48, 29}}, TRANS_A, TN_LOOP_CONST},
    {{2, {48, 33}}, {2, {29, 48}}, TRANS_A | TRANS_B | WEIGHT, TN_LOOP_CONST},
    {{2, {7, 300}}, {2, {270, 300}}, TRANS_B | WEIGHT | BIAS, TN_LOOP_CLIP},
    {{2, {41, 1555}}, {2, {1555, 37}}, WEIGHT | BIAS | RESIDUAL, TN_LOOP_GELU},
    {{2, {71, 779}}, {2, {779, 32}}, WEIGHT | RESIDUAL, TN_LOOP_CLIP},
    // Rows a page apart: several tiles of them, one and several groups, the last one not whole.
    {{2, {150, 1024}}, {2, {1024, 35}}, WEIGHT | BIAS | RESIDUAL, TN_LOOP_CLIP},
    {{2, {29, 3072}}, {2, {3072, 48}}, BIAS | HALF, TN_LOOP_GELU},
    {{3, {2, 27, 1024}}, {3, {2, 1024, 34}}, WEIGHT, TN_LOOP_CONST},
    {{2, {31, 1024}}, {2, {33, 1024}}, TRANS_B | WEIGHT | HALF, TN_LOOP_CONST},
    {{2, {1024, 37}}, {2, {1024, 32}}, TRANS_A, TN_LOOP_CONST},
    {{2, {26, 2048}}, {2, {2048, 16}}, WEIGHT, TN_LOOP_RELU},
    {{1, {40}}, {2, {40, 9}}, 0, TN_LOOP_CONST},
    {{2, {9, 40}}, {1, {40}}, 0, TN_LOOP_CONST},
    {{1, {67}}, {1, {67}}, 0, TN_LOOP_CONST},
    {{1, {5}}, {3, {3, 5, 4}}, 0, TN_LOOP_CONST},
    {{3, {4, 3, 5}}, {1, {5}}, 0, TN_LOOP_CONST},
    {{3, {4, 3, 5}}, {2, {5, 6}}, 0, TN_LOOP_CONST},
    {{2, {3, 5}}, {3, {4, 5, 6}}, 0, TN_LOOP_CONST},
    {{4, {2, 1, 3, 8}}, {3, {5, 8, 2}}, 0, TN_LOOP_CONST},
    {{5, {2, 1, 3, 4, 6}}, {5, {1, 4, 1, 6, 3}}, RESIDUAL, TN_LOOP_CONST},
    {{2, {1, 1}}, {2, {1, 1}}, BIAS, TN_LOOP_CONST},
    {{2, {1, 1000}}, {2, {1000, 1}}, 0, TN_LOOP_CONST},
    {{2, {130, 1}}, {2, {1, 259}}, 0, TN_LOOP_CONST},
    {{2, {4, 0}}, {2, {0, 3}}, BIAS, TN_LOOP_RELU},
    {{2, {0, 4}}, {2, {4, 3}}, 0, TN_LOOP_CONST},
    {{3, {2, 3, 4}}, {3, {2, 4, 0}}, 0, TN_LOOP_CONST},
};

typedef struct gemm {
    int64_t m, n, k;
    int flags;
    tn_shape c;               // rank -1: none
    double alpha, beta;
} gemm;

static const gemm gemms[] = {
    {1, 1000, 128, TRANS_B | WEIGHT, {1, {1000}}, 1, 1},
    {1, 24, 96, TRANS_B | WEIGHT, {1, {24}}, 1, 1},
    {5, 7, 33, WEIGHT, {1, {7}}, 1, 1},
    {9, 31, 17, 0, {2, {9, 31}}, 0.5, 2},
    {9, 31, 17, TRANS_A, {2, {9, 1}}, 1, 0.25},
    {33, 9, 20, TRANS_A | TRANS_B, {2, {1, 9}}, 2, 1},
    {6, 5, 8, TRANS_B, {0, {0}}, 1, 1},
    {6, 5, 8, 0, {1, {1}}, 1, 0},
    {12, 13, 14, 0, {-1, {0}}, 1.5, 1},
    {28, 33, 1024, WEIGHT, {2, {28, 1}}, 1, 1},
    {3, 4, 0, 0, {1, {4}}, 1, 1},
    {0, 4, 5, 0, {1, {4}}, 1, 1},
};
enum { PRODUCTS = TN_COUNT(products), LISTED = PRODUCTS + TN_COUNT(gemms) };

static const int64_t sizes[] = {1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 24, 31, 33, 48, 65};
#define WORDS (1u << TN_I32 | 1u << TN_I64 | 1u << TN_U32 | 1u << TN_U64)

static product draw_product(tn_rand *r)
{
    const int64_t m = TN_DRAW(r, sizes), n = TN_DRAW(r, sizes), k = TN_DRAW(r, sizes);
    product p = {.act = TN_LOOP_CONST};
    p.flags = (int)tn_draw_index(r, 64);
    const tn_shape batch = tn_draw_shape(r, 0, 2);
    const tn_shape parts[2] = {tn_draw_part(r, &batch), tn_draw_part(r, &batch)};
    p.a = parts[0];
    p.b = parts[1];
    p.a.dims[p.a.rank++] = p.flags & TRANS_A ? k : m;
    p.a.dims[p.a.rank++] = p.flags & TRANS_A ? m : k;
    p.b.dims[p.b.rank++] = p.flags & TRANS_B ? n : k;
    p.b.dims[p.b.rank++] = p.flags & TRANS_B ? k : n;
    return p;
}

static gemm draw_gemm(tn_rand *r)
{
    gemm g = {.m = TN_DRAW(r, sizes), .n = TN_DRAW(r, sizes), .k = TN_DRAW(r, sizes), .flags = (int)tn_draw_index(r, 32),
              .alpha = 1, .beta = 1};
    const tn_shape y = {2, {g.m, g.n}};
    g.c = tn_draw_part(r, &y);
    if (tn_rand_bool(r)) {
        g.alpha = tn_rand_real(r, -2, 2);
        g.beta = tn_rand_real(r, -2, 2);
    }
    return g;
}

// The shape of a product, by numpy's rules.
static tn_shape result_of(const product *p)
{
    const tn_shape a = tn_shape_of(TN_MAX(p->a.rank - 2, 0), p->a.dims), b = tn_shape_of(TN_MAX(p->b.rank - 2, 0), p->b.dims);
    tn_shape y;
    tn_shape_broadcast(&a, &b, &y);
    if (p->a.rank > 1) {
        y.dims[y.rank++] = p->a.dims[p->a.rank - (p->flags & TRANS_A ? 1 : 2)];
    }
    if (p->b.rank > 1) {
        y.dims[y.rank++] = p->b.dims[p->b.rank - (p->flags & TRANS_B ? 2 : 1)];
    }
    return y;
}

static bool make_product(tn_case *c, tn_arena *arena, const product *p, tn_dtype dtype)
{
    const bool real = tn_dtype_is_float(dtype);
    c->op = &tn_op_matmul;
    tn_matmul_attr *attr = tn_case_attr(arena, c->op);
    if (!attr) {
        return false;
    }
    attr->trans_a = p->flags & TRANS_A;
    attr->trans_b = p->flags & TRANS_B;
    attr->alpha = real && p->flags & HALF ? 0.5 : 1;
    attr->act = (tn_act){p->act, 0, p->act == TN_LOOP_CLIP ? 6 : 0};
    c->attr = attr;
    c->in[0] = tn_draw_in(dtype, p->a);
    c->in[1] = tn_draw_in(dtype, p->b);
    c->in[1].constant = p->flags & WEIGHT;
    c->n_in = 2;
    const tn_shape y = result_of(p);
    if (real && p->flags & BIAS && p->b.rank > 1) {
        c->in[2] = tn_draw_in(dtype, tn_shape_of(1, &y.dims[y.rank - 1]));
        c->in[2].constant = true;
        c->n_in = 3;
    }
    if (real && p->flags & RESIDUAL) {
        c->in[2] = c->n_in == 3 ? c->in[2] : TN_ABSENT;
        c->in[3] = tn_draw_in(dtype, y);
        c->n_in = 4;
    }
    return true;
}

static bool make_gemm(tn_case *c, tn_arena *arena, const gemm *g, tn_dtype dtype)
{
    c->op = &tn_op_gemm;
    tn_gemm_attr *attr = tn_case_attr(arena, c->op);
    if (!attr) {
        return false;
    }
    *attr = (tn_gemm_attr){g->flags & TRANS_A, g->flags & TRANS_B, g->alpha, g->beta};
    c->attr = attr;
    const tn_shape a = {2, {g->flags & TRANS_A ? g->k : g->m, g->flags & TRANS_A ? g->m : g->k}};
    const tn_shape b = {2, {g->flags & TRANS_B ? g->n : g->k, g->flags & TRANS_B ? g->k : g->n}};
    c->in[0] = tn_draw_in(dtype, a);
    c->in[1] = tn_draw_in(dtype, b);
    c->in[1].constant = g->flags & WEIGHT;
    c->n_in = g->c.rank < 0 ? 2 : 3;
    if (g->c.rank >= 0) {
        c->in[2] = tn_draw_in(dtype, g->c);
        c->in[2].constant = g->flags & WEIGHT;
    }
    return true;
}

static bool make(tn_case *c, tn_arena *arena, tn_rand *r, unsigned i)
{
    const bool listed = i < LISTED, is_gemm = listed ? i >= PRODUCTS : tn_draw_index(r, 3) == 0;
    const tn_dtype dtype = listed ? TN_F32 : tn_draw_dtype(r, TN_DRAW_FLOATS | WORDS);
    c->n_out = 1;
    c->rel = 1e-4;
    c->abs = 1e-6;
    if (is_gemm) {
        const gemm g = listed ? gemms[i - PRODUCTS] : draw_gemm(r);
        return make_gemm(c, arena, &g, dtype);
    }
    const product p = listed ? products[i] : draw_product(r);
    return make_product(c, arena, &p, dtype);
}

TN_CASE_EXPORT(matmul){"matmul", LISTED, make};
