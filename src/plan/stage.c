// SPDX-License-Identifier: Apache-2.0
// Stages: where a shape depends on data the plan ends. What can be planned stays in the work graph; the rest becomes a graph of its
// own whose inputs are the border: it is planned in the run, when the border's shapes are known.
#include "plan/work.h"

static bool known(tn_work *work, const tn_value *value)
{
    const tn_fact *fact = tn_work_fact(work, value);
    return fact && (fact->kind != TN_KIND_TENSOR || (tn_shape_known(&fact->shape) && fact->dtype != TN_NONE));
}

// A node can run in this plan when all its operands have known shapes; its results may then be unknown only where the operator
// itself makes them so.
static bool plannable(tn_work *work, const tn_node *node)
{
    for (int i = 0; i < node->n_in; i++) {
        const tn_value *in = node->in[i];
        if (in && (!known(work, in) || (in->producer && !work->planned[in->producer->id]))) {
            return false;
        }
    }
    if (node->op->flags & (TN_OP_DYNAMIC | TN_OP_CONTROL)) {
        return true;
    }
    for (int i = 0; i < node->n_out; i++) {
        if (node->out[i] && !known(work, node->out[i])) {
            return false;
        }
    }
    return true;
}

static bool crosses(const tn_work *work, const tn_value *value)
{
    for (size_t u = 0; u < value->n_uses; u++) {
        if (!work->planned[value->uses[u].node->id]) {
            return true;
        }
    }
    return value->is_output;
}

static void remove_nodes(tn_graph *graph, const bool *planned, bool which)
{
    for (tn_node *node = graph->last, *prev; node; node = prev) {
        prev = node->prev;
        if (planned[node->id] == which) {
            tn_graph_remove(graph, node);
        }
    }
}

// The rest's bodies are copies that read constants which passes made in the originals: those stay where they are.
static tn_status keep_bodies(tn_work *work)
{
    for (tn_node *node = work->graph->first; node; node = node->next) {
        while (!work->planned[node->id] && node->n_bodies > 0) {
            if (tn_graph_keep_body(work->graph, node, node->n_bodies - 1) != TN_OK) {
                return tn_fail_memory(work->diag, node->name, sizeof *node->bodies);
            }
        }
    }
    return TN_OK;
}

static tn_status border_input(tn_work *work, tn_graph *rest, tn_value *copy, const tn_fact *fact)
{
    tn_value *input = tn_graph_value(rest, NULL);
    if (!input) {
        return tn_fail_memory(work->diag, copy->name, sizeof *input);
    }
    input->kind = fact->kind;
    input->inner = fact->inner;
    input->dtype = fact->dtype;
    input->shape = fact->shape;
    TN_TRY(tn_graph_add_input(rest, input));
    // A result of the model that this plan makes: the rest hands its input through. (An input cannot take a result's name.)
    const bool is_output = copy->is_output;
    copy->is_output = false;
    TN_TRY(tn_graph_replace(rest, copy, input));
    for (size_t i = 0; i < rest->n_outputs && is_output; i++) {
        if (rest->outputs[i] == copy) {
            rest->outputs[i] = input;
            input->is_output = true;
        }
    }
    return TN_OK;
}

static tn_status split(tn_work *work)
{
    tn_graph *graph = work->graph;
    const size_t n_values = graph->n_values;
    tn_value **map = tn_arena_array(&work->scratch, n_values + 1, sizeof *map);
    tn_graph *rest = map ? tn_graph_clone(graph, work->context->heap, map) : NULL;
    if (!rest) {
        return tn_fail_memory(work->diag, "plan", n_values * sizeof *map);
    }
    work->plan->rest = rest;
    bool *planned = tn_arena_array(&work->scratch, rest->next_node + 1, sizeof *planned);
    tn_value **border = tn_arena_array(&work->scratch, n_values + 1, sizeof *border);
    if (!planned || !border) {
        return tn_fail_memory(work->diag, "plan", n_values * sizeof *border);
    }
    const tn_node *copy = rest->first;
    for (const tn_node *node = graph->first; node; node = node->next, copy = copy->next) {
        planned[copy->id] = work->planned[node->id];
    }
    size_t n_border = 0;
    for (const tn_node *node = graph->first; node; node = node->next) {
        for (int i = 0; i < node->n_out; i++) {
            tn_value *value = node->out[i];
            if (value && work->planned[node->id] && crosses(work, value)) {
                TN_TRY(border_input(work, rest, map[value->id], tn_work_fact(work, value)));
                border[n_border++] = value;
            }
        }
    }
    remove_nodes(rest, planned, true);
    // The plan's own results are the border; the model's come from the rest.
    for (size_t i = 0; i < graph->n_outputs; i++) {
        graph->outputs[i]->is_output = false;
    }
    graph->n_outputs = 0;
    TN_TRY(keep_bodies(work));
    remove_nodes(graph, work->planned, false);
    for (size_t i = 0; i < n_border; i++) {
        TN_TRY(tn_graph_add_output(graph, border[i]));
    }
    return TN_OK;
}

tn_status tn_plan_stage(tn_work *work)
{
    size_t done = 0;
    const tn_node *first = NULL;
    work->planned = tn_arena_array(&work->scratch, work->graph->next_node + 1, sizeof *work->planned);
    if (!work->planned) {
        return tn_fail_memory(work->diag, "plan", work->graph->next_node);
    }
    for (const tn_node *node = work->graph->first; node; node = node->next) {
        work->planned[node->id] = plannable(work, node);
        done += work->planned[node->id];
        first = !first && !work->planned[node->id] ? node : first;
    }
    if (!first) {
        return TN_OK;
    }
    if (done == 0) {
        return tn_fail(work->diag, TN_UNSUPPORTED, first->name,
                       "%s: the shape of a result cannot be determined from its operands, whose contents are too many or not known",
                       first->op->name);
    }
    return split(work);
}
