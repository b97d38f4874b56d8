// SPDX-License-Identifier: Apache-2.0
// Planning steps 1 and 2: with concrete input shapes everything that shapes depend on is computed now, branches whose condition is
// known are taken, and what no wanted result needs is dropped.
#include "pass/pass.h"
#include "plan/work.h"

#include <string.h>

tn_fact *tn_work_fact(tn_work *work, const tn_value *value)
{
    if (value->id >= work->n_facts) {
        const size_t room = value->id + value->id / 2 + 64;
        tn_fact *facts = tn_arena_array(&work->scratch, room, sizeof *facts);
        if (!facts) {
            return NULL;
        }
        if (work->n_facts) {
            memcpy(facts, work->facts, work->n_facts * sizeof *facts);
        }
        work->facts = facts;
        work->n_facts = room;
    }
    return &work->facts[value->id];
}

static tn_status infer(tn_work *work)
{
    const size_t room = work->graph->n_values + work->graph->n_values / 2 + 64;
    work->facts = tn_arena_array(&work->scratch, room, sizeof *work->facts);
    work->n_facts = work->facts ? room : 0;
    if (!work->facts) {
        return tn_fail_memory(work->diag, "plan", room * sizeof *work->facts);
    }
    return tn_infer_facts(work->graph, work->request->inputs, NULL, work->facts, &work->scratch, work->context->heap, work->diag);
}

// Turns a value whose contents are known into a constant. Control operators also get constants for known inputs, so that a
// branch on one can be taken now.
static tn_status make_constant(tn_work *work, tn_value *value)
{
    const tn_tensor *known = work->facts[value->id].value;
    size_t bytes;
    if (!tn_tensor_bytes(known, &bytes)) {
        return TN_OK;
    }
    tn_value *constant = tn_graph_constant(work->graph, NULL, known->dtype, &known->shape, known->data, true);
    if (!constant) {
        return tn_fail_memory(work->diag, value->name, bytes);
    }
    constant->weight = 0;     // it dies with the plan
    if (!value->is_input) {
        return tn_graph_replace(work->graph, value, constant);
    }
    for (size_t i = value->n_uses; i-- > 0;) {
        const tn_use use = value->uses[i];
        if (use.node->op->flags & TN_OP_CONTROL) {
            TN_TRY(tn_node_set_in(work->graph, use.node, use.index, constant));
        }
    }
    return TN_OK;
}

static tn_status fold_known(tn_work *work, bool *changed)
{
    const size_t n_values = work->graph->n_values;
    for (size_t i = 0; i < n_values; i++) {
        tn_value *value = work->graph->values[i];
        if (!value || value->constant || !work->facts[i].value || !(value->n_uses || value->is_output)) {
            continue;
        }
        if (value->producer && value->producer->op->flags & TN_OP_RANDOM) {
            continue;
        }
        bool wanted = value->producer != NULL;
        for (size_t u = 0; u < value->n_uses && !wanted; u++) {
            wanted = (value->uses[u].node->op->flags & TN_OP_CONTROL) != 0;
        }
        if (wanted && (value->producer || value->is_input)) {
            TN_TRY(make_constant(work, value));
            *changed = true;
        }
    }
    return TN_OK;
}

static tn_status run_pass(tn_work *work, const char *name, unsigned *changes)
{
    tn_pass_context context = {.heap = work->context->heap, .diag = work->diag, .limit_tensor_bytes = work->context->limit_tensor};
    const tn_pass *pass = tn_pass_find(name);
    if (!pass) {
        return tn_fail(work->diag, TN_INTERNAL, name, "there is no such pass");
    }
    TN_TRY(pass->run(work->graph, &context));
    *changes = context.changes;
    return TN_OK;
}

static bool has_control(const tn_graph *graph)
{
    for (const tn_node *node = graph->first; node; node = node->next) {
        if (node->op->flags & TN_OP_CONTROL) {
            return true;
        }
    }
    return false;
}

// A result that is an input, a constant, or named twice gets a copy of its own, so that every result has its own memory.
static tn_status separate_outputs(tn_work *work)
{
    tn_graph *graph = work->graph;
    bool *seen = tn_arena_array(&work->scratch, graph->n_values + 1, sizeof *seen);     // by value id
    if (!seen) {
        return tn_fail_memory(work->diag, "plan", graph->n_values);
    }
    for (size_t i = 0; i < graph->n_outputs; i++) {
        tn_value *value = graph->outputs[i];
        if (!value->is_input && value->producer && !seen[value->id]) {
            seen[value->id] = true;
            continue;
        }
        const tn_op *identity = tn_registry_op("identity");
        tn_value *copy = tn_graph_value(graph, NULL);
        tn_node *node = copy && identity ? tn_graph_node(graph, NULL, identity, value->name, NULL, &value, 1, &copy, 1) : NULL;
        tn_fact *fact = node ? tn_work_fact(work, copy) : NULL;
        if (!fact) {
            return tn_fail_memory(work->diag, value->name, sizeof *node);
        }
        *fact = *tn_work_fact(work, value);
        fact->value = NULL;
        copy->dtype = fact->dtype;
        copy->shape = fact->shape;
        graph->outputs[i] = copy;
        copy->is_output = true;
    }
    for (size_t v = 0; v < graph->n_values; v++) {
        if (graph->values[v]) {
            graph->values[v]->is_output = false;
        }
    }
    for (size_t i = 0; i < graph->n_outputs; i++) {
        graph->outputs[i]->is_output = true;
    }
    return TN_OK;
}

// What facts say is written into the values, where later steps and reports read it.
static void write_back(tn_work *work)
{
    for (size_t i = 0; i < work->graph->n_values; i++) {
        tn_value *value = work->graph->values[i];
        if (value && !value->constant) {
            value->kind = work->facts[i].kind;
            value->inner = work->facts[i].inner;
            value->dtype = work->facts[i].dtype;
            value->shape = work->facts[i].shape;
        }
    }
}

tn_status tn_plan_shapes(tn_work *work)
{
    unsigned changes = 0;
    TN_TRY(run_pass(work, "dead", &changes));
    TN_TRY(infer(work));
    for (int round = 0; round < 64; round++) {
        bool changed = false;
        TN_TRY(fold_known(work, &changed));
        changes = 0;
        if (has_control(work->graph)) {
            TN_TRY(run_pass(work, "inline_if", &changes));
        }
        unsigned dropped = 0;
        if (changed || changes) {
            TN_TRY(run_pass(work, "dead", &dropped));
            TN_TRY(infer(work));
        }
        if (!changes) {
            break;
        }
    }
    write_back(work);
    tn_pass_context passes = {.heap = work->context->heap, .diag = work->diag, .limit_tensor_bytes = work->context->limit_tensor};
    if (!work->context->as_written) {
        TN_TRY(tn_optimise_shaped(work->graph, &passes));
    }
    if (passes.changes) {
        TN_TRY(infer(work));
    }
    TN_TRY(separate_outputs(work));
    write_back(work);
    return TN_OK;
}

tn_status tn_plan_value_inputs(const tn_graph *graph, bool *by_value, tn_heap *heap, tn_diag *diag)
{
    bool *needed = tn_take_zero(heap, graph->n_values ? graph->n_values : 1, sizeof *needed);
    if (!needed) {
        return tn_fail_memory(diag, "plan", graph->n_values);
    }
    for (const tn_node *node = graph->last; node; node = node->prev) {
        bool result = false;
        for (int i = 0; i < node->n_out; i++) {
            result = result || (node->out[i] && needed[node->out[i]->id]);
        }
        for (int i = 0; i < node->n_in; i++) {
            // Of a control operator a count or a condition decides. Floating data that its bodies read does not: a body is planned by a key
            // of its own, and a plan for each new reading of a sensor would be made in vain.
            const bool control = node->op->flags & TN_OP_CONTROL && node->in[i] && !tn_dtype_is_float(node->in[i]->dtype);
            const bool decides = control || (i < 32 && node->op->shape_operands >> i & 1);
            if (node->in[i] && (decides || (result && !(node->op->flags & TN_OP_SHAPE_ONLY)))) {
                needed[node->in[i]->id] = true;
            }
        }
    }
    for (size_t i = 0; i < graph->n_inputs; i++) {
        const tn_dtype dtype = graph->inputs[i]->dtype;
        by_value[i] = needed[graph->inputs[i]->id] && (tn_dtype_is_int(dtype) || dtype == TN_BOOL || tn_dtype_is_float(dtype));
    }
    tn_give(heap, needed);
    return TN_OK;
}
