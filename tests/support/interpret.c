// SPDX-License-Identifier: Apache-2.0
// See interpret.h.
// Ownership: all in the caller's arena. Threads: any, one arena each.
#include "support/interpret.h"

#include "ops/control/op_control.h"
#include "ops/op_eval.h"

#define MAX_BYTES ((size_t)1 << 32)

static tn_status run_graph(const tn_graph *graph, const tn_tensor *const *inputs, tn_tensor *outputs, tn_arena *arena,
                           tn_heap *heap, tn_diag *diag);

static tn_status run_if(const tn_node *node, const tn_tensor *const *in, tn_tensor *out, tn_arena *arena, tn_heap *heap,
                        tn_diag *diag)
{
    const bool taken = tn_dtype_load_i64(TN_BOOL, in[0]->data, 0) != 0;
    const tn_graph *body = node->bodies[taken ? 0 : 1];
    tn_tensor *results = tn_arena_array(arena, body->n_outputs + 1, sizeof *results);
    if (!results) {
        return tn_fail_memory(diag, node->name, 0);
    }
    TN_TRY(run_graph(body, in + 1, results, arena, heap, diag));
    for (int i = 0; i < node->n_out; i++) {
        out[i] = results[i];
    }
    return TN_OK;
}

static tn_status run_node(const tn_node *node, const tn_tensor **values, tn_arena *arena, tn_heap *heap, tn_diag *diag)
{
    const tn_tensor **in = tn_arena_array(arena, (size_t)node->n_in + 1, sizeof *in);
    tn_tensor *out = tn_arena_array(arena, (size_t)node->n_out + 1, sizeof *out);
    if (!in || !out) {
        return tn_fail_memory(diag, node->name, 0);
    }
    for (int i = 0; i < node->n_in; i++) {
        in[i] = node->in[i] ? values[node->in[i]->id] : NULL;
    }
    if (node->op == &tn_op_if) {
        TN_TRY(run_if(node, in, out, arena, heap, diag));
    } else {
        TN_TRY(tn_op_eval(node->op, node->attr, node->name, in, node->n_in, out, node->n_out, MAX_BYTES, arena, heap, diag));
    }
    for (int i = 0; i < node->n_out; i++) {
        if (node->out[i]) {
            values[node->out[i]->id] = &out[i];
        }
    }
    return TN_OK;
}

static tn_status run_graph(const tn_graph *graph, const tn_tensor *const *inputs, tn_tensor *outputs, tn_arena *arena,
                           tn_heap *heap, tn_diag *diag)
{
    const tn_tensor **values = tn_arena_array(arena, graph->n_values + 1, sizeof *values);
    if (!values) {
        return tn_fail_memory(diag, graph->name, 0);
    }
    for (size_t i = 0; i < graph->n_values; i++) {
        values[i] = graph->values[i]->constant;
    }
    for (size_t i = 0; i < graph->n_inputs; i++) {
        values[graph->inputs[i]->id] = inputs[i];
    }
    for (const tn_node *node = graph->first; node; node = node->next) {
        TN_TRY(run_node(node, values, arena, heap, diag));
    }
    for (size_t i = 0; i < graph->n_outputs; i++) {
        outputs[i] = *values[graph->outputs[i]->id];
    }
    return TN_OK;
}

tn_status tn_interpret(const tn_graph *graph, const tn_tensor *inputs, tn_tensor *outputs, tn_arena *arena, tn_heap *heap,
                       tn_diag *diag)
{
    const tn_tensor **list = tn_arena_array(arena, graph->n_inputs + 1, sizeof *list);
    if (!list) {
        return tn_fail_memory(diag, graph->name, 0);
    }
    for (size_t i = 0; i < graph->n_inputs; i++) {
        list[i] = &inputs[i];
    }
    return run_graph(graph, list, outputs, arena, heap, diag);
}
