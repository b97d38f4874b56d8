// SPDX-License-Identifier: Apache-2.0
// Functions of one quantised value (quant.h): what lies between a dequantise and a quantise and reads, besides, only single constants, perhaps
// dequantised ones, or one constant for each channel. Its values for all integers, or for some of them, are computed by the reference kernels.
// Ownership: views borrow from the graph. Threads: one per graph.
#include "pass/quant/quant.h"

#include "ops/op_eval.h"

#include <string.h>

static int index_of(const tn_quant_function *f, const tn_value *value)
{
    for (int i = 0; i < f->n_nodes; i++) {
        if (f->node[i]->out[0] == value) {
            return i;
        }
    }
    return -1;
}

// One number for each index of axis 1, which is before the last `after` dims; false: it is none.
static bool is_channels(const tn_value *value, int64_t *channels, int *after)
{
    int64_t count;
    if (!tn_floats(value, &count) || count < 2) {
        return false;
    }
    const tn_shape *shape = &value->constant->shape;
    for (int i = 0; i < shape->rank; i++) {
        if (shape->dims[i] == count) {
            *channels = count;
            *after = shape->rank - 1 - i;
            return true;
        }
    }
    return false;
}

static bool add_node(tn_quant_function *f, tn_node *node)
{
    if (f->n_nodes == TN_QUANT_NODES) {
        return false;
    }
    f->node[f->n_nodes++] = node;
    return true;
}

// Collects what makes `value`; false: it is no function of one quantised tensor.
static bool collect(tn_quant_function *f, const tn_value *value, int depth)
{
    tn_quantised q;
    double constant;
    int64_t channels;
    int after;
    if (tn_dequantised_any(value, &q) && tn_scalar(q.x, &constant)) {
        return index_of(f, value) >= 0 || add_node(f, value->producer);
    }
    if (tn_dequantised_any(value, &q) && q.count == 1) {
        const bool first = f->x.x == NULL;
        if (first) {
            f->x = q;
        }
        return first || (f->x.x == q.x && tn_same_quantisation(&f->x, &q));
    }
    if (!value || index_of(f, value) >= 0 || tn_scalar(value, &constant)) {
        return true;
    }
    if (is_channels(value, &channels, &after)) {
        const bool first = f->channels == 1;
        if (first) {
            f->channels = channels;
            f->after = after;
        }
        return first || (f->channels == channels && f->after == after);
    }
    tn_node *node = value->producer;
    if (!node || depth > TN_QUANT_NODES || !(node->op->flags & TN_OP_ELEMENTWISE) || (node->op->flags & TN_OP_RANDOM) || node->n_out != 1 ||
        !tn_is_f32(value) || node->n_in > 4) {
        return false;
    }
    for (int i = 0; i < node->n_in; i++) {
        if (!collect(f, node->in[i], depth + 1)) {
            return false;
        }
    }
    return index_of(f, value) >= 0 || add_node(f, node);
}

bool tn_function_of(tn_quant_function *f, const tn_value *value)
{
    *f = (tn_quant_function){.channels = 1};
    if (!collect(f, value, 0) || !f->x.x || f->x.x->constant || !tn_surely_same(&f->x.x->shape, &value->shape)) {
        return false;
    }
    const tn_shape *x = &f->x.x->shape;
    return f->channels == 1 || (x->rank >= 2 && f->after == x->rank - 2 && x->dims[1] == f->channels);
}

tn_status tn_function_values(const tn_quant_function *f, int64_t entries, int32_t first, int32_t step, float *values,
                             tn_pass_context *context, bool *done)
{
    tn_tensor result[TN_QUANT_NODES + 1], constant[4];
    tn_arena arena;
    tn_status status = TN_OK;
    const size_t bytes = (size_t)f->channels * (size_t)entries * sizeof *values;
    tn_arena_init(&arena, context->heap);
    result[TN_QUANT_NODES] = (tn_tensor){.dtype = TN_F32, .shape = {2, {f->channels, entries}}, .data = values};
    for (int64_t i = 0; i < f->channels * entries; i++) {
        values[i] = (float)(first + (int32_t)(i % entries) * step - f->x.zero_first) * f->x.first;
    }
    const tn_tensor *last = &result[TN_QUANT_NODES];
    for (int n = 0; n < f->n_nodes && status == TN_OK; n++) {
        const tn_node *node = f->node[n];
        const tn_tensor *in[4] = {NULL};
        for (int i = 0; i < node->n_in; i++) {
            const int at = node->in[i] ? index_of(f, node->in[i]) : -1;
            in[i] = !node->in[i] ? NULL : at >= 0 ? &result[at] : node->in[i]->constant ? node->in[i]->constant : &result[TN_QUANT_NODES];
            if (in[i] && in[i] == node->in[i]->constant && tn_tensor_count(in[i]) > 1) {
                constant[i] = *in[i];
                constant[i].shape = (tn_shape){2, {f->channels, 1}};
                in[i] = &constant[i];
            }
        }
        status = tn_op_eval(node->op, node->attr, node->name, in, node->n_in, &result[n], 1, 2 * bytes + 65536, &arena, context->heap, NULL);
        last = &result[n];
    }
    *done = status == TN_OK && last->dtype == TN_F32 && tn_tensor_count(last) == f->channels * entries;
    if (*done && last->data != values) {
        memcpy(values, last->data, bytes);
    }
    tn_arena_deinit(&arena);
    return status == TN_OUT_OF_MEMORY ? tn_fail_memory(context->diag, "table", bytes) : TN_OK;
}
