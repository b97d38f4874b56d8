// SPDX-License-Identifier: Apache-2.0
// Planning step 8: an order of nodes with a low peak of live bytes: the best that a bounded search finds, from the better of the model's own
// order and a greedy one. Where the peak is that of a single node nothing can be better, and nothing is searched.
#include "plan/memory/schedule.h"
#include "plan/work.h"

#include <string.h>

#define EFFORT 24000              // nodes times states kept: some milliseconds at most
#define MAX_NODES 20000           // beyond, the model's order stands
#define WINDOW 256                // nodes that the greedy order looks ahead

typedef struct order {
    tn_work *work;
    tn_node **nodes;              // the model's order
    tn_schedule graph;
    tn_schedule_node *lists;      // graph.nodes
    size_t *bytes;                // graph.bytes
    bool *kept;                   // graph.kept
    uint32_t *uses;               // by value: reads that are still to come
} order;

// Bytes in the arena: what comes from outside has none there, nor has a converted constant or a result of the model.
static size_t value_bytes(tn_work *work, const tn_value *value)
{
    size_t bytes = 0;
    const tn_fact *fact = tn_work_fact(work, value);
    const tn_tensor tensor = {.dtype = fact->dtype, .shape = fact->shape, .layout = (tn_layout)work->layout[value->id]};
    const bool result = value->is_output && !work->plan->rest;
    return value->producer && !tn_work_made_once(value->producer) && !result && tn_tensor_bytes(&tensor, &bytes) ? bytes : 0;
}

// The ids of a node's values, each once, in the order of its operands.
static tn_status list_values(order *o, tn_value *const *values, int count, const uint32_t **out, uint32_t *n_out)
{
    uint32_t *list = tn_arena_array(&o->work->scratch, (size_t)count + 1, sizeof *list), n = 0;
    if (!list) {
        return tn_fail_memory(o->work->diag, "plan", (size_t)count * sizeof *list);
    }
    for (int i = 0; i < count; i++) {
        bool seen = values[i] == NULL;
        for (uint32_t k = 0; k < n && !seen; k++) {
            seen = list[k] == values[i]->id;
        }
        if (!seen) {
            list[n++] = values[i]->id;
        }
    }
    *out = list;
    *n_out = n;
    return TN_OK;
}

static tn_status describe(order *o)
{
    tn_graph *graph = o->work->graph;
    tn_arena *arena = &o->work->scratch;
    size_t n = 0;
    o->nodes = tn_arena_array(arena, graph->n_nodes + 1, sizeof *o->nodes);
    o->lists = tn_arena_array(arena, graph->n_nodes + 1, sizeof *o->lists);
    o->bytes = tn_arena_array(arena, graph->n_values + 1, sizeof *o->bytes);
    o->kept = tn_arena_array(arena, graph->n_values + 1, sizeof *o->kept);
    o->uses = tn_arena_array(arena, graph->n_values + 1, sizeof *o->uses);
    if (!o->nodes || !o->lists || !o->bytes || !o->kept || !o->uses) {
        return tn_fail_memory(o->work->diag, "plan", graph->n_nodes * sizeof *o->nodes);
    }
    for (size_t i = 0; i < graph->n_values; i++) {
        o->bytes[i] = graph->values[i] ? value_bytes(o->work, graph->values[i]) : 0;
        o->kept[i] = graph->values[i] && graph->values[i]->is_output;
    }
    for (tn_node *node = graph->first; node; node = node->next, n++) {
        tn_schedule_node *list = &o->lists[n];
        o->nodes[n] = node;
        TN_TRY(list_values(o, node->in, node->n_in, &list->in, &list->n_in));
        TN_TRY(list_values(o, node->out, node->n_out, &list->out, &list->n_out));
        list->in_place = node->op->flags & TN_OP_INPLACE_ANY ? list->n_in : node->op->flags & TN_OP_INPLACE ? 1 : 0;
    }
    o->graph = (tn_schedule){.nodes = o->lists, .n_nodes = n, .bytes = o->bytes, .kept = o->kept, .n_values = graph->n_values};
    return TN_OK;
}

// How many bytes more are live after node `n` than before.
static double balance(const order *o, const tn_schedule_node *n)
{
    double sum = 0;
    for (uint32_t i = 0; i < n->n_out; i++) {
        sum += (double)o->bytes[n->out[i]];
    }
    for (uint32_t i = 0; i < n->n_in; i++) {
        sum -= o->uses[n->in[i]] == 1 && !o->kept[n->in[i]] ? (double)o->bytes[n->in[i]] : 0;
    }
    return sum;
}

// Of the ready nodes the one with the best balance, the model's order on ties.
static tn_status greedy(order *o, uint32_t *result)
{
    const size_t count = o->graph.n_nodes;
    bool *made = tn_arena_array(&o->work->scratch, o->graph.n_values + 1, sizeof *made);
    bool *done = tn_arena_array(&o->work->scratch, count + 1, sizeof *done);
    if (!made || !done) {
        return tn_fail_memory(o->work->diag, "plan", o->graph.n_values);
    }
    for (size_t v = 0; v < o->graph.n_values; v++) {
        made[v] = o->work->graph->values[v] && !o->work->graph->values[v]->producer;
    }
    for (size_t n = 0; n < count; n++) {
        for (uint32_t i = 0; i < o->lists[n].n_in; i++) {
            o->uses[o->lists[n].in[i]]++;
        }
    }
    for (size_t n = 0, low = 0; n < count; n++) {
        size_t best = count;
        double best_balance = 0;
        while (done[low]) {
            low++;
        }
        for (size_t i = low; i < TN_MIN(count, low + WINDOW); i++) {
            bool ready = !done[i];
            for (uint32_t k = 0; k < o->lists[i].n_in && ready; k++) {
                ready = made[o->lists[i].in[k]];
            }
            const double mine = ready ? balance(o, &o->lists[i]) : 0;
            if (ready && (best == count || mine < best_balance)) {
                best = i;
                best_balance = mine;
            }
        }
        result[n] = (uint32_t)best;
        done[best] = true;
        for (uint32_t k = 0; k < o->lists[best].n_in; k++) {
            o->uses[o->lists[best].in[k]]--;
        }
        for (uint32_t k = 0; k < o->lists[best].n_out; k++) {
            made[o->lists[best].out[k]] = true;
        }
    }
    return TN_OK;
}

tn_status tn_plan_order(tn_work *work)
{
    tn_arena *arena = &work->scratch;
    order o = {.work = work};
    const size_t count = work->graph->n_nodes;
    if (count < 3 || count > MAX_NODES || work->context->keep_order) {
        return TN_OK;
    }
    TN_TRY(describe(&o));
    uint32_t *own = tn_arena_array(arena, count, sizeof *own), *other = tn_arena_array(arena, count, sizeof *other);
    tn_node **result = tn_arena_array(arena, count + 1, sizeof *result);
    if (!own || !other || !result) {
        return tn_fail_memory(work->diag, "plan", count * sizeof *own);
    }
    for (size_t i = 0; i < count; i++) {
        own[i] = (uint32_t)i;
    }
    const size_t before = tn_schedule_peak(&o.graph, own, arena);
    if (before <= tn_schedule_floor(&o.graph)) {
        return TN_OK;
    }
    TN_TRY(greedy(&o, other));
    const size_t by_greed = tn_schedule_peak(&o.graph, other, arena);
    uint32_t *best = by_greed < before ? other : own;
    const size_t after = tn_schedule_improve(&o.graph, best, EFFORT, arena);
    if (before == SIZE_MAX || by_greed == SIZE_MAX || after == SIZE_MAX) {
        return tn_fail_memory(work->diag, "plan", count * sizeof *own);
    }
    for (size_t i = 0; i < count; i++) {
        result[i] = o.nodes[best[i]];
    }
    if (after < before) {
        tn_graph_reorder(work->graph, result);
    }
    return TN_OK;
}
