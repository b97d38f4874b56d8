// SPDX-License-Identifier: Apache-2.0
// Direct convolution on channel blocks: a tile is P neighbouring pixels of an output row times q vectors of output channels. The
// pixels of a row lie at a fixed distance, so each tap of the window is one segment of the register tile. Taps above and below
// the image are left out; at the left and right edge the tile's window is copied once, with zeros around it, and used for all
// output channels. Where that would be much, as with narrow images or several chunks of weights, all of x is copied with its zeros
// instead. A picture of one pixel is a matrix product.
// Ownership: parameters live in the plan's arena. Threads: uses the workers it is given.
#include "kernels/conv/conv.h"

#include "base/macros.h"
#include "base/map.h"
#include "kernels/gemm/gemm.h"
#include "kernels/gemm/scratch.h"

// Tiles in a strip, and floats of their input.
#define STRIP_MOST 32
#define STRIP_FLOATS 6144

// Rows of plain windows this wide are segments that the register tile has unrolled loops for.
#define NARROW 3
#define WIDE 7

// Other windows of at most this many taps are gathered, COPY floats at a time.
#define GATHER_MOST 512
#define COPY 4

// Floats between the weights that one step of a tile asks for and those of the next step: a line in four steps.
#define ASK_MOST 4

// Tiles and groups of output channels for each thread, up to and from which threads have channels each.
#define SHARE_TILES 24
#define SHARE_GROUPS 4

// Bytes of the next group's weights that all tiles of a strip together ask for in a block of steps: a little more than there are.
#define ASK_BYTES 1024

typedef struct direct {
    const tn_tile_facts *facts;
    tn_conv_shape s;             // 2-D, without taps that lie in the padding of all windows; a pointwise one is flattened to one row
    int64_t taps[2], tap0[2];    // the window as its weights have it: rows and columns, the first of them that s has
    bool plain_in;               // x is plain: the "blocks" are its channels, one lane each
    int block;                   // channels in a block of y (and of x unless plain)
    int q;
    int64_t vectors;             // of output channels in a group
    int64_t oc_groups;           // groups of q of those
    int64_t oc_chunk, ic_chunk;  // such groups, and blocks of x, whose weights stay in the second-level cache together
    int64_t blocks_in;           // blocks of x in a group
    int64_t lanes, last_lanes;   // k steps of a segment
    int64_t seg_w;               // segments along the row of the window: kw, or 1 where a whole row is one segment
    ptrdiff_t pixel, row, plane; // floats from pixel to pixel, row to row, block to block of x
    int64_t cuts;                // tiles in a row: nearly equal, each of `cut` pixels, the first `cut_more` of one more
    int64_t cut, cut_more;
    int64_t strip;               // neighbouring tiles that meet a group's weights together, while their input stays in the first-level cache
    int64_t inside0, inside1;    // tiles of a row that may go together: what their windows reach is all there
    size_t vector_floats;        // weights of one vector of output channels
    int64_t steps_block;         // k steps of a block of x
    int shift;                   // log2 of block
    ptrdiff_t plane_out;         // floats from block to block of y
    int last_bias;               // lanes of a group's last vector
    int64_t window;              // pixels in a row of the copied window, at most
    int64_t left, width;         // zeros before a row of x, pixels of a row with its zeros, where all of x is copied; else 0, in[2]
    size_t padded_floats;        // of that copy; 0: none
    bool product;                // one pixel for each of few images: a matrix product
    bool points;                 // pointwise with stride 1: whole groups of weights may go by strips of pixels (tn_strip_fn)
    size_t l2;
    bool ask;                    // y does not stay in the second-level cache
    ptrdiff_t gathered;          // few plain channels: each pixel's window is copied to one segment, this many floats apart; else 0
    size_t slot_floats;          // of the copied window
    unsigned slots;
    size_t group_floats;         // weights of one group of q vectors
    tn_act act;
} direct;

// Sets strip and the tiles that may be in one.
static void set_strip(direct *d)
{
    const tn_conv_shape *s = &d->s;
    const int64_t p = tn_tile_cuts(s->out[2], TN_MAX(1, d->cuts)), steps = d->blocks_in * d->steps_block;
    const bool point = s->kernel[1] == 1 && s->kernel[2] == 1 && s->pad[1] == 0 && s->pad[2] == 0 &&
                       (s->out[1] - 1) * s->stride[1] < s->in[1] && (s->out[2] - 1) * s->stride[2] < s->in[2];
    const bool rows = d->plain_in && d->seg_w == 1 && (s->kernel[2] == NARROW || s->kernel[2] == WIDE);
    d->gathered = d->plain_in && d->seg_w == 1 && s->kernel[2] > 1 && !rows && steps <= GATHER_MOST ? (ptrdiff_t)steps + COPY - 1 : 0;
    const int64_t floats = rows ? d->blocks_in * s->kernel[1] * p * s->stride[2] : p * steps;
    d->strip = point || rows || d->gathered > 0 ? TN_MAX(1, TN_MIN(STRIP_MOST, STRIP_FLOATS / TN_MAX(1, floats))) : 1;
    d->inside1 = d->cuts;
    for (int64_t i = 0; rows && i < d->cuts; i++) {
        const int64_t ow = i * d->cut + TN_MIN(i, d->cut_more), first = ow * s->stride[2] - s->pad[2];
        const int64_t last = first + (d->cut + (i < d->cut_more) - 1) * s->stride[2] + s->kernel[2] - 1;
        d->inside0 = first < 0 ? i + 1 : d->inside0;
        d->inside1 = last >= s->in[2] ? TN_MIN(d->inside1, i) : d->inside1;
    }
}

static bool describe(direct *d, const tn_query *query, const tn_tile_facts *facts)
{
    const tn_conv_attr *attr = query->attr;
    *d = (direct){.facts = facts, .act = attr->act};
    if (!tn_conv_shape_of(attr, &query->in[0]->shape, &query->in[1]->shape, &d->s)) {
        return false;
    }
    d->plain_in = query->in[0]->layout == TN_LAYOUT_PLAIN;
    tn_conv_trim(&d->s, d->taps, d->tap0);
    tn_conv_flatten(&d->s);
    tn_conv_shape *s = &d->s;
    d->block = tn_layout_block(query->out[0]->layout);
    d->vectors = (s->mg + facts->lanes - 1) / facts->lanes;
    d->pixel = d->plain_in ? 1 : d->block;
    d->row = (ptrdiff_t)s->in[2] * d->pixel;
    d->plane = (ptrdiff_t)s->in[1] * d->row;
    d->seg_w = s->kernel[2];
    if (d->plain_in) {
        d->blocks_in = s->cg;
        const bool whole = s->dilation[2] == 1;
        d->seg_w = whole ? 1 : s->kernel[2];
        d->lanes = d->last_lanes = whole ? s->kernel[2] : 1;
    } else {
        d->blocks_in = (s->cg + d->block - 1) / d->block;
        d->lanes = d->block;
        d->last_lanes = s->cg - (d->blocks_in - 1) * d->block;
    }
    d->width = s->in[2];
    d->product = d->block > 0 && s->groups == 1 && s->in[1] * s->in[2] * s->out[1] * s->out[2] == 1 && s->kernel[1] * s->kernel[2] == 1 &&
                 s->pad[1] == 0 && s->pad[2] == 0 && s->n <= TN_STREAM_MAX_P && s->c % d->lanes == 0 && s->m % d->block == 0;
    d->q = d->product ? 2 : tn_tile_choose_q(facts, s->out[2], d->vectors);
    d->points = facts->strips & TN_STRIPS_POINTS && d->q == 2 && facts->lanes == d->block && !d->plain_in && s->kernel[1] * s->kernel[2] == 1 && s->out[1] == 1 &&
                s->in[1] == 1 && s->stride[2] == 1 && s->pad[2] == 0 && s->out[2] == s->in[2];
    if (d->q * facts->lanes > d->block && facts->lanes < d->block) {
        d->q = d->block / facts->lanes;   // vectors of a tile are one fixed step apart: not past the block
    }
    d->oc_groups = (d->vectors + d->q - 1) / d->q;
    d->steps_block = s->kernel[1] * d->seg_w * d->lanes;
    d->vector_floats = (size_t)(d->blocks_in * d->steps_block) * (size_t)facts->lanes;
    d->shift = d->block == 16 ? 4 : 3;
    d->plane_out = (ptrdiff_t)(s->out[1] * s->out[2]) * d->block;
    d->last_bias = (int)(s->mg - (d->vectors - 1) * facts->lanes);
    d->cuts = tn_tile_cuts(s->out[2], facts->max_p[TN_MIN((int64_t)d->q, d->vectors)]);
    d->cut = d->cuts > 0 ? s->out[2] / d->cuts : 0;
    d->cut_more = d->cuts > 0 ? s->out[2] % d->cuts : 0;
    const int64_t p = tn_tile_cuts(s->out[2], TN_MAX(1, d->cuts));
    set_strip(d);
    const int64_t reach = (p - 1) * s->stride[2] + (s->kernel[2] - 1) * s->dilation[2] + 1;
    d->window = TN_MIN(reach, s->in[2] + 2 * (p - 1) * s->stride[2]);
    return true;
}

static bool match(const tn_query *query, const char **why, const tn_tile_facts *facts)
{
    direct d;
    if (!tn_conv_match_packed(query, why)) {
        return false;
    }
    if (!describe(&d, query, facts) || d.s.in[0] != 1 || d.s.kernel[0] != 1 || d.s.out[0] != 1 || d.s.pad[0] != 0) {
        *why = "only one or two spatial dims";
        return false;
    }
    if (d.plain_in && query->n_in > 3 && query->in[3]) {
        *why = "the residual is not in blocks";
        return false;
    }
    if (d.s.groups > 1 && (d.plain_in || d.s.cg % d.block != 0 || d.s.mg % d.block != 0)) {
        *why = "the channels of a group are not whole blocks";
        return false;
    }
    return true;
}

static double cost(const tn_query *query, const tn_tile_facts *facts)
{
    direct d;
    if (!describe(&d, query, facts)) {
        return 1e18;
    }
    const tn_conv_shape *s = &d.s;
    const double steps = (double)s->cg * (double)(s->kernel[1] * s->kernel[2]);
    const double rows = (double)s->out[1] * (double)s->n * (double)s->groups;
    // Segments of whole blocks run in one unrolled loop; each other one begins a loop of its own. A tile begins and ends.
    const double parts = d.plain_in || d.last_lanes != d.block ? 1.0 : 0.0, whole = d.plain_in ? 0.0 : (double)d.blocks_in - parts;
    const double begin = d.strip > 1 ? 1.0 : 6.0;   // rows of a plain window that are unrolled begin at once too
    const double segments = (double)(s->kernel[1] * d.seg_w) * (whole * 0.5 + parts * (d.plain_in ? (double)d.blocks_in * begin : 6.0));
    const double tiles = (double)d.cuts * (double)d.oc_groups * ((d.gathered > 0 ? 0.0 : segments) + 15.0);
    const double gather = d.gathered > 0 ? (double)(s->cg * s->kernel[1] * s->out[2]) * (0.5 + 0.1 * (double)s->kernel[2]) : 0.0;
    const double compute = rows * (steps * tn_tile_cost(facts, s->out[2], d.vectors, d.q) + tiles + gather);
    const double stream = (double)s->groups * (double)d.vectors * (double)d.vector_floats * 4.0 / 40.0 * (1.0 + 0.5 / facts->lanes);
    return 300.0 + TN_MAX(compute, stream);
}

// ---- weights ----

// One k step of a group: the weights of channel c and tap (kh, kw) for `width` output channels from m0 on, `valid` of which there are.
static float *pack_step(const direct *d, const void *weights, float *out, int64_t m0, int64_t c, int64_t kh, int64_t kw, int64_t valid, int64_t width)
{
    const tn_conv_shape *s = &d->s;
    const int64_t row = s->cg * d->taps[0] * d->taps[1], there = c < s->cg ? valid : 0;
    const size_t from = (size_t)(m0 * row + (c * d->taps[0] + d->tap0[0] + kh) * d->taps[1] + d->tap0[1] + kw);
    for (int64_t i = 0; i < there; i++) {
        out[i] = tn_load_f32(weights, from + (size_t)(i * row));
    }
    for (int64_t i = there; i < width; i++) {
        out[i] = 0.0f;
    }
    return out + width;
}

// One group of q vectors of output channels.
static void pack_group(void *dst, const tn_query *query, const void *params, int64_t og)
{
    const direct *d = params;
    const tn_conv_shape *s = &d->s;
    const int64_t group = og / d->oc_groups, first = og % d->oc_groups * d->q, m0 = first * d->facts->lanes;
    const int64_t width = TN_MIN((int64_t)d->q, d->vectors - first) * d->facts->lanes, valid = TN_MIN(width, s->mg - m0);
    float *out = (float *)dst + (size_t)(group * d->vectors + first) * d->vector_floats;
    for (int64_t block = 0; block < d->blocks_in; block++) {
        for (int64_t kh = 0; kh < s->kernel[1]; kh++) {
            for (int64_t seg = 0; seg < d->seg_w; seg++) {
                for (int64_t i = 0; i < d->lanes; i++) {   // taps of one plain channel, or channels of a block
                    const int64_t c = d->plain_in ? block : block * d->lanes + i, kw = d->plain_in ? seg * d->lanes + i : seg;
                    out = pack_step(d, query->in[1]->data, out, group * s->mg + m0, c, kh, kw, valid, width);
                }
            }
        }
    }
}

static void pack(void *dst, const tn_query *query, const void *params)
{
    const direct *d = params;
    for (int64_t og = 0; og < d->s.groups * d->oc_groups; og++) {
        pack_group(dst, query, params, og);
    }
}

// Weights that all fit in half of the second-level cache stay there. Else they come in chunks of a quarter, so that the next chunk
// can be fetched while one is used: of whole groups, or when one group is too large, of a group's input blocks.
static void chunk(direct *d, size_t l2)
{
    const size_t bytes = d->group_floats * sizeof(float);
    d->ic_chunk = d->blocks_in;
    d->oc_chunk = d->oc_groups;
    if (bytes * (size_t)d->oc_groups <= l2 / 2) {
        return;
    }
    d->oc_chunk = TN_MAX(1, TN_MIN(d->oc_groups, (int64_t)(l2 / 4 / bytes)));
    if (bytes > l2 / 2) {
        const int64_t cuts = (int64_t)TN_MIN((size_t)d->blocks_in, (bytes + l2 / 4 - 1) / (l2 / 4));
        d->ic_chunk = (d->blocks_in + cuts - 1) / cuts;
    }
}

// The columns of x that the taps of a tile reach, and the taps kw0 .. kw1 - 1 themselves: those that one of its pixels has in x.
typedef struct reach {
    int64_t first, last, kw0, kw1;
} reach;

static reach reach_of(const tn_conv_shape *s, int64_t ow, int64_t p)
{
    reach r;
    int64_t unused;
    const int64_t iw = ow * s->stride[2] - s->pad[2], iw_last = iw + (p - 1) * s->stride[2];
    tn_conv_taps(iw_last, s->kernel[2], s->dilation[2], s->in[2], &r.kw0, &unused);
    tn_conv_taps(iw, s->kernel[2], s->dilation[2], s->in[2], &unused, &r.kw1);
    r.first = iw + r.kw0 * s->dilation[2];
    r.last = iw_last + (r.kw1 - 1) * s->dilation[2];
    return r;
}

// Decides whether x is copied with zeros at the ends of its rows: where the windows of the tiles at the edges would be copied twice as many
// floats in all, chunk by chunk.
static void pad_rows(direct *d)
{
    const tn_conv_shape *s = &d->s;
    if (d->plain_in || s->kernel[2] == 1) {
        return;
    }
    int64_t rows = 0, copied = 0, left = 0, right = 0;
    for (int64_t oh = 0; oh < s->out[1]; oh++) {
        int64_t kh0, kh1;
        tn_conv_taps(oh * s->stride[1] - s->pad[1], s->kernel[1], s->dilation[1], s->in[1], &kh0, &kh1);
        rows += TN_MAX(0, kh1 - kh0);
    }
    for (int64_t i = 0; i < d->cuts; i++) {
        const reach r = reach_of(s, i * d->cut + TN_MIN(i, d->cut_more), d->cut + (i < d->cut_more));
        if (r.kw0 < r.kw1 && (r.first < 0 || r.last >= s->in[2])) {
            copied += r.last - r.first + 1;
            left = TN_MAX(left, -r.first);
            right = TN_MAX(right, r.last + 1 - s->in[2]);
        }
    }
    const int64_t chunks = (d->oc_groups + d->oc_chunk - 1) / d->oc_chunk, width = left + s->in[2] + right;
    if (width > 2 * s->in[2] || (double)copied * (double)rows * (double)chunks < 2.0 * (double)width * (double)s->in[1]) {
        return;
    }
    d->left = left;
    d->width = width;
    d->row = (ptrdiff_t)width * d->pixel;
    d->plane = (ptrdiff_t)s->in[1] * d->row;
    d->padded_floats = (size_t)(s->n * s->groups * d->blocks_in * d->plane);
}

static tn_status prepare(tn_prepare *prepare, const tn_tile_facts *facts)
{
    direct *d;
    TN_TRY(tn_prepare_params(prepare, sizeof *d, (void **)&d));
    if (!describe(d, prepare->query, facts)) {
        return tn_fail(prepare->diag, TN_INTERNAL, prepare->query->name, "the convolution's attributes do not fit its shapes");
    }
    const tn_conv_shape *s = &d->s;
    size_t floats, bytes, at;
    const bool fits = tn_mul_size((size_t)(d->blocks_in * d->lanes), (size_t)(s->kernel[1] * d->seg_w), &floats) &&
                      tn_mul_size(floats, (size_t)(d->q * facts->lanes), &d->group_floats) &&
                      tn_mul_size(floats, (size_t)(d->vectors * s->groups) * (size_t)facts->lanes * sizeof(float), &bytes) &&
                      tn_mul_size((size_t)(d->blocks_in * s->kernel[1]), (size_t)(d->window * d->pixel), &d->slot_floats);
    if (!fits) {
        return tn_fail(prepare->diag, TN_LIMIT, prepare->query->name, "the packed weights do not fit in memory");
    }
    d->l2 = prepare->query->cpu->l2;
    chunk(d, d->l2);
    pad_rows(d);
    d->ask = facts->lanes == d->block && tn_tensor_count(prepare->query->out[0]) > (int64_t)(d->l2 / sizeof(float));
    if (d->padded_floats > 0) {
        d->slot_floats = 0;
    } else if (d->gathered > 0) {
        d->slot_floats = (size_t)(d->gathered * (d->cut + 1) * d->strip + COPY);
    }
    d->slot_floats = (d->slot_floats + 15) / 16 * 16;
    d->slots = TN_MAX(1u, prepare->query->threads);
    TN_TRY(tn_scratch_add(prepare, d->slot_floats, d->slots * sizeof(float), &at));
    TN_TRY(tn_scratch_add(prepare, d->padded_floats, sizeof(float), &at));   // the only part when there is one
    const uint64_t form[] = {(uint64_t)facts->lanes, (uint64_t)d->q,         (uint64_t)d->lanes,     (uint64_t)s->mg,
                             (uint64_t)s->groups,    (uint64_t)d->blocks_in, (uint64_t)s->kernel[1], (uint64_t)s->kernel[2],
                             (uint64_t)d->taps[0],   (uint64_t)d->taps[1],   (uint64_t)d->tap0[0],   (uint64_t)d->tap0[1]};
    prepare->packs[0] = (tn_pack){
        .operand = 1, .id = "conv_f32_direct", .variant = tn_hash(form, sizeof form, d->plain_in), .bytes = bytes, .pack = pack,
        .part = pack_group, .parts = s->groups * d->oc_groups, .in_order = true};
    prepare->n_packs = 1;
    return TN_OK;
}

// ---- running ----

typedef struct job {
    const direct *d;
    const tn_tiles *tiles;
    const float *x, *w, *bias, *residual;
    float *y;
    float *windows;              // slot_floats for each slot
    int64_t tiles_item, items_row;
    int64_t oc_chunk, chunks;    // groups of an item
} job;

// Where a tile's input is: rows kh0 .. kh1 - 1 and taps kw0 .. kw1 - 1 of the window, and how to step through them.
typedef struct source {
    const float *a;
    ptrdiff_t row, plane;
    int64_t kh0, kh1, kw0, kw1;
} source;

// Copies the rows and columns of some blocks of x that the tile's taps reach, zeros where there are none:
//   [input block][kh1 - kh0][width][pixel]
static void copy_window(const direct *d, const float *x, float *window, int64_t blocks, int64_t ih, int64_t iw, int64_t width, int64_t rows)
{
    const int64_t left = TN_MIN(width, TN_MAX(0, -iw)), right = TN_MAX(left, TN_MIN(width, d->s.in[2] - iw));
    for (int64_t b = 0; b < blocks; b++) {
        for (int64_t r = 0; r < rows; r++) {
            const float *from = x + b * d->plane + (ih + r * d->s.dilation[1]) * d->row + (iw + left) * d->pixel;
            memset(window, 0, (size_t)(left * d->pixel) * sizeof(float));
            memcpy(window + left * d->pixel, from, (size_t)((right - left) * d->pixel) * sizeof(float));
            memset(window + right * d->pixel, 0, (size_t)((width - right) * d->pixel) * sizeof(float));
            window += width * d->pixel;
        }
    }
}

// The input of pixels ow .. ow + p - 1 of row oh; x: the first of `blocks` blocks.
static source find_source(const direct *d, const float *x, float *window, int64_t blocks, int64_t oh, int64_t ow, int64_t p)
{
    const tn_conv_shape *s = &d->s;
    source f = {.plane = d->plane, .row = d->row * s->dilation[1]};
    const int64_t ih = oh * s->stride[1] - s->pad[1];
    const reach r = reach_of(s, ow, p);
    tn_conv_taps(ih, s->kernel[1], s->dilation[1], s->in[1], &f.kh0, &f.kh1);
    f.kw0 = r.kw0;
    f.kw1 = r.kw1;
    if (f.kh0 >= f.kh1 || f.kw0 >= f.kw1) {
        f.kh1 = f.kh0;
        f.a = x;
        return f;
    }
    const int64_t top = ih + f.kh0 * s->dilation[1];
    if (r.first + d->left >= 0 && r.last + d->left < d->width) {
        f.a = x + top * d->row + (r.first + d->left) * d->pixel;
    } else {
        const int64_t width = r.last - r.first + 1;
        copy_window(d, x, window, blocks, top, r.first, width, f.kh1 - f.kh0);
        f.a = window;
        f.row = (ptrdiff_t)width * d->pixel;
        f.plane = (ptrdiff_t)(f.kh1 - f.kh0) * f.row;
    }
    return f;
}

// The taps of a window's row from column iw on, 0 where there are none.
static void gather_edge(float *to, const float *row, int64_t iw, int64_t taps, int64_t width)
{
    for (int64_t i = 0; i < taps; i++) {
        to[i] = iw + i >= 0 && iw + i < width ? row[iw + i] : 0.0f;
    }
}

// The windows of pixels ow .. ow + count - 1 of row oh, one after another: [pixel][channel][kh][kw], `gathered` floats from pixel to pixel.
// Rows of a window are copied in whole steps of COPY floats where x has them; what is too much falls on what is copied next.
static void gather_windows(const direct *d, const float *x, float *to, int64_t channels, int64_t oh, int64_t ow, int64_t count)
{
    const tn_conv_shape *s = &d->s;
    const int64_t taps = s->kernel[2], whole = (taps + COPY - 1) / COPY * COPY, stride = s->stride[2], left = ow * stride - s->pad[2];
    // Pixels first .. last - 1 may be copied in whole steps.
    const int64_t first = TN_MIN(count, left >= 0 ? 0 : (-left + stride - 1) / stride);
    const int64_t room = s->in[2] - whole - left, last = TN_MAX(first, TN_MIN(count, room < 0 ? 0 : room / stride + 1));
    for (int64_t c = 0; c < channels; c++) {
        for (int64_t kh = 0; kh < s->kernel[1]; kh++) {
            const int64_t ih = oh * s->stride[1] - s->pad[1] + kh * s->dilation[1];
            const bool there = ih >= 0 && ih < s->in[1];
            const float *row = x + c * d->plane + (there ? ih : 0) * d->row;
            float *out = to + (c * s->kernel[1] + kh) * taps;
            int64_t p = 0;
            for (; p < (there ? first : count); p++) {
                gather_edge(out + p * d->gathered, row, left + p * stride, taps, there ? s->in[2] : 0);
            }
            if (whole == COPY) {   // windows up to 4 wide: a loop of their own
                for (; p < last; p++) {
                    memcpy(out + p * d->gathered, row + left + p * stride, COPY * sizeof(float));
                }
            }
            for (; p < last; p++) {
                for (int64_t i = 0; i < whole; i += COPY) {
                    memcpy(out + p * d->gathered + i, row + left + p * stride + i, COPY * sizeof(float));
                }
            }
            for (; p < count; p++) {
                gather_edge(out + p * d->gathered, row, left + p * stride, taps, s->in[2]);
            }
        }
    }
}

// A chunk of weights, and the tiles of pixels that it is used for one after another.
typedef struct unit {
    int64_t n, group;
    ptrdiff_t image;             // floats to the first block of y of image n
    int64_t g0, g1;              // groups of output vectors
    int64_t b0, b1;              // blocks of x
    int64_t tile0, tile1;
    ptrdiff_t next;              // floats from the weights of this unit to those that are used next; 0: none
    int64_t share;               // each tile asks for so many of them
} unit;

// What all tiles of a unit have in common.
static tn_tile begin_unit(const job *j, const unit *u)
{
    const direct *d = j->d;
    const tn_conv_shape *s = &d->s;
    const int vl = d->facts->lanes;
    tn_tile t = {
        .a_row = d->gathered > 0 ? d->gathered : (ptrdiff_t)s->stride[2] * d->pixel,
        .a2 = (ptrdiff_t)s->dilation[2] * d->pixel,
        .n0 = u->b1 - u->b0,
        .c_row = d->block,
        .c_vec = vl < d->block ? vl : (ptrdiff_t)(s->out[1] * s->out[2]) * d->block,
        .tail = vl,
        .alpha = 1.0f,
        .beta = 1.0f,
        .resume = u->b0 > 0,
        .finish = u->b1 == d->blocks_in,
        .ask = d->ask && u->b0 == 0,
    };
    tn_tile_set_act(&t, &d->act);
    return t;
}

// Pixels ow .. ow + p - 1 of row oh: tile number `tile` of the unit, and t->repeat - 1 more that follow it in the row. t: of begin_unit;
// only what this sets changes.
static void run_tile(const job *j, const unit *u, tn_tile *t, int64_t tile, int64_t oh, int64_t ow, int64_t p, unsigned slot)
{
    const direct *d = j->d;
    const tn_conv_shape *s = &d->s;
    const int vl = d->facts->lanes;
    const int64_t in_blocks = d->plain_in ? s->c : (s->c + d->block - 1) / d->block;
    const float *x = j->x + (u->n * in_blocks + u->group * d->blocks_in + u->b0) * d->plane;
    float *window = j->windows + slot * d->slot_floats;
    // A segment that is a whole row of the window begins at tap kw0.
    const bool whole = d->plain_in && d->seg_w == 1;
    source f = {.a = window};
    if (d->gathered > 0) {
        gather_windows(d, x, window, u->b1 - u->b0, oh, ow, p * t->repeat);
        t->n0 = t->n1 = t->n2 = 1;
        t->lanes = t->last_lanes = (u->b1 - u->b0) * d->steps_block;
    } else {
        f = find_source(d, x, window, u->b1 - u->b0, oh, ow, p);
        const int64_t taps = f.kw1 - f.kw0;
        t->n1 = f.kh1 - f.kh0;
        t->n2 = whole ? 1 : taps;
        t->lanes = whole ? taps : d->lanes;
        t->last_lanes = whole ? taps : t->finish ? d->last_lanes : d->lanes;
    }
    // What a tile has to ask for is spread over the steps that it walks, a line every fourth step at most.
    const int64_t steps = TN_MAX(1, t->n0 * t->n1 * t->n2 * t->lanes);
    t->next_step = TN_MIN(ASK_MOST, (u->share + steps - 1) / steps);
    t->a = f.a;
    t->a0 = f.plane;
    t->a1 = f.row;
    const ptrdiff_t pixels = (oh * s->out[2] + ow) * d->block;
    const float *w = j->w + (size_t)(u->group * d->vectors + u->g0 * d->q) * d->vector_floats;
    int64_t channel = u->group * s->mg + u->g0 * d->q * vl, left = d->vectors - u->g0 * d->q;
    for (int64_t g = u->g0; g < u->g1; g++) {
        const int vectors = (int)TN_MIN((int64_t)d->q, left);
        const ptrdiff_t at = u->image + (channel >> d->shift) * d->plane_out + pixels + (channel & (d->block - 1));
        t->b_step = vectors * vl;
        t->b2 = d->lanes * t->b_step;
        t->b1 = d->seg_w * t->b2;
        t->b0 = s->kernel[1] * t->b1;
        const float *first = w + u->b0 * t->b0;
        t->b = first + f.kh0 * t->b1 + f.kw0 * (whole ? t->b_step : t->b2);
        t->next = first + u->next + (tile - u->tile0) * u->share;
        t->c = j->y + at;
        t->bias = j->bias ? j->bias + channel : NULL;
        t->bias_tail = g + 1 < d->oc_groups ? vl : d->last_bias;
        t->residual = j->residual ? j->residual + at : NULL;
        j->tiles->tile[vectors - 1][p - 1](t);
        w += (size_t)d->q * d->vector_floats;
        channel += d->q * vl;
        left -= d->q;
    }
}

static const float no_bias[32];   // two vectors of any tier

// As few tiles do not pay for what a strip has to set up. Strips with a function at their end are so long that it finds them in the
// first-level cache.
#define STRIP_TILES 4

// One whole group of a unit by strips of pixels: its weights stay in the first-level cache while the pixels pass by, and each tile asks for
// the next one's. `ask`: the weights that are needed next.
static void run_points(const job *j, const unit *u, int64_t g, const float *ask)
{
    const direct *d = j->d;
    const int64_t channel = u->group * d->s.mg + g * d->q * d->facts->lanes, tiles = u->tile1 - u->tile0;
    const size_t first = (size_t)(u->group * d->vectors + g * d->q) * d->vector_floats;
    const bool finish = u->b1 == d->blocks_in;
    const int64_t in_blocks = (d->s.c + d->block - 1) / d->block;
    const float *x = j->x + (u->n * in_blocks + u->group * d->blocks_in + u->b0) * d->plane;
    const ptrdiff_t y = u->image + (channel >> d->shift) * d->plane_out;
    tn_tile ends;
    tn_tile_set_act(&ends, &d->act);
    tn_strip t = {
        .b = j->w + first + (size_t)u->b0 * (d->group_floats / (size_t)d->blocks_in),
        .a_row = d->pixel, .a_block = d->plane,
        .c_row = d->block, .c_vec = d->plane_out,
        .steps = (u->b1 - u->b0 - 1) * d->lanes + (finish ? d->last_lanes : d->lanes),
        .bias = j->bias ? j->bias + channel : no_bias,
        .beta = 1.0f,
        .resume = u->b0 > 0,
        .clamp = finish && ends.clamp, .low = ends.low, .high = ends.high,
        .ask = ask, .ask_step = (size_t)TN_MIN(64, TN_CEIL_DIV(ASK_BYTES, tiles)),
    };
    t.ask_tile = (size_t)(t.steps / d->block) * t.ask_step;
    const int64_t most = finish && ends.act ? STRIP_MOST : tiles;
    for (int64_t tile = u->tile0; tile < u->tile1; tile += t.repeat) {
        // Tiles of one pixel more, then the others.
        const int64_t p = d->cut + (tile < d->cut_more), end = tile < d->cut_more ? TN_MIN(u->tile1, d->cut_more) : u->tile1;
        const ptrdiff_t at = (ptrdiff_t)(tile * d->cut + TN_MIN(tile, d->cut_more)) * d->block;
        t.repeat = TN_MIN(most, end - tile);
        t.a = x + at;
        t.c = j->y + y + at;
        t.residual = finish && j->residual ? j->residual + y + at : NULL;
        j->tiles->strip[p - 1](&t);
        t.ask += (size_t)t.repeat * t.ask_tile / sizeof *t.ask;
        for (int v = 0; finish && ends.act && v < 2; v++) {
            j->tiles->activate(t.c + v * t.c_vec, t.repeat * p * d->block, ends.act);
        }
    }
}

static void run_tiles(const job *j, const unit *u, unsigned slot)
{
    const direct *d = j->d;
    tn_tile t = begin_unit(j, u);
    int64_t oh = u->tile0 / d->cuts, cut = u->tile0 % d->cuts;
    for (int64_t tile = u->tile0; tile < u->tile1; tile += t.repeat) {
        const int64_t p = d->cut + (cut < d->cut_more), end = cut < d->cut_more ? d->cut_more : d->cuts;
        const bool inside = cut >= d->inside0 && cut < d->inside1;
        t.repeat = inside ? TN_MIN(TN_MIN(d->strip, TN_MIN(end, d->inside1) - cut), u->tile1 - tile) : 1;
        run_tile(j, u, &t, tile, oh, cut * d->cut + TN_MIN(cut, d->cut_more), p, slot);
        cut += t.repeat;
        if (cut == d->cuts) {
            cut = 0;
            oh++;
        }
    }
}

static void run_unit(const job *j, const unit *u, unsigned slot)
{
    const direct *d = j->d;
    unit rest = *u;
    // The last group may hold fewer channels.
    const int64_t whole = TN_MIN(u->g1, d->s.mg / (d->q * d->facts->lanes));
    if (d->points && u->tile1 - u->tile0 > STRIP_TILES) {
        const float *w = j->w + (size_t)(u->group * d->vectors) * d->vector_floats + (size_t)u->b0 * (d->group_floats / (size_t)d->blocks_in);
        for (; rest.g0 < whole; rest.g0++) {
            const float *next = w + (size_t)rest.g0 * d->group_floats;
            run_points(j, u, rest.g0, next + (rest.g0 + 1 < u->g1 ? (ptrdiff_t)d->group_floats : u->next - (rest.g0 - u->g0) * (ptrdiff_t)d->group_floats));
        }
    }
    if (rest.g0 < rest.g1) {
        run_tiles(j, &rest, slot);
    }
}

static void run_items(void *context, size_t first, size_t count, unsigned slot)
{
    const job *j = context;
    const direct *d = j->d;
    for (size_t i = first; i < first + count; i++) {
        // tiles of pixels vary fastest: neighbours share the weights
        const int64_t item = (int64_t)i % j->items_row, chunk = (int64_t)i / j->items_row % j->chunks;
        const int64_t image = (int64_t)i / j->items_row / j->chunks;
        unit u = {
            .n = image / d->s.groups,
            .group = image % d->s.groups,
            .g0 = chunk * j->oc_chunk,
            .g1 = TN_MIN(d->oc_groups, (chunk + 1) * j->oc_chunk),
            .tile0 = item * j->tiles_item,
            .tile1 = TN_MIN(d->s.out[1] * d->cuts, (item + 1) * j->tiles_item),
        };
        u.image = u.n * ((d->s.m + d->block - 1) / d->block) * d->plane_out;
        for (u.b0 = 0; u.b0 < d->blocks_in; u.b0 = u.b1) {
            u.b1 = TN_MIN(d->blocks_in, u.b0 + d->ic_chunk);
            // The same groups' next input blocks, or the next groups' first ones.
            const ptrdiff_t group = (ptrdiff_t)d->group_floats, blocks = group / d->blocks_in;
            u.next = u.b1 < d->blocks_in ? (u.b1 - u.b0) * blocks : u.g1 < d->oc_groups ? (u.g1 - u.g0) * group - u.b0 * blocks : 0;
            const int64_t floats = (u.b1 - u.b0) * d->steps_block * d->q * d->facts->lanes, tiles = u.tile1 - u.tile0;
            u.share = u.next ? (floats + tiles - 1) / tiles : 0;
            run_unit(j, &u, slot);
        }
    }
}

// Rows of x with their zeros.
typedef struct padding {
    const direct *d;
    const float *from;
    float *to;
} padding;

static void pad_items(void *context, size_t first, size_t count, unsigned slot)
{
    (void)slot;
    const padding *p = context;
    const direct *d = p->d;
    const size_t left = (size_t)(d->left * d->pixel), middle = (size_t)(d->s.in[2] * d->pixel), row = (size_t)d->row;
    for (size_t i = first * (size_t)d->s.in[1]; i < (first + count) * (size_t)d->s.in[1]; i++) {
        float *to = p->to + i * row;
        memset(to, 0, left * sizeof(float));
        memcpy(to + left, p->from + i * middle, middle * sizeof(float));
        memset(to + left + middle, 0, (row - left - middle) * sizeof(float));
    }
}

// One pixel: the channels of an image are a row of A, and the packed weights are those of a product.
static void run_product(const tn_call *call, const direct *d, const tn_tiles *tiles)
{
    tn_gemm g = {
        .tiles = tiles,
        .m = d->s.n, .n = d->s.m, .k = d->s.c,
        .q = d->q,
        .a = call->in[0]->data,
        .lda = d->s.c,
        .b = call->packed[0],
        .c = call->out[0]->data,
        .ldc = d->s.m,
        .bias = call->n_in > 2 && call->in[2] ? call->in[2]->data : NULL,
        .residual = call->n_in > 3 && call->in[3] ? call->in[3]->data : NULL,
        .alpha = 1.0f, .beta = 1.0f,
        .act = &d->act,
    };
    tn_gemm_block(&g, d->facts, d->l2);
    tn_gemm_run(call->workers, &g);
}

// Few tiles of pixels are uneven shares. Where x has few channels beside y all threads may read all of it, and have groups each.
static bool by_channels(const direct *d, int64_t tiles, unsigned threads)
{
    const tn_conv_shape *s = &d->s;
    return s->n * s->groups % threads != 0 && d->oc_chunk == d->oc_groups && tiles < SHARE_TILES * (int64_t)threads &&
           d->oc_groups >= SHARE_GROUPS * (int64_t)threads && 2 * s->c <= s->m;
}

tn_status tn_conv_direct_run(const tn_call *call, const tn_tiles *tiles)
{
    const direct *d = call->params;
    const tn_conv_shape *s = &d->s;
    if (tn_tensor_count(call->out[0]) == 0) {
        return TN_OK;
    }
    if (d->product) {
        run_product(call, d, tiles);
        return TN_OK;
    }
    job j = {
        .d = d,
        .tiles = tiles,
        .x = call->in[0]->data,
        .w = call->packed[0],
        .bias = call->n_in > 2 && call->in[2] ? call->in[2]->data : NULL,
        .residual = call->n_in > 3 && call->in[3] ? call->in[3]->data : NULL,
        .y = call->out[0]->data,
        .windows = call->scratch,
    };
    tn_workers *workers = tn_workers_count(call->workers) <= d->slots ? call->workers : NULL;
    if (d->padded_floats > 0) {
        padding p = {d, j.x, call->scratch};
        const int64_t planes = s->n * s->groups * d->blocks_in;
        tn_workers_run(workers, pad_items, &p, (size_t)planes, (size_t)tn_tile_item((double)d->plane / 10.0, planes, 1, tn_workers_count(workers)));
        j.x = call->scratch;
    }
    const int64_t tiles_row = s->out[1] * d->cuts;
    const unsigned threads = tn_workers_count(workers);
    j.oc_chunk = by_channels(d, tiles_row, threads) ? tn_tile_cuts(d->oc_groups, threads) : d->oc_chunk;
    j.chunks = tn_tile_cuts(d->oc_groups, j.oc_chunk);
    const double steps = (double)(s->cg * s->kernel[1] * s->kernel[2]);
    const double tile_ns = 20.0 + steps * tn_tile_cost(d->facts, tn_tile_cuts(s->out[2], d->cuts), TN_MIN(d->vectors, j.oc_chunk * d->q), d->q);
    j.tiles_item = tn_tile_item(tile_ns, tiles_row, j.chunks * s->n * s->groups, threads);
    j.items_row = (tiles_row + j.tiles_item - 1) / j.tiles_item;
    tn_workers_run(workers, run_items, &j, (size_t)(s->n * s->groups * j.chunks * j.items_row), 1);
    return TN_OK;
}

#define TIER(tier)                                                                                                                       \
    bool tn_conv_direct_match_##tier(const tn_query *q, const char **why) { return match(q, why, &tn_tile_facts_##tier); }               \
    double tn_conv_direct_cost_##tier(const tn_query *q) { return cost(q, &tn_tile_facts_##tier); }                                      \
    tn_status tn_conv_direct_prepare_##tier(tn_prepare *p) { return prepare(p, &tn_tile_facts_##tier); }

TIER(avx512)
TIER(avx2)
TIER(portable)
