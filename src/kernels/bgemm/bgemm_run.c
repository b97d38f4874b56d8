// SPDX-License-Identifier: Apache-2.0
// Runs a product of bf16 over the tiles. An item is some blocks of rows by some groups of columns. Its rows are rounded into the slot's
// workspace, where they stay in the second-level cache while the groups pass by; a slot whose rows are those of its last item rounds nothing.
// How work is cut has no say in the order of a sum. Ownership: borrows everything. Threads: uses the workers it is given.
#include "kernels/bgemm/bgemm.h"

#include "base/macros.h"
#include "base/num.h"
#include "kernels/gemm/scratch.h"

// Measured on a Xeon: a product of two tiles takes 16 cycles; where rows or columns come from the second-level cache loads take longer.
// AVX512-BF16 takes as long as float32 there, on AMD half of that.
const tn_bgemm_facts tn_bgemm_facts_amx = {18.0, 12.0, 0.6, 0.5};
const tn_bgemm_facts tn_bgemm_facts_avx512bf16 = {240.0, 130.0, 0.6, 0.4};

bool tn_bgemm_packed_bytes(int64_t k, int64_t n, size_t *bytes)
{
    size_t each;
    return tn_mul_size((size_t)tn_bgemm_lines(k), TN_BGEMM_TILE * sizeof(uint16_t), &each) &&
           tn_mul_size(each, (size_t)((n + TN_BGEMM_LANES - 1) / TN_BGEMM_LANES), bytes);
}

static void pack_group(uint16_t *out, const tn_bgemm_source *b, const char *src, int64_t group)
{
    const int64_t n0 = group * TN_BGEMM_LANES * TN_BGEMM_VECTORS, lines = tn_bgemm_lines(b->k);
    const int64_t vectors = TN_MIN((int64_t)TN_BGEMM_VECTORS, (b->n - n0 + TN_BGEMM_LANES - 1) / TN_BGEMM_LANES);
    out += n0 / TN_BGEMM_LANES * lines * TN_BGEMM_TILE;
    for (int64_t line = 0; line < lines; line++) {
        int64_t at[TN_BGEMM_LINE];
        for (int64_t i = 0; i < TN_BGEMM_LINE; i++) {
            at[i] = line * TN_BGEMM_LINE + i < b->k ? b->offset(b->context, line * TN_BGEMM_LINE + i) : -1;
        }
        for (int64_t v = 0; v < vectors; v++, out += TN_BGEMM_TILE) {
            for (int64_t lane = 0; lane < TN_BGEMM_LANES; lane++) {
                const int64_t j = n0 + v * TN_BGEMM_LANES + lane, column = j >= b->n ? -1 : b->column_of ? b->column_of(b->context, j) : j * b->column;
                for (int64_t i = 0; i < TN_BGEMM_LINE; i++) {
                    const float value = column >= 0 && at[i] >= 0 ? tn_load_f32(src, (size_t)(at[i] + column)) : 0.0f;
                    out[(i / 2 * TN_BGEMM_LANES + lane) * 2 + i % 2] = tn_bf16_from_f32(value);
                }
            }
        }
    }
}

void tn_bgemm_pack(uint16_t *packed, const tn_bgemm_source *b, int64_t first, int64_t count)
{
    const int64_t groups = tn_bgemm_groups(b->n);
    for (int64_t i = first; i < first + count; i++) {
        const int64_t image = i / groups;
        pack_group(packed + image * b->packed_image, b, (const char *)b->src + (size_t)(image * b->image) * sizeof(float), i % groups);
    }
}

// ---- work and workspace ----

// A slot begins with the item of rows that it holds.
#define SLOT_HEAD 64
#define ROWS_MOST 512
#define ROWS_MOST_IN_PLACE 8192

tn_status tn_bgemm_prepare(tn_bgemm *gemm, tn_prepare *prepare, int64_t held)
{
    const int64_t rows_most = gemm->steps ? ROWS_MOST_IN_PLACE : ROWS_MOST, block = TN_BGEMM_ROWS * held * TN_BGEMM_LINE * (int64_t)sizeof(uint16_t);
    // Five eighths of the second-level cache: with fewer rows the columns come past more often.
    const int64_t all = (gemm->m + TN_BGEMM_ROWS - 1) / TN_BGEMM_ROWS, fit = (int64_t)(prepare->query->cpu->l2 / 8 * 5) / TN_MAX(1, block);
    const int64_t most = TN_MAX(1, TN_MIN(fit, rows_most / TN_BGEMM_ROWS)), blocks = tn_tile_cuts(all, tn_tile_cuts(all, most));
    size_t at;
    gemm->rows_item = blocks * TN_BGEMM_ROWS;
    gemm->slot_count = TN_MAX(1u, prepare->query->threads);
    if (!tn_mul_size((size_t)block, gemm->steps ? 0 : (size_t)blocks, &gemm->slot_bytes) ||
        !tn_add_size(gemm->slot_bytes, SLOT_HEAD, &gemm->slot_bytes) || !tn_align_size(gemm->slot_bytes, TN_ALIGNMENT, &gemm->slot_bytes)) {
        return tn_fail(prepare->diag, TN_LIMIT, prepare->query->name, "the rounded rows do not fit in memory");
    }
    return tn_scratch_add(prepare, gemm->slot_bytes, gemm->slot_count, &at);
}

typedef struct job {
    const tn_bgemm *g;
    int64_t rows_item, groups_item;
    int64_t items_m, items_n, groups;
} job;

// Of the cache, in a line of k of a group.
#define CACHE_LINE 64
#define GROUP_LINES (TN_BGEMM_VECTORS * TN_BGEMM_TILE * (int64_t)sizeof(uint16_t) / CACHE_LINE)

static void run_item(const job *j, int64_t item, char *slot)
{
    const tn_bgemm *g = j->g;
    const int64_t item_n = item % j->items_n, rows = item / j->items_n, item_m = rows % j->items_m, image = rows / j->items_m;
    const int64_t m0 = item_m * j->rows_item, m1 = TN_MIN(g->m, m0 + j->rows_item), block = g->lines * TN_BGEMM_ROWS * TN_BGEMM_LINE;
    const int64_t g1 = TN_MIN(j->groups, (item_n + 1) * j->groups_item);
    int64_t *held = (int64_t *)(void *)slot;
    uint16_t *a = (uint16_t *)(void *)(slot + SLOT_HEAD);
    if (!g->steps && *held != rows) {
        g->round(g, a, image, m0, m1);
        *held = rows;
    }
    tn_btile t = {.lines = g->lines, .steps = g->steps, .exact = g->exact, .keep = g->keep, .period = g->period,
                  .end = {.c_row = g->c_row, .c_vec = g->c_vec, .alpha = g->alpha, .beta = g->beta}};
    tn_tile_set_act(&t.end, g->act);
    const int64_t blocks = (m1 - m0 + TN_BGEMM_ROWS - 1) / TN_BGEMM_ROWS;
    for (int64_t group = item_n * j->groups_item; group < g1; group++) {
        const int64_t v0 = group * TN_BGEMM_VECTORS, n0 = v0 * TN_BGEMM_LANES, columns = TN_MIN(g->n - n0, TN_BGEMM_LANES * TN_BGEMM_VECTORS);
        t.vectors = columns > TN_BGEMM_LANES ? TN_BGEMM_VECTORS : 1;
        const uint16_t *b = g->b + image * g->b_image + v0 * g->lines * TN_BGEMM_TILE;
        t.b = b;
        t.end.bias_tail = (int)columns - (t.vectors - 1) * TN_BGEMM_LANES;
        t.end.tail = g->blocked ? TN_BGEMM_LANES : t.end.bias_tail;
        t.end.bias = g->bias ? g->bias + n0 : NULL;
        // Each block asks for its share of the next group, which comes from the last cache or from memory.
        t.ask = group + 1 < g1 ? (int)((GROUP_LINES + blocks - 1) / blocks) : 0;
        t.next = b + t.vectors * g->lines * TN_BGEMM_TILE;
        for (int64_t m = m0; m < m1; m += TN_BGEMM_ROWS) {
            // The row of C of the block's first one that it has.
            t.column = g->steps ? m % g->period : 0;
            const int64_t row = g->steps ? m / g->period * g->keep + TN_MIN(t.column, g->keep) : m;
            const ptrdiff_t at = image * g->c_image + row * g->c_row + v0 * g->c_vec;
            t.a = g->steps ? g->rounded + image * g->rounded_image + m * TN_BGEMM_LINE : a + (m - m0) / TN_BGEMM_ROWS * block;
            t.rows = (int)TN_MIN((int64_t)TN_BGEMM_ROWS, m1 - m);
            if (g->spans) {
                const tn_bgemm_span *span = &g->spans[m / TN_BGEMM_ROWS];
                t.lines = span->count;
                t.b = b + span->first * t.vectors * TN_BGEMM_TILE;
                t.steps = g->steps ? g->steps + span->first : NULL;
                t.a += g->steps ? 0 : span->first * TN_BGEMM_ROWS * TN_BGEMM_LINE;
            }
            t.end.c = g->c ? g->c + at : NULL;
            t.end.residual = g->residual ? g->residual + at : NULL;
            t.c_lines = g->c_lines ? g->c_lines + at : NULL;
            t.residual_lines = g->residual_lines ? g->residual_lines + at : NULL;
            t.end.row_bias = g->row_bias ? g->row_bias + m : NULL;
            g->tiles->tile(&t);
            t.next += t.ask * g->lines * (CACHE_LINE / (ptrdiff_t)sizeof *t.next);
        }
    }
}

static void run_items(void *context, size_t first, size_t count, unsigned slot)
{
    const job *j = context;
    const tn_bgemm *g = j->g;
    if (g->tiles->begin) {
        g->tiles->begin();
    }
    for (size_t i = first; i < first + count; i++) {
        run_item(j, (int64_t)i, (char *)g->slots + slot * g->slot_bytes);
    }
    if (g->tiles->end) {
        g->tiles->end();
    }
}

// Items for several threads: fewer rows or fewer groups, while there are not some for each of them and they are of bearable length. Fewer rows
// read B more often, fewer groups round rows more often.
#define ITEM_NS_LEAST 2000.0
#define ITEMS_PER_THREAD 4
#define BYTES_PER_NS 30.0

static void share_out(job *j, unsigned threads)
{
    const tn_bgemm *g = j->g;
    const tn_bgemm_facts *f = g->tiles->facts;
    const double line_rows_ns = g->steps ? 0.0 : 2.0 * TN_BGEMM_ROWS * f->round_ns, lines = (double)g->lines;
    const double group_ns = lines * f->block_ns + (double)(TN_BGEMM_ROWS * TN_BGEMM_VECTORS) * f->end_ns;
    const double again_b = (double)j->groups * lines * (double)(TN_BGEMM_VECTORS * TN_BGEMM_TILE * sizeof(uint16_t)) / BYTES_PER_NS;
    for (;;) {
        const int64_t blocks = j->rows_item / TN_BGEMM_ROWS;
        j->items_m = (g->m + j->rows_item - 1) / j->rows_item;
        j->items_n = (j->groups + j->groups_item - 1) / j->groups_item;
        const double rows_ns = (double)blocks * lines * line_rows_ns, ns = (double)(blocks * j->groups_item) * group_ns + rows_ns;
        const bool enough = g->images * j->items_m * j->items_n >= (int64_t)ITEMS_PER_THREAD * threads;
        if (threads <= 1 || enough || ns < 2.0 * ITEM_NS_LEAST || (blocks == 1 && j->groups_item == 1)) {
            return;
        }
        if (blocks > 1 && (j->groups_item == 1 || rows_ns > again_b)) {
            j->rows_item = (blocks + 1) / 2 * TN_BGEMM_ROWS;
        } else {
            j->groups_item = (j->groups_item + 1) / 2;
        }
    }
}

void tn_bgemm_run(tn_workers *workers, const tn_bgemm *gemm, void *scratch)
{
    tn_bgemm g = *gemm;
    if (g.images == 0 || g.m == 0 || g.n == 0) {
        return;
    }
    // Slots are as many as the plan knew of.
    workers = tn_workers_count(workers) <= g.slot_count ? workers : NULL;
    g.slots = scratch;
    for (unsigned i = 0; i < g.slot_count; i++) {
        *(int64_t *)(void *)((char *)scratch + i * g.slot_bytes) = -1;
    }
    job j = {.g = &g, .rows_item = g.rows_item, .groups = tn_bgemm_groups(g.n)};
    j.groups_item = j.groups;
    share_out(&j, tn_workers_count(workers));
    // Items of one thread go together: tiles begin and end once.
    const int64_t items = g.images * j.items_m * j.items_n;
    tn_workers_run(workers, run_items, &j, (size_t)items, tn_workers_count(workers) > 1 ? 1 : (size_t)items);
}

double tn_bgemm_cost(const tn_bgemm_facts *facts, int64_t images, int64_t m, int64_t n, int64_t k, tn_bgemm_around around)
{
    const double whole = (double)(m / TN_BGEMM_ROWS), vectors = (double)((n + TN_BGEMM_LANES - 1) / TN_BGEMM_LANES);
    const int64_t rest = m % TN_BGEMM_ROWS;
    const double lines = (double)tn_bgemm_lines(k), last = rest == 0 ? 0.0 : rest <= TN_BGEMM_ROWS / 2 ? facts->half_ns : facts->block_ns;
    const double compute = 0.5 * vectors * lines * (whole * facts->block_ns + last);
    // Bytes of B at 40 a nanosecond, as the rows of float32 count them.
    const double stream = vectors * lines * (double)(TN_BGEMM_TILE * sizeof(uint16_t)) / 40.0;
    const double rows = (around.made ? 2.0 * lines * facts->round_ns : 0.0) + vectors * (around.lines ? 0.6 : 1.0) * facts->end_ns;
    return 300.0 + (double)images * (TN_MAX(compute, stream) + (double)m * rows);
}
