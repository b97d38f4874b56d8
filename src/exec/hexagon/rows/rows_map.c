// SPDX-License-Identifier: Apache-2.0
// Tables, sums, products and choices of two, pooling, softmax, layer normalisation, and the change between floats and bytes for the DSP.
// Ownership: const data. Threads: any.
#include "base/macros.h"
#include "exec/hexagon/hex_encode.h"
#include "ops/math/op_binary.h"
#include "ops/op_rows.h"
#include "ops/quant/op_qmap.h"
#include "ops/quant/op_qpair.h"
#include "ops/quant/op_qpool.h"
#include "ops/quant/op_quantize.h"
#include "ops/vision/op_qresize.h"

#include <math.h>

#define LARGEST_SIDE 1024
#define LARGEST_PICTURE 65536 // side of a resized one
#define MAX_WINDOW 4096       // elements of a window of average_pool

static const tn_tensor *operand(const tn_query *query, int i) { return i < query->n_in ? query->in[i] : NULL; }
static bool is_byte(const tn_tensor *tensor) { return tensor->dtype == TN_U8 || tensor->dtype == TN_I8; }
static bool known(const tn_tensor *tensor) { return !tensor || (tensor->data && tn_tensor_count(tensor) == 1); }
static float scale_at(const tn_query *query, int i) { return (float)tn_element(query->in[i], 0); }

static bool good_scale(const tn_query *query, int i)
{
    const tn_tensor *scale = operand(query, i);
    return scale && known(scale) && scale->dtype == TN_F32 && isnormal(scale_at(query, i)) && scale_at(query, i) > 0;
}

static bool one_type(const tn_query *query, const char **why)
{
    *why = "operand and result are not of one byte type";
    return is_byte(query->in[0]) && query->out[0]->dtype == query->in[0]->dtype;
}

// ---- results of the other byte type ----

static bool bytes_only(const tn_query *query, const char **why)
{
    *why = "operand or result is no byte";
    return is_byte(query->in[0]) && is_byte(query->out[0]);
}

// Operators give what they are given, u8 or s8: the other type is the same number 128 away, with the bits of all but the top one.
// What the node is to write, and its clamp: `out` itself, or a value of the operand's type.
static uint32_t result_begin(tn_hex_encoder *e, const tn_query *query, const tn_tensor *zero, uint32_t out, int32_t clamp[2])
{
    const tn_tensor *x = query->in[0], *y = query->out[0];
    if (x->dtype == y->dtype) {
        return out;
    }
    const int32_t shift = y->dtype == TN_I8 ? 128 : -128;
    clamp[0] += shift;
    clamp[1] += shift;
    return tn_hex_temporary(e, tn_hex_dtype(x->dtype), (zero ? (int32_t)tn_element(zero, 0) : 0) + shift, &y->shape);
}

// Brings it to `out`.
static void result_end(tn_hex_encoder *e, uint32_t made, uint32_t out)
{
    static const int64_t dims[1] = {256};
    uint8_t table[256];
    if (made == out) {
        return;
    }
    for (int b = 0; b < 256; b++) {
        table[b] = (uint8_t)(b ^ 0x80);
    }
    const uint32_t constant = tn_hex_constant(e, TN_HEX_U8, 1, dims, table, sizeof table);
    tn_hex_node_begin(e, TN_HEX_OP_LUT);
    tn_hex_operand(e, made);
    tn_hex_operand(e, constant);
    tn_hex_result(e, out);
    tn_hex_node_end(e);
}

// ---- tables ----

static bool match_table(const tn_query *query, const char **why)
{
    *why = "a table that is no constant";
    return is_byte(query->in[0]) && query->in[1]->data != NULL;
}

static void encode_table(tn_hex_encoder *e, const tn_query *query, const uint32_t *in, const uint32_t *out)
{
    static const int64_t dims[1] = {256};
    const uint32_t table = tn_hex_constant(e, TN_HEX_U8, 1, dims, query->in[1]->data, 256);
    tn_hex_node_begin(e, TN_HEX_OP_LUT);
    tn_hex_operand(e, in[0]);
    tn_hex_operand(e, table);
    tn_hex_result(e, out[0]);
    tn_hex_node_end(e);
}

// ---- pairs ----

static bool match_pair(const tn_query *query, const char **why)
{
    if (!one_type(query, why) || query->in[3]->dtype != query->in[0]->dtype) {
        return false;
    }
    *why = "scales or zero points that are no constants, or no numbers to scale with";
    for (int i = 1; i < 8; i += i == 4 ? 2 : 3) {
        if (!good_scale(query, i) || !known(operand(query, i + 1))) {
            return false;
        }
    }
    return true;
}

static void encode_pair(tn_hex_encoder *e, const tn_query *query, const uint32_t *in, const uint32_t *out)
{
    const tn_qlinear_attr *attr = query->attr;
    const int op = query->op == &tn_op_qlinear_add ? TN_HEX_OP_ADD : query->op == &tn_op_qlinear_sub ? TN_HEX_OP_SUB : TN_HEX_OP_MUL;
    tn_requant_pair pair;
    tn_qpair_params(query->op, attr, query->in, query->n_in, query->out[0]->dtype, &pair);
    const uint32_t a = in[0] ? in[0] : tn_hex_bytes(e, query->in[0], pair.a_zero), b = in[3] ? in[3] : tn_hex_bytes(e, query->in[3], pair.b_zero);
    tn_hex_node_begin(e, op);
    tn_hex_operand(e, a);
    tn_hex_operand(e, b);
    tn_hex_result(e, out[0]);
    if (pair.rounding == TN_ROUND_FIXED_Q31) {
        const tn_requant sum[3] = {pair.a, pair.b, pair.y};
        tn_hex_attr_requant(e, op == TN_HEX_OP_MUL ? 1 : 3, op == TN_HEX_OP_MUL ? &pair.y : sum);
    } else {
        const float scales[3] = {pair.a_scale, pair.b_scale, pair.y_scale};
        tn_hex_attr_float(e, TN_HEX_ATTR_SCALES, 3, scales);
    }
    tn_hex_attr_clamp(e, pair.low, pair.high);
    tn_hex_node_end(e);
}

// ---- pooling ----

// A window that needs no rounding up and whose numbers fit the wire.
static bool good_window(const tn_pool_attr *attr, const tn_tensor *x, tn_window *w)
{
    if (x->shape.rank != 4 || !tn_pool_window(attr, &x->shape, w) || w->rank != 2) {
        return false;
    }
    for (int i = 0; i < 2; i++) {
        const int64_t reach = (w->out[i] - 1) * w->stride[i] + (w->kernel[i] - 1) * w->dilation[i] + 1;
        if (reach > w->in[i] + w->pad_begin[i] + w->pad_end[i] || w->kernel[i] > LARGEST_SIDE || w->stride[i] > LARGEST_SIDE ||
            w->dilation[i] > LARGEST_SIDE || w->pad_begin[i] >= w->kernel[i] || w->pad_end[i] >= w->kernel[i]) {
            return false;
        }
    }
    return true;
}

static void window_attrs(tn_hex_encoder *e, const tn_window *w)
{
    const int64_t pads[4] = {w->pad_begin[0], w->pad_begin[1], w->pad_end[0], w->pad_end[1]};
    tn_hex_attr_list(e, TN_HEX_ATTR_KERNEL, 2, w->kernel);
    tn_hex_attr_list(e, TN_HEX_ATTR_STRIDES, 2, w->stride);
    tn_hex_attr_list(e, TN_HEX_ATTR_PADS, 4, pads);
}

static bool good_mean(const tn_query *query, const char **why)
{
    if (!bytes_only(query, why)) {
        return false;
    }
    *why = "scales or zero points that are no constants, or no numbers to scale with";
    const float scale = good_scale(query, 1) && good_scale(query, 3) ? scale_at(query, 1) / scale_at(query, 3) : 0;
    return isnormal(scale) && isnormal(scale / MAX_WINDOW) && known(operand(query, 2)) && known(operand(query, 4));
}

static bool match_average(const tn_query *query, const char **why)
{
    const tn_qpool_attr *attr = query->attr;
    tn_window w;
    if (!good_mean(query, why)) {
        return false;
    }
    *why = "a window that hangs over the end, is dilated or very large";
    return good_window(&attr->pool, query->in[0], &w) && w.dilation[0] == 1 && w.dilation[1] == 1 && w.kernel[0] * w.kernel[1] <= MAX_WINDOW;
}

static void mean_rounding(tn_hex_encoder *e, const tn_qlinear_attr *q, const int32_t clamp[2])
{
    const uint32_t rounding = q->rounding == TN_ROUND_FIXED_Q31 ? TN_HEX_FIXED_Q31 : TN_HEX_FLOAT_RNE;
    tn_hex_attr(e, TN_HEX_ATTR_ROUNDING, 1, &rounding);
    tn_hex_attr_clamp(e, clamp[0], clamp[1]);
}

static void encode_average(tn_hex_encoder *e, const tn_query *query, const uint32_t *in, const uint32_t *out)
{
    const tn_qpool_attr *attr = query->attr;
    const uint32_t count_pad = attr->pool.count_include_pad;
    tn_window w;
    int32_t clamp[2];
    (void)tn_pool_window(&attr->pool, &query->in[0]->shape, &w);
    tn_qlinear_range(&attr->q, query->out[0]->dtype, &clamp[0], &clamp[1]);
    const uint32_t made = result_begin(e, query, operand(query, 4), out[0], clamp);
    tn_hex_node_begin(e, TN_HEX_OP_AVERAGE_POOL);
    tn_hex_operand(e, in[0]);
    tn_hex_result(e, made);
    window_attrs(e, &w);
    tn_hex_attr(e, TN_HEX_ATTR_COUNT_PAD, 1, &count_pad);
    const int64_t most = w.kernel[0] * w.kernel[1];
    if (attr->q.rounding == TN_ROUND_FIXED_Q31) {
        tn_requant factors[MAX_WINDOW];
        for (int64_t n = 1; n <= most; n++) {
            factors[n - 1] = tn_requant_mean(attr->q.rounding, scale_at(query, 1), scale_at(query, 3), n);
        }
        tn_hex_attr_requant(e, (int)most, factors);
    } else {
        const float scale = scale_at(query, 1) / scale_at(query, 3);
        tn_hex_attr_float(e, TN_HEX_ATTR_SCALES, 1, &scale);
    }
    mean_rounding(e, &attr->q, clamp);
    tn_hex_node_end(e);
    result_end(e, made, out[0]);
}

static bool match_global(const tn_query *query, const char **why)
{
    return good_mean(query, why) && query->in[0]->shape.rank >= 3 &&
           isnormal(tn_requant_mean(TN_ROUND_FLOAT_RNE, scale_at(query, 1), scale_at(query, 3),
                                    tn_shape_span(&query->in[0]->shape, 2, query->in[0]->shape.rank)).scale);
}

static void encode_global(tn_hex_encoder *e, const tn_query *query, const uint32_t *in, const uint32_t *out)
{
    const tn_qlinear_attr *q = query->attr;
    const uint32_t axis = 2;
    const int64_t n = tn_shape_span(&query->in[0]->shape, 2, query->in[0]->shape.rank);
    const tn_requant factor = tn_requant_mean(q->rounding, scale_at(query, 1), scale_at(query, 3), n);
    int32_t clamp[2];
    tn_qlinear_range(q, query->out[0]->dtype, &clamp[0], &clamp[1]);
    const uint32_t made = result_begin(e, query, operand(query, 4), out[0], clamp);
    tn_hex_node_begin(e, TN_HEX_OP_MEAN);
    tn_hex_operand(e, in[0]);
    tn_hex_result(e, made);
    tn_hex_attr(e, TN_HEX_ATTR_AXIS, 1, &axis);
    if (q->rounding == TN_ROUND_FIXED_Q31) {
        tn_hex_attr_requant(e, 1, &factor);
    } else {
        tn_hex_attr_float(e, TN_HEX_ATTR_SCALES, 1, &factor.scale);
    }
    mean_rounding(e, q, clamp);
    tn_hex_node_end(e);
    result_end(e, made, out[0]);
}

static bool match_max(const tn_query *query, const char **why)
{
    tn_window w;
    if (query->in[0]->dtype != TN_I16 && !one_type(query, why)) {
        return false;
    }
    *why = "a window that hangs over the end, or places of the maxima";
    return good_window(query->attr, query->in[0], &w) && (query->n_out == 1 || !query->out[1]);
}

static void encode_max(tn_hex_encoder *e, const tn_query *query, const uint32_t *in, const uint32_t *out)
{
    tn_window w;
    (void)tn_pool_window(query->attr, &query->in[0]->shape, &w);
    tn_hex_node_begin(e, query->in[0]->dtype == TN_I16 ? TN_HEX_OP_WIDE_MAX_POOL : TN_HEX_OP_MAX_POOL);
    tn_hex_operand(e, in[0]);
    tn_hex_result(e, out[0]);
    window_attrs(e, &w);
    tn_hex_attr_list(e, TN_HEX_ATTR_DILATIONS, 2, w.dilation);
    tn_hex_node_end(e);
}

// ---- resize ----

static bool match_linear(const tn_query *query, const char **why)
{
    const tn_dtype type = query->in[0]->dtype;
    const int32_t one = TN_QRESIZE_ONE_OF(type);
    if (type != TN_I16 && !one_type(query, why)) {
        return false;
    }
    *why = "scales or zero points that are no constants, or no numbers to scale with";
    if (!good_scale(query, 1) || !good_scale(query, 3) || !known(operand(query, 2)) || !known(operand(query, 4)) ||
        !isnormal(tn_qresize_factor(TN_ROUND_FLOAT_RNE, type, scale_at(query, 1), scale_at(query, 3)).scale)) {
        return false;
    }
    const int64_t *x = query->in[0]->shape.dims, *y = query->out[0]->shape.dims;
    *why = "rows or columns that are no constants, or are very many";
    return query->in[5]->data && query->in[6]->data && y[2] <= LARGEST_PICTURE && y[3] <= LARGEST_PICTURE &&
           tn_qresize_good(query->in[5]->data, one, y[2], x[2]) && tn_qresize_good(query->in[6]->data, one, y[3], x[3]);
}

static void encode_linear(tn_hex_encoder *e, const tn_query *query, const uint32_t *in, const uint32_t *out)
{
    const tn_qlinear_attr *q = query->attr;
    const tn_requant factor = tn_qresize_factor(q->rounding, query->in[0]->dtype, scale_at(query, 1), scale_at(query, 3));
    const uint32_t linear = 1;
    uint32_t tables[2];
    for (int k = 0; k < 2; k++) {
        const tn_tensor *table = query->in[5 + k];
        tables[k] = tn_hex_constant(e, TN_HEX_S32, 2, table->shape.dims, table->data, (size_t)tn_tensor_count(table) * sizeof(int32_t));
    }
    tn_hex_node_begin(e, query->in[0]->dtype == TN_I16 ? TN_HEX_OP_WIDE_RESIZE : TN_HEX_OP_RESIZE);
    tn_hex_operand(e, in[0]);
    tn_hex_operand(e, tables[0]);
    tn_hex_operand(e, tables[1]);
    tn_hex_result(e, out[0]);
    tn_hex_attr(e, TN_HEX_ATTR_MODE, 1, &linear);
    tn_hex_attr_requant(e, 1, &factor);
    int32_t low, high;
    tn_qlinear_range(q, query->out[0]->dtype, &low, &high);
    tn_hex_attr_clamp(e, low, high);
    tn_hex_node_end(e);
}

// ---- softmax ----

static bool match_softmax(const tn_query *query, const char **why)
{
    if (!bytes_only(query, why)) {
        return false;
    }
    *why = "scales or zero points that are no constants, or no numbers to scale with";
    return good_scale(query, 1) && good_scale(query, 3) && known(operand(query, 2)) && known(operand(query, 4));
}

static void encode_softmax(tn_hex_encoder *e, const tn_query *query, const uint32_t *in, const uint32_t *out)
{
    static const int64_t dims[1] = {256};
    const tn_qsoftmax_attr *attr = query->attr;
    uint32_t table[256], inverse;
    int32_t clamp[2];
    int axis = 0;
    (void)tn_axis(attr->axis, query->in[0]->shape.rank, &axis);
    tn_softmax_table(scale_at(query, 1), scale_at(query, 3), table, &inverse);
    const uint32_t id = tn_hex_constant(e, TN_HEX_S32, 1, dims, table, sizeof table), wire_axis = (uint32_t)axis;
    tn_qlinear_range(&attr->q, query->out[0]->dtype, &clamp[0], &clamp[1]);
    const uint32_t made = result_begin(e, query, operand(query, 4), out[0], clamp);
    tn_hex_node_begin(e, TN_HEX_OP_SOFTMAX);
    tn_hex_operand(e, in[0]);
    tn_hex_operand(e, id);
    tn_hex_result(e, made);
    tn_hex_attr(e, TN_HEX_ATTR_AXIS, 1, &wire_axis);
    tn_hex_attr(e, TN_HEX_ATTR_FACTOR, 1, &inverse);
    tn_hex_attr_clamp(e, clamp[0], clamp[1]);
    tn_hex_node_end(e);
    result_end(e, made, out[0]);
}

// ---- layer normalisation ----

enum { NORM_GAIN = 5, NORM_BIAS };      // operands

static bool match_layer_norm(const tn_query *query, const char **why)
{
    const tn_tensor *bias = operand(query, NORM_BIAS);
    tn_qnorm q;
    if (!match_softmax(query, why)) {
        return false;
    }
    *why = "gain or bias that are no constants";
    if (!query->in[NORM_GAIN]->data || (bias && !bias->data)) {
        return false;
    }
    *why = "a result of very many steps, or an epsilon that is very large beside the operand's scale";
    return tn_qnorm_of(query->attr, query->in, query->n_in, query->out[0]->dtype, &q);
}

static void encode_layer_norm(tn_hex_encoder *e, const tn_query *query, const uint32_t *in, const uint32_t *out)
{
    tn_qnorm q;
    (void)tn_qnorm_of(query->attr, query->in, query->n_in, query->out[0]->dtype, &q);
    const int64_t n = q.n;
    const size_t bytes = (size_t)n * sizeof(int32_t);
    const uint32_t epsilon[2] = {(uint32_t)q.epsilon, (uint32_t)(q.epsilon >> 32)}, down = (uint32_t)q.down;
    int32_t *words = e->status == TN_OK ? tn_take(e->heap, 2 * bytes) : NULL;
    if (!words) {
        e->status = e->status == TN_OK ? tn_fail_memory(e->diag, "hexagon", 2 * bytes) : e->status;
        return;
    }
    tn_qnorm_words(&q, query->in, query->n_in, words, words + n);
    const uint32_t gain = tn_hex_constant(e, TN_HEX_S32, 1, &n, words, bytes), bias = tn_hex_constant(e, TN_HEX_S32, 1, &n, words + n, bytes);
    tn_give(e->heap, words);
    int32_t clamp[2] = {q.low, q.high};
    const uint32_t made = result_begin(e, query, operand(query, 4), out[0], clamp);
    tn_hex_node_begin(e, TN_HEX_OP_LAYER_NORM);
    tn_hex_operand(e, in[0]);
    tn_hex_operand(e, gain);
    tn_hex_operand(e, bias);
    tn_hex_result(e, made);
    tn_hex_attr(e, TN_HEX_ATTR_EPSILON, 2, epsilon);
    tn_hex_attr(e, TN_HEX_ATTR_DOWN, 1, &down);
    tn_hex_attr_clamp(e, clamp[0], clamp[1]);
    tn_hex_node_end(e);
    result_end(e, made, out[0]);
}

// ---- floats ----

static bool match_border(const tn_query *query, const char **why)
{
    const bool down = query->op == &tn_op_quantize_linear;
    const tn_quantize_attr *attr = query->attr;
    const tn_tensor *real = down ? query->in[0] : query->out[0], *bytes = down ? query->out[0] : query->in[0];
    *why = "only between float32 and bytes or int16 by one scale, int16 without a zero point";
    const bool wide = bytes->dtype == TN_I16 && (!operand(query, 2) || (known(operand(query, 2)) && tn_element(query->in[2], 0) == 0));
    return real->dtype == TN_F32 && (is_byte(bytes) || wide) && good_scale(query, 1) && known(operand(query, 2)) &&
           (attr->precision == TN_NONE || attr->precision == TN_F32);
}

static void encode_border(tn_hex_encoder *e, const tn_query *query, const uint32_t *in, const uint32_t *out)
{
    const float scale = scale_at(query, 1);
    const bool down = query->op == &tn_op_quantize_linear, wide = (down ? query->out[0] : query->in[0])->dtype == TN_I16;
    const int narrow = down ? TN_HEX_OP_QUANTISE : TN_HEX_OP_DEQUANTISE, other = down ? TN_HEX_OP_WIDE_QUANTISE : TN_HEX_OP_WIDE_DEQUANTISE;
    tn_hex_node_begin(e, wide ? other : narrow);
    tn_hex_operand(e, in[0]);
    tn_hex_result(e, out[0]);
    tn_hex_attr_float(e, TN_HEX_ATTR_SCALES, 1, &scale);
    tn_hex_node_end(e);
}

// ---- rows ----

static const int8_t pair_zeros[] = {2, 0, 5, 3, 7, TN_HEX_RESULT, -1}, mean_zeros[] = {2, 0, 4, TN_HEX_RESULT, -1};
// The lesser or greater byte of two of one quantisation.
static bool match_choice(const tn_query *query, const char **why)
{
    *why = "only two values that are computed";
    return query->n_in == 2 && !query->in[0]->data && !query->in[1]->data && one_type(query, why) && query->in[1]->dtype == query->in[0]->dtype;
}

static void encode_choice(tn_hex_encoder *e, const tn_query *query, const uint32_t *in, const uint32_t *out)
{
    tn_hex_node_begin(e, query->op == &tn_op_min ? TN_HEX_OP_MIN : TN_HEX_OP_MAX);
    tn_hex_operand(e, in[0]);
    tn_hex_operand(e, in[1]);
    tn_hex_result(e, out[0]);
    tn_hex_node_end(e);
}

static const int8_t down_zeros[] = {2, TN_HEX_RESULT, -1}, up_zeros[] = {2, 0, -1};

#define PAIR(OP) {.op = &tn_op_##OP, .match = match_pair, .encode = encode_pair, .zeros = pair_zeros, .macs_per_ns = 1, .element_ns = 0.4}

static const tn_hex_row rows[] = {
    PAIR(qlinear_add),
    PAIR(qlinear_sub),
    PAIR(qlinear_mul),
    {.op = &tn_op_min, .match = match_choice, .encode = encode_choice, .keeps_zero = true, .macs_per_ns = 1, .element_ns = 0.2},
    {.op = &tn_op_max, .match = match_choice, .encode = encode_choice, .keeps_zero = true, .macs_per_ns = 1, .element_ns = 0.2},
    {.op = &tn_op_qlinear_table, .match = match_table, .encode = encode_table, .macs_per_ns = 10, .element_ns = 0.2},
    {.op = &tn_op_qlinear_average_pool, .match = match_average, .encode = encode_average, .zeros = mean_zeros, .macs_per_ns = 1, .element_ns = 0.2},
    {.op = &tn_op_qlinear_global_average_pool, .match = match_global, .encode = encode_global, .zeros = mean_zeros, .macs_per_ns = 1,
     .element_ns = 0.2},
    {.op = &tn_op_qlinear_resize, .match = match_linear, .encode = encode_linear, .zeros = mean_zeros, .macs_per_ns = 4, .element_ns = 1},
    {.op = &tn_op_max_pool, .match = match_max, .encode = encode_max, .keeps_zero = true, .macs_per_ns = 2, .element_ns = 0.2},
    {.op = &tn_op_qlinear_softmax, .match = match_softmax, .encode = encode_softmax, .zeros = mean_zeros, .macs_per_ns = 1, .element_ns = 20},
    {.op = &tn_op_qlinear_layer_norm, .match = match_layer_norm, .encode = encode_layer_norm, .zeros = mean_zeros, .macs_per_ns = 2,
     .element_ns = 0.5},
    // Floats are scalar work on a DSP without HVX floats.
    {.op = &tn_op_quantize_linear, .match = match_border, .encode = encode_border, .zeros = down_zeros, .macs_per_ns = 1, .element_ns = 600},
    {.op = &tn_op_dequantize_linear, .match = match_border, .encode = encode_border, .zeros = up_zeros, .macs_per_ns = 1, .element_ns = 400},
};
const tn_hex_row_list tn_hex_rows_map = {rows, TN_COUNT(rows)};
