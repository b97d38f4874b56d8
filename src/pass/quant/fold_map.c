// SPDX-License-Identifier: Apache-2.0
// Functions of one byte between dequantise and quantise become tables, computed by the reference kernels; sums and products of two,
// means, softmax, layer normalisation, linear resizing and joins become their integer operators.
// Ownership: new constants belong to the graph. Threads: one per graph.
#include "pass/quant/quant.h"

#include "ops/math/op_binary.h"
#include "ops/math/op_reduce.h"
#include "ops/move/op_join.h"
#include "ops/nn/op_norm.h"
#include "ops/nn/op_pool.h"
#include "ops/nn/op_softmax.h"
#include "ops/quant/op_qlinear.h"
#include "ops/quant/op_qmap.h"
#include "ops/quant/op_qpair.h"
#include "ops/quant/op_qpool.h"
#include "ops/quant/op_quantize.h"
#include "ops/vision/op_qresize.h"

#include <math.h>
#include <string.h>

// ---- tables ----

static tn_value *table_of(tn_graph *graph, const float *values, const tn_quantised *y)
{
    uint8_t table[256];
    for (int i = 0; i < 256; i++) {
        table[i] = (uint8_t)tn_quantise_one(y, (double)values[i]);
    }
    return tn_new_bytes(graph, y->dtype, 256, table);
}

static tn_status fold_table(tn_graph *graph, tn_pass_context *context, tn_node *node, const tn_quantised *y, bool *done)
{
    tn_quant_function f;
    float values[256], ordered[256];
    if (!tn_function_of(&f, y->x) || f.channels != 1 || f.x.dtype == TN_I16) {
        return TN_OK;
    }
    if (f.n_nodes == 0 && tn_same_quantisation(&f.x, y) && tn_can_replace(context, node->out[0], f.x.x)) {
        *done = true;
        return tn_bypass(graph, context, node, f.x.x);
    }
    const int32_t first = f.x.dtype == TN_I8 ? INT8_MIN : 0;
    TN_TRY(tn_function_values(&f, 256, first, 1, ordered, context, done));
    if (!*done) {
        return TN_OK;
    }
    for (int32_t i = 0; i < 256; i++) {
        values[(first + i) & 255] = ordered[i];
    }
    tn_value *table = table_of(graph, values, y), *in[2] = {f.x.x, table};
    tn_node *from[TN_QUANT_NODES];
    for (int i = 0; i < f.n_nodes; i++) {
        from[i] = f.node[f.n_nodes - 1 - i];
    }
    return table ? tn_rewrite_node(graph, context, &(tn_rewrite){.root = node, .op = &tn_op_qlinear_table, .in = in, .n_in = 2,
                                                                 .from = from, .n_from = f.n_nodes}, NULL)
                 : tn_fail_memory(context->diag, node->name, 256);
}

// A byte tensor brought to another quantisation, before `before`; itself where it has it.
static tn_status requantised(tn_graph *graph, tn_pass_context *context, tn_node *before, const tn_quantised *x, const tn_quantised *y,
                             tn_value **out)
{
    float values[256];
    if (tn_same_quantisation(x, y)) {
        *out = x->x;
        return TN_OK;
    }
    for (int i = 0; i < 256; i++) {
        const int32_t v = x->dtype == TN_I8 ? (int8_t)i : i;
        values[i] = (float)(v - x->zero_first) * x->first;
    }
    tn_value *in[2] = {x->x, table_of(graph, values, y)};
    if (!in[1]) {
        return tn_fail_memory(context->diag, before->name, 256);
    }
    return tn_insert_node(graph, context, before, before, &tn_op_qlinear_table, NULL, in, 2, y->dtype, &x->x->shape, out);
}

// ---- joins ----

static tn_status fold_concat(tn_graph *graph, tn_pass_context *context, tn_node *node, const tn_quantised *y, bool *done)
{
    tn_node *join = tn_made_by(y->x, &tn_op_concat);
    tn_quantised part[TN_MAX_IN];
    tn_value *in[TN_MAX_IN];
    if (!join || !tn_used_once(context, y->x) || join->n_in > TN_MAX_IN) {
        return TN_OK;
    }
    for (int i = 0; i < join->n_in; i++) {
        if (!tn_dequantised_whole(join->in[i], &part[i])) {
            return TN_OK;
        }
    }
    for (int i = 0; i < join->n_in; i++) {
        TN_TRY(requantised(graph, context, node, &part[i], y, &in[i]));
    }
    *done = true;
    return tn_rewrite_node(graph, context, &(tn_rewrite){.root = node, .op = &tn_op_concat, .attr = join->attr, .in = in,
                                                         .n_in = join->n_in, .from = &join, .n_from = 1}, NULL);
}

// ---- operators of one or two quantised operands ----

static tn_status fold_pair(tn_graph *graph, tn_pass_context *context, tn_node *node, const tn_quantised *y, const tn_op *op, tn_node **from,
                           int n_from, const tn_qlinear_attr *attr, bool *done)
{
    tn_quantised a, b;
    const tn_node *pair = from[n_from - 1];
    if (pair->n_in != 2 || !tn_dequantised_whole(pair->in[0], &a) || !tn_dequantised_whole(pair->in[1], &b) || a.dtype != y->dtype ||
        b.dtype != y->dtype) {
        return TN_OK;
    }
    tn_value *in[8] = {a.x, a.scale, a.zero, b.x, b.scale, b.zero, y->scale, y->zero};
    *done = true;
    return tn_rewrite_node(graph, context, &(tn_rewrite){.root = node, .op = op, .attr = attr, .in = in, .n_in = 8, .from = from,
                                                         .n_from = n_from}, NULL);
}

static tn_status fold_unary(tn_graph *graph, tn_pass_context *context, tn_node *node, const tn_quantised *y, const tn_op *op, tn_node **from,
                            int n_from, const void *attr, bool *done)
{
    tn_quantised x;
    const tn_node *unary = from[n_from - 1];
    if (!tn_dequantised_whole(unary->in[0], &x)) {
        return TN_OK;
    }
    tn_value *in[5] = {x.x, x.scale, x.zero, y->scale, y->zero};
    *done = true;
    return tn_rewrite_node(graph, context, &(tn_rewrite){.root = node, .op = op, .attr = attr, .in = in, .n_in = 5, .from = from,
                                                         .n_from = n_from}, NULL);
}

// ---- layer normalisation ----

// Gain and bias are constants of the dims that are normalised, and numbers such that integers say all of it.
static bool norm_fits(const tn_node *node, const tn_quantised *x, const tn_quantised *y, const tn_qlayer_norm_attr *attr)
{
    const tn_shape *shape = &node->in[0]->shape;
    const tn_tensor bytes = {.dtype = x->dtype, .shape = *shape};
    const tn_tensor *in[7] = {&bytes, x->scale->constant, NULL, y->scale->constant, NULL, NULL, NULL};
    tn_qnorm q;
    int axis;
    if (!tn_axis(attr->axis, shape->rank, &axis)) {
        return false;
    }
    for (int i = 1; i < node->n_in; i++) {
        const tn_tensor *vector = node->in[i] ? node->in[i]->constant : NULL;
        if (node->in[i] && (!vector || vector->dtype != TN_F32 || vector->shape.rank != shape->rank - axis)) {
            return false;
        }
        for (int d = axis; vector && d < shape->rank; d++) {
            if (vector->shape.dims[d - axis] != shape->dims[d]) {
                return false;
            }
        }
        in[4 + i] = vector;
    }
    return tn_tensor_count(in[5]) > 0 && tn_qnorm_of(attr, in, 7, y->dtype, &q);
}

static tn_status fold_layer_norm(tn_graph *graph, tn_pass_context *context, tn_node *node, const tn_quantised *y, const tn_quant_work *w,
                                 bool *done)
{
    const tn_layer_norm_attr *norm = w->node->attr;
    const tn_qlayer_norm_attr attr = {.axis = norm->axis, .epsilon = norm->epsilon, .q = w->q};
    tn_quantised x;
    if (!tn_dequantised_whole(w->node->in[0], &x) || !norm_fits(w->node, &x, y, &attr)) {
        return TN_OK;
    }
    tn_value *bias = w->node->n_in > 2 ? w->node->in[2] : NULL;
    tn_value *in[7] = {x.x, x.scale, x.zero, y->scale, y->zero, w->node->in[1], bias};
    *done = true;
    return tn_rewrite_node(graph, context, &(tn_rewrite){.root = node, .op = &tn_op_qlinear_layer_norm, .attr = &attr, .in = in,
                                                         .n_in = bias ? 7 : 6, .from = w->from, .n_from = w->n_from}, NULL);
}

// ---- linear resizing ----

// Weights of 11 bits move a result by an eighth of a step of x at most: with one half for rounding within one step of y up to this ratio.
#define COARSEST 4.0F

// The tables of the last two axes; *out stays NULL where two neighbours and a weight do not say what the node reads.
static tn_status resize_constants(tn_graph *graph, tn_pass_context *context, const tn_node *node, int32_t one, tn_value *out[2])
{
    const tn_tensor x = {.dtype = TN_F32, .shape = node->in[0]->shape}, *in[4] = {&x, NULL, NULL, NULL};
    tn_resize_table tables[TN_MAX_RANK];
    for (int i = 1; i < node->n_in; i++) {
        if (node->in[i] && !node->in[i]->constant) {
            return TN_OK;
        }
        in[i] = node->in[i] ? node->in[i]->constant : NULL;
    }
    if (tn_resize_tables(node->attr, in, node->n_in, &node->out[0]->shape, tables) || tables[0].taps != 0 || tables[1].taps != 0 ||
        !tn_qresize_fits(node->attr, &tables[2]) || !tn_qresize_fits(node->attr, &tables[3])) {
        return TN_OK;
    }
    for (int k = 0; k < 2; k++) {
        tn_resize_table *table = &tables[2 + k];
        const tn_shape shape = {2, {table->resized, 3}};
        const size_t entries = (size_t)table->resized * 2, bytes = entries * (sizeof(int64_t) + sizeof(double));
        void *words;
        tn_value *value = tn_graph_room(graph, NULL, TN_I32, &shape, &words);
        int64_t *room = value ? tn_take_zero(context->heap, 1, bytes) : NULL;
        if (!room) {
            return tn_fail_memory(context->diag, node->name, bytes);
        }
        table->index = room;
        table->weight = (double *)(room + entries);
        if (table->taps) {
            tn_resize_fill(node->attr, in, node->n_in, 2 + k, table);
        }
        tn_qresize_words(table, one, words);
        tn_give(context->heap, room);
        out[k] = value;
    }
    return TN_OK;
}

tn_status tn_fold_resize(tn_graph *graph, tn_pass_context *context, tn_node *node, const tn_quantised *y, const tn_quant_work *w, bool *done)
{
    tn_quantised x;
    tn_value *tables[2] = {NULL, NULL};
    if (!tn_dequantised_any(w->node->in[0], &x) || x.count != 1 || x.dtype != y->dtype || !(x.first <= COARSEST * y->first) || w->node->n_in > 4 ||
        w->node->in[0]->shape.rank != 4) {
        return TN_OK;
    }
    for (int d = 0; d < 4; d++) {
        if (!tn_dim_known(w->node->in[0]->shape.dims[d]) || !tn_dim_known(w->node->out[0]->shape.dims[d])) {
            return TN_OK;
        }
    }
    TN_TRY(resize_constants(graph, context, w->node, TN_QRESIZE_ONE_OF(x.dtype), tables));
    if (!tables[0] || !tables[1]) {
        return TN_OK;
    }
    tn_value *in[7] = {x.x, x.scale, x.zero, y->scale, y->zero, tables[0], tables[1]};
    *done = true;
    return tn_rewrite_node(graph, context, &(tn_rewrite){.root = node, .op = &tn_op_qlinear_resize, .attr = &w->q, .in = in, .n_in = 7,
                                                         .from = w->from, .n_from = w->n_from}, NULL);
}

tn_status tn_fold_map(tn_graph *graph, tn_pass_context *context, tn_node *node, bool *done)
{
    static const tn_op *const pairs[][2] = {
        {&tn_op_add, &tn_op_qlinear_add}, {&tn_op_sub, &tn_op_qlinear_sub}, {&tn_op_mul, &tn_op_qlinear_mul}};
    tn_quantised y;
    tn_quant_work w;
    if (!tn_quantises(node, &y)) {
        return TN_OK;
    }
    TN_TRY(fold_table(graph, context, node, &y, done));
    TN_TRY(*done ? TN_OK : fold_concat(graph, context, node, &y, done));
    if (*done || !tn_quant_work_of(context, &y, &w)) {
        return TN_OK;
    }
    const tn_op *op = w.node->op, *pair = tn_quant_whole(pairs, TN_COUNT(pairs), op);
    if (pair) {
        return fold_pair(graph, context, node, &y, pair, w.from, w.n_from, &w.q, done);
    }
    if (op == &tn_op_average_pool) {
        const tn_qpool_attr attr = {.pool = *(const tn_pool_attr *)w.node->attr, .q = w.q};
        return fold_unary(graph, context, node, &y, &tn_op_qlinear_average_pool, w.from, w.n_from, &attr, done);
    }
    if (op == &tn_op_global_average_pool) {
        return fold_unary(graph, context, node, &y, &tn_op_qlinear_global_average_pool, w.from, w.n_from, &w.q, done);
    }
    if (op == &tn_op_reduce_mean) {
        return tn_fold_mean(graph, context, node, &y, &w, done);
    }
    if (op == &tn_op_resize) {
        return tn_fold_resize(graph, context, node, &y, &w, done);
    }
    if (op == &tn_op_layer_norm) {
        return fold_layer_norm(graph, context, node, &y, &w, done);
    }
    if (op == &tn_op_softmax && y.first >= TN_SOFTMAX_LEAST) {
        const tn_qsoftmax_attr attr = {.axis = ((const tn_softmax_attr *)w.node->attr)->axis, .q = w.q};
        return fold_unary(graph, context, node, &y, &tn_op_qlinear_softmax, w.from, w.n_from, &attr, done);
    }
    return TN_OK;
}

// ---- qlinear_concat ----

// Its parts are brought to the result's quantisation, and joined.
static tn_status split_concat(tn_graph *graph, tn_pass_context *context, tn_node *node)
{
    tn_quantised part[TN_MAX_IN];
    tn_value *in[TN_MAX_IN];
    double scale, zero = 0;
    const int parts = (node->n_in - 2) / 3;
    const tn_dtype dtype = node->out[0] ? node->out[0]->dtype : TN_NONE;
    if ((dtype != TN_U8 && dtype != TN_I8) || !tn_scalar(node->in[0], &scale) || (node->in[1] && !tn_scalar(node->in[1], &zero))) {
        return TN_OK;
    }
    const tn_quantised y = {.count = 1, .first = (float)scale, .zero_first = (int32_t)zero, .dtype = dtype};
    for (int i = 0; i < parts; i++) {
        tn_value *const *at = &node->in[2 + 3 * i];
        scale = zero = 0;
        if (!at[0] || at[0]->dtype != dtype || !tn_scalar(at[1], &scale) || (at[2] && !tn_scalar(at[2], &zero))) {
            return TN_OK;
        }
        part[i] = (tn_quantised){.x = at[0], .count = 1, .first = (float)scale, .zero_first = (int32_t)zero, .dtype = dtype};
    }
    for (int i = 0; i < parts; i++) {
        TN_TRY(requantised(graph, context, node, &part[i], &y, &in[i]));
    }
    const tn_concat_attr attr = {.axis = ((const tn_qconcat_attr *)node->attr)->axis};
    return tn_rewrite_node(graph, context, &(tn_rewrite){.root = node, .op = &tn_op_concat, .attr = &attr, .in = in, .n_in = parts}, NULL);
}

// ---- the pass ----

static tn_status run_quant_fold(tn_graph *graph, tn_pass_context *context)
{
    for (tn_node *node = graph->first, *next; node; node = next) {
        bool done = false;
        next = node->next;
        if (node->op == &tn_op_qlinear_concat) {
            TN_TRY(split_concat(graph, context, node));
            continue;
        }
        if (context->floats) {
            continue;
        }
        TN_TRY(tn_fold_wide(graph, context, node, &done));
        TN_TRY(done ? TN_OK : tn_fold_sum(graph, context, node, &done));
        TN_TRY(done ? TN_OK : tn_fold_behind(graph, context, node, &done));
        TN_TRY(done ? TN_OK : tn_fold_map(graph, context, node, &done));
    }
    // What nobody reads as floats any more must not be computed: weights are large.
    for (tn_node *node = graph->last, *prev; node; node = prev) {
        prev = node->prev;
        if (node->op == &tn_op_dequantize_linear) {
            (void)tn_drop_unused(graph, context, node);
        }
    }
    return TN_OK;
}

const tn_pass tn_pass_quant_fold = {"quant_fold", run_quant_fold};
