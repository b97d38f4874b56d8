// SPDX-License-Identifier: Apache-2.0
// A convolution whose only reader is a depthwise one, in that one's step (kernels/nn/conv_expand.cl): one start less, and the map between,
// the largest of such a block, is never in memory.
// Ownership: const data. Threads: any.
#include "exec/opencl/rows/conv/cl_conv.h"
#include "exec/opencl/tune/cl_table.h"

#include <string.h>

// Starting a kernel, nanoseconds: what doing two in one saves (docs/opencl.md).
#define START 4000.0

// The reader's convolution, where it is one that the joined kernel knows.
static bool reader_of(const tn_value *mid, tn_cl_conv *l)
{
    const tn_node *node = mid->n_uses == 1 && !mid->is_output && mid->uses[0].index == 0 ? mid->uses[0].node : NULL;
    if (!node || node->op != &tn_op_conv || !node->in[1] || !node->out[0] || !tn_cl_conv_read(node->op, node->attr, &mid->shape, &node->in[1]->shape,
                                                                                          &node->out[0]->shape, l)) {
        return false;
    }
    return l->group == l->x.c && l->x.c == l->y.c && l->group > 1 && l->window.dilation[0] == 1 && l->kh <= 7 && l->kw <= 7;
}

static tn_cl_layer joined(const tn_cl_build *b, const tn_cl_conv *first, const tn_cl_conv *l, bool image)
{
    return (tn_cl_layer){.kind = TN_CL_LAYER_EXPAND, .pixels = l->y.n * l->y.h * l->y.w, .out_blocks = TN_CEIL_DIV(l->y.c, 4),
                         .in_blocks = TN_CEIL_DIV(first->x.c, 4), .kh = l->kh, .kw = l->kw, .stride = l->window.stride[0],
                         .group = first->kh * first->kw, .height = l->y.h, .image = image, .half = b->half, .map = l->y.n * l->y.h * l->y.w,
                         .mid_height = l->x.h, .mid_width = l->x.w};
}

// Both on their own, by the model.
static double apart(tn_cl_build *b, const tn_cl_conv *first, const tn_cl_layer *both)
{
    tn_cl_layer one = *both, two = *both;
    one.kind = TN_CL_LAYER_CONV;
    one.kh = first->kh, one.kw = first->kw, one.stride = first->window.stride[0], one.group = 1;
    one.pixels = one.map = first->y.n * first->y.h * first->y.w;
    one.height = first->y.h;
    two.kind = TN_CL_LAYER_DEPTHWISE;
    two.in_blocks = two.group = 1;
    return tn_cl_layer_price(b->cl, &one) + tn_cl_layer_price(b->cl, &two) + START;
}

static bool worth_it(tn_cl_build *b, const tn_cl_conv *first, const tn_cl_layer *layer)
{
    const tn_cl_layer fuse = tn_cl_layer_choice(layer);
    tn_cl_tile tile = tn_cl_tile_for(b->cl, layer), row;
    if (b->cl->expand == 1 || !tn_cl_tile_valid(&tile, layer, &b->cl->facts)) {
        return false;
    }
    if (b->cl->expand) {
        return true;
    }
    if (tn_cl_table_find(b->cl, &fuse, &row)) {
        return row.ob == 2;
    }
    // A driver on the CPU starts a kernel at once, and its groups cross barriers slowly.
    return !b->cl->facts.is_cpu && (tn_cl_table_find(b->cl, layer, &row) || tn_cl_layer_price(b->cl, layer) < apart(b, first, layer));
}

bool tn_cl_expand_defers(tn_cl_build *b, const tn_cl_conv *l, const tn_query *query, tn_cl_value *const *in, tn_cl_value *out)
{
    tn_cl_conv reader;
    if (l->deconv || l->group != 1 || (query->n_in > 3 && query->in[3]) || !reader_of(out->value, &reader)) {
        return false;
    }
    const tn_cl_layer layer = joined(b, l, &reader, !b->buffers && b->cl->facts.images);
    if (!worth_it(b, l, &layer)) {
        return false;
    }
    tn_cl_ahead *ahead = tn_arena_array(&b->scratch, 1, sizeof *ahead);
    if (!ahead) {
        b->status = tn_fail_memory(b->diag, query->name, sizeof *ahead);
        return true;
    }
    *ahead = (tn_cl_ahead){.l = *l, .node = b->node, .x = in[0], .weights = query->in[1]->data,
                           .bias = query->n_in > 2 && query->in[2] ? query->in[2]->data : NULL};
    out->ahead = ahead;
    return true;
}

static void step(tn_cl_build *b, const tn_cl_ahead *a, const tn_cl_conv *l, const tn_cl_conv_memory *m, const tn_cl_expand_memory *e,
                 const tn_cl_layer *layer, const tn_cl_tile *t)
{
    const tn_window *w = &a->l.window;
    const int64_t strips = TN_CEIL_DIV(l->y.h, t->split_t), room = tn_cl_tile_room(t, layer);
    const struct { const char *name; int64_t value; } defines[] = {
        {"KH0", a->l.kh}, {"KW0", a->l.kw}, {"STRIDE_Y0", w->stride[0]}, {"STRIDE_X0", w->stride[1]}, {"DIL_Y0", w->dilation[0]},
        {"DIL_X0", w->dilation[1]}, {"PAD_Y0", w->pad_begin[0]}, {"PAD_X0", w->pad_begin[1]}, {"OB", t->ob}, {"P", t->p}, {"ROWS", t->split_t},
        {"SPLIT_C", t->split_c}, {"LANES_X", t->lanes_x}, {"INSIDE", tn_cl_conv_inside(&a->l)},
        {"UNROLL", b->cl->facts.is_cpu || t->ob * t->p > 8 ? 1 : t->ob * t->p > 2 ? 2 : 4},
    };
    tn_cl_begin(b, "conv_expand");
    tn_cl_narrow(b, m->x, e->filter, m->y);
    tn_cl_conv_operands(b, l, m, &a->l);
    tn_cl_in_narrow(b, "F", e->filter);
    tn_cl_in_grid(b, "D", e->depthwise);
    if (e->bias) {
        tn_cl_in_grid(b, "A", e->bias);
        tn_cl_define(b, "BIAS0", "1");
    }
    tn_cl_act_first(b, a->l.act);
    tn_cl_conv_window(b, l);
    for (size_t i = 0; i < TN_COUNT(defines); i++) {
        tn_cl_define(b, defines[i].name, "(%lld)", (long long)defines[i].value);
    }
    tn_cl_int(b, "h0", a->l.x.h);
    tn_cl_int(b, "w0", a->l.x.w);
    tn_cl_over(b, "w", l->x.w);
    tn_cl_over(b, "ow", l->y.w);
    if (l->y.n == 1) {
        tn_cl_define(b, "ONE_PICTURE", "1");
    } else {
        tn_cl_int(b, "strips", strips);
    }
    tn_cl_int(b, "in_blocks", layer->in_blocks);
    tn_cl_int(b, "out_blocks", layer->out_blocks);
    tn_cl_int(b, "room", room);
    tn_cl_local(b, "float4", "mid", (size_t)(room * t->ob * t->split_c) * 16);
    tn_cl_tiled(b, layer, t);
    if (b->status == TN_OK) {
        b->step->ahead = a->node;
    }
    tn_cl_group(b, (size_t)t->lanes_x, 1, (size_t)t->split_c);
    tn_cl_end(b, (size_t)(l->y.n * strips * t->lanes_x), (size_t)TN_CEIL_DIV(layer->out_blocks, t->ob), (size_t)t->split_c);
}

void tn_cl_expand_emit(tn_cl_build *b, const tn_cl_ahead *a, const tn_cl_conv *l, tn_cl_conv_memory *m, const void *weights)
{
    const int64_t filter[4] = {l->x.c, a->l.x.c, a->l.kh, a->l.kw}, depthwise[4] = {l->y.c, 1, l->kh, l->kw}, list[4] = {l->x.c, 1, 1, 1};
    const tn_cl_layer layer = joined(b, &a->l, l, !b->buffers && b->cl->facts.images);
    tn_cl_tile tile = tn_cl_tile_for(b->cl, &layer);
    tn_cl_expand_memory e = {0};
    m->x = tn_cl_conv_operand(b, &a->l, a->x);
    e.filter = tn_cl_weight(b, TN_CL_CONV2D_FILTER, filter, 0, a->weights);
    e.depthwise = tn_cl_weight(b, TN_CL_DW_CONV2D_FILTER, depthwise, 0, weights);
    e.bias = a->bias ? tn_cl_weight(b, TN_CL_ARGUMENT, list, 0, a->bias) : NULL;
    for (bool again = b->status == TN_OK; again; again = b->too_wide) {
        tn_cl_tile next = tile;
        b->retries = tn_cl_tile_narrower(&next);
        step(b, a, l, m, &e, &layer, &tile);
        tile = next;
    }
    b->retries = false;
}
