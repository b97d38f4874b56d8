// SPDX-License-Identifier: Apache-2.0
// Two passes on control operators. inline_if: an If whose condition is constant is replaced by the nodes of the branch it takes.
// sink: constants that a body takes of the outer graph become constants of the body (the same bytes, the same weight identity),
// and what a body takes but does not read is taken no more.
// Ownership: the graph keeps the bodies whose nodes moved. Threads: one per graph.
#include "pass/clean/clean.h"

#include "ops/control/op_control.h"
#include "ops/move/op_reshape.h"
#include "pass/rewrite.h"

// ---- inline_if ----

// One bool whose contents are there.
static bool constant_condition(const tn_value *value, bool *taken)
{
    int64_t count;
    if (!value->constant || value->dtype != TN_BOOL || !tn_shape_count(&value->shape, &count) || count != 1) {
        return false;
    }
    *taken = tn_dtype_load_i64(TN_BOOL, value->constant->data, 0) != 0;
    return true;
}

// The outer graph's value that stands for a value of the branch. map is by the branch's value ids.
static tn_status map_value(tn_graph *graph, tn_pass_context *context, tn_value *inner, tn_value **map, tn_value **out)
{
    if (inner && !map[inner->id]) {
        tn_value *value =
            inner->constant ? tn_graph_alias(graph, inner->name, &inner->shape, inner) : tn_graph_value(graph, inner->name);
        if (!value) {
            return tn_fail_memory(context->diag, inner->name, sizeof *value);
        }
        value->kind = inner->kind;
        value->dtype = inner->dtype;
        map[inner->id] = value;
    }
    *out = inner ? map[inner->id] : NULL;
    return TN_OK;
}

// Moves one node of the branch before the If; its own bodies go along.
static tn_status move_node(tn_graph *graph, tn_pass_context *context, tn_node *before, tn_node *inner, tn_value **map,
                           tn_arena *arena)
{
    tn_value **in = tn_arena_array(arena, (size_t)inner->n_in + 1, sizeof *in);
    tn_value **out = tn_arena_array(arena, (size_t)inner->n_out + 1, sizeof *out);
    if (!in || !out) {
        return tn_fail_memory(context->diag, inner->name, (size_t)inner->n_in * sizeof *in);
    }
    for (int i = 0; i < inner->n_in; i++) {
        TN_TRY(map_value(graph, context, inner->in[i], map, &in[i]));
    }
    for (int i = 0; i < inner->n_out; i++) {
        TN_TRY(map_value(graph, context, inner->out[i], map, &out[i]));
    }
    tn_node *node = tn_graph_node(graph, before, inner->op, inner->name, inner->attr, in, inner->n_in, out, inner->n_out);
    if (!node) {
        return tn_fail_memory(context->diag, inner->name, sizeof *node);
    }
    TN_TRY(tn_node_add_origins(graph, node, inner));
    while (inner->n_bodies > 0) {
        tn_graph *body = inner->bodies[inner->n_bodies - 1];
        TN_TRY(tn_node_add_body(graph, node, body));
        inner->n_bodies--;
    }
    // They were taken from the last to the first.
    for (int i = 0; i < node->n_bodies / 2; i++) {
        tn_graph *body = node->bodies[i];
        node->bodies[i] = node->bodies[node->n_bodies - 1 - i];
        node->bodies[node->n_bodies - 1 - i] = body;
    }
    return TN_OK;
}

// Gives result `old` of the If to the branch's value; through an identity where the name of a model output must stay.
static tn_status give_result(tn_graph *graph, tn_pass_context *context, tn_node *node, tn_value *old, tn_value *value)
{
    if (!tn_can_replace(context, old, value)) {
        tn_value *copy = tn_graph_value(graph, old->name);
        tn_node *identity = copy ? tn_graph_node(graph, node, &tn_op_identity, node->name, NULL, &value, 1, &copy, 1) : NULL;
        if (!identity) {
            return tn_fail_memory(context->diag, node->name, sizeof *identity);
        }
        copy->kind = old->kind;
        value = copy;
    }
    return tn_graph_replace(graph, old, value);
}

// Moves the branch's nodes before the If and removes it. A branch whose inputs are not the captures is left alone: the verifier or
// the walk of facts will speak of it.
static tn_status inline_branch(tn_graph *graph, tn_pass_context *context, tn_node *node, int index, tn_arena *arena)
{
    const tn_graph *body = node->bodies[index];
    if (body->n_inputs != (size_t)(node->n_in - 1) || body->n_outputs < (size_t)node->n_out) {
        return TN_OK;
    }
    tn_value **map = tn_arena_array(arena, body->n_values + 1, sizeof *map);
    if (!map) {
        return tn_fail_memory(context->diag, node->name, body->n_values * sizeof *map);
    }
    for (size_t i = 0; i < body->n_inputs; i++) {
        if (!node->in[i + 1]) {
            return TN_OK;
        }
        map[body->inputs[i]->id] = node->in[i + 1];
    }
    TN_TRY(tn_graph_keep_body(graph, node, index));
    for (tn_node *inner = body->first; inner; inner = inner->next) {
        TN_TRY(move_node(graph, context, node, inner, map, arena));
    }
    for (int i = 0; i < node->n_out; i++) {
        tn_value *value = NULL;
        if (node->out[i]) {
            TN_TRY(map_value(graph, context, body->outputs[i], map, &value));
            TN_TRY(give_result(graph, context, node, node->out[i], value));
        }
    }
    tn_graph_remove(graph, node);
    context->changes++;
    return TN_OK;
}

// Ifs inside the branch come to stand after `next` was read; the next round of the pipeline sees them.
static tn_status run_inline_if(tn_graph *graph, tn_pass_context *context)
{
    tn_arena arena;
    tn_status status = TN_OK;
    tn_arena_init(&arena, context->heap);
    for (tn_node *node = graph->first, *next; node; node = next) {
        next = node->next;
        bool taken;
        if (node->op == &tn_op_if && node->n_bodies == 2 && node->in[0] && constant_condition(node->in[0], &taken)) {
            TN_GO(inline_branch(graph, context, node, taken ? 0 : 1, &arena));
        }
    }
done:
    tn_arena_deinit(&arena);
    return status;
}

const tn_pass tn_pass_inline_if = {"inline_if", run_inline_if};

// ---- sink ----

// The number of a control operator's own operands; captures come after them.
static int own_operands(const tn_node *node)
{
    if (node->op == &tn_op_if) {
        return 1;
    }
    if (node->op == &tn_op_loop) {
        const tn_loop_attr *attr = node->attr;
        return 2 + (int)TN_MIN(attr->n_carried, node->n_in);
    }
    if (node->op == &tn_op_scan) {
        const tn_scan_attr *attr = node->attr;
        return (int)TN_MIN(attr->n_state, node->n_in) + (int)TN_MIN(attr->n_scan, node->n_in);
    }
    return node->n_in;
}

// Replaces the uses of a body's input by a constant of the body.
static tn_status sink_into(tn_graph *body, tn_pass_context *context, tn_value *input, tn_value *outer)
{
    if (input->n_uses == 0 || input->is_output) {
        return TN_OK;
    }
    tn_value *value = tn_graph_alias(body, outer->name, &outer->shape, outer);
    if (!value) {
        return tn_fail_memory(context->diag, outer->name, sizeof *value);
    }
    context->changes++;
    return tn_graph_replace(body, input, value);
}

// One captured operand of a node; *gone: it is captured no more.
static tn_status sink_operand(tn_pass_context *context, tn_node *node, int index, bool *gone)
{
    const size_t at = (size_t)(node->op == &tn_op_if ? index - 1 : index);
    tn_value *outer = node->in[index];
    *gone = true;
    for (int b = 0; b < node->n_bodies; b++) {
        tn_value *input = node->bodies[b]->inputs[at];
        if (outer && outer->constant) {
            TN_TRY(sink_into(node->bodies[b], context, input, outer));
        }
        *gone = *gone && input->n_uses == 0 && !input->is_output;
    }
    if (*gone) {
        for (int b = 0; b < node->n_bodies; b++) {
            tn_graph_drop_input(node->bodies[b], at);
        }
        tn_node_drop_in(node, index);
        context->changes++;
    }
    return TN_OK;
}

static tn_status run_sink(tn_graph *graph, tn_pass_context *context)
{
    for (tn_node *node = graph->first; node; node = node->next) {
        const int own = node->n_bodies > 0 ? own_operands(node) : node->n_in;
        const size_t extra = node->op == &tn_op_if ? 1 : 0;
        bool fits = own >= 0;
        for (int b = 0; b < node->n_bodies; b++) {
            fits = fits && node->bodies[b]->n_inputs + extra == (size_t)node->n_in;
        }
        for (int i = own; fits && i < node->n_in;) {
            bool gone;
            TN_TRY(sink_operand(context, node, i, &gone));
            i += !gone;
        }
    }
    return TN_OK;
}

const tn_pass tn_pass_sink = {"sink", run_sink};
