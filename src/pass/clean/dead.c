// SPDX-License-Identifier: Apache-2.0
// Removes nodes none of whose results is used, asked for or a result of the graph. One walk from the end finds all.
// Ownership: the caller's graph. Threads: one per graph.
#include "pass/clean/clean.h"

#include "pass/rewrite.h"

static tn_status run_dead(tn_graph *graph, tn_pass_context *context)
{
    for (tn_node *node = graph->last, *prev; node; node = prev) {
        prev = node->prev;
        if (tn_drop_unused(graph, context, node)) {
            context->changes++;
        }
    }
    return TN_OK;
}

const tn_pass tn_pass_dead = {"dead", run_dead};
