// SPDX-License-Identifier: Apache-2.0
// Activations that models write out with simpler operators. A table of pattern and replacement; the forms are those of the
// definitions in the ONNX operator reference (Swish, HardSwish, HardSigmoid, Mish, Gelu) as exporters write them.
// Ownership: the caller's graph. Threads: one per graph.
#include "pass/fuse/fuse.h"

#include "ops/nn/op_activation.h"
#include "pass/pattern.h"

typedef struct row {
    const char *pattern;       // x is the operand
    const tn_op *op;
    double alpha, beta;        // of the replacement
    bool approximate;
    int alpha_from, beta_from; // 1 + index of a captured number; 0: as given
} row;

static const row rows[] = {
    {"mul(x, sigmoid(x))", &tn_op_swish, 1, 0, false, 0, 0},
    {"mul(x, sigmoid(mul(#, x)))", &tn_op_swish, 1, 0, false, 1, 0},
    {"mul(x, hard_sigmoid[0.16666667,0.5](x))", &tn_op_hard_swish, 0, 0, false, 0, 0},
    {"mul(0.16666667, x, clip(add(3, x), 0, 6))", &tn_op_hard_swish, 0, 0, false, 0, 0},
    {"mul(0.16666667, clip(add(3, x), 0, 6))", &tn_op_hard_sigmoid, 1.0 / 6, 0.5, false, 0, 0},
    {"clip(add(#, mul(#, x)), 0, 1)", &tn_op_hard_sigmoid, 0, 0, false, 2, 1},
    {"mul(x, tanh(softplus(x)))", &tn_op_mish, 0, 0, false, 0, 0},
    {"mul(0.5, x, add(1, erf(mul(0.70710678, x))))", &tn_op_gelu, 0, 0, false, 0, 0},
    {"mul(0.5, x, add(1, tanh(mul(0.79788456, add(x, mul(0.044715, x, x, x))))))", &tn_op_gelu, 0, 0, true, 0, 0},
    {"mul(0.5, x, add(1, tanh(mul(0.79788456, x, add(1, mul(0.044715, x, x))))))", &tn_op_gelu, 0, 0, true, 0, 0},
};

// The matched nodes become one node of the row's operator; attributes the row does not speak of keep their defaults.
static tn_status replace(tn_graph *graph, tn_pass_context *context, const row *row, const tn_match *match)
{
    static const tn_activation_attr none = {0};
    tn_activation_attr attr = row->op->defaults ? *(const tn_activation_attr *)row->op->defaults : none;
    attr.approximate = row->approximate;
    if (row->alpha || row->alpha_from) {
        attr.alpha = row->alpha_from ? match->number[row->alpha_from - 1] : row->alpha;
    }
    if (row->beta || row->beta_from) {
        attr.beta = row->beta_from ? match->number[row->beta_from - 1] : row->beta;
    }
    tn_value *x = TN_MATCHED(match, 'x');
    const tn_rewrite rewrite = {.root = match->node[0],
                                .op = row->op,
                                .attr = row->op->attr_size ? &attr : NULL,
                                .in = &x,
                                .n_in = 1,
                                .from = match->node + 1,
                                .n_from = match->n_nodes - 1};
    return tn_rewrite_node(graph, context, &rewrite, NULL);
}

// The first row that fits wins. Nodes are visited in order, so a form that contains another (hard_swish of hard_sigmoid) finds it
// replaced already.
static tn_status visit(tn_graph *graph, tn_pass_context *context, const tn_pattern *patterns, tn_node *node)
{
    if (node->n_out < 1 || !node->out[0] || !tn_is_f32(node->out[0])) {
        return TN_OK;
    }
    for (size_t i = 0; i < TN_COUNT(rows); i++) {
        tn_match match;
        if (!tn_pattern_match(&patterns[i], context, node, &match)) {
            continue;
        }
        const tn_value *x = TN_MATCHED(&match, 'x');
        // All other operands are single elements: with the rank the shape is that of x.
        if (tn_is_f32(x) && x->shape.rank >= 0 && x->shape.rank == node->out[0]->shape.rank) {
            return replace(graph, context, &rows[i], &match);
        }
    }
    return TN_OK;
}

static tn_status run_fuse_pattern(tn_graph *graph, tn_pass_context *context)
{
    tn_status status = TN_OK;
    tn_pattern *patterns;
    TN_TRY(tn_pattern_parse_all(&patterns, rows, TN_COUNT(rows), sizeof *rows, context));
    for (tn_node *node = graph->first, *next; node; node = next) {
        next = node->next;
        TN_GO(visit(graph, context, patterns, node));
    }
done:
    tn_give(context->heap, patterns);
    return status;
}

const tn_pass tn_pass_fuse_pattern = {"fuse_pattern", run_fuse_pattern};
