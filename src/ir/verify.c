// SPDX-License-Identifier: Apache-2.0
// The invariants of ir/graph.h, checked one by one. Run after every pass in debug builds and by tests; a broken one is a bug of
// ours, never the model's, hence TN_INTERNAL.
// Ownership: only reads; its scratch is given back. Threads: many readers.
#include "ir/edit.h"

#include <string.h>

typedef struct node_facts {
    size_t place;            // 1 + place in the order; 0: not in the graph
    size_t first_slot;       // of its operands, when all operands of the graph are counted through in order
} node_facts;

typedef struct verify {
    const tn_graph *graph;
    node_facts *nodes;       // by node id
    bool *used;              // by operand slot: a value lists this use
    size_t n_slots;
    tn_diag *diag;
} verify;

#define CHECK(condition, place, ...)                                  \
    do {                                                              \
        if (!(condition)) {                                           \
            return tn_fail(v->diag, TN_INTERNAL, place, __VA_ARGS__); \
        }                                                             \
    } while (0)

static bool owns(const tn_graph *graph, const tn_value *value)
{
    return value->id < graph->n_values && graph->values[value->id] == value;
}

static tn_status check_constant(const verify *v, const tn_value *value)
{
    const tn_tensor *constant = value->constant;
    size_t bytes;
    CHECK(!value->producer, value->name, "a constant has a producer");
    CHECK(constant->layout == TN_LAYOUT_PLAIN, value->name, "a constant is not plain");
    CHECK(constant->dtype == value->dtype && tn_shape_equal(&constant->shape, &value->shape), value->name,
          "a constant's type differs from its value's");
    CHECK(tn_tensor_bytes(constant, &bytes), value->name, "a constant has no size");
    CHECK(constant->data || bytes == 0, value->name, "a constant has no data");
    return TN_OK;
}

static tn_status check_value(const verify *v, size_t id)
{
    const tn_value *value = v->graph->values[id];
    CHECK(value && value->name, "", "value %zu is missing or has no name", id);
    CHECK(value->id == id, value->name, "value %zu says its id is %u", id, value->id);
    CHECK(value->shape.rank >= -1 && value->shape.rank <= TN_MAX_RANK, value->name, "rank %d", value->shape.rank);
    if (value->constant) {
        TN_TRY(check_constant(v, value));
    }
    if (value->producer) {
        const tn_node *node = value->producer;
        CHECK(!value->is_input, value->name, "a graph input has a producer");
        CHECK(node->id < v->graph->next_node && v->nodes[node->id].place, value->name, "its producer is not in the graph");
        CHECK(value->out_index >= 0 && value->out_index < node->n_out && node->out[value->out_index] == value, value->name,
              "its producer %s does not produce it", node->name);
    }
    for (size_t i = 0; i < value->n_uses; i++) {
        const tn_use *use = &value->uses[i];
        CHECK(use->node->id < v->graph->next_node && v->nodes[use->node->id].place, value->name, "a user is not in the graph");
        CHECK(use->index >= 0 && use->index < use->node->n_in && use->node->in[use->index] == value, value->name,
              "%s does not use it as operand %d", use->node->name, use->index);
        bool *used = &v->used[v->nodes[use->node->id].first_slot + (size_t)use->index];
        CHECK(!*used, value->name, "a use is listed twice");
        *used = true;
    }
    return TN_OK;
}

static tn_status check_operands(const verify *v, const tn_node *node)
{
    for (int i = 0; i < node->n_in; i++) {
        const tn_value *value = node->in[i];
        if (!value) {
            continue;
        }
        CHECK(owns(v->graph, value), node->name, "operand %d is a value of another graph", i);
        CHECK(v->used[v->nodes[node->id].first_slot + (size_t)i], node->name, "operand %d (%s) does not list this use", i, value->name);
        CHECK(value->producer || value->is_input || value->constant, node->name, "operand %d (%s) comes from nowhere", i,
              value->name);
        CHECK(!value->producer || v->nodes[value->producer->id].place < v->nodes[node->id].place, node->name,
              "operand %d (%s) is made later", i, value->name);
    }
    return TN_OK;
}

static tn_status check_node(const verify *v, const tn_node *node)
{
    const tn_op *op = node->op;
    CHECK(op && node->name, node->name ? node->name : "", "no operator or no name");
    CHECK(node->n_in >= op->min_in && (op->max_in < 0 || node->n_in <= op->max_in), node->name, "%s has %d operands", op->name,
          node->n_in);
    CHECK(node->n_out >= op->min_out && (op->max_out < 0 || node->n_out <= op->max_out), node->name, "%s has %d results", op->name,
          node->n_out);
    CHECK(!op->attr_size == !node->attr, node->name, "%s: attributes missing or not wanted", op->name);
    CHECK(node->n_origins >= 1, node->name, "no origin");
    TN_TRY(check_operands(v, node));
    for (int i = 0; i < node->n_out; i++) {
        const tn_value *value = node->out[i];
        CHECK(!value || (owns(v->graph, value) && value->producer == node && value->out_index == i), node->name,
              "result %d does not name this node as its producer", i);
    }
    CHECK(!node->n_bodies || op->flags & TN_OP_CONTROL, node->name, "%s has bodies", op->name);
    for (int i = 0; i < node->n_bodies; i++) {
        TN_TRY(tn_graph_verify(node->bodies[i], v->diag));
    }
    return TN_OK;
}

// The list's values carry the flag, and no other value does.
static tn_status check_borders(const verify *v)
{
    const tn_graph *graph = v->graph;
    for (size_t i = 0; i < graph->n_inputs; i++) {
        CHECK(owns(graph, graph->inputs[i]) && graph->inputs[i]->is_input, graph->inputs[i]->name, "input %zu is not marked", i);
    }
    for (size_t i = 0; i < graph->n_outputs; i++) {
        const tn_value *value = graph->outputs[i];
        CHECK(owns(graph, value) && value->is_output, value->name, "output %zu is not marked", i);
        CHECK(value->producer || value->is_input || value->constant, value->name, "output %zu comes from nowhere", i);
    }
    size_t marked = 0;
    for (size_t i = 0; i < graph->n_values; i++) {
        marked += graph->values[i]->is_input;
    }
    CHECK(marked == graph->n_inputs, graph->name, "%zu values are marked as inputs, %zu are listed", marked, graph->n_inputs);
    return TN_OK;
}

static tn_status check_order(verify *v)
{
    size_t place = 0;
    const tn_node *prev = NULL;
    for (const tn_node *node = v->graph->first; node; node = node->next) {
        CHECK(node->prev == prev, node->name, "the order's links disagree");
        CHECK(node->id < v->graph->next_node && !v->nodes[node->id].place, node->name, "id %u is not its own", node->id);
        v->nodes[node->id] = (node_facts){++place, v->n_slots};
        v->n_slots += (size_t)node->n_in;
        prev = node;
    }
    CHECK(v->graph->last == prev && place == v->graph->n_nodes, v->graph->name, "%zu nodes in order, %zu counted", place,
          v->graph->n_nodes);
    return TN_OK;
}

tn_status tn_graph_verify(const tn_graph *graph, tn_diag *diag)
{
    verify v = {.graph = graph, .diag = diag};
    tn_status status = TN_OK;
    v.nodes = tn_take_zero(graph->arena.heap, graph->next_node, sizeof *v.nodes);
    if (!v.nodes) {
        TN_GO(tn_fail_memory(diag, graph->name, (unsigned long long)graph->next_node * sizeof *v.nodes));
    }
    TN_GO(check_order(&v));
    v.used = tn_take_zero(graph->arena.heap, v.n_slots, sizeof *v.used);
    if (!v.used) {
        TN_GO(tn_fail_memory(diag, graph->name, v.n_slots));
    }
    for (size_t i = 0; i < graph->n_values; i++) {
        TN_GO(check_value(&v, i));
    }
    TN_GO(check_borders(&v));
    for (const tn_node *node = graph->first; node; node = node->next) {
        TN_GO(check_node(&v, node));
    }
done:
    tn_give(graph->arena.heap, v.used);
    tn_give(graph->arena.heap, v.nodes);
    return status;
}
