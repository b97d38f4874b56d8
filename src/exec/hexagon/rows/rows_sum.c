// SPDX-License-Identifier: Apache-2.0
// Convolutions and matrix products for the DSP. Weights go as int8 without zero point: uint8 ones with zero point 128 are the same
// numbers with the top bit turned. Products of two values that are computed have an operator of their own.
// Ownership: const data. Threads: any.
#include "base/macros.h"
#include "exec/hexagon/hex_window.h"
#include "ops/op_rows.h"
#include "ops/quant/op_qlinear.h"

#include <math.h>

#define LONGEST_ROW 32768        // of a product of two values

enum { X, X_SCALE, X_ZERO, W, W_SCALE, W_ZERO, Y_SCALE, Y_ZERO, BIAS };     // operands of both

static const tn_tensor *operand(const tn_query *query, int i) { return i < query->n_in ? query->in[i] : NULL; }
static bool is_byte(const tn_tensor *tensor) { return tensor->dtype == TN_U8 || tensor->dtype == TN_I8; }
static double at(const tn_tensor *tensor, int64_t i) { return tensor ? tn_element(tensor, tn_tensor_count(tensor) == 1 ? 0 : i) : 0; }

// The zero point that all weights have: 0 for int8, 128 for uint8.
static bool plain_weights(const tn_query *query)
{
    const tn_tensor *w = query->in[W], *zero = operand(query, W_ZERO);
    const int64_t count = zero ? tn_tensor_count(zero) : 0;
    if (w->dtype == TN_U8 && !count) {
        return false;
    }
    for (int64_t i = 0; i < count; i++) {
        if (tn_dtype_load_i64(zero->dtype, zero->data, (size_t)i) != (w->dtype == TN_U8 ? 128 : 0)) {
            return false;
        }
    }
    return true;
}

static bool good_factors(const tn_query *query, const tn_qlinear_attr *q, int64_t channels)
{
    for (int64_t m = 0; m < channels; m++) {
        const tn_requant r = tn_requant_factor(q->rounding, (float)at(query->in[X_SCALE], 0), (float)at(query->in[W_SCALE], m),
                                               (float)at(query->in[Y_SCALE], 0));
        if (q->rounding == TN_ROUND_FLOAT_RNE && !isnormal(r.scale)) {
            return false;
        }
        if (q->rounding == TN_ROUND_FLOAT_RNE && r.scale < 0) {
            return false;
        }
    }
    return true;
}

// What convolutions and products ask alike.
static bool match_sum(const tn_query *query, const tn_qlinear_attr *q, int64_t channels, const char **why)
{
    for (int i = 1; i < query->n_in; i++) {
        if (query->in[i] && !query->in[i]->data) {
            *why = "weights, scales or zero points that are no constants";
            return false;
        }
    }
    if (!is_byte(query->in[X]) || !is_byte(query->in[W]) || query->out[0]->dtype != query->in[X]->dtype) {
        *why = "operand and result are not of one byte type";
        return false;
    }
    if (!plain_weights(query) || tn_tensor_count(query->in[X_SCALE]) != 1 || tn_tensor_count(query->in[Y_SCALE]) != 1 ||
        !good_factors(query, q, channels)) {
        *why = "weights with a zero point, or scales that are not positive and finite";
        return false;
    }
    return true;
}

static bool match_conv(const tn_query *query, const char **why)
{
    const tn_qconv_attr *attr = query->attr;
    return tn_hex_window_fits(&attr->conv, query->in[X], query->in[W], why) &&
           match_sum(query, &attr->q, query->in[W]->shape.dims[0], why);
}

// Bytes of the weights as int8, in scratch that the caller gives back.
static int8_t *signed_weights(tn_hex_encoder *e, const tn_tensor *w)
{
    const size_t count = (size_t)tn_tensor_count(w);
    int8_t *bytes = e->status == TN_OK ? tn_take(e->heap, count) : NULL;
    for (size_t i = 0; bytes && i < count; i++) {
        bytes[i] = (int8_t)(((const uint8_t *)w->data)[i] ^ (w->dtype == TN_U8 ? 0x80 : 0));
    }
    if (!bytes && e->status == TN_OK) {
        e->status = tn_fail_memory(e->diag, "hexagon", count);
    }
    return bytes;
}

static uint32_t bias_constant(tn_hex_encoder *e, const tn_query *query, int64_t channels)
{
    const tn_tensor *bias = operand(query, BIAS);
    int32_t *words = bias && e->status == TN_OK ? tn_take(e->heap, (size_t)channels * sizeof *words) : NULL;
    uint32_t id = 0;
    for (int64_t i = 0; words && i < channels; i++) {
        words[i] = (int32_t)tn_dtype_load_i64(bias->dtype, bias->data, (size_t)i);
    }
    if (words) {
        id = tn_hex_constant(e, TN_HEX_S32, 1, &channels, words, (size_t)channels * sizeof *words);
    } else if (bias && e->status == TN_OK) {
        e->status = tn_fail_memory(e->diag, "hexagon", (size_t)channels * sizeof *words);
    }
    tn_give(e->heap, words);
    return id;
}

// Factors, one or one a channel, and bounds.
static void requant_attrs(tn_hex_encoder *e, const tn_query *query, const tn_qlinear_attr *q, int64_t channels)
{
    const int64_t n = tn_tensor_count(query->in[W_SCALE]) == 1 ? 1 : channels;
    tn_requant *factors = e->status == TN_OK ? tn_take(e->heap, (size_t)n * sizeof *factors) : NULL;
    int32_t low, high;
    if (!factors) {
        e->status = e->status == TN_OK ? tn_fail_memory(e->diag, "hexagon", (size_t)n * sizeof *factors) : e->status;
        return;
    }
    for (int64_t m = 0; m < n; m++) {
        factors[m] = tn_requant_factor(q->rounding, (float)at(query->in[X_SCALE], 0), (float)at(query->in[W_SCALE], m),
                                       (float)at(query->in[Y_SCALE], 0));
    }
    tn_hex_attr_requant(e, (int)n, factors);
    tn_give(e->heap, factors);
    tn_qlinear_range(q, query->out[0]->dtype, &low, &high);
    tn_hex_attr_clamp(e, low, high);
}

static void encode_conv(tn_hex_encoder *e, const tn_query *query, const uint32_t *in, const uint32_t *out)
{
    const tn_qconv_attr *attr = query->attr;
    const tn_tensor *w = query->in[W];
    const int64_t channels = w->shape.dims[0];
    int8_t *bytes = signed_weights(e, w);
    const uint32_t weights = bytes ? tn_hex_constant(e, TN_HEX_S8, 4, w->shape.dims, bytes, (size_t)tn_tensor_count(w)) : 0;
    tn_give(e->heap, bytes);
    const uint32_t bias = bias_constant(e, query, channels);
    tn_hex_node_begin(e, TN_HEX_OP_CONV);
    tn_hex_operand(e, in[X]);
    tn_hex_operand(e, weights);
    tn_hex_operand(e, bias);
    tn_hex_result(e, out[0]);
    tn_hex_window_attrs(e, &attr->conv, query->in[X], w);
    requant_attrs(e, query, &attr->q, channels);
    tn_hex_node_end(e);
}

static bool match_matmul(const tn_query *query, const char **why)
{
    const tn_qmatmul_attr *attr = query->attr;
    const tn_tensor *b = query->in[W];
    if (!b->data || b->shape.rank != 2 || query->in[X]->shape.rank < 2) {
        *why = "only a product with one constant matrix";
        return false;
    }
    return match_sum(query, &attr->q, b->shape.dims[1], why);
}

static void encode_matmul(tn_hex_encoder *e, const tn_query *query, const uint32_t *in, const uint32_t *out)
{
    const tn_qmatmul_attr *attr = query->attr;
    const tn_tensor *b = query->in[W];
    const int64_t channels = b->shape.dims[1];
    int8_t *bytes = signed_weights(e, b);
    const uint32_t weights = bytes ? tn_hex_constant(e, TN_HEX_S8, 2, b->shape.dims, bytes, (size_t)tn_tensor_count(b)) : 0;
    tn_give(e->heap, bytes);
    const uint32_t bias = bias_constant(e, query, channels);
    tn_hex_node_begin(e, TN_HEX_OP_MATMUL);
    tn_hex_operand(e, in[X]);
    tn_hex_operand(e, weights);
    tn_hex_operand(e, bias);
    tn_hex_result(e, out[0]);
    requant_attrs(e, query, &attr->q, channels);
    tn_hex_node_end(e);
}

// ---- products of two values ----

// Both are computed; leading dims are the same, scales are one number each.
static bool match_product(const tn_query *query, const char **why)
{
    const tn_qmatmul_attr *attr = query->attr;
    const tn_tensor *a = query->in[X], *b = query->in[W];
    const int rank = a->shape.rank;
    *why = "a product of two values, of other dims before the last two or with a bias";
    if (a->data || b->data || rank < 2 || b->shape.rank != rank || operand(query, BIAS)) {
        return false;
    }
    for (int d = 0; d < rank - 2; d++) {
        if (a->shape.dims[d] != b->shape.dims[d]) {
            return false;
        }
    }
    *why = "operand and result are not of one byte type";
    if (!is_byte(a) || !is_byte(b) || query->out[0]->dtype != a->dtype) {
        return false;
    }
    *why = "scales or zero points that are no constants or not one for all, or very long rows";
    for (int i = X_SCALE; i <= Y_ZERO; i++) {
        const tn_tensor *one = i == W ? NULL : operand(query, i);
        if (one && (!one->data || tn_tensor_count(one) != 1)) {
            return false;
        }
    }
    return a->shape.dims[rank - 1] <= LONGEST_ROW && good_factors(query, &attr->q, 1);
}

static void encode_product(tn_hex_encoder *e, const tn_query *query, const uint32_t *in, const uint32_t *out)
{
    const tn_qmatmul_attr *attr = query->attr;
    tn_hex_node_begin(e, TN_HEX_OP_PRODUCT);
    tn_hex_operand(e, in[X]);
    tn_hex_operand(e, in[W]);
    tn_hex_result(e, out[0]);
    requant_attrs(e, query, &attr->q, 1);
    tn_hex_node_end(e);
}

static const int8_t product_zeros[] = {X_ZERO, X, W_ZERO, W, Y_ZERO, TN_HEX_RESULT, -1};
static const int8_t zeros[] = {X_ZERO, X, Y_ZERO, TN_HEX_RESULT, -1};

static const tn_hex_row rows[] = {
    {.op = &tn_op_qlinear_conv, .match = match_conv, .encode = encode_conv, .zeros = zeros, .macs_per_ns = 1.5, .element_ns = 0.05},
    {.op = &tn_op_qlinear_matmul, .match = match_product, .encode = encode_product, .zeros = product_zeros, .macs_per_ns = 1, .element_ns = 0.1},
    {.op = &tn_op_qlinear_matmul, .match = match_matmul, .encode = encode_matmul, .zeros = zeros, .macs_per_ns = 1.5, .element_ns = 0.05},
};
const tn_hex_row_list tn_hex_rows_sum = {rows, TN_COUNT(rows)};
