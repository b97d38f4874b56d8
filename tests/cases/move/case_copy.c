// SPDX-License-Identifier: Apache-2.0
// Cases of copy: a transposed box, a reversed one, a repeated one, one beside a fill, several operands side by side, dims in any order.
// Ownership: the caller's arena. Threads: one at a time.
#include "cases/draw.h"
#include "ops/move/op_copy.h"

#include "base/macros.h"

enum { BOXES = 6, KINDS = 9 };

#define MAX_RANK 5

// Up to five dims whose sizes make a * b elements at most, in any order in the result, which has all of its elements written.
static void shuffle(tn_rand *r, int64_t a, int64_t b, tn_region *box, int64_t *total)
{
    int64_t left = a * b, stride = 1;
    int order[MAX_RANK];
    *box = (tn_region){.rank = (int)tn_rand_range(r, 2, MAX_RANK)};
    for (int d = box->rank - 1; d >= 0; d--) {
        const int64_t most = d == 0 || tn_draw_index(r, 3) ? left : TN_MIN(left, 4);
        box->sizes[d] = tn_rand_range(r, 1, TN_MIN(most, 300));
        left /= box->sizes[d];
        box->src_strides[d] = stride;
        stride *= box->sizes[d];
        order[d] = d;
    }
    stride = 1;
    for (int d = box->rank - 1; d >= 0; d--) {
        const int other = (int)tn_draw_index(r, (uint32_t)d + 1), mine = order[other];
        order[other] = order[d];
        box->dst_strides[mine] = stride;
        stride *= box->sizes[mine];
    }
    *total = stride;
}

// Boxes of kind `kind` over operands [a, b]; the result is a list of *total elements.
static int fill_boxes(tn_rand *r, int kind, int64_t a, int64_t b, tn_region *box, int *operands, int64_t *total)
{
    const int64_t count = a * b;
    *operands = 1;
    *total = count;
    box[0] = (tn_region){.rank = 2, .sizes = {b, a}, .src_strides = {1, b}, .dst_strides = {a, 1}};
    if (kind == 1) {
        box[0] = (tn_region){.rank = 1, .sizes = {count}, .src_offset = count - 1, .src_strides = {-1}, .dst_strides = {1}};
    } else if (kind == 2) {
        *total = 3 * count;
        box[0] = (tn_region){.rank = 3, .sizes = {a, 3, b}, .src_strides = {b, 0, 1}, .dst_strides = {3 * b, b, 1}};
    } else if (kind == 3) {
        *total = a * (b + 3);
        box[0] = (tn_region){.source = -1, .rank = 2, .sizes = {a, 3}, .dst_strides = {b + 3, 1}};
        box[1] = (tn_region){.rank = 2, .sizes = {a, b}, .src_strides = {b, 1}, .dst_offset = 3, .dst_strides = {b + 3, 1}};
        return 2;
    } else if (kind == 4) {
        *operands = 3;
        *total = 3 * count;
        for (int k = 0; k < 3; k++) {
            box[k] = (tn_region){.source = k, .rank = 2, .sizes = {a, b}, .src_strides = {b, 1}, .dst_offset = k * b, .dst_strides = {3 * b, 1}};
        }
        return 3;
    } else if (kind == 5) {
        shuffle(r, a, b, box, total);
    }
    return 1;
}

static bool make(tn_case *c, tn_arena *arena, tn_rand *r, unsigned i)
{
    tn_copy_attr *attr = tn_case_attr(arena, &tn_op_copy);
    tn_regions *regions = tn_arena_take(arena, sizeof *regions);
    tn_region *boxes = tn_arena_array(arena, 3, sizeof *boxes);
    // The last kinds listed: transposes that go past the caches a column or a row at a time, with more than one item and a rest of each.
    static const int64_t wholes[][2] = {{70, 333}, {300, 58}, {277, 16}};
    const bool listed = i < KINDS, whole = listed && i >= BOXES;
    int64_t total;
    if (!attr || !regions || !boxes) {
        return false;
    }
    const int64_t most = tn_draw_index(r, 4) ? 40 : 200, drawn = tn_rand_range(r, 1, most);
    const int64_t a = whole ? wholes[i - BOXES][0] : listed ? 9 : drawn, b = whole ? wholes[i - BOXES][1] : listed ? 17 : tn_rand_range(r, 1, most);
    regions->count = fill_boxes(r, whole ? 0 : listed ? (int)i : (int)tn_draw_index(r, BOXES), a, b, boxes, &regions->source_count, &total);
    regions->regions = boxes;
    for (size_t k = 0; k < sizeof regions->fill; k++) {
        regions->fill[k] = (uint8_t)tn_draw_index(r, 256);
    }
    attr->regions = regions;
    attr->shape = tn_case_ints(arena, 1, &total);
    c->op = &tn_op_copy;
    c->attr = attr;
    c->n_in = regions->source_count;
    c->n_out = 1;
    const tn_dtype dtype = listed ? TN_F32 : tn_draw_dtype(r, TN_DRAW_SIZES);
    for (int k = 0; k < c->n_in; k++) {
        c->in[k] = tn_draw_in(dtype, tn_case_shape(2, a, b));
    }
    c->special = true;
    return true;
}

TN_CASE_EXPORT(copy) {"copy", KINDS, make};
