// SPDX-License-Identifier: Apache-2.0
// Common subexpressions: a node with the operator, attributes and operands of an earlier one gives its uses to that one; small
// constants with equal contents become one first, so that they compare equal as operands.
// Ownership: the hash table lives during the pass. Threads: one per graph.
#include "pass/clean/clean.h"

#include "pass/rewrite.h"

#include <string.h>

#define MAX_CONSTANT_BYTES 4096   // larger constants are compared by identity of their bytes

// Open addressing; an entry is a node or a value.
typedef struct table {
    const void **slots;
    uint64_t *hashes;
    size_t mask;
} table;

// Room for `count` entries at half load.
static bool table_init(table *t, tn_arena *arena, size_t count)
{
    size_t capacity = 16;
    while (capacity < count * 2) {
        capacity *= 2;
    }
    t->mask = capacity - 1;
    t->slots = tn_arena_array(arena, capacity, sizeof *t->slots);
    t->hashes = tn_arena_array(arena, capacity, sizeof *t->hashes);
    return t->slots && t->hashes;
}

// The earlier entry that `same` accepts, or NULL after inserting this one.
static const void *find_or_insert(table *t, uint64_t hash, const void *item, bool (*same)(const void *, const void *))
{
    size_t at = (size_t)hash & t->mask;
    while (t->slots[at]) {
        if (t->hashes[at] == hash && same(t->slots[at], item)) {
            return t->slots[at];
        }
        at = (at + 1) & t->mask;
    }
    t->slots[at] = item;
    t->hashes[at] = hash;
    return NULL;
}

// ---- constants ----

// Type and shape, and the contents (or, for large ones, where they lie).
static uint64_t hash_constant(const tn_value *value, size_t bytes)
{
    const uint64_t seed = tn_hash(value->shape.dims, sizeof value->shape.dims, (uint64_t)value->dtype);
    return bytes > MAX_CONSTANT_BYTES ? tn_hash(&value->constant->data, sizeof value->constant->data, seed)
                                      : tn_hash(value->constant->data, bytes, seed);
}

// Equal bytes of equal type: NaN equals itself here, and -0 is not 0, which is what sharing needs.
static bool same_constant(const void *a_, const void *b_)
{
    const tn_value *a = a_, *b = b_;
    size_t bytes;
    if (a->dtype != b->dtype || !tn_shape_equal(&a->shape, &b->shape) || !tn_tensor_bytes(a->constant, &bytes)) {
        return false;
    }
    return a->constant->data == b->constant->data ||
           (bytes <= MAX_CONSTANT_BYTES && memcmp(a->constant->data, b->constant->data, bytes) == 0);
}

// Of equal constants the first stays; the others lose their uses.
static tn_status dedup_constants(tn_graph *graph, tn_pass_context *context, tn_arena *arena)
{
    table t;
    if (!table_init(&t, arena, graph->n_values)) {
        return tn_fail_memory(context->diag, graph->name, graph->n_values * sizeof(void *));
    }
    for (size_t i = 0; i < graph->n_values; i++) {
        tn_value *value = graph->values[i];
        size_t bytes;
        if (!value->constant || value->n_uses == 0 || !tn_can_drop(context, value) || value->dtype == TN_STRING ||
            !tn_tensor_bytes(value->constant, &bytes) || bytes == 0) {
            continue;
        }
        const tn_value *earlier = find_or_insert(&t, hash_constant(value, bytes), value, same_constant);
        if (earlier) {
            TN_TRY(tn_graph_replace(graph, value, graph->values[earlier->id]));
        }
    }
    return TN_OK;
}

// ---- nodes ----

// Attributes are left to the comparison: few nodes share operator and operands.
static uint64_t hash_node(const tn_node *node)
{
    uint64_t hash = tn_hash(&node->op, sizeof node->op, (uint64_t)node->n_in);
    for (int i = 0; i < node->n_in; i++) {
        const uint32_t id = node->in[i] ? node->in[i]->id : UINT32_MAX;
        hash = tn_hash(&id, sizeof id, hash);
    }
    return hash;
}

// Equal work. Results that only the later node has cannot be taken from the earlier one.
static bool same_node(const void *a_, const void *b_)
{
    const tn_node *a = a_, *b = b_;
    if (a->op != b->op || a->n_in != b->n_in || a->n_out != b->n_out) {
        return false;
    }
    for (int i = 0; i < a->n_in; i++) {
        if (a->in[i] != b->in[i]) {
            return false;
        }
    }
    for (int i = 0; i < a->n_out; i++) {
        if (!a->out[i] && b->out[i]) {
            return false;
        }
    }
    return !a->op->attr_size || tn_attr_equal(a->op, a->attr, b->attr);
}

// Gives the uses of all results to the kept node, or does nothing: names that must stay cannot become one.
static tn_status merge(tn_graph *graph, tn_pass_context *context, tn_node *node, const tn_node *kept)
{
    for (int i = 0; i < node->n_out; i++) {
        if (node->out[i] && !tn_can_replace(context, node->out[i], kept->out[i])) {
            return TN_OK;
        }
    }
    for (int i = 0; i < node->n_out; i++) {
        if (node->out[i]) {
            TN_TRY(tn_graph_replace(graph, node->out[i], kept->out[i]));
        }
    }
    tn_graph_remove(graph, node);
    context->changes++;
    return TN_OK;
}

static tn_status run_dedup(tn_graph *graph, tn_pass_context *context)
{
    tn_arena arena;
    table t;
    tn_status status = TN_OK;
    tn_arena_init(&arena, context->heap);
    TN_GO(dedup_constants(graph, context, &arena));
    if (!table_init(&t, &arena, graph->n_nodes)) {
        TN_GO(tn_fail_memory(context->diag, graph->name, graph->n_nodes * sizeof(void *)));
    }
    for (tn_node *node = graph->first, *next; node; node = next) {
        next = node->next;
        if (node->op->flags & (TN_OP_RANDOM | TN_OP_CONTROL)) {
            continue;
        }
        const tn_node *kept = find_or_insert(&t, hash_node(node), node, same_node);
        if (kept) {
            TN_GO(merge(graph, context, node, kept));
        }
    }
done:
    tn_arena_deinit(&arena);
    return status;
}

const tn_pass tn_pass_dedup = {"dedup", run_dedup};
