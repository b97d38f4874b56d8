// SPDX-License-Identifier: Apache-2.0
// Equalisation of channels over a function (quantise.h):
//   conv -> a -> f -> b -> conv...   becomes   conv/r -> a' -> r * -> f -> 1/t * -> b' -> conv*t ...
// with r and t the channels' greatest values, as parts of the greatest of all. What a' and b' are quantised with one scale then has as many
// steps in each channel. It pays where a channel of small values meets large weights: their product is as large as the others', and so
// is the error of a coarse step.
// Ownership: new constants belong to the graph. Threads: one per graph.
#include "pass/quantise/quantise.h"

#include "base/macros.h"
#include "ops/math/op_binary.h"
#include "ops/nn/op_conv.h"
#include "pass/rewrite.h"

#include <math.h>

#define LEAST_PART (1.0f / 4096)      // factors below would make weights that are all noise
#define WORTH_IT 64.0                 // times that the power of the rounding error falls
#define MOST_CHANNELS 256             // of a function with a table for each
#define MOST_NODES 4                  // of the function

static bool is_conv(const tn_node *node)
{
    int64_t count;
    return node->op == &tn_op_conv && node->n_in <= 3 && node->in[1] && tn_floats(node->in[1], &count) && node->in[1]->constant->shape.rank >= 3 &&
           (node->n_in < 3 || !node->in[2] || tn_floats(node->in[2], &count)) &&
           ((const tn_conv_attr *)node->attr)->act.code == TN_LOOP_CONST;
}

// The value that the chain of functions behind `a` ends in, which has a scale of its own; NULL: no such chain.
static tn_value *behind(const tn_value *a, const bool *scaled, size_t n_values)
{
    const tn_value *value = a;
    for (int i = 0; i < MOST_NODES; i++) {
        tn_node *node = value->n_uses == 1 && !value->is_output ? value->uses[0].node : NULL;
        if (!node || !(node->op->flags & TN_OP_ELEMENTWISE) || node->n_out != 1 || !node->out[0]) {
            return NULL;
        }
        for (int k = 0; k < node->n_in; k++) {
            double constant;
            if (node->in[k] && node->in[k] != value && !tn_scalar(node->in[k], &constant)) {
                return NULL;
            }
        }
        if (node->out[0]->id < n_values && scaled[node->out[0]->id]) {
            return node->out[0];
        }
        value = node->out[0];
    }
    return NULL;
}

static float greatest(const tn_range *range)
{
    float most = 0;
    for (int64_t c = 0; c < range->channels; c++) {
        most = TN_MAX(most, range->peaks[c]);
    }
    return most;
}

// The power of what a step common to all channels of b adds to the results of the convolutions, over what steps of their own would.
static double gain(const tn_value *b, const tn_range *range)
{
    const double most = (double)greatest(range);
    double together = 0, apart = 0;
    for (size_t u = 0; u < b->n_uses; u++) {
        const tn_node *conv = b->uses[u].node;
        const tn_shape *w = &conv->in[1]->constant->shape;
        const int64_t inner = tn_shape_span(w, 2, w->rank), group = ((const tn_conv_attr *)conv->attr)->group, each = w->dims[0] / group;
        for (int64_t i = 0; i < w->dims[0] * w->dims[1] * inner; i++) {
            const int64_t m = i / (w->dims[1] * inner), c = m / each * w->dims[1] + i / inner % w->dims[1];
            const double v = (double)tn_float(conv->in[1], i), peak = fmax((double)range->peaks[c], most * (double)LEAST_PART);
            together += v * v * most * most;
            apart += v * v * peak * peak;
        }
    }
    return apart > 0 ? together / apart : 1;
}

static bool fits(const tn_value *b, const tn_range *range)
{
    if (b->is_output || b->n_uses == 0 || range->channels < 2 || range->channels > MOST_CHANNELS) {
        return false;
    }
    for (size_t u = 0; u < b->n_uses; u++) {
        const tn_node *node = b->uses[u].node;
        if (!is_conv(node) || b->uses[u].index != 0) {
            return false;
        }
        const tn_shape *w = &node->in[1]->constant->shape;
        const int64_t group = ((const tn_conv_attr *)node->attr)->group;
        if (group < 1 || w->dims[0] % group || w->dims[1] * group != range->channels) {
            return false;
        }
    }
    return true;
}

// Channels' parts of the greatest; *most: that.
static void parts_of(const tn_range *range, float *parts, float *most)
{
    *most = greatest(range);
    for (int64_t c = 0; c < range->channels; c++) {
        parts[c] = *most > 0 ? fmaxf(range->peaks[c] / *most, LEAST_PART) : 1;
    }
}

// A constant like `of` with element i times (or divided by) the part of its channel.
static tn_status scale_constant(tn_graph *graph, tn_pass_context *context, tn_node *node, int index, const float *parts, bool of_operand)
{
    const tn_value *of = node->in[index];
    const tn_shape *shape = &of->constant->shape;
    const int64_t inner = tn_shape_span(shape, of_operand ? 2 : 1, shape->rank);
    const int64_t each = of_operand ? shape->dims[0] / ((const tn_conv_attr *)node->attr)->group : 1;
    int64_t count;
    float *data;
    (void)tn_shape_count(shape, &count);
    tn_value *fresh = tn_new_room(graph, shape, &data);
    if (!fresh) {
        return tn_fail_memory(context->diag, node->name, (size_t)count * sizeof *data);
    }
    for (int64_t i = 0; i < count; i++) {
        const float v = tn_float(of, i);
        if (of_operand) {
            const int64_t m = i / (shape->dims[1] * inner);
            data[i] = v * parts[m / each * shape->dims[1] + i / inner % shape->dims[1]];
        } else {
            data[i] = v / parts[i / inner];
        }
    }
    return tn_node_set_in(graph, node, index, fresh);
}

// value times the parts (or their inverses), in place of the value for all who read it.
static tn_status multiply(tn_graph *graph, tn_pass_context *context, tn_value *value, const float *parts, int64_t channels, bool inverse,
                          tn_value **out)
{
    tn_shape shape = {.rank = value->shape.rank - 1};
    float *data;
    for (int i = 0; i < shape.rank; i++) {
        shape.dims[i] = i == 0 ? channels : 1;
    }
    tn_value *factors = tn_new_room(graph, &shape, &data);
    *out = factors ? tn_graph_value(graph, NULL) : NULL;
    if (!*out) {
        return tn_fail_memory(context->diag, "equalise", (size_t)channels * sizeof *data);
    }
    for (int64_t c = 0; c < channels; c++) {
        data[c] = inverse ? 1 / parts[c] : parts[c];
    }
    (*out)->dtype = TN_F32;
    (*out)->shape = value->shape;
    TN_TRY(tn_graph_replace(graph, value, *out));
    tn_value *in[2] = {value, factors};
    return tn_graph_node(graph, value->producer->next, &tn_op_mul, value->producer->name, NULL, in, 2, out, 1)
               ? TN_OK : tn_fail_memory(context->diag, "equalise", sizeof **out);
}

static tn_status equalise(tn_graph *graph, tn_pass_context *context, tn_range *ranges, tn_value *a, tn_value *b, tn_value **at)
{
    const int64_t channels = ranges[b->id].channels;
    tn_node *conv = a->producer;
    float *parts = tn_take(context->heap, (size_t)channels * sizeof *parts), most;
    tn_value *through = NULL;
    tn_status status = parts ? TN_OK : tn_fail_memory(context->diag, "equalise", (size_t)channels * sizeof *parts);
    if (status == TN_OK) {
        parts_of(&ranges[b->id], parts, &most);
        for (size_t u = 0; u < b->n_uses && status == TN_OK; u++) {
            status = scale_constant(graph, context, b->uses[u].node, 1, parts, true);
        }
        status = status == TN_OK ? multiply(graph, context, b, parts, channels, true, &through) : status;
        at[b->id] = through;
        ranges[b->id].low = -most;
        ranges[b->id].high = most;
    }
    if (status == TN_OK) {
        parts_of(&ranges[a->id], parts, &most);
        status = scale_constant(graph, context, conv, 1, parts, false);
        status = status == TN_OK && conv->n_in > 2 && conv->in[2] ? scale_constant(graph, context, conv, 2, parts, false) : status;
        status = status == TN_OK ? multiply(graph, context, a, parts, channels, false, &through) : status;
        ranges[a->id].low = -most;
        ranges[a->id].high = most;
    }
    tn_give(context->heap, parts);
    return status;
}

tn_status tn_equalise(tn_graph *graph, tn_pass_context *context, tn_range *ranges, const bool *scaled, tn_value **at, size_t n_values)
{
    for (size_t i = 0; i < n_values; i++) {
        tn_value *a = scaled[i] ? at[i] : NULL, *b;
        if (!a || !a->producer || !is_conv(a->producer) || a->shape.rank < 3 || !(b = behind(a, scaled, n_values)) || !fits(b, &ranges[b->id]) ||
            ranges[a->id].channels != ranges[b->id].channels || gain(b, &ranges[b->id]) < WORTH_IT) {
            continue;
        }
        const tn_value *bias = a->producer->n_in > 2 ? a->producer->in[2] : NULL;
        int64_t biases;
        if (bias && (!tn_shape_count(&bias->constant->shape, &biases) || biases != ranges[a->id].channels)) {
            continue;
        }
        TN_TRY(equalise(graph, context, ranges, a, b, at));
    }
    return TN_OK;
}
