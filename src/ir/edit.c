// SPDX-License-Identifier: Apache-2.0
// Building and changing graphs. Every call takes all the memory it needs before it changes anything, or undoes what it did, so
// that a failed call leaves a valid graph. What is dropped stays in the arena until the graph dies.
// Ownership: see ir/edit.h. Threads: one writer.
#include "ir/edit.h"
#include "base/num.h"

#include <stdio.h>

tn_graph *tn_graph_create(tn_heap *heap, const char *name)
{
    tn_graph *graph = tn_take_zero(heap, 1, sizeof *graph);
    if (!graph) {
        return NULL;
    }
    tn_arena_init(&graph->arena, heap);
    graph->name = tn_arena_text(&graph->arena, name ? name : "", name ? strlen(name) : 0);
    if (!graph->name) {
        tn_graph_destroy(graph);
        return NULL;
    }
    return graph;
}

static void destroy_bodies(tn_node *node)
{
    for (int i = 0; i < node->n_bodies; i++) {
        tn_graph_destroy(node->bodies[i]);
    }
    node->n_bodies = 0;
}

void tn_graph_destroy(tn_graph *graph)
{
    if (!graph) {
        return;
    }
    for (tn_node *node = graph->first; node; node = node->next) {
        destroy_bodies(node);
    }
    for (size_t i = 0; i < graph->n_kept; i++) {
        tn_graph_destroy(graph->kept[i]);
    }
    tn_heap *heap = graph->arena.heap;
    for (size_t i = 0; i < graph->n_values; i++) {
        tn_give(heap, graph->values[i]->block);
    }
    tn_arena_deinit(&graph->arena);
    tn_give(heap, graph);
}

// ---- values ----

tn_value *tn_graph_value(tn_graph *graph, const char *name)
{
    tn_arena *arena = &graph->arena;
    tn_value *value = tn_arena_take(arena, sizeof *value);
    tn_value **values = tn_arena_grow(arena, graph->values, graph->n_values, &graph->values_capacity, sizeof(tn_value *));
    if (!values) {
        return NULL;
    }
    graph->values = values;
    if (!value || graph->n_values >= UINT32_MAX) {
        return NULL;
    }
    value->name = name ? tn_arena_text(arena, name, strlen(name)) : tn_arena_print(arena, "%%%zu", graph->n_values);
    if (!value->name) {
        return NULL;
    }
    value->id = (uint32_t)graph->n_values;
    value->kind = TN_KIND_TENSOR;
    value->shape = tn_shape_unknown();
    graph->values[graph->n_values++] = value;
    return value;
}

tn_value *tn_graph_constant(tn_graph *graph, const char *name, tn_dtype dtype, const tn_shape *shape, const void *data, bool copy)
{
    // Data is written through tn_tensor.data only for results, never for constants: the cast drops const for the shared struct.
    tn_tensor tensor = {.dtype = dtype, .layout = TN_LAYOUT_PLAIN, .shape = *shape, .data = (void *)(uintptr_t)data};
    size_t bytes;
    if (!tn_tensor_bytes(&tensor, &bytes)) {
        return NULL;
    }
    if (copy) {
        tensor.data = tn_arena_copy(&graph->arena, data, bytes);
        if (!tensor.data) {
            return NULL;
        }
    }
    tn_tensor *constant = tn_arena_copy(&graph->arena, &tensor, sizeof tensor);
    tn_value *value = constant ? tn_graph_value(graph, name) : NULL;
    if (!value) {
        return NULL;
    }
    value->dtype = dtype;
    value->shape = *shape;
    value->constant = constant;
    value->weight = tn_heap_id(graph->arena.heap);
    return value;
}

tn_value *tn_graph_room(tn_graph *graph, const char *name, tn_dtype dtype, const tn_shape *shape, void **data)
{
    const tn_tensor tensor = {.dtype = dtype, .layout = TN_LAYOUT_PLAIN, .shape = *shape};
    size_t bytes;
    *data = NULL;
    void *block = tn_tensor_bytes(&tensor, &bytes) ? tn_take(graph->arena.heap, bytes) : NULL;
    tn_value *value = block ? tn_graph_constant(graph, name, dtype, shape, block, false) : NULL;
    if (!value) {
        tn_give(graph->arena.heap, block);
        return NULL;
    }
    value->block = block;
    *data = block;
    return value;
}

tn_value *tn_graph_alias(tn_graph *graph, const char *name, const tn_shape *shape, tn_value *of)
{
    tn_value *value = tn_graph_constant(graph, name, of->dtype, shape, of->constant->data, false);
    if (value) {
        value->weight = of->weight;
        of->shared = true;
    }
    return value;
}

void tn_graph_release(tn_graph *graph, tn_value *value)
{
    if (!value->block || value->shared || value->n_uses > 0 || value->is_output) {
        return;
    }
    tn_give(graph->arena.heap, value->block);
    value->block = NULL;
    value->constant = NULL;
}

// Appends to an array whose capacity is the power of two at or above its count (at least 4), so that none need be stored.
static void *append(tn_arena *arena, void *array, size_t count, size_t size)
{
    if (count != 0 && (count < 4 || (count & (count - 1)) != 0)) {
        return array;
    }
    void *moved = tn_arena_array(arena, count ? count * 2 : 4, size);
    if (moved && count) {
        memcpy(moved, array, count * size);
    }
    return moved;
}

static tn_status list_value(tn_graph *graph, tn_value ***list, size_t *count, tn_value *value)
{
    tn_value **grown = append(&graph->arena, *list, *count, sizeof *grown);
    if (!grown) {
        return TN_OUT_OF_MEMORY;
    }
    grown[*count] = value;
    *list = grown;
    ++*count;
    return TN_OK;
}

tn_status tn_graph_add_input(tn_graph *graph, tn_value *value)
{
    TN_TRY(list_value(graph, &graph->inputs, &graph->n_inputs, value));
    value->is_input = true;
    return TN_OK;
}

tn_status tn_graph_add_output(tn_graph *graph, tn_value *value)
{
    TN_TRY(list_value(graph, &graph->outputs, &graph->n_outputs, value));
    value->is_output = true;
    return TN_OK;
}

int tn_graph_symbol(tn_graph *graph, const char *name)
{
    for (size_t i = 0; i < graph->n_symbols; i++) {
        if (strcmp(graph->symbols[i], name) == 0) {
            return (int)i;
        }
    }
    if (graph->n_symbols >= TN_MAX_SYMBOLS) {
        return -1;
    }
    const char **symbols =
        tn_arena_grow(&graph->arena, graph->symbols, graph->n_symbols, &graph->symbols_capacity, sizeof *symbols);
    const char *copy = symbols ? tn_arena_text(&graph->arena, name, strlen(name)) : NULL;
    if (symbols) {
        graph->symbols = symbols;
    }
    if (!copy) {
        return -1;
    }
    graph->symbols[graph->n_symbols] = copy;
    return (int)graph->n_symbols++;
}

// ---- uses ----

static bool add_use(tn_graph *graph, tn_value *value, tn_node *node, int index)
{
    tn_use *uses = tn_arena_grow(&graph->arena, value->uses, value->n_uses, &value->uses_capacity, sizeof *uses);
    if (!uses) {
        return false;
    }
    value->uses = uses;
    value->uses[value->n_uses++] = (tn_use){node, index};
    return true;
}

// Searches from the end: edits mostly undo what was done last. The order of the other uses stays.
static void drop_use(tn_value *value, const tn_node *node, int index)
{
    for (size_t i = value->n_uses; i-- > 0;) {
        if (value->uses[i].node == node && value->uses[i].index == index) {
            memmove(&value->uses[i], &value->uses[i + 1], (value->n_uses - i - 1) * sizeof *value->uses);
            value->n_uses--;
            return;
        }
    }
}

// ---- nodes ----

static void link_before(tn_graph *graph, tn_node *node, tn_node *before)
{
    node->next = before;
    node->prev = before ? before->prev : graph->last;
    *(node->prev ? &node->prev->next : &graph->first) = node;
    *(before ? &before->prev : &graph->last) = node;
    graph->n_nodes++;
}

// The node with its arrays and attributes; not linked, no uses.
static tn_node *make_node(tn_graph *graph, const tn_op *op, const char *name, const void *attr, int n_in, int n_out)
{
    tn_arena *arena = &graph->arena;
    tn_node *node = tn_arena_take(arena, sizeof *node);
    if (!node) {
        return NULL;
    }
    node->op = op;
    node->name = name ? tn_arena_text(arena, name, strlen(name)) : tn_arena_print(arena, "%s_%u", op->name, graph->next_node);
    size_t room_in = 4;
    while (room_in < (size_t)n_in) {
        room_in *= 2;   // what append() expects
    }
    node->in = tn_arena_array(arena, room_in, sizeof *node->in);
    node->out = tn_arena_array(arena, (size_t)n_out, sizeof *node->out);
    node->origins = tn_arena_array(arena, 4, sizeof *node->origins);
    if (!node->name || !node->in || !node->out || !node->origins) {
        return NULL;
    }
    if (op->attr_size) {
        const void *from = attr ? attr : op->defaults;
        void *own = from ? tn_arena_copy(arena, from, op->attr_size) : tn_arena_take(arena, op->attr_size);
        if (!own) {
            return NULL;
        }
        node->attr = own;
    }
    node->origins[0] = node->name;
    node->n_origins = 1;
    return node;
}

tn_node *tn_graph_node(tn_graph *graph, tn_node *before, const tn_op *op, const char *name, const void *attr,
                       tn_value *const *in, int n_in, tn_value *const *out, int n_out)
{
    tn_node *node = make_node(graph, op, name, attr, n_in, n_out);
    if (!node) {
        return NULL;
    }
    for (int i = 0; i < n_in; i++) {
        if (in[i] && !add_use(graph, in[i], node, i)) {
            while (i-- > 0) {
                if (in[i]) {
                    drop_use(in[i], node, i);
                }
            }
            return NULL;
        }
        node->in[i] = in[i];
    }
    for (int i = 0; i < n_out; i++) {
        node->out[i] = out[i];
        if (out[i]) {
            out[i]->producer = node;
            out[i]->out_index = i;
        }
    }
    node->n_in = n_in;
    node->n_out = n_out;
    node->id = graph->next_node++;
    link_before(graph, node, before);
    return node;
}

tn_status tn_node_set_in(tn_graph *graph, tn_node *node, int index, tn_value *value)
{
    tn_value *old = node->in[index];
    if (value == old) {
        return TN_OK;
    }
    if (value && !add_use(graph, value, node, index)) {
        return TN_OUT_OF_MEMORY;
    }
    if (old) {
        drop_use(old, node, index);
    }
    node->in[index] = value;
    return TN_OK;
}

tn_status tn_node_add_in(tn_graph *graph, tn_node *node, tn_value *value)
{
    tn_value **in = append(&graph->arena, node->in, (size_t)node->n_in, sizeof *in);
    if (!in || (value && !add_use(graph, value, node, node->n_in))) {
        return TN_OUT_OF_MEMORY;
    }
    in[node->n_in++] = value;
    node->in = in;
    return TN_OK;
}

void tn_node_drop_in(tn_node *node, int index)
{
    if (node->in[index]) {
        drop_use(node->in[index], node, index);
    }
    node->n_in--;
    for (int i = index; i < node->n_in; i++) {
        tn_value *value = node->in[i] = node->in[i + 1];
        for (size_t u = 0; value && u < value->n_uses; u++) {
            if (value->uses[u].node == node && value->uses[u].index == i + 1) {
                value->uses[u].index = i;
                break;
            }
        }
    }
}

void tn_graph_drop_input(tn_graph *graph, size_t index)
{
    graph->inputs[index]->is_input = false;
    graph->n_inputs--;
    memmove(graph->inputs + index, graph->inputs + index + 1, (graph->n_inputs - index) * sizeof *graph->inputs);
}

tn_status tn_graph_keep_body(tn_graph *graph, tn_node *node, int index)
{
    tn_graph **kept = append(&graph->arena, graph->kept, graph->n_kept, sizeof *kept);
    if (!kept) {
        return TN_OUT_OF_MEMORY;
    }
    kept[graph->n_kept++] = node->bodies[index];
    graph->kept = kept;
    node->n_bodies--;
    memmove(node->bodies + index, node->bodies + index + 1, (size_t)(node->n_bodies - index) * sizeof *node->bodies);
    return TN_OK;
}

tn_status tn_node_add_body(tn_graph *graph, tn_node *node, tn_graph *body)
{
    tn_graph **bodies = append(&graph->arena, node->bodies, (size_t)node->n_bodies, sizeof *bodies);
    if (!bodies) {
        return TN_OUT_OF_MEMORY;
    }
    bodies[node->n_bodies++] = body;
    node->bodies = bodies;
    return TN_OK;
}

#define ORIGINS_COMPARED 32   // of a long list the last ones: a name that comes twice does no harm, comparing all is quadratic

static bool has_origin(const tn_node *node, const char *name)
{
    const int first = node->n_origins > ORIGINS_COMPARED ? node->n_origins - ORIGINS_COMPARED : 0;
    for (int i = first; i < node->n_origins; i++) {
        if (node->origins[i] == name || strcmp(node->origins[i], name) == 0) {
            return true;
        }
    }
    return false;
}

// Nodes may share an array of origins: one of them appends in place, which it sees by the slot that is still NULL (arenas are zeroed);
// the others copy first.
static tn_status add_origin(tn_graph *graph, tn_node *node, const char *name)
{
    const size_t count = (size_t)node->n_origins;
    const char **origins = append(&graph->arena, node->origins, count, sizeof *origins);
    if (origins && origins[count]) {
        size_t room = 4;
        while (room <= count) {
            room *= 2;
        }
        origins = tn_arena_array(&graph->arena, room, sizeof *origins);
        if (origins) {
            memcpy(origins, node->origins, count * sizeof *origins);
        }
    }
    if (!origins) {
        return TN_OUT_OF_MEMORY;
    }
    origins[count] = name;
    node->origins = origins;
    node->n_origins++;
    return TN_OK;
}

tn_status tn_node_add_origins(tn_graph *graph, tn_node *node, const tn_node *from)
{
    // A node that stands in for `from` begins with its list: a chain that shrinks node by node does not copy it each time.
    if (node->n_origins == 1 && strcmp(node->origins[0], from->origins[0]) == 0) {
        node->origins = from->origins;
        node->n_origins = from->n_origins;
        return TN_OK;
    }
    for (int i = 0; i < from->n_origins; i++) {
        if (!has_origin(node, from->origins[i])) {
            TN_TRY(add_origin(graph, node, from->origins[i]));
        }
    }
    return TN_OK;
}

void tn_node_set_attr(tn_node *node, const void *attr)
{
    node->attr = attr;
}

static void replace_output(tn_graph *graph, tn_value *old, tn_value *value)
{
    for (size_t i = 0; i < graph->n_outputs; i++) {
        if (graph->outputs[i] == old) {
            graph->outputs[i] = value;
        }
    }
    const char *name = value->name;
    value->name = old->name;
    old->name = name;
    value->is_output = true;
    old->is_output = false;
}

tn_status tn_graph_replace(tn_graph *graph, tn_value *old, tn_value *value)
{
    if (old == value) {
        return TN_OK;
    }
    if (old->is_output && (value->is_input || value->is_output || old->is_input)) {
        return TN_STATE;
    }
    // Room for all first; then nothing below can fail.
    size_t room = value->uses_capacity;
    tn_use *uses = value->uses;
    if (value->n_uses + old->n_uses > room) {
        room = (value->n_uses + old->n_uses) * 2;
        uses = tn_arena_array(&graph->arena, room, sizeof *uses);
        if (!uses) {
            return TN_OUT_OF_MEMORY;
        }
        if (value->n_uses) {
            memcpy(uses, value->uses, value->n_uses * sizeof *uses);
        }
    }
    value->uses = uses;
    value->uses_capacity = room;
    size_t kept = 0;
    for (size_t i = 0; i < old->n_uses; i++) {
        const tn_use use = old->uses[i];
        if (use.node == value->producer) {
            old->uses[kept++] = use;
            continue;
        }
        use.node->in[use.index] = value;
        value->uses[value->n_uses++] = use;
    }
    old->n_uses = kept;
    if (old->is_output) {
        replace_output(graph, old, value);
    }
    return TN_OK;
}

void tn_graph_remove(tn_graph *graph, tn_node *node)
{
    for (int i = 0; i < node->n_in; i++) {
        if (node->in[i]) {
            drop_use(node->in[i], node, i);
        }
    }
    for (int i = 0; i < node->n_out; i++) {
        if (node->out[i]) {
            node->out[i]->producer = NULL;
        }
    }
    destroy_bodies(node);
    *(node->prev ? &node->prev->next : &graph->first) = node->next;
    *(node->next ? &node->next->prev : &graph->last) = node->prev;
    graph->n_nodes--;
}

void tn_graph_reorder(tn_graph *graph, tn_node *const *nodes)
{
    graph->first = graph->n_nodes ? nodes[0] : NULL;
    graph->last = graph->n_nodes ? nodes[graph->n_nodes - 1] : NULL;
    for (size_t i = 0; i < graph->n_nodes; i++) {
        nodes[i]->prev = i ? nodes[i - 1] : NULL;
        nodes[i]->next = i + 1 < graph->n_nodes ? nodes[i + 1] : NULL;
    }
}
