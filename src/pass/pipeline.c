// SPDX-License-Identifier: Apache-2.0
// The order of the passes, in one table, and the loop that runs it over a graph and its bodies. Facts are inferred again after each
// pass that changed something; dims that cannot be told have symbols of their own meanwhile, so that passes see which are the same.
// Ownership: the caller's graph. Threads: one per graph.
#include "pass/pass.h"

#include "pass/clean/clean.h"
#include "pass/fuse/fuse.h"
#include "pass/infer.h"
#include "pass/quant/quant.h"

#include <string.h>

#define MAX_ROUNDS 32   // of a group that repeats until nothing changes

enum {
    REPEAT = 1,   // goes back to the first of the steps before it that also say so, until none of them changes anything
    SHAPED = 2,   // of use again when a plan knows all shapes; makes no weights
};

typedef struct step {
    const tn_pass *pass;
    unsigned flags;
} step;

static const step steps[] = {
    // Quantised arithmetic, before its constants are computed as floats; then constants, and the branches they decide.
    {&tn_pass_quant_move, REPEAT},
    {&tn_pass_quant_fold, REPEAT},
    {&tn_pass_split_einsum, REPEAT},
    {&tn_pass_fold, REPEAT},
    {&tn_pass_inline_if, REPEAT},
    {&tn_pass_sink, REPEAT},
    {&tn_pass_dead, REPEAT},
    // What does nothing.
    {&tn_pass_neutral, SHAPED},
    {&tn_pass_dedup, SHAPED},
    {&tn_pass_untangle, SHAPED},
    {&tn_pass_neutral, 0},
    {&tn_pass_dead, SHAPED},
    // Written-out functions become operators.
    {&tn_pass_fuse_pattern, 0},
    {&tn_pass_fuse_norm, 0},
    // Of which quantised graphs have integer forms too.
    {&tn_pass_quant_fold, 0},
    // Into convolutions and matrix products.
    {&tn_pass_fuse_matmul, SHAPED},
    {&tn_pass_fuse_hoist, 0},
    {&tn_pass_fuse_pad, SHAPED},
    {&tn_pass_fuse_affine, 0},
    // Behind what quantisation sees: its softmax has a form in integers.
    {&tn_pass_fuse_attention, SHAPED},
    {&tn_pass_fuse_act, SHAPED},
    {&tn_pass_fuse_residual, SHAPED},
    {&tn_pass_fuse_affine, 0},
    {&tn_pass_fuse_act, SHAPED},
    // What is left.
    {&tn_pass_fold, 0},
    {&tn_pass_fuse_chain, SHAPED},
    {&tn_pass_dedup, 0},
    {&tn_pass_dead, SHAPED},
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

// One pass over the graph and its bodies, checked in debug builds, and facts again when it changed something.
static tn_status run_step(tn_graph *graph, tn_pass_context *context, const tn_pass *pass, bool *changed)
{
    const unsigned before = context->changes;
    const tn_status status = run_pass(graph, context, pass);
    if (status != TN_OK) {
        // Editing calls say only that there is no memory; what has a message of its own keeps it.
        return tn_fail(context->diag, status, graph->name, "the pass %s failed: %s", pass->name, tn_status_text(status));
    }
    *changed = context->changes != before;
#ifdef TN_DEBUG
    TN_TRY(tn_graph_verify(graph, context->diag));
#endif
    return *changed ? tn_infer_graph_fresh(graph, context->heap, context->diag) : TN_OK;
}

// The table from the top to `last`.
static tn_status run_steps(tn_graph *graph, tn_pass_context *context, const char *last)
{
    bool group_changed = false;
    int rounds = 0;
    for (size_t i = 0; i < TN_COUNT(steps); i++) {
        bool changed;
        TN_TRY(run_step(graph, context, steps[i].pass, &changed));
        group_changed = group_changed || changed;
        const bool group_ends = steps[i].flags & REPEAT && (i + 1 == TN_COUNT(steps) || !(steps[i + 1].flags & REPEAT));
        if (group_ends && group_changed && ++rounds < MAX_ROUNDS) {
            while (i > 0 && steps[i - 1].flags & REPEAT) {
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

tn_status tn_optimise_shaped(tn_graph *graph, tn_pass_context *context)
{
    const size_t n_values = graph->n_values;
    for (size_t i = 0; i < TN_COUNT(steps); i++) {
        bool changed;
        if (steps[i].flags & SHAPED) {
            TN_TRY(run_step(graph, context, steps[i].pass, &changed));
        }
    }
    // New constants die with the plan: the model's weight store must not know them.
    for (size_t i = n_values; i < graph->n_values; i++) {
        graph->values[i]->weight = 0;
    }
    return TN_OK;
}
