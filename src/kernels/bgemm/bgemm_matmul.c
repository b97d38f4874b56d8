// SPDX-License-Identifier: Apache-2.0
// What the rows of matmul and gemm with rounded operands share. A B for all of A makes all matrices of A the rows of one product; else each
// matrix of A has its own. A constant B is packed with the plan, another into the workspace of each run.
// Ownership: parameters live in the plan's arena. Threads: any.
#include "kernels/bgemm/bgemm.h"

#include "base/macros.h"
#include "base/map.h"
#include "base/num.h"
#include "kernels/gemm/scratch.h"
#include "ops/nn/op_matmul.h"

typedef struct product {
    int64_t images, m, n, k;
    bool trans_b;
    bool bias_rows, bias_full, bias_scalar;    // how operand 2 of gemm is broadcast; else along the columns
} product;

typedef struct bmatmul {
    product p;
    tn_bgemm gemm;               // all but the pointers, which run sets
    tn_act act;
    bool copy_bias, b_constant;
    size_t bias_at, b_at;        // bytes in the workspace; the slots come first
} bmatmul;

// False: not a product for these rows, *why says it.
static bool describe(const tn_query *query, product *p, const char **why)
{
    const tn_shape *a = &query->in[0]->shape, *b = &query->in[1]->shape;
    const bool gemm = query->op == &tn_op_gemm;
    const bool trans_a = gemm ? ((const tn_gemm_attr *)query->attr)->trans_a : ((const tn_matmul_attr *)query->attr)->trans_a;
    *p = (product){.trans_b = gemm ? ((const tn_gemm_attr *)query->attr)->trans_b : ((const tn_matmul_attr *)query->attr)->trans_b};
    const bool ranks = a->rank >= 2 && b->rank >= 2 && b->rank <= a->rank && !trans_a;
    const bool one = ranks && tn_shape_span(b, 0, b->rank - 2) == 1;
    bool each = ranks && a->rank == b->rank;
    for (int d = 0; each && d < a->rank - 2; d++) {
        each = a->dims[d] == b->dims[d];
    }
    if (!one && !each) {
        *why = "operand 1 is neither one matrix for all rows of operand 0 nor one for each matrix";
        return false;
    }
    p->images = one ? 1 : tn_shape_span(a, 0, a->rank - 2);
    p->k = a->dims[a->rank - 1];
    p->m = one ? tn_shape_span(a, 0, a->rank - 1) : a->dims[a->rank - 2];
    p->n = b->dims[b->rank - (p->trans_b ? 2 : 1)];
    if (gemm && query->n_in > 2 && query->in[2]) {
        const tn_shape *c = &query->in[2]->shape;
        const int64_t columns = c->rank > 0 ? c->dims[c->rank - 1] : 1, rows = c->rank > 1 ? c->dims[c->rank - 2] : 1;
        p->bias_scalar = rows == 1 && columns == 1;
        p->bias_rows = rows != 1 && columns == 1;
        p->bias_full = rows != 1 && columns != 1;
    }
    return true;
}

// With so few rows columns come from memory as fast through the streams of the float rows, which keep them as bf16 too.
#define ROWS_LEAST 4

bool tn_bmatmul_match(const tn_query *query, const char **why)
{
    product p;
    for (int i = 0; i < query->n_in; i++) {
        if (query->in[i] && query->in[i]->dtype != TN_F32) {
            *why = "an operand is not float32";
            return false;
        }
    }
    if (query->op == &tn_op_matmul && !tn_act_valid(&((const tn_matmul_attr *)query->attr)->act)) {
        *why = "unknown activation";
        return false;
    }
    if (!describe(query, &p, why)) {
        return false;
    }
    if (p.m < ROWS_LEAST || p.n < 1 || p.k < 1 || p.images < 1) {
        *why = "fewer than four rows, or empty";
        return false;
    }
    return true;
}

static double cost(const tn_query *query, const tn_bgemm_facts *facts)
{
    product p;
    const char *why;
    if (!describe(query, &p, &why)) {
        return 1e18;
    }
    const double vectors = (double)p.images * (double)tn_bgemm_lines(p.k) * TN_BGEMM_LINE * (double)((p.n + TN_BGEMM_LANES - 1) / TN_BGEMM_LANES);
    return tn_bgemm_cost(facts, p.images, p.m, p.n, p.k, (tn_bgemm_around){.made = true}) + (query->in[1]->data ? 0.0 : vectors * facts->round_ns);
}

// Columns of B: see tn_bgemm_pack.
static int64_t offset(const void *context, int64_t k)
{
    const product *p = context;
    return p->trans_b ? k : k * p->n;
}

static void pack_groups(void *dst, const tn_query *query, const bmatmul *x, int64_t first, int64_t count)
{
    const product *p = &x->p;
    const tn_bgemm_source b = {query->in[1]->data, offset, p, NULL, p->k, p->n, p->trans_b ? p->k : 1, p->k * p->n, x->gemm.b_image};
    tn_bgemm_pack(dst, &b, first, count);
}

static void pack_group(void *dst, const tn_query *query, const void *params, int64_t part) { pack_groups(dst, query, params, part, 1); }

static void pack(void *dst, const tn_query *query, const void *params)
{
    const product *p = &((const bmatmul *)params)->p;
    pack_groups(dst, query, params, 0, p->images * tn_bgemm_groups(p->n));
}

// ---- another B: one vector of columns of one matrix after another ----

typedef struct columns {
    const tn_bgemm *g;
    const product *p;
    const float *from;
    uint16_t *to;
} columns;

static void round_vectors(void *context, size_t first, size_t count, unsigned slot)
{
    (void)slot;
    const columns *c = context;
    const product *p = c->p;
    const int64_t vectors = (p->n + TN_BGEMM_LANES - 1) / TN_BGEMM_LANES;
    const ptrdiff_t row = p->trans_b ? 1 : (ptrdiff_t)p->n, column = p->trans_b ? (ptrdiff_t)p->k : 1;
    for (size_t i = first; i < first + count; i++) {
        const int64_t image = (int64_t)i / vectors, v = (int64_t)i % vectors, group = v / TN_BGEMM_VECTORS;
        const int64_t width = TN_MIN((int64_t)TN_BGEMM_VECTORS, vectors - group * TN_BGEMM_VECTORS);
        const float *from = c->from + image * p->k * p->n + v * TN_BGEMM_LANES * column;
        uint16_t *to = c->to + image * c->g->b_image + (group * TN_BGEMM_VECTORS * c->g->lines + v % TN_BGEMM_VECTORS) * TN_BGEMM_TILE;
        for (int64_t line = 0; line < c->g->lines; line++) {
            c->g->tiles->round_columns(to + line * width * TN_BGEMM_TILE, from + line * TN_BGEMM_LINE * row, row, column,
                                       TN_MIN((int64_t)TN_BGEMM_LINE, p->k - line * TN_BGEMM_LINE), TN_MIN((int64_t)TN_BGEMM_LANES, p->n - v * TN_BGEMM_LANES));
        }
    }
}

static void round_rows(const tn_bgemm *gemm, uint16_t *to, int64_t image, int64_t m0, int64_t m1)
{
    const product *p = gemm->context;
    for (int64_t m = m0; m < m1; m += TN_BGEMM_ROWS) {
        gemm->tiles->round_rows(to, gemm->a + (image * p->m + m) * p->k, p->k, TN_MIN((int64_t)TN_BGEMM_ROWS, m1 - m), p->k);
        to += gemm->lines * TN_BGEMM_ROWS * TN_BGEMM_LINE;
    }
}

tn_status tn_bmatmul_prepare(tn_prepare *prepare)
{
    const tn_query *query = prepare->query;
    const char *why;
    bmatmul *x;
    size_t bytes;
    TN_TRY(tn_prepare_params(prepare, sizeof *x, (void **)&x));
    product *p = &x->p;
    if (!describe(query, p, &why)) {
        return tn_fail(prepare->diag, TN_INTERNAL, query->name, "%s", why);
    }
    x->act = (tn_act){TN_LOOP_CONST, 0.0, 0.0};
    tn_bgemm *g = &x->gemm;
    *g = (tn_bgemm){.images = p->images, .m = p->m, .n = p->n, .lines = tn_bgemm_lines(p->k), .round = round_rows, .c_image = (ptrdiff_t)(p->m * p->n),
                    .c_row = p->n, .c_vec = TN_BGEMM_LANES, .beta = 1.0f};
    if (query->op == &tn_op_gemm) {
        const tn_gemm_attr *attr = query->attr;
        g->alpha = (float)attr->alpha;
        g->beta = (float)attr->beta;
        x->copy_bias = query->n_in > 2 && query->in[2] && !p->bias_full && (p->bias_scalar || g->beta != 1.0f);
    } else {
        const tn_matmul_attr *attr = query->attr;
        g->alpha = (float)attr->alpha;
        x->act = attr->act;
    }
    const bool fits = tn_bgemm_packed_bytes(p->k, p->n, &bytes);
    g->b_image = p->images > 1 ? (ptrdiff_t)(bytes / sizeof(uint16_t)) : 0;
    if (!fits || !tn_mul_size(bytes, (size_t)p->images, &bytes)) {
        return tn_fail(prepare->diag, TN_LIMIT, query->name, "the packed operand 1 does not fit in memory");
    }
    TN_TRY(tn_bgemm_prepare(g, prepare, g->lines));
    if (x->copy_bias) {
        TN_TRY(tn_scratch_add(prepare, (size_t)TN_MAX(p->m, p->n), sizeof(float), &x->bias_at));
    }
    x->b_constant = query->in[1]->data != NULL;
    if (!x->b_constant) {
        return tn_scratch_add(prepare, bytes, 1, &x->b_at);
    }
    const uint64_t form[] = {(uint64_t)p->k, (uint64_t)p->n, p->trans_b};
    prepare->packs[0] = (tn_pack){.operand = 1, .id = "bgemm_bf16", .variant = tn_hash(form, sizeof form, 0), .bytes = bytes, .pack = pack,
                                  .part = pack_group, .parts = p->images * tn_bgemm_groups(p->n)};
    prepare->n_packs = 1;
    return TN_OK;
}

static void set_bias(const tn_call *call, const bmatmul *x, tn_bgemm *g)
{
    const product *p = &x->p;
    const float *bias = call->n_in > 2 && call->in[2] ? call->in[2]->data : NULL;
    if (p->bias_full) {
        g->residual = bias;
        return;
    }
    if (x->copy_bias) {
        float *copy = (float *)(void *)((char *)call->scratch + x->bias_at);
        for (int64_t i = 0; i < (p->bias_rows ? p->m : p->n); i++) {
            copy[i] = g->beta * bias[p->bias_scalar ? 0 : i];
        }
        bias = copy;
    }
    g->bias = p->bias_rows ? NULL : bias;
    g->row_bias = p->bias_rows ? bias : NULL;
}

tn_status tn_bmatmul_run(const tn_call *call, const tn_btiles *tiles)
{
    const bmatmul *x = call->params;
    tn_bgemm g = x->gemm;
    g.tiles = tiles;
    g.context = &x->p;
    g.act = &x->act;
    g.a = call->in[0]->data;
    if (x->b_constant) {
        g.b = call->packed[0];
    } else {
        columns c = {&g, &x->p, call->in[1]->data, (uint16_t *)(void *)((char *)call->scratch + x->b_at)};
        tn_workers_run(call->workers, round_vectors, &c, (size_t)(x->p.images * ((x->p.n + TN_BGEMM_LANES - 1) / TN_BGEMM_LANES)), 4);
        g.b = c.to;
    }
    g.c = call->out[0]->data;
    g.residual = call->op == &tn_op_matmul && call->n_in > 3 && call->in[3] ? call->in[3]->data : NULL;
    set_bias(call, x, &g);
    tn_bgemm_run(call->workers, &g, call->scratch);
    return TN_OK;
}

double tn_bmatmul_cost_amx(const tn_query *query) { return cost(query, &tn_bgemm_facts_amx); }
double tn_bmatmul_cost_avx512bf16(const tn_query *query) { return cost(query, &tn_bgemm_facts_avx512bf16); }
