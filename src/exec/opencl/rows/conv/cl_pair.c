// SPDX-License-Identifier: Apache-2.0
// Two convolutions of one map whose results a concat puts side by side, one of them pointwise, as one (the fire modules of SqueezeNet): the
// pointwise one's filters are the centre taps of larger ones that are zero otherwise, and the kernel leaves those out. One start less.
// Ownership: const data. Threads: any.
#include "exec/opencl/rows/conv/cl_conv.h"

#include <string.h>

static bool same_act(const tn_act *a, const tn_act *b) { return a->code == b->code && a->x == b->x && a->y == b->y; }

static bool pointwise(const tn_cl_conv *l) { return l->kh == 1 && l->kw == 1 && l->window.pad_begin[0] == 0 && l->window.pad_begin[1] == 0; }

// The tap that reads what a pointwise convolution reads; -1: none does.
static int64_t centre(const tn_cl_conv *l)
{
    const tn_window *w = &l->window;
    const bool there = w->dilation[0] == 1 && w->dilation[1] == 1 && w->pad_begin[0] >= 0 && w->pad_begin[1] >= 0 && w->pad_begin[0] < l->kh &&
                       w->pad_begin[1] < l->kw;
    return there ? w->pad_begin[0] * l->kw + w->pad_begin[1] : -1;
}

// One works within the other's taps: p within k.
static bool fits_in(const tn_cl_conv *p, const tn_cl_conv *k)
{
    return pointwise(p) && !pointwise(k) && centre(k) >= 0 && p->group == 1 && k->group == 1 && !p->deconv && !k->deconv &&
           p->window.stride[0] == k->window.stride[0] && p->window.stride[1] == k->window.stride[1] && p->y.n == k->y.n && p->y.h == k->y.h &&
           p->y.w == k->y.w && same_act(p->act, k->act);
}

// Their results lie side by side in one grid, a before b.
static bool follows(const tn_cl_value *a, const tn_cl_conv *la, const tn_cl_value *b)
{
    return a->whole && a->whole == b->whole && la->y.c % 4 == 0 && b->block == a->block + la->y.c / 4;
}

static bool in_place(const tn_cl_value *y, const tn_cl_conv *l)
{
    return y->whole && y->whole->cells && y->whole->cells->height == (size_t)(l->y.n * l->y.h);
}

// The larger one would go alone by Winograd's transform: that saves more.
static bool by_winograd(tn_cl_build *b, const tn_cl_conv *l, tn_cl_mem *any_grid)
{
    const tn_cl_layer layer = tn_cl_conv_layer(b, l, any_grid, l->x.c);
    return tn_cl_winograd_block(b, l, &(tn_cl_conv_memory){.x = any_grid, .y = any_grid}, &layer) != 0;
}

bool tn_cl_pair_defers(tn_cl_build *b, const tn_cl_conv *l, const tn_query *query, tn_cl_value *const *in, tn_cl_value *out)
{
    const tn_value *x = in[0]->value;
    if (b->cl->pairs == 1 || (b->cl->facts.is_cpu && !b->cl->pairs) || in[0]->ahead || in[0]->sibling || x->constant || !in_place(out, l) ||
        (query->n_in > 3 && query->in[3])) {
        return false;
    }
    // Somebody beside the concat may want it before the other one is there.
    if (out->value->n_uses != 1 || out->value->is_output) {
        return false;
    }
    for (size_t i = 0; i < x->n_uses; i++) {
        const tn_node *node = x->uses[i].node;
        tn_cl_conv other;
        if (x->uses[i].index != 0 || node == b->node || node->op != &tn_op_conv || !node->in[1] || !node->in[1]->constant || !node->out[0] ||
            (node->n_in > 3 && node->in[3]) || !tn_cl_conv_read(node->op, node->attr, &x->shape, &node->in[1]->shape, &node->out[0]->shape, &other)) {
            continue;
        }
        const tn_cl_value *y = tn_cl_value_of(b, node->out[0]);
        const bool made = y->cells || y->plain || y->ahead, beside = follows(out, l, y) || follows(y, &other, out);
        if (made || !beside || !(fits_in(l, &other) || fits_in(&other, l)) || by_winograd(b, pointwise(l) ? &other : l, out->whole->cells)) {
            continue;
        }
        tn_cl_ahead *ahead = tn_arena_array(&b->scratch, 1, sizeof *ahead);
        if (!ahead) {
            b->status = tn_fail_memory(b->diag, query->name, sizeof *ahead);
            return true;
        }
        *ahead = (tn_cl_ahead){.l = *l, .node = b->node, .reader = node, .x = in[0], .y = out, .weights = query->in[1]->data,
                               .bias = query->n_in > 2 && query->in[2] ? query->in[2]->data : NULL};
        in[0]->sibling = ahead;
        return true;
    }
    return false;
}

typedef struct part {
    const tn_cl_conv *l;
    const void *weights, *bias;
    tn_cl_value *y;
} part;

// Filters of both, those of a pointwise one around `tap`. NULL: no memory.
static float *joined_weights(tn_cl_build *b, const part parts[2], int64_t channels, int64_t taps, int64_t tap)
{
    const int64_t in = parts[0].l->x.c;
    float *all = tn_arena_array(&b->scratch, (size_t)(channels * in * taps), sizeof *all);
    if (!all) {
        b->status = tn_fail_memory(b->diag, b->node->name, (size_t)(channels * in * taps) * sizeof *all);
        return NULL;
    }
    memset(all, 0, (size_t)(channels * in * taps) * sizeof *all);
    float *to = all;
    for (int i = 0; i < 2; i++) {
        const int64_t filters = parts[i].l->y.c * in, own = parts[i].l->kh * parts[i].l->kw;
        if (own == taps) {
            memcpy(to, parts[i].weights, (size_t)(filters * taps) * sizeof *to);
        }
        for (int64_t f = 0; f < filters && own != taps; f++) {
            memcpy(to + f * taps + tap, (const char *)parts[i].weights + f * (int64_t)sizeof *to, sizeof *to);
        }
        to += filters * taps;
    }
    return all;
}

static float *joined_bias(tn_cl_build *b, const part parts[2], int64_t channels)
{
    float *all = tn_arena_array(&b->scratch, (size_t)channels, sizeof *all);
    if (!all) {
        b->status = tn_fail_memory(b->diag, b->node->name, (size_t)channels * sizeof *all);
        return NULL;
    }
    memset(all, 0, (size_t)channels * sizeof *all);
    for (int i = 0; i < 2; i++) {
        if (parts[i].bias) {
            memcpy(all + (i ? parts[0].l->y.c : 0), parts[i].bias, (size_t)parts[i].l->y.c * sizeof *all);
        }
    }
    return all;
}

void tn_cl_pair_emit(tn_cl_build *b, const tn_cl_ahead *a, const tn_cl_conv *l, const tn_query *query, tn_cl_value *y)
{
    const part own = {l, query->in[1]->data, query->n_in > 2 && query->in[2] ? query->in[2]->data : NULL, y};
    const part other = {&a->l, a->weights, a->bias, a->y};
    const bool first = y->block < a->y->block;
    const part parts[2] = {first ? own : other, first ? other : own};
    const int points = pointwise(parts[0].l) ? 0 : 1;
    tn_cl_conv both = *parts[1 - points].l;
    const int64_t channels = parts[0].l->y.c + parts[1].l->y.c, blocks = parts[0].l->y.c / 4;
    const tn_cl_layer layer = tn_cl_conv_layer(b, &both, y->whole->cells, both.x.c);
    tn_cl_centred centred = {.tap = centre(&both), .from = points ? blocks : 0, .to = points ? TN_CEIL_DIV(channels, 4) : blocks, .node = a->node,
                             .alone = &layer};
    tn_cl_conv_memory m = {.x = tn_cl_grid(b, a->x)};
    both.y.c = channels;
    const int64_t filter[4] = {channels, both.x.c, both.kh, both.kw}, list[4] = {channels, 1, 1, 1};
    const float *weights = joined_weights(b, parts, channels, both.kh * both.kw, centred.tap), *bias = joined_bias(b, parts, channels);
    (void)tn_cl_new_grid(b, parts[0].y);
    (void)tn_cl_new_grid(b, parts[1].y);
    if (b->status != TN_OK) {
        return;
    }
    m.y = tn_cl_view_grid(b, y->whole->cells, (size_t)(parts[0].y->block * both.y.w), (size_t)(TN_CEIL_DIV(channels, 4) * both.y.w));
    m.bias = own.bias || other.bias ? tn_cl_weight(b, TN_CL_ARGUMENT, list, 0, bias) : NULL;
    tn_cl_mem *all = tn_cl_weight(b, TN_CL_CONV2D_FILTER, filter, 0, weights);
    tn_cl_layer wide = layer;
    wide.out_blocks = TN_CEIL_DIV(channels, 4);
    if (b->status == TN_OK) {
        tn_cl_direct_emit(b, &both, &m, all, &wide, &centred);
    }
}
