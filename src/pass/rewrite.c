// SPDX-License-Identifier: Apache-2.0
// See rewrite.h. Every change goes through ir/edit.h.
// Ownership: new values and constants belong to the graph. Threads: one per graph.
#include "pass/rewrite.h"

#include "base/num.h"

#include <math.h>
#include <string.h>

// ---- questions ----

tn_node *tn_made_by(const tn_value *value, const tn_op *op)
{
    return value && value->producer && value->producer->op == op && value->out_index == 0 ? value->producer : NULL;
}

bool tn_can_drop(const tn_pass_context *context, const tn_value *value)
{
    if (value->is_output) {
        return false;
    }
    for (size_t i = 0; i < context->n_pinned; i++) {
        if (strcmp(context->pinned[i], value->name) == 0) {
            return false;
        }
    }
    return true;
}

bool tn_used_once(const tn_pass_context *context, const tn_value *value)
{
    return value->n_uses == 1 && tn_can_drop(context, value);
}

bool tn_can_replace(const tn_pass_context *context, const tn_value *old, const tn_value *value)
{
    if (!old->is_output) {
        return tn_can_drop(context, old);
    }
    // `value` takes the old one's name, so it must have none that anybody knows.
    return value->producer && tn_can_drop(context, value);
}

bool tn_dim_surely_same(int64_t a, int64_t b) { return a == b && a != TN_DIM_UNKNOWN; }

bool tn_surely_same(const tn_shape *a, const tn_shape *b)
{
    if (a->rank < 0 || a->rank != b->rank) {
        return false;
    }
    for (int d = 0; d < a->rank; d++) {
        if (!tn_dim_surely_same(a->dims[d], b->dims[d])) {
            return false;
        }
    }
    return true;
}

// ---- constants ----

bool tn_scalar(const tn_value *value, double *out)
{
    int64_t count;
    if (!value || !value->constant || !tn_shape_count(&value->constant->shape, &count) || count != 1 ||
        !(tn_dtype_is_float(value->dtype) || tn_dtype_is_int(value->dtype))) {
        return false;
    }
    *out = tn_dtype_load(value->dtype, value->constant->data, 0);
    return true;
}

bool tn_scalar_is(const tn_value *value, double want)
{
    double v;
    return tn_scalar(value, &v) && fabs(v - want) <= 1e-5 * fabs(want);
}

bool tn_floats(const tn_value *value, int64_t *count)
{
    return value && value->constant && value->dtype == TN_F32 && tn_shape_count(&value->constant->shape, count) && *count > 0;
}

float tn_float(const tn_value *value, int64_t i)
{
    int64_t count = 0;
    const bool single = tn_shape_count(&value->constant->shape, &count) && count == 1;
    return tn_load_f32(value->constant->data, single ? 0 : (size_t)i);
}

bool tn_int_list(const tn_value *value, int max, int64_t *v, int *count)
{
    int64_t n;
    if (!value || !value->constant || !tn_dtype_is_int(value->dtype) || value->constant->shape.rank > 1 ||
        !tn_shape_count(&value->constant->shape, &n) || n > max) {
        return false;
    }
    for (int64_t i = 0; i < n; i++) {
        v[i] = tn_dtype_load_i64(value->dtype, value->constant->data, (size_t)i);
    }
    *count = (int)n;
    return true;
}

bool tn_per_axis(const tn_value *value, int rank, int axis, int64_t dim)
{
    int64_t count;
    if (!tn_floats(value, &count) || value->shape.rank > rank) {
        return false;
    }
    if (count == 1) {
        return true;
    }
    // Where the axis is in the constant, whose dims are aligned to the last ones (numpy broadcasting).
    const int at = axis - (rank - value->shape.rank);
    return tn_dim_known(dim) && count == dim && at >= 0 && value->shape.dims[at] == dim;
}

tn_value *tn_new_floats(tn_graph *graph, const tn_shape *shape, const float *data)
{
    return tn_graph_constant(graph, NULL, TN_F32, shape, data, true);
}

tn_value *tn_new_ints(tn_graph *graph, int count, const int64_t *v)
{
    const int64_t dims[1] = {count};
    const tn_shape shape = tn_shape_of(1, dims);
    return tn_graph_constant(graph, NULL, TN_I64, &shape, v, true);
}

tn_value *tn_new_room(tn_graph *graph, const tn_shape *shape, float **data)
{
    void *bytes;
    tn_value *value = tn_graph_room(graph, NULL, TN_F32, shape, &bytes);
    *data = bytes;
    return value;
}

tn_ints tn_new_attr_ints(tn_graph *graph, int count, const int64_t *v)
{
    const int64_t *copy = tn_arena_copy(&graph->arena, v, (size_t)count * sizeof *v);
    return (tn_ints){.v = copy, .count = copy ? count : 0, .set = copy != NULL};
}

// ---- the step ----

// A value of the same name and type, to be made by another node. The name is that of the model's value: it means the same.
static tn_value *value_like(tn_graph *graph, const tn_value *like)
{
    tn_value *value = tn_graph_value(graph, like->name);
    if (value) {
        value->kind = like->kind;
        value->dtype = like->dtype;
        value->shape = like->shape;
    }
    return value;
}

bool tn_drop_unused(tn_graph *graph, const tn_pass_context *context, tn_node *node)
{
    for (int i = 0; i < node->n_out; i++) {
        if (node->out[i] && (node->out[i]->n_uses > 0 || !tn_can_drop(context, node->out[i]))) {
            return false;
        }
    }
    tn_graph_remove(graph, node);
    return true;
}

// A node may have to wait for a later one of the list that reads it too.
static void drop_all(tn_graph *graph, const tn_pass_context *context, tn_node *const *nodes, int count)
{
    uint64_t gone = 0;
    bool again = true;
    while (again) {
        again = false;
        for (int i = 0; i < count; i++) {
            if (!(gone >> i & 1) && tn_drop_unused(graph, context, nodes[i])) {
                gone |= UINT64_C(1) << i;
                again = true;
            }
        }
    }
}

tn_status tn_rewrite_node(tn_graph *graph, tn_pass_context *context, const tn_rewrite *rewrite, tn_node **made)
{
    tn_node *root = rewrite->root;
    tn_value *old = root->out[0];
    tn_value *value = value_like(graph, old);
    const char *name = rewrite->n_from > 0 ? rewrite->from[rewrite->n_from - 1]->name : root->name;
    tn_node *node =
        value ? tn_graph_node(graph, root, rewrite->op, name, rewrite->attr, rewrite->in, rewrite->n_in, &value, 1) : NULL;
    if (!node) {
        return tn_fail_memory(context->diag, root->name, sizeof *node);
    }
    if (rewrite->shape) {
        value->shape = *rewrite->shape;
    }
    // In the order of the model: the origins of what ran first come first.
    for (int i = rewrite->n_from - 1; i >= 0; i--) {
        TN_TRY(tn_node_add_origins(graph, node, rewrite->from[i]));
    }
    TN_TRY(tn_node_add_origins(graph, node, root));
    TN_TRY(tn_graph_replace(graph, old, value));
    tn_graph_remove(graph, root);
    drop_all(graph, context, rewrite->from, rewrite->n_from);
    context->changes++;
    if (made) {
        *made = node;
    }
    return TN_OK;
}

tn_status tn_insert_node(tn_graph *graph, tn_pass_context *context, tn_node *before, const tn_node *from, const tn_op *op,
                         const void *attr, tn_value *const *in, int n_in, tn_dtype dtype, const tn_shape *shape, tn_value **out)
{
    tn_value *value = tn_graph_value(graph, NULL);   // `in` may be `out`
    tn_node *node = value ? tn_graph_node(graph, before, op, from->name, attr, in, n_in, &value, 1) : NULL;
    if (!node) {
        return tn_fail_memory(context->diag, from->name, sizeof *node);
    }
    value->dtype = dtype;
    value->shape = *shape;
    *out = value;
    return tn_node_add_origins(graph, node, from);
}

tn_status tn_bypass(tn_graph *graph, tn_pass_context *context, tn_node *node, tn_value *value)
{
    TN_TRY(tn_graph_replace(graph, node->out[0], value));
    tn_drop_unused(graph, context, node);
    context->changes++;
    return TN_OK;
}
