// SPDX-License-Identifier: Apache-2.0
// Arithmetic on 16 bits for the DSP (ops/wide): factors and shifts are computed here, as the CPU's references compute them.
// Ownership: const data. Threads: any.
#include "base/macros.h"
#include "exec/hexagon/hex_window.h"
#include "ops/op_rows.h"
#include "ops/wide/op_wide.h"

#include <math.h>

enum { X, X_SCALE, W, W_SCALE, Y_SCALE, BIAS };      // operands of sums

static const tn_tensor *operand(const tn_query *query, int i) { return i < query->n_in ? query->in[i] : NULL; }
static float scale_at(const tn_query *query, int i) { return (float)tn_element(query->in[i], 0); }

static bool good_scale(const tn_query *query, int i)
{
    const tn_tensor *scale = operand(query, i);
    return scale && scale->data && tn_tensor_count(scale) == 1 && isnormal(scale_at(query, i)) && scale_at(query, i) > 0;
}

// ---- sums ----

static tn_requant factor_of(const tn_query *query, const tn_qlinear_attr *q, int64_t m, int down)
{
    const tn_tensor *scale = query->in[W_SCALE];
    const float w = (float)tn_element(scale, tn_tensor_count(scale) == 1 ? 0 : m);
    return tn_wide_factor(q->rounding, scale_at(query, X_SCALE), w, scale_at(query, Y_SCALE), down);
}

static bool match_sum(const tn_query *query, const tn_qlinear_attr *q, int64_t channels, const char **why)
{
    *why = "weights or scales that are no constants";
    for (int i = 1; i < query->n_in; i++) {
        if (query->in[i] && !query->in[i]->data) {
            return false;
        }
    }
    *why = "scales that are not positive and finite";
    if (!good_scale(query, X_SCALE) || !good_scale(query, Y_SCALE)) {
        return false;
    }
    for (int64_t m = 0; m < channels && q->rounding == TN_ROUND_FLOAT_RNE; m++) {
        const float scale = factor_of(query, q, m, 0).scale, wide = factor_of(query, q, m, 32).scale;
        if (!isnormal(scale) || scale < 0 || !isnormal(wide)) {
            return false;
        }
    }
    return true;
}

// Weights as int16 of the same shape.
static uint32_t weights_constant(tn_hex_encoder *e, const tn_tensor *w)
{
    const size_t count = (size_t)tn_tensor_count(w);
    int16_t *halves = e->status == TN_OK ? tn_take(e->heap, count * sizeof *halves) : NULL;
    for (size_t i = 0; halves && i < count; i++) {
        halves[i] = (int16_t)tn_dtype_load_i64(w->dtype, w->data, i);
    }
    if (!halves) {
        e->status = e->status == TN_OK ? tn_fail_memory(e->diag, "hexagon", count * sizeof *halves) : e->status;
        return 0;
    }
    const uint32_t id = tn_hex_constant(e, TN_HEX_S16, w->shape.rank, w->shape.dims, halves, count * sizeof *halves);
    tn_give(e->heap, halves);
    return id;
}

// 64 bits each: low word, high word.
static uint32_t bias_constant(tn_hex_encoder *e, const tn_tensor *bias, int64_t channels)
{
    const int64_t dims[2] = {channels, 2};
    const size_t bytes = (size_t)channels * 8;
    uint32_t *words = bias && e->status == TN_OK ? tn_take(e->heap, bytes) : NULL;
    if (!words) {
        e->status = bias && e->status == TN_OK ? tn_fail_memory(e->diag, "hexagon", bytes) : e->status;
        return 0;
    }
    for (int64_t m = 0; m < channels; m++) {
        const uint64_t v = (uint64_t)tn_dtype_load_i64(TN_I64, bias->data, (size_t)m);
        words[2 * m] = (uint32_t)v;
        words[2 * m + 1] = (uint32_t)(v >> 32);
    }
    const uint32_t id = tn_hex_constant(e, TN_HEX_S32, 2, dims, words, bytes);
    tn_give(e->heap, words);
    return id;
}

static void clamp_attr(tn_hex_encoder *e, const tn_qlinear_attr *q)
{
    int32_t low, high;
    tn_qlinear_range(q, TN_I16, &low, &high);
    tn_hex_attr_clamp(e, low, high);
}

static void sum_attrs(tn_hex_encoder *e, const tn_query *query, const tn_qlinear_attr *q, int64_t channels, int down)
{
    const int64_t n = tn_tensor_count(query->in[W_SCALE]) == 1 ? 1 : channels;
    const uint32_t word = (uint32_t)down;
    tn_requant *factors = e->status == TN_OK ? tn_take(e->heap, (size_t)n * sizeof *factors) : NULL;
    if (!factors) {
        e->status = e->status == TN_OK ? tn_fail_memory(e->diag, "hexagon", (size_t)n * sizeof *factors) : e->status;
        return;
    }
    for (int64_t m = 0; m < n; m++) {
        factors[m] = factor_of(query, q, m, down);
    }
    tn_hex_attr_requant(e, (int)n, factors);
    tn_give(e->heap, factors);
    tn_hex_attr(e, TN_HEX_ATTR_DOWN, 1, &word);
    clamp_attr(e, q);
}

static bool match_conv(const tn_query *query, const char **why)
{
    const tn_wide_conv_attr *attr = query->attr;
    return tn_hex_window_fits(&attr->conv, query->in[X], query->in[W], why) &&
           match_sum(query, &attr->q, query->in[W]->shape.dims[0], why);
}

static void encode_conv(tn_hex_encoder *e, const tn_query *query, const uint32_t *in, const uint32_t *out)
{
    const tn_wide_conv_attr *attr = query->attr;
    const tn_tensor *w = query->in[W], *given = operand(query, BIAS);
    const int64_t channels = w->shape.dims[0];
    const uint32_t weights = weights_constant(e, w), bias = bias_constant(e, given, channels);
    tn_hex_node_begin(e, TN_HEX_OP_WIDE_CONV);
    tn_hex_operand(e, in[X]);
    tn_hex_operand(e, weights);
    tn_hex_operand(e, bias);
    tn_hex_result(e, out[0]);
    tn_hex_window_attrs(e, &attr->conv, query->in[X], w);
    sum_attrs(e, query, &attr->q, channels, tn_wide_conv_down(w, given));
    tn_hex_node_end(e);
}

static bool match_matmul(const tn_query *query, const char **why)
{
    *why = "only a product with one constant matrix";
    return query->in[W]->data && query->in[W]->shape.rank == 2 && query->in[X]->shape.rank >= 2 &&
           match_sum(query, query->attr, query->in[W]->shape.dims[1], why);
}

static void encode_matmul(tn_hex_encoder *e, const tn_query *query, const uint32_t *in, const uint32_t *out)
{
    const tn_tensor *w = query->in[W], *given = operand(query, BIAS);
    const int64_t channels = w->shape.dims[1];
    const uint32_t weights = weights_constant(e, w), bias = bias_constant(e, given, channels);
    tn_hex_node_begin(e, TN_HEX_OP_WIDE_MATMUL);
    tn_hex_operand(e, in[X]);
    tn_hex_operand(e, weights);
    tn_hex_operand(e, bias);
    tn_hex_result(e, out[0]);
    sum_attrs(e, query, query->attr, channels, tn_wide_matmul_down(w, given));
    tn_hex_node_end(e);
}

// ---- pairs, means, tables ----

static bool match_pair(const tn_query *query, const char **why)
{
    *why = "scales that are no constants, or not positive and finite";
    return good_scale(query, 1) && good_scale(query, 3) && good_scale(query, 4);
}

static uint32_t pair_operand(tn_hex_encoder *e, const tn_tensor *tensor, uint32_t id)
{
    return tensor->data ? tn_hex_constant(e, TN_HEX_S16, tensor->shape.rank, tensor->shape.dims, tensor->data, 2 * (size_t)tn_tensor_count(tensor))
                        : id;
}

static void encode_pair(tn_hex_encoder *e, const tn_query *query, const uint32_t *in, const uint32_t *out)
{
    const bool product = query->op == &tn_op_wide_mul;
    const uint32_t a = pair_operand(e, query->in[0], in[0]), b = pair_operand(e, query->in[2], in[2]);
    tn_requant_pair pair;
    tn_wide_pair_params(query->op, query->attr, query->in, &pair);
    tn_hex_node_begin(e, product ? TN_HEX_OP_WIDE_MUL : query->op == &tn_op_wide_add ? TN_HEX_OP_WIDE_ADD : TN_HEX_OP_WIDE_SUB);
    tn_hex_operand(e, a);
    tn_hex_operand(e, b);
    tn_hex_result(e, out[0]);
    if (pair.rounding == TN_ROUND_FIXED_Q31) {
        const tn_requant sum[3] = {pair.a, pair.b, pair.y};
        tn_hex_attr_requant(e, product ? 1 : 3, product ? &pair.y : sum);
    } else {
        const float scales[3] = {pair.a_scale, pair.b_scale, pair.y_scale};
        tn_hex_attr_float(e, TN_HEX_ATTR_SCALES, 3, scales);
    }
    tn_hex_attr_clamp(e, pair.low, pair.high);
    tn_hex_node_end(e);
}

static tn_requant mean_factor(const tn_query *query, int rounding)
{
    const int64_t planes = tn_tensor_count(query->out[0]);
    return tn_requant_mean(rounding, scale_at(query, 1), scale_at(query, 2), tn_tensor_count(query->in[0]) / planes);
}

static bool match_mean(const tn_query *query, const char **why)
{
    *why = "scales that are no constants, or no numbers to scale with";
    return query->in[0]->shape.rank >= 3 && good_scale(query, 1) && good_scale(query, 2) &&
           isnormal(mean_factor(query, TN_ROUND_FLOAT_RNE).scale);
}

static void encode_mean(tn_hex_encoder *e, const tn_query *query, const uint32_t *in, const uint32_t *out)
{
    const tn_qlinear_attr *q = query->attr;
    const tn_requant factor = mean_factor(query, q->rounding);
    tn_hex_node_begin(e, TN_HEX_OP_WIDE_MEAN);
    tn_hex_operand(e, in[0]);
    tn_hex_result(e, out[0]);
    tn_hex_attr_requant(e, 1, &factor);
    clamp_attr(e, q);
    tn_hex_node_end(e);
}

static bool match_table(const tn_query *query, const char **why)
{
    *why = "a table that is no constant";
    return query->in[1]->data != NULL;
}

static void encode_table(tn_hex_encoder *e, const tn_query *query, const uint32_t *in, const uint32_t *out)
{
    const tn_tensor *table = query->in[1];
    const uint32_t id = tn_hex_constant(e, TN_HEX_S16, table->shape.rank, table->shape.dims, table->data, 2 * (size_t)tn_tensor_count(table));
    tn_hex_node_begin(e, TN_HEX_OP_WIDE_LUT);
    tn_hex_operand(e, in[0]);
    tn_hex_operand(e, id);
    tn_hex_result(e, out[0]);
    tn_hex_node_end(e);
}

// ---- rows ----

#define SUM(OP, KIND) {.op = &tn_op_##OP, .match = match_##KIND, .encode = encode_##KIND, .macs_per_ns = 0.25, .element_ns = 0.5}
#define PAIR(OP) {.op = &tn_op_##OP, .match = match_pair, .encode = encode_pair, .macs_per_ns = 1, .element_ns = 20}

static const tn_hex_row rows[] = {
    SUM(wide_conv, conv),
    SUM(wide_matmul, matmul),
    PAIR(wide_add),
    PAIR(wide_sub),
    PAIR(wide_mul),
    {.op = &tn_op_wide_mean, .match = match_mean, .encode = encode_mean, .macs_per_ns = 1, .element_ns = 20},
    {.op = &tn_op_wide_table, .match = match_table, .encode = encode_table, .macs_per_ns = 1, .element_ns = 10},
};
const tn_hex_row_list tn_hex_rows_wide = {rows, TN_COUNT(rows)};
