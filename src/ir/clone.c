// SPDX-License-Identifier: Apache-2.0
// Deep copies of graphs. Values and nodes keep their ids, so that what is known by id of the one holds for the other; constants
// keep pointing to the same bytes and keep their weight identity.
// Ownership: the copy owns everything but constant data. Threads: the original is only read.
#include "ir/edit.h"

#include <string.h>

static bool copy_value(tn_graph *to, const tn_value *value)
{
    tn_value *copy = tn_graph_value(to, value->name);
    if (!copy) {
        return false;
    }
    copy->kind = value->kind;
    copy->inner = value->inner;
    copy->dtype = value->dtype;
    copy->shape = value->shape;
    copy->weight = value->weight;
    if (value->constant) {
        copy->constant = tn_arena_copy(&to->arena, value->constant, sizeof *value->constant);
        return copy->constant != NULL;
    }
    return true;
}

static const char **copy_texts(tn_arena *arena, const char *const *texts, size_t count)
{
    size_t room = 4;
    while (room < count) {
        room *= 2;
    }
    const char **copy = tn_arena_array(arena, room, sizeof *copy);
    for (size_t i = 0; copy && i < count; i++) {
        copy[i] = tn_arena_text(arena, texts[i], strlen(texts[i]));
        if (!copy[i]) {
            return NULL;
        }
    }
    return copy;
}

// The copies of an operand or result list, which may hold NULL.
static tn_value **copy_list(tn_graph *to, tn_value *const *list, size_t count)
{
    tn_value **copy = tn_arena_array(&to->arena, count, sizeof *copy);
    for (size_t i = 0; copy && i < count; i++) {
        copy[i] = list[i] ? to->values[list[i]->id] : NULL;
    }
    return copy;
}

static bool copy_bodies(tn_graph *to, tn_node *copy, const tn_node *node)
{
    for (int i = 0; i < node->n_bodies; i++) {
        tn_graph *body = tn_graph_clone(node->bodies[i], to->arena.heap, NULL);
        if (!body || tn_node_add_body(to, copy, body) != TN_OK) {
            tn_graph_destroy(body);
            return false;
        }
    }
    return true;
}

static bool copy_node(tn_graph *to, const tn_node *node)
{
    tn_value **in = copy_list(to, node->in, (size_t)node->n_in);
    tn_value **out = copy_list(to, node->out, (size_t)node->n_out);
    const void *attr = node->attr ? tn_attr_copy(node->op, node->attr, &to->arena) : NULL;
    if (!in || !out || (node->attr && !attr)) {
        return false;
    }
    tn_node *copy = tn_graph_node(to, NULL, node->op, node->name, attr, in, node->n_in, out, node->n_out);
    if (!copy) {
        return false;
    }
    copy->id = node->id;
    copy->origins = copy_texts(&to->arena, node->origins, (size_t)node->n_origins);
    copy->n_origins = copy->origins ? node->n_origins : 0;
    return copy->origins && copy_bodies(to, copy, node);
}

static bool copy_all(tn_graph *to, const tn_graph *graph)
{
    for (size_t i = 0; i < graph->n_values; i++) {
        if (!copy_value(to, graph->values[i])) {
            return false;
        }
    }
    for (size_t i = 0; i < graph->n_inputs; i++) {
        if (tn_graph_add_input(to, to->values[graph->inputs[i]->id]) != TN_OK) {
            return false;
        }
    }
    for (size_t i = 0; i < graph->n_outputs; i++) {
        if (tn_graph_add_output(to, to->values[graph->outputs[i]->id]) != TN_OK) {
            return false;
        }
    }
    for (const tn_node *node = graph->first; node; node = node->next) {
        if (!copy_node(to, node)) {
            return false;
        }
    }
    to->next_node = graph->next_node;
    to->symbols = copy_texts(&to->arena, graph->symbols, graph->n_symbols);
    to->n_symbols = to->symbols ? graph->n_symbols : 0;
    to->symbols_capacity = to->n_symbols;   // a new symbol moves the array
    return to->symbols != NULL;
}

tn_graph *tn_graph_clone(const tn_graph *graph, tn_heap *heap, tn_value **map_out)
{
    tn_graph *to = tn_graph_create(heap, graph->name);
    if (!to || !copy_all(to, graph)) {
        tn_graph_destroy(to);
        return NULL;
    }
    if (map_out && graph->n_values) {
        memcpy(map_out, to->values, graph->n_values * sizeof(tn_value *));
    }
    return to;
}
