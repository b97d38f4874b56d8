// SPDX-License-Identifier: Apache-2.0
// Layer and root-mean-square normalisation written out with means, as exporters that lack the operator write them.
// Larger forms are tried first, on the last node first, so that scale and bias go along.
// Ownership: the caller's graph. Threads: one per graph.
#include "pass/fuse/fuse.h"

#include "ops/math/op_reduce.h"
#include "ops/nn/op_norm.h"
#include "pass/pattern.h"

// x minus its mean; the square root of the mean square of the result, or of x itself, and something small.
#define CENTRED "d=sub(x, reduce_mean(x, A))"
#define DEVIATION "sqrt(add(#, reduce_mean(mul(d, d), B)))"
#define RMS "sqrt(add(#, reduce_mean(mul(x, x), B)))"

typedef struct row {
    const char *pattern;   // x; A, B: axes; #: epsilon; G: scale; C: bias
    bool rms;
} row;

static const row rows[] = {
    {"add(C, mul(G, div(" CENTRED ", " DEVIATION ")))", false},
    {"add(C, mul(G, " CENTRED ", reciprocal(" DEVIATION ")))", false},
    {"mul(G, div(" CENTRED ", " DEVIATION "))", false},
    {"mul(G, " CENTRED ", reciprocal(" DEVIATION "))", false},
    {"div(" CENTRED ", " DEVIATION ")", false},
    {"mul(" CENTRED ", reciprocal(" DEVIATION "))", false},
    {"mul(G, div(x, " RMS "))", true},
    {"mul(G, x, reciprocal(" RMS "))", true},
    {"div(x, " RMS ")", true},
    {"mul(x, reciprocal(" RMS "))", true},
};

// The axes are the last ones: first .. rank - 1.
static bool trailing_axes(const tn_value *value, int rank, int *first)
{
    int64_t axes[TN_MAX_RANK];
    int count;
    uint32_t mask = 0;
    if (!tn_int_list(value, TN_MAX_RANK, axes, &count) || count < 1) {
        return false;
    }
    for (int i = 0; i < count; i++) {
        int axis;
        if (!tn_axis(axes[i], rank, &axis)) {
            return false;
        }
        mask |= UINT32_C(1) << axis;
    }
    for (*first = rank; *first > 0 && mask >> (*first - 1) & 1; --*first) {
        mask &= ~(UINT32_C(1) << (*first - 1));
    }
    return mask == 0;
}

// The same constant without leading ones, when it has the dims first .. rank - 1 of x; NULL: it has not, or no memory.
static tn_value *trimmed(tn_graph *graph, tn_value *value, const tn_shape *x, int first)
{
    const int n = x->rank - first, extra = value->shape.rank - n;
    if (!tn_is_f32(value) || extra < 0) {
        return NULL;
    }
    for (int d = 0; d < value->shape.rank; d++) {
        if (d < extra ? value->shape.dims[d] != 1 : value->shape.dims[d] != x->dims[first + d - extra]) {
            return NULL;
        }
    }
    if (extra == 0) {
        return value;
    }
    const tn_shape shape = tn_shape_of(n, value->shape.dims + extra);
    return tn_graph_alias(graph, NULL, &shape, value);
}

// A scale of ones for the dims first .. rank - 1 of x; NULL: they are not known, or no memory.
static tn_value *ones(tn_graph *graph, const tn_shape *x, int first)
{
    const tn_shape shape = tn_shape_of(x->rank - first, x->dims + first);
    int64_t count;
    float *data;
    if (!tn_shape_count(&shape, &count) || count > 65536) {
        return NULL;
    }
    tn_value *value = tn_new_room(graph, &shape, &data);
    for (int64_t i = 0; value && i < count; i++) {
        data[i] = 1.0f;
    }
    return value;
}

// Without keepdims the mean would be aligned to other dims of x.
static bool means_keep_dims(const tn_match *match)
{
    for (int i = 0; i < match->n_nodes; i++) {
        if (match->node[i]->op == &tn_op_reduce_mean && !((const tn_reduce_attr *)match->node[i]->attr)->keepdims) {
            return false;
        }
    }
    return true;
}

// Rewrites when the match is what the operator means; *made is the new node, or NULL.
static tn_status replace(tn_graph *graph, tn_pass_context *context, const row *row, const tn_match *match, tn_node **made)
{
    tn_value *x = TN_MATCHED(match, 'x'), *scale = TN_MATCHED(match, 'G'), *bias = TN_MATCHED(match, 'C');
    const int rank = x->shape.rank;
    int first, other;
    *made = NULL;
    if (!tn_is_f32(x) || rank < 1 || match->node[0]->out[0]->shape.rank != rank || !means_keep_dims(match) ||
        !trailing_axes(TN_MATCHED(match, 'B'), rank, &first) || match->number[0] < 0) {
        return TN_OK;
    }
    if (!row->rms && (!trailing_axes(TN_MATCHED(match, 'A'), rank, &other) || other != first)) {
        return TN_OK;
    }
    scale = scale ? trimmed(graph, scale, &x->shape, first) : ones(graph, &x->shape, first);
    if (!scale || (bias && !(bias = trimmed(graph, bias, &x->shape, first)))) {
        return TN_OK;
    }
    tn_value *const in[3] = {x, scale, bias};
    const tn_op *op = row->rms ? &tn_op_rms_norm : &tn_op_layer_norm;
    const tn_layer_norm_attr attr = {.axis = first, .epsilon = match->number[0], .stash_type = TN_F32};
    return tn_rewrite_node(graph, context,
                           &(tn_rewrite){.root = match->node[0],
                                         .op = op,
                                         .attr = &attr,
                                         .in = in,
                                         .n_in = bias ? 3 : 2,
                                         .from = match->node + 1,
                                         .n_from = match->n_nodes - 1},
                           made);
}

// Tries the forms on one node, the longest first.
static tn_status visit(tn_graph *graph, tn_pass_context *context, const tn_pattern *patterns, tn_node *node, tn_node **made)
{
    *made = NULL;
    if (node->n_out < 1 || !node->out[0] || !tn_is_f32(node->out[0])) {
        return TN_OK;
    }
    for (size_t i = 0; i < TN_COUNT(rows) && !*made; i++) {
        tn_match match;
        if (tn_pattern_match(&patterns[i], context, node, &match)) {
            TN_TRY(replace(graph, context, &rows[i], &match, made));
        }
    }
    return TN_OK;
}

// From the last node to the first: a bias is seen before the scale it follows, and that before the quotient.
static tn_status run_fuse_norm(tn_graph *graph, tn_pass_context *context)
{
    tn_status status = TN_OK;
    tn_pattern *patterns;
    TN_TRY(tn_pattern_parse_all(&patterns, rows, TN_COUNT(rows), sizeof *rows, context));
    for (tn_node *node = graph->last; node; node = node->prev) {
        tn_node *made;
        TN_GO(visit(graph, context, patterns, node, &made));
        node = made ? made : node;
    }
done:
    tn_give(context->heap, patterns);
    return status;
}

const tn_pass tn_pass_fuse_norm = {"fuse_norm", run_fuse_norm};
