// SPDX-License-Identifier: Apache-2.0
// Depthwise convolution beside a pointwise one (tn_op_conv_pair): what lies between them goes piece by piece through a buffer of the thread's
// that stays in its cache, and never to memory and back.
//
//      depthwise first: some rows of all channels    x [block][ih][iw][L] -> buffer [block][rows][ow][L] -> y [block][oh][ow][L]
//      pointwise first: some rows of one group of its output channels; the rows that two such pieces have in common are computed twice
//                                                     x [block][ih][iw][L] -> buffer [block of the group][rows][iw][L] -> y [block][oh][ow][L]
// Ownership: parameters live in the plan's arena. Threads: uses the workers it is given; each piece is a thread's own.
#include "kernels/dwconv/dwconv.h"

#include "base/macros.h"
#include "base/map.h"
#include "kernels/dwconv/points.h"
#include "kernels/gemm/scratch.h"
#include "ops/joined/op_conv_pair.h"

// Share of the second-level cache that a buffer takes.
#define BUFFER_SHARE 0.4

// Strips that all channels of a picture are cut into at least, so that threads have some each.
#define STRIPS_LEAST 4
#define PIECES_MANY 6   // for each of them: then the last one's length does not matter

typedef struct pair {
    bool expands;                // the pointwise one comes first
    const tn_dwconv *depthwise;
    tn_points points;
    int64_t strips;              // that the rows of a picture are cut into, nearly equally
    size_t slot_floats;
    unsigned slots;
} pair;

// ---- what the two are ----

static bool is_pointwise(const tn_query *query, tn_conv_shape *s, const char **why)
{
    if (!tn_conv_match_packed(query, why)) {
        return false;
    }
    *why = "not a pointwise and a depthwise one";
    if (!tn_conv_shape_of(query->attr, &query->in[0]->shape, &query->in[1]->shape, s) || s->groups != 1) {
        return false;
    }
    tn_conv_flatten(s);
    return s->in[0] * s->in[1] == 1 && s->kernel[2] == 1 && s->stride[2] == 1 && s->pad[2] == 0 && s->out[2] == s->in[2];
}

static bool match(const tn_query *query, const char **why, bool expands)
{
    tn_conv_halves h;
    tn_conv_shape s;
    if (!tn_conv_pair_split(query, &h)) {
        *why = "the attributes do not fit";
        return false;
    }
    if (!tn_dwconv_match(&h.query[expands], why) || !is_pointwise(&h.query[!expands], &s, why)) {
        return false;
    }
    if ((double)s.c * (double)s.m * sizeof(float) > (double)query->cpu->l2 / 2) {
        *why = "the weights do not stay in the second-level cache";
        return false;
    }
    return true;
}

bool tn_dwconv_pair_match(const tn_query *query, const char **why) { return match(query, why, false); }
bool tn_expand_pair_match(const tn_query *query, const char **why) { return match(query, why, true); }

// Rows that a strip of `rows` results of the depthwise one reads, at most.
static int64_t rows_read(const tn_conv_shape *s, int64_t rows)
{
    return TN_MIN(s->in[1], (rows - 1) * s->stride[1] + (s->kernel[1] - 1) * s->dilation[1] + 1);
}

// Strips of a picture for buffers of that many channels.
static int64_t strips_of(const tn_query *query, const tn_conv_shape *s, int64_t channels, bool expands)
{
    const double room = (double)query->cpu->l2 * BUFFER_SHARE / ((double)channels * sizeof(float));
    int64_t strips = expands ? 1 : TN_MIN(STRIPS_LEAST, s->out[1]);
    while (strips < s->out[1]) {
        const int64_t rows = TN_CEIL_DIV(s->out[1], strips), floats = expands ? rows_read(s, rows) * s->in[2] : rows * s->out[2];
        if ((double)floats <= room) {
            break;
        }
        strips = TN_CEIL_DIV(s->out[1], rows - 1);
    }
    return strips;
}

// A few pieces are more strips if threads have as many each then; `each`: pieces of a strip of all pictures. A result has the same bits.
static int64_t shared_strips(int64_t strips, int64_t each, int64_t rows, int64_t threads)
{
    const int64_t more = TN_CEIL_DIV(strips, threads) * threads;
    return strips * each % threads != 0 && strips * each < PIECES_MANY * threads && 2 * more <= rows ? more : strips;
}

// ---- price ----

// Bytes that come from the next cache in a nanosecond, beside arithmetic and asked for early; a neighbour that shares that cache makes it fewer.
#define NEXT_BYTES_NS 100.0
#define PIECE_NS 500.0       // of beginning a group of a strip
#define STRIP_NS 1500.0      // of beginning a strip of all channels
#define WEIGHT_BYTES_NS 50.0 // each such strip reads the weights again

// `depthwise`, `pointwise`: what the two cost apart. What the first one writes and the second one reads back comes from the next
// cache as far as it does not fit.
static double cost(const tn_query *query, const tn_tile_facts *facts, double depthwise, double pointwise, bool expands)
{
    tn_conv_halves h;
    tn_conv_shape s;
    size_t x, between;
    if (!tn_conv_pair_split(query, &h) ||
        !tn_conv_shape_of(h.query[expands].attr, &h.in[expands][0]->shape, &h.in[expands][1]->shape, &s) ||
        !tn_tensor_bytes(query->in[0], &x) || !tn_tensor_bytes(&h.between, &between)) {
        return 1e18;
    }
    const int64_t block = tn_layout_block(query->out[0]->layout), all = TN_CEIL_DIV(s.c, block) * block;
    const double images = (double)s.n, bytes = (double)between / images, missed = TN_MAX(0.0, bytes - (double)query->cpu->l2);
    if (!expands) {
        const double strips = (double)strips_of(query, &s, all, false);
        const double weights = (double)s.c * (double)query->out[0]->shape.dims[1] * sizeof(float);
        return depthwise + pointwise + images * (strips * (STRIP_NS + weights / WEIGHT_BYTES_NS) - 2.0 * missed / NEXT_BYTES_NS);
    }
    const tn_act none = {.code = TN_LOOP_CONST};
    const tn_points points = tn_points_of(facts, 1, s.c, (int)block, &none);
    const int64_t strips = strips_of(query, &s, tn_points_width(&points, points.groups - 1) * facts->lanes, true);
    const int64_t rows = strips * rows_read(&s, TN_CEIL_DIV(s.out[1], strips));
    const double twice = pointwise * TN_MAX(0.0, (double)rows / (double)s.in[1] - 1.0);
    // Each group reads the strip of x again.
    const double again = (double)x / images / (double)strips > (double)query->cpu->l2 / 2 ? (double)(points.groups - 1) * (double)x / NEXT_BYTES_NS : 0.0;
    return depthwise + pointwise + twice + again + images * ((double)(strips * points.groups) * PIECE_NS - (bytes + missed) / NEXT_BYTES_NS);
}

double tn_dwconv_pair_cost_avx2(const tn_query *query)
{
    tn_conv_halves h;
    return tn_conv_pair_split(query, &h)
               ? cost(query, &tn_tile_facts_avx2, tn_dwconv_cost_avx2(&h.query[0]), tn_conv_direct_cost_avx2(&h.query[1]), false)
               : 1e18;
}

double tn_expand_pair_cost_avx2(const tn_query *query)
{
    tn_conv_halves h;
    return tn_conv_pair_split(query, &h)
               ? cost(query, &tn_tile_facts_avx2, tn_dwconv_cost_avx2(&h.query[1]), tn_conv_direct_cost_avx2(&h.query[0]), true)
               : 1e18;
}

// ---- weights ----

static void pack_depthwise(void *dst, const tn_query *query, const void *params)
{
    const pair *p = params;
    tn_conv_halves h;
    if (tn_conv_pair_split(query, &h)) {
        tn_dwconv_pack(dst, &h.query[p->expands], p->depthwise);
    }
}

static void pack_points(void *dst, const tn_query *query, const void *params)
{
    const pair *p = params;
    tn_points_pack(&p->points, dst, query->in[p->expands ? TN_PAIR_W1 : TN_PAIR_W2]->data);
}

static tn_status prepare(tn_prepare *prepare, const tn_tile_facts *facts, bool expands)
{
    const tn_query *query = prepare->query;
    tn_conv_halves h;
    pair *p;
    size_t bytes, at;
    TN_TRY(tn_prepare_params(prepare, sizeof *p, (void **)&p));
    if (!tn_conv_pair_split(query, &h)) {
        return tn_fail(prepare->diag, TN_INTERNAL, query->name, "the convolution's attributes do not fit its shapes");
    }
    tn_prepare depthwise = {.query = &h.query[expands], .row = prepare->row, .arena = prepare->arena, .diag = prepare->diag};
    TN_TRY(tn_dwconv_prepare(&depthwise));
    tn_dwconv *d = depthwise.params;
    d->below = d->below && !expands;    // buffers stay in the cache
    d->ask = d->ask && expands;
    const tn_shape *w = &h.in[!expands][1]->shape;
    *p = (pair){.expands = expands, .depthwise = d, .slots = TN_MAX(1u, query->threads),
                .points = tn_points_of(facts, w->dims[1], w->dims[0], d->block, &((const tn_conv_attr *)h.query[!expands].attr)->act)};
    const int64_t channels = expands ? tn_points_width(&p->points, p->points.groups - 1) * facts->lanes : d->blocks * d->block;
    p->strips = shared_strips(strips_of(query, &d->s, channels, expands), d->s.n * (expands ? p->points.groups : 1), d->s.out[1], p->slots);
    const int64_t rows = TN_CEIL_DIV(d->s.out[1], p->strips), pixels = expands ? rows_read(&d->s, rows) * d->s.in[2] : rows * d->s.out[2];
    if (!tn_mul_size((size_t)pixels * sizeof(float), (size_t)channels, &bytes) || !tn_align_size(bytes, TN_ALIGNMENT, &bytes)) {
        return tn_fail(prepare->diag, TN_LIMIT, query->name, "the workspace of %s does not fit in memory", prepare->row->name);
    }
    p->slot_floats = bytes / sizeof(float);
    TN_TRY(tn_scratch_add(prepare, bytes, p->slots, &at));
    if (!tn_points_bytes(&p->points, &bytes)) {
        return tn_fail(prepare->diag, TN_LIMIT, query->name, "the packed weights do not fit in memory");
    }
    const uint64_t form[] = {(uint64_t)facts->lanes, (uint64_t)p->points.m, (uint64_t)p->points.c};
    prepare->packs[0] = depthwise.packs[0];
    prepare->packs[0].operand = expands ? TN_PAIR_W2 : TN_PAIR_W1;
    prepare->packs[0].pack = pack_depthwise;
    prepare->packs[1] = (tn_pack){.operand = expands ? TN_PAIR_W1 : TN_PAIR_W2, .id = "points_f32", .variant = tn_hash(form, sizeof form, 0),
                                  .bytes = bytes, .pack = pack_points};
    prepare->n_packs = 2;
    return TN_OK;
}

tn_status tn_dwconv_pair_prepare_avx2(tn_prepare *p) { return prepare(p, &tn_tile_facts_avx2, false); }
tn_status tn_expand_pair_prepare_avx2(tn_prepare *p) { return prepare(p, &tn_tile_facts_avx2, true); }

// ---- running ----

typedef struct job {
    const pair *p;
    tn_dwconv_rows rows;
    const tn_tiles *tiles;
    tn_dwconv_call depthwise;    // as it would be alone, without what the buffer stands for
    const float *x, *w, *bias, *residual;   // w, bias: of the pointwise one
    float *y, *buffers;
} job;

// All channels of a strip of an image.
static void depthwise_first(const job *j, int64_t image, int64_t strip, float *buffer)
{
    const pair *p = j->p;
    const tn_dwconv *d = p->depthwise;
    const tn_conv_shape *s = &d->s;
    const int64_t oh0 = tn_tile_cut(s->out[1], p->strips, strip), oh1 = tn_tile_cut(s->out[1], p->strips, strip + 1);
    const int64_t pixels = (oh1 - oh0) * s->out[2], plane = s->out[1] * s->out[2] * d->block;
    tn_dwconv_call call = j->depthwise;
    call.x = j->x + image * d->blocks * s->in[1] * s->in[2] * d->block;
    call.y = buffer;
    call.y_rows = oh1 - oh0;
    call.y_first = oh0;
    for (int64_t b = 0; b < d->blocks; b++) {
        j->rows(&call, 0, b, oh0, oh1);
    }
    ptrdiff_t y = (ptrdiff_t)(image * TN_CEIL_DIV(p->points.m, d->block) * plane + oh0 * s->out[2] * d->block);
    for (int64_t g = 0; g < p->points.groups; g++, y += 2 * plane) {
        tn_points_run(&p->points, j->tiles, g, j->w, j->bias, buffer, (ptrdiff_t)pixels * d->block, pixels, j->y + y,
                      j->residual ? j->residual + y : NULL, (ptrdiff_t)plane);
    }
}

// One group of channels of a strip of an image.
static void pointwise_first(const job *j, int64_t image, int64_t strip, int64_t group, float *buffer)
{
    const pair *p = j->p;
    const tn_dwconv *d = p->depthwise;
    const tn_conv_shape *s = &d->s;
    const int64_t oh0 = tn_tile_cut(s->out[1], p->strips, strip), oh1 = tn_tile_cut(s->out[1], p->strips, strip + 1);
    const int64_t top = oh0 * s->stride[1] - s->pad[1], reach = (s->kernel[1] - 1) * s->dilation[1] + 1;
    const int64_t ih0 = TN_MIN(s->in[1], TN_MAX(0, top)), ih1 = TN_MAX(ih0, TN_MIN(s->in[1], top + (oh1 - oh0 - 1) * s->stride[1] + reach));
    const int64_t pixels = (ih1 - ih0) * s->in[2], plane = s->in[1] * s->in[2] * d->block, first = 2 * group;
    const int64_t blocks_in = TN_CEIL_DIV(p->points.c, d->block);
    if (pixels > 0) {
        tn_points_run(&p->points, j->tiles, group, j->w, j->bias, j->x + image * blocks_in * plane + ih0 * s->in[2] * d->block, (ptrdiff_t)plane,
                      pixels, buffer, NULL, (ptrdiff_t)pixels * d->block);
    }
    const ptrdiff_t y = (ptrdiff_t)(image * d->blocks * s->out[1] * s->out[2] * d->block);
    tn_dwconv_call call = j->depthwise;
    call.x = buffer;
    call.x_block = first;
    call.x_rows = ih1 - ih0;
    call.x_first = ih0;
    call.y = j->y + y;
    call.residual = j->residual ? j->residual + y : NULL;
    for (int64_t b = first; b < first + tn_points_width(&p->points, group); b++) {
        j->rows(&call, 0, b, oh0, oh1);
    }
}

static void run_items(void *context, size_t first, size_t count, unsigned slot)
{
    const job *j = context;
    const pair *p = j->p;
    float *buffer = j->buffers + slot * p->slot_floats;
    for (int64_t i = (int64_t)first; i < (int64_t)(first + count); i++) {
        if (p->expands) {   // groups vary fastest: they read the same rows of x
            const int64_t strip = i / p->points.groups;
            pointwise_first(j, strip / p->strips, strip % p->strips, i % p->points.groups, buffer);
        } else {
            depthwise_first(j, i / p->strips, i % p->strips, buffer);
        }
    }
}

static const void *data_of(const tn_call *call, int i) { return i < call->n_in && call->in[i] ? call->in[i]->data : NULL; }

tn_status tn_dwconv_pair_run(const tn_call *call, tn_dwconv_rows rows, const tn_tiles *tiles)
{
    const pair *p = call->params;
    const tn_conv_shape *s = &p->depthwise->s;
    job j = {
        .p = p,
        .rows = rows,
        .tiles = tiles,
        .depthwise = {.d = p->depthwise, .w = call->packed[0], .bias = data_of(call, p->expands ? TN_PAIR_BIAS2 : TN_PAIR_BIAS1),
                      .x_rows = s->in[1], .y_rows = s->out[1]},
        .x = call->in[TN_PAIR_X]->data,
        .w = call->packed[1],
        .bias = data_of(call, p->expands ? TN_PAIR_BIAS1 : TN_PAIR_BIAS2),
        .residual = data_of(call, TN_PAIR_RESIDUAL),
        .y = call->out[0]->data,
        .buffers = call->scratch,
    };
    tn_workers *workers = tn_workers_count(call->workers) <= p->slots ? call->workers : NULL;
    tn_workers_run(workers, run_items, &j, (size_t)(s->n * p->strips * (p->expands ? p->points.groups : 1)), 1);
    return TN_OK;
}
