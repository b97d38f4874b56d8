// SPDX-License-Identifier: Apache-2.0
// Elementwise work that no convolution or matrix product took becomes chains: one operator, one pass over memory. A group grows
// from its last node towards the operands. A node joins when all that reads it is in the group and its result has the shape of the
// group's result, so that nothing is computed more often than before; smaller operands are broadcast by the chain.
// Ownership: the caller's graph. Threads: one per graph.
#include "pass/fuse/fuse.h"

#include "ops/math/op_chain.h"
#include "ops/nn/op_activation.h"
#include "pass/fuse/chain_code.h"
#include "pass/rewrite.h"

#include <string.h>

typedef struct group {
    tn_node *node[TN_LOOP_MAX_CODE];             // the root first
    int n_nodes;
    tn_value *in[TN_LOOP_MAX_INPUTS];
    int n_in;
    tn_loop loop;
} group;

// ---- what may join ----

// The operand may be absent, as the bounds of a clip.
static bool optional_operand(const tn_node *node, int i) { return node->op == &tn_op_clip && i > 0; }

// All in f32 with a loop form, one result, few operands.
static bool may_join(const tn_node *node)
{
    if (!node->op->loop || node->n_out != 1 || !node->out[0] || !tn_is_f32(node->out[0]) || node->n_in < 1 ||
        node->n_in > TN_LOOP_MAX_INPUTS) {
        return false;
    }
    for (int i = 0; i < node->n_in; i++) {
        if (node->in[i] ? !tn_is_f32(node->in[i]) : !optional_operand(node, i)) {
            return false;
        }
    }
    return true;
}

// The group has the node.
static bool has_node(const group *g, const tn_node *node)
{
    for (int i = 0; i < g->n_nodes; i++) {
        if (g->node[i] == node) {
            return true;
        }
    }
    return false;
}

// All that reads the value is in the group, and nobody asked for it.
static bool is_inner(const tn_pass_context *context, const group *g, const tn_value *value)
{
    if (!tn_can_drop(context, value)) {
        return false;
    }
    for (size_t u = 0; u < value->n_uses; u++) {
        if (!has_node(g, value->uses[u].node)) {
            return false;
        }
    }
    return true;
}

// ---- the program ----

// A constant of one element that does not add dims to the result.
static bool immediate(const tn_value *value, const tn_shape *result, double *v)
{
    return tn_scalar(value, v) && value->shape.rank <= result->rank;
}

// Adds an operand, once; false: there are too many.
static bool note_operand(group *g, tn_value *value)
{
    for (int i = 0; i < g->n_in; i++) {
        if (g->in[i] == value) {
            return true;
        }
    }
    if (g->n_in == TN_LOOP_MAX_INPUTS) {
        return false;
    }
    g->in[g->n_in++] = value;
    return true;
}

// Operands of the result's shape come first (the first one's bytes may become the result's), constants last.
static int operand_rank(const tn_value *value, const tn_shape *result)
{
    return value->constant ? 2 : tn_surely_same(&value->shape, result) ? 0 : 1;
}

static void sort_operands(group *g, const tn_shape *result)
{
    for (int i = 1; i < g->n_in; i++) {
        tn_value *value = g->in[i];
        int at = i;
        for (; at > 0 && operand_rank(g->in[at - 1], result) > operand_rank(value, result); at--) {
            g->in[at] = g->in[at - 1];
        }
        g->in[at] = value;
    }
}

// Lists the operands of all nodes that come from outside.
static bool list_operands(group *g)
{
    const tn_shape *result = &g->node[0]->out[0]->shape;
    double v;
    g->n_in = 0;
    for (int n = 0; n < g->n_nodes; n++) {
        for (int i = 0; i < g->node[n]->n_in; i++) {
            tn_value *value = g->node[n]->in[i];
            if (value && !(value->producer && has_node(g, value->producer)) && !immediate(value, result, &v) &&
                !note_operand(g, value)) {
                return false;
            }
        }
    }
    sort_operands(g, result);
    return g->n_in > 0;
}

// The register of a value; -1: not computed yet.
static int register_of(const group *g, const int *results, const tn_value *value)
{
    for (int i = 0; i < g->n_in; i++) {
        if (g->in[i] == value) {
            return i;
        }
    }
    for (int n = 0; n < g->n_nodes; n++) {
        if (g->node[n]->out[0] == value) {
            return results[n];
        }
    }
    return -1;
}

// Appends one node's instructions; *ready: its operands were there.
static bool emit(const group *g, tn_loop_build *build, int *results, int n, bool *ready)
{
    const tn_node *node = g->node[n];
    const tn_shape *result = &g->node[0]->out[0]->shape;
    int args[TN_LOOP_MAX_INPUTS];
    double v;
    *ready = true;
    for (int i = 0; i < node->n_in; i++) {
        if (node->in[i] && !immediate(node->in[i], result, &v) && register_of(g, results, node->in[i]) < 0) {
            *ready = false;
            return true;
        }
    }
    for (int i = 0; i < node->n_in; i++) {
        if (!node->in[i]) {
            args[i] = -1;
        } else if (immediate(node->in[i], result, &v)) {
            args[i] = tn_loop_add(build, TN_LOOP_CONST, 0, 0, 0, (float)v, 0);
        } else {
            args[i] = register_of(g, results, node->in[i]);
        }
    }
    return node->op->loop(node->attr, build, args, node->n_in, &results[n]) && !build->full;
}

// Writes the group's program; false: it does not fit, or some node has no loop form with these attributes.
static bool write_program(group *g)
{
    tn_loop_build build = {.full = false};
    int results[TN_LOOP_MAX_CODE], done = 0;
    if (!list_operands(g)) {
        return false;
    }
    build.loop.n_inputs = g->n_in;
    for (int n = 0; n < g->n_nodes; n++) {
        results[n] = -1;
    }
    // A node is written when its operands are: a few sweeps, later nodes of the list (nearer to the operands) first.
    while (done < g->n_nodes) {
        const int before = done;
        for (int n = g->n_nodes - 1; n >= 0; n--) {
            bool ready;
            if (results[n] < 0) {
                if (!emit(g, &build, results, n, &ready)) {
                    return false;
                }
                done += ready;
            }
        }
        if (done == before) {
            return false;
        }
    }
    g->loop = build.loop;
    return tn_chain_simplify(&g->loop, results[0]);
}

// ---- groups ----

// Adds the producer of one operand; false: none can join.
static bool grow(const tn_pass_context *context, group *g)
{
    const tn_shape *result = &g->node[0]->out[0]->shape;
    for (int i = 0; i < g->n_in && g->n_nodes < TN_LOOP_MAX_CODE; i++) {
        tn_node *node = g->in[i]->producer;
        if (!node || !may_join(node) || !tn_surely_same(&g->in[i]->shape, result) || !is_inner(context, g, g->in[i])) {
            continue;
        }
        // Tried on a copy: a program that does not fit leaves the group as it was.
        group next = *g;
        next.node[next.n_nodes++] = node;
        if (write_program(&next)) {
            *g = next;
            return true;
        }
    }
    return false;
}

static tn_status make_chain(tn_graph *graph, tn_pass_context *context, const group *g, tn_node **made)
{
    const tn_chain_attr attr = {tn_arena_copy(&graph->arena, &g->loop, sizeof g->loop)};
    if (!attr.loop) {
        return tn_fail_memory(context->diag, g->node[0]->name, sizeof g->loop);
    }
    return tn_rewrite_node(graph, context, &(tn_rewrite){.root = g->node[0], .op = &tn_op_chain, .attr = &attr, .in = g->in,
                                                         .n_in = g->n_in, .from = g->node + 1, .n_from = g->n_nodes - 1}, made);
}

static tn_status run_fuse_chain(tn_graph *graph, tn_pass_context *context)
{
    for (tn_node *node = graph->last; node; node = node->prev) {
        group g = {.node = {node}, .n_nodes = 1};
        if (!may_join(node) || node->out[0]->shape.rank < 0 || !write_program(&g)) {
            continue;
        }
        while (grow(context, &g)) {
        }
        if (g.n_nodes > 1) {
            TN_TRY(make_chain(graph, context, &g, &node));
        }
    }
    return TN_OK;
}

const tn_pass tn_pass_fuse_chain = {"fuse_chain", run_fuse_chain};
