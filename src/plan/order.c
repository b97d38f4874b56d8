// SPDX-License-Identifier: Apache-2.0
// Planning step 8: an order of nodes with a low peak of live bytes. The model's own order is kept unless a greedy one, which among
// the nodes that are ready always runs the one that leaves the fewest bytes live, has a lower peak.
#include "plan/work.h"

#include <string.h>

typedef struct order {
    tn_work *work;
    tn_node **nodes;          // the model's order
    size_t count;
    size_t *bytes;            // by value id; 0 for inputs and constants
    uint32_t *uses;           // by value id: reads that are still to come
    uint32_t *waits;          // by position: operands not made yet
    uint32_t *position;       // by node id
} order;

static size_t value_bytes(tn_work *work, const tn_value *value)
{
    size_t bytes = 0;
    const tn_fact *fact = tn_work_fact(work, value);
    const tn_tensor tensor = {.dtype = fact->dtype, .shape = fact->shape, .layout = (tn_layout)work->layout[value->id]};
    return value->producer && tn_tensor_bytes(&tensor, &bytes) ? bytes : 0;
}

static void reset(order *o)
{
    for (size_t i = 0; i < o->work->graph->n_values; i++) {
        const tn_value *value = o->work->graph->values[i];
        o->uses[i] = value ? (uint32_t)value->n_uses + (value->is_output ? 1u : 0u) : 0;
    }
}

static size_t made(const order *o, const tn_node *node)
{
    size_t sum = 0;
    for (int i = 0; i < node->n_out; i++) {
        sum += node->out[i] ? o->bytes[node->out[i]->id] : 0;
    }
    return sum;
}

// Bytes that die when `node` runs now (each operand counted once).
static size_t freed(const order *o, const tn_node *node)
{
    size_t sum = 0;
    for (int i = 0; i < node->n_in; i++) {
        uint32_t mine = 0;
        bool first = node->in[i] != NULL;
        for (int j = 0; j < node->n_in && first; j++) {
            mine += node->in[j] == node->in[i];
            first = !(j < i && node->in[j] == node->in[i]);
        }
        sum += first && o->uses[node->in[i]->id] == mine ? o->bytes[node->in[i]->id] : 0;
    }
    return sum;
}

static void consume(order *o, const tn_node *node)
{
    for (int i = 0; i < node->n_in; i++) {
        if (node->in[i]) {
            o->uses[node->in[i]->id]--;
        }
    }
}

static size_t peak_of(order *o, tn_node *const *nodes)
{
    size_t live = 0, peak = 0;
    reset(o);
    for (size_t i = 0; i < o->count; i++) {
        live += made(o, nodes[i]);
        peak = TN_MAX(peak, live);
        live -= freed(o, nodes[i]);
        consume(o, nodes[i]);
    }
    return peak;
}

static void count_waits(order *o)
{
    for (size_t i = 0; i < o->count; i++) {
        o->waits[i] = 0;
        for (int k = 0; k < o->nodes[i]->n_in; k++) {
            o->waits[i] += o->nodes[i]->in[k] && o->nodes[i]->in[k]->producer;
        }
    }
}

// Of the ready nodes the one with the best balance of freed over made bytes, the model's order on ties.
static void greedy(order *o, tn_node **result, bool *done)
{
    reset(o);
    count_waits(o);
    memset(done, 0, o->count * sizeof *done);
    size_t low = 0;
    for (size_t n = 0; n < o->count; n++) {
        size_t best = o->count;
        double best_delta = 0;
        while (low < o->count && done[low]) {
            low++;
        }
        for (size_t i = low; i < o->count && i < low + 256; i++) {
            if (done[i] || o->waits[i]) {
                continue;
            }
            const double delta = (double)made(o, o->nodes[i]) - (double)freed(o, o->nodes[i]);
            if (best == o->count || delta < best_delta) {
                best = i;
                best_delta = delta;
            }
        }
        done[best] = true;
        result[n] = o->nodes[best];
        consume(o, o->nodes[best]);
        for (int k = 0; k < o->nodes[best]->n_out; k++) {
            const tn_value *value = o->nodes[best]->out[k];
            for (size_t u = 0; value && u < value->n_uses; u++) {
                o->waits[o->position[value->uses[u].node->id]]--;
            }
        }
    }
}

tn_status tn_plan_order(tn_work *work)
{
    tn_graph *graph = work->graph;
    tn_arena *arena = &work->scratch;
    order o = {.work = work, .count = graph->n_nodes};
    o.nodes = tn_arena_array(arena, o.count + 1, sizeof *o.nodes);
    o.bytes = tn_arena_array(arena, graph->n_values + 1, sizeof *o.bytes);
    o.uses = tn_arena_array(arena, graph->n_values + 1, sizeof *o.uses);
    o.waits = tn_arena_array(arena, o.count + 1, sizeof *o.waits);
    o.position = tn_arena_array(arena, graph->next_node + 1, sizeof *o.position);
    tn_node **result = tn_arena_array(arena, o.count + 1, sizeof *result);
    bool *done = tn_arena_array(arena, o.count + 1, sizeof *done);
    if (!o.nodes || !o.bytes || !o.uses || !o.waits || !o.position || !result || !done) {
        return tn_fail_memory(work->diag, "plan", o.count * sizeof *o.nodes);
    }
    size_t n = 0;
    for (tn_node *node = graph->first; node; node = node->next) {
        o.position[node->id] = (uint32_t)n;
        o.nodes[n++] = node;
    }
    for (size_t i = 0; i < graph->n_values; i++) {
        o.bytes[i] = graph->values[i] ? value_bytes(work, graph->values[i]) : 0;
    }
    if (o.count < 3) {
        return TN_OK;
    }
    greedy(&o, result, done);
    if (peak_of(&o, result) < peak_of(&o, o.nodes)) {
        tn_graph_reorder(graph, result);
    }
    return TN_OK;
}
