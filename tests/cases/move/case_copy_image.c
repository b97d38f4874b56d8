// SPDX-License-Identifier: Apache-2.0
// Cases of copy between images [N, C, pixels...], which rows for blocked layouts take: channels side by side, cuts of channels and
// of pixels, every second pixel, a border around the pixels, channels last.
// Ownership: the caller's arena. Threads: one at a time.
#include "cases/draw.h"
#include "ops/move/op_copy.h"

enum { LISTED = 10, MAX_PARTS = 4 };

typedef struct builder {
    tn_arena *arena;
    tn_rand *r;
    int rank;                      // 3 .. 5
    int64_t dims[TN_MAX_RANK];     // of the result, in the order [N, C, pixels...]
    int64_t strides[TN_MAX_RANK];  // of the result, in that order
    int64_t shape[TN_MAX_RANK];    // of the result, in its own order
} builder;

// Strides of the result; with channels last its own order is [N, pixels..., C].
static void lay_out(builder *b, bool channels_last)
{
    int order[TN_MAX_RANK];
    for (int d = 0; d < b->rank; d++) {
        order[d] = !channels_last || d == 0 ? d : d == b->rank - 1 ? 1 : d + 1;
    }
    int64_t stride = 1;
    for (int d = b->rank - 1; d >= 0; d--) {
        b->strides[order[d]] = stride;
        b->shape[d] = b->dims[order[d]];
        stride *= b->shape[d];
    }
}

// The box that reads `channels` channels from channel `first` of an operand of shape x, every step-th pixel from `skip` on, and
// writes them from channel `to` of the result on.
static void add_box(const builder *b, tn_region *box, const tn_shape *x, int64_t first, int64_t channels, int64_t to, int64_t skip,
                    int64_t step)
{
    int64_t stride = 1;
    box->rank = b->rank;
    box->dst_offset = to * b->strides[1];
    for (int d = b->rank - 1; d >= 0; d--) {
        const bool pixel = d >= 2;
        box->sizes[d] = d == 1 ? channels : b->dims[d];
        box->src_strides[d] = stride * (pixel ? step : 1);
        box->src_offset += d == 1 ? first * stride : pixel ? skip * stride : 0;
        box->dst_strides[d] = b->strides[d];
        stride *= x->dims[d];
    }
}

// Operands that lie side by side along the channels of the result, each a cut of its tensor.
static void join(builder *b, tn_case *c, tn_regions *regions, tn_region *boxes, int64_t multiple, bool channels_last,
                 bool constants)
{
    const int parts = (int)tn_rand_range(b->r, 1, MAX_PARTS);
    int64_t counts[MAX_PARTS];
    b->dims[1] = 0;
    for (int k = 0; k < parts; k++) {
        counts[k] = multiple * tn_rand_range(b->r, 1, 3) + (k == parts - 1 && multiple < 32 ? tn_draw_index(b->r, 5) : 0);
        b->dims[1] += counts[k];
    }
    lay_out(b, channels_last);
    for (int64_t k = 0, to = 0; k < parts; to += counts[k++]) {
        const int64_t first = tn_rand_bool(b->r) ? multiple : 0, step = tn_draw_rarely(b->r) ? 2 : 1, skip = tn_draw_rarely(b->r);
        tn_shape x = {.rank = b->rank, .dims = {b->dims[0], first + counts[k] + tn_draw_index(b->r, 3)}};
        for (int d = 2; d < b->rank; d++) {
            x.dims[d] = skip + b->dims[d] * step + tn_draw_rarely(b->r);
        }
        boxes[k].source = (int)k;
        add_box(b, &boxes[k], &x, first, counts[k], to, skip, step);
        c->in[k] = tn_case_f32(x);
        c->in[k].constant = constants && tn_draw_rarely(b->r);
    }
    regions->count = regions->source_count = c->n_in = parts;
}

// One operand inside a border of the fill.
static void border(builder *b, tn_case *c, tn_regions *regions, tn_region *boxes)
{
    tn_shape x = {.rank = b->rank};
    b->dims[1] = tn_rand_range(b->r, 1, 40);
    for (int d = 0; d < b->rank; d++) {
        x.dims[d] = b->dims[d];
        b->dims[d] += d >= 2 ? 3 : 0;
    }
    lay_out(b, false);
    boxes[0] = (tn_region){.source = -1, .rank = b->rank};
    for (int d = 0; d < b->rank; d++) {
        boxes[0].sizes[d] = b->dims[d];
        boxes[0].dst_strides[d] = b->strides[d];
    }
    add_box(b, &boxes[1], &x, 0, x.dims[1], 0, 0, 1);
    for (int d = 0; d < b->rank; d++) {
        boxes[1].sizes[d] = x.dims[d];
        boxes[1].dst_offset += d >= 2 ? b->strides[d] : 0;
    }
    c->in[0] = tn_case_f32(x);
    c->n_in = regions->source_count = 1;
    regions->count = 2;
}

static bool make(tn_case *c, tn_arena *arena, tn_rand *r, unsigned i)
{
    static const int64_t multiples[] = {16, 8, 1, 32};
    tn_rand fixed = {i};
    r = i < LISTED ? &fixed : r;
    builder b = {.arena = arena, .r = r, .rank = (int)tn_rand_range(r, 3, 5)};
    tn_copy_attr *attr = tn_case_attr(arena, &tn_op_copy);
    tn_regions *regions = tn_arena_take(arena, sizeof *regions);
    tn_region *boxes = tn_arena_array(arena, MAX_PARTS, sizeof *boxes);
    if (!attr || !regions || !boxes) {
        return false;
    }
    b.dims[0] = tn_rand_range(r, 1, 2);
    for (int d = 2; d < b.rank; d++) {
        b.dims[d] = tn_rand_range(r, 1, b.rank == 3 ? 60 : b.rank == 4 ? 9 : 4);
    }
    if (i % 5 == 4) {
        border(&b, c, regions, boxes);
    } else {
        join(&b, c, regions, boxes, multiples[i % 4], i % 5 == 3, i >= LISTED);
    }
    for (size_t k = 0; k < sizeof regions->fill; k++) {
        regions->fill[k] = (uint8_t)(k % 4 + 1);
    }
    regions->regions = boxes;
    attr->regions = regions;
    attr->shape = tn_case_ints(arena, b.rank, b.shape);
    c->op = &tn_op_copy;
    c->attr = attr;
    c->n_out = 1;
    c->special = true;
    return true;
}

TN_CASE_EXPORT(copy_image) {"copy_image", LISTED, make};
