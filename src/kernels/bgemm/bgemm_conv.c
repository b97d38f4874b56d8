// SPDX-License-Identifier: Apache-2.0
// Convolutions as products of bf16: a row of A is the window of a pixel, made where it is used, so that no matrix of windows exists.
//   pointwise             k runs over [channel]; neighbouring pixels are rounded together
//   windows of blocks     the images are rounded first, in lines of 32 channels with zeros around them: k runs over [kh][kw][line of channels].
//                         With stride 1 neighbours in such an image are the rows of a block of A where they lie, those past the end of a row
//                         of pixels being nobody's; else windows are copied
//   windows of lines      images in NCHW32B are such lines already: they are copied to get zeros around them, or used where they are
//   of plain images       with up to four channels, which are made neighbours: a window's row is a line. k runs over [kh][kw][4 channels]
// Ownership: parameters live in the plan's arena. Threads: uses the workers it is given.
#include "kernels/bgemm/bgemm.h"

#include "base/macros.h"
#include "base/map.h"
#include "base/num.h"
#include "kernels/conv/conv.h"
#include "kernels/gemm/scratch.h"

#define FEW 4                    // channels of a plain image

typedef struct bconv {
    tn_conv_shape s;             // 2-D, without taps that lie in the padding of all windows; a pointwise one is one row
    int64_t taps[2], tap0[2];    // the window as its weights have it: rows and columns, the first of them that s has
    bool plain_in, lines_in, lines_out, point;
    int64_t blocks, k;           // blocks of x; k steps
    int last_lanes;              // channels in the last block
    ptrdiff_t plane, image;      // floats from block (plain: channel) to block of x, from image to image
    // The rounded images: [image][line of channels][height][width][elements of a pixel]
    int64_t lines, width, left;  // lines of channels; columns, of which `left` are before the first
    int64_t height, top;         // rows, of which `top` are above the first
    int words;                   // elements of a line of k that are copied: all of a pixel's, or those of a window's row
    ptrdiff_t pixel;             // elements
    ptrdiff_t rounded_image;     // elements of an image
    bool in_place;               // stride 1
    bool as_is;                  // the operand is such an image, without zeros around it
    size_t rounded_at;           // bytes in the workspace
    tn_bgemm gemm;
    tn_act act;
} bconv;

// Rows of C where blocks of A are in place: to the last pixel, with what lies between rows of pixels.
static int64_t rows_in_place(const bconv *x) { return (x->s.out[1] - 1) * x->width + x->s.out[2]; }

// In a tensor a tile of 16 or 32 rows may begin before a block's rows, but not end behind them.
static bool long_enough(int64_t rows) { return rows >= TN_BGEMM_ROWS || rows == TN_BGEMM_ROWS / 2; }

// Rows that are nobody's take time, and so does copying windows: some 2.5 times as long as a group of columns.
static bool worth_it(const bconv *x)
{
    const double groups = (double)tn_bgemm_groups(x->s.m), copied = (double)tn_tile_cuts(x->s.out[1] * x->s.out[2], TN_BGEMM_ROWS);
    return (double)tn_tile_cuts(rows_in_place(x), TN_BGEMM_ROWS) * groups <= copied * (groups + 2.5);
}

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
    tn_conv_trim(s, x->taps, x->tap0);
    tn_conv_flatten(s);
    x->plain_in = query->in[0]->layout == TN_LAYOUT_PLAIN;
    x->lines_in = query->in[0]->layout == TN_LAYOUT_NCHW32B;
    x->lines_out = query->out[0]->layout == TN_LAYOUT_NCHW32B;
    if (x->plain_in && (s->c > FEW || s->kernel[2] * FEW > TN_BGEMM_LINE || s->dilation[2] != 1)) {
        *why = "more than four channels, or wide windows, of plain images";
        return false;
    }
    if (query->in[0]->layout != query->out[0]->layout && query->n_in > 3 && query->in[3]) {
        *why = "the residual is not in the result's blocks";
        return false;
    }
    const int64_t taps = s->kernel[1] * s->kernel[2], pixels = s->in[1] * s->in[2], reach = (s->out[2] - 1) * s->stride[2];
    x->point = !x->plain_in && !x->lines_in && taps == 1 && s->pad[1] == 0 && s->pad[2] == 0 && (s->out[1] - 1) * s->stride[1] < s->in[1] && reach < s->in[2];
    x->blocks = x->plain_in ? s->c : (s->c + TN_BGEMM_LANES - 1) / TN_BGEMM_LANES;
    x->last_lanes = (int)(s->c - (x->blocks - 1) * TN_BGEMM_LANES);
    x->plane = (ptrdiff_t)(x->plain_in ? pixels : pixels * TN_BGEMM_LANES);
    x->image = x->plane * x->blocks;
    x->lines = x->plain_in ? 1 : (s->c + TN_BGEMM_LINE - 1) / TN_BGEMM_LINE;
    x->k = x->point ? s->c : x->plain_in ? s->kernel[1] * TN_BGEMM_LINE : taps * x->lines * TN_BGEMM_LINE;
    x->words = x->plain_in ? (int)s->kernel[2] * FEW : TN_BGEMM_LINE;
    x->pixel = x->plain_in ? FEW : TN_BGEMM_LINE;
    x->left = TN_MAX(0, s->pad[2]);
    x->width = TN_MAX(x->left + s->in[2], x->left - s->pad[2] + reach + (s->kernel[2] - 1) * s->dilation[2] + 1);
    x->in_place = !x->point && !x->plain_in && s->stride[1] == 1 && s->stride[2] == 1 && worth_it(x);
    // Rows above and below an image are there only where blocks reach them in place.
    x->top = x->in_place ? TN_MAX(0, s->pad[1]) : 0;
    x->height = x->top + s->in[1];
    if (x->in_place) {
        x->height = TN_MAX(x->height, x->top - s->pad[1] + s->out[1] + (s->kernel[1] - 1) * s->dilation[1]);
    }
    x->as_is = x->lines_in && x->left == 0 && x->width == s->in[2] && x->top == 0 && x->height == s->in[1];
    x->in_place = x->in_place && (!x->as_is || long_enough(rows_in_place(x)));
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
    const double vectors = x.point || x.as_is ? 0.0 : (double)(x.s.n * x.lines * x.height) * (double)(x.width * x.pixel) / TN_BGEMM_LANES;
    const tn_bgemm_around around = {.made = !x.in_place, .lines = x.lines_out};
    return tn_bgemm_cost(facts, x.s.n, x.s.out[1] * x.s.out[2], x.s.m, x.k, around) + facts->round_ns * vectors * (x.lines_in ? 0.5 : 1.0);
}

// ---- weights ----

// Where k is in the weights of one output channel: [channel][kh][kw] there.
static int64_t offset(const void *context, int64_t k)
{
    const bconv *x = context;
    const int64_t step = x->point ? x->s.c : x->lines * TN_BGEMM_LINE, tap = k / step, kw = x->s.kernel[2];
    const int64_t row = x->plain_in ? k / TN_BGEMM_LINE : tap / kw, column = x->plain_in ? k % TN_BGEMM_LINE / FEW : tap % kw;
    const int64_t c = x->plain_in ? k % FEW : k % step;
    return column < kw && c < x->s.c ? (c * x->taps[0] + x->tap0[0] + row) * x->taps[1] + x->tap0[1] + column : -1;
}

static void pack_groups(void *dst, const tn_query *query, const bconv *x, int64_t first, int64_t count)
{
    const tn_bgemm_source b = {query->in[1]->data, offset, x, NULL, x->k, x->s.m, x->s.c * x->taps[0] * x->taps[1], 0, 0};
    tn_bgemm_pack(dst, &b, first, count);
}

static void pack_group(void *dst, const tn_query *query, const void *params, int64_t group) { pack_groups(dst, query, params, group, 1); }

static void pack(void *dst, const tn_query *query, const void *params)
{
    pack_groups(dst, query, params, 0, tn_bgemm_groups(((const bconv *)params)->s.m));
}

// ---- the rounded images: an item is a row of a line of channels ----

typedef struct job {
    const bconv *v;
    const tn_btiles *tiles;
    const float *x;
    const uint16_t *lines;       // instead of x, of an operand in NCHW32B
    uint16_t *to;
} job;

static void round_images(void *context, size_t first, size_t count, unsigned slot)
{
    (void)slot;
    const job *j = context;
    const bconv *v = j->v;
    const int64_t height = v->height, width = v->s.in[2], right = v->width - v->left - width;
    for (size_t i = first; i < first + count; i++) {
        const int64_t row = (int64_t)i % height - v->top, line = (int64_t)i / height % v->lines, image = (int64_t)i / height / v->lines, b = 2 * line;
        uint16_t *to = j->to + (ptrdiff_t)i * v->width * v->pixel, *inner = to + v->left * v->pixel;
        if (row < 0 || row >= v->s.in[1]) {
            memset(to, 0, (size_t)(v->width * v->pixel) * sizeof *to);
            continue;
        }
        memset(to, 0, (size_t)(v->left * v->pixel) * sizeof *to);
        memset(inner + width * v->pixel, 0, (size_t)(right * v->pixel) * sizeof *to);
        if (v->lines_in) {
            const int64_t from = ((image * v->lines + line) * v->s.in[1] + row) * width;
            j->tiles->copy_lines(inner, j->lines + from * TN_BGEMM_LINE, TN_BGEMM_LINE, width, TN_BGEMM_LINE);
            continue;
        }
        if (v->plain_in) {
            j->tiles->round_pixels(inner, j->x + image * v->image + row * width, v->plane, (int)v->s.c, width);
            continue;
        }
        const float *from = j->x + image * v->image + b * v->plane + row * width * TN_BGEMM_LANES;
        const bool two = b + 1 < v->blocks;
        j->tiles->round_part(inner, from, two ? from + v->plane : NULL, TN_BGEMM_LANES, width, b + 1 + two == v->blocks ? v->last_lanes : TN_BGEMM_LANES);
        if (!two) {
            j->tiles->round_part(inner + TN_BGEMM_LANES, NULL, NULL, 0, width, 0);
        }
    }
}

// ---- rows of A ----

// Pixels ow .. ow + rows - 1 of row oh of a pointwise convolution into rows of a block of A. x: an image.
static void round_points(const tn_bgemm *gemm, const bconv *v, const float *x, uint16_t *to, int64_t oh, int64_t ow, int64_t rows)
{
    const tn_conv_shape *s = &v->s;
    const float *from = x + (oh * s->stride[1] * s->in[2] + ow * s->stride[2]) * TN_BGEMM_LANES;
    const ptrdiff_t step = (ptrdiff_t)s->stride[2] * TN_BGEMM_LANES;
    for (int64_t b = 0; b < v->blocks; b += 2, to += TN_BGEMM_ROWS * TN_BGEMM_LINE, from += 2 * v->plane) {
        const bool two = b + 1 < v->blocks;
        gemm->tiles->round_part(to, from, two ? from + v->plane : NULL, step, rows, b + 1 + two == v->blocks ? v->last_lanes : TN_BGEMM_LANES);
        if (!two) {
            gemm->tiles->round_part(to + TN_BGEMM_LANES, NULL, NULL, 0, rows, 0);
        }
    }
}

// Lines of a row of the window.
static int64_t row_lines(const bconv *x) { return x->plain_in ? 1 : x->s.kernel[2] * x->lines; }

// The windows of such pixels. x: a rounded image.
static void copy_windows(const tn_bgemm *gemm, const bconv *v, const uint16_t *x, uint16_t *to, int64_t oh, int64_t ow, int64_t rows,
                         const tn_bgemm_span *span)
{
    const tn_conv_shape *s = &v->s;
    const int64_t columns = v->plain_in ? 1 : s->kernel[2], first = ow * s->stride[2] - s->pad[2] + v->left;
    const int64_t each = row_lines(v), kh0 = span ? span->first / each : 0, kh1 = span ? kh0 + span->count / each : s->kernel[1];
    to += kh0 * each * TN_BGEMM_ROWS * TN_BGEMM_LINE;
    for (int64_t kh = kh0; kh < kh1; kh++) {
        const int64_t ih = oh * s->stride[1] - s->pad[1] + kh * s->dilation[1];
        const bool there = ih >= 0 && ih < s->in[1];
        for (int64_t kw = 0; kw < columns; kw++) {
            for (int64_t line = 0; line < v->lines; line++, to += TN_BGEMM_ROWS * TN_BGEMM_LINE) {
                const uint16_t *from = there ? x + ((line * v->height + ih) * v->width + first + kw * s->dilation[2]) * v->pixel : NULL;
                gemm->tiles->copy_lines(to, from, (ptrdiff_t)s->stride[2] * v->pixel, rows, v->words);
            }
        }
    }
}

static void round_windows(const tn_bgemm *gemm, uint16_t *to, int64_t image, int64_t m0, int64_t m1)
{
    const bconv *v = gemm->context;
    const int64_t width = v->s.out[2];
    for (int64_t m = m0, rows; m < m1; m += rows) {
        // To the end of the row of pixels, of the block, of all.
        const int64_t row = (m - m0) % TN_BGEMM_ROWS, oh = m / width, ow = m % width;
        uint16_t *block = to + (m - m0) / TN_BGEMM_ROWS * gemm->lines * TN_BGEMM_ROWS * TN_BGEMM_LINE + row * TN_BGEMM_LINE;
        rows = TN_MIN(TN_MIN(width - ow, TN_BGEMM_ROWS - row), m1 - m);
        if (v->point) {
            round_points(gemm, v, gemm->a + image * v->image, block, oh, ow, rows);
        } else {
            copy_windows(gemm, v, gemm->rounded + image * v->rounded_image, block, oh, ow, rows, gemm->spans ? &gemm->spans[m / TN_BGEMM_ROWS] : NULL);
        }
    }
}

// Rows of the window that lie in the padding for all pixels of a block are left out. Leaves g->spans NULL where there are none.
static tn_status place_spans(bconv *x, tn_prepare *prepare)
{
    const tn_conv_shape *s = &x->s;
    const int64_t blocks = tn_tile_cuts(x->gemm.m, TN_BGEMM_ROWS), width = x->in_place ? x->width : s->out[2];
    bool all = true;
    tn_bgemm_span *spans = tn_arena_array(prepare->arena, (size_t)blocks, sizeof *spans);
    if (!spans) {
        return tn_fail_memory(prepare->diag, prepare->query->name, (size_t)blocks * sizeof *spans);
    }
    for (int64_t i = 0; i < blocks; i++) {
        const int64_t last = TN_MIN(s->out[1] - 1, (TN_MIN(x->gemm.m, (i + 1) * TN_BGEMM_ROWS) - 1) / width);
        int64_t first = s->kernel[1], end = 0;
        for (int64_t oh = i * TN_BGEMM_ROWS / width; oh <= last; oh++) {
            int64_t k0, k1;
            tn_conv_taps(oh * s->stride[1] - s->pad[1], s->kernel[1], s->dilation[1], s->in[1], &k0, &k1);
            first = k0 < k1 ? TN_MIN(first, k0) : first;
            end = k0 < k1 ? TN_MAX(end, k1) : end;
        }
        first = TN_MIN(first, end);
        spans[i] = (tn_bgemm_span){first * row_lines(x), (end - first) * row_lines(x)};
        all = all && end - first == s->kernel[1];
    }
    x->gemm.spans = all ? NULL : spans;
    return TN_OK;
}

// Where each line of k lies for the first window, and which neighbours in an image C has.
static tn_status place_lines(bconv *x, tn_prepare *prepare)
{
    const tn_conv_shape *s = &x->s;
    tn_bgemm *g = &x->gemm;
    ptrdiff_t *steps = tn_arena_array(prepare->arena, (size_t)g->lines, sizeof *steps);
    if (!steps) {
        return tn_fail_memory(prepare->diag, prepare->query->name, (size_t)g->lines * sizeof *steps);
    }
    const int64_t origin = (x->top - s->pad[1]) * x->width + x->left - s->pad[2];   // the first window's first tap
    for (int64_t i = 0; i < g->lines; i++) {
        const int64_t line = i % x->lines, kw = i / x->lines % s->kernel[2], kh = i / x->lines / s->kernel[2];
        steps[i] = (origin + (line * x->height + kh * s->dilation[1]) * x->width + kw * s->dilation[2]) * x->pixel;
    }
    g->steps = steps;
    g->exact = x->as_is;
    g->keep = s->out[2];
    g->period = x->width;
    g->m = rows_in_place(x);
    return TN_OK;
}

tn_status tn_bconv_prepare(tn_prepare *prepare)
{
    const tn_query *query = prepare->query;
    const char *why = "the attributes do not fit";
    bconv *x;
    size_t bytes, rounded;
    TN_TRY(tn_prepare_params(prepare, sizeof *x, (void **)&x));
    if (!describe(x, query, &why)) {
        return tn_fail(prepare->diag, TN_INTERNAL, query->name, "%s", why);
    }
    const tn_conv_shape *s = &x->s;
    const int64_t pixels = s->out[1] * s->out[2];
    x->gemm = (tn_bgemm){.images = s->n, .m = pixels, .n = s->m, .lines = tn_bgemm_lines(x->k), .round = round_windows, .c_row = TN_BGEMM_LANES,
                         .c_vec = (ptrdiff_t)pixels * TN_BGEMM_LANES, .blocked = true, .alpha = 1.0f, .beta = 1.0f};
    x->gemm.c_image = (s->m + TN_BGEMM_LANES - 1) / TN_BGEMM_LANES * x->gemm.c_vec;
    // Blocks in place read on behind the last pixel, by less than a block.
    const bool fits = tn_bgemm_packed_bytes(x->k, s->m, &bytes) && tn_mul_size((size_t)(s->n * x->lines), (size_t)x->height, &rounded) &&
                      tn_mul_size(rounded, (size_t)x->width, &rounded) && tn_mul_size(rounded, (size_t)x->pixel, &rounded) &&
                      tn_add_size(rounded, TN_BGEMM_ROWS * TN_BGEMM_LINE, &rounded);
    if (!fits) {
        return tn_fail(prepare->diag, TN_LIMIT, query->name, "the packed weights or the rounded images do not fit in memory");
    }
    x->rounded_image = (ptrdiff_t)(x->lines * x->height * x->width) * x->pixel;
    x->gemm.rounded_image = x->rounded_image;
    if (x->lines_out) {
        x->gemm.c_row = TN_BGEMM_LINE;
        x->gemm.c_image = (s->m + TN_BGEMM_LINE - 1) / TN_BGEMM_LINE * pixels * TN_BGEMM_LINE;
    }
    if (x->in_place) {
        TN_TRY(place_lines(x, prepare));
    }
    if (!x->point) {
        TN_TRY(place_spans(x, prepare));
    }
    TN_TRY(tn_bgemm_prepare(&x->gemm, prepare, x->in_place ? x->lines : x->gemm.lines));
    TN_TRY(tn_scratch_add(prepare, x->point || x->as_is ? 0 : rounded, sizeof(uint16_t), &x->rounded_at));
    const uint64_t form[] = {(uint64_t)s->c, (uint64_t)s->m, (uint64_t)s->kernel[1], (uint64_t)s->kernel[2], (uint64_t)x->tap0[0], (uint64_t)x->tap0[1], x->plain_in, x->point};
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
    g.a = x->lines_in ? NULL : call->in[0]->data;
    g.b = call->packed[0];
    g.bias = call->n_in > 2 && call->in[2] ? call->in[2]->data : NULL;
    void *c = call->out[0]->data;
    const void *residual = call->n_in > 3 && call->in[3] ? call->in[3]->data : NULL;
    if (x->lines_out) {
        g.c_lines = c;
        g.residual_lines = residual;
    } else {
        g.c = c;
        g.residual = residual;
    }
    if (x->as_is) {
        g.rounded = call->in[0]->data;
    } else if (!x->point) {
        job j = {x, tiles, g.a, x->lines_in ? call->in[0]->data : NULL, (uint16_t *)(void *)((char *)call->scratch + x->rounded_at)};
        tn_workers_run(call->workers, round_images, &j, (size_t)(x->s.n * x->lines * x->height), 4);
        g.rounded = j.to;
    }
    tn_bgemm_run(call->workers, &g, call->scratch);
    return TN_OK;
}

double tn_bconv_cost_amx(const tn_query *query) { return cost(query, &tn_bgemm_facts_amx); }
double tn_bconv_cost_avx512bf16(const tn_query *query) { return cost(query, &tn_bgemm_facts_avx512bf16); }
