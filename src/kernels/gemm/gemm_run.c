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

// A chunk of B, and the tiles of rows that it is used for one after another.
typedef struct unit {
    int64_t t0, t1;              // tiles of rows
    int64_t g0, g1;              // groups of columns
    int64_t k0, k1;
    ptrdiff_t next;              // floats from this B to the one that is used next; 0: none
} unit;

// One tile of rows by the groups of a unit.
static void run_tile(const grid *w, const matrix *x, const unit *u, int64_t tile)
{
    const tn_gemm *g = w->gemm;
    const int lanes = g->tiles->facts->lanes;
    const int64_t m0 = tn_tile_cut(g->m, w->tiles_m, tile), m1 = tn_tile_cut(g->m, w->tiles_m, tile + 1);
    // Each tile asks for its share of the next B.
    const ptrdiff_t step = u->next ? g->q * lanes / (u->t1 - u->t0) : 0;
    const ptrdiff_t next = u->next + step * (tile - u->t0) * (u->k1 - u->k0);
    tn_tile t = {
        .a = x->a + m0 * g->lda + u->k0,
        .a_row = g->lda,
        .n0 = 1, .n1 = 1, .n2 = 1,
        .lanes = u->k1 - u->k0, .last_lanes = u->k1 - u->k0,
        .next_step = step,
        .c_row = g->ldc,
        .c_vec = lanes,
        .row_bias = g->row_bias ? g->row_bias + m0 : NULL,
        .alpha = g->alpha,
        .beta = g->beta,
        .resume = u->k0 > 0,
        .finish = u->k1 == g->k,
    };
    tn_tile_set_act(&t, g->act);
    for (int64_t group = u->g0; group < u->g1; group++) {
        const int64_t n0 = group * g->q * lanes, columns = TN_MIN((int64_t)g->q * lanes, g->n - n0);
        const int vectors = (int)(columns + lanes - 1) / lanes;
        t.b_step = vectors * lanes;
        if (g->ldb == 0) {
            t.b = x->b + n0 * g->k + u->k0 * t.b_step;
        } else if (columns == t.b_step) {
            t.b_step = g->ldb;
            t.b = x->b + u->k0 * g->ldb + n0;
        } else {
            t.b = g->b_last + u->k0 * t.b_step;
        }
        t.next = t.b + next;
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
    const ptrdiff_t step = (ptrdiff_t)g->q * g->tiles->facts->lanes, panel = step * g->k;
    for (size_t i = first; i < first + count; i++) {
        // rows vary fastest: neighbours share the columns
        const int64_t item_m = (int64_t)i % w->items_m, item_n = (int64_t)i / w->items_m % w->items_n;
        const matrix x = matrix_of(g, (int64_t)i / w->items_m / w->items_n);
        unit u = {
            .t0 = item_m * w->tiles_item,
            .t1 = TN_MIN(w->tiles_m, (item_m + 1) * w->tiles_item),
            .g0 = item_n * g->group_chunk,
            .g1 = TN_MIN(w->groups, (item_n + 1) * g->group_chunk),
        };
        do {
            u.k1 = TN_MIN(g->k, u.k0 + g->k_chunk);
            u.next = g->ldb > 0 ? 0 : u.k1 < g->k ? step * (u.k1 - u.k0) : u.g1 < w->groups ? panel * (u.g1 - u.g0) - step * u.k0 : 0;
            for (int64_t t = u.t0; t < u.t1; t++) {
                run_tile(w, &x, &u, t);
            }
            u.k0 = u.k1;
        } while (u.k0 < g->k);
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

// B that fits in half of the second-level cache stays there. Else it comes in chunks of a quarter, so that the next chunk can be
// fetched while one is used: of whole groups, or when one group is too large, of its k steps.
void tn_gemm_block(tn_gemm *gemm, const tn_tile_facts *facts, size_t l2)
{
    const int64_t groups = tn_gemm_groups(facts->lanes, gemm->q, gemm->n);
    const double step = 4.0 * facts->lanes * gemm->q, panel = step * (double)gemm->k;
    gemm->k_chunk = TN_MAX(1, gemm->k);
    gemm->group_chunk = TN_MAX(1, groups);
    if (panel * (double)groups <= (double)l2 / 2) {
        return;
    }
    const int64_t fit = TN_MAX(1, (int64_t)((double)l2 / 4 / panel)), chunks = (groups + fit - 1) / fit;
    gemm->group_chunk = (groups + chunks - 1) / chunks;
    if (panel > (double)l2 / 2) {
        const int64_t most = TN_MAX(64, (int64_t)((double)l2 / 4 / step)), cuts = (gemm->k + most - 1) / most;
        gemm->k_chunk = (gemm->k + cuts - 1) / cuts;
    }
}
