// SPDX-License-Identifier: Apache-2.0
// Two passes on what follows a convolution or matrix product. fuse_residual: the sum with another value of the same shape is
// added by the kernel before it stores. fuse_act: an activation that is one instruction of the loop IR is applied there too.
// Ownership: the caller's graph. Threads: one per graph.
#include "pass/fuse/fuse.h"

#include "ops/math/op_binary.h"
#include "ops/nn/op_activation.h"
#include "pass/fuse/linear.h"

#include <math.h>

// ---- fuse_act ----

// A clip with constant bounds.
static bool clip_act(const tn_node *node, tn_act *act)
{
    *act = (tn_act){.code = TN_LOOP_CLIP, .x = -INFINITY, .y = INFINITY};
    return (node->n_in < 2 || !node->in[1] || tn_scalar(node->in[1], &act->x)) &&
           (node->n_in < 3 || !node->in[2] || tn_scalar(node->in[2], &act->y));
}

// A slope that is one number for all channels.
static bool prelu_act(const tn_node *node, tn_act *act)
{
    *act = (tn_act){.code = TN_LOOP_LEAKY};
    return tn_scalar(node->in[1], &act->x) && node->out[0]->shape.rank == node->in[0]->shape.rank;
}

// The activation a node is; false: none of one instruction.
static bool act_of(const tn_node *node, tn_act *act)
{
    if (node->op == &tn_op_clip) {
        return clip_act(node, act);
    }
    if (node->op == &tn_op_prelu) {
        return prelu_act(node, act);
    }
    if (node->n_in != 1 || !node->op->loop) {
        return false;
    }
    tn_loop_build build = {.loop = {.n_inputs = 1}};
    const int arg = 0;
    int result;
    if (!node->op->loop(node->attr, &build, &arg, 1, &result) || build.full || build.loop.n_code != 1 || result != 1) {
        return false;
    }
    const tn_loop_instr *instr = &build.loop.code[0];
    *act = (tn_act){.code = instr->code, .x = instr->x, .y = instr->y};
    return instr->code != TN_LOOP_CONST && tn_loop_code_operands((tn_loop_code)instr->code) == 1;
}

// A product or sum with one number.
static bool scalar_affine(const tn_node *node, const tn_value *x, double *scale, double *shift)
{
    const bool product = node->op == &tn_op_mul || node->op == &tn_op_div;
    const bool inverse = node->op == &tn_op_sub || node->op == &tn_op_div;
    double v;
    if ((!product && node->op != &tn_op_add && node->op != &tn_op_sub) || !tn_scalar(node->in[node->in[0] == x ? 1 : 0], &v) ||
        (inverse && node->in[0] != x) || node->out[0]->shape.rank != x->shape.rank) {
        return false;
    }
    *scale = product ? (inverse ? 1 / v : v) : 1;
    *shift = product ? 0 : inverse ? -v : v;
    return isfinite(*scale) && isfinite(*shift);
}

// The activation of the two together; false: no one instruction says it. hard_swish has a form that is scaled and shifted, which
// networks with learned affine blocks need.
static bool join_act(const tn_node *node, const tn_value *x, tn_act *act)
{
    double scale, shift;
    if (act->code == TN_LOOP_CONST) {
        return node->in[0] == x && act_of(node, act);
    }
    const bool swish = act->code == TN_LOOP_HARD_SWISH;
    if ((!swish && act->code != TN_LOOP_HARD_SWISH_AFFINE) || !scalar_affine(node, x, &scale, &shift)) {
        return false;
    }
    *act =
        (tn_act){.code = TN_LOOP_HARD_SWISH_AFFINE, .x = scale * (swish ? 1 : act->x), .y = scale * (swish ? 0 : act->y) + shift};
    return true;
}

// One walk takes a row of scales and shifts behind hard_swish too, as each node made stands before `next`.
static tn_status run_fuse_act(tn_graph *graph, tn_pass_context *context)
{
    for (tn_node *node = graph->first, *next; node; node = next) {
        next = node->next;
        const bool one_result = node->n_out == 1 && node->out[0] && tn_is_f32(node->out[0]);
        for (int i = 0; one_result && i < TN_MIN(node->n_in, 2); i++) {
            const tn_value *x = node->in[i];
            tn_linear linear;
            if (x && x->producer && tn_used_once(context, x) && tn_linear_of(x->producer, &linear) &&
                join_act(node, x, &linear.act)) {
                TN_TRY(tn_linear_replace(graph, context, &linear, node, NULL));
                break;
            }
        }
    }
    return TN_OK;
}

const tn_pass tn_pass_fuse_act = {"fuse_act", run_fuse_act};

// ---- fuse_residual ----

// The node that makes `value`, when it may take the other summand as its residual.
static bool may_take(const tn_pass_context *context, const tn_value *value, const tn_value *other, tn_linear *linear)
{
    return value->producer && tn_used_once(context, value) && tn_linear_of(value->producer, linear) && linear->takes_residual &&
           linear->act.code == TN_LOOP_CONST && !linear->in[TN_LINEAR_RESIDUAL] && !other->constant && tn_is_f32(other) &&
           tn_surely_same(&value->shape, &other->shape);
}

#define MAX_SEARCH 1024   // nodes that are looked at for the later of two

// Of two nodes before `node` the later one; any of them when both are far away.
static const tn_node *later(const tn_node *node, const tn_node *a, const tn_node *b)
{
    for (int i = 0; i < MAX_SEARCH; i++) {
        node = node->prev;
        if (node == a || node == b) {
            return node;
        }
    }
    return a;
}

// y = conv(x) + r. The kernel reads r where it would have written y first and read it again.
static tn_status run_fuse_residual(tn_graph *graph, tn_pass_context *context)
{
    for (tn_node *node = graph->first, *next; node; node = next) {
        next = node->next;
        if (node->op != &tn_op_add || !tn_is_f32(node->out[0]) || node->in[0] == node->in[1]) {
            continue;
        }
        tn_linear linear[2];
        bool may[2];
        for (int i = 0; i < 2; i++) {
            may[i] = may_take(context, node->in[i], node->in[1 - i], &linear[i]);
        }
        if (!may[0] && !may[1]) {
            continue;
        }
        // The one that runs last: the other is there by then without being moved.
        const int side = may[0] && (!may[1] || later(node, linear[0].node, linear[1].node) == linear[0].node) ? 0 : 1;
        linear[side].in[TN_LINEAR_RESIDUAL] = node->in[1 - side];
        TN_TRY(tn_linear_replace(graph, context, &linear[side], node, NULL));
    }
    return TN_OK;
}

const tn_pass tn_pass_fuse_residual = {"fuse_residual", run_fuse_residual};
