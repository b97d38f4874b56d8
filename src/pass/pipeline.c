// SPDX-License-Identifier: Apache-2.0
// The order of the passes, in one table, and the loop that runs it over a graph and its bodies. Facts are inferred again after each
// pass that changed something; dims that cannot be told have symbols of their own meanwhile, so that passes see which are the same.
// Ownership: the caller's graph. Threads: one per graph.
#include "pass/pass.h"

#include "pass/clean/clean.h"
#include "pass/fuse/fuse.h"
#include "pass/infer.h"

#include <string.h>

#define MAX_ROUNDS 32   // of a group that repeats until nothing changes

typedef struct step {
    const tn_pass *pass;
    bool repeat;        // goes back to the first of the steps before it that also say so, until none of them changes anything
} step;

static const step steps[] = {
    // Constants, and the branches they decide.
    {&tn_pass_fold, true},
    {&tn_pass_inline_if, true},
    {&tn_pass_sink, true},
    {&tn_pass_dead, true},
    // What does nothing.
    {&tn_pass_neutral, false},
    {&tn_pass_dedup, false},
    {&tn_pass_untangle, false},
    {&tn_pass_neutral, false},
    {&tn_pass_dead, false},
    // Written-out functions become operators.
    {&tn_pass_fuse_pattern, false},
    {&tn_pass_fuse_norm, false},
    // Into convolutions and matrix products.
    {&tn_pass_fuse_matmul, false},
    {&tn_pass_fuse_hoist, false},
    {&tn_pass_fuse_pad, false},
    {&tn_pass_fuse_affine, false},
    {&tn_pass_fuse_act, false},
    {&tn_pass_fuse_residual, false},
    {&tn_pass_fuse_affine, false},
    {&tn_pass_fuse_act, false},
    // What is left.
    {&tn_pass_fuse_chain, false},
    {&tn_pass_dedup, false},
    {&tn_pass_dead, false},
};

const tn_pass *tn_pass_find(const char *name)
{
    for (size_t i = 0; i < TN_COUNT(steps); i++) {
        if (strcmp(steps[i].pass->name, name) == 0) {
            return steps[i].pass;
        }
    }
    return NULL;
}

// Innermost bodies first.
static tn_status run_pass(tn_graph *graph, tn_pass_context *context, const tn_pass *pass)
{
    for (tn_node *node = graph->first; node; node = node->next) {
        for (int i = 0; i < node->n_bodies; i++) {
            TN_TRY(run_pass(node->bodies[i], context, pass));
        }
    }
    return pass->run(graph, context);
}

static tn_status run_step(tn_graph *graph, tn_pass_context *context, const tn_pass *pass, bool *changed)
{
    const unsigned before = context->changes;
    TN_TRY(run_pass(graph, context, pass));
    *changed = context->changes != before;
#ifdef TN_DEBUG
    TN_TRY(tn_graph_verify(graph, context->diag));
#endif
    return *changed ? tn_infer_graph_fresh(graph, context->heap, context->diag) : TN_OK;
}

static tn_status run_steps(tn_graph *graph, tn_pass_context *context, const char *last)
{
    bool group_changed = false;
    int rounds = 0;
    for (size_t i = 0; i < TN_COUNT(steps); i++) {
        bool changed;
        TN_TRY(run_step(graph, context, steps[i].pass, &changed));
        group_changed = group_changed || changed;
        const bool group_ends = steps[i].repeat && (i + 1 == TN_COUNT(steps) || !steps[i + 1].repeat);
        if (group_ends && group_changed && ++rounds < MAX_ROUNDS) {
            while (i > 0 && steps[i - 1].repeat) {
                i--;
            }
            group_changed = false;
            i--;
            continue;
        }
        if (last && strcmp(steps[i].pass->name, last) == 0) {
            break;
        }
    }
    return TN_OK;
}

tn_status tn_optimise(tn_graph *graph, tn_pass_context *context, const char *last)
{
    TN_TRY(tn_infer_graph_fresh(graph, context->heap, context->diag));
    TN_TRY(run_steps(graph, context, last));
    return tn_infer_graph(graph, context->heap, context->diag);
}
