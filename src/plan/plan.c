// SPDX-License-Identifier: Apache-2.0
// Makes a plan: the nine steps in order, then the budget. Over budget the steps are done again with a price on each byte that a row
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
    {"place", tn_plan_place},    {"layout", tn_plan_layout}, {"order", tn_plan_order}, {"bind", tn_plan_bind},
    {"memory", tn_plan_memory_assign},
};

// How much an attempt cares for memory.
typedef struct thrift {
    double byte_ns;
    bool transient, dry;
} thrift;

// The rows that a trial led to, by their hash, and the peak with them: most prices lead to the rows of the one before.
typedef struct trial {
    uint64_t rows;
    uint64_t peak;
} trial;

static uint64_t hash_rows(const tn_work *work)
{
    uint64_t hash = 0;
    for (const tn_node *node = work->graph->first; node; node = node->next) {
        const tn_choice *choice = node->id < work->n_chosen ? &work->chosen[node->id] : NULL;
        const uint64_t words[3] = {node->id, choice ? (uintptr_t)choice->row : 0, choice ? choice->in + 256u * choice->out : 0};
        hash = tn_hash(words, sizeof words, hash);
    }
    return hash;
}

// *out stays NULL where `last` (may be NULL) has the rows of this attempt already.
static tn_status attempt(tn_plan **out, const tn_plan_request *request, tn_plan_context *context, thrift thrift, trial *last, tn_diag *diag)
{
    tn_status status = TN_OK;
    tn_plan *plan = tn_take_zero(context->heap, 1, sizeof *plan);
    tn_work work = {.plan = plan, .request = request, .context = context, .diag = diag, .byte_ns = thrift.byte_ns,
                    .transient = thrift.transient, .dry = thrift.dry};
    if (!plan) {
        return tn_fail_memory(diag, "plan", sizeof *plan);
    }
    tn_arena_init(&work.scratch, context->heap);
    tn_arena_init(&plan->arena, context->heap);
    plan->heap = context->heap;
    plan->byte_ns = thrift.byte_ns;
    plan->weights = context->weights;
    plan->graph = tn_graph_clone(request->graph, context->heap, NULL);
    work.graph = plan->graph;
    if (!plan->graph) {
        status = tn_fail_memory(diag, "plan", sizeof(tn_graph));
        goto done;
    }
    for (size_t i = 0; i < TN_COUNT(plan_steps); i++) {
        TN_GO(plan_steps[i].run(&work));
        if (last && plan_steps[i].run == tn_plan_layout) {
            const uint64_t before = last->rows;
            last->rows = hash_rows(&work);
            if (last->rows == before) {
                goto done;
            }
        }
#ifdef TN_DEBUG
        TN_GO(tn_graph_verify(plan->graph, diag));
#endif
    }
    *out = plan;
    plan = NULL;
done:
    tn_arena_deinit(&work.scratch);
    tn_plan_destroy(plan);
    return status;
}

uint64_t tn_plan_peak(const tn_plan *plan)
{
    const tn_plan_memory *m = &plan->memory;
    return (uint64_t)m->arena_bytes + m->packed_bytes + m->output_bytes + m->input_bytes;
}

// What a plan would need; UINT64_MAX where arithmetic by plain rows is over another limit. Nothing is packed, told or counted.
static tn_status weigh(trial *last, const tn_plan_request *request, const tn_plan_context *context, thrift thrift, tn_diag *diag)
{
    tn_plan_context quiet = *context;
    tn_plan *plan = NULL;
    tn_diag limits = {0};
    quiet.log = NULL;
    thrift.dry = true;
    const tn_status status = attempt(&plan, request, &quiet, thrift, last, thrift.byte_ns > 0 ? &limits : diag);
    if (status != TN_OK) {
        *last = (trial){0, UINT64_MAX};
    } else if (plan) {
        last->peak = tn_plan_peak(plan);
    }
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

// The first of these whose plan fits the limit, none at all before them. *needed is what it takes; where none fits, the least that one
// would take.
static tn_status economise(thrift *found, uint64_t *needed, uint64_t limit, const tn_plan_request *request, const tn_plan_context *context,
                           tn_diag *diag)
{
    trial last = {0, UINT64_MAX};
    *found = (thrift){0};
    TN_TRY(weigh(&last, request, context, *found, diag));
    *needed = last.peak;
    last.rows = 0;      // measured choices count in this one alone
    for (int i = 0; i < 2 * PRICES && *needed > limit; i++) {
        const thrift tried = rung(i);
        TN_TRY(weigh(&last, request, context, tried, diag));
        if (last.peak < *needed) {
            *needed = last.peak;
            *found = tried;
        }
    }
    return TN_OK;
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
        TN_TRY(attempt(&plan, request, context, thrift, NULL, diag));
        needed = tn_plan_peak(plan);
    }
    if (all && (!plan || needed > room)) {
        tn_plan_destroy(plan);
        plan = NULL;
        TN_TRY(economise(&thrift, &needed, room, request, context, diag));
    }
    if (!plan && needed <= room) {
        TN_TRY(attempt(&plan, request, context, thrift, NULL, diag));
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
