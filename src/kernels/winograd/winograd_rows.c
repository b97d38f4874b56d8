// SPDX-License-Identifier: Apache-2.0
// Winograd's convolution: matching, the choice of m, transforming weights, and the split of work, for all tiers.
// Two ways to split, with the same arithmetic: with many tiles each thread takes some through all three steps, so that V and M stay
// in its second-level cache; with few, all threads do each step together, so that U is read once.
// Ownership: parameters live in the plan's arena. Threads: uses the workers it is given.
#include "kernels/winograd/winograd.h"

#include "base/macros.h"
#include "base/map.h"
#include "kernels/gemm/scratch.h"

#include <math.h>

static const float points[TN_WINOGRAD_MAX_K][TN_WINOGRAD_MAX_K] = TN_WINOGRAD_POINTS;

static void set_size(tn_winograd *w, int k)
{
    w->k = k;
    w->m = 2 * k;
    w->n = 2 * k + 2;
    w->tiles_h = (w->s.out[1] + w->m - 1) / w->m;
    w->tiles_w = (w->s.out[2] + w->m - 1) / w->m;
    w->tiles = w->s.n * w->tiles_h * w->tiles_w;
    w->q = tn_tile_choose_q(w->facts, w->tiles, w->vectors);
}

// Nanoseconds on one thread: transforms take about 5 and 4 operations for each place and vector, and as much again for the stores;
// U comes from the third-level cache or from memory, while the sums are made.
static double time_of(const tn_winograd *w)
{
    const double places = (double)(w->n * w->n), per_block = (double)w->block / w->facts->lanes;
    const double sums = places * (double)w->s.c * tn_tile_cost(w->facts, w->tiles, w->vectors, w->q);
    const double bytes = places * (double)w->s.c * (double)w->vectors * w->facts->lanes * 4.0;
    const double stream = bytes / (bytes > 8e6 ? 30.0 : 60.0);
    const double in = (double)w->tiles * (double)w->blocks_in * per_block * places * 8.0 / w->facts->fma_per_ns;
    const double out = (double)w->tiles * (double)w->blocks_out * per_block * places * 6.0 / w->facts->fma_per_ns;
    return 2000.0 + 1.08 * TN_MAX(sums, stream) + in + out;
}

static bool describe(tn_winograd *w, const tn_query *query, const tn_tile_facts *facts, double *ns)
{
    const tn_conv_attr *attr = query->attr;
    *w = (tn_winograd){.facts = facts, .act = attr->act};
    if (!tn_conv_shape_of(attr, &query->in[0]->shape, &query->in[1]->shape, &w->s)) {
        return false;
    }
    tn_tile clamp = {0};
    tn_tile_set_act(&clamp, &attr->act);
    w->low = clamp.low;
    w->high = clamp.high;
    if (!clamp.act) {
        w->act.code = TN_LOOP_CONST;
    }
    w->block = tn_layout_block(query->out[0]->layout);
    w->blocks_in = (w->s.c + w->block - 1) / w->block;
    w->blocks_out = (w->s.m + w->block - 1) / w->block;
    w->vectors = (w->s.m + facts->lanes - 1) / facts->lanes;
    int best = 0;
    for (int k = 1; k <= TN_WINOGRAD_MAX_K; k++) {
        set_size(w, k);
        // The error of m = 6 is some five times that of m = 4: it must be worth it.
        const double time = time_of(w) * (k == 3 ? 1.15 : 1.0);
        if (best == 0 || time < *ns) {
            best = k;
            *ns = time;
        }
    }
    set_size(w, best);
    return true;
}

static bool match(const tn_query *query, const char **why, const tn_tile_facts *facts)
{
    tn_winograd w;
    double ns = 0.0;
    if (!tn_conv_match_packed(query, why)) {
        return false;
    }
    if (!describe(&w, query, facts, &ns) || w.s.in[0] != 1 || w.s.kernel[0] != 1 || w.s.out[0] != 1 || w.s.pad[0] != 0) {
        *why = "only two spatial dims";
        return false;
    }
    const tn_conv_shape *s = &w.s;
    if (s->kernel[1] != 3 || s->kernel[2] != 3 || s->stride[1] != 1 || s->stride[2] != 1 || s->dilation[1] != 1 || s->dilation[2] != 1) {
        *why = "only windows of 3 x 3, stride 1, dilation 1";
        return false;
    }
    if (s->groups != 1 || s->c < 8 || s->m < 8) {
        *why = "only one group, and 8 channels at least";
        return false;
    }
    return true;
}

static double cost(const tn_query *query, const tn_tile_facts *facts)
{
    tn_winograd w;
    double ns = 1e18;
    return describe(&w, query, facts, &ns) ? ns : 1e18;
}

// ---- weights ----

// Rows of G: [1, p, p^2] / N(p) with N(p) = product of (p - other points); the last row is [0, 0, 1].
static void transform_matrix(int k, double g[TN_WINOGRAD_MAX_N][3])
{
    const int n = 2 * k + 2;
    double p[TN_WINOGRAD_MAX_N] = {0.0};
    for (int j = 0; j < k; j++) {
        p[1 + 2 * j] = points[k - 1][j];
        p[2 + 2 * j] = -points[k - 1][j];
    }
    for (int i = 0; i < n - 1; i++) {
        double product = 1.0;
        for (int j = 0; j < n - 1; j++) {
            product *= j == i ? 1.0 : p[i] - p[j];
        }
        for (int r = 0; r < 3; r++) {
            g[i][r] = (r == 0 ? 1.0 : r == 1 ? p[i] : p[i] * p[i]) / product;
        }
    }
    g[n - 1][0] = g[n - 1][1] = 0.0;
    g[n - 1][2] = 1.0;
}

// Filters of one group of output channels at a time: LANES of them side by side, as many as the narrowest vectors have, so that the arithmetic runs in those of any
// machine, and what is written to a place is one run. Doubles, because G holds fractions: the rounding is that of the result alone.
#define LANES 4

typedef double lanes[LANES];

// The 9 elements of filters m .. m + LANES - 1 for channel c; zeros past the last filter.
static void gather(lanes x[9], const tn_winograd *w, const void *weights, int64_t m, int64_t c)
{
    for (int lane = 0; lane < LANES; lane++) {
        float taps[9] = {0.0f};
        if (m + lane < w->s.m) {
            memcpy(taps, (const char *)weights + (size_t)((m + lane) * w->s.c + c) * sizeof taps, sizeof taps);
        }
        for (int i = 0; i < 9; i++) {
            x[i][lane] = (double)taps[i];
        }
    }
}

// U = G x G^T for LANES filters; place (r, s) is n * n runs apart by `place_floats`.
static void transform(float *to, size_t place_floats, int n, double g[][3], lanes x[9])
{
    for (int r = 0; r < n; r++) {
        lanes half[3];
        for (int i = 0; i < 3; i++) {
            for (int lane = 0; lane < LANES; lane++) {
                half[i][lane] = g[r][0] * x[i][lane] + g[r][1] * x[3 + i][lane] + g[r][2] * x[6 + i][lane];
            }
        }
        for (int s = 0; s < n; s++) {
            float *run = to + (size_t)(r * n + s) * place_floats;
            for (int lane = 0; lane < LANES; lane++) {
                run[lane] = (float)(half[0][lane] * g[s][0] + half[1][lane] * g[s][1] + half[2][lane] * g[s][2]);
            }
        }
    }
}

static int64_t groups_of(const tn_winograd *w) { return TN_CEIL_DIV(w->vectors, w->q); }

// [place][group][c][lane]: groups of q vectors of output channels, the last one narrower. One group:
static void pack_group(void *dst, const tn_query *query, const void *params, int64_t group)
{
    const tn_winograd *w = params;
    const int64_t vl = w->facts->lanes, all = w->vectors * vl, m0 = group * vl * w->q, width = TN_MIN(vl * w->q, all - m0);
    const size_t place_floats = (size_t)(w->s.c * all);
    double g[TN_WINOGRAD_MAX_N][3];
    lanes x[9];
    transform_matrix(w->k, g);
    for (int64_t c = 0; c < w->s.c; c++) {
        float *to = (float *)dst + m0 * w->s.c + c * width;
        for (int64_t m = 0; m < width; m += LANES) {
            gather(x, w, query->in[1]->data, m0 + m, c);
            transform(to + m, place_floats, w->n, g, x);
        }
    }
}

static void pack(void *dst, const tn_query *query, const void *params)
{
    for (int64_t group = 0; group < groups_of(params); group++) {
        pack_group(dst, query, params, group);
    }
}

// U counts as far away from so many second-level caches on, the less where all tiles are one part; a part has so many tiles of rows then.
#define FAR 4
#define FAR_AT_ONCE 2
#define FAR_TILES 8

// From so many tiles of rows on each has little to ask for.
#define ASK_CUTS 3

// With at most so many tiles of rows for each thread all threads do each step together.
#define TOGETHER 8

// Floats of V and of M for some tiles; places lie a line more than a multiple of the page apart, so that they do not share a set of
// the first-level cache.
static bool part_floats(const tn_winograd *w, int64_t tiles, bool grouped, size_t *v, size_t *m)
{
    const size_t places = (size_t)(w->n * w->n), m_row = (size_t)(grouped ? w->q * w->facts->lanes : w->m_row);
    return tn_mul_size((size_t)tiles * (size_t)w->v_row + 16, places, v) && tn_mul_size((size_t)tiles * m_row + 16, places, m);
}

// V and M of a part fill the second-level cache at most, but a part is two tiles of rows at least, so that U is not read too often. M is
// small there because it is made and transformed by groups of output channels. U that is many times as large as the cache comes from
// far away for each part: then eight tiles of rows share it, place after place, and V and M are what is read twice.
static void choose_part(tn_winograd *w, int64_t l2, int64_t rows)
{
    const int64_t places = (int64_t)w->n * w->n, width = (int64_t)w->q * w->facts->lanes, most = FAR_TILES * rows;
    const int64_t parts = TN_MAX(1, (w->tiles + most / 4) / most);      // a few tiles more rather than a short part at the end
    const bool far = (int64_t)sizeof(float) * places * w->s.c * w->vectors * w->facts->lanes > (parts == 1 ? FAR_AT_ONCE : FAR) * l2;
    w->grouped = !far && width % w->block == 0;
    const int64_t tile_bytes = (int64_t)sizeof(float) * places * (w->v_row + (w->grouped ? width : w->m_row));
    w->part = far ? TN_CEIL_DIV(w->tiles, parts) : TN_MIN(w->tiles, TN_MAX(2 * rows, l2 * 3 / 4 / tile_bytes / rows * rows));
}

static tn_status prepare(tn_prepare *prepare, const tn_tile_facts *facts)
{
    tn_winograd *w;
    double ns = 0.0;
    TN_TRY(tn_prepare_params(prepare, sizeof *w, (void **)&w));
    if (!describe(w, prepare->query, facts, &ns)) {
        return tn_fail(prepare->diag, TN_INTERNAL, prepare->query->name, "the convolution's attributes do not fit its shapes");
    }
    w->v_row = (ptrdiff_t)w->blocks_in * w->block;
    w->v_row += w->v_row % 1024 == 0 ? 16 : 0;
    w->m_row = (ptrdiff_t)w->blocks_out * w->block;
    const int64_t rows = facts->max_p[TN_MIN((int64_t)w->q, w->vectors)];
    choose_part(w, (int64_t)prepare->query->cpu->l2, rows);
    w->slots = TN_MAX(1u, prepare->query->threads);
    size_t v = 0, m = 0, bytes = 0, at;
    const size_t places = (size_t)(w->n * w->n);
    bool fits = part_floats(w, w->part, w->grouped, &v, &m) && tn_mul_size(v + m, w->slots, &w->slot_floats);
    w->slot_floats = v + m;
    fits = fits && part_floats(w, w->tiles, false, &v, &m) && tn_mul_size((size_t)(w->s.c * w->vectors) * sizeof(float), places * (size_t)facts->lanes, &bytes);
    if (!fits) {
        return tn_fail(prepare->diag, TN_LIMIT, prepare->query->name, "the workspace does not fit in memory");
    }
    w->all_floats = w->tiles <= TOGETHER * (int64_t)w->slots * rows ? v + m : 0;
    TN_TRY(tn_scratch_add(prepare, TN_MAX(w->all_floats, w->slot_floats * w->slots), sizeof(float), &at));
    const uint64_t form[] = {(uint64_t)facts->lanes, (uint64_t)w->q, (uint64_t)w->k, (uint64_t)w->s.m, (uint64_t)w->s.c};
    prepare->packs[0] =
        (tn_pack){.operand = 1, .id = "conv_f32_winograd", .variant = tn_hash(form, sizeof form, 0), .bytes = bytes, .pack = pack,
                  .part = pack_group, .parts = groups_of(w), .in_order = true};
    prepare->n_packs = 1;
    return TN_OK;
}

// ---- running ----

typedef struct job {
    const tn_winograd *w;
    const tn_winograd_isa *isa;
    const float *u;
    tn_winograd_part part;       // whole: all tiles. parts: the pointers but v and mm
    float *scratch;
} job;

// M at one place for groups g0 .. g1 - 1. ahead: floats from a group's part of U to what is used next.
static void multiply(const job *j, const tn_winograd_part *part, int64_t place, int64_t g0, int64_t g1, ptrdiff_t ahead)
{
    const tn_winograd *w = j->w;
    const int vl = w->facts->lanes;
    const int64_t cuts = tn_tile_cuts(part->count, w->facts->max_p[TN_MIN((int64_t)w->q, w->vectors)]);
    const int64_t each = part->count / cuts, more = part->count % cuts;
    // Whole blocks of channels have an unrolled loop, which asks for fewer lines ahead.
    const int64_t steps = w->s.c % w->block == 0 && cuts >= ASK_CUTS ? w->block : w->s.c;
    tn_tile t = {
        .a_row = w->v_row,
        .n1 = 1, .n2 = 1,
        .a0 = steps, .n0 = w->s.c / steps,
        .lanes = steps, .last_lanes = steps,
        .c_row = part->m_row,
        .c_vec = vl,
        .tail = vl,
    };
    for (int64_t g = g0; g < g1; g++) {
        const int64_t v0 = g * w->q;
        const int vectors = (int)TN_MIN((int64_t)w->q, w->vectors - v0);
        t.b_step = vectors * vl;
        t.b = j->u + (place * w->vectors + v0) * vl * w->s.c;
        t.a = part->v + place * part->v_plane;
        t.c = part->mm + place * part->m_plane + v0 * vl - part->m_first;
        t.next = t.b + ahead;
        t.b0 = steps * t.b_step;
        t.next_step = TN_CEIL_DIV(t.b_step, cuts);   // each cut asks for its share
        t.repeat = more;
        if (more > 0) {
            j->isa->tiles->tile[vectors - 1][each](&t);
            t.a += more * (each + 1) * w->v_row;
            t.c += more * (each + 1) * part->m_row;
            t.next += more * t.next_step * w->s.c;
        }
        t.repeat = cuts - more;
        j->isa->tiles->tile[vectors - 1][each - 1](&t);
    }
}

static void place_part(tn_winograd_part *part, float *scratch, int64_t first, int64_t count, bool grouped)
{
    const tn_winograd *w = part->w;
    part->m_row = grouped ? w->q * w->facts->lanes : w->m_row;
    part->m_first = 0;
    part->first = first;
    part->count = count;
    part->v_plane = count * w->v_row + 16;
    part->m_plane = count * part->m_row + 16;
    part->v = scratch;
    part->mm = scratch + part->v_plane * w->n * w->n;
}

// Place after place, all output channels; then their transforms.
static void finish_part(const job *j, const tn_winograd_part *part)
{
    const tn_winograd *w = j->w;
    for (int64_t place = 0; place < w->n * w->n; place++) {
        multiply(j, part, place, 0, groups_of(w), w->s.c * w->q * w->facts->lanes);
    }
    for (int64_t b = 0; b < w->blocks_out; b++) {
        j->isa->out[w->k - 1](part, b, 0, part->count);
    }
}

// The same group after group.
static void finish_groups(const job *j, tn_winograd_part *part)
{
    const tn_winograd *w = j->w;
    const int64_t places = (int64_t)w->n * w->n, width = (int64_t)w->q * w->facts->lanes, blocks = width / w->block;
    const ptrdiff_t plane = (ptrdiff_t)(w->vectors * w->facts->lanes * w->s.c);
    for (int64_t g = 0; g < groups_of(w); g++) {
        part->m_first = g * width;
        for (int64_t place = 0; place < places; place++) {
            multiply(j, part, place, g, g + 1, place + 1 < places ? plane : width * w->s.c - (places - 1) * plane);
        }
        for (int64_t b = g * blocks; b < TN_MIN(w->blocks_out, (g + 1) * blocks); b++) {
            j->isa->out[w->k - 1](part, b, 0, part->count);
        }
    }
}

static void run_parts(void *context, size_t first, size_t count, unsigned slot)
{
    const job *j = context;
    const tn_winograd *w = j->w;
    for (size_t i = first; i < first + count; i++) {
        tn_winograd_part part = j->part;
        const int64_t t0 = (int64_t)i * w->part;
        place_part(&part, j->scratch + slot * w->slot_floats, t0, TN_MIN(w->tiles, t0 + w->part) - t0, w->grouped);
        for (int64_t b = 0; b < w->blocks_in; b++) {
            j->isa->in[w->k - 1](&part, b, 0, part.count);
        }
        if (w->grouped) {
            finish_groups(j, &part);
        } else {
            finish_part(j, &part);
        }
    }
}

// Steps of the whole, in items of some tiles of a block, or some groups at a place.
#define STEP_TILES 8

static void run_in(void *context, size_t first, size_t count, unsigned slot)
{
    (void)slot;
    const job *j = context;
    for (size_t i = first; i < first + count; i++) {
        const int64_t t0 = (int64_t)i / j->w->blocks_in * STEP_TILES;
        j->isa->in[j->w->k - 1](&j->part, (int64_t)i % j->w->blocks_in, t0, TN_MIN(j->w->tiles, t0 + STEP_TILES));
    }
}

static void run_multiply(void *context, size_t first, size_t count, unsigned slot)
{
    (void)slot;
    const job *j = context;
    for (size_t i = first; i < first + count; i++) {
        multiply(j, &j->part, (int64_t)i, 0, groups_of(j->w), j->w->s.c * j->w->q * j->w->facts->lanes);
    }
}

static void run_out(void *context, size_t first, size_t count, unsigned slot)
{
    (void)slot;
    const job *j = context;
    for (size_t i = first; i < first + count; i++) {
        const int64_t t0 = (int64_t)i / j->w->blocks_out * STEP_TILES;
        j->isa->out[j->w->k - 1](&j->part, (int64_t)i % j->w->blocks_out, t0, TN_MIN(j->w->tiles, t0 + STEP_TILES));
    }
}

tn_status tn_winograd_run(const tn_call *call, const tn_winograd_isa *isa)
{
    const tn_winograd *w = call->params;
    tn_workers *workers = tn_workers_count(call->workers) <= w->slots ? call->workers : NULL;
    job j = {
        .w = w,
        .isa = isa,
        .u = call->packed[0],
        .part = {.w = w,
                 .x = call->in[0]->data,
                 .bias = call->n_in > 2 && call->in[2] ? call->in[2]->data : NULL,
                 .residual = call->n_in > 3 && call->in[3] ? call->in[3]->data : NULL,
                 .y = call->out[0]->data},
        .scratch = call->scratch,
    };
    const int64_t parts = (w->tiles + w->part - 1) / w->part;
    if (w->all_floats == 0 || tn_workers_count(workers) == 1) {
        tn_workers_run(workers, run_parts, &j, (size_t)parts, 1);
        return TN_OK;
    }
    place_part(&j.part, j.scratch, 0, w->tiles, false);
    const int64_t steps = (w->tiles + STEP_TILES - 1) / STEP_TILES;
    tn_workers_run(workers, run_in, &j, (size_t)(steps * w->blocks_in), 1);
    tn_workers_run(workers, run_multiply, &j, (size_t)(w->n * w->n), 1);
    tn_workers_run(workers, run_out, &j, (size_t)(steps * w->blocks_out), 1);
    return TN_OK;
}

#define TIER(tier)                                                                                                           \
    bool tn_winograd_match_##tier(const tn_query *q, const char **why) { return match(q, why, &tn_tile_facts_##tier); }      \
    double tn_winograd_cost_##tier(const tn_query *q) { return cost(q, &tn_tile_facts_##tier); }                             \
    tn_status tn_winograd_prepare_##tier(tn_prepare *p) { return prepare(p, &tn_tile_facts_##tier); }

TIER(avx512)
TIER(avx2)
TIER(portable)
