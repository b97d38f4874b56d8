// SPDX-License-Identifier: Apache-2.0
// Post-training quantisation (quantise.h). A node is inner when a convolution or product with weights comes after it, or is it: only inner
// nodes are quantised, so that heads, which turn numbers into boxes and classes, keep their precision. Values that only move keep
// the scale of where they come from; bounds right behind a sum are taken in by it and get no scale of their own.
// Ownership: new values belong to the graph. Threads: one per graph.
#include "pass/quantise/quantise.h"

#include "ops/math/op_binary.h"
#include "ops/nn/op_activation.h"
#include "ops/nn/op_conv.h"
#include "ops/nn/op_matmul.h"
#include "ops/quant/op_quantize.h"
#include "pass/quant/phases.h"
#include "pass/quantise/roles.h"
#include "pass/rewrite.h"

#include <math.h>
#include <string.h>

#define MOST_BOUNDS 4           // behind one convolution
#define MAX_BIAS 1073741824.0     // 2^30: a bias of more would leave no room for the sum
#define WIDE_BIAS 137438953472.0  // 2^37, for sums in 64 bits of which the DSP keeps the upper part in 32
#define WIDE_WEIGHTS 8388607.0f   // the greatest sum of a channel's weights of 16 bits, for the same reason

// ---- forms ----

// prelu(x, s) = x - (1 - s) * min(x, 0), for slopes of a channel.
static tn_status split_prelu(tn_graph *graph, tn_pass_context *context, tn_node *node)
{
    int64_t count;
    const tn_value *slope = node->in[1];
    const tn_shape *shape = &node->out[0]->shape, scalar = {0, {0}};
    float *data;
    const float zero = 0;
    if (!tn_floats(slope, &count) || !tn_feeds_inner(node->out[0])) {
        return TN_OK;
    }
    tn_value *rest = tn_new_room(graph, &slope->constant->shape, &data), *none = tn_new_floats(graph, &scalar, &zero), *low, *part;
    if (!rest || !none) {
        return tn_fail_memory(context->diag, node->name, (size_t)count * sizeof *data);
    }
    for (int64_t i = 0; i < count; i++) {
        data[i] = 1 - tn_float(slope, i);
    }
    tn_value *bounds[3] = {node->in[0], NULL, none};
    TN_TRY(tn_insert_node(graph, context, node, node, &tn_op_clip, NULL, bounds, 3, TN_F32, shape, &low));
    tn_value *factors[2] = {low, rest};
    TN_TRY(tn_insert_node(graph, context, node, node, &tn_op_mul, NULL, factors, 2, TN_F32, shape, &part));
    tn_value *terms[2] = {node->in[0], part};
    return tn_rewrite_node(graph, context, &(tn_rewrite){.root = node, .op = &tn_op_sub, .in = terms, .n_in = 2}, NULL);
}

// A transposed convolution as a convolution of its phases, bounds and all.
static tn_status split_deconv(tn_graph *graph, tn_pass_context *context, tn_node *node)
{
    tn_phases phases;
    tn_conv_attr attr;
    tn_node *chain[MOST_BOUNDS + 1] = {node}, *from[MOST_BOUNDS + 1];
    int n = 1;
    const float zero = 0;
    bool ok = true;
    if (node->n_in > 3 || !tn_is_weight(node->in[1], 4) || node->in[0]->constant || (node->n_in > 2 && node->in[2] && !tn_is_weight(node->in[2], 1)) ||
        !tn_phases_of(node->attr, &node->in[0]->shape, &node->in[1]->constant->shape, &phases)) {
        return TN_OK;
    }
    for (const tn_node *next; n <= MOST_BOUNDS && (next = tn_only_reader(chain[n - 1]->out[0])) && tn_is_bound(next) && tn_values_read(next) == 1; n++) {
        chain[n] = chain[n - 1]->out[0]->uses[0].node;
    }
    tn_value *made, *in[3] = {node->in[0], tn_phases_weights(graph, &phases, node->in[1], sizeof zero, &zero),
                              tn_phases_repeat(graph, &phases, node->n_in > 2 ? node->in[2] : NULL, &ok)};
    if (!ok || !in[1] || tn_phases_conv(graph, &phases, &attr) != TN_OK) {
        return tn_fail_memory(context->diag, node->name, (size_t)phases.weights.dims[0]);
    }
    TN_TRY(tn_insert_node(graph, context, chain[n - 1], node, &tn_op_conv, &attr, in, in[2] ? 3 : 2, TN_F32, &phases.made, &made));
    for (int i = 1; i < n; i++) {
        tn_value *operands[TN_MAX_IN];
        memcpy(operands, chain[i]->in, (size_t)chain[i]->n_in * sizeof *operands);
        operands[0] = made;
        TN_TRY(tn_insert_node(graph, context, chain[n - 1], chain[i], chain[i]->op, chain[i]->attr, operands, chain[i]->n_in, TN_F32, &phases.made,
                              &made));
    }
    for (int i = 0; i + 1 < n; i++) {
        from[i] = chain[n - 2 - i];
    }
    return tn_phases_finish(graph, context, &phases, made, TN_F32, (tn_rewrite){.root = chain[n - 1], .from = from, .n_from = n - 1});
}

// A product of two values and what is added to it, as a mask is: sums of two values are quantised, products with a third are not.
static tn_status split_product(tn_graph *graph, tn_pass_context *context, tn_node *node)
{
    tn_value *sum[2] = {NULL, NULL}, *added[2];
    int n = 0;
    for (int i = 2; i < node->n_in && n < 2; i++) {
        added[n] = node->in[i];
        n += node->in[i] != NULL;
    }
    const tn_shape *shape = &node->out[0]->shape;
    if (n == 0) {
        return TN_OK;
    }
    TN_TRY(tn_insert_node(graph, context, node, node, &tn_op_matmul, node->attr, node->in, 2, TN_F32, shape, &sum[0]));
    if (n == 2) {
        sum[1] = added[0];
        TN_TRY(tn_insert_node(graph, context, node, node, &tn_op_add, NULL, sum, 2, TN_F32, shape, &sum[0]));
    }
    sum[1] = added[n - 1];
    return tn_rewrite_node(graph, context, &(tn_rewrite){.root = node, .op = &tn_op_add, .in = sum, .n_in = 2}, NULL);
}

tn_status tn_quantise_prepare(tn_graph *graph, tn_pass_context *context)
{
    for (tn_node *node = graph->first, *next; node; node = next) {
        next = node->next;
        if (node->op == &tn_op_prelu && node->n_in == 2 && tn_is_f32(node->out[0])) {
            TN_TRY(split_prelu(graph, context, node));
        } else if (node->n_in > 2 && tn_multiplies_values(node) && tn_is_f32(node->out[0])) {
            TN_TRY(split_product(graph, context, node));
        } else if (node->op == &tn_op_deconv && tn_is_f32(node->out[0])) {
            const tn_node *before = node->prev;
            TN_TRY(split_deconv(graph, context, node));
            next = before ? before->next : graph->first;      // bounds behind it may have gone
            next = next == node ? node->next : next;
        }
    }
    return TN_OK;
}

// ---- scales ----

static const tn_quantize_attr whole = {.axis = 1, .saturate = true};

// A range that holds zero, as a scale and a zero point of uint8.
static void scale_of(const tn_range *range, float *scale, uint8_t *zero)
{
    const float low = range->seen ? fminf(range->low, 0) : 0, high = range->seen ? fmaxf(range->high, 0) : 0;
    *scale = (high - low) / 255;
    if (!(*scale > 1e-30f) || !isfinite(*scale)) {
        *scale = 1;
    }
    const float place = rintf(-low / *scale);
    *zero = (uint8_t)(place > 0 ? place < 255 ? place : 255 : 0);
}

static tn_value *new_scalar(tn_graph *graph, tn_dtype dtype, const void *data)
{
    const tn_shape scalar = {0, {0}};
    return tn_graph_constant(graph, NULL, dtype, &scalar, data, true);
}

// The same without a zero point, for int16.
static float wide_scale_of(const tn_range *range)
{
    const float most = range->seen ? fmaxf(fabsf(range->low), fabsf(range->high)) : 0, scale = most / INT16_MAX;
    return scale > 1e-30f && isfinite(scale) ? scale : 1;
}

// The nodes quantise and dequantise of a pair, not connected to readers yet. before: NULL: at the end.
static tn_status new_pair(tn_graph *graph, tn_pass_context *context, tn_node *before, const char *name, tn_value *value, const tn_range *range,
                          bool wide, tn_node **up)
{
    float scale = wide_scale_of(range);
    uint8_t zero;
    const int16_t none = 0;
    if (!wide) {
        scale_of(range, &scale, &zero);
    }
    tn_value *bytes = tn_graph_value(graph, NULL), *real = tn_graph_value(graph, NULL);
    tn_value *scale_value = new_scalar(graph, TN_F32, &scale), *zero_value = new_scalar(graph, wide ? TN_I16 : TN_U8, wide ? (const void *)&none : &zero);
    if (!bytes || !real || !scale_value || !zero_value) {
        return tn_fail_memory(context->diag, name, sizeof *bytes);
    }
    bytes->dtype = wide ? TN_I16 : TN_U8;
    real->dtype = TN_F32;
    bytes->shape = real->shape = value->shape;
    tn_value *in[3] = {bytes, scale_value, zero_value};
    *up = tn_graph_node(graph, before, &tn_op_dequantize_linear, name, &whole, in, 3, &real, 1);
    return *up ? TN_OK : tn_fail_memory(context->diag, name, sizeof **up);
}

static tn_status close_pair(tn_graph *graph, tn_pass_context *context, tn_node *up, tn_value *value)
{
    tn_value *in[3] = {value, up->in[1], up->in[2]};
    return tn_graph_node(graph, up, &tn_op_quantize_linear, up->name, &whole, in, 3, &up->in[0], 1) ? TN_OK
                                                                                                      : tn_fail_memory(context->diag, up->name, sizeof *up);
}

// Puts quantise and dequantise behind the value: everybody who read it reads the second's result. *bytes: the integers.
static tn_status insert_pair(tn_graph *graph, tn_pass_context *context, tn_value *value, const tn_range *range, bool wide, tn_value **bytes)
{
    tn_node *up, *after = value->producer ? value->producer->next : graph->first;
    TN_TRY(new_pair(graph, context, after, value->producer ? value->producer->name : value->name, value, range, wide, &up));
    TN_TRY(tn_graph_replace(graph, value, up->out[0]));
    *bytes = up->in[0];
    return close_pair(graph, context, up, value);
}

// The value quantised another time, for one node. *real: what that node is to read.
static tn_status pair_before(tn_graph *graph, tn_pass_context *context, tn_node *node, tn_value *value, const tn_range *range, bool wide,
                             tn_value **real)
{
    tn_node *up;
    TN_TRY(new_pair(graph, context, node, node->name, value, range, wide, &up));
    *real = up->out[0];
    return close_pair(graph, context, up, value);
}

// What dequantises operand 0 of a sum, perhaps before movement; NULL: nothing does.
static const tn_node *dequantiser(const tn_value *value)
{
    const tn_node *node = value->producer;
    for (int i = 0; i < 64 && node && node->op != &tn_op_dequantize_linear; i++) {
        node = node->n_in ? (node->in[0] ? node->in[0]->producer : NULL) : NULL;
    }
    return node;
}

// The scales of weights for each channel, from the largest of each and the sum of all. A channel whose weights are tiny beside its bias
// gets a larger one, so that the bias fits its bits; and at 16 bits one whose weights are many and large, so that sums do.
static void weight_scales(const tn_value *w, const tn_value *bias, float x_scale, int64_t inner, int64_t channels, bool wide, float *scales,
                          float *sums)
{
    int64_t count = 0, biases = 0;
    (void)tn_shape_count(&w->constant->shape, &count);
    const bool has_bias = bias && tn_floats(bias, &biases) && (biases == channels || biases == 1);
    for (int64_t c = 0; c < channels; c++) {
        scales[c] = 0;
    }
    for (int64_t i = 0; i < count; i++) {
        const int64_t c = i / inner % channels;
        scales[c] = fmaxf(scales[c], fabsf(tn_float(w, i)));
        sums[c] += fabsf(tn_float(w, i));
    }
    for (int64_t c = 0; c < channels; c++) {
        const double least = has_bias ? fabs((double)tn_float(bias, c)) / ((double)x_scale * (wide ? WIDE_BIAS : MAX_BIAS)) : 0;
        const float spread = wide ? fmaxf(scales[c] / INT16_MAX, sums[c] / WIDE_WEIGHTS) : scales[c] / 127;
        scales[c] = fmaxf(fmaxf(spread, (float)least), 1e-30f);
        sums[c] = 0;
    }
}

// Weights as int8, or int16 where the operand is, with a scale for each index of `axis`, dequantised.
static tn_status quantise_weights(tn_graph *graph, tn_pass_context *context, tn_node *node, int axis)
{
    const tn_value *w = node->in[1], *bias = node->n_in > 2 ? node->in[2] : NULL;
    const tn_node *operand = dequantiser(node->in[0]);
    const bool wide = operand && operand->in[0]->dtype == TN_I16;
    const tn_shape *shape = &w->constant->shape;
    const int64_t channels = shape->dims[axis], inner = tn_shape_span(shape, axis + 1, shape->rank);
    int64_t count;
    float *scales;
    void *room;
    (void)tn_shape_count(shape, &count);
    const tn_shape vector = tn_shape_of(1, &channels);
    tn_value *bytes = tn_graph_room(graph, NULL, wide ? TN_I16 : TN_I8, shape, &room), *scale_value = tn_new_room(graph, &vector, &scales);
    tn_value *real = tn_graph_value(graph, NULL);
    float *carry = tn_take_zero(context->heap, (size_t)channels + 1, sizeof *carry);
    if (!bytes || !scale_value || !real || !carry) {
        tn_give(context->heap, carry);
        return tn_fail_memory(context->diag, node->name, (size_t)count);
    }
    weight_scales(w, bias, operand ? tn_float(operand->in[1], 0) : 1, inner, channels, wide, scales, carry);
    const float most = wide ? INT16_MAX : 127;
    // What rounding adds to a weight is taken off the next one of the same result channel: operands are seldom centred, and errors that
    // add up over a window would shift the whole channel.
    for (int64_t i = 0; i < count; i++) {
        const int64_t c = i / inner % channels;
        const float exact = tn_float(w, i) / scales[c], v = rintf(exact + carry[c]), kept = v > most ? most : v > -most ? v : -most;
        carry[c] += exact - kept;
        if (wide) {
            ((int16_t *)room)[i] = (int16_t)kept;
        } else {
            ((int8_t *)room)[i] = (int8_t)kept;
        }
    }
    tn_give(context->heap, carry);
    real->dtype = TN_F32;
    real->shape = *shape;
    const tn_quantize_attr attr = {.axis = axis, .saturate = true};
    tn_value *in[2] = {bytes, scale_value};
    if (!tn_graph_node(graph, node, &tn_op_dequantize_linear, node->name, &attr, in, 2, &real, 1)) {
        return tn_fail_memory(context->diag, node->name, sizeof *node);
    }
    return tn_node_set_in(graph, node, 1, real);
}

// A constant operand of a pair, as uint8 or int16 with one scale, dequantised.
static tn_status quantise_operand(tn_graph *graph, tn_pass_context *context, tn_node *node, int i, bool wide)
{
    const tn_value *value = node->in[i];
    tn_range range = {.seen = true};
    int64_t count;
    void *room;
    float scale;
    uint8_t zero;
    const int16_t none = 0;
    if (!tn_floats(value, &count)) {
        return TN_OK;
    }
    for (int64_t k = 0; k < count; k++) {
        range.low = fminf(range.low, tn_float(value, k));
        range.high = fmaxf(range.high, tn_float(value, k));
    }
    scale_of(&range, &scale, &zero);
    scale = wide ? wide_scale_of(&range) : scale;
    tn_value *bytes = tn_graph_room(graph, NULL, wide ? TN_I16 : TN_U8, &value->constant->shape, &room), *real = tn_graph_value(graph, NULL);
    tn_value *in[3] = {bytes, new_scalar(graph, TN_F32, &scale), new_scalar(graph, wide ? TN_I16 : TN_U8, wide ? (const void *)&none : &zero)};
    if (!bytes || !real || !in[1] || !in[2]) {
        return tn_fail_memory(context->diag, node->name, (size_t)count);
    }
    for (int64_t k = 0; k < count; k++) {
        const float v = rintf(tn_float(value, k) / scale) + (wide ? 0 : zero);
        if (wide) {
            ((int16_t *)room)[k] = (int16_t)(v > INT16_MIN ? v < INT16_MAX ? v : INT16_MAX : INT16_MIN);
        } else {
            ((uint8_t *)room)[k] = (uint8_t)(v > 0 ? v < 255 ? v : 255 : 0);
        }
    }
    real->dtype = TN_F32;
    real->shape = value->shape;
    if (!tn_graph_node(graph, node, &tn_op_dequantize_linear, node->name, &whole, in, 3, &real, 1)) {
        return tn_fail_memory(context->diag, node->name, sizeof *node);
    }
    return tn_node_set_in(graph, node, i, real);
}

// Parts that nobody else reads take the range of what they are joined to, so that joining is only movement.
static void unify_joins(const tn_graph *graph, tn_range *ranges)
{
    for (const tn_node *node = graph->last; node; node = node->prev) {
        if (tn_role_of(node) != TN_ROLE_JOIN || !tn_has_scale(node->out[0])) {
            continue;
        }
        for (int i = 0; i < node->n_in; i++) {
            if (tn_has_scale(node->in[i]) && node->in[i]->n_uses == 1 && node->in[i]->producer) {
                const tn_range *whole = &ranges[node->out[0]->id];
                ranges[node->in[i]->id].low = whole->low;
                ranges[node->in[i]->id].high = whole->high;
                ranges[node->in[i]->id].seen = whole->seen;
            }
        }
    }
}

// What the making of a graph as quantised goes by: what is to be done is decided on the graph as it is, before any of it is done.
typedef struct plan {
    size_t n_values;
    uint32_t n_nodes;
    tn_range *ranges;         // by value
    bool *scaled;             // by value: gets a scale
    bool *wide_value;         // by value: of 16 bits
    tn_value **at;            // by value: what the scale stands behind
    tn_value **bytes;         // by value: the integers
    bool *inner;              // by node
    bool *wide_node;          // by node: computes in 16 bits
} plan;

// Where a function is flat its operand needs no codes, of which 8 bits have few: what lies beyond has the same result to within a step.
static void trim_flat(const tn_graph *graph, const plan *p)
{
    static const struct { const tn_op *op; float low, high; } flats[] = {
        {&tn_op_swish, -7, INFINITY},  {&tn_op_hard_swish, -3, INFINITY}, {&tn_op_gelu, -4, INFINITY}, {&tn_op_mish, -7, INFINITY},
        {&tn_op_sigmoid, -7, 7},       {&tn_op_hard_sigmoid, -3, 3},      {&tn_op_tanh, -4, 4},
    };
    for (const tn_node *node = graph->first; node; node = node->next) {
        for (size_t i = 0; i < TN_COUNT(flats); i++) {
            tn_range *range = node->op == flats[i].op && node->in[0] && tn_only_reader(node->in[0]) && !p->wide_value[node->in[0]->id]
                                  ? &p->ranges[node->in[0]->id] : NULL;
            // A slope of its own makes another function of it.
            const bool plain = range && (node->op != &tn_op_swish || ((const tn_activation_attr *)node->attr)->alpha == 1);
            if (plain && range->seen && range->low < flats[i].high && range->high > flats[i].low) {
                range->low = fmaxf(range->low, flats[i].low);
                range->high = fminf(range->high, flats[i].high);
            }
        }
    }
}

// ---- widths ----

// A node whose operands and result are of one width. Softmax and products of two values compute in floats where it is 16 bits.
static bool is_of_width(tn_role r) { return tn_role_is_sum(r) || r == TN_ROLE_SOFTMAX || r == TN_ROLE_PAIR || r == TN_ROLE_MEAN; }
static bool has_width(const tn_node *node) { return is_of_width(tn_role_of(node)) && tn_is_inner(node); }

size_t tn_quantise_count(const tn_graph *graph)
{
    size_t count = 0;
    for (const tn_node *node = graph->first; node; node = node->next) {
        count += has_width(node);
    }
    return count;
}

// Somebody who computes in 16 bits reads the value, perhaps after movement, joining or a function.
static bool read_wide(const plan *p, const tn_value *value, int depth)
{
    for (size_t u = 0; u < value->n_uses && depth < 64; u++) {
        const tn_node *node = value->uses[u].node;
        if (has_width(node) ? p->wide_node[node->id] : tn_role_of(node) != TN_ROLE_NONE && node->out[0] && read_wide(p, node->out[0], depth + 1)) {
            return true;
        }
    }
    return false;
}

// What makes the value: bounds that their operand's maker takes in are no makers.
static const tn_node *maker_of(const tn_value *value)
{
    const tn_node *node = value->producer;
    while (node && tn_is_bound(node) && node->in[0] && !tn_has_scale(node->in[0])) {
        node = node->in[0]->producer;
    }
    return node;
}

static tn_status decide(plan *p, const tn_graph *graph, tn_pass_context *context, const bool *wide)
{
    size_t place = 0;
    p->n_values = graph->n_values;
    p->n_nodes = graph->next_node;
    p->scaled = tn_take_zero(context->heap, p->n_values + 1, sizeof *p->scaled);
    p->wide_value = tn_take_zero(context->heap, p->n_values + 1, sizeof *p->wide_value);
    p->at = tn_take_zero(context->heap, p->n_values + 1, sizeof *p->at);
    p->bytes = tn_take_zero(context->heap, p->n_values + 1, sizeof *p->bytes);
    p->inner = tn_take_zero(context->heap, p->n_nodes + 1, sizeof *p->inner);
    p->wide_node = tn_take_zero(context->heap, p->n_nodes + 1, sizeof *p->wide_node);
    if (!p->scaled || !p->wide_value || !p->at || !p->bytes || !p->inner || !p->wide_node) {
        return tn_fail_memory(context->diag, "quantise", p->n_values);
    }
    for (const tn_node *node = graph->first; node; node = node->next) {
        p->inner[node->id] = tn_is_inner(node);
        p->wide_node[node->id] = has_width(node) && wide && wide[place];
        place += has_width(node);
    }
    for (size_t i = 0; i < p->n_values; i++) {
        const tn_value *value = p->at[i] = graph->values[i];
        p->scaled[i] = value && tn_has_scale(value);
        if (p->scaled[i]) {
            const tn_node *maker = maker_of(value);
            p->wide_value[i] = maker && has_width(maker) ? p->wide_node[maker->id] : read_wide(p, value, 0);
        }
    }
    return TN_OK;
}

static void forget(const plan *p, tn_heap *heap)
{
    tn_give(heap, p->scaled);
    tn_give(heap, p->wide_value);
    tn_give(heap, p->at);
    tn_give(heap, p->bytes);
    tn_give(heap, p->inner);
    tn_give(heap, p->wide_node);
}

// An operand of another width than the node's comes to it by a second pair, which folds into a table.
static tn_status join_widths(tn_graph *graph, tn_pass_context *context, const plan *p, tn_node *node)
{
    const bool wide = p->wide_node[node->id];
    for (int i = 0; i < node->n_in; i++) {
        tn_value *operand = node->in[i];
        const tn_node *from = operand && !operand->constant ? dequantiser(operand) : NULL;
        if (!from || from->in[0]->constant || (from->in[0]->dtype == TN_I16) == wide) {
            continue;
        }
        size_t origin = 0;
        while (origin < p->n_values && p->bytes[origin] != from->in[0]) {
            origin++;
        }
        tn_value *real = NULL;
        TN_TRY(origin < p->n_values ? pair_before(graph, context, node, operand, &p->ranges[origin], wide, &real) : TN_OK);
        TN_TRY(real ? tn_node_set_in(graph, node, i, real) : TN_OK);
    }
    return TN_OK;
}

static tn_status quantise_node(tn_graph *graph, tn_pass_context *context, const plan *p, tn_node *node)
{
    const tn_role r = tn_role_of(node);
    const bool wide = p->wide_node[node->id];
    if (is_of_width(r)) {
        TN_TRY(join_widths(graph, context, p, node));
    }
    if (r == TN_ROLE_SUM) {
        const bool turned = node->op == &tn_op_gemm ? ((const tn_gemm_attr *)node->attr)->trans_b
                                                    : node->op == &tn_op_matmul && ((const tn_matmul_attr *)node->attr)->trans_b;
        return quantise_weights(graph, context, node, node->op == &tn_op_conv || turned ? 0 : 1);
    }
    for (int i = 0; (r == TN_ROLE_PAIR || r == TN_ROLE_JOIN) && i < node->n_in; i++) {
        TN_TRY(node->in[i]->constant ? quantise_operand(graph, context, node, i, wide) : TN_OK);
    }
    return TN_OK;
}

tn_status tn_quantise_graph(tn_graph *graph, tn_pass_context *context, tn_range *ranges, const bool *wide)
{
    plan p = {.ranges = ranges};
    unify_joins(graph, ranges);
    tn_status status = decide(&p, graph, context, wide);
    if (status == TN_OK) {
        trim_flat(graph, &p);
        status = tn_trim_masks(graph, context, ranges);
    }
    if (status == TN_OK) {
        // Equalised are values whose steps are fine enough for it.
        status = wide ? tn_equalise(graph, context, ranges, p.wide_value, p.at, p.n_values) : TN_OK;
    }
    for (size_t i = 0; status == TN_OK && i < p.n_values; i++) {
        if (p.scaled[i]) {
            status = insert_pair(graph, context, p.at[i], &ranges[i], p.wide_value[i], &p.bytes[i]);
        }
    }
    for (tn_node *node = graph->first, *next; status == TN_OK && node; node = next) {
        next = node->next;
        if (node->id < p.n_nodes && p.inner[node->id]) {
            status = quantise_node(graph, context, &p, node);
        }
    }
    forget(&p, context->heap);
    context->changes++;
    return status;
}
