// SPDX-License-Identifier: Apache-2.0
// A quantise behind movement is done before it: quantise(move(x)) becomes move(quantise(x)), bounds between them included, which commute
// with movement as one scale does. What makes x then stands right under its quantise, where the folds look for it; a maximum of
// quantised values is the quantised maximum, so that pooling counts as movement.
// Ownership: new values belong to the graph. Threads: one per graph.
#include "pass/quant/quant.h"

#include "ops/move/op_block.h"
#include "ops/move/op_join.h"
#include "ops/move/op_reshape.h"
#include "ops/move/op_slice.h"
#include "ops/move/op_transpose.h"
#include "ops/nn/op_activation.h"
#include "ops/nn/op_pool.h"
#include "ops/quant/op_quantize.h"
#include "ops/vision/op_resize.h"

#include <string.h>

#define MOST_STEPS 8      // of movement and bounds that are looked through

// Of as many elements as before or more: quantising x is never more work.
static const tn_op *const keepers[] = {
    &tn_op_reshape,  &tn_op_flatten,        &tn_op_squeeze,        &tn_op_unsqueeze, &tn_op_transpose,
    &tn_op_identity, &tn_op_depth_to_space, &tn_op_space_to_depth, &tn_op_expand,
};
// Worth it only where x need not be made in floats then.
static const tn_op *const choosers[] = {&tn_op_slice, &tn_op_max_pool, &tn_op_resize, &tn_op_concat};

static bool is_in(const tn_op *op, const tn_op *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (list[i] == op) {
            return true;
        }
    }
    return false;
}

static bool keeps(const tn_node *node) { return is_in(node->op, keepers, TN_COUNT(keepers)); }

static bool chooses(const tn_node *node)
{
    if (node->op == &tn_op_resize) {
        const tn_resize_attr *attr = node->attr;
        return attr->mode == TN_RESIZE_NEAREST && attr->coord != TN_COORD_TF_CROP;
    }
    return is_in(node->op, choosers, TN_COUNT(choosers));
}

// Movement, bounds and then an operator on what was dequantised: one that may become an operator on integers.
static bool made_of_integers(const tn_value *value)
{
    tn_quantised q;
    for (int i = 0; i < MOST_STEPS; i++) {
        const tn_node *node = value ? value->producer : NULL;
        if (!node || node->n_in < 1 || !node->in[0] || node->op == &tn_op_dequantize_linear) {
            return false;
        }
        if (tn_dequantised_any(node->in[0], &q)) {
            return true;
        }
        if (!keeps(node) && !chooses(node) && node->op != &tn_op_relu && node->op != &tn_op_clip) {
            return false;
        }
        value = node->in[0];
    }
    return false;
}

static int parts_of(const tn_node *move) { return move->op == &tn_op_concat ? move->n_in : 1; }

static bool may_raise(const tn_node *move)
{
    bool computed = keeps(move);
    if (move->n_out != 1 || move->n_in < 1 || move->n_in > TN_MAX_IN || (!computed && !chooses(move))) {
        return false;
    }
    for (int i = 0; i < parts_of(move); i++) {
        tn_quantised q;
        if (!move->in[i] || move->in[i]->constant || !tn_is_f32(move->in[i])) {
            return false;
        }
        // What is dequantised already moves as bytes, or is a part that is brought to the result's scale.
        if (parts_of(move) == 1 && tn_dequantised_any(move->in[i], &q)) {
            return false;
        }
        computed = computed || made_of_integers(move->in[i]);
    }
    return computed;
}

// The bounds, innermost first, and then the quantise, over one operand of the movement.
static tn_status quantise_part(tn_graph *graph, tn_pass_context *context, tn_node *node, tn_node *const *bounds, int n_bounds, tn_value *x,
                               tn_value **out)
{
    tn_quantize_attr attr = *(const tn_quantize_attr *)node->attr;
    const tn_shape shape = x->shape;
    tn_value *in[TN_MAX_IN];
    for (int i = n_bounds - 1; i >= 0; i--) {
        memcpy(in, bounds[i]->in, (size_t)bounds[i]->n_in * sizeof *in);
        in[0] = x;
        TN_TRY(tn_insert_node(graph, context, node, bounds[i], bounds[i]->op, bounds[i]->attr, in, bounds[i]->n_in, TN_F32, &shape, &x));
    }
    memcpy(in, node->in, (size_t)node->n_in * sizeof *in);
    in[0] = x;
    attr.axis = 1;      // one scale has none
    return tn_insert_node(graph, context, node, node, &tn_op_quantize_linear, &attr, in, node->n_in, node->out[0]->dtype, &shape, out);
}

// One step. *raised: the quantise that stands before the movement now, where there is one movement and one operand of it; else NULL.
static tn_status raise_once(tn_graph *graph, tn_pass_context *context, tn_node *node, tn_node **raised)
{
    tn_quantised y;
    tn_node *from[TN_QUANT_CHAIN + 1];
    tn_value *in[TN_MAX_IN];
    double low, high;
    int n_from = 0;
    *raised = NULL;
    if (!tn_quantises_any(node, &y)) {
        return TN_OK;
    }
    const tn_value *value = tn_peel_bounds(context, y.x, &low, &high, from, &n_from);
    tn_node *move = value ? value->producer : NULL;
    if (!move || !tn_used_once(context, value) || !may_raise(move)) {
        return TN_OK;
    }
    memcpy(in, move->in, (size_t)move->n_in * sizeof *in);
    const int parts = parts_of(move);
    for (int i = 0; i < parts; i++) {
        TN_TRY(quantise_part(graph, context, node, from, n_from, move->in[i], &in[i]));
    }
    *raised = parts == 1 ? in[0]->producer : NULL;
    from[n_from++] = move;
    return tn_rewrite_node(graph, context, &(tn_rewrite){.root = node, .op = move->op, .attr = move->attr, .in = in, .n_in = move->n_in,
                                                         .from = from, .n_from = n_from}, NULL);
}

tn_status tn_raise_quantise(tn_graph *graph, tn_pass_context *context, tn_node *node)
{
    for (int i = 0; node && i < MOST_STEPS; i++) {
        TN_TRY(raise_once(graph, context, node, &node));
    }
    return TN_OK;
}
