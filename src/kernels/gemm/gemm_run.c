// SPDX-License-Identifier: Apache-2.0
// Runs a matrix product: cuts it into items of some rows times some groups of columns, which the threads take in turn. What stays in
// the first-level cache inside an item is, where many rows meet a short sum, a group's columns, while the rows pass by; else a tile of
// rows, while the columns pass by. On tiers with strips (tn_strip_fn) rows pass by for long sums too, since tiles ask for the next one's.
// With up to three rows each column is read once, and all that counts is to have enough of them on the way (tn_stream_fn).
// How work is cut has no say in the order of a sum. Ownership: borrows everything. Threads: uses the workers it is given.
#include "kernels/gemm/gemm.h"

#include "base/macros.h"

#include <string.h>

typedef struct grid {
    const tn_gemm *gemm;
    bool stream;                 // few rows: by tn_stream_fn
    bool strips;                 // many rows: by tn_strip_fn
    int widest;                  // vectors of the first group
    int64_t rows_item;           // rows and groups of an item
    int64_t groups_item;
    int64_t items_m, items_n;    // items along rows and along groups, per matrix
    int64_t groups;
} grid;

typedef struct matrix {
    const float *a, *b;
    const uint16_t *b_bf16;
    float *c;
    const float *residual;
} matrix;

static matrix matrix_of(const tn_gemm *g, int64_t index)
{
    matrix x = {g->a, g->b, g->b_bf16, g->c + index * g->m * g->n, g->residual ? g->residual + index * g->m * g->n : NULL};
    for (int d = g->batch_rank - 1; d >= 0; d--) {
        const int64_t i = index % g->batch[d];
        index /= g->batch[d];
        x.a += i * g->a_batch[d];
        x.b = x.b ? x.b + i * g->b_batch[d] : NULL;
        x.b_bf16 = x.b_bf16 ? x.b_bf16 + i * g->b_batch[d] : NULL;
    }
    return x;
}

// An item: rows m0 .. m1 - 1 of groups g0 .. g1 - 1.
typedef struct unit {
    int64_t m0, m1, g0, g1;
} unit;

// k steps in segments of `block`: whole blocks are unrolled (tile.inc).
static void set_steps(tn_tile *t, int64_t k, int64_t block)
{
    t->n0 = k > 0 ? (k + block - 1) / block : 0;
    t->lanes = block;
    t->last_lanes = k - (t->n0 - 1) * block;
    t->a0 = block;
    t->b0 = block * t->b_step;
}

// A tile at row m for k steps k0 .. k1 - 1, without what a group decides.
static tn_tile row_tile(const grid *w, int64_t m, int64_t k0, int64_t k1)
{
    const tn_gemm *g = w->gemm;
    tn_tile t = {
        .a_row = g->lda,
        .n1 = 1, .n2 = 1,
        .c_row = g->ldc,
        .c_vec = g->tiles->facts->lanes,
        .row_bias = g->row_bias ? g->row_bias + m : NULL,
        .alpha = g->alpha,
        .beta = g->beta,
        .resume = k0 > 0 || g->resume,
        .finish = k1 == g->k,
    };
    tn_tile_set_act(&t, g->act);
    return t;
}

#define ASK_MOST 4   // floats

// Puts a tile into a group of columns. Returns the group's vectors.
static int set_group(tn_tile *t, const grid *w, const matrix *x, int64_t m, int64_t group, int64_t k0, int64_t k1)
{
    const tn_gemm *g = w->gemm;
    const int lanes = g->tiles->facts->lanes;
    const int64_t n0 = group * g->q * lanes, columns = TN_MIN((int64_t)g->q * lanes, g->n - n0);
    const int vectors = (int)columns == g->q * lanes ? g->q : ((int)columns + lanes - 1) / lanes;
    t->a = x->a + m * g->lda + k0;
    t->b_step = vectors * lanes;
    if (x->b_bf16) {
        t->b_bf16 = x->b_bf16 + n0 * g->k + k0 * t->b_step;
    } else if (g->ldb == 0) {
        t->b = x->b + n0 * g->k + k0 * t->b_step;
    } else if (columns == t->b_step) {
        t->b_step = g->ldb;
        t->b = x->b + k0 * g->ldb + n0;
    } else {
        t->b = g->b_last + k0 * t->b_step;
    }
    t->c = x->c + m * g->ldc + n0;
    // Whole blocks ask for a line in four steps only: too few where a tile has all the asking to do.
    const bool blocks = t->b_step == vectors * lanes && t->next_step <= ASK_MOST;
    set_steps(t, k1 - k0, blocks ? TN_TILE_BLOCK(lanes) : TN_MAX(1, k1 - k0));
    t->tail = t->bias_tail = (int)columns - (vectors - 1) * lanes;
    t->bias = g->bias ? g->bias + n0 : NULL;
    t->residual = x->residual ? x->residual + m * g->ldc + n0 : NULL;
    return vectors;
}

// Floats between a stream's step and what it asks for: a kilobyte of packed columns, or as many rows of B as it lies.
#define AHEAD_BYTES 1024
#define AHEAD_ROWS 8

static void run_streams(const grid *w, const matrix *x, const unit *u, float *panel)
{
    const tn_gemm *g = w->gemm;
    const int lanes = g->tiles->facts->lanes;
    const int64_t p = u->m1 - u->m0;
    // The last group may hold fewer columns.
    const int64_t whole = TN_MIN(u->g1, g->n / (2 * lanes)), most = TN_STREAM_MAX_S / p;
    const int64_t cuts = tn_tile_cuts(TN_MAX(0, whole - u->g0), most);
    const ptrdiff_t group = g->ldb > 0 ? 2 * lanes : 2 * lanes * g->k;
    const ptrdiff_t ahead = g->ldb > 0 ? AHEAD_ROWS * g->ldb : AHEAD_BYTES / (ptrdiff_t)(x->b_bf16 ? sizeof(uint16_t) : sizeof(float));
    tn_tile t = row_tile(w, u->m0, 0, g->k);
    for (int64_t cut = 0; cut < cuts; cut++) {
        const int64_t first = u->g0 + tn_tile_cut(whole - u->g0, cuts, cut), s = u->g0 + tn_tile_cut(whole - u->g0, cuts, cut + 1) - first;
        set_group(&t, w, x, u->m0, first, 0, g->k);
        t.lanes = g->k;
        (x->b_bf16 ? g->tiles->stream_bf16 : g->tiles->stream)[p - 1][s - 1](&t, group, ahead);
    }
    for (int64_t last = TN_MAX(whole, u->g0); last < u->g1; last++) {
        const int vectors = set_group(&t, w, x, u->m0, last, 0, g->k);
        if (x->b_bf16) {
            g->tiles->widen(panel, t.b_bf16, g->k * vectors);
            t.b = panel;
        }
        g->tiles->tile[vectors - 1][p - 1](&t);
    }
}

// One group by the rows of an item. `next`: the columns that come after it, of which each tile of rows asks for its share; `panel`: where
// columns that are bf16 become floats.
static void run_group(const grid *w, const matrix *x, const unit *u, int64_t group, int64_t k0, int64_t k1, const float *next, float *panel)
{
    const tn_gemm *g = w->gemm;
    tn_tile t = row_tile(w, u->m0, k0, k1);
    const int vectors = set_group(&t, w, x, u->m0, group, k0, k1);
    if (x->b_bf16) {
        g->tiles->widen(panel, t.b_bf16, (k1 - k0) * vectors);
        t.b = panel;
    }
    const int64_t rows = u->m1 - u->m0, cuts = tn_tile_cuts(rows, g->tiles->facts->max_p[vectors]), each = rows / cuts, more = rows % cuts;
    t.next = next;
    t.next_step = next ? (t.b_step + cuts - 1) / cuts : 0;
    // `more` tiles of one row more, then the others.
    for (int part = 0; part < 2; part++) {
        const int64_t p = part == 0 ? each + 1 : each;
        t.repeat = part == 0 ? more : cuts - more;
        if (t.repeat == 0) {
            continue;
        }
        g->tiles->tile[vectors - 1][p - 1](&t);
        t.a += t.repeat * p * t.a_row;
        t.c += t.repeat * p * t.c_row;
        t.residual = t.residual ? t.residual + t.repeat * p * t.c_row : NULL;
        t.row_bias = t.row_bias ? t.row_bias + t.repeat * p : NULL;
        t.next = t.next ? t.next + t.repeat * g->k * t.next_step : NULL;
    }
}

static void run_many(const grid *w, const matrix *x, const unit *u)
{
    const tn_gemm *g = w->gemm;
    const ptrdiff_t step = (ptrdiff_t)g->q * g->tiles->facts->lanes;
    for (int64_t group = u->g0; group < u->g1; group++) {
        run_group(w, x, u, group, 0, g->k, group + 1 < u->g1 ? x->b + (group + 1) * step * g->k : NULL, NULL);
    }
}

static const float no_bias[32];   // two vectors of any tier

// Bytes of the next group that all tiles of rows together ask for in a block of steps: a little more than there are.
#define ASK_BYTES 1024

// A whole group by the rows of an item, k steps k0 .. k1 - 1 of A, which begin at a, rows a_row apart.
static void run_strip(const grid *w, const matrix *x, const unit *u, int64_t group, int64_t k0, int64_t k1, const float *a, ptrdiff_t a_row,
                      const float *ask)
{
    const tn_gemm *g = w->gemm;
    const int width = 2 * g->tiles->facts->lanes;
    const int64_t n0 = group * width, rows = u->m1 - u->m0, cuts = tn_tile_cuts(rows, g->tiles->facts->max_p[2]), each = rows / cuts;
    const bool finish = k1 == g->k;
    tn_tile ends;
    tn_tile_set_act(&ends, g->act);
    tn_strip t = {
        .a = a,
        .b = x->b + n0 * g->k + k0 * width,
        .a_row = a_row,
        .a_block = TN_TILE_BLOCK(g->tiles->facts->lanes),
        .c_row = g->ldc,
        .c_vec = g->tiles->facts->lanes,
        .steps = k1 - k0,
        .c = x->c + u->m0 * g->ldc + n0,
        .bias = g->bias ? g->bias + n0 : no_bias,
        .residual = finish && x->residual ? x->residual + u->m0 * g->ldc + n0 : NULL,
        .beta = g->beta,
        .resume = k0 > 0 || g->resume,
        .alone = cuts == 1,
        .clamp = finish && ends.clamp, .low = ends.low, .high = ends.high,
        .act = finish ? ends.act : NULL,
        .ask = ask,
        .ask_step = (size_t)TN_MIN(64, TN_CEIL_DIV(ASK_BYTES, cuts)),
    };
    t.ask_tile = (size_t)(t.steps / TN_TILE_BLOCK(g->tiles->facts->lanes)) * t.ask_step;
    // Some tiles of one row more, then the others.
    for (int part = 0; part < 2; part++) {
        const int64_t p = part == 0 ? each + 1 : each;
        t.repeat = part == 0 ? rows % cuts : cuts - rows % cuts;
        if (t.repeat == 0) {
            continue;
        }
        g->tiles->strip[p - 1](&t);
        t.ask += (size_t)t.repeat * t.ask_tile / sizeof *t.ask;
        t.a += t.repeat * p * t.a_row;
        t.c += t.repeat * p * t.c_row;
        t.residual = t.residual ? t.residual + t.repeat * p * t.c_row : NULL;
    }
}

static bool has_strips(const tn_tiles *tiles, int64_t rows)
{
    const int64_t cuts = tn_tile_cuts(rows, tiles->facts->max_p[2]), each = rows / cuts;
    return tiles->strip[each - 1] && (rows % cuts == 0 || tiles->strip[each]);
}

// A tile's rows and the next one's, which it asks for, are more than a set of the first-level cache holds: where they would fall into one, the
// steps of an item are copied with a gap between the rows. They then also use all of the second-level cache.
static void run_strips(const grid *w, const matrix *x, const unit *u, float *room)
{
    const tn_gemm *g = w->gemm;
    const int width = 2 * g->tiles->facts->lanes;
    const bool copy = room && u->g1 - u->g0 > 1, there = has_strips(g->tiles, u->m1 - u->m0);
    const ptrdiff_t a_row = copy ? g->strip_steps + TN_GEMM_GAP : g->lda;
    for (int64_t k0 = 0; k0 < g->k; k0 += g->strip_steps) {
        const int64_t k1 = TN_MIN(g->k, k0 + g->strip_steps);
        const float *a = x->a + u->m0 * g->lda + k0;
        if (copy) {
            for (int64_t i = 0; i < u->m1 - u->m0; i++) {
                memcpy(room + i * a_row, a + i * g->lda, (size_t)(k1 - k0) * sizeof(float));
            }
            a = room;
        }
        for (int64_t group = u->g0; group < u->g1; group++) {
            if (there && (group + 1) * width <= g->n) {
                run_strip(w, x, u, group, k0, k1, a, a_row, x->b + (group + 1 < u->g1 ? (group + 1) * width * g->k + k0 * width : 0));
            } else {
                run_group(w, x, u, group, k0, k1, NULL, NULL);
            }
        }
    }
}

// Columns of bf16 become floats a panel at a time, for all rows of the item.
static void run_bf16(const grid *w, const matrix *x, const unit *u, float *panel)
{
    const tn_gemm *g = w->gemm;
    for (int64_t group = u->g0; group < u->g1; group++) {
        for (int64_t k0 = 0; k0 < TN_MAX(1, g->k); k0 += g->k_chunk) {
            run_group(w, x, u, group, k0, TN_MIN(g->k, k0 + g->k_chunk), NULL, panel);
        }
    }
}

// A tile of rows stays in the first-level cache while groups pass by from the second-level one, where a chunk of groups stays until the
// last tile of rows has used it; meanwhile the tiles ask for the next chunk.
static void run_few(const grid *w, const matrix *x, const unit *u)
{
    const tn_gemm *g = w->gemm;
    const ptrdiff_t step = (ptrdiff_t)g->q * g->tiles->facts->lanes;
    const int64_t tiles = tn_tile_cuts(u->m1 - u->m0, g->tiles->facts->max_p[w->widest]), rows = u->m1 - u->m0;
    for (int64_t g0 = u->g0; g0 < u->g1; g0 += g->group_chunk) {
        for (int64_t k0 = 0; k0 < TN_MAX(1, g->k); k0 += g->k_chunk) {
            const int64_t g1 = TN_MIN(u->g1, g0 + g->group_chunk), k1 = TN_MIN(g->k, k0 + g->k_chunk);
            // Floats to the chunk that comes next. B as it lies is not asked for.
            const ptrdiff_t far = g->ldb > 0 ? 0 : k1 < g->k ? step * (k1 - k0) : g1 < u->g1 ? step * g->k * (g1 - g0) - step * k0 : 0;
            for (int64_t i = 0; i < tiles; i++) {
                const int64_t m = u->m0 + tn_tile_cut(rows, tiles, i), p = u->m0 + tn_tile_cut(rows, tiles, i + 1) - m;
                const ptrdiff_t share = TN_MAX(1, step / tiles), next = far + share * i * (k1 - k0);
                tn_tile t = row_tile(w, m, k0, k1);
                t.next_step = far && share * i < step ? share : 0;
                for (int64_t group = g0; group < g1; group++) {
                    const int vectors = set_group(&t, w, x, m, group, k0, k1);
                    t.next = t.b + next;
                    g->tiles->tile[vectors - 1][p - 1](&t);
                }
            }
        }
    }
}

static void run_items(void *context, size_t first, size_t count, unsigned slot)
{
    const grid *w = context;
    const tn_gemm *g = w->gemm;
    float *panel = g->b_bf16 ? g->panels + slot * g->panel_floats : NULL;
    float *room = g->rooms ? g->rooms + slot * g->room_floats : NULL;
    for (size_t i = first; i < first + count; i++) {
        // groups vary fastest: neighbours share the rows
        const int64_t item_n = (int64_t)i % w->items_n, item_m = (int64_t)i / w->items_n % w->items_m;
        const matrix x = matrix_of(g, (int64_t)i / w->items_n / w->items_m);
        const unit u = {
            .m0 = item_m * w->rows_item,
            .m1 = TN_MIN(g->m, (item_m + 1) * w->rows_item),
            .g0 = item_n * w->groups_item,
            .g1 = TN_MIN(w->groups, (item_n + 1) * w->groups_item),
        };
        if (w->stream) {
            run_streams(w, &x, &u, panel);
        } else if (g->b_bf16) {
            run_bf16(w, &x, &u, panel);
        } else if (w->strips) {
            run_strips(w, &x, &u, room);
        } else if (g->few) {
            run_few(w, &x, &u);
        } else {
            run_many(w, &x, &u);
        }
    }
}

// Items for several threads: halves the longer side until there are some for each of them, of bearable length.
#define ITEM_NS_LEAST 8000.0
#define ITEM_NS_MOST 80000.0
#define ITEMS_PER_THREAD 6
#define COPY_GROUPS 4   // for each tile of rows in an item that copies its rows: it is to use them often

static void share_out(grid *w, int64_t matrices, unsigned threads)
{
    const tn_gemm *g = w->gemm;
    const tn_tile_facts *facts = g->tiles->facts;
    const int64_t p = facts->max_p[w->widest];
    // A step of one tile of rows and one group; memory may be what takes the time.
    const double tile_ns = TN_MAX(tn_tile_cost(facts, TN_MIN(p, g->m), w->widest, w->widest), w->widest * facts->lanes * 4.0 / 20.0) * (double)g->k;
    const int64_t wide = w->strips && g->rooms ? COPY_GROUPS : 1;
    for (;;) {
        const int64_t tiles = tn_tile_cuts(w->rows_item, p);
        w->items_m = tn_tile_cuts(g->m, w->rows_item);
        w->items_n = tn_tile_cuts(w->groups, w->groups_item);
        const double ns = tile_ns * (double)(tiles * w->groups_item), items = (double)matrices * (double)w->items_m * (double)w->items_n;
        const bool few = items < (double)ITEMS_PER_THREAD * threads || ns > ITEM_NS_MOST;
        if (threads <= 1 || !few || ns < 2.0 * ITEM_NS_LEAST || (tiles == 1 && w->groups_item == 1)) {
            return;
        }
        if (tiles == 1 || w->groups_item >= wide * tiles) {
            w->groups_item = (w->groups_item + 1) / 2;
        } else {
            w->rows_item = (tiles + 1) / 2 * p;
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
    w.widest = (int)TN_MIN((int64_t)gemm->q, (gemm->n + facts->lanes - 1) / facts->lanes);
    w.stream = gemm->m <= TN_STREAM_MAX_P && gemm->q == 2 && gemm->alpha == 1.0f && gemm->k > 0 && !gemm->resume;
    w.strips = gemm->strips && !gemm->b_bf16 && gemm->ldb == 0 && gemm->alpha == 1.0f && !gemm->row_bias;
    w.rows_item = TN_MIN(gemm->m, w.strips ? gemm->strip_rows : gemm->row_chunk);
    w.groups_item = w.groups;
    share_out(&w, count, tn_workers_count(workers));
    tn_workers_run(workers, run_items, &w, (size_t)(count * w.items_m * w.items_n), 1);
}

// A group's columns that fit in five eighths of a first-level cache of 32 KiB may stay there, with a quarter of the second-level cache for
// the rows that pass by.
#define PANEL_BYTES 20480.0
#define FEW_TILES 10

// Strips: a group's columns of so many steps pass through the first-level cache for each tile of rows, a chunk of rows stays in half of the
// second-level one.
#define STRIP_STEPS 768
#define STRIP_TILES 4   // as few tiles of rows, but for a single one, do not pay for what a group has to set up

static void block_strips(tn_gemm *gemm, const tn_tile_facts *facts, double cache)
{
    const int64_t p = facts->max_p[2], k = TN_MAX(1, gemm->k), tiles = tn_tile_cuts(gemm->m, p);
    const bool rows = tiles > STRIP_TILES ? facts->strips & TN_STRIPS_MANY : tiles == 1 && gemm->m > TN_STREAM_MAX_P && facts->strips & TN_STRIPS_ALONE;
    gemm->strips = rows && gemm->q == 2 && gemm->k > 0 && (k <= STRIP_STEPS || facts->strips & TN_STRIPS_LONG);
    if (!gemm->strips) {
        return;
    }
    gemm->strip_steps = (tn_tile_cuts(k, tn_tile_cuts(k, STRIP_STEPS)) + 15) / 16 * 16;
    const int64_t most = TN_MAX(4, (int64_t)(cache / 2.0 / (4.0 * (double)TN_MIN(k, gemm->strip_steps) * (double)p)));
    gemm->strip_rows = tn_tile_cuts(tiles, tn_tile_cuts(tiles, most)) * p;
}

size_t tn_gemm_room_floats(const tn_gemm *gemm, const tn_tile_facts *facts)
{
    const int64_t p = facts->max_p[2];
    const bool alias = gemm->lda % TN_GEMM_ALIAS == 0 && gemm->lda > 0;
    return gemm->strips && alias && gemm->m > p ? (size_t)(TN_MIN(gemm->m, gemm->strip_rows) * (gemm->strip_steps + TN_GEMM_GAP)) : 0;
}

// When columns pass by, B that fits in half of the second-level cache stays there. Else it comes in chunks of a quarter, so that the next
// chunk can be fetched while one is used: of whole groups, or when one group is too large, of its k steps.
void tn_gemm_block(tn_gemm *gemm, const tn_tile_facts *facts, size_t l2)
{
    const int64_t k = TN_MAX(1, gemm->k), groups = TN_MAX(1, tn_gemm_groups(facts->lanes, gemm->q, gemm->n));
    const int64_t p = facts->max_p[TN_MAX(1, TN_MIN((int64_t)gemm->q, (gemm->n + facts->lanes - 1) / facts->lanes))];
    const double step = 4.0 * facts->lanes * gemm->q, panel = step * (double)k, cache = (double)l2;
    gemm->few = gemm->ldb > 0 || (gemm->m <= FEW_TILES * p && groups > 1) || panel > PANEL_BYTES;
    gemm->k_chunk = k;
    gemm->group_chunk = groups;
    gemm->row_chunk = TN_MAX(1, gemm->m);
    block_strips(gemm, facts, cache);
    if (!gemm->few) {
        gemm->row_chunk = TN_MAX(4, (int64_t)(cache / 4.0 / (4.0 * (double)k * (double)p))) * p;
    } else if (panel * (double)groups > cache / 2.0) {
        const int64_t fit = TN_MAX(1, (int64_t)(cache / 4.0 / panel)), chunks = (groups + fit - 1) / fit;
        gemm->group_chunk = (groups + chunks - 1) / chunks;
        if (panel > cache / 2.0 && gemm->m > p) {
            const int64_t most = TN_MAX(64, (int64_t)(cache / 4.0 / step)), cuts = (k + most - 1) / most;
            gemm->k_chunk = (k + cuts - 1) / cuts;
        }
    }
}

// Streams widen columns as they go; what they do not take needs a panel.
size_t tn_gemm_panel_floats(const tn_gemm *gemm, const tn_tile_facts *facts)
{
    const int64_t width = (int64_t)facts->lanes * gemm->q;
    return gemm->m > TN_STREAM_MAX_P || gemm->n % width != 0 || gemm->alpha != 1.0f ? (size_t)(gemm->k_chunk * width) : 0;
}

void tn_gemm_block_bf16(tn_gemm *gemm, const tn_tile_facts *facts, size_t l2)
{
    tn_gemm_block(gemm, facts, l2);
    const int64_t step = (int64_t)sizeof(float) * facts->lanes * gemm->q, most = TN_MAX(1, (int64_t)PANEL_BYTES / step), k = TN_MAX(1, gemm->k);
    const int64_t cuts = gemm->m <= TN_STREAM_MAX_P ? 1 : tn_tile_cuts(k, most);
    gemm->k_chunk = tn_tile_cuts(k, cuts);
    const int64_t p = facts->max_p[2];
    gemm->row_chunk = TN_MAX(4, (int64_t)((double)l2 / 4.0 / (4.0 * (double)gemm->k_chunk * (double)p))) * p;
}
