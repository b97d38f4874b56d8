// SPDX-License-Identifier: Apache-2.0
// Convolutions and matrix products between dequantise and quantise, with the bounds behind them, become qlinear_conv and
// qlinear_matmul; a bias becomes an int32 in units of x_scale * w_scale. batch_norm becomes a qlinear_conv with one weight for each
// channel: taken into the convolution before it, it would save that one's rounding, which models may depend on. Bounds are taken in.
// Ownership: new constants belong to the graph. Threads: one per graph.
#include "pass/quant/phases.h"
#include "pass/quant/quant.h"

#include "ops/move/op_transpose.h"
#include "ops/nn/op_conv.h"
#include "ops/nn/op_matmul.h"
#include "ops/nn/op_norm.h"
#include "ops/quant/op_qlinear.h"
#include "ops/quant/op_quantize.h"

#include <math.h>
#include <string.h>

#define MAX_BIAS 2147483647.0     // int32; quantising tools leave the room for the sum themselves

// What both kinds need: a product's parts, and the nodes that go with it.
typedef struct sum {
    tn_quantised x, w, y;
    tn_node *product;
    tn_value *bias;               // in the graph, float32 or dequantised int32; NULL: none
    tn_node *from[TN_QUANT_CHAIN + 1];
    int n_from;
    double low, high;
    int64_t channels;
    double bias_factor;           // gemm: beta
} sum;

// A zero point that is absent, or constant and nothing but zeros.
static bool all_zero(const tn_value *zero)
{
    int64_t count = 0;
    if (zero && (!zero->constant || !tn_shape_count(&zero->constant->shape, &count))) {
        return false;
    }
    for (int64_t i = 0; i < count; i++) {
        if (tn_dtype_load_i64(zero->dtype, zero->constant->data, (size_t)i) != 0) {
            return false;
        }
    }
    return true;
}

// The bias as int32 in the units of the sums; *out stays NULL when there is none. false: it has no such form (or no memory).
static bool whole_bias(tn_graph *graph, const sum *s, tn_value **out)
{
    int64_t count;
    int32_t *data;
    *out = NULL;
    if (!s->bias) {
        return true;
    }
    // Dequantised int32, as quantising tools write it, or float32.
    const tn_node *made = tn_made_by(s->bias, &tn_op_dequantize_linear);
    const bool ints = made && made->in[0] && made->in[0]->constant && made->in[0]->dtype == TN_I32;
    const tn_value *numbers = ints ? made->in[0] : s->bias;
    int64_t scales = 1;
    if (ints && (!tn_shape_count(&numbers->constant->shape, &count) || !tn_floats(made->in[1], &scales) ||
                 (made->n_in > 2 && !all_zero(made->in[2])))) {
        return false;
    }
    if ((!ints && !tn_floats(numbers, &count)) || (count != s->channels && count != 1) || (scales != 1 && scales != count) ||
        !(*out = tn_new_i32(graph, s->channels, &data))) {
        return false;
    }
    for (int64_t i = 0; i < s->channels; i++) {
        const double unit = (double)(s->x.first * tn_float(s->w.scale, i));
        const double real = ints ? (double)(int32_t)tn_dtype_load_i64(TN_I32, numbers->constant->data, (size_t)(count == 1 ? 0 : i)) *
                                       tn_float(made->in[1], i)
                                 : (double)tn_float(numbers, i);
        const double whole = rint(real * s->bias_factor / unit);
        if (!(fabs(whole) <= MAX_BIAS)) {
            tn_graph_release(graph, *out);
            return false;
        }
        data[i] = (int32_t)whole;
    }
    return true;
}

static tn_qlinear_attr bounds(const tn_pass_context *context, const sum *s)
{
    return tn_quant_bounds(context, &s->y, s->low, s->high);
}

static tn_status replace(tn_graph *graph, tn_pass_context *context, const sum *s, tn_node *node, const tn_op *op, const void *attr,
                         tn_value *bias)
{
    tn_value *in[9] = {s->x.x, s->x.scale, s->x.zero, s->w.x, s->w.scale, s->w.zero, s->y.scale, s->y.zero, bias};
    return tn_rewrite_node(graph, context, &(tn_rewrite){.root = node, .op = op, .attr = attr, .in = in, .n_in = bias ? 9 : 8,
                                                         .from = s->from, .n_from = s->n_from}, NULL);
}

static tn_status fold_conv(tn_graph *graph, tn_pass_context *context, sum *s, tn_node *node, bool *done)
{
    const tn_conv_attr *conv = s->product->attr;
    tn_value *bias;
    if (s->product->n_in > 3 || conv->act.code != TN_LOOP_CONST || !s->w.x->constant || s->w.x->constant->shape.rank < 3 ||
        (s->w.count > 1 && (s->w.axis != 0 || s->w.count != s->w.x->constant->shape.dims[0]))) {
        return TN_OK;
    }
    s->channels = s->w.x->constant->shape.dims[0];
    s->bias = s->product->n_in > 2 ? s->product->in[2] : NULL;
    if (!whole_bias(graph, s, &bias)) {
        return TN_OK;
    }
    const tn_qconv_attr attr = {.conv = *conv, .q = bounds(context, s)};
    *done = true;
    return replace(graph, context, s, node, &tn_op_qlinear_conv, &attr, bias);
}

// A transposed convolution is a convolution of its phases (phases.h), whose bytes move to their places.
static tn_status fold_deconv(tn_graph *graph, tn_pass_context *context, sum *s, tn_node *node, bool *done)
{
    const tn_deconv_attr *deconv = s->product->attr;
    tn_phases phases;
    tn_value *bias;
    if (s->product->n_in > 3 || !s->w.x->constant || !tn_phases_of(deconv, &s->x.x->shape, &s->w.x->constant->shape, &phases) ||
        (s->w.count > 1 && (s->w.axis != 1 || deconv->group != 1 || s->w.count != phases.channels))) {
        return TN_OK;
    }
    for (int64_t i = 1; i < s->w.count && s->w.zero; i++) {
        // One blank weight serves all channels.
        if (tn_dtype_load_i64(s->w.dtype, s->w.zero->constant->data, (size_t)i) != s->w.zero_first) {
            return TN_OK;
        }
    }
    s->channels = phases.channels;
    s->bias = s->product->n_in > 2 ? s->product->in[2] : NULL;
    if (!whole_bias(graph, s, &bias)) {
        return TN_OK;
    }
    const uint8_t blank = (uint8_t)s->w.zero_first;
    tn_qconv_attr attr = {.q = bounds(context, s)};
    bool ok = true;
    tn_value *made, *in[9] = {s->x.x,     s->x.scale, s->x.zero, tn_phases_weights(graph, &phases, s->w.x, 1, &blank),
                              tn_phases_repeat(graph, &phases, s->w.scale, &ok), tn_phases_repeat(graph, &phases, s->w.zero, &ok),
                              s->y.scale, s->y.zero,  tn_phases_repeat(graph, &phases, bias, &ok)};
    if (!ok || !in[3] || tn_phases_conv(graph, &phases, &attr.conv) != TN_OK) {
        return tn_fail_memory(context->diag, node->name, (size_t)phases.weights.dims[0]);
    }
    *done = true;
    TN_TRY(tn_insert_node(graph, context, node, s->product, &tn_op_qlinear_conv, &attr, in, bias ? 9 : 8, s->y.dtype, &phases.made, &made));
    return tn_phases_finish(graph, context, &phases, made, s->y.dtype, (tn_rewrite){.root = node, .from = s->from, .n_from = s->n_from});
}

// The constant matrix with its dims exchanged, as [K, N].
static tn_value *turned(tn_graph *graph, const tn_value *w)
{
    const int64_t n = w->constant->shape.dims[0], k = w->constant->shape.dims[1];
    const tn_shape shape = {2, {k, n}};
    void *room;
    tn_value *value = tn_graph_room(graph, NULL, w->dtype, &shape, &room);
    for (int64_t i = 0; value && i < n; i++) {
        for (int64_t j = 0; j < k; j++) {
            ((uint8_t *)room)[j * n + i] = ((const uint8_t *)w->constant->data)[i * k + j];
        }
    }
    return value;
}

// A matrix, or each of many, turned over before `node`.
static tn_status turn_matrix(tn_graph *graph, tn_pass_context *context, tn_node *node, const tn_node *product, tn_value **x)
{
    tn_shape shape = (*x)->shape;
    const int rank = shape.rank;
    int64_t perm[TN_MAX_RANK];
    for (int i = 0; i < rank; i++) {
        perm[i] = i < rank - 2 ? i : 2 * rank - 3 - i;
        shape.dims[i] = (*x)->shape.dims[perm[i]];
    }
    const tn_transpose_attr attr = {.perm = tn_new_attr_ints(graph, rank, perm)};
    return attr.perm.set ? tn_insert_node(graph, context, node, product, &tn_op_transpose, &attr, x, 1, (*x)->dtype, &shape, x)
                         : tn_fail_memory(context->diag, node->name, sizeof perm);
}

// A product of two values, both of one scale. A factor of it is one of the first scale.
static tn_status fold_product(tn_graph *graph, tn_pass_context *context, sum *s, tn_node *node, bool *done)
{
    const tn_matmul_attr *matmul = s->product->attr;
    const tn_shape scalar = {0, {0}};
    if (s->product->op != &tn_op_matmul || s->product->n_in != 2 || !(matmul->alpha > 0) || matmul->act.code != TN_LOOP_CONST ||
        s->w.count != 1 || s->x.x->shape.rank < 2 || s->w.x->shape.rank < 2) {
        return TN_OK;
    }
    if (matmul->alpha != 1) {
        const float scale = s->x.first * (float)matmul->alpha;
        if (!isnormal(scale)) {
            return TN_OK;
        }
        if (!(s->x.scale = tn_new_floats(graph, &scalar, &scale))) {
            return tn_fail_memory(context->diag, node->name, sizeof scale);
        }
    }
    TN_TRY(matmul->trans_a ? turn_matrix(graph, context, node, s->product, &s->x.x) : TN_OK);
    TN_TRY(matmul->trans_b ? turn_matrix(graph, context, node, s->product, &s->w.x) : TN_OK);
    const tn_qmatmul_attr attr = {.q = bounds(context, s)};
    *done = true;
    return replace(graph, context, s, node, &tn_op_qlinear_matmul, &attr, NULL);
}

static tn_status fold_matmul(tn_graph *graph, tn_pass_context *context, sum *s, tn_node *node, bool *done)
{
    tn_node *product = s->product;
    const tn_gemm_attr *gemm = product->op == &tn_op_gemm ? product->attr : NULL;
    const tn_matmul_attr *matmul = gemm ? NULL : product->attr;
    const bool trans_b = gemm ? gemm->trans_b : matmul->trans_b;
    tn_value *bias;
    if ((gemm ? gemm->trans_a || gemm->alpha != 1 : matmul->trans_a || matmul->alpha != 1 || matmul->act.code != TN_LOOP_CONST) ||
        (!gemm && product->n_in > 3 && product->in[3]) || !s->w.x->constant || s->w.x->constant->shape.rank != 2) {
        return TN_OK;
    }
    s->channels = s->w.x->constant->shape.dims[trans_b ? 0 : 1];
    s->bias = product->n_in > 2 ? product->in[2] : NULL;
    s->bias_factor = gemm ? gemm->beta : 1;
    if (s->bias && s->bias->shape.rank > 1) {
        return TN_OK;
    }
    if (s->w.count > 1 && (s->w.axis != (trans_b ? 0 : 1) || s->w.count != s->channels)) {
        return TN_OK;
    }
    if (!whole_bias(graph, s, &bias)) {
        return TN_OK;
    }
    if (trans_b && !(s->w.x = turned(graph, s->w.x))) {
        return tn_fail_memory(context->diag, node->name, (size_t)s->channels);
    }
    const tn_qmatmul_attr attr = {.q = bounds(context, s)};
    *done = true;
    return replace(graph, context, s, node, &tn_op_qlinear_matmul, &attr, bias);
}

tn_status tn_fold_sum(tn_graph *graph, tn_pass_context *context, tn_node *node, bool *done)
{
    sum s = {.bias_factor = 1};
    if (!tn_quantises(node, &s.y)) {
        return TN_OK;
    }
    const tn_value *result = tn_peel_bounds(context, s.y.x, &s.low, &s.high, s.from, &s.n_from);
    s.product = result->producer;
    if (!s.product || !tn_used_once(context, result) ||
        (s.product->op != &tn_op_conv && s.product->op != &tn_op_deconv && s.product->op != &tn_op_matmul && s.product->op != &tn_op_gemm) || s.product->n_in < 2 ||
        !tn_dequantised_whole(s.product->in[0], &s.x) || !tn_dequantised(s.product->in[1], &s.w)) {
        return TN_OK;
    }
    s.from[s.n_from++] = s.product;
    return s.product->op == &tn_op_conv     ? fold_conv(graph, context, &s, node, done)
           : s.product->op == &tn_op_deconv ? fold_deconv(graph, context, &s, node, done)
           : !s.w.x->constant               ? fold_product(graph, context, &s, node, done)
                                            : fold_matmul(graph, context, &s, node, done);
}

// ---- scales and shifts per channel ----

#define UNIT_WEIGHT 127     // the weight of 1: shifts are kept in units of 1/127 of a step of x

// batch_norm as scale[c] * x + shift[c]; false: it is not one of constants.
static bool read_norm(const tn_node *node, int64_t channels, double *scale, double *shift)
{
    const tn_batch_norm_attr *attr = node->attr;
    if (node->n_in != 5 || attr->training) {
        return false;
    }
    for (int i = 1; i < 5; i++) {
        int64_t count;
        if (!tn_floats(node->in[i], &count) || count != channels) {
            return false;
        }
    }
    for (int64_t c = 0; c < channels; c++) {
        scale[c] = tn_float(node->in[1], c) / sqrt((double)tn_float(node->in[4], c) + attr->epsilon);
        shift[c] = tn_float(node->in[2], c) - scale[c] * tn_float(node->in[3], c);
    }
    return true;
}

// Weights [C, 1, 1, ...], their scales and the bias of a convolution with one weight for each channel; false: they do not fit.
static bool norm_weights(tn_graph *graph, const tn_quantised *x, int64_t channels, const double *scale, const double *shift, tn_value **in)
{
    tn_shape shape = x->x->shape;
    const tn_shape vector = tn_shape_of(1, &channels);
    int32_t *bias = NULL;
    float *scales = NULL;
    void *room = NULL;
    shape.dims[0] = channels;
    for (int d = 1; d < shape.rank; d++) {
        shape.dims[d] = 1;
    }
    in[3] = tn_graph_room(graph, NULL, TN_I8, &shape, &room);
    in[4] = tn_new_room(graph, &vector, &scales);
    in[8] = tn_new_i32(graph, channels, &bias);
    bool fits = in[3] && in[4] && in[8];
    for (int64_t c = 0; fits && c < channels; c++) {
        // A channel that is all shift keeps a scale small beside the step of the result, so that its weight adds nothing.
        const float unit = (float)TN_MAX(fabs(scale[c]) / UNIT_WEIGHT, fabs(shift[c]) / ((double)x->first * MAX_BIAS / 2) + 1e-30);
        const double whole = rint(shift[c] / ((double)x->first * unit));
        ((int8_t *)room)[c] = (int8_t)rint(scale[c] / unit);
        scales[c] = unit;
        fits = isfinite(unit) && fabs(whole) <= MAX_BIAS;
        bias[c] = fits ? (int32_t)whole : 0;
    }
    for (int i = 0; i < 3 && !fits; i++) {
        tn_value *made = in[i == 2 ? 8 : 3 + i];
        if (made) {
            tn_graph_release(graph, made);
        }
    }
    return fits;
}

static bool norm_as_conv(tn_graph *graph, const tn_pass_context *context, const tn_node *norm, const tn_quantised *x, tn_value **in)
{
    const int64_t channels = x->x->shape.rank >= 3 ? x->x->shape.dims[1] : TN_DIM_UNKNOWN;
    if (!tn_dim_known(channels) || channels < 1 || channels > (1 << 20)) {
        return false;
    }
    double *numbers = tn_take_zero(context->heap, (size_t)channels, 2 * sizeof *numbers);
    const bool fits = numbers && read_norm(norm, channels, numbers, numbers + channels) &&
                      norm_weights(graph, x, channels, numbers, numbers + channels, in);
    tn_give(context->heap, numbers);
    return fits;
}

static tn_status fold_norm(tn_graph *graph, tn_pass_context *context, const tn_quantised *y, const tn_qlinear_attr *q, tn_node **from, int n_from,
                           tn_node *node, bool *done)
{
    tn_quantised x;
    tn_node *norm = from[n_from - 1];
    tn_value *in[9] = {NULL};
    if (!tn_dequantised_whole(norm->in[0], &x) || !norm_as_conv(graph, context, norm, &x, in)) {
        return TN_OK;
    }
    const tn_qconv_attr attr = {.conv = {.group = x.x->shape.dims[1], .act = {.code = TN_LOOP_CONST}}, .q = *q};
    in[0] = x.x;
    in[1] = x.scale;
    in[2] = x.zero;
    in[6] = y->scale;
    in[7] = y->zero;
    *done = true;
    return tn_rewrite_node(graph, context, &(tn_rewrite){.root = node, .op = &tn_op_qlinear_conv, .attr = &attr, .in = in, .n_in = 9,
                                                         .from = from, .n_from = n_from}, NULL);
}

// ---- behind a convolution ----

// What the first of two quantisations cuts off, as bounds of the second. false: the first has so much coarser steps that results would differ
// by more than one of the second.
static bool cut_bounds(const tn_quantised *was, const tn_quantised *y, const tn_qlinear_attr *q, tn_qlinear_attr *both)
{
    const int32_t least = was->dtype == TN_I8 ? INT8_MIN : 0;
    const int32_t first = tn_quantise_one(y, (double)(was->first * (float)(least - was->zero_first)));
    const int32_t last = tn_quantise_one(y, (double)(was->first * (float)(least + UINT8_MAX - was->zero_first)));
    int32_t low, high;
    tn_qlinear_range(q, y->dtype, &low, &high);
    *both = *q;
    both->low = first > low ? first : q->low;
    both->high = last < high ? last : q->high;
    return was->first <= 2 * y->first && first <= high && last >= low;
}

// quantise <- bounds <- dequantise <- qlinear_conv: the convolution gives the last result at once, within what the first quantisation lets
// through. Where the scales differ the first rounding is left out: the result is the more exact one, at most one step from that of both.
static tn_status fold_bounds(tn_graph *graph, tn_pass_context *context, const tn_quantised *y, const tn_qlinear_attr *q, tn_node **from, int n_from,
                             const tn_value *value, tn_node *node, bool *done)
{
    tn_quantised was;
    if (n_from == 0 || !tn_dequantised_whole(value, &was)) {
        return TN_OK;
    }
    tn_node *conv = tn_made_by(was.x, &tn_op_qlinear_conv);
    if (!conv || !tn_used_once(context, was.x)) {
        return TN_OK;
    }
    tn_qconv_attr attr = *(const tn_qconv_attr *)conv->attr;
    tn_qlinear_attr both;
    if (attr.q.low > -128 || attr.q.high < 255 || !cut_bounds(&was, y, q, &both)) {
        return TN_OK;
    }
    tn_value *in[9] = {NULL};
    memcpy(in, conv->in, (size_t)conv->n_in * sizeof *in);
    attr.q.low = both.low;
    attr.q.high = both.high;
    in[6] = y->scale;
    in[7] = y->zero;
    from[n_from++] = value->producer;
    from[n_from++] = conv;
    *done = true;
    return tn_rewrite_node(graph, context, &(tn_rewrite){.root = node, .op = &tn_op_qlinear_conv, .attr = &attr, .in = in,
                                                         .n_in = in[8] ? 9 : 8, .from = from, .n_from = n_from}, NULL);
}

tn_status tn_fold_behind(tn_graph *graph, tn_pass_context *context, tn_node *node, bool *done)
{
    tn_quantised y;
    tn_node *from[TN_QUANT_CHAIN + 2];
    int n_from = 0;
    double low, high;
    if (!tn_quantises(node, &y)) {
        return TN_OK;
    }
    const tn_value *value = tn_peel_bounds(context, y.x, &low, &high, from, &n_from);
    const tn_qlinear_attr q = tn_quant_bounds(context, &y, low, high);
    if (!value || !value->producer || !tn_used_once(context, value)) {
        return TN_OK;
    }
    if (value->producer->op == &tn_op_batch_norm) {
        from[n_from++] = value->producer;
        return fold_norm(graph, context, &y, &q, from, n_from, node, done);
    }
    return fold_bounds(graph, context, &y, &q, from, n_from, value, node, done);
}
