// SPDX-License-Identifier: Apache-2.0
// Transposed convolution on plain tensors: a matrix product gives what each input pixel adds to each output under each tap,
//      columns[m, tap][pixel] = sum_c w[c, m, tap] x[c, pixel]
// and each output channel then gathers its taps (col2im), always in the same order.
// Ownership: parameters live in the plan's arena. Threads: uses the workers it is given.
#include "kernels/conv/conv.h"

#include "base/macros.h"
#include "kernels/gemm/gemm.h"
#include "kernels/gemm/scratch.h"

typedef struct deconv {
    const tn_tile_facts *facts;
    tn_window window;            // widened to 3 dims
    int64_t n, c, m, groups, cg, mg;
    int64_t taps, pixels_in, pixels_out;
    tn_gemm gemm;                // all but the pointers, which run sets
    bool packed;                 // the weights are constant and packed
    size_t w_at, b_at, columns_at;
    size_t b_floats;             // of one packed matrix of x
    tn_act act;
} deconv;

static bool describe(deconv *d, const tn_query *query, const tn_tile_facts *facts)
{
    const tn_deconv_attr *attr = query->attr;
    const tn_shape *x = &query->in[0]->shape, *w = &query->in[1]->shape;
    *d = (deconv){.facts = facts, .act = attr->act, .groups = attr->group};
    if (x->rank < 3 || x->rank > 5 || w->rank != x->rank || attr->group < 1 || !tn_deconv_window(attr, x, w, &d->window)) {
        return false;
    }
    tn_window_widen(&d->window);
    const tn_window *win = &d->window;
    d->n = x->dims[0];
    d->c = x->dims[1];
    d->mg = w->dims[1];
    d->m = d->mg * d->groups;
    d->cg = d->c / d->groups;
    d->taps = win->kernel[0] * win->kernel[1] * win->kernel[2];
    d->pixels_in = win->in[0] * win->in[1] * win->in[2];
    d->pixels_out = win->out[0] * win->out[1] * win->out[2];
    d->packed = query->in[1]->data != NULL;
    tn_gemm *g = &d->gemm;
    *g = (tn_gemm){.m = d->mg * d->taps, .n = d->pixels_in, .k = d->cg, .lda = d->cg, .ldc = d->pixels_in, .alpha = 1.0f, .beta = 1.0f};
    g->q = tn_tile_choose_q(facts, g->m, (g->n + facts->lanes - 1) / facts->lanes);
    g->batch_rank = 2;
    g->batch[0] = d->n;
    g->batch[1] = d->groups;
    g->a_batch[1] = g->m * g->k;
    return d->cg * d->groups == d->c && w->dims[0] == d->c;
}

bool tn_deconv_plain_match(const tn_query *query, const char **why)
{
    deconv d;
    const tn_deconv_attr *attr = query->attr;
    for (int i = 0; i < query->n_in; i++) {
        if (query->in[i] && query->in[i]->dtype != TN_F32) {
            *why = "an operand is not float32";
            return false;
        }
    }
    if (!tn_act_valid(&attr->act)) {
        *why = "unknown activation";
        return false;
    }
    if (tn_tensor_count(query->in[0]) == 0 || tn_tensor_count(query->in[1]) == 0 || tn_tensor_count(query->out[0]) == 0) {
        *why = "empty";
        return false;
    }
    if (!describe(&d, query, &tn_tile_facts_portable)) {
        *why = "one to three spatial dims";
        return false;
    }
    return true;
}

static double cost(const tn_query *query, const tn_tile_facts *facts)
{
    deconv d;
    if (!describe(&d, query, facts)) {
        return 1e18;
    }
    const double vectors = (double)((d.pixels_in + facts->lanes - 1) / facts->lanes);
    const double product = (double)d.cg * tn_tile_cost(facts, d.gemm.m, (int64_t)vectors, d.gemm.q);
    const double gather = (double)d.gemm.m * (double)d.pixels_in * 0.3 + (double)d.mg * (double)d.pixels_out * 0.3;
    return 300.0 + (double)d.n * (double)d.groups * (product + gather);
}

// Weights [c, m / group, taps] become [group][m, tap][c].
static void pack_weights(void *dst, const void *src, const deconv *d)
{
    float *out = dst;
    for (int64_t g = 0; g < d->groups; g++) {
        for (int64_t row = 0; row < d->mg * d->taps; row++) {
            for (int64_t c = 0; c < d->cg; c++) {
                *out++ = tn_load_f32(src, (size_t)((g * d->cg + c) * d->mg * d->taps + row));
            }
        }
    }
}

static void pack(void *dst, const tn_query *query, const void *params)
{
    pack_weights(dst, query->in[1]->data, params);
}

static tn_status prepare(tn_prepare *prepare, const tn_tile_facts *facts)
{
    deconv *d;
    size_t columns, packed;
    TN_TRY(tn_prepare_params(prepare, sizeof *d, (void **)&d));
    if (!describe(d, prepare->query, facts)) {
        return tn_fail(prepare->diag, TN_INTERNAL, prepare->query->name, "the transposed convolution's attributes do not fit its shapes");
    }
    tn_gemm_block(&d->gemm, facts, prepare->query->cpu->l2);
    const size_t images = (size_t)(d->n * d->groups), weights = (size_t)(d->c * d->mg * d->taps);
    const size_t vectors = (size_t)((d->pixels_in + facts->lanes - 1) / facts->lanes);
    if (!tn_mul_size(vectors * (size_t)facts->lanes, (size_t)d->cg, &d->b_floats) || !tn_mul_size(d->b_floats, images, &packed) ||
        !tn_mul_size((size_t)d->gemm.m, (size_t)d->pixels_in, &columns) || !tn_mul_size(columns, images, &columns)) {
        return tn_fail(prepare->diag, TN_LIMIT, prepare->query->name, "the workspace does not fit in memory");
    }
    d->gemm.b_batch[0] = (ptrdiff_t)d->b_floats * d->groups;
    d->gemm.b_batch[1] = (ptrdiff_t)d->b_floats;
    TN_TRY(tn_scratch_add(prepare, packed, sizeof(float), &d->b_at));
    TN_TRY(tn_scratch_add(prepare, columns, sizeof(float), &d->columns_at));
    if (!d->packed) {
        return tn_scratch_add(prepare, weights, sizeof(float), &d->w_at);
    }
    prepare->packs[0] = (tn_pack){
        .operand = 1, .id = "deconv_f32_rows", .variant = (uint64_t)d->groups, .bytes = weights * sizeof(float), .pack = pack};
    prepare->n_packs = 1;
    return TN_OK;
}

// ---- running ----

typedef struct job {
    const deconv *d;
    const tn_tiles *tiles;
    const float *x, *bias, *columns;
    float *packed, *y;
} job;

static void pack_items(void *context, size_t first, size_t count, unsigned slot)
{
    (void)slot;
    const job *j = context;
    const deconv *d = j->d;
    const int64_t groups = tn_gemm_groups(d->facts->lanes, d->gemm.q, d->pixels_in);
    for (size_t i = first; i < first + count; i++) {
        const int64_t image = (int64_t)i / groups;
        tn_gemm_pack_fast(j->tiles, j->packed + (size_t)image * d->b_floats, j->x + image * d->cg * d->pixels_in, d->pixels_in, 1, d->cg,
                          d->pixels_in, d->gemm.q, (int64_t)i % groups, 1);
    }
}

// y row += the inputs of one row of pixels under tap kw.
static void add_row(const tn_window *win, float *y, const float *columns, int64_t kw)
{
    const int64_t stride = win->stride[2], shift = kw * win->dilation[2] - win->pad_begin[2];
    // iw * stride + shift in 0 .. out - 1
    const int64_t first = shift >= 0 ? 0 : (-shift + stride - 1) / stride;
    const int64_t end = shift >= win->out[2] ? 0 : (win->out[2] - shift + stride - 1) / stride;
    const int64_t last = TN_MIN(win->in[2], end);
    for (int64_t iw = first; iw < last; iw++) {
        y[iw * stride + shift] += columns[iw];
    }
}

// y [pixels_out] += columns [taps][pixels_in].
static void gather_channel(const deconv *d, float *y, const float *columns)
{
    const tn_window *win = &d->window;
    for (int64_t tap = 0; tap < d->taps; tap++) {
        const int64_t kw = tap % win->kernel[2], kh = tap / win->kernel[2] % win->kernel[1], kd = tap / win->kernel[2] / win->kernel[1];
        for (int64_t row = 0; row < win->in[0] * win->in[1]; row++) {
            const int64_t od = row / win->in[1] * win->stride[0] + kd * win->dilation[0] - win->pad_begin[0];
            const int64_t oh = row % win->in[1] * win->stride[1] + kh * win->dilation[1] - win->pad_begin[1];
            if (od >= 0 && od < win->out[0] && oh >= 0 && oh < win->out[1]) {
                add_row(win, y + (od * win->out[1] + oh) * win->out[2], columns + tap * d->pixels_in + row * win->in[2], kw);
            }
        }
    }
}

static void gather_items(void *context, size_t first, size_t count, unsigned slot)
{
    (void)slot;
    const job *j = context;
    const deconv *d = j->d;
    for (size_t i = first; i < first + count; i++) {
        float *y = j->y + (int64_t)i * d->pixels_out;
        const float bias = j->bias ? j->bias[(int64_t)i % d->m] : 0.0f;
        for (int64_t p = 0; p < d->pixels_out; p++) {
            y[p] = bias;
        }
        gather_channel(d, y, j->columns + (int64_t)i * d->taps * d->pixels_in);
        if (d->act.code != TN_LOOP_CONST) {
            j->tiles->activate(y, d->pixels_out, &d->act);
        }
    }
}

tn_status tn_deconv_plain_run(const tn_call *call, const tn_tiles *tiles)
{
    const deconv *d = call->params;
    char *scratch = call->scratch;
    const tn_act none = {TN_LOOP_CONST, 0.0, 0.0};
    job j = {.d = d,
             .tiles = tiles,
             .x = call->in[0]->data,
             .bias = call->n_in > 2 && call->in[2] ? call->in[2]->data : NULL,
             .columns = (float *)(scratch + d->columns_at),
             .packed = (float *)(scratch + d->b_at),
             .y = call->out[0]->data};
    tn_gemm g = d->gemm;
    g.tiles = tiles;
    g.act = &none;
    g.a = call->packed[0];
    if (!d->packed) {
        pack_weights(scratch + d->w_at, call->in[1]->data, d);
        g.a = (float *)(scratch + d->w_at);
    }
    const int64_t groups = tn_gemm_groups(d->facts->lanes, g.q, d->pixels_in);
    tn_workers_run(call->workers, pack_items, &j, (size_t)(d->n * d->groups * groups), 1);
    g.b = j.packed;
    g.c = (float *)(scratch + d->columns_at);
    tn_gemm_run(call->workers, &g);
    tn_workers_run(call->workers, gather_items, &j, (size_t)(d->n * d->m), 1);
    return TN_OK;
}

#define TIER(tier)                                                                                       \
    double tn_deconv_plain_cost_##tier(const tn_query *q) { return cost(q, &tn_tile_facts_##tier); }     \
    tn_status tn_deconv_plain_prepare_##tier(tn_prepare *p) { return prepare(p, &tn_tile_facts_##tier); }

TIER(avx512)
TIER(avx2)
TIER(portable)
