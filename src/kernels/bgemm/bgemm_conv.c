// SPDX-License-Identifier: Apache-2.0
// Convolutions as products of bf16: a row of A is the window of a pixel, rounded where it is used, so that no matrix of windows exists.
//   from channel blocks   k runs over [kh][kw][block][16 channels]; neighbouring pixels of a row are rounded together
//   from plain            few channels: k runs over [channel][kh][kw]; windows are copied one after another, then rounded
// Ownership: parameters live in the plan's arena. Threads: uses the workers it is given.
#include "kernels/bgemm/bgemm.h"

#include "base/macros.h"
#include "base/map.h"
#include "base/num.h"
#include "kernels/conv/conv.h"

#include <string.h>

#define PLAIN_MOST 512           // taps of a window of a plain image
#define COPY 8                   // floats that windows are copied by

typedef struct bconv {
    tn_conv_shape s;             // 2-D; a pointwise one is one row
    bool plain_in;
    int64_t blocks, k;           // blocks of x; k steps with lanes that blocks lack
    int last_lanes;              // channels in the last block
    ptrdiff_t plane, image;      // floats from block (plain: channel) to block of x, from image to image
    int64_t window;              // plain: floats from window to window
    tn_bgemm gemm;
    tn_act act;
} bconv;

static bool describe(bconv *x, const tn_query *query, const char **why)
{
    const tn_conv_attr *attr = query->attr;
    *x = (bconv){.act = attr->act};
    tn_conv_shape *s = &x->s;
    if (!tn_conv_shape_of(attr, &query->in[0]->shape, &query->in[1]->shape, s) || s->in[0] != 1 || s->kernel[0] != 1 || s->out[0] != 1 || s->pad[0] != 0) {
        *why = "only one or two spatial dims";
        return false;
    }
    if (s->groups != 1) {
        *why = "groups";
        return false;
    }
    tn_conv_flatten(s);
    x->plain_in = query->in[0]->layout == TN_LAYOUT_PLAIN;
    const int64_t taps = s->kernel[1] * s->kernel[2], pixels = s->in[1] * s->in[2];
    x->blocks = x->plain_in ? s->c : (s->c + TN_BGEMM_LANES - 1) / TN_BGEMM_LANES;
    x->last_lanes = (int)(s->c - (x->blocks - 1) * TN_BGEMM_LANES);
    x->plane = (ptrdiff_t)(x->plain_in ? pixels : pixels * TN_BGEMM_LANES);
    x->image = x->plane * x->blocks;
    x->k = x->plain_in ? s->c * taps : x->blocks * TN_BGEMM_LANES * taps;
    x->window = (x->k + COPY + TN_BGEMM_LANES - 1) / TN_BGEMM_LANES * TN_BGEMM_LANES;
    if (x->plain_in && (x->k > PLAIN_MOST || (query->n_in > 3 && query->in[3]))) {
        *why = "too many channels for plain images, or a residual that is not in blocks";
        return false;
    }
    return true;
}

bool tn_bconv_match(const tn_query *query, const char **why)
{
    bconv x;
    return tn_conv_match_packed(query, why) && describe(&x, query, why);
}

static double cost(const tn_query *query, const tn_bgemm_facts *facts)
{
    bconv x;
    const char *why;
    if (!describe(&x, query, &why)) {
        return 1e18;
    }
    const double windows = (double)(x.s.n * x.s.out[1] * x.s.out[2]), copies = x.plain_in ? (double)(x.s.c * x.s.kernel[1]) : 0.0;
    return tn_bgemm_cost(facts, x.s.n, x.s.out[1] * x.s.out[2], x.s.m, x.k) + 0.5 * windows * copies;
}

// ---- weights ----

// Where k is in the weights of one output channel: [channel][kh][kw] there.
static int64_t offset(const void *context, int64_t k)
{
    const bconv *x = context;
    const int64_t taps = x->s.kernel[1] * x->s.kernel[2];
    if (x->plain_in) {
        return k;
    }
    const int64_t step = x->blocks * TN_BGEMM_LANES, tap = k / step, channel = k % step;
    return channel < x->s.c ? channel * taps + tap : -1;
}

static void pack_group(void *dst, const tn_query *query, const void *params, int64_t group)
{
    const bconv *x = params;
    tn_bgemm_pack(dst, query->in[1]->data, offset, x, x->k, x->s.m, x->s.c * x->s.kernel[1] * x->s.kernel[2], group);
}

static void pack(void *dst, const tn_query *query, const void *params)
{
    for (int64_t group = 0; group < tn_bgemm_groups(((const bconv *)params)->s.m); group++) {
        pack_group(dst, query, params, group);
    }
}

// ---- rows of A ----

// One tap of neighbouring pixels: all channels, beginning with vector `at` of k. Pixels r0 .. r1 - 1 have the tap, `from` being that of r0.
// Returns the vector after the last.
static int64_t round_tap(const tn_bgemm *gemm, const bconv *v, uint16_t *to, const float *from, int64_t r0, int64_t r1, int64_t rows, int64_t at)
{
    const ptrdiff_t step = (ptrdiff_t)v->s.stride[2] * TN_BGEMM_LANES;
    for (int64_t b = 0, vectors; b < v->blocks; b += vectors, at += vectors) {
        // Two vectors that fill a line go together.
        vectors = at % 2 == 0 && b + 1 < v->blocks ? 2 : 1;
        const int lanes = b + vectors == v->blocks ? v->last_lanes : TN_BGEMM_LANES;
        const float *first = from + b * v->plane;
        uint16_t *part = to + at / 2 * TN_BGEMM_ROWS * TN_BGEMM_LINE + at % 2 * TN_BGEMM_LANES;
        for (int64_t half = 0; half < vectors && r1 - r0 < rows; half++) {
            uint16_t *edge = part + half * TN_BGEMM_LANES;
            gemm->tiles->round_part(edge, NULL, NULL, 0, r0, 0);
            gemm->tiles->round_part(edge + r1 * TN_BGEMM_LINE, NULL, NULL, 0, rows - r1, 0);
        }
        if (r0 < r1) {
            gemm->tiles->round_part(part + r0 * TN_BGEMM_LINE, first, vectors == 2 ? first + v->plane : NULL, step, r1 - r0, lanes);
        }
    }
    return at;
}

// Windows of pixels ow .. ow + rows - 1 of row oh into rows of a block of A. x: an image.
static void round_run(const tn_bgemm *gemm, const bconv *v, const float *x, uint16_t *to, int64_t oh, int64_t ow, int64_t rows)
{
    const tn_conv_shape *s = &v->s;
    int64_t at = 0;
    for (int64_t kh = 0; kh < s->kernel[1]; kh++) {
        const int64_t ih = oh * s->stride[1] - s->pad[1] + kh * s->dilation[1];
        const bool there = ih >= 0 && ih < s->in[1];
        for (int64_t kw = 0; kw < s->kernel[2]; kw++) {
            const int64_t iw = ow * s->stride[2] - s->pad[2] + kw * s->dilation[2], room = s->in[2] - iw;
            int64_t r0 = iw >= 0 ? 0 : (-iw + s->stride[2] - 1) / s->stride[2], r1 = room <= 0 ? 0 : (room + s->stride[2] - 1) / s->stride[2];
            r1 = there ? TN_MIN(r1, rows) : 0;
            r0 = TN_MIN(r0, r1);
            at = round_tap(gemm, v, to, r0 < r1 ? x + (ih * s->in[2] + iw + r0 * s->stride[2]) * TN_BGEMM_LANES : x, r0, r1, rows, at);
        }
    }
    if (at % 2) {
        gemm->tiles->round_part(to + at / 2 * TN_BGEMM_ROWS * TN_BGEMM_LINE + TN_BGEMM_LANES, NULL, NULL, 0, rows, 0);
    }
}

// The row of a window that begins at column iw, 0 where `row` has none. `whole` > 0: it is there, and may be copied in whole steps; what is too
// much falls on what is copied next.
static void copy_taps(const tn_conv_shape *s, float *out, const float *row, int64_t iw, int64_t whole)
{
    for (int64_t i = 0; i < whole; i += COPY) {
        memcpy(out + i, row + iw + i, COPY * sizeof(float));
    }
    for (int64_t i = 0; whole == 0 && i < s->kernel[2]; i++) {
        const int64_t j = iw + i * s->dilation[2];
        out[i] = row && j >= 0 && j < s->in[2] ? row[j] : 0.0f;
    }
}

// The windows of pixels ow .. ow + rows - 1 of row oh of a plain image, one after another: [channel][kh][kw].
static void copy_windows(const bconv *v, const float *x, float *to, int64_t oh, int64_t ow, int64_t rows)
{
    const tn_conv_shape *s = &v->s;
    const int64_t taps = s->kernel[2], stride = s->stride[2], left = ow * stride - s->pad[2], reach = (taps - 1) * s->dilation[2] + 1;
    // Pixels first .. last - 1 are copied in whole steps.
    const int64_t whole = (taps + COPY - 1) / COPY * COPY, room = s->in[2] - TN_MAX(whole, reach) - left;
    const int64_t first = TN_MIN(rows, left >= 0 ? 0 : (-left + stride - 1) / stride);
    const int64_t last = s->dilation[2] != 1 ? first : TN_MAX(first, TN_MIN(rows, room < 0 ? 0 : room / stride + 1));
    for (int64_t c = 0; c < s->c; c++) {
        for (int64_t kh = 0; kh < s->kernel[1]; kh++, to += taps) {
            const int64_t ih = oh * s->stride[1] - s->pad[1] + kh * s->dilation[1];
            const float *row = ih >= 0 && ih < s->in[1] ? x + c * v->plane + ih * s->in[2] : NULL;
            for (int64_t r = 0; r < rows; r++) {
                copy_taps(s, to + r * v->window, row, left + r * stride, row && r >= first && r < last ? whole : 0);
            }
        }
    }
}

static void round_windows(const tn_bgemm *gemm, uint16_t *to, int64_t image, int64_t m0, int64_t m1, void *spare)
{
    const bconv *v = gemm->context;
    const float *x = gemm->a + image * v->image;
    const int64_t width = v->s.out[2];
    for (int64_t m = m0; m < m1;) {
        // To the end of the row of pixels, of the block, of all.
        const int64_t row = (m - m0) % TN_BGEMM_ROWS, oh = m / width, ow = m % width;
        const int64_t rows = TN_MIN(TN_MIN(width - ow, TN_BGEMM_ROWS - row), m1 - m);
        if (v->plain_in) {
            copy_windows(v, x, (float *)spare + row * v->window, oh, ow, rows);
        } else {
            round_run(gemm, v, x, to + row * TN_BGEMM_LINE, oh, ow, rows);
        }
        m += rows;
        if (row + rows == TN_BGEMM_ROWS || m == m1) {
            if (v->plain_in) {
                gemm->tiles->round_rows(to, spare, (ptrdiff_t)v->window, row + rows, v->k);
            }
            to += gemm->lines * TN_BGEMM_ROWS * TN_BGEMM_LINE;
        }
    }
}

tn_status tn_bconv_prepare(tn_prepare *prepare)
{
    const tn_query *query = prepare->query;
    const char *why = "the attributes do not fit";
    bconv *x;
    size_t bytes;
    TN_TRY(tn_prepare_params(prepare, sizeof *x, (void **)&x));
    if (!describe(x, query, &why)) {
        return tn_fail(prepare->diag, TN_INTERNAL, query->name, "%s", why);
    }
    const tn_conv_shape *s = &x->s;
    const int64_t pixels = s->out[1] * s->out[2];
    x->gemm = (tn_bgemm){.images = s->n, .m = pixels, .n = s->m, .lines = tn_bgemm_lines(x->k), .round = round_windows, .c_row = TN_BGEMM_LANES,
                         .c_vec = (ptrdiff_t)pixels * TN_BGEMM_LANES, .blocked = true, .alpha = 1.0f, .beta = 1.0f};
    x->gemm.c_image = (s->m + TN_BGEMM_LANES - 1) / TN_BGEMM_LANES * x->gemm.c_vec;
    if (!tn_bgemm_packed_bytes(x->k, s->m, &bytes)) {
        return tn_fail(prepare->diag, TN_LIMIT, query->name, "the packed weights do not fit in memory");
    }
    TN_TRY(tn_bgemm_prepare(&x->gemm, prepare, x->plain_in ? (size_t)(TN_BGEMM_ROWS * x->window) * sizeof(float) : 0));
    const uint64_t form[] = {(uint64_t)s->c, (uint64_t)s->m, (uint64_t)s->kernel[1], (uint64_t)s->kernel[2], x->plain_in};
    prepare->packs[0] = (tn_pack){.operand = 1, .id = "bconv_bf16", .variant = tn_hash(form, sizeof form, 0), .bytes = bytes, .pack = pack,
                                  .part = pack_group, .parts = tn_bgemm_groups(s->m)};
    prepare->n_packs = 1;
    return TN_OK;
}

tn_status tn_bconv_run(const tn_call *call, const tn_btiles *tiles)
{
    const bconv *x = call->params;
    tn_bgemm g = x->gemm;
    g.tiles = tiles;
    g.context = x;
    g.act = &x->act;
    g.a = call->in[0]->data;
    g.b = call->packed[0];
    g.c = call->out[0]->data;
    g.bias = call->n_in > 2 && call->in[2] ? call->in[2]->data : NULL;
    g.residual = call->n_in > 3 && call->in[3] ? call->in[3]->data : NULL;
    tn_bgemm_run(call->workers, &g, call->scratch);
    return TN_OK;
}

double tn_bconv_cost_amx(const tn_query *query) { return cost(query, &tn_bgemm_facts_amx); }
double tn_bconv_cost_avx512bf16(const tn_query *query) { return cost(query, &tn_bgemm_facts_avx512bf16); }
