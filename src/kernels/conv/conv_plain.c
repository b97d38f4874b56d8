// SPDX-License-Identifier: Apache-2.0
// Convolution on plain tensors, anything that ONNX allows: weights [m, k] are the rows of a matrix product, and its columns are
// the windows of x, gathered for some pixels at a time into a thread's own panels (im2col without the big buffer):
//      panel: [k][q * V pixels], k = (channel, kd, kh, kw) in the order of the weights
// A tile of weights stays in the first-level cache while it meets the panels, which stay in the second.
// Ownership: parameters live in the plan's arena. Threads: uses the workers it is given.
#include "kernels/conv/conv.h"

#include "base/macros.h"
#include "base/map.h"
#include "kernels/gemm/scratch.h"

typedef struct plain {
    const tn_tile_facts *facts;
    tn_conv_shape s;
    int64_t k, pixels;
    int q;
    int64_t panels;              // of q vectors of pixels
    int64_t k_chunk;             // k steps of a panel gathered at a time
    int64_t panel_chunk;         // panels gathered at a time
    int64_t cuts;                // tiles of output channels in a group
    ptrdiff_t w_row;             // floats from one output channel's weights to the next
    bool one_row;                // the image is one row, and so is the window
    bool packed;                 // weights are packed with a gap between the rows
    size_t slot_floats;
    unsigned slots;
    tn_act act;
} plain;

// Rows of weights this many floats apart fall into one set of the first-level cache.
#define ALIAS_FLOATS 1024
#define ROW_GAP 16

// What gathering costs: an element of a panel, and a row of it.
#define GATHER_NS 0.35
#define GATHER_ROW_NS 6.0

// Most k steps gathered at a time: so many that a tile of weights still fits in the first-level cache.
#define K_MOST 768

static bool describe(plain *d, const tn_query *query, const tn_tile_facts *facts)
{
    const tn_conv_attr *attr = query->attr;
    *d = (plain){.facts = facts, .act = attr->act};
    if (!tn_conv_shape_of(attr, &query->in[0]->shape, &query->in[1]->shape, &d->s)) {
        return false;
    }
    tn_conv_flatten(&d->s);
    const tn_conv_shape *s = &d->s;
    d->one_row = s->in[0] == 1 && s->in[1] == 1 && s->out[0] == 1 && s->out[1] == 1 && s->kernel[0] == 1 && s->kernel[1] == 1 &&
                 s->pad[0] == 0 && s->pad[1] == 0;
    d->k = s->cg * s->kernel[0] * s->kernel[1] * s->kernel[2];
    d->pixels = s->out[0] * s->out[1] * s->out[2];
    const int64_t vectors = (d->pixels + facts->lanes - 1) / facts->lanes;
    d->q = tn_tile_choose_q(facts, s->mg, vectors);
    d->panels = (vectors + d->q - 1) / d->q;
    d->cuts = tn_tile_cuts(s->mg, facts->max_p[TN_MAX(1, TN_MIN((int64_t)d->q, vectors))]);
    d->packed = query->in[1]->data && d->k > 0 && d->k % ALIAS_FLOATS == 0 && s->mg > 8;
    d->w_row = d->k + (d->packed ? ROW_GAP : 0);
    const int64_t k_cuts = tn_tile_cuts(d->k, K_MOST);
    d->k_chunk = TN_MAX(1, tn_tile_cuts(d->k, TN_MAX(1, k_cuts)));
    const int64_t panel_bytes = d->k_chunk * d->q * facts->lanes * (int64_t)sizeof(float);
    d->panel_chunk = TN_MAX(1, TN_MIN(d->panels, (int64_t)query->cpu->l2 / 2 / panel_bytes));
    return true;
}

bool tn_conv_plain_match(const tn_query *query, const char **why)
{
    tn_conv_shape s;
    const tn_conv_attr *attr = query->attr;
    if (!tn_conv_shape_of(attr, &query->in[0]->shape, &query->in[1]->shape, &s)) {
        *why = "one to three spatial dims";
        return false;
    }
    if (tn_tensor_count(query->in[0]) == 0 || tn_tensor_count(query->in[1]) == 0 || tn_tensor_count(query->out[0]) == 0) {
        *why = "empty";
        return false;
    }
    return tn_conv_match_common(query, why);
}

static double cost(const tn_query *query, const tn_tile_facts *facts)
{
    plain d;
    if (!describe(&d, query, facts)) {
        return 1e18;
    }
    const double times = (double)d.s.n * (double)d.s.groups;
    const double vectors = (double)((d.pixels + facts->lanes - 1) / facts->lanes);
    const double compute = (double)d.k * tn_tile_cost(facts, d.s.mg, (int64_t)vectors, d.q);
    const double gather = (double)d.k * ((double)d.pixels * GATHER_NS + (double)d.panels * GATHER_ROW_NS);
    const double tiles = (double)d.cuts * (double)d.panels * 15.0;
    return 300.0 + times * (compute + gather + tiles);
}

static void pack_rows(void *dst, const tn_query *query, const void *params)
{
    const plain *d = params;
    char *to = dst;
    for (int64_t m = 0; m < d->s.m; m++) {
        memcpy(to, (const char *)query->in[1]->data + (size_t)(m * d->k) * sizeof(float), (size_t)d->k * sizeof(float));
        memset(to + (size_t)d->k * sizeof(float), 0, ROW_GAP * sizeof(float));
        to += (size_t)d->w_row * sizeof(float);
    }
}

static tn_status prepare(tn_prepare *prepare, const tn_tile_facts *facts)
{
    plain *d;
    size_t at;
    TN_TRY(tn_prepare_params(prepare, sizeof *d, (void **)&d));
    if (!describe(d, prepare->query, facts)) {
        return tn_fail(prepare->diag, TN_INTERNAL, prepare->query->name, "the convolution's attributes do not fit its shapes");
    }
    d->slot_floats = (size_t)d->k_chunk * (size_t)(d->q * facts->lanes) * (size_t)d->panel_chunk;
    d->slots = TN_MAX(1u, prepare->query->threads);
    TN_TRY(tn_scratch_add(prepare, d->slot_floats, d->slots * sizeof(float), &at));
    if (d->packed) {
        prepare->packs[0] = (tn_pack){.operand = 1,
                                      .id = "conv_f32_rows",
                                      .variant = (uint64_t)d->k,
                                      .bytes = (size_t)d->s.m * (size_t)d->w_row * sizeof(float),
                                      .pack = pack_rows};
        prepare->n_packs = 1;
    }
    return TN_OK;
}

// ---- running ----

typedef struct job {
    const plain *d;
    const tn_tiles *tiles;
    const float *x, *w, *bias, *residual;
    float *y;
    float *scratch;
    int64_t cuts_item, items_m, panels_item, items_p;
} job;

// Pixels of one output row inside a panel.
typedef struct run_of_pixels {
    int64_t at, count;           // in the panel
    int64_t d, h, w;             // where the first one's window begins in x
} run_of_pixels;

// At most as many runs as a panel has pixels.
#define MAX_RUNS (TN_TILE_MAX_Q * 16)

static int find_runs(const tn_conv_shape *s, int64_t first, int64_t count, run_of_pixels runs[MAX_RUNS])
{
    int n = 0;
    for (int64_t at = 0; at < count;) {
        const int64_t ow = (first + at) % s->out[2], oh = (first + at) / s->out[2] % s->out[1], od = (first + at) / s->out[2] / s->out[1];
        const int64_t length = TN_MIN(count - at, s->out[2] - ow);
        runs[n++] = (run_of_pixels){at, length, od * s->stride[0] - s->pad[0], oh * s->stride[1] - s->pad[1], ow * s->stride[2] - s->pad[2]};
        at += length;
    }
    return n;
}

// to[i] = row[w + i * stride] where that lies in 0 .. width - 1, else 0.
static void gather_row(float *to, const float *row, int64_t w, int64_t stride, int64_t width, int64_t count)
{
    if (stride == 1 && w >= 0 && w + count <= width) {   // most rows
        int64_t i = 0;
        for (; i + 8 <= count; i += 8) {   // a panel's rows are few lines: not worth a call
            memcpy(to + i, row + w + i, 8 * sizeof(float));
        }
        for (; i < count; i++) {
            to[i] = row[w + i];
        }
        return;
    }
    int64_t i = 0;
    for (; i < count && w + i * stride < 0; i++) {
        to[i] = 0.0f;
    }
    const int64_t valid = w >= width ? 0 : w + (count - 1) * stride < width ? count : (width - w + stride - 1) / stride;
    if (stride == 1 && valid > i) {
        memcpy(to + i, row + w + i, (size_t)(valid - i) * sizeof(float));
        i = valid;
    }
    for (; i < valid; i++) {
        to[i] = row[w + i * stride];
    }
    for (; i < count; i++) {
        to[i] = 0.0f;
    }
}

// Rows k0 .. k1 - 1 of a panel, `width` floats each. x: the group's channels of one image.
static void gather(const plain *d, const float *x, float *panel, int width, const run_of_pixels *runs, int n_runs, int64_t k0, int64_t k1)
{
    const tn_conv_shape *s = &d->s;
    const run_of_pixels *last = &runs[n_runs - 1];
    const int64_t used = last->at + last->count;
    int64_t kw = k0 % s->kernel[2], kh = k0 / s->kernel[2] % s->kernel[1];
    int64_t kd = k0 / s->kernel[2] / s->kernel[1] % s->kernel[0], c = k0 / s->kernel[2] / s->kernel[1] / s->kernel[0];
    for (int64_t k = k0; k < k1; k++) {
        for (int r = 0; r < n_runs; r++) {
            const int64_t id = runs[r].d + kd * s->dilation[0], ih = runs[r].h + kh * s->dilation[1];
            float *to = panel + runs[r].at;
            if (id < 0 || id >= s->in[0] || ih < 0 || ih >= s->in[1]) {
                memset(to, 0, (size_t)runs[r].count * sizeof(float));
                continue;
            }
            gather_row(to, x + ((c * s->in[0] + id) * s->in[1] + ih) * s->in[2], runs[r].w + kw * s->dilation[2], s->stride[2], s->in[2],
                       runs[r].count);
        }
        for (int64_t i = used; i < width; i++) {
            panel[i] = 0.0f;
        }
        panel += width;
        // The next k: counted on, since four divisions would take longer than the row.
        if (++kw < s->kernel[2]) {
            continue;
        }
        kw = 0;
        if (++kh < s->kernel[1]) {
            continue;
        }
        kh = 0;
        if (++kd < s->kernel[0]) {
            continue;
        }
        kd = 0;
        c++;
    }
}

// What panel `panel` holds.
typedef struct pixels {
    int64_t first, count;
    int vectors;
} pixels;

static pixels pixels_of(const plain *d, int64_t panel)
{
    const int64_t step = (int64_t)d->q * d->facts->lanes, first = panel * step, count = TN_MIN(step, d->pixels - first);
    return (pixels){first, count, (int)((count + d->facts->lanes - 1) / d->facts->lanes)};
}

static void gather_panel(const job *j, const float *x, int64_t panel, int64_t k0, int64_t k1, float *to)
{
    const plain *d = j->d;
    const pixels p = pixels_of(d, panel);
    run_of_pixels runs[MAX_RUNS];
    const int n_runs = find_runs(&d->s, p.first, p.count, runs);
    gather(d, x, to, p.vectors * d->facts->lanes, runs, n_runs, k0, k1);
}

// Rows k0 .. k1 - 1 of panels p0 .. p1 - 1, each panel_floats long, of an image of one row: a row goes to all panels before the next one,
// so that x is read along its rows.
static void gather_rows(const job *j, const float *x, int64_t p0, int64_t p1, int64_t k0, int64_t k1, float *scratch, int64_t panel_floats)
{
    const plain *d = j->d;
    const tn_conv_shape *s = &d->s;
    const int64_t step = d->q * d->facts->lanes;
    int64_t kw = k0 % s->kernel[2], c = k0 / s->kernel[2];
    for (int64_t k = k0; k < k1; k++) {
        const float *row = x + c * s->in[2];
        const int64_t w = kw * s->dilation[2] - s->pad[2];
        for (int64_t panel = p0; panel < p1; panel++) {
            const int64_t count = TN_MIN(step, d->pixels - panel * step);
            const int64_t width = count == step ? step : pixels_of(d, panel).vectors * d->facts->lanes;
            float *to = scratch + (panel - p0) * panel_floats + (k - k0) * width;
            gather_row(to, row, w + panel * step * s->stride[2], s->stride[2], s->in[2], count);
            for (int64_t i = count; i < width; i++) {
                to[i] = 0.0f;
            }
        }
        if (++kw == s->kernel[2]) {
            kw = 0;
            c++;
        }
    }
}

// Panels p0 .. p1 - 1 by tiles cut0 .. cut1 - 1 of a group's output channels.
static void run_panels(const job *j, int64_t image, int64_t group, int64_t p0, int64_t p1, int64_t cut0, int64_t cut1, float *scratch)
{
    const plain *d = j->d;
    const tn_conv_shape *s = &d->s;
    const int vl = d->facts->lanes;
    const float *x = j->x + (image * s->c + group * s->cg) * s->in[0] * s->in[1] * s->in[2];
    for (int64_t k0 = 0; k0 < d->k; k0 += d->k_chunk) {
        const int64_t k1 = TN_MIN(d->k, k0 + d->k_chunk), panel_floats = (k1 - k0) * d->q * vl;
        if (d->one_row) {
            gather_rows(j, x, p0, p1, k0, k1, scratch, panel_floats);
        } else {
            for (int64_t panel = p0; panel < p1; panel++) {
                gather_panel(j, x, panel, k0, k1, scratch + (panel - p0) * panel_floats);
            }
        }
        tn_tile t = {
            .a_row = d->w_row,
            .n0 = 1, .n1 = 1, .n2 = 1,
            .lanes = k1 - k0, .last_lanes = k1 - k0,
            .c_row = d->pixels,
            .c_vec = vl,
            .alpha = 1.0f, .beta = 1.0f,
            .resume = k0 > 0,
            .finish = k1 == d->k,
        };
        tn_tile_set_act(&t, &d->act);
        for (int64_t cut = cut0; cut < cut1; cut++) {
            const int64_t m0 = group * s->mg + tn_tile_cut(s->mg, d->cuts, cut), m1 = group * s->mg + tn_tile_cut(s->mg, d->cuts, cut + 1);
            t.a = j->w + m0 * d->w_row + k0;
            t.row_bias = j->bias ? j->bias + m0 : NULL;
            for (int64_t panel = p0; panel < p1; panel++) {
                const pixels p = pixels_of(d, panel);
                const ptrdiff_t at = (ptrdiff_t)((image * s->m + m0) * d->pixels + p.first);
                t.b = scratch + (panel - p0) * panel_floats;
                t.b_step = p.vectors * vl;
                t.c = j->y + at;
                t.tail = (int)(p.count - (int64_t)(p.vectors - 1) * vl);
                t.residual = j->residual ? j->residual + at : NULL;
                j->tiles->tile[p.vectors - 1][m1 - m0 - 1](&t);
            }
        }
    }
}

static void run_items(void *context, size_t first, size_t count, unsigned slot)
{
    const job *j = context;
    const plain *d = j->d;
    for (size_t i = first; i < first + count; i++) {
        const int64_t item_p = (int64_t)i % j->items_p, item_m = (int64_t)i / j->items_p % j->items_m, image = (int64_t)i / j->items_p / j->items_m;
        const int64_t cut0 = item_m * j->cuts_item, cut1 = TN_MIN(d->cuts, cut0 + j->cuts_item);
        const int64_t p1 = TN_MIN(d->panels, (item_p + 1) * j->panels_item);
        for (int64_t panel = item_p * j->panels_item; panel < p1; panel += d->panel_chunk) {
            run_panels(j, image / d->s.groups, image % d->s.groups, panel, TN_MIN(p1, panel + d->panel_chunk), cut0, cut1,
                       j->scratch + slot * d->slot_floats);
        }
    }
}

tn_status tn_conv_plain_run(const tn_call *call, const tn_tiles *tiles)
{
    const plain *d = call->params;
    job j = {
        .d = d,
        .tiles = tiles,
        .x = call->in[0]->data,
        .w = d->packed ? call->packed[0] : call->in[1]->data,
        .bias = call->n_in > 2 && call->in[2] ? call->in[2]->data : NULL,
        .residual = call->n_in > 3 && call->in[3] ? call->in[3]->data : NULL,
        .y = call->out[0]->data,
        .scratch = call->scratch,
    };
    tn_workers *workers = tn_workers_count(call->workers) <= d->slots ? call->workers : NULL;
    const unsigned threads = tn_workers_count(workers);
    const int64_t images = d->s.n * d->s.groups;
    // Few panels: the output channels are shared out too, and each share gathers its own panel.
    j.cuts_item = images * d->panels >= 4 * (int64_t)threads || threads == 1 ? d->cuts : TN_MAX(1, d->cuts / (2 * (int64_t)threads));
    j.items_m = (d->cuts + j.cuts_item - 1) / j.cuts_item;
    const double panel_ns = 50.0 + (double)d->k * tn_tile_cost(d->facts, tn_tile_cuts(d->s.mg, d->cuts) * j.cuts_item, d->q, d->q);
    j.panels_item = tn_tile_item(panel_ns, d->panels, images * j.items_m, threads);
    j.panels_item = (j.panels_item + d->panel_chunk - 1) / d->panel_chunk * d->panel_chunk;
    j.items_p = (d->panels + j.panels_item - 1) / j.panels_item;
    tn_workers_run(workers, run_items, &j, (size_t)(images * j.items_m * j.items_p), 1);
    return TN_OK;
}

#define TIER(tier)                                                                                       \
    double tn_conv_plain_cost_##tier(const tn_query *q) { return cost(q, &tn_tile_facts_##tier); }       \
    tn_status tn_conv_plain_prepare_##tier(tn_prepare *p) { return prepare(p, &tn_tile_facts_##tier); }

TIER(avx512)
TIER(avx2)
TIER(portable)
