// SPDX-License-Identifier: Apache-2.0
// Planning steps 4 and 5: devices bid on nodes, and the split with the cheapest sum of work, transfers and calls wins; what no device has a
// kernel for is taken apart by the operator's lowering.
//
// Sub-flows are runs of neighbours in the graph's order, so they can never wait for one another in a circle. The search walks that
// order once and keeps, for each distinct situation (which device ran last, which devices hold each live value), the cheapest way to
// get there: exact while the situations fit the table, a beam of the cheapest ones beyond.
#include "plan/place/parts.h"
#include "plan/report/bids.h"
#include "plan/work.h"

#include <stdlib.h>
#include <string.h>

#define MAX_BEAM 1024             // situations kept after each node
#define MIN_BEAM 32
#define BEAM_NODES 2000000        // beam times nodes, bounds memory and time
#define FORCE 1000.0              // a named device is preferred: work on the CPU counts so many times

typedef struct state {
    double sum;
    int32_t parent;               // in the history of the node before; -1: none
    uint8_t last;                 // device that ran the last node
    uint8_t device;               // of this node
    uint64_t hash;                // of where the live values are
    uint8_t *where;               // by live value: bit mask of devices that hold it
} state;

typedef struct placing {
    tn_work *work;
    size_t n_devices;
    double *bids;                 // by node position and device; < 0: refused
    bool *by_parts;               // the same: the bid is for the node's parts
    const tn_value **live;        // values that nodes to come still read
    size_t n_live;
    uint32_t *left;               // by value id: reads to come
    state *now, *next;            // beam * n_devices entries each
    size_t n_now, n_next, beam;
    int32_t *table;               // hash table over next: index + 1
    size_t table_size;            // power of two
    int32_t *parents;             // history: by node position and state, parent and device
    uint8_t *devices;
} placing;

static double cpu_price(tn_work *work, const tn_query *query, tn_device *device)
{
    tn_bid bid;
    device->vtable->bid(device, query, &bid);
    const double price = bid.refusal ? 1e6 : bid.nanoseconds;
    return work->context->device && strcmp(work->context->device, device->vtable->name) != 0 ? price * FORCE : price;
}

// A device that lacks a node is asked for its parts. Whoever takes them leaves their graph to the work graph: attributes and constants lie there.
static tn_status ask_for_parts(tn_work *work, tn_node *node, const tn_query *query, size_t device, tn_bid *bid, bool *taken)
{
    tn_graph **parts = &work->parts[node->id];
    if (!node->op->lower) {
        return TN_OK;
    }
    if (!*parts) {
        tn_graph *made;
        TN_TRY(tn_parts_make(&made, query, work->context->heap, work->diag));
        if (!made) {
            return TN_OK;
        }
        if (tn_node_add_body(work->graph, node, made) != TN_OK) {
            tn_graph_destroy(made);
            return tn_fail_memory(work->diag, node->name, sizeof *made);
        }
        if (tn_graph_keep_body(work->graph, node, node->n_bodies - 1) != TN_OK) {
            return tn_fail_memory(work->diag, node->name, sizeof *made);
        }
        *parts = made;
    }
    const tn_bid sum = tn_plan_parts_bid(work->context, device, *parts);
    *taken = !sum.refusal;
    *bid = sum.refusal ? *bid : sum;
    return TN_OK;
}

static tn_status ask(placing *p)
{
    tn_work *work = p->work;
    size_t at = 0;
    for (tn_node *node = work->graph->first; node; node = node->next, at++) {
        tn_tensor tensors[TN_MAX_IN + TN_MAX_OUT];
        const tn_tensor *pointers[TN_MAX_IN + TN_MAX_OUT];
        tn_query query;
        const bool fits = node->n_in <= TN_MAX_IN && node->n_out <= TN_MAX_OUT && !(node->op->flags & (TN_OP_CONTROL | TN_OP_DYNAMIC));
        if (fits) {
            tn_work_query(work, node, TN_LAYOUT_PLAIN, TN_LAYOUT_PLAIN, NULL, &query, tensors, pointers);
        }
        for (size_t d = 0; d < p->n_devices; d++) {
            tn_device *device = work->context->devices[d];
            tn_bid bid = {.refusal = "control and dynamic shapes stay on the CPU"};
            if (d + 1 == p->n_devices) {
                p->bids[at * p->n_devices + d] = fits ? cpu_price(work, &query, device) : 1.0;
                continue;
            }
            if (fits && !(work->context->dead >> d & 1)) {
                device->vtable->bid(device, &query, &bid);
            }
            if (fits && bid.refusal && !(work->context->dead >> d & 1)) {
                TN_TRY(ask_for_parts(work, node, &query, d, &bid, &p->by_parts[at * p->n_devices + d]));
            }
            p->bids[at * p->n_devices + d] = bid.refusal ? -1.0 : bid.nanoseconds;
        }
    }
    return TN_OK;
}

static double transfer_cost(const placing *p, const tn_value *value, size_t device)
{
    size_t bytes = 0;
    const tn_fact *fact = tn_work_fact(p->work, value);
    const tn_tensor tensor = {.dtype = fact->dtype, .shape = fact->shape};
    tn_device *d = p->work->context->devices[device];
    return tn_tensor_bytes(&tensor, &bytes) ? d->vtable->transfer_cost(d, bytes) : 0;
}

static size_t live_index(const placing *p, const tn_value *value)
{
    size_t i = 0;
    while (i < p->n_live && p->live[i] != value) {
        i++;
    }
    return i;
}

// Bringing operand `value` to `device`: through the host, each hop paid once and remembered in the mask.
static double fetch(const placing *p, const tn_value *value, uint8_t *mask, size_t device)
{
    const size_t host = p->n_devices - 1;
    double sum = 0;
    if (*mask >> device & 1) {
        return 0;
    }
    if (!(*mask >> host & 1)) {
        for (size_t d = 0; d < host; d++) {
            if (*mask >> d & 1) {
                sum += transfer_cost(p, value, d);
                break;
            }
        }
        *mask |= (uint8_t)(1u << host);
    }
    if (device != host) {
        sum += transfer_cost(p, value, device);
        *mask |= (uint8_t)(1u << device);
    }
    return sum;
}

// The situation after running `node` on `device`, before dead values are dropped. where: room for n_live + n_out masks.
static double step(const placing *p, const state *from, const tn_node *node, size_t position, size_t device, uint8_t *where)
{
    double sum = from->sum + p->bids[position * p->n_devices + device];
    memcpy(where, from->where, p->n_live);
    if (from->last != device && device + 1 != p->n_devices) {
        tn_device *d = p->work->context->devices[device];
        sum += d->vtable->call_cost ? d->vtable->call_cost(d) : 0;
    }
    for (int i = 0; i < node->n_in; i++) {
        const tn_value *value = node->in[i];
        if (value && !value->constant) {
            const size_t at = live_index(p, value);
            sum += at < p->n_live ? fetch(p, value, &where[at], device) : 0;
        }
    }
    return sum;
}

// Adds a situation unless the same one is there already and cheaper.
static void keep(placing *p, const state *candidate, const uint8_t *where, size_t n_where)
{
    const uint64_t hash = tn_hash(where, n_where, candidate->last);
    size_t at = (size_t)hash & (p->table_size - 1);
    for (; p->table[at]; at = (at + 1) & (p->table_size - 1)) {
        state *other = &p->next[p->table[at] - 1];
        if (other->hash == hash && other->last == candidate->last && memcmp(other->where, where, n_where) == 0) {
            if (candidate->sum < other->sum) {
                other->sum = candidate->sum;
                other->parent = candidate->parent;
                other->device = candidate->device;
            }
            return;
        }
    }
    state *slot = &p->next[p->n_next++];
    uint8_t *room = slot->where;
    *slot = *candidate;
    slot->hash = hash;
    slot->where = room;
    memcpy(room, where, n_where);
    p->table[at] = (int32_t)p->n_next;
}

static int cheaper(const void *a, const void *b)
{
    const state *x = a, *y = b;
    return x->sum != y->sum ? (x->sum < y->sum ? -1 : 1) : (x->hash < y->hash ? -1 : x->hash > y->hash);
}

// Which live values go on after this node, and the new ones it makes.
static size_t next_live(placing *p, const tn_node *node, const tn_value **live, int *source)
{
    size_t n = 0;
    for (int i = 0; i < node->n_in; i++) {
        if (node->in[i] && !node->in[i]->constant) {
            p->left[node->in[i]->id]--;
        }
    }
    for (size_t i = 0; i < p->n_live; i++) {
        if (p->left[p->live[i]->id]) {
            live[n] = p->live[i];
            source[n++] = (int)i;
        }
    }
    for (int i = 0; i < node->n_out; i++) {
        if (node->out[i] && p->left[node->out[i]->id]) {
            live[n] = node->out[i];
            source[n++] = -1;
        }
    }
    return n;
}

static tn_status walk(placing *p, size_t n_values)
{
    tn_arena *arena = &p->work->scratch;
    const tn_value **live = tn_arena_array(arena, n_values + 1, sizeof *live);
    int *source = tn_arena_array(arena, n_values + 1, sizeof *source);
    uint8_t *where = tn_arena_array(arena, n_values + 1, 2);
    if (!live || !source || !where) {
        return tn_fail_memory(p->work->diag, "place", n_values * sizeof *live);
    }
    uint8_t *moved = where + n_values + 1;
    size_t position = 0;
    for (const tn_node *node = p->work->graph->first; node; node = node->next, position++) {
        const size_t n = next_live(p, node, live, source);
        p->n_next = 0;
        memset(p->table, 0, p->table_size * sizeof *p->table);
        for (size_t s = 0; s < p->n_now; s++) {
            for (size_t d = 0; d < p->n_devices; d++) {
                if (p->bids[position * p->n_devices + d] < 0) {
                    continue;
                }
                state candidate = {.parent = (int32_t)s, .last = (uint8_t)d, .device = (uint8_t)d};
                candidate.sum = step(p, &p->now[s], node, position, d, moved);
                for (size_t i = 0; i < n; i++) {
                    where[i] = source[i] < 0 ? (uint8_t)(1u << d) : moved[source[i]];
                }
                keep(p, &candidate, where, n);
            }
        }
        if (p->n_next > p->beam) {
            qsort(p->next, p->n_next, sizeof *p->next, cheaper);
            p->n_next = p->beam;
        }
        for (size_t s = 0; s < p->n_next; s++) {
            p->parents[position * p->beam + s] = p->next[s].parent;
            p->devices[position * p->beam + s] = p->next[s].device;
        }
        memcpy((void *)p->live, live, n * sizeof *live);
        p->n_live = n;
        state *swap = p->now;
        p->now = p->next;
        p->next = swap;
        p->n_now = p->n_next;
    }
    return TN_OK;
}

static tn_status open_states(placing *p, size_t n_values, size_t n_nodes)
{
    tn_arena *arena = &p->work->scratch;
    const tn_graph *graph = p->work->graph;
    p->bids = tn_arena_array(arena, n_nodes * p->n_devices + 1, sizeof *p->bids);
    p->by_parts = tn_arena_array(arena, n_nodes * p->n_devices + 1, sizeof *p->by_parts);
    p->work->parts = tn_arena_array(arena, graph->next_node + 1, sizeof *p->work->parts);
    p->live = tn_arena_array(arena, n_values + 1, sizeof *p->live);
    p->left = tn_arena_array(arena, n_values + 1, sizeof *p->left);
    p->beam = TN_MAX((size_t)MIN_BEAM, TN_MIN((size_t)MAX_BEAM, BEAM_NODES / n_nodes));
    const size_t states = p->beam * p->n_devices;
    for (p->table_size = 64; p->table_size < 2 * states;) {
        p->table_size *= 2;
    }
    p->now = tn_arena_array(arena, states, sizeof *p->now);
    p->next = tn_arena_array(arena, states, sizeof *p->next);
    p->table = tn_arena_array(arena, p->table_size, sizeof *p->table);
    p->parents = tn_arena_array(arena, n_nodes + 1, p->beam * sizeof *p->parents);
    p->devices = tn_arena_array(arena, n_nodes + 1, p->beam);
    uint8_t *room = tn_arena_array(arena, 2 * states, n_values + 1);
    if (!p->bids || !p->by_parts || !p->work->parts || !p->live || !p->left || !p->now || !p->next || !p->table || !p->parents || !p->devices || !room) {
        return tn_fail_memory(p->work->diag, "place", n_nodes * p->beam);
    }
    for (size_t i = 0; i < states; i++) {
        p->now[i].where = room + 2 * i * (n_values + 1);
        p->next[i].where = room + (2 * i + 1) * (n_values + 1);
    }
    for (size_t i = 0; i < n_values; i++) {
        const tn_value *value = graph->values[i];
        p->left[i] = value ? (uint32_t)value->n_uses + value->is_output : 0;
        if (value && value->is_input && p->left[i]) {
            p->now[0].where[p->n_live] = (uint8_t)(1u << (p->n_devices - 1));
            p->live[p->n_live++] = value;
        }
    }
    p->now[0].parent = -1;
    p->now[0].last = (uint8_t)(p->n_devices - 1);
    p->n_now = 1;
    return TN_OK;
}

// Results that end on a device are brought back; then the cheapest end is followed to the start.
static void finish(placing *p, size_t n_nodes, tn_node *const *nodes)
{
    size_t best = 0;
    for (size_t s = 0; s < p->n_now; s++) {
        for (size_t i = 0; i < p->n_live; i++) {
            p->now[s].sum += fetch(p, p->live[i], &p->now[s].where[i], p->n_devices - 1);
        }
        best = p->now[s].sum < p->now[best].sum ? s : best;
    }
    p->work->plan->placed_cost = p->n_now ? p->now[best].sum : 0;
    for (size_t position = n_nodes; position-- > 0;) {
        const uint8_t d = p->devices[position * p->beam + best];
        p->work->device[nodes[position]->id] = p->work->context->devices[d]->vtable->name;
        if (!p->by_parts[position * p->n_devices + d]) {
            p->work->parts[nodes[position]->id] = NULL;
        }
        best = (size_t)p->parents[position * p->beam + best];
    }
}

tn_status tn_plan_place(tn_work *work)
{
    const tn_plan_context *context = work->context;
    const size_t n_nodes = work->graph->n_nodes, n_values = work->graph->n_values;
    work->device = tn_arena_array(&work->scratch, work->graph->next_node + 1, sizeof *work->device);
    tn_node **nodes = tn_arena_array(&work->scratch, n_nodes + 1, sizeof *nodes);
    if (!work->device || !nodes) {
        return tn_fail_memory(work->diag, "place", n_nodes * sizeof *nodes);
    }
    size_t n = 0;
    for (tn_node *node = work->graph->first; node; node = node->next) {
        work->device[node->id] = context->devices[context->n_devices - 1]->vtable->name;
        nodes[n++] = node;
    }
    if (context->n_devices < 2 || n_nodes == 0 || n_nodes > 20000) {
        return TN_OK;
    }
    placing p = {.work = work, .n_devices = TN_MIN(context->n_devices, (size_t)TN_MAX_DEVICES)};
    TN_TRY(open_states(&p, n_values, n_nodes));
    TN_TRY(ask(&p));
    TN_TRY(walk(&p, n_values));
    finish(&p, n_nodes, nodes);
    return tn_plan_flow(work);
}

tn_status tn_plan_lower(tn_work *work)
{
    bool lowered = false;
    for (tn_node *node = work->graph->first, *next; node; node = next) {
        next = node->next;
        tn_choice choices[TN_MAX_CHOICES];
        bool done = false;
        if (!node->op->lower || node->op->flags & TN_OP_CONTROL || tn_work_choices(work, node, choices) > 0) {
            continue;
        }
        TN_TRY(node->op->lower(work->graph, node, &done, work->diag));
        lowered = lowered || done;
    }
    return lowered ? tn_plan_shapes(work) : TN_OK;
}
