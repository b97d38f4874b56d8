// SPDX-License-Identifier: Apache-2.0
// A node by itself in a graph, lowered there (plan/place/parts.h).
#include "plan/place/parts.h"

#include "ir/edit.h"
#include "pass/pass.h"

static tn_value *operand(tn_graph *graph, const tn_tensor *tensor)
{
    if (tensor->data) {
        return tn_graph_constant(graph, NULL, tensor->dtype, &tensor->shape, tensor->data, false);
    }
    tn_value *value = tn_graph_value(graph, NULL);
    if (!value || tn_graph_add_input(graph, value) != TN_OK) {
        return NULL;
    }
    value->dtype = tensor->dtype;
    value->shape = tensor->shape;
    return value;
}

static tn_value *result(tn_graph *graph, const tn_tensor *tensor)
{
    tn_value *value = tn_graph_value(graph, NULL);
    if (value) {
        value->dtype = tensor->dtype;
        value->shape = tensor->shape;
    }
    return value;
}

static tn_node *put_node(tn_graph *graph, const tn_query *query)
{
    tn_value *in[TN_MAX_IN], *out[TN_MAX_OUT];
    for (int i = 0; i < query->n_in; i++) {
        in[i] = query->in[i] ? operand(graph, query->in[i]) : NULL;
        if (query->in[i] && !in[i]) {
            return NULL;
        }
    }
    for (int i = 0; i < query->n_out; i++) {
        out[i] = query->out[i] ? result(graph, query->out[i]) : NULL;
        if (query->out[i] && !out[i]) {
            return NULL;
        }
    }
    tn_node *node = tn_graph_node(graph, NULL, query->op, query->name, query->attr, in, query->n_in, out, query->n_out);
    for (int i = 0; node && i < query->n_out; i++) {
        node = out[i] && tn_graph_add_output(graph, out[i]) != TN_OK ? NULL : node;
    }
    return node;
}

tn_status tn_parts_make(tn_graph **out, const tn_query *query, tn_heap *heap, tn_diag *diag)
{
    tn_status status = TN_OK;
    bool done = false;
    *out = NULL;
    if (!query->op->lower || query->n_in > TN_MAX_IN || query->n_out > TN_MAX_OUT) {
        return TN_OK;
    }
    tn_graph *graph = tn_graph_create(heap, query->op->name);
    tn_node *node = graph ? put_node(graph, query) : NULL;
    if (!node) {
        status = tn_fail_memory(diag, query->name, sizeof(tn_graph));
        goto done;
    }
    TN_GO(query->op->lower(graph, node, &done, diag));
    if (done) {
        TN_GO(tn_infer_graph(graph, heap, diag));
        *out = graph;
        graph = NULL;
    }
done:
    tn_graph_destroy(graph);
    return status;
}
