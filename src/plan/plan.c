// SPDX-License-Identifier: Apache-2.0
// Makes a plan: the nine steps in order, then the budget. Over budget the last steps are done again with rows that need little
// memory; if that does not fit either, the error says how much would.
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

static tn_status attempt(tn_plan **out, const tn_plan_request *request, tn_plan_context *context, bool lean, tn_diag *diag)
{
    tn_status status = TN_OK;
    tn_plan *plan = tn_take_zero(context->heap, 1, sizeof *plan);
    tn_work work = {.plan = plan, .request = request, .context = context, .diag = diag, .lean = lean};
    if (!plan) {
        return tn_fail_memory(diag, "plan", sizeof *plan);
    }
    tn_arena_init(&work.scratch, context->heap);
    tn_arena_init(&plan->arena, context->heap);
    plan->heap = context->heap;
    plan->weights = context->weights;
    plan->graph = tn_graph_clone(request->graph, context->heap, NULL);
    work.graph = plan->graph;
    if (!plan->graph) {
        status = tn_fail_memory(diag, "plan", sizeof(tn_graph));
        goto done;
    }
    for (size_t i = 0; i < TN_COUNT(plan_steps); i++) {
        TN_GO(plan_steps[i].run(&work));
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

static uint64_t peak_of(const tn_plan *plan)
{
    return (uint64_t)plan->memory.arena_bytes + plan->memory.output_bytes + plan->memory.packed_bytes;
}

static tn_status make(tn_plan **out, const tn_plan_request *request, tn_plan_context *context, tn_diag *diag)
{
    *out = NULL;
    const uint64_t limit = context->limit_memory ? context->limit_memory : context->limit_peak;
    tn_plan *plan = NULL;
    TN_TRY(attempt(&plan, request, context, false, diag));
    if (limit && peak_of(plan) > limit) {
        tn_plan_destroy(plan);
        plan = NULL;
        TN_TRY(attempt(&plan, request, context, true, diag));
    }
    if (limit && peak_of(plan) > limit) {
        const unsigned long long needed = peak_of(plan);
        tn_plan_destroy(plan);
        return tn_fail(diag, TN_LIMIT, "plan", "a run would take %llu bytes (arena, results and packed weights), more than %s (%llu) allows",
                       needed, context->limit_memory ? "memory_limit" : "limit_peak_bytes", (unsigned long long)limit);
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
