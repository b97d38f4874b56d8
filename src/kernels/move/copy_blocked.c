// SPDX-License-Identifier: Apache-2.0
// Boxes in logical coordinates become boxes over memory (copy_blocked.h). On a blocked side every dim of the box has to move along
// one of image, channel or pixel; the one that moves along channels is taken apart into blocks and lanes:
//
//      lanes before the first whole block | whole blocks: [block][lane] | lanes behind the last
//
// When both sides are blocked a channel must keep its lane.
// Ownership: none. Threads: any.
#include "kernels/move/copy_blocked.h"

#include "base/macros.h"

#include <string.h>

typedef struct side {
    int64_t block;                   // 0: plain
    int64_t channels, pixels;        // blocked: C, S
    int64_t image;                   // blocked: elements of an image in memory
    int64_t offset;                  // logical
    int64_t strides[2 * TN_MAX_RANK];
} side;

typedef struct box {
    int rank;
    int64_t sizes[2 * TN_MAX_RANK];
    side from, to;
} box;

static bool side_init(side *s, const tn_tensor *tensor, int64_t offset, const int64_t *strides, int rank)
{
    *s = (side){.offset = offset};
    if (rank) {
        memcpy(s->strides, strides, sizeof *strides * (size_t)rank);
    }
    if (!tensor || tensor->layout == TN_LAYOUT_PLAIN) {
        return true;
    }
    s->block = tn_layout_block(tensor->layout);
    if (tensor->shape.rank < 3 || tensor->shape.rank > 5) {
        return false;
    }
    s->channels = tensor->shape.dims[1];
    s->pixels = tn_shape_span(&tensor->shape, 2, tensor->shape.rank);
    s->image = TN_CEIL_DIV(s->channels, s->block) * s->block * s->pixels;
    return true;
}

// Cuts dim d where its steps on side s leave the period, so that each piece moves inside one period or from one to the next.
static bool cut_dim(box *b, const side *s, int d, int64_t period)
{
    const int64_t stride = s->strides[d] < 0 ? -s->strides[d] : s->strides[d];
    if (stride == 0 || stride >= period || (b->sizes[d] - 1) * stride < period) {
        return true;
    }
    const int64_t inner = period / stride;
    if (period % stride != 0 || b->sizes[d] % inner != 0 || b->rank == 2 * TN_MAX_RANK) {
        return false;
    }
    b->sizes[b->rank] = inner;
    b->from.strides[b->rank] = b->from.strides[d];
    b->to.strides[b->rank++] = b->to.strides[d];
    b->sizes[d] /= inner;
    b->from.strides[d] *= inner;
    b->to.strides[d] *= inner;
    return true;
}

static bool cut(box *b, const side *s)
{
    for (int d = 0; d < b->rank && s->block; d++) {
        if (!cut_dim(b, s, d, s->channels * s->pixels) || !cut_dim(b, s, d, s->pixels)) {
            return false;
        }
    }
    return true;
}

typedef enum way { STILL, ALONG_IMAGES, ALONG_CHANNELS, ALONG_PIXELS } way;

static way way_of(const side *s, int d)
{
    const int64_t stride = s->strides[d];
    return stride == 0                                    ? STILL
           : stride % (s->channels * s->pixels) == 0      ? ALONG_IMAGES
           : stride % s->pixels == 0                      ? ALONG_CHANNELS
                                                          : ALONG_PIXELS;
}

// The box stays inside an image's channels and a channel's pixels; *channel_dim is the dim that moves along channels, one at a
// time.
static bool follow(const box *b, const side *s, int *channel_dim)
{
    int64_t pixel_low = s->offset % s->pixels, pixel_high = pixel_low;
    const int64_t channel = s->offset / s->pixels % s->channels;
    for (int d = 0; d < b->rank; d++) {
        const way along = way_of(s, d);
        const int64_t reach = (b->sizes[d] - 1) * s->strides[d];
        if (along == ALONG_PIXELS) {
            pixel_low += TN_MIN(reach, 0);
            pixel_high += TN_MAX(reach, 0);
        } else if (along == ALONG_CHANNELS) {
            if ((*channel_dim >= 0 && *channel_dim != d) || s->strides[d] != s->pixels || channel + b->sizes[d] > s->channels) {
                return false;
            }
            *channel_dim = d;
        }
    }
    return pixel_low >= 0 && pixel_high < s->pixels;
}

// Place in memory of the element at a logical offset, its channel moved on by `more`.
static int64_t address(const side *s, int64_t more, int64_t stride)
{
    if (!s->block) {
        return s->offset + more * stride;
    }
    const int64_t n = s->offset / s->pixels / s->channels, p = s->offset % s->pixels;
    const int64_t c = s->offset / s->pixels % s->channels + more;
    return n * s->image + (c / s->block * s->pixels + p) * s->block + c % s->block;
}

static int64_t memory_stride(const side *s, int d)
{
    if (!s->block) {
        return s->strides[d];
    }
    return way_of(s, d) == ALONG_IMAGES ? s->strides[d] / (s->channels * s->pixels) * s->image : s->strides[d] * s->block;
}

static bool add_dim(tn_region *part, int64_t size, int64_t from, int64_t to)
{
    if (size == 1) {
        return true;
    }
    if (part->rank == TN_MAX_RANK) {
        return false;
    }
    part->sizes[part->rank] = size;
    part->src_strides[part->rank] = from;
    part->dst_strides[part->rank++] = to;
    return true;
}

// The part of the box with channels first .. first + blocks * lanes - 1 of the channel dim c (-1: there is none).
static bool add_part(const box *b, int c, int64_t first, int64_t blocks, int64_t lanes, tn_region *part)
{
    const int64_t from_stride = c >= 0 ? b->from.strides[c] : 0, to_stride = c >= 0 ? b->to.strides[c] : 0;
    *part = (tn_region){.src_offset = address(&b->from, first, from_stride), .dst_offset = address(&b->to, first, to_stride)};
    bool fits = true;
    for (int d = 0; d < b->rank; d++) {
        if (d != c) {
            fits = fits && add_dim(part, b->sizes[d], memory_stride(&b->from, d), memory_stride(&b->to, d));
        }
    }
    const int64_t from_block = b->from.block ? b->from.pixels * b->from.block : from_stride * lanes;
    const int64_t to_block = b->to.block ? b->to.pixels * b->to.block : to_stride * lanes;
    return fits && add_dim(part, blocks, from_block, to_block) &&
           add_dim(part, lanes, b->from.block ? 1 : from_stride, b->to.block ? 1 : to_stride);
}

// Cuts the channels into parts. A side that does not move along channels though the box has such a dim is plain, or still (fill).
static int make_parts(const box *b, int c, tn_region *parts)
{
    const side *lead = b->to.block ? &b->to : &b->from;
    const int64_t block = lead->block, count = c >= 0 ? b->sizes[c] : 1;
    const int64_t lane = lead->offset / lead->pixels % lead->channels % block;
    const int64_t head = TN_MIN((block - lane) % block, count), whole = (count - head) / block, tail = count - head - whole * block;
    int n = 0;
    bool fits = true;
    if (head) {
        fits = add_part(b, c, 0, 1, head, &parts[n++]);
    }
    if (whole) {
        fits = fits && add_part(b, c, head, whole, block, &parts[n++]);
    }
    if (tail) {
        fits = fits && add_part(b, c, head + whole * block, 1, tail, &parts[n++]);
    }
    return fits ? n : -1;
}

int tn_copy_physical(const tn_region *region, const tn_tensor *source, const tn_tensor *result, tn_region *parts, const char **why)
{
    box b = {.rank = region->rank};
    int from_dim = -1, to_dim = -1;
    static const int64_t still[TN_MAX_RANK] = {0};
    memcpy(b.sizes, region->sizes, sizeof region->sizes);
    *why = "a box that does not follow images, channels and pixels of a blocked tensor";
    if (!side_init(&b.from, source, source ? region->src_offset : 0, source ? region->src_strides : still, region->rank) ||
        !side_init(&b.to, result, region->dst_offset, region->dst_strides, region->rank) || !cut(&b, &b.from) || !cut(&b, &b.to)) {
        return -1;
    }
    if ((b.from.block && !follow(&b, &b.from, &from_dim)) || (b.to.block && !follow(&b, &b.to, &to_dim))) {
        return -1;
    }
    if (!b.from.block && !b.to.block) {
        *parts = *region;
        return 1;
    }
    const int c = b.to.block ? to_dim : from_dim;
    if (b.from.block && b.to.block) {
        const int64_t from = b.from.offset / b.from.pixels % b.from.channels, to = b.to.offset / b.to.pixels % b.to.channels;
        if (from_dim != to_dim || b.from.block != b.to.block || from % b.from.block != to % b.to.block) {
            *why = "channels change their lanes between blocked tensors";
            return -1;
        }
    }
    const int count = make_parts(&b, c, parts);
    for (int i = 0; i < count; i++) {
        parts[i].source = region->source;
    }
    return count;
}
