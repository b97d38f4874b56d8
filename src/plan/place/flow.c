// SPDX-License-Identifier: Apache-2.0
// Sub-flows: each run of neighbours that a device other than the CPU won becomes one node with a closed body.
#include "ops/control/op_flow.h"
#include "plan/report/bids.h"
#include "plan/work.h"

#include <string.h>

typedef struct cutting {
    tn_work *work;
    tn_graph *body;
    tn_value **map;           // by value id of the work graph: its counterpart in the body
    bool *inside;             // by node id: in this run
    tn_value *in[TN_MAX_IN], *out[TN_MAX_OUT];
    int n_in, n_out;
} cutting;

static tn_status no_memory(const cutting *c) { return tn_fail_memory(c->work->diag, "flow", sizeof(tn_graph)); }

// The body's counterpart of an operand: a constant, an input made when first needed, or a result made before.
static tn_status counterpart(cutting *c, tn_value *value, tn_value **out)
{
    *out = value ? c->map[value->id] : NULL;
    if (!value || *out) {
        return TN_OK;
    }
    const tn_fact *fact = tn_work_fact(c->work, value);
    if (value->constant) {
        *out = tn_graph_constant(c->body, NULL, value->dtype, &value->constant->shape, value->constant->data, false);
        if (*out) {
            (*out)->weight = value->weight;
        }
    } else {
        *out = tn_graph_value(c->body, NULL);
        if (*out) {
            (*out)->dtype = fact->dtype;
            (*out)->shape = fact->shape;
            TN_TRY(tn_graph_add_input(c->body, *out));
            c->in[c->n_in++] = value;
        }
    }
    c->map[value->id] = *out;
    return *out ? TN_OK : no_memory(c);
}

static tn_status copy_node(cutting *c, const tn_node *node)
{
    tn_value *in[TN_MAX_IN], *out[TN_MAX_OUT];
    for (int i = 0; i < node->n_in; i++) {
        TN_TRY(counterpart(c, node->in[i], &in[i]));
    }
    for (int i = 0; i < node->n_out; i++) {
        out[i] = node->out[i] ? tn_graph_value(c->body, node->out[i]->name) : NULL;
        if (!node->out[i]) {
            continue;
        }
        if (!out[i]) {
            return no_memory(c);
        }
        const tn_fact *fact = tn_work_fact(c->work, node->out[i]);
        out[i]->dtype = fact->dtype;
        out[i]->shape = fact->shape;
        c->map[node->out[i]->id] = out[i];
    }
    tn_node *copy = tn_graph_node(c->body, NULL, node->op, node->name, node->attr, in, node->n_in, out, node->n_out);
    return copy ? tn_node_add_origins(c->body, copy, node) : no_memory(c);
}

// The parts of a node in its place: operands are the first values of their graph.
static tn_status copy_parts(cutting *c, const tn_node *node, const tn_graph *parts)
{
    size_t n = 0;
    tn_value **map = tn_arena_array(&c->work->scratch, parts->n_values + 1, sizeof *map);
    if (!map) {
        return no_memory(c);
    }
    for (int i = 0; i < node->n_in; i++) {
        if (node->in[i]) {
            TN_TRY(counterpart(c, node->in[i], &map[n++]));
        }
    }
    for (size_t i = n; i < parts->n_values; i++) {
        const tn_value *value = parts->values[i];
        if (!value) {
            continue;
        }
        map[i] = value->constant ? tn_graph_constant(c->body, NULL, value->dtype, &value->shape, value->constant->data, false)
                                 : tn_graph_value(c->body, NULL);
        if (!map[i]) {
            return no_memory(c);
        }
        map[i]->dtype = value->dtype;
        map[i]->shape = value->shape;
    }
    for (const tn_node *part = parts->first; part; part = part->next) {
        tn_value *in[TN_MAX_IN], *out[TN_MAX_OUT];
        for (int i = 0; i < part->n_in; i++) {
            in[i] = part->in[i] ? map[part->in[i]->id] : NULL;
        }
        for (int i = 0; i < part->n_out; i++) {
            out[i] = part->out[i] ? map[part->out[i]->id] : NULL;
        }
        tn_node *copy = tn_graph_node(c->body, NULL, part->op, part->name, part->attr, in, part->n_in, out, part->n_out);
        if (!copy) {
            return no_memory(c);
        }
        TN_TRY(tn_node_add_origins(c->body, copy, node));
    }
    for (int i = 0, k = 0; i < node->n_out; i++) {
        if (node->out[i]) {
            c->map[node->out[i]->id] = map[parts->outputs[k++]->id];
        }
    }
    return TN_OK;
}

static bool leaves(const cutting *c, const tn_value *value)
{
    bool out = value->is_output;
    for (size_t u = 0; u < value->n_uses && !out; u++) {
        out = !c->inside[value->uses[u].node->id];
    }
    return out;
}

static tn_status add_results(cutting *c, const tn_node *node, bool *full)
{
    for (int i = 0; i < node->n_out; i++) {
        if (node->out[i] && leaves(c, node->out[i])) {
            if (c->n_out == TN_MAX_OUT) {
                *full = true;
                return TN_OK;
            }
            c->out[c->n_out++] = node->out[i];
            TN_TRY(tn_graph_add_output(c->body, c->map[node->out[i]->id]));
        }
    }
    return TN_OK;
}

// Puts the flow node in place of the run first .. last.
static tn_status replace(cutting *c, tn_node *first, tn_node *last, const char *device)
{
    tn_graph *graph = c->work->graph;
    tn_value *fresh[TN_MAX_OUT];
    const tn_flow_attr attr = {.device = device};
    for (int i = 0; i < c->n_out; i++) {
        fresh[i] = tn_graph_value(graph, NULL);
        const tn_fact known = *tn_work_fact(c->work, c->out[i]);
        tn_fact *fact = fresh[i] ? tn_work_fact(c->work, fresh[i]) : NULL;
        if (!fact) {
            return no_memory(c);
        }
        *fact = known;
        fresh[i]->dtype = known.dtype;
        fresh[i]->shape = known.shape;
    }
    tn_node *flow = tn_graph_node(graph, last->next, &tn_op_flow, first->name, &attr, c->in, c->n_in, fresh, c->n_out);
    if (!flow) {
        return no_memory(c);
    }
    TN_TRY(tn_node_add_body(graph, flow, c->body));
    c->body = NULL;
    c->work->flow_device[flow->id] = device;
    for (int i = 0; i < c->n_out; i++) {
        TN_TRY(tn_graph_replace(graph, c->out[i], fresh[i]));
    }
    for (tn_node *node = last, *prev = NULL; node; node = prev) {
        prev = node == first ? NULL : node->prev;
        tn_graph_remove(graph, node);
    }
    return TN_OK;
}

// What a device has left for the sub-flows of this plan.
typedef struct space {
    tn_device *device;
    uint64_t taken;
} space;

// The run of neighbours from `first` on as a body, of at most `most` nodes. A run takes operands and results up to the limits of a node; beyond,
// it ends early and another begins.
static tn_status gather(cutting *c, tn_work *work, tn_node *first, const char *device, size_t most, tn_node **last, size_t *count)
{
    size_t operands = 0;
    *c = (cutting){.work = work};
    c->map = tn_arena_array(&work->scratch, work->graph->n_values + 1, sizeof *c->map);
    c->inside = tn_arena_array(&work->scratch, work->graph->next_node + 1, sizeof *c->inside);
    c->body = tn_graph_create(work->context->heap, device);
    if (!c->map || !c->inside || !c->body) {
        return no_memory(c);
    }
    *count = 0;
    for (tn_node *node = first; node && work->device[node->id] == device && *count < most; node = node->next) {
        operands += (size_t)node->n_in + (size_t)node->n_out;
        if (operands > 100000 || c->n_in + node->n_in > TN_MAX_IN) {
            break;
        }
        const tn_graph *parts = work->parts[node->id];
        TN_TRY(parts ? copy_parts(c, node, parts) : copy_node(c, node));
        c->inside[node->id] = true;
        *last = node;
        ++*count;
    }
    bool full = false;
    for (tn_node *node = first; node != (*last)->next; node = node->next) {
        TN_TRY(add_results(c, node, &full));
    }
    return full ? tn_fail(work->diag, TN_UNSUPPORTED, first->name, "a sub-flow for %s would have more than %d results", device, TN_MAX_OUT) : TN_OK;
}

static bool has_room(const space *s, const cutting *c, uint64_t *need)
{
    uint64_t room = 0;
    *need = s->device->vtable->need ? s->device->vtable->need(s->device, c->body, &room) : 0;
    return *need == 0 || (s->taken <= room && *need <= room - s->taken);
}

// The nodes from `first` on that the device took stay on the CPU: it has no memory left for them.
static tn_status leave(tn_work *work, tn_node *first, const char *device, const char *host, tn_node **next)
{
    if (!work->crowded) {
        work->n_crowded = work->graph->next_node;
        work->crowded = tn_arena_array(&work->scratch, work->n_crowded + 1, sizeof *work->crowded);
        if (!work->crowded) {
            return tn_fail_memory(work->diag, "flow", work->n_crowded);
        }
    }
    tn_node *node = first;
    for (; node && work->device[node->id] == device; node = node->next) {
        work->device[node->id] = host;
        work->crowded[node->id] = true;
    }
    *next = node;
    return TN_OK;
}

// Makes a sub-flow of the run, or of as many of its first nodes as the device has memory for.
static tn_status cut(tn_work *work, tn_node *first, const char *device, const char *host, space *s, tn_node **next)
{
    cutting c;
    tn_node *last = first;
    size_t count = 0, fit = 0, most = SIZE_MAX, past = 0;      // past: the least number that does not fit; 0: not known
    uint64_t need = 0;
    tn_status status = TN_OK;
    for (bool done = false; !done;) {
        TN_GO(gather(&c, work, first, device, most, &last, &count));
        if (has_room(s, &c, &need)) {
            done = past == 0 || count + 1 >= past;
            fit = count;
        } else {
            past = count;
        }
        if (!done) {
            tn_graph_destroy(c.body);
            c.body = NULL;
            if (past == 1) {
                return leave(work, first, device, host, next);
            }
            most = fit + 1 >= past ? fit : (fit + past) / 2;
        }
    }
    s->taken += need;
    *next = last->next;
    TN_GO(replace(&c, first, last, device));
    if (past) {
        return leave(work, *next, device, host, next);
    }
done:
    tn_graph_destroy(c.body);
    return status;
}

tn_status tn_plan_flow(tn_work *work)
{
    const char *host = work->context->devices[work->context->n_devices - 1]->vtable->name;
    const size_t room = work->graph->next_node + work->graph->n_nodes + 1;
    work->flow_device = tn_arena_array(&work->scratch, room, sizeof *work->flow_device);
    if (!work->flow_device) {
        return tn_fail_memory(work->diag, "flow", room * sizeof *work->flow_device);
    }
    const uint32_t first_new = work->graph->next_node;
    space spaces[TN_MAX_DEVICES] = {{NULL, 0}};
    for (tn_node *node = work->graph->first, *next; node; node = next) {
        next = node->next;
        if (node->id < first_new && work->device[node->id] != host) {
            const size_t d = tn_plan_device(work->context, work->device[node->id]);
            spaces[d].device = work->context->devices[d];
            TN_TRY(cut(work, node, work->device[node->id], host, &spaces[d], &next));
        }
    }
    for (const tn_node *node = work->graph->first; node; node = node->next) {
        if (node->id < first_new) {
            work->flow_device[node->id] = work->device[node->id];
        }
    }
    work->device = work->flow_device;
    return TN_OK;
}
