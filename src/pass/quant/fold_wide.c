// SPDX-License-Identifier: Apache-2.0
// Values of 16 bits between dequantise and quantise: sums, pairs, means, joins and functions become the operators of ops/wide. Functions
// are also where 8 bits and 16 bits meet: a table's operand and result may be of different types.
// Ownership: new constants belong to the graph. Threads: one per graph.
#include "pass/quant/quant.h"

#include "base/num.h"
#include "ops/math/op_binary.h"
#include "ops/math/op_reduce.h"
#include "ops/move/op_join.h"
#include "ops/nn/op_conv.h"
#include "ops/nn/op_matmul.h"
#include "ops/nn/op_pool.h"
#include "ops/quant/op_quantize.h"
#include "ops/vision/op_resize.h"
#include "ops/wide/op_wide.h"

#include <math.h>
#include <string.h>

#define MAX_BIAS 70368744177664.0     // 2^46: leaves the sums below 2^53
#define MAX_TABLES 4096               // bytes of a table of 16 bits times this are 32 MiB

static tn_value *new_i64(tn_graph *graph, int64_t count, int64_t **data)
{
    const tn_shape shape = tn_shape_of(1, &count);
    void *room;
    tn_value *value = tn_graph_room(graph, NULL, TN_I64, &shape, &room);
    *data = room;
    return value;
}

// ---- functions ----

// values[channels][entries] as steps of y: whole ones, or of 1/128 where y is a byte.
static tn_value *table_of(tn_graph *graph, const float *values, int64_t channels, int64_t entries, const tn_quantised *y)
{
    const tn_shape many = {2, {channels, entries}}, one = {1, {entries}};
    void *room;
    tn_value *table = tn_graph_room(graph, NULL, TN_I16, channels > 1 ? &many : &one, &room);
    const double unit = y->dtype == TN_I16 ? 1 : 1 << TN_WIDE_TO_BYTE;
    for (int64_t i = 0; table && i < channels * entries; i++) {
        const double v = rint(((double)values[i] / y->first + y->zero_first) * unit);
        ((int16_t *)room)[i] = (int16_t)(v >= INT16_MAX ? INT16_MAX : v > INT16_MIN ? v : INT16_MIN);     // NaN: the least
    }
    return table;
}

// Where the results leave y's range between two entries, the corner is cut by what lies between them: at most so many units of an entry.
#define MOST_CUT 128.0

static bool is_cut(const float *values, int64_t entries, const tn_quantised *y)
{
    const double unit = y->dtype == TN_I16 ? 1 : 1 << TN_WIDE_TO_BYTE;
    for (int64_t i = 0; i + 1 < entries; i++) {
        const double a = ((double)values[i] / y->first + y->zero_first) * unit, b = ((double)values[i + 1] / y->first + y->zero_first) * unit;
        const double low = fmin(a, b), high = fmax(a, b);
        const double above = low < INT16_MAX && high > INT16_MAX ? (INT16_MAX - low) * (high - INT16_MAX) / (high - low) : 0;
        const double below = low < INT16_MIN && high > INT16_MIN ? (high - INT16_MIN) * (INT16_MIN - low) / (high - low) : 0;
        if (above > MOST_CUT || below > MOST_CUT) {
            return true;
        }
    }
    return false;
}

// Bytes are looked up by their bits: the entries of int8 begin with 0 .. 127.
static void turn_signed(float *values, int64_t channels)
{
    float low[128];
    for (int64_t c = 0; c < channels; c++) {
        memcpy(low, values + 256 * c, sizeof low);
        memmove(values + 256 * c, values + 256 * c + 128, sizeof low);
        memcpy(values + 256 * c + 128, low, sizeof low);
    }
}

// The table of a function with a result like y; NULL: it is none, or without memory (*status). exact: none either where a corner would be cut.
static tn_value *make_table(tn_graph *graph, tn_pass_context *context, const tn_quant_function *f, const tn_quantised *y, bool exact, tn_status *status)
{
    const bool wide = f->x.dtype == TN_I16;
    const int64_t entries = wide ? TN_WIDE_ENTRIES : 256;
    bool done = false;
    if (f->channels > MAX_TABLES) {
        return NULL;
    }
    float *values = tn_take(context->heap, (size_t)(f->channels * entries) * sizeof *values);
    if (!values) {
        *status = tn_fail_memory(context->diag, "table", (size_t)entries);
        return NULL;
    }
    *status = tn_function_values(f, entries, wide ? INT16_MIN : f->x.dtype == TN_I8 ? INT8_MIN : 0, wide ? 1 << TN_WIDE_BITS : 1, values,
                                 context, &done);
    tn_value *table = NULL;
    for (int64_t c = 0; wide && exact && *status == TN_OK && done && c < f->channels; c++) {
        done = !is_cut(values + c * entries, entries, y);
    }
    if (*status == TN_OK && done) {
        if (f->x.dtype == TN_I8) {
            turn_signed(values, f->channels);
        }
        table = table_of(graph, values, f->channels, entries, y);
        *status = table ? TN_OK : tn_fail_memory(context->diag, "table", (size_t)entries);
    }
    tn_give(context->heap, values);
    return table;
}

static tn_status fold_table(tn_graph *graph, tn_pass_context *context, tn_node *node, const tn_quantised *y, bool *done)
{
    tn_quant_function f;
    tn_status status = TN_OK;
    if (!tn_function_of(&f, y->x) || (f.x.dtype != TN_I16 && y->dtype != TN_I16)) {
        return TN_OK;
    }
    if (f.n_nodes == 0 && tn_same_quantisation(&f.x, y) && tn_can_replace(context, node->out[0], f.x.x)) {
        *done = true;
        return tn_bypass(graph, context, node, f.x.x);
    }
    tn_value *in[2] = {f.x.x, make_table(graph, context, &f, y, true, &status)};
    if (!in[1]) {
        return status;
    }
    tn_node *from[TN_QUANT_NODES];
    for (int i = 0; i < f.n_nodes; i++) {
        from[i] = f.node[f.n_nodes - 1 - i];
    }
    const tn_wide_table_attr attr = {.to = y->dtype};
    *done = true;
    return tn_rewrite_node(graph, context, &(tn_rewrite){.root = node, .op = &tn_op_wide_table, .attr = &attr, .in = in, .n_in = 2,
                                                         .from = from, .n_from = f.n_nodes}, NULL);
}

// A quantised tensor brought to y's quantisation, before `before`; itself where it has it.
static tn_status requantised(tn_graph *graph, tn_pass_context *context, tn_node *before, const tn_quantised *x, const tn_quantised *y,
                             tn_value **out)
{
    const tn_quant_function f = {.x = *x, .channels = 1};
    const tn_wide_table_attr attr = {.to = y->dtype};
    tn_status status = TN_OK;
    if (tn_same_quantisation(x, y)) {
        *out = x->x;
        return TN_OK;
    }
    tn_value *in[2] = {x->x, make_table(graph, context, &f, y, false, &status)};
    return in[1] ? tn_insert_node(graph, context, before, before, &tn_op_wide_table, &attr, in, 2, y->dtype, &x->x->shape, out) : status;
}

// ---- sums ----

// The bias as int64 in the units of the sums; *out stays NULL when there is none. false: it has no such form (or no memory).
static bool whole_bias(tn_graph *graph, const tn_quantised *x, const tn_quantised *w, const tn_value *bias, double factor, int64_t channels,
                       tn_value **out)
{
    int64_t count, *data;
    *out = NULL;
    if (!bias) {
        return true;
    }
    const tn_node *made = tn_made_by(bias, &tn_op_dequantize_linear);
    const bool ints = made && made->in[0] && made->in[0]->constant && made->in[0]->dtype == TN_I32 && (made->n_in < 3 || !made->in[2]);
    int64_t scales = 1;
    if (ints ? !tn_shape_count(&made->in[0]->constant->shape, &count) || !tn_floats(made->in[1], &scales) : !tn_floats(bias, &count)) {
        return false;
    }
    if ((count != channels && count != 1) || (scales != 1 && scales != count) || !(*out = new_i64(graph, channels, &data))) {
        return false;
    }
    for (int64_t i = 0; i < channels; i++) {
        const double unit = (double)x->first * (double)tn_float(w->scale, i);
        const double real = ints ? (double)tn_dtype_load_i64(TN_I32, made->in[0]->constant->data, (size_t)(count == 1 ? 0 : i)) *
                                       (double)tn_float(made->in[1], i)
                                 : (double)tn_float(bias, i);
        const double whole = rint(real * factor / unit);
        if (!(fabs(whole) <= MAX_BIAS)) {
            tn_graph_release(graph, *out);
            return false;
        }
        data[i] = (int64_t)whole;
    }
    return true;
}

// The constant matrix with its dims exchanged, as [K, N].
static tn_value *turned(tn_graph *graph, const tn_value *w)
{
    const int64_t n = w->constant->shape.dims[0], k = w->constant->shape.dims[1];
    const tn_shape shape = {2, {k, n}};
    void *room;
    tn_value *value = tn_graph_room(graph, NULL, w->dtype, &shape, &room);
    for (int64_t i = 0; value && i < n * k; i++) {
        const size_t from = (size_t)(i % n * k + i / n);
        tn_dtype_store_i64(w->dtype, room, (size_t)i, tn_dtype_load_i64(w->dtype, w->constant->data, from));
    }
    return value;
}

// What a product asks of its weights and attributes; *channels, *axis: where the scales of w lie; *factor: of its bias.
static bool fits(const tn_node *product, const tn_quantised *w, int64_t *channels, double *factor)
{
    int axis = 0;
    *factor = 1;
    if (!w->x->constant || (w->dtype == TN_U8) || w->x->constant->shape.rank < 2 || product->n_in > 3) {
        return false;
    }
    if (product->op == &tn_op_conv) {
        if (((const tn_conv_attr *)product->attr)->act.code != TN_LOOP_CONST || w->x->constant->shape.rank < 3) {
            return false;
        }
    } else {
        const tn_gemm_attr *gemm = product->op == &tn_op_gemm ? product->attr : NULL;
        const tn_matmul_attr *matmul = gemm ? NULL : product->attr;
        if (gemm ? gemm->trans_a || gemm->alpha != 1 : matmul->trans_a || matmul->alpha != 1 || matmul->act.code != TN_LOOP_CONST) {
            return false;
        }
        axis = (gemm ? gemm->trans_b : matmul->trans_b) ? 0 : 1;
        *factor = gemm ? gemm->beta : 1;
        if (w->x->constant->shape.rank != 2 || (product->n_in > 2 && product->in[2] && product->in[2]->shape.rank > 1)) {
            return false;
        }
    }
    *channels = w->x->constant->shape.dims[axis];
    return w->count == 1 || (w->axis == axis && w->count == *channels);
}

static bool no_zero(const tn_quantised *q)
{
    int64_t count = 0;
    for (int64_t i = 0; q->zero && tn_shape_count(&q->zero->constant->shape, &count) && i < count; i++) {
        if (tn_dtype_load_i64(q->zero->dtype, q->zero->constant->data, (size_t)i) != 0) {
            return false;
        }
    }
    return true;
}

static tn_status fold_sum(tn_graph *graph, tn_pass_context *context, tn_node *node, const tn_quantised *y, const tn_qlinear_attr *q,
                          tn_node **from, int n_from, bool *done)
{
    const tn_node *product = from[n_from - 1];
    tn_quantised x, w;
    tn_value *bias;
    int64_t channels;
    double factor;
    if (product->n_in < 2 || y->dtype != TN_I16 || !tn_dequantised_any(product->in[0], &x) || x.count != 1 || x.dtype != TN_I16 ||
        !tn_dequantised_any(product->in[1], &w) || !no_zero(&w) || !fits(product, &w, &channels, &factor) ||
        !whole_bias(graph, &x, &w, product->n_in > 2 ? product->in[2] : NULL, factor, channels, &bias)) {
        return TN_OK;
    }
    tn_value *in[6] = {x.x, x.scale, w.x, w.scale, y->scale, bias};
    *done = true;
    if (product->op == &tn_op_conv) {
        const tn_wide_conv_attr attr = {.conv = *(const tn_conv_attr *)product->attr, .q = *q};
        return tn_rewrite_node(graph, context, &(tn_rewrite){.root = node, .op = &tn_op_wide_conv, .attr = &attr, .in = in,
                                                             .n_in = bias ? 6 : 5, .from = from, .n_from = n_from}, NULL);
    }
    const bool turn = product->op == &tn_op_gemm ? ((const tn_gemm_attr *)product->attr)->trans_b
                                                 : ((const tn_matmul_attr *)product->attr)->trans_b;
    if (turn && !(in[2] = turned(graph, w.x))) {
        return tn_fail_memory(context->diag, node->name, (size_t)channels);
    }
    return tn_rewrite_node(graph, context, &(tn_rewrite){.root = node, .op = &tn_op_wide_matmul, .attr = q, .in = in, .n_in = bias ? 6 : 5,
                                                         .from = from, .n_from = n_from}, NULL);
}

// ---- pairs, means, joins ----

static tn_status fold_pair(tn_graph *graph, tn_pass_context *context, tn_node *node, const tn_quantised *y, const tn_op *op,
                           const tn_qlinear_attr *q, tn_node **from, int n_from, bool *done)
{
    tn_quantised a, b;
    const tn_node *pair = from[n_from - 1];
    if (pair->n_in != 2 || y->dtype != TN_I16 || !tn_dequantised_any(pair->in[0], &a) || !tn_dequantised_any(pair->in[1], &b) ||
        a.count != 1 || b.count != 1 || a.dtype != TN_I16 || b.dtype != TN_I16) {
        return TN_OK;
    }
    tn_value *in[5] = {a.x, a.scale, b.x, b.scale, y->scale};
    *done = true;
    return tn_rewrite_node(graph, context, &(tn_rewrite){.root = node, .op = op, .attr = q, .in = in, .n_in = 5, .from = from,
                                                         .n_from = n_from}, NULL);
}

static tn_status fold_mean(tn_graph *graph, tn_pass_context *context, tn_node *node, const tn_quantised *y, const tn_qlinear_attr *q,
                           tn_node **from, int n_from, bool *done)
{
    tn_quantised x;
    const tn_node *mean = from[n_from - 1];
    int64_t count = 1;
    if (y->dtype != TN_I16 || !tn_dequantised_any(mean->in[0], &x) || x.count != 1 || x.dtype != TN_I16 || x.x->shape.rank < 3) {
        return TN_OK;
    }
    for (int i = 2; i < x.x->shape.rank; i++) {
        if (!tn_dim_known(x.x->shape.dims[i]) || !tn_mul_i64(count, x.x->shape.dims[i], &count) || count > TN_WIDE_MEAN) {
            return TN_OK;
        }
    }
    tn_value *in[3] = {x.x, x.scale, y->scale};
    *done = true;
    return tn_rewrite_node(graph, context, &(tn_rewrite){.root = node, .op = &tn_op_wide_mean, .attr = q, .in = in, .n_in = 3, .from = from,
                                                         .n_from = n_from}, NULL);
}

static tn_status fold_concat(tn_graph *graph, tn_pass_context *context, tn_node *node, const tn_quantised *y, bool *done)
{
    tn_node *join = tn_made_by(y->x, &tn_op_concat);
    tn_quantised part[TN_MAX_IN];
    tn_value *in[TN_MAX_IN];
    if (!join || !tn_used_once(context, y->x) || join->n_in > TN_MAX_IN) {
        return TN_OK;
    }
    bool wide = y->dtype == TN_I16;
    for (int i = 0; i < join->n_in; i++) {
        if (!tn_dequantised_any(join->in[i], &part[i]) || part[i].count != 1) {
            return TN_OK;
        }
        wide |= part[i].dtype == TN_I16;
    }
    if (!wide) {
        return TN_OK;
    }
    for (int i = 0; i < join->n_in; i++) {
        TN_TRY(requantised(graph, context, node, &part[i], y, &in[i]));
    }
    *done = true;
    return tn_rewrite_node(graph, context, &(tn_rewrite){.root = node, .op = &tn_op_concat, .attr = join->attr, .in = in,
                                                         .n_in = join->n_in, .from = &join, .n_from = 1}, NULL);
}

// ---- all ----

tn_status tn_fold_wide(tn_graph *graph, tn_pass_context *context, tn_node *node, bool *done)
{
    static const tn_op *const pairs[][2] = {{&tn_op_add, &tn_op_wide_add}, {&tn_op_sub, &tn_op_wide_sub}, {&tn_op_mul, &tn_op_wide_mul}};
    tn_quantised y;
    tn_quant_work w;
    if (!tn_quantises_any(node, &y)) {
        return TN_OK;
    }
    TN_TRY(fold_table(graph, context, node, &y, done));
    TN_TRY(*done ? TN_OK : fold_concat(graph, context, node, &y, done));
    if (*done || !tn_quant_work_of(context, &y, &w)) {
        return TN_OK;
    }
    const tn_op *op = w.node->op, *pair = tn_quant_whole(pairs, TN_COUNT(pairs), op);
    if (pair) {
        return fold_pair(graph, context, node, &y, pair, &w.q, w.from, w.n_from, done);
    }
    if (op == &tn_op_conv || op == &tn_op_matmul || op == &tn_op_gemm) {
        return fold_sum(graph, context, node, &y, &w.q, w.from, w.n_from, done);
    }
    if (op == &tn_op_resize && y.dtype == TN_I16) {
        return tn_fold_resize(graph, context, node, &y, &w, done);
    }
    if (op == &tn_op_reduce_mean && y.dtype == TN_I16) {
        return tn_fold_mean(graph, context, node, &y, &w, done);
    }
    return op == &tn_op_global_average_pool ? fold_mean(graph, context, node, &y, &w.q, w.from, w.n_from, done) : TN_OK;
}
