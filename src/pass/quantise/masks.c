// SPDX-License-Identifier: Apache-2.0
// Ranges of scores under masks (quantise.h).
// Ownership: new constants belong to the graph. Threads: one per graph.
#include "pass/quantise/quantise.h"

#include "base/macros.h"
#include "ops/math/op_binary.h"
#include "ops/math/op_select.h"
#include "pass/quantise/roles.h"
#include "pass/rewrite.h"

#include <math.h>

// What is so far below the others adds nothing to a softmax: exp(-16) is a ten-millionth.
#define MASKED 16.0f

// The value of which `value` is a moved copy, or a function.
static const tn_value *origin_of(const tn_value *value, bool functions)
{
    for (int i = 0; i < 64 && value->producer; i++) {
        const tn_role r = tn_role_of(value->producer);
        if (r != TN_ROLE_MOVE && !(functions && r == TN_ROLE_UNARY)) {
            break;
        }
        const tn_node *node = value->producer;
        int from = 0;
        while (from + 1 < node->n_in && (!node->in[from] || node->in[from]->constant)) {
            from++;
        }
        value = node->in[from];
    }
    return value;
}

// What puts a mask over scores under a softmax: the node, its operands, and the range of the scores.
typedef struct masking {
    tn_node *node;            // add, or where; NULL: there is none
    int mask;                 // operand
    const tn_range *scores;
} masking;

static masking masked(const tn_node *softmax, const tn_range *ranges)
{
    tn_node *node = tn_role_of(softmax) == TN_ROLE_SOFTMAX ? softmax->in[0]->producer : NULL;
    const bool chooses = node && node->op == &tn_op_where && node->n_in == 3;
    if (!node || (!chooses && (node->op != &tn_op_add || tn_role_of(node) != TN_ROLE_PAIR))) {
        return (masking){NULL, 0, NULL};
    }
    const int first = chooses ? 1 : 0;
    bool scores[2];
    for (int i = 0; i < 2; i++) {
        const tn_node *maker = node->in[first + i]->constant ? NULL : origin_of(node->in[first + i], true)->producer;
        scores[i] = maker && tn_role_of(maker) == TN_ROLE_PRODUCT;
    }
    const tn_range *range = &ranges[origin_of(node->in[first + !scores[0]], false)->id];
    return (masking){scores[0] != scores[1] && range->seen ? node : NULL, first + scores[0], range};
}

// The constant mask of a sum with no number below `least`.
static tn_status lift_constant(tn_graph *graph, tn_pass_context *context, tn_node *sum, int mask, float least)
{
    const tn_value *old = sum->in[mask];
    int64_t count;
    float *data;
    if (!tn_floats(old, &count)) {
        return TN_OK;
    }
    tn_value *lifted = tn_new_room(graph, &old->constant->shape, &data);
    if (!lifted) {
        return tn_fail_memory(context->diag, sum->name, (size_t)count * sizeof *data);
    }
    for (int64_t i = 0; i < count; i++) {
        data[i] = fmaxf(tn_float(old, i), least);
    }
    return tn_node_set_in(graph, sum, mask, lifted);
}

// `low` where values were lower, be it without end.
static void raise_low(tn_range *range, float low)
{
    range->low = range->bottomless ? low : fmaxf(range->low, low);
}

tn_status tn_trim_masks(tn_graph *graph, tn_pass_context *context, tn_range *ranges)
{
    float least = 0;
    for (const tn_node *node = graph->first; node; node = node->next) {
        const masking m = masked(node, ranges);
        least = m.node ? fminf(least, m.scores->low - m.scores->high - MASKED) : least;
    }
    for (tn_node *node = graph->first; node && least < 0; node = node->next) {
        const masking m = masked(node, ranges);
        if (!m.node) {
            continue;
        }
        if (m.node->op == &tn_op_add && m.node->in[m.mask]->constant) {
            TN_TRY(lift_constant(graph, context, m.node, m.mask, least));
        } else if (m.node->op == &tn_op_add) {
            raise_low(&ranges[origin_of(m.node->in[m.mask], false)->id], least);
        }
        raise_low(&ranges[node->in[0]->id], m.scores->low - MASKED);
    }
    return TN_OK;
}
