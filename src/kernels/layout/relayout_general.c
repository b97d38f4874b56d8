// SPDX-License-Identifier: Apache-2.0
// The layout conversions that are not worth vectors of their own: other element sizes, and blocked to blocked.
// Ownership: none. Threads: images and pieces of their pixels are shared out.
#include "kernels/layout/relayout.h"

#include "base/macros.h"

#include <string.h>

tn_relayout_geometry tn_relayout_geometry_of(const tn_tensor *in, const tn_tensor *out)
{
    const tn_shape *shape = &in->shape;
    tn_relayout_geometry g = {.images = shape->dims[0], .channels = shape->dims[1], .pixels = tn_shape_span(shape, 2, shape->rank)};
    g.block = TN_MAX(tn_layout_block(out->layout) ? tn_layout_block(out->layout) : tn_layout_block(in->layout), 1);
    g.blocks = TN_CEIL_DIV(g.channels, g.block);
    g.pieces = TN_CEIL_DIV(g.pixels, TN_RELAYOUT_PIXELS);
    return g;
}

// Elements from one channel to the next block of it, and from pixel to pixel.
typedef struct side {
    char *data;
    int64_t block, step;      // step: elements between pixels
} side;

typedef struct job {
    tn_relayout_geometry g;
    side from, to;
    size_t size;
} job;

static char *channel_start(const job *j, const side *s, int64_t n, int64_t c)
{
    const int64_t block = s->block;
    const int64_t at = block ? ((n * TN_CEIL_DIV(j->g.channels, block) + c / block) * j->g.pixels) * block + c % block
                             : (n * j->g.channels + c) * j->g.pixels;
    return s->data + (size_t)at * j->size;
}

// Fixed sizes, so that each element is one move.
static void move_channel(char *to, int64_t to_step, const char *from, int64_t from_step, int64_t count, size_t size)
{
#define MOVE(SIZE)                                                     \
    case SIZE:                                                         \
        for (int64_t i = 0; i < count; i++) {                          \
            memcpy(to + i * to_step * SIZE, from + i * from_step * SIZE, SIZE); \
        }                                                              \
        break;
    switch (size) {
        MOVE(1)
        MOVE(2)
        MOVE(4)
        MOVE(8)
        MOVE(16)
    default:
        break;
    }
#undef MOVE
}

static void run_pieces(void *context, size_t first, size_t count, unsigned slot)
{
    const job *j = context;
    (void)slot;
    for (int64_t item = (int64_t)first; item < (int64_t)(first + count); item++) {
        const int64_t n = item / j->g.pieces, begin = item % j->g.pieces * TN_RELAYOUT_PIXELS;
        const int64_t pixels = TN_MIN(TN_RELAYOUT_PIXELS, j->g.pixels - begin);
        for (int64_t c = 0; c < j->g.channels; c++) {
            char *to = channel_start(j, &j->to, n, c) + (size_t)(begin * j->to.step) * j->size;
            const char *from = channel_start(j, &j->from, n, c) + (size_t)(begin * j->from.step) * j->size;
            move_channel(to, j->to.step, from, j->from.step, pixels, j->size);
        }
    }
}

tn_status tn_relayout_general(const tn_call *call)
{
    const tn_tensor *in = call->in[0], *out = call->out[0];
    const int from = tn_layout_block(in->layout), to = tn_layout_block(out->layout);
    job j = {.g = tn_relayout_geometry_of(in, out), .from = {in->data, from, from ? from : 1}, .to = {out->data, to, to ? to : 1},
             .size = tn_dtype_bytes(in->dtype)};
    tn_workers_run(call->workers, run_pieces, &j, (size_t)(j.g.images * j.g.pieces), 1);
    return TN_OK;
}

bool tn_relayout_match_any(const tn_query *query, const char **why)
{
    if (query->in[0]->dtype == TN_STRING || query->in[0]->shape.rank < 3) {
        *why = "strings, or fewer than three dims";
        return false;
    }
    if (query->in[0]->layout == TN_LAYOUT_NCHW32B || query->out[0]->layout == TN_LAYOUT_NCHW32B) {
        *why = "elements of bf16";
        return false;
    }
    return true;
}

bool tn_relayout_match_32(const tn_query *query, const char **why)
{
    if (!tn_relayout_match_any(query, why)) {
        return false;
    }
    const bool in_blocked = query->in[0]->layout != TN_LAYOUT_PLAIN, out_blocked = query->out[0]->layout != TN_LAYOUT_PLAIN;
    if (tn_dtype_bytes(query->in[0]->dtype) != 4 || in_blocked == out_blocked) {
        *why = "not between plain and blocked, or elements of another size than 4 bytes";
        return false;
    }
    return true;
}

bool tn_relayout_match_lines(const tn_query *query, const char **why)
{
    const tn_layout in = query->in[0]->layout, out = query->out[0]->layout, other = in == TN_LAYOUT_NCHW32B ? out : in;
    if (query->in[0]->dtype != TN_F32 || query->in[0]->shape.rank < 3 || (in == TN_LAYOUT_NCHW32B) == (out == TN_LAYOUT_NCHW32B) ||
        (other != TN_LAYOUT_PLAIN && other != TN_LAYOUT_NCHW16C)) {
        *why = "not between nchw32b and plain or nchw16c";
        return false;
    }
    return true;
}
