// SPDX-License-Identifier: Apache-2.0
// Cases of depth_to_space, space_to_depth, tile (more split dims than a box has) and reverse_sequence.
// Ownership: the caller's arena. Threads: one at a time.
#include "cases/draw.h"
#include "ops/move/op_block.h"

static const struct {
    const tn_op *op;
    tn_shape shape;
    int64_t b;
    bool crd;
} blocks[] = {
    {&tn_op_depth_to_space, {4, {1, 9, 7, 5}}, 3, false}, {&tn_op_depth_to_space, {4, {2, 8, 3, 4}}, 2, true},
    {&tn_op_space_to_depth, {4, {1, 3, 6, 9}}, 3, false}, {&tn_op_space_to_depth, {4, {2, 2, 4, 6}}, 2, true},
};

static const struct {
    tn_shape shape;
    int64_t repeats[6];
} tiles[] = {
    {{2, {3, 5}}, {2, 3}}, {{4, {1, 3, 1, 7}}, {2, 1, 5, 1}}, {{0, {0}}, {0}}, {{6, {2, 2, 2, 2, 2, 2}}, {2, 3, 2, 1, 2, 2}}, {{2, {3, 4}}, {0, 2}},
};
enum { LISTED = TN_COUNT(blocks) + TN_COUNT(tiles) };

static bool make_block(tn_case *c, tn_arena *arena, tn_rand *r, int which)
{
    c->op = which >= 0 ? blocks[which].op : tn_rand_bool(r) ? &tn_op_depth_to_space : &tn_op_space_to_depth;
    tn_block_attr *attr = tn_case_attr(arena, c->op);
    if (!attr) {
        return false;
    }
    const int64_t b = tn_rand_range(r, 1, 3), n = tn_rand_range(r, 1, 2), ch = tn_rand_range(r, 1, 5), h = tn_rand_range(r, 1, 9),
                  w = tn_rand_range(r, 1, 9);
    *attr = which >= 0 ? (tn_block_attr){blocks[which].b, blocks[which].crd} : (tn_block_attr){b, tn_rand_bool(r)};
    const tn_shape any = c->op == &tn_op_depth_to_space ? tn_case_shape(4, n, ch * b * b, h, w) : tn_case_shape(4, n, ch, h * b, w * b);
    c->attr = attr;
    c->n_in = 1;
    c->in[0] = tn_draw_in(which >= 0 ? TN_F32 : tn_draw_dtype(r, TN_DRAW_SIZES), which >= 0 ? blocks[which].shape : any);
    return true;
}

static bool make_tile(tn_case *c, tn_arena *arena, tn_rand *r, int which)
{
    const tn_shape shape = which >= 0 ? tiles[which].shape : tn_draw_shape(r, 0, 5);
    int64_t repeats[TN_MAX_RANK];
    for (int d = 0; d < shape.rank; d++) {
        repeats[d] = which >= 0 ? tiles[which].repeats[d] : tn_rand_range(r, 1, 3);
    }
    c->op = &tn_op_tile;
    c->n_in = 2;
    c->in[0] = tn_draw_in(which >= 0 ? TN_F32 : tn_draw_dtype(r, TN_DRAW_SIZES), shape);
    c->in[1] = tn_draw_list(arena, shape.rank, repeats);
    return true;
}

static bool make_reverse(tn_case *c, tn_arena *arena, tn_rand *r)
{
    tn_reverse_sequence_attr *attr = tn_case_attr(arena, &tn_op_reverse_sequence);
    const tn_shape shape = tn_draw_shape(r, 2, 4);
    if (!attr) {
        return false;
    }
    attr->batch_axis = tn_draw_index(r, 2);
    attr->time_axis = 1 - attr->batch_axis;
    c->op = &tn_op_reverse_sequence;
    c->attr = attr;
    c->n_in = 2;
    c->in[0] = tn_draw_in(tn_draw_dtype(r, TN_DRAW_SIZES), shape);
    c->in[1] = tn_draw_in(TN_I64, tn_case_shape(1, shape.dims[attr->batch_axis]));
    c->in[1].low = 0;
    c->in[1].high = (double)shape.dims[attr->time_axis];
    return true;
}

static bool make(tn_case *c, tn_arena *arena, tn_rand *r, unsigned i)
{
    c->n_out = 1;
    c->special = true;
    if (i < TN_COUNT(blocks)) {
        return make_block(c, arena, r, (int)i);
    }
    if (i < LISTED) {
        return make_tile(c, arena, r, (int)(i - TN_COUNT(blocks)));
    }
    const int kind = (int)tn_draw_index(r, 3);
    return kind == 0 ? make_block(c, arena, r, -1) : kind == 1 ? make_tile(c, arena, r, -1) : make_reverse(c, arena, r);
}

TN_CASE_EXPORT(block) {"block", LISTED, make};
