// SPDX-License-Identifier: Apache-2.0
// Makes a plan: the ten steps in order, then the budget. Over budget the steps are done again with a price on each byte that a row
// holds, the first of a fixed list at which the plan fits; if none does, the error says how much would be needed.
#include "plan/work.h"
#include "sys/clock.h"

#include <string.h>

const char *tn_lease_text(tn_lease lease)
{
    static const char *const texts[] = {
#define X(name, text) text,
        TN_LEASE_LIST(X)
#undef X
    };
    return (size_t)lease < TN_COUNT(texts) ? texts[lease] : "?";
}

typedef tn_status (*plan_fn)(tn_work *work);

static const struct {
    const char *name;
    plan_fn run;
} plan_steps[] = {
    {"shapes", tn_plan_shapes},  {"stage", tn_plan_stage},   {"lower", tn_plan_lower}, {"move", tn_plan_move},
    {"place", tn_plan_place},    {"layout", tn_plan_layout}, {"join", tn_plan_join},
    {"order", tn_plan_order},    {"bind", tn_plan_bind},     {"memory", tn_plan_memory_assign},
};

// How much an attempt cares for memory.
typedef struct thrift {
    double byte_ns;
    bool transient, dry;
} thrift;

// An empty plan and the bench it is made on.
static tn_status begin(tn_work *work, const tn_plan_request *request, tn_plan_context *context, thrift thrift, tn_diag *diag)
{
    tn_plan *plan = tn_take_zero(context->heap, 1, sizeof *plan);
    *work = (tn_work){.plan = plan, .request = request, .context = context, .diag = diag, .byte_ns = thrift.byte_ns,
                      .transient = thrift.transient, .dry = thrift.dry};
    tn_arena_init(&work->scratch, context->heap);
    if (!plan) {
        return tn_fail_memory(diag, "plan", sizeof *plan);
    }
    tn_arena_init(&plan->arena, context->heap);
    plan->heap = context->heap;
    plan->byte_ns = thrift.byte_ns;
    plan->weights = context->weights;
    plan->graph = tn_graph_clone(request->graph, context->heap, NULL);
    work->graph = plan->graph;
    return plan->graph ? TN_OK : tn_fail_memory(diag, "plan", sizeof(tn_graph));
}

static tn_status attempt(tn_plan **out, const tn_plan_request *request, tn_plan_context *context, thrift thrift, tn_diag *diag)
{
    tn_work work;
    tn_status status = begin(&work, request, context, thrift, diag);
    for (size_t i = 0; status == TN_OK && i < TN_COUNT(plan_steps); i++) {
        TN_GO(plan_steps[i].run(&work));
#ifdef TN_DEBUG
        TN_GO(tn_graph_verify(work.graph, diag));
#endif
    }
    if (status == TN_OK) {
        *out = work.plan;
        work.plan = NULL;
    }
done:
    tn_arena_deinit(&work.scratch);
    tn_plan_destroy(work.plan);
    return status;
}

uint64_t tn_plan_held(const tn_plan *plan)
{
    uint64_t held = 0;
    for (size_t i = 0; plan->flows && i < plan->n_steps; i++) {
        const tn_flow *flow = plan->flows[i];
        held += flow && flow->device->vtable->holds ? flow->device->vtable->memory(flow) : 0;
    }
    return held;
}

uint64_t tn_plan_peak(const tn_plan *plan)
{
    const tn_plan_memory *m = &plan->memory;
    return (uint64_t)m->arena_bytes + m->packed_bytes + m->output_bytes + m->input_bytes + tn_plan_held(plan);
}

// What a plan would need; UINT64_MAX where arithmetic by plain rows is over another limit. Nothing is packed, told or counted.
static tn_status weigh(uint64_t *peak, const tn_plan_request *request, const tn_plan_context *context, thrift thrift, tn_diag *diag)
{
    tn_plan_context quiet = *context;
    tn_plan *plan = NULL;
    tn_diag limits = {0};
    quiet.log = NULL;
    thrift.dry = true;
    const tn_status status = attempt(&plan, request, &quiet, thrift, thrift.byte_ns > 0 ? &limits : diag);
    *peak = plan ? tn_plan_peak(plan) : UINT64_MAX;
    tn_plan_destroy(plan);
    if (status == TN_LIMIT && thrift.byte_ns > 0) {
        return TN_OK;
    }
    if (status != TN_OK && thrift.byte_ns > 0) {
        *diag = limits;
    }
    return status;
}

// The prices of a byte: every node changes to a row that holds less where the bytes it saves, so priced, are worth the time it loses.
// They are the same for every limit, and so is their order: weights alone, then workspaces and conversions too, cheap prices first. What
// a limit leads to is then also what the peak that it leads to leads to as a limit, and more bytes never lead to less.
#define PRICES 20
#define LOWEST_PRICE 1e-3         // ns: below what the largest transforms of weights gain
#define PRICE_RATIO 3             // so that the highest is about 1e6 ns, where no row is too slow

static thrift rung(int index)
{
    thrift t = {.byte_ns = LOWEST_PRICE, .transient = index >= PRICES};
    for (int i = 0; i < index % PRICES; i++) {
        t.byte_ns *= PRICE_RATIO;
    }
    return t;
}

// Many prices lead to the same rows. A sketch, the plan up to the step that chooses them, tells which; a plan is weighed once for each.
typedef struct trials {
    uint64_t rows[2 * PRICES], peaks[2 * PRICES];
    int count;
} trials;

static tn_status open_sketch(tn_work *sketch, const tn_plan_request *request, tn_plan_context *context, tn_diag *diag)
{
    TN_TRY(begin(sketch, request, context, (thrift){.byte_ns = LOWEST_PRICE, .dry = true}, diag));
    for (size_t i = 0; plan_steps[i].run != tn_plan_layout; i++) {
        TN_TRY(plan_steps[i].run(sketch));
    }
    return TN_OK;
}

static uint64_t hash_rows(const tn_work *work)
{
    uint64_t hash = 0;
    for (const tn_node *node = work->graph->first; node; node = node->next) {
        const tn_choice *choice = &work->chosen[node->id];
        const uint64_t words[3] = {node->id, (uintptr_t)choice->row, choice->in + 256u * choice->out};
        hash = tn_hash(words, sizeof words, hash);
    }
    return hash;
}

static tn_status try_price(uint64_t *peak, trials *seen, tn_work *sketch, thrift thrift, const tn_plan_request *request,
                           const tn_plan_context *context, tn_diag *diag)
{
    sketch->byte_ns = thrift.byte_ns;
    sketch->transient = thrift.transient;
    TN_TRY(tn_plan_rows(sketch));
    const uint64_t rows = hash_rows(sketch);
    for (int i = 0; i < seen->count; i++) {
        if (seen->rows[i] == rows) {
            *peak = seen->peaks[i];
            return TN_OK;
        }
    }
    TN_TRY(weigh(peak, request, context, thrift, diag));
    seen->rows[seen->count] = rows;
    seen->peaks[seen->count++] = *peak;
    return TN_OK;
}

// The first of these whose plan fits the limit, none at all before them. *needed is what it takes; where none fits, the least that one
// would take.
static tn_status economise(thrift *found, uint64_t *needed, uint64_t limit, const tn_plan_request *request, const tn_plan_context *context,
                           tn_diag *diag)
{
    tn_plan_context quiet = *context;
    trials seen = {.count = 0};
    tn_work sketch = {.plan = NULL};
    *found = (thrift){0};
    quiet.log = NULL;
    tn_status status = weigh(needed, request, context, *found, diag);
    if (status != TN_OK || *needed <= limit) {
        return status;
    }
    TN_GO(open_sketch(&sketch, request, &quiet, diag));
    for (int i = 0; i < 2 * PRICES && *needed > limit; i++) {
        uint64_t peak;
        const thrift tried = rung(i);
        TN_GO(try_price(&peak, &seen, &sketch, tried, request, context, diag));
        if (peak < *needed) {
            *needed = peak;
            *found = tried;
        }
    }
done:
    tn_arena_deinit(&sketch.scratch);
    tn_plan_destroy(sketch.plan);
    return status;
}

uint64_t tn_plan_limit(const tn_plan_context *context) { return context->limit_memory ? context->limit_memory : context->limit_peak; }

static tn_status make(tn_plan **out, const tn_plan_request *request, tn_plan_context *context, tn_diag *diag)
{
    *out = NULL;
    const uint64_t all = tn_plan_limit(context);
    const uint64_t beside = context->around + request->spare, room = !all ? UINT64_MAX : all > beside ? all - beside : 0;
    thrift thrift = {0};
    uint64_t needed = 0;
    tn_plan *plan = NULL;
    // The default limit is far away: most plans are made once. Where the application sets one, nothing is packed before it fits.
    if (!context->limit_memory) {
        TN_TRY(attempt(&plan, request, context, thrift, diag));
        needed = tn_plan_peak(plan);
    }
    if (all && (!plan || needed > room)) {
        tn_plan_destroy(plan);
        plan = NULL;
        TN_TRY(economise(&thrift, &needed, room, request, context, diag));
    }
    if (!plan && needed <= room) {
        TN_TRY(attempt(&plan, request, context, thrift, diag));
        needed = tn_plan_peak(plan);
    }
    if (needed > room) {
        tn_plan_destroy(plan);
        context->lacking = needed + beside - all;
        return tn_fail(diag, TN_LIMIT, "plan",
                       "a run would take at least %llu bytes (arena, packed weights, inputs and results), more than %s (%llu) allows",
                       (unsigned long long)(needed + beside), context->limit_memory ? "memory_limit" : "limit_peak_bytes",
                       (unsigned long long)all);
    }
    plan->serial = ++context->plans;
    plan->lean = thrift.byte_ns > 0 ? context->runs : 0;
    *out = plan;
    return TN_OK;
}

tn_status tn_plan_make(tn_plan **out, const tn_plan_request *request, tn_plan_context *context, tn_diag *diag)
{
    const uint64_t begin = tn_clock_ns();
    const tn_status status = make(out, request, context, diag);
    context->planning_ns += tn_clock_ns() - begin;
    return status;
}

void tn_plan_destroy(tn_plan *plan)
{
    if (!plan) {
        return;
    }
    for (size_t i = 0; i < plan->n_steps; i++) {
        for (int k = 0; k < TN_MAX_PACKS; k++) {
            tn_weights_give(plan->weights, plan->steps[i].packed[k]);
        }
    }
    for (size_t i = 0; i < plan->n_held; i++) {
        tn_weights_give(plan->weights, plan->held[i]);
    }
    tn_graph_destroy(plan->graph);
    tn_graph_destroy(plan->rest);
    tn_arena_deinit(&plan->arena);
    tn_give(plan->heap, plan->key);
    tn_give(plan->heap, plan);
}
