// SPDX-License-Identifier: Apache-2.0
// Convolution: grids in, grids out, bias, residual and activation in the same kernel.
// Ownership: const data. Threads: any.
#include "exec/opencl/rows/conv/cl_conv.h"
#include "exec/opencl/run/cl_watch.h"

#include <string.h>

// Taps of a depthwise window that add up in halves, where those are asked for: 7 x 7.
#define SHORT_WINDOW 49

static tn_cl_sides dims_of(const tn_shape *shape)
{
    int64_t d[4] = {1, 1, 1, 1};
    (void)tn_cl_grid_dims(shape, d);
    return (tn_cl_sides){d[0], d[1], d[2], d[3]};
}

bool tn_cl_conv_read(const tn_op *op, const void *attr, const tn_shape *x, const tn_shape *w, const tn_shape *y, tn_cl_conv *l)
{
    memset(l, 0, sizeof *l);
    l->deconv = op == &tn_op_deconv;
    if (l->deconv) {
        const tn_deconv_attr *own = attr;
        l->group = own->group;
        l->act = &own->act;
        if (!tn_deconv_window(own, x, w, &l->window)) {
            return false;
        }
    } else {
        const tn_conv_attr *own = attr;
        l->group = own->group;
        l->act = &own->act;
        if (!tn_conv_window(own, x, w, &l->window)) {
            return false;
        }
    }
    if (l->window.rank > 2 || l->group < 1) {
        return false;
    }
    if (l->window.rank == 1) {
        tn_window *window = &l->window;
        window->kernel[1] = window->kernel[0], window->stride[1] = window->stride[0], window->dilation[1] = window->dilation[0];
        window->pad_begin[1] = window->pad_begin[0];
        window->kernel[0] = window->stride[0] = window->dilation[0] = 1;
        window->pad_begin[0] = 0;
    }
    l->x = dims_of(x);
    l->y = dims_of(y);
    l->kh = l->window.kernel[0];
    l->kw = l->window.kernel[1];
    return true;
}

static bool layer_of(const tn_query *query, tn_cl_conv *l)
{
    return tn_cl_conv_read(query->op, query->attr, &query->in[0]->shape, &query->in[1]->shape, &query->out[0]->shape, l);
}

// Positions are computed in 32 bits on the device: window numbers far outside are not for it.
static bool small_window(const tn_window *w)
{
    for (int i = 0; i < 2; i++) {
        const int64_t far = 1 << 20;
        if (w->kernel[i] > 4096 || w->stride[i] > far || w->dilation[i] > far || w->pad_begin[i] > far || w->pad_begin[i] < -far ||
            w->kernel[i] * w->dilation[i] > far) {
            return false;
        }
    }
    return true;
}

static bool match_conv(const tn_query *query, const char **why)
{
    tn_cl_conv l;
    if (!tn_cl_all_f32(query, why)) {
        return false;
    }
    if (!query->in[1]->data || (query->n_in > 2 && query->in[2] && !query->in[2]->data)) {
        *why = "the weights are not constant";
        return false;
    }
    if (!tn_cl_griddable(query->in[0]) || !tn_cl_griddable(query->out[0]) || !layer_of(query, &l) || !small_window(&l.window)) {
        *why = "only one or two spatial dims of usual sizes";
        return false;
    }
    return true;
}

void tn_cl_conv_window(tn_cl_build *b, const tn_cl_conv *l)
{
    const tn_window *w = &l->window;
    const struct { const char *name; int64_t value; } defines[] = {
        {"KH", w->kernel[0]}, {"KW", w->kernel[1]}, {"STRIDE_Y", w->stride[0]}, {"STRIDE_X", w->stride[1]}, {"DIL_Y", w->dilation[0]},
        {"DIL_X", w->dilation[1]}, {"PAD_Y", w->pad_begin[0]}, {"PAD_X", w->pad_begin[1]},
    };
    for (size_t i = 0; i < TN_COUNT(defines); i++) {
        tn_cl_define(b, defines[i].name, "(%lld)", (long long)defines[i].value);
    }
    if (l->deconv) {
        tn_cl_define(b, "DECONV", "1");
    }
    tn_cl_int(b, "h", l->x.h);
    tn_cl_int(b, "w", l->x.w);
    tn_cl_int(b, "oh", l->y.h);
    tn_cl_int(b, "ow", l->y.w);
}

void tn_cl_conv_results(tn_cl_build *b, const tn_cl_conv *l, const tn_cl_conv_memory *m)
{
    if (m->bias) {
        tn_cl_in_grid(b, "B", m->bias);
    }
    if (m->residual) {
        tn_cl_in_grid(b, "R", m->residual);
    }
    tn_cl_out_grid(b, "Y", m->y);
    tn_cl_act(b, l->act);
    tn_cl_mask(b, l->y.c);
    tn_cl_define(b, "RESULT(block, px, py, sum)", "do { float4 v_ = (sum)%s%s; %sv_ = ACT(v_); Y_WRITE(px, py, MASK(block, v_)); } while (0)",
                 m->bias ? " + B_READ(block, 0)" : "", m->residual ? " + R_READ(px, py)" : "", tn_cl_watch_sum(b));
}

void tn_cl_conv_operands(tn_cl_build *b, const tn_cl_conv *l, const tn_cl_conv_memory *o, const tn_cl_conv *reader)
{
    const tn_cl_sides *x = &reader->x;
    if (o->x && !o->x->grid) {
        tn_cl_in_planes(b, "X", o->x, (const int64_t[]){x->n, x->c, x->h, x->w});
    } else {
        tn_cl_in_narrow(b, "X", o->x);
    }
    tn_cl_conv_results(b, l, o);
}

static tn_cl_layer facts_of(const tn_cl_build *b, const tn_cl_conv *l, const tn_cl_mem *y, tn_cl_layer_kind kind, int64_t in_channels)
{
    return (tn_cl_layer){.kind = kind, .pixels = l->y.n * l->y.h * l->y.w, .out_blocks = TN_CEIL_DIV(l->y.c, 4),
                         .in_blocks = TN_CEIL_DIV(in_channels, 4), .kh = l->kh, .kw = l->kw, .stride = l->window.stride[0],
                         .group = kind == TN_CL_LAYER_DEPTHWISE ? 1 : l->group, .height = l->y.h, .image = y && y->image, .half = b->half,
                         .map = l->y.n * l->y.h * l->y.w};
}

tn_cl_layer tn_cl_conv_layer(const tn_cl_build *b, const tn_cl_conv *l, const tn_cl_mem *y, int64_t in_channels)
{
    return facts_of(b, l, y, TN_CL_LAYER_CONV, in_channels);
}

bool tn_cl_conv_inside(const tn_cl_conv *l)
{
    const tn_window *w = &l->window;
    return !l->deconv && w->pad_begin[0] == 0 && w->pad_begin[1] == 0 &&
           (l->y.h - 1) * w->stride[0] + (l->kh - 1) * w->dilation[0] < l->x.h && (l->y.w - 1) * w->stride[1] + (l->kw - 1) * w->dilation[1] < l->x.w;
}

static void direct_step(tn_cl_build *b, const tn_cl_conv *l, const tn_cl_conv_memory *o, tn_cl_mem *filter, const tn_cl_layer *facts,
                        const tn_cl_centred *centred, const tn_cl_tile *t)
{
    const int64_t group_out = l->group == 1 ? facts->out_blocks : facts->out_blocks / l->group;
    const int split = t->split_t * t->split_c;
    tn_cl_begin(b, "conv");
    tn_cl_narrow(b, o->x, filter, o->y);
    tn_cl_conv_operands(b, l, o, l);
    tn_cl_in_narrow(b, "F", filter);
    tn_cl_int(b, "n", l->y.n);
    tn_cl_conv_window(b, l);
    tn_cl_over(b, "ow", l->y.w);
    if (l->y.n == 1) {
        tn_cl_define(b, "ONE_PICTURE", "1");
    } else {
        tn_cl_over(b, "oh", l->y.h);
    }
    tn_cl_int(b, "group_out", group_out);
    tn_cl_int(b, "group_in", facts->in_blocks);
    tn_cl_int(b, "out_blocks", facts->out_blocks);
    const struct { const char *name; int value; } defines[] = {
        {"OB", t->ob}, {"P", t->p}, {"SPLIT_T", t->split_t}, {"SPLIT_C", t->split_c}, {"LANES_X", t->lanes_x}, {"LANES_Y", t->lanes_y},
        {"INSIDE", tn_cl_conv_inside(l)}, {"UNROLL", b->cl->facts.is_cpu || t->ob * t->p > 8 ? 1 : t->ob * t->p > 2 ? 2 : 4},
    };
    for (size_t i = 0; i < TN_COUNT(defines); i++) {
        tn_cl_define(b, defines[i].name, "%d", defines[i].value);
    }
    if (split > 1) {
        tn_cl_local(b, "float4", "sums", (size_t)(split * t->p * t->lanes_x * t->lanes_y) * 16);
    }
    tn_cl_tiled(b, centred ? centred->alone : facts, t);
    if (centred && b->status == TN_OK) {
        b->step->ahead = centred->node;
        tn_cl_define(b, "CENTRE", "%lld", (long long)centred->tap);
        tn_cl_define(b, "CENTRED(block)", "((block) >= %lld && (block) + OB <= %lld)", (long long)centred->from, (long long)centred->to);
    }
    tn_cl_group(b, (size_t)t->lanes_x, (size_t)t->lanes_y, (size_t)split);
    tn_cl_end(b, (size_t)TN_CEIL_DIV(facts->pixels, t->p), (size_t)TN_CEIL_DIV(facts->out_blocks, t->ob), (size_t)split);
}

void tn_cl_direct_emit(tn_cl_build *b, const tn_cl_conv *l, const tn_cl_conv_memory *m, tn_cl_mem *filter, const tn_cl_layer *layer,
                       const tn_cl_centred *centred)
{
    tn_cl_tile tile = tn_cl_tile_for(b->cl, centred ? centred->alone : layer);
    for (bool again = true; again; again = b->too_wide) {
        tn_cl_tile next = tile;
        b->retries = tn_cl_tile_narrower(&next);
        direct_step(b, l, m, filter, layer, centred, &tile);
        tile = next;
    }
    b->retries = false;
}

static void emit_direct(tn_cl_build *b, const tn_cl_conv *l, const tn_cl_conv_memory *o, const void *weights, int64_t in_channels)
{
    const int64_t dims[4] = {l->y.c, in_channels, l->kh, l->kw};
    const tn_cl_layer facts = tn_cl_conv_layer(b, l, o->y, in_channels);
    const int block = tn_cl_winograd_block(b, l, o, &facts);
    if (block) {
        tn_cl_winograd_emit(b, l, o, weights, block);
        return;
    }
    tn_cl_direct_emit(b, l, o, tn_cl_weight(b, TN_CL_CONV2D_FILTER, dims, 0, weights), &facts, NULL);
}

static void depthwise_step(tn_cl_build *b, const tn_cl_conv *l, const tn_cl_conv_memory *o, tn_cl_mem *filter, const tn_cl_layer *facts, const tn_cl_tile *t)
{
    tn_cl_begin(b, "conv_depthwise");
    tn_cl_narrow(b, l->kh * l->kw <= SHORT_WINDOW ? o->x : NULL, filter, o->y);
    tn_cl_conv_operands(b, l, o, l);
    tn_cl_in_narrow(b, "F", filter);
    tn_cl_conv_window(b, l);
    tn_cl_define(b, "P", "%d", t->p);
    tn_cl_define(b, "UNROLL", "%d", l->kh * l->kw <= 9 ? 3 : 1);
    tn_cl_over(b, "ow", l->y.w);
    if (l->y.n == 1) {
        tn_cl_define(b, "ONE_PICTURE", "1");
    }
    tn_cl_tiled(b, facts, t);
    tn_cl_group(b, (size_t)t->lanes_x, 1, 1);
    tn_cl_end(b, (size_t)(l->y.w * TN_CEIL_DIV(l->y.c, 4)), (size_t)(l->y.n * TN_CEIL_DIV(l->y.h, t->p)), 1);
}

static void emit_depthwise(tn_cl_build *b, const tn_cl_conv *l, const tn_cl_conv_memory *o, const void *weights)
{
    const int64_t dims[4] = {l->y.c, 1, l->kh, l->kw};
    const tn_cl_layer facts = facts_of(b, l, o->y, TN_CL_LAYER_DEPTHWISE, 1);
    tn_cl_tile tile = tn_cl_tile_for(b->cl, &facts);
    tn_cl_mem *filter = tn_cl_weight(b, TN_CL_DW_CONV2D_FILTER, dims, 0, weights);
    for (bool again = true; again; again = b->too_wide) {
        tn_cl_tile next = tile;
        b->retries = tn_cl_tile_narrower(&next);
        depthwise_step(b, l, o, filter, &facts, &tile);
        tile = next;
    }
    b->retries = false;
}

static void emit_group(tn_cl_build *b, const tn_cl_conv *l, const tn_cl_conv_memory *o, const void *weights, int64_t in_channels)
{
    tn_cl_mem *filter = tn_cl_upload(b, weights, (size_t)(l->y.c * in_channels * l->kh * l->kw) * sizeof(float));
    tn_cl_begin(b, "conv_group");
    tn_cl_conv_operands(b, l, o, l);
    tn_cl_in(b, "float", "f", filter);
    tn_cl_conv_window(b, l);
    tn_cl_int(b, "group_out", l->y.c / l->group);
    tn_cl_int(b, "group_in", in_channels);
    tn_cl_int(b, "out_channels", l->y.c);
    tn_cl_end(b, (size_t)l->y.w, (size_t)TN_CEIL_DIV(l->y.c, 4), (size_t)(l->y.n * l->y.h));
}

// Deconvolution weights [C, M / group, kh, kw] as those of a convolution [M, C / group, kh, kw]. NULL: no memory.
static float *turned(tn_cl_build *b, const tn_cl_conv *l, const tn_tensor *w, int64_t in_channels)
{
    const int64_t taps = l->kh * l->kw, m = l->y.c / l->group;
    float *out = tn_arena_array(&b->scratch, (size_t)(l->y.c * in_channels * taps), sizeof *out);
    if (!out) {
        b->status = tn_fail_memory(b->diag, b->node->name, (size_t)(l->y.c * in_channels * taps) * sizeof *out);
        return NULL;
    }
    for (int64_t o = 0; o < l->y.c; o++) {
        for (int64_t i = 0; i < in_channels; i++) {
            const int64_t c = o / m * in_channels + i;
            memcpy(out + (o * in_channels + i) * taps, (const char *)w->data + (c * m + o % m) * taps * (int64_t)sizeof *out,
                   (size_t)taps * sizeof *out);
        }
    }
    return out;
}

// The first layer of a network for pictures reads them as they come.
tn_cl_mem *tn_cl_conv_operand(tn_cl_build *b, const tn_cl_conv *reader, tn_cl_value *x)
{
    const bool planes = reader->x.c <= 4 && reader->group == 1 && !x->cells && x->plain && x->value->n_uses == 1;
    return planes ? x->plain : tn_cl_grid(b, x);
}

static void emit_conv(tn_cl_build *b, const tn_query *query, tn_cl_value *const *in, tn_cl_value *const *out)
{
    tn_cl_conv l;
    if (!layer_of(query, &l)) {
        b->status = tn_fail(b->diag, TN_INTERNAL, query->name, "the window changed since it was placed");
        return;
    }
    const int64_t in_channels = l.x.c / l.group, out_channels = l.y.c / l.group;
    const void *weights = l.deconv ? turned(b, &l, query->in[1], in_channels) : query->in[1]->data;
    tn_cl_conv_memory o = {.x = NULL};
    const tn_cl_ahead *sibling = in[0]->sibling;
    if (sibling && sibling->reader == b->node) {
        in[0]->sibling = NULL;
        tn_cl_pair_emit(b, sibling, &l, query, out[0]);
        return;
    }
    if (tn_cl_expand_defers(b, &l, query, in, out[0]) || tn_cl_pair_defers(b, &l, query, in, out[0])) {
        return;
    }
    o.x = in[0]->ahead ? NULL : tn_cl_conv_operand(b, &l, in[0]);
    if (query->n_in > 2 && in[2]) {
        const int64_t dims[4] = {l.y.c, 1, 1, 1};
        o.bias = tn_cl_weight(b, TN_CL_ARGUMENT, dims, 0, query->in[2]->data);
    }
    o.residual = query->n_in > 3 && in[3] ? tn_cl_grid(b, in[3]) : NULL;
    o.y = tn_cl_new_grid(b, out[0]);
    if (b->status != TN_OK) {
        return;
    }
    if (in[0]->ahead) {
        tn_cl_expand_emit(b, in[0]->ahead, &l, &o, weights);
    } else if (l.group == 1 || (in_channels % 4 == 0 && out_channels % 4 == 0)) {
        emit_direct(b, &l, &o, weights, in_channels);
    } else if (!l.deconv && in_channels == 1 && out_channels == 1) {
        emit_depthwise(b, &l, &o, weights);
    } else {
        emit_group(b, &l, &o, weights, in_channels);
    }
}

static const tn_cl_row rows[] = {
    {.op = &tn_op_conv, .grid = true, .match = match_conv, .emit = emit_conv},
    {.op = &tn_op_deconv, .grid = true, .match = match_conv, .emit = emit_conv},
};

TN_CL_EXPORT(conv, rows);
