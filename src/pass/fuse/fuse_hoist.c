// SPDX-License-Identifier: Apache-2.0
// Elementwise work behind a reshape of a convolution's or matrix product's result is done before the reshape, where the passes that
// follow take it into the kernel. A constant with one number per index of a dim may pass when that dim, seen from the flat order of
// elements, is the channel dim: the same size, with as many elements behind it.
//   conv [N, C, W, 1] -> squeeze [N, C, W] -> + [C, 1] -> gelu    becomes    conv -> + [C, 1, 1] -> gelu -> squeeze
// Ownership: the caller's graph. Threads: one per graph.
#include "pass/fuse/fuse.h"

#include "ops/math/op_binary.h"
#include "ops/move/op_reshape.h"
#include "ops/nn/op_activation.h"
#include "pass/fuse/linear.h"

#define MAX_STEPS 4   // elementwise nodes between the reshape and the product, hoisted before

static bool is_reshape(const tn_node *node)
{
    return node && (node->op == &tn_op_reshape || node->op == &tn_op_squeeze || node->op == &tn_op_unsqueeze ||
                    node->op == &tn_op_flatten);
}

static bool is_binary(const tn_node *node)
{
    return node->op == &tn_op_add || node->op == &tn_op_sub || node->op == &tn_op_mul || node->op == &tn_op_div;
}

// The operand that a node works on element by element, all others being constants; NULL: it is no such node.
static tn_value *worked_on(const tn_node *node)
{
    const bool unary = node->op->loop && (node->n_in == 1 || node->op == &tn_op_clip);
    if ((!unary && !is_binary(node)) || node->n_out != 1 || !node->out[0] || !tn_is_f32(node->out[0]) || !node->in[0]) {
        return NULL;
    }
    const int side = !unary && node->in[0]->constant ? 1 : 0;
    for (int i = 0; i < node->n_in; i++) {
        if (i != side && node->in[i] && !node->in[i]->constant) {
            return NULL;
        }
    }
    return node->in[side]->constant ? NULL : node->in[side];
}

// The product that `value` comes from, through work that was hoisted.
static bool product_of(const tn_pass_context *context, const tn_value *value, tn_linear *linear)
{
    for (int step = 0; step < MAX_STEPS && value && value->producer && tn_used_once(context, value); step++) {
        if (tn_linear_of(value->producer, linear)) {
            return linear->act.code == TN_LOOP_CONST;
        }
        value = worked_on(value->producer);
    }
    return false;
}

// The dims behind `axis` that are not 1, in order, in `list`.
static int dims_behind(const tn_shape *shape, int axis, int64_t *list)
{
    int count = 0;
    for (int d = axis + 1; d < shape->rank; d++) {
        if (shape->dims[d] != 1) {
            list[count++] = shape->dims[d];
        }
    }
    return count;
}

// The axis of `after` whose index is that of `axis` of `before`; -1: there is none for certain.
static int same_axis(const tn_shape *before, int axis, const tn_shape *after)
{
    int64_t want[TN_MAX_RANK], have[TN_MAX_RANK];
    const int n = dims_behind(before, axis, want);
    for (int a = after->rank - 1; a >= 0; a--) {
        bool same = tn_dim_surely_same(after->dims[a], before->dims[axis]) && dims_behind(after, a, have) == n;
        for (int i = 0; same && i < n; i++) {
            same = tn_dim_surely_same(want[i], have[i]);
        }
        if (same) {
            return a;
        }
    }
    return -1;
}

// The constant has one number for each index of the last dims of `after`, which are the last dim of `before` taken apart.
static bool is_split_channel(const tn_value *constant, int64_t count, const tn_shape *after, const tn_shape *before)
{
    int rank = constant->shape.rank;
    while (rank > 0 && constant->shape.dims[constant->shape.rank - rank] == 1) {
        rank--;
    }
    if (rank < 1 || rank > after->rank || before->rank < 1 || before->dims[before->rank - 1] != count) {
        return false;
    }
    for (int d = 1; d <= rank; d++) {
        if (constant->shape.dims[constant->shape.rank - d] != after->dims[after->rank - d]) {
            return false;
        }
    }
    return true;
}

// The constant as it must be before the reshape; NULL: it cannot pass, or no memory.
static tn_value *moved_constant(tn_graph *graph, tn_value *constant, const tn_shape *after, const tn_shape *before, int axis)
{
    int64_t count;
    if (!tn_floats(constant, &count)) {
        return NULL;
    }
    if (count == 1) {
        const tn_shape scalar = {0, {0}};
        return tn_graph_alias(graph, NULL, &scalar, constant);
    }
    if (axis == before->rank - 1 && is_split_channel(constant, count, after, before)) {
        const tn_shape vector = {1, {count}};
        return tn_graph_alias(graph, NULL, &vector, constant);
    }
    // [C, 1, ...] aligned to the channel dim, whatever the constant's rank was behind the reshape.
    const int at = same_axis(before, axis, after);
    if (at < 0 || !tn_per_axis(constant, after->rank, at, after->dims[at])) {
        return NULL;
    }
    tn_shape shape = {.rank = before->rank - axis, .dims = {count}};
    for (int d = 1; d < shape.rank; d++) {
        shape.dims[d] = 1;
    }
    return tn_graph_alias(graph, NULL, &shape, constant);
}

// node works on a reshape of a product, for certain element by element: the two change places.
static tn_status visit(tn_graph *graph, tn_pass_context *context, tn_node *node)
{
    tn_value *x = worked_on(node), *in[3], *worked;
    tn_node *move = x && is_reshape(x->producer) ? x->producer : NULL;
    tn_linear linear;
    if (!move || !tn_used_once(context, x) || !move->in[0] || !product_of(context, move->in[0], &linear) ||
        !tn_surely_same(&node->out[0]->shape, &x->shape)) {
        return TN_OK;
    }
    const tn_shape *before = &move->in[0]->shape;
    for (int i = 0; i < node->n_in; i++) {
        in[i] = node->in[i];
        if (in[i] == x) {
            in[i] = move->in[0];
        } else if (is_binary(node) && !(in[i] = moved_constant(graph, in[i], &x->shape, before, linear.out_axis))) {
            return TN_OK;
        }
    }
    TN_TRY(tn_insert_node(graph, context, node, node, node->op, node->attr, in, node->n_in, TN_F32, before, &worked));
    tn_value *moved[2] = {worked, move->n_in > 1 ? move->in[1] : NULL};
    return tn_rewrite_node(graph, context, &(tn_rewrite){.root = node, .op = move->op, .attr = move->attr, .in = moved,
                                                         .n_in = move->n_in, .from = &move, .n_from = 1}, NULL);
}

static tn_status run_fuse_hoist(tn_graph *graph, tn_pass_context *context)
{
    for (tn_node *node = graph->first, *next; node; node = next) {
        next = node->next;
        if (node->n_in > 0 && node->n_in <= 3) {
            TN_TRY(visit(graph, context, node));
        }
    }
    return TN_OK;
}

const tn_pass tn_pass_fuse_hoist = {"fuse_hoist", run_fuse_hoist};
