// SPDX-License-Identifier: Apache-2.0
// Runs a matrix product: cuts it into items of some rows times some groups of columns, which the threads take in turn. Inside an
// item the rows of one tile stay in the first-level cache while the groups of B pass by from the second-level one.
// Ownership: borrows everything. Threads: uses the workers it is given.
#include "kernels/gemm/gemm.h"

#include "base/macros.h"

typedef struct grid {
    const tn_gemm *gemm;
    int64_t tiles_m;             // tiles of rows
    int64_t tiles_item;          // of those in an item
    int64_t items_m, items_n;    // items along rows and along groups, per matrix
    int64_t groups;
} grid;

typedef struct matrix {
    const float *a, *b;
    float *c;
    const float *residual;
} matrix;

static matrix matrix_of(const tn_gemm *g, int64_t index)
{
    matrix x = {g->a, g->b, g->c + index * g->m * g->n, g->residual ? g->residual + index * g->m * g->n : NULL};
    for (int d = g->batch_rank - 1; d >= 0; d--) {
        const int64_t i = index % g->batch[d];
        index /= g->batch[d];
        x.a += i * g->a_batch[d];
        x.b += i * g->b_batch[d];
    }
    return x;
}

// One tile of rows by groups g0 .. g1 - 1, k steps k0 .. k1 - 1.
static void run_tiles(const tn_gemm *g, const matrix *x, int64_t m0, int64_t m1, int64_t g0, int64_t g1, int64_t k0, int64_t k1)
{
    const int lanes = g->tiles->facts->lanes;
    tn_tile t = {
        .a = x->a + m0 * g->lda + k0,
        .a_row = g->lda,
        .n0 = 1, .n1 = 1, .n2 = 1,
        .lanes = k1 - k0, .last_lanes = k1 - k0,
        .c_row = g->ldc,
        .c_vec = lanes,
        .row_bias = g->row_bias ? g->row_bias + m0 : NULL,
        .alpha = g->alpha,
        .beta = g->beta,
        .resume = k0 > 0,
        .finish = k1 == g->k,
    };
    tn_tile_set_act(&t, g->act);
    for (int64_t group = g0; group < g1; group++) {
        const int64_t n0 = group * g->q * lanes, columns = TN_MIN((int64_t)g->q * lanes, g->n - n0);
        const int vectors = (int)(columns + lanes - 1) / lanes;
        t.b_step = vectors * lanes;
        if (g->ldb == 0) {
            t.b = x->b + n0 * g->k + k0 * t.b_step;
        } else if (columns == t.b_step) {
            t.b_step = g->ldb;
            t.b = x->b + k0 * g->ldb + n0;
        } else {
            t.b = g->b_last + k0 * t.b_step;
        }
        t.c = x->c + m0 * g->ldc + n0;
        t.tail = t.bias_tail = (int)columns - (vectors - 1) * lanes;
        t.bias = g->bias ? g->bias + n0 : NULL;
        t.residual = x->residual ? x->residual + m0 * g->ldc + n0 : NULL;
        g->tiles->tile[vectors - 1][m1 - m0 - 1](&t);
    }
}

static void run_items(void *context, size_t first, size_t count, unsigned slot)
{
    (void)slot;
    const grid *w = context;
    const tn_gemm *g = w->gemm;
    for (size_t i = first; i < first + count; i++) {
        // rows vary fastest: neighbours share the columns
        const int64_t item_m = (int64_t)i % w->items_m, item_n = (int64_t)i / w->items_m % w->items_n;
        const matrix x = matrix_of(g, (int64_t)i / w->items_m / w->items_n);
        const int64_t g0 = item_n * g->group_chunk, g1 = TN_MIN(w->groups, g0 + g->group_chunk);
        const int64_t t0 = item_m * w->tiles_item, t1 = TN_MIN(w->tiles_m, t0 + w->tiles_item);
        for (int64_t k0 = 0; k0 < g->k || k0 == 0; k0 += g->k_chunk) {
            const int64_t k1 = TN_MIN(g->k, k0 + g->k_chunk);
            for (int64_t t = t0; t < t1; t++) {
                const int64_t m0 = tn_tile_cut(g->m, w->tiles_m, t), m1 = tn_tile_cut(g->m, w->tiles_m, t + 1);
                run_tiles(g, &x, m0, m1, g0, g1, k0, k1);
            }
        }
    }
}

void tn_gemm_run(tn_workers *workers, const tn_gemm *gemm)
{
    const tn_tile_facts *facts = gemm->tiles->facts;
    int64_t count = 1;
    for (int d = 0; d < gemm->batch_rank; d++) {
        count *= gemm->batch[d];
    }
    if (count == 0 || gemm->m == 0 || gemm->n == 0) {
        return;
    }
    grid w = {.gemm = gemm, .groups = tn_gemm_groups(facts->lanes, gemm->q, gemm->n)};
    const int widest = (int)TN_MIN((int64_t)gemm->q, (gemm->n + facts->lanes - 1) / facts->lanes);
    w.tiles_m = tn_tile_cuts(gemm->m, facts->max_p[widest]);
    w.items_n = (w.groups + gemm->group_chunk - 1) / gemm->group_chunk;
    const double tile_ns = 1.0 + (double)gemm->k * tn_tile_cost(facts, tn_tile_cuts(gemm->m, w.tiles_m),
                                                               TN_MIN(gemm->group_chunk, w.groups) * widest, widest);
    w.tiles_item = tn_tile_item(tile_ns, w.tiles_m, (double)w.items_n * (double)count, tn_workers_count(workers));
    w.items_m = (w.tiles_m + w.tiles_item - 1) / w.tiles_item;
    tn_workers_run(workers, run_items, &w, (size_t)(count * w.items_m * w.items_n), 1);
}

void tn_gemm_block(tn_gemm *gemm, const tn_tile_facts *facts, size_t l2)
{
    // Half of the cache for B; the rest is for rows of A and C, and for what others do.
    const int64_t group_step = (int64_t)facts->lanes * gemm->q * (int64_t)sizeof(float);
    const int64_t budget = TN_MAX((int64_t)(l2 / 2), 64 * group_step);
    gemm->k_chunk = TN_MAX(1, TN_MIN(gemm->k, budget / group_step));
    gemm->group_chunk = TN_MAX(1, budget / (gemm->k_chunk * group_step));
}
