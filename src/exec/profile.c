// SPDX-License-Identifier: Apache-2.0
// Recording what a run does (exec/profile.h).
#include "exec/profile.h"

#include "base/num.h"
#include "base/text.h"
#include "ops/control/op_flow.h"
#include "ops/op_eval.h"
#include "sys/clock.h"

#include <string.h>

#define SHARES_OF_STEP 4096        // room of one thread for the shares of one step: a step starts few jobs
#define MAX_RUNS 65536

// A node inside a sub-flow, as its device told it after the last run.
typedef struct inner {
    struct inner *next;
    const char *name, *op, *kernel;
    uint64_t macs, ns;
} inner;

typedef struct node {
    struct node *next;             // in its bucket
    uint64_t plan;                 // serial number: addresses of plans come again
    const tn_step *step;
    uint32_t index;                // in order of first sight
    const char *name, *op, *kernel, *impl, *device;
    uint64_t macs, read_bytes, write_bytes, constant_bytes;
    inner *inside;
} node;

typedef struct event { uint32_t node, run; uint64_t begin, end; } event;
typedef struct share { uint32_t event, tiles; uint16_t thread; uint64_t begin, end; } share;
typedef struct run { uint64_t begin, end, planning; } run;

#define BUCKETS 1024

struct tn_profile {
    tn_heap *heap;
    tn_arena arena;                // nodes and their texts
    node **nodes;
    size_t n_nodes, nodes_capacity;
    node *buckets[BUCKETS];
    event *events;
    share *shares;
    run *runs;
    size_t n_events, n_shares, n_runs, room;
    uint64_t dropped;
    unsigned threads;
    tn_watch watch;
};

tn_profile *tn_profile_create(tn_heap *heap, size_t events, unsigned threads)
{
    size_t bytes;
    tn_profile *profile = tn_take_zero(heap, 1, sizeof *profile);
    if (!profile) {
        return NULL;
    }
    profile->heap = heap;
    profile->threads = threads;
    tn_arena_init(&profile->arena, heap);
    if (events < UINT32_MAX && tn_mul_size(events, sizeof(share), &bytes)) {
        profile->room = events;
        profile->events = tn_take(heap, events * sizeof *profile->events);      // written in order: pages that no event reaches stay untouched
        profile->shares = tn_take(heap, events * sizeof *profile->shares);
        profile->runs = tn_take(heap, TN_MIN(events, (size_t)MAX_RUNS) * sizeof *profile->runs);
        profile->watch.room = SHARES_OF_STEP;
        profile->watch.shares = tn_take_zero(heap, (size_t)threads * SHARES_OF_STEP, sizeof *profile->watch.shares);
        profile->watch.used = tn_take_zero(heap, threads, sizeof *profile->watch.used);
    }
    if (!profile->events || !profile->shares || !profile->runs || !profile->watch.shares || !profile->watch.used) {
        tn_profile_destroy(profile);
        return NULL;
    }
    return profile;
}

void tn_profile_destroy(tn_profile *profile)
{
    if (!profile) {
        return;
    }
    tn_arena_deinit(&profile->arena);
    tn_give(profile->heap, profile->events);
    tn_give(profile->heap, profile->shares);
    tn_give(profile->heap, profile->runs);
    tn_give(profile->heap, profile->watch.shares);
    tn_give(profile->heap, profile->watch.used);
    tn_give(profile->heap, profile);
}

void tn_profile_run_begin(tn_profile *profile, tn_workers *workers, uint64_t planning_ns)
{
    if (profile->n_runs < TN_MIN(profile->room, (size_t)MAX_RUNS)) {
        profile->runs[profile->n_runs++] = (run){.begin = tn_clock_ns(), .planning = planning_ns};
    } else {
        profile->dropped++;
    }
    tn_workers_watch(workers, &profile->watch);
}

void tn_profile_run_end(tn_profile *profile, tn_workers *workers, uint64_t planning_ns)
{
    run *r = profile->n_runs ? &profile->runs[profile->n_runs - 1] : NULL;
    tn_workers_watch(workers, NULL);
    if (r && !r->end) {
        r->end = tn_clock_ns();
        r->planning = planning_ns - r->planning;
    }
}

static uint64_t tensor_bytes(const tn_tensor *tensor)
{
    size_t bytes = 0;
    return tensor && tensor->kind == TN_KIND_TENSOR && tn_tensor_bytes(tensor, &bytes) ? bytes : 0;
}

typedef struct inner_list {
    tn_profile *profile;
    inner **tail;
} inner_list;

static void keep_inner(const tn_flow_node *described, void *context)
{
    inner_list *into = context;
    tn_arena *arena = &into->profile->arena;
    const int64_t macs = tn_node_macs(described->node);
    inner *in = tn_arena_array(arena, 1, sizeof *in);
    if (in) {
        in->name = tn_arena_text(arena, described->node->name, strlen(described->node->name));
        in->op = described->node->op->name;
        in->kernel = described->kernel ? tn_arena_text(arena, described->kernel, strlen(described->kernel)) : NULL;
        in->macs = macs > 0 ? (uint64_t)macs : 0;
        in->ns = described->nanoseconds;
        *into->tail = in;
        into->tail = &in->next;
    }
}

// A later run of a sub-flow: the least time of each node stays.
static void keep_least(const tn_flow_node *described, void *context)
{
    inner_list *at = context;
    inner *in = *at->tail;
    if (in) {
        in->ns = described->nanoseconds && (!in->ns || described->nanoseconds < in->ns) ? described->nanoseconds : in->ns;
        at->tail = &in->next;
    }
}

// What is known of a step without looking into its results.
static bool fill(tn_profile *profile, node *n, const tn_plan *plan, const tn_step *step)
{
    const size_t at = (size_t)(step - plan->steps);
    const tn_flow *flow = plan->flows ? plan->flows[at] : NULL;
    n->plan = plan->serial;
    n->step = step;
    n->name = tn_arena_text(&profile->arena, step->call.name, strlen(step->call.name));
    n->op = step->call.op->name;
    n->kernel = step->kernel ? step->kernel->name : flow ? "sub-flow" : "control";
    n->impl = step->kernel ? tn_impl_text(step->kernel->impl) : flow ? step->device : "control";
    n->device = step->device;
    n->macs = step->macs;
    for (int i = 0; i < step->call.n_in; i++) {
        const bool constant = step->in[i] >= 0 && plan->slots[plan->slots[step->in[i]].root].lease == TN_LEASE_PRIVATE;
        *(constant ? &n->constant_bytes : &n->read_bytes) += tensor_bytes(step->call.in[i]);
    }
    for (int i = 0; i < step->call.n_out; i++) {
        n->write_bytes += tensor_bytes(step->call.out[i]);
    }
    if (flow && flow->device->vtable->describe) {
        inner_list into = {profile, &n->inside};
        flow->device->vtable->describe(flow, keep_inner, &into);
    }
    return n->name != NULL;
}

// The number of a step's node, made at first sight. UINT32_MAX: no memory.
static uint32_t node_of(tn_profile *profile, const tn_plan *plan, const tn_step *step)
{
    const uint64_t key[2] = {plan->serial, (uint64_t)(step - plan->steps)};
    node **bucket = &profile->buckets[tn_hash(key, sizeof key, 0) % BUCKETS];
    for (const node *n = *bucket; n; n = n->next) {
        if (n->plan == plan->serial && n->step == step) {
            return n->index;
        }
    }
    node **list = tn_arena_grow(&profile->arena, profile->nodes, profile->n_nodes, &profile->nodes_capacity, sizeof *list);
    node *n = tn_arena_array(&profile->arena, 1, sizeof *n);
    profile->nodes = list ? list : profile->nodes;
    if (!list || !n || !fill(profile, n, plan, step)) {
        return UINT32_MAX;
    }
    n->index = (uint32_t)profile->n_nodes;
    n->next = *bucket;
    *bucket = n;
    profile->nodes[profile->n_nodes++] = n;
    return n->index;
}

void tn_profile_step(tn_profile *profile, const tn_plan *plan, const tn_step *step, uint64_t begin_ns, uint64_t end_ns)
{
    const uint32_t at = node_of(profile, plan, step);
    const bool good = at != UINT32_MAX && profile->n_runs && profile->n_events < profile->room;
    if (good) {
        profile->events[profile->n_events++] = (event){at, (uint32_t)(profile->n_runs - 1), begin_ns, end_ns};
    }
    profile->dropped += !good;
    const tn_flow *flow = plan->flows ? plan->flows[step - plan->steps] : NULL;
    if (good && flow && flow->device->vtable->describe) {
        inner_list list = {profile, &profile->nodes[at]->inside};
        flow->device->vtable->describe(flow, keep_least, &list);
    }
    for (unsigned t = 0; t < profile->threads; t++) {
        for (size_t i = 0; i < profile->watch.used[t]; i++) {
            const tn_share *s = &profile->watch.shares[(size_t)t * SHARES_OF_STEP + i];
            if (good && profile->n_shares < profile->room) {
                profile->shares[profile->n_shares++] = (share){(uint32_t)(profile->n_events - 1), s->tiles, (uint16_t)t, s->begin_ns, s->end_ns};
            } else {
                profile->dropped++;
            }
        }
        profile->watch.used[t] = 0;
    }
}

// ---- the report ----

static void write_node(tn_text *text, const node *n)
{
    tn_json_open(text, '{');
    tn_json_key_string(text, "name", n->name);
    tn_json_key_string(text, "op", n->op);
    tn_json_key_string(text, "kernel", n->kernel);
    tn_json_key_string(text, "impl", n->impl);
    tn_json_key_string(text, "device", n->device);
    tn_json_key_int(text, "macs", n->macs);
    tn_json_key_int(text, "read_bytes", n->read_bytes);
    tn_json_key_int(text, "write_bytes", n->write_bytes);
    tn_json_key_int(text, "constant_bytes", n->constant_bytes);
    tn_json_key(text, "inner");
    tn_json_open(text, '[');
    for (const inner *in = n->inside; in; in = in->next) {
        tn_json_open(text, '{');
        tn_json_key_string(text, "name", in->name);
        tn_json_key_string(text, "op", in->op);
        tn_json_key_string(text, "kernel", in->kernel);
        tn_json_key_int(text, "macs", in->macs);
        tn_json_key_int(text, "ns", in->ns);
        tn_json_close(text, '}');
    }
    tn_json_close(text, ']');
    tn_json_close(text, '}');
}

static void write_row(tn_text *text, const uint64_t *row, size_t count)
{
    tn_json_open(text, '[');
    for (size_t i = 0; i < count; i++) {
        tn_json_int(text, (int64_t)row[i]);
    }
    tn_json_close(text, ']');
}

void tn_profile_write(const tn_profile *profile, tn_text *text)
{
    const uint64_t zero = profile->n_runs ? profile->runs[0].begin : 0;      // times are counted from the first run's begin
    tn_json_key_int(text, "dropped", profile->dropped + profile->watch.dropped);
    tn_json_key(text, "nodes");
    tn_json_open(text, '[');
    for (size_t i = 0; i < profile->n_nodes; i++) {
        write_node(text, profile->nodes[i]);
    }
    tn_json_close(text, ']');
    tn_json_key(text, "runs");
    tn_json_open(text, '[');
    for (size_t i = 0; i < profile->n_runs; i++) {
        const run *r = &profile->runs[i];
        write_row(text, (const uint64_t[]){r->begin - zero, TN_MAX(r->end, r->begin) - zero, r->end ? r->planning : 0}, 3);
    }
    tn_json_close(text, ']');
    tn_json_key(text, "steps");
    tn_json_open(text, '[');
    for (size_t i = 0; i < profile->n_events; i++) {
        const event *e = &profile->events[i];
        write_row(text, (const uint64_t[]){e->node, e->run, e->begin - zero, e->end - zero}, 4);
    }
    tn_json_close(text, ']');
    tn_json_key(text, "shares");
    tn_json_open(text, '[');
    for (size_t i = 0; i < profile->n_shares; i++) {
        const share *s = &profile->shares[i];
        write_row(text, (const uint64_t[]){s->event, s->thread, s->begin - zero, s->end - zero, s->tiles}, 5);
    }
    tn_json_close(text, ']');
}
