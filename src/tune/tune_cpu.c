// SPDX-License-Identifier: Apache-2.0
// Each variant runs as the plan would run it, on operands of its own. Before a run other bytes go through the second-level cache, as the rest
// of the network would send them, and then the operands that a neighbour would just have written. The least of some runs counts: other work
// only ever adds. With one thread it is the time of that thread. A variant whose results leave the first one's by more than rounding does not
// count, and the best one must win once more, in turns, by a margin that noise does not reach.
// Ownership: see the header. Threads: see the header.
#include "tune/tune_cpu.h"

#include "base/num.h"
#include "device/tuning.h"
#include "dispatch/registry.h"
#include "exec/observe.h"
#include "sys/clock.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAX_VARIANTS 96
#define RUNS 7
#define CONFIRMATIONS 5
#define MARGIN 0.97                // of the time before: what must be reached
#define SLICE_NS 20e6              // after this long a variant has run often enough
#define SHARED_RUNS 15             // with several threads: their least time needs all cores free at once
#define SHARED_NS 20e3             // what sharing a job may cost
#define TOLERANCE 1e-3             // of the largest result

typedef struct variant {
    const tn_kernel *row;
    int8_t cache;
    bool alone, refused;
    double ns;                     // 0: not measured yet
} variant;

// A variant made ready to run.
typedef struct trial {
    tn_arena arena;
    void *blocks[TN_MAX_IN + TN_MAX_OUT + TN_MAX_PACKS + 1];
    size_t n_blocks;
    tn_tensor in[TN_MAX_IN], out[TN_MAX_OUT];
    const tn_tensor *in_list[TN_MAX_IN], *out_list[TN_MAX_OUT];
    tn_tensor *results[TN_MAX_OUT];
    tn_cpu cpu;
    tn_query query;
    tn_prepare prepare;
    tn_call call;
    tn_diag diag;
} trial;

typedef struct search {
    tn_tune_cpu *tune;
    tn_annealing annealing;
    const tn_tune_node *node;
    variant variants[MAX_VARIANTS];
    size_t count;
    float *expected;               // result 0 of the first variant, PLAIN; NULL: not float32, or nothing yet
    unsigned char *filler;         // for the second-level cache
    size_t filler_bytes;
    unsigned seen;                 // keeps reads of the filler alive
} search;

// ---- one variant ----

static void *take(const search *s, trial *t, size_t bytes)
{
    void *block = t->n_blocks < TN_COUNT(t->blocks) ? tn_take(s->tune->heap, bytes + TN_ALIGNMENT) : NULL;
    if (block) {
        t->blocks[t->n_blocks++] = block;
    }
    return block;
}

// Numbers between -1/2 and 1/2 in float32, zeros in other types: any bytes of those need not be values.
static bool fill(const search *s, trial *t, tn_tensor *tensor)
{
    size_t bytes;
    uint32_t state = 12345;
    if (!tn_tensor_bytes(tensor, &bytes) || !(tensor->data = take(s, t, bytes))) {
        return false;
    }
    if (tensor->dtype != TN_F32) {
        memset(tensor->data, 0, bytes);
    }
    for (size_t i = 0; tensor->dtype == TN_F32 && i < bytes / sizeof(float); i++) {
        state = state * 1664525u + 1013904223u;
        ((float *)tensor->data)[i] = (float)(state >> 8) / 16777216.0f - 0.5f;
    }
    return true;
}

static bool is_constant(const tn_tune_node *node, int operand)
{
    const int slot = node->step->in[operand];
    return slot >= 0 && node->plan->slots[slot].lease == TN_LEASE_PRIVATE && node->step->call.in[operand]->data;
}

// The node in the layouts of the plan, with the row's idea of the cache.
static void describe(const search *s, trial *t, const variant *v)
{
    const tn_call *call = &s->node->step->call;
    t->cpu = *s->tune->cpu;
    t->cpu.l2 = tn_choices_l2(t->cpu.l2, v->cache);
    for (int i = 0; i < call->n_in; i++) {
        t->in_list[i] = call->in[i] ? &t->in[i] : NULL;
        if (call->in[i]) {
            t->in[i] = *call->in[i];
            t->in[i].data = is_constant(s->node, i) ? t->in[i].data : NULL;
        }
    }
    for (int i = 0; i < call->n_out; i++) {
        t->out_list[i] = t->results[i] = call->out[i] ? &t->out[i] : NULL;
        if (call->out[i]) {
            t->out[i] = *call->out[i];
            t->out[i].data = NULL;
        }
    }
    t->query = (tn_query){.op = call->op, .attr = call->attr, .name = call->name, .n_in = call->n_in, .n_out = call->n_out, .in = t->in_list,
                          .out = t->out_list, .cpu = &t->cpu, .threads = s->tune->threads};
}

static bool pack(const search *s, trial *t)
{
    for (int i = 0; i < t->prepare.n_packs; i++) {
        const tn_pack *p = &t->prepare.packs[i];
        void *bytes = take(s, t, p->bytes);
        if (!bytes) {
            return false;
        }
        p->pack(bytes, &t->query, t->prepare.params);
        t->call.packed[i] = bytes;
    }
    return true;
}

static bool operands(const search *s, trial *t, const tn_kernel *row)
{
    for (int i = 0; i < t->query.n_in; i++) {
        size_t bytes;
        if (t->in_list[i] && !t->in[i].data && !fill(s, t, &t->in[i])) {
            return false;
        }
        if (t->in_list[i] && is_constant(s->node, i) && row->aligned_constants && (uintptr_t)t->in[i].data % sizeof(uint64_t)) {
            void *copy = tn_tensor_bytes(&t->in[i], &bytes) ? take(s, t, bytes) : NULL;
            if (!copy) {
                return false;
            }
            memcpy(copy, t->in[i].data, bytes);
            t->in[i].data = copy;
        }
    }
    for (int i = 0; i < t->query.n_out; i++) {
        if (t->out_list[i] && !fill(s, t, &t->out[i])) {
            return false;
        }
    }
    t->call.scratch = take(s, t, t->prepare.scratch_bytes);
    return t->call.scratch != NULL;
}

static bool trial_open(const search *s, trial *t, const variant *v)
{
    const char *why;
    memset(t, 0, sizeof *t);
    tn_arena_init(&t->arena, s->tune->heap);
    describe(s, t, v);
    if (!tn_kernel_accepts(v->row, &t->query, s->tune->cpu->features, &why)) {
        return false;
    }
    t->prepare = (tn_prepare){.query = &t->query, .row = v->row, .arena = &t->arena, .diag = &t->diag};
    if (v->row->prepare && v->row->prepare(&t->prepare) != TN_OK) {
        return false;
    }
    t->call = (tn_call){.op = t->query.op, .attr = t->query.attr, .name = t->query.name, .n_in = t->query.n_in, .n_out = t->query.n_out,
                        .in = t->in_list, .out = t->results, .params = t->prepare.params, .workers = v->alone ? NULL : s->tune->workers,
                        .heap = s->tune->heap, .diag = &t->diag};
    return pack(s, t) && operands(s, t, v->row);
}

static void trial_close(const search *s, trial *t)
{
    while (t->n_blocks) {
        tn_give(s->tune->heap, t->blocks[--t->n_blocks]);
    }
    tn_arena_deinit(&t->arena);
}

// ---- times ----

static double now_ns(const search *s)
{
    struct timespec t;
    if (s->tune->threads > 1 || clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t) != 0) {
        return (double)tn_clock_ns();
    }
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

static void read_through(search *s, const void *data, size_t bytes)
{
    const unsigned char *at = data;
    for (size_t i = 0; i < bytes; i += 64) {
        s->seen += at[i];
    }
}

static void settle(search *s, const trial *t)
{
    read_through(s, s->filler, s->filler_bytes);
    for (int i = 0; i < t->query.n_in; i++) {
        size_t bytes;
        if (t->in_list[i] && !is_constant(s->node, i) && tn_tensor_bytes(&t->in[i], &bytes)) {
            read_through(s, t->in[i].data, bytes);
        }
    }
}

// Result 0 agrees with that of the first variant, which it is when there is none yet.
static bool agrees(search *s, const trial *t)
{
    if (t->query.n_out < 1 || !t->out_list[0] || t->out[0].dtype != TN_F32) {
        return true;
    }
    const int64_t count = tn_tensor_count(&t->out[0]);
    float *plain = tn_plain_copy(&t->out[0], s->tune->cpu, s->tune->heap);
    double largest = 0, worst = 0;
    if (!plain) {
        return false;
    }
    if (!s->expected) {
        s->expected = plain;
        return true;
    }
    for (int64_t i = 0; i < count; i++) {
        const double difference = fabs((double)plain[i] - (double)s->expected[i]);
        largest = TN_MAX(largest, fabs((double)s->expected[i]));
        worst = difference <= worst ? worst : difference;      // also a NaN
    }
    tn_give(s->tune->heap, plain);
    return worst <= TOLERANCE * largest;
}

// Nanoseconds of the fastest of `runs` runs; 0: the variant does not run.
static double least(search *s, const variant *v, int runs)
{
    trial t;
    double best = 0;
    const double begin = (double)tn_clock_ns();
    bool good = trial_open(s, &t, v);
    good = good && v->row->run(&t.call) == TN_OK && agrees(s, &t);
    const int enough = s->tune->threads > 1 ? SHARED_RUNS : 2;
    for (int i = 0; good && i < TN_MAX(runs, enough) && (i < enough || (double)tn_clock_ns() - begin < SLICE_NS); i++) {
        settle(s, &t);
        const double start = now_ns(s);
        good = v->row->run(&t.call) == TN_OK;
        const double took = TN_MAX(now_ns(s) - start, 1.0);
        best = best > 0 ? TN_MIN(best, took) : took;
    }
    trial_close(s, &t);
    return good ? best : 0;
}

// ---- which variants there are ----

typedef struct gathering {
    search *s;
    const tn_kernel *own;
    uint32_t features;
    int threads, caches;
} gathering;

static void add_variants(gathering *g, const tn_kernel *row)
{
    search *s = g->s;
    for (int i = 0; i <= 2 * g->caches; i++) {
        // 0, -1, 1, -2, 2: the plainest come first.
        const int cache = i % 2 ? -(i + 1) / 2 : i / 2;
        for (int alone = 0; alone < g->threads; alone++) {
            const tn_step *step = s->node->step;
            const bool own = row == step->kernel && cache == step->cache && alone == (int)step->alone;
            if (s->count < MAX_VARIANTS && !own) {
                s->variants[s->count++] = (variant){.row = row, .cache = (int8_t)cache, .alone = alone != 0};
            }
        }
    }
}

static bool add_row(const tn_kernel *row, void *context)
{
    gathering *g = context;
    const bool same = memcmp(&row->layouts, &g->own->layouts, sizeof row->layouts) == 0;
    if (same && row->impl != TN_IMPL_REFERENCE && row->impl < TN_IMPL_OPENCL_IMAGE && !(row->cpu & ~g->features)) {
        add_variants(g, row);
    }
    return true;
}

// Variant 0 is what the plan has. Blocks matter where there is arithmetic to cut.
static void gather(search *s)
{
    const tn_step *step = s->node->step;
    gathering g = {.s = s, .own = step->kernel, .features = s->tune->cpu->features, .threads = s->tune->threads > 1 ? 2 : 1,
                   .caches = step->call.op->macs && step->macs > 0 ? TN_CHOICES_CACHE : 0};
    s->count = 1;
    s->variants[0] = (variant){.row = step->kernel, .cache = step->cache, .alone = step->alone};
    tn_registry_visit(step->call.op, add_row, &g);
}

// A variant that differs from `here` in one thing, or any.
static size_t next_variant(search *s, size_t here)
{
    const uint64_t chance = tn_annealing_random(&s->annealing);
    if (chance % 4 == 0) {
        return (size_t)(chance / 4 % s->count);
    }
    const variant *from = &s->variants[here];
    const size_t start = (size_t)(chance / 4 % s->count);
    for (size_t i = 0; i < s->count; i++) {
        const variant *v = &s->variants[(start + i) % s->count];
        const int apart = (v->row != from->row) + (v->alone != from->alone) + (v->cache != from->cache ? abs(v->cache - from->cache) : 0);
        if (apart == 1) {
            return (start + i) % s->count;
        }
    }
    return start;
}

// ---- the search for one node ----

static double time_of(search *s, size_t at)
{
    variant *v = &s->variants[at];
    if (v->ns <= 0 && !v->refused) {
        v->ns = least(s, v, RUNS);
        v->refused = v->ns <= 0;
    }
    return v->ns;
}

static size_t walk(search *s)
{
    size_t best = 0, here = 0, left = s->count - 1;
    for (size_t i = 1, tries = 0; left > 0 && tries < 64 * s->count && !tn_annealing_over(&s->annealing); i++, tries++) {
        // Each row as it is by itself, then wherever chance leads.
        const bool guess = i < s->count;
        if (guess && s->variants[i].cache) {
            continue;
        }
        const size_t at = guess ? i : next_variant(s, here);
        left -= at != 0 && s->variants[at].ns <= 0 && !s->variants[at].refused;
        const double ns = time_of(s, at), now = s->variants[here].ns;
        if (ns > 0 && (guess ? ns < now : tn_annealing_moves(&s->annealing, ns, now))) {
            here = at;
        }
        best = ns > 0 && ns < s->variants[best].ns ? at : best;
    }
    return best;
}

// Both again, in turns: a lucky minimum does not win.
static bool confirmed(search *s, size_t best)
{
    double before = 0, after = 0;
    for (int i = 0; i < CONFIRMATIONS; i++) {
        const double a = least(s, &s->variants[0], RUNS), b = least(s, &s->variants[best], RUNS);
        if (a <= 0 || b <= 0) {
            return false;
        }
        before = i ? TN_MIN(before, a) : a;
        after = i ? TN_MIN(after, b) : b;
    }
    s->variants[0].ns = before;
    s->variants[best].ns = after;
    return after < MARGIN * before;
}

// With several threads: a run that takes far longer than it does on one was waiting for a core that had other work. Nothing can be
// concluded from such times, so a node that stays so is left as it is.
static bool disturbed(search *s)
{
    const variant shared = {.row = s->variants[0].row, .cache = s->variants[0].cache}, alone = {.row = shared.row, .cache = shared.cache, .alone = true};
    bool bad = s->tune->threads > 1;
    for (int i = 0; i < 3 && bad; i++) {
        const double all = least(s, &shared, RUNS), one = least(s, &alone, RUNS);
        bad = all > 1.5 * one + SHARED_NS;
    }
    return bad;
}

static tn_status search_node(search *s, uint64_t until, double *before, double *after)
{
    gather(s);
    tn_annealing_begin(&s->annealing, until);
    *before = *after = time_of(s, 0);
    const size_t best = s->count > 1 && *before > 0 && !disturbed(s) ? walk(s) : 0;
    tn_status status = TN_OK;
    if (best && confirmed(s, best) && !disturbed(s)) {
        const variant *v = &s->variants[best];
        tn_tuned row = {.node = s->node->key, .row = v->row, .in = s->node->in, .out = s->node->out, .cache = v->cache, .alone = v->alone};
        memcpy(row.shape, s->node->shape, sizeof row.shape);
        status = tn_choices_put(s->tune->choices, &row) ? TN_OK : TN_OUT_OF_MEMORY;
        *after = v->ns;
    }
    *before = s->variants[0].ns;
    *after = *after < *before ? *after : *before;
    tn_give(s->tune->heap, s->expected);
    s->expected = NULL;
    return status;
}

// ---- all nodes ----

static bool tunable(const tn_plan *plan, const tn_step *step)
{
    if (step->kind != TN_STEP_KERNEL || !step->kernel || step->dynamic || step->kernel->impl >= TN_IMPL_OPENCL_IMAGE || step->call.op->row ||
        step->call.op->flags & (TN_OP_CONTROL | TN_OP_DYNAMIC)) {
        return false;
    }
    for (int i = 0; i < step->call.n_in + step->call.n_out; i++) {
        const int slot = i < step->call.n_in ? step->in[i] : step->out[i - step->call.n_in];
        const tn_tensor *tensor = slot >= 0 ? &plan->slots[slot].tensor : NULL;
        size_t bytes;
        if (tensor && (tensor->kind != TN_KIND_TENSOR || tensor->dtype == TN_STRING || !tn_tensor_bytes(tensor, &bytes) || !bytes)) {
            return false;
        }
    }
    return step->call.n_in > 0 && step->call.n_out > 0;
}

void tn_tune_cpu_add(tn_tune_cpu *tune, const tn_plan *plan)
{
    for (size_t i = 0; i < plan->n_steps && tune->count < TN_TUNE_MAX_NODES; i++) {
        const tn_step *step = &plan->steps[i];
        if ((plan->flows && plan->flows[i]) || !tunable(plan, step)) {
            continue;
        }
        tn_tune_node *node = &tune->nodes[tune->count];
        search s = {.tune = tune, .node = node};
        trial t = {.n_blocks = 0};
        const bool any = step->kernel->layouts.in == TN_LAYOUT_SAME;
        *node = (tn_tune_node){.plan = plan, .step = step, .weight = step->cost, .in = any ? (uint8_t)step->layout : step->kernel->layouts.in,
                               .out = any ? (uint8_t)step->layout : step->kernel->layouts.out};
        describe(&s, &t, &(variant){.row = step->kernel});
        node->key = tn_choices_node(tune->heap, &t.query, node->shape);
        size_t same = 0;
        while (same < tune->count && (tune->nodes[same].key != node->key || tune->nodes[same].in != node->in || tune->nodes[same].out != node->out)) {
            same++;
        }
        gather(&s);
        tune->nodes[same].weight += same < tune->count ? step->cost : 0;
        tune->count += same == tune->count && node->key && s.count > 1;
    }
}

static int dearer(const void *a, const void *b)
{
    const double x = ((const tn_tune_node *)a)->weight, y = ((const tn_tune_node *)b)->weight;
    return (x < y) - (x > y);
}

tn_status tn_tune_cpu_run(tn_tune_cpu *tune, const tn_tune_request *request)
{
    search s = {.tune = tune, .annealing = {.random = request->seed}, .filler_bytes = tune->cpu->l2};
    const uint64_t deadline = tn_clock_ns() + (uint64_t)(request->seconds * 1e9);
    double weight = 0;
    tn_status status = TN_OK;
    s.filler = tn_take_zero(tune->heap, s.filler_bytes, 1);
    if (!s.filler) {
        return tn_fail_memory(request->diag, "tune", s.filler_bytes);
    }
    qsort(tune->nodes, tune->count, sizeof *tune->nodes, dearer);
    for (size_t i = 0; i < tune->count; i++) {
        weight += tune->nodes[i].weight;
    }
    for (size_t i = 0; i < tune->count && status == TN_OK; i++) {
        char name[TN_CHOICES_SHAPE + 64];
        const uint64_t now = tn_clock_ns();
        double before, after;
        if (now >= deadline) {
            break;
        }
        s.node = &tune->nodes[i];
        // Half of the time goes by what a node costs, half to all alike.
        const double share = 0.5 / (double)(tune->count - i) + (weight > 0 ? 0.5 * s.node->weight / weight : 0);
        status = search_node(&s, now + (uint64_t)((double)(deadline - now) * TN_MIN(share, 1.0)), &before, &after);
        weight -= s.node->weight;
        (void)snprintf(name, sizeof name, "%.48s %s", s.node->step->call.op->name, s.node->shape);
        if (status == TN_OK && request->progress && !request->progress(request->context, i + 1, tune->count, name, before, after)) {
            break;
        }
    }
    tn_give(tune->heap, s.filler);
    return status == TN_OK ? TN_OK : tn_fail_memory(request->diag, "tune", sizeof(tn_tuned));
}
