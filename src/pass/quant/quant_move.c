// SPDX-License-Identifier: Apache-2.0
// Movement of dequantised values, and maxima of them, are done on the bytes: move(dequantise(x)) becomes dequantise(move(x)). Bytes are
// a quarter of the traffic, and what follows finds its operand dequantised again.
// Ownership: new values belong to the graph. Threads: one per graph.
#include "pass/quant/quant.h"

#include "ops/index/op_gather.h"
#include "ops/math/op_binary.h"
#include "ops/move/op_block.h"
#include "ops/move/op_join.h"
#include "ops/move/op_reshape.h"
#include "ops/move/op_slice.h"
#include "ops/move/op_transpose.h"
#include "ops/nn/op_pool.h"
#include "ops/quant/op_quantize.h"
#include "ops/vision/op_resize.h"

#include <string.h>

static const tn_op *const movers[] = {
    &tn_op_reshape, &tn_op_flatten,   &tn_op_squeeze,        &tn_op_unsqueeze,      &tn_op_transpose, &tn_op_slice,  &tn_op_split,
    &tn_op_expand,  &tn_op_identity,  &tn_op_depth_to_space, &tn_op_space_to_depth, &tn_op_tile,      &tn_op_gather, &tn_op_pad,
    &tn_op_concat,  &tn_op_max_pool,  &tn_op_resize,         &tn_op_min,            &tn_op_max,};

static bool is_mover(const tn_node *node)
{
    for (size_t i = 0; i < TN_COUNT(movers); i++) {
        if (node->op == movers[i]) {
            return true;
        }
    }
    return false;
}

// The operands whose bytes move: all of a join, else the first.
static bool is_choice(const tn_node *node) { return node->op == &tn_op_min || node->op == &tn_op_max; }
static int moved(const tn_node *node) { return node->op == &tn_op_concat || is_choice(node) ? node->n_in : 1; }

// What is padded with, in bytes; NULL: no memory.
static tn_value *pad_value(tn_graph *graph, const tn_quantised *q, double real)
{
    const tn_shape scalar = {0, {0}};
    const int32_t v = tn_quantise_one(q, real);
    const uint8_t byte = (uint8_t)v;
    const int16_t word = (int16_t)v;
    return tn_graph_constant(graph, NULL, q->dtype, &scalar, q->dtype == TN_I16 ? (const void *)&word : &byte, true);
}

// Whether bytes of x's quantisation can stand for what a pad adds: the number lies exactly on a step, or every reader quantises the result
// as x is and so makes the same byte of it.
static bool may_pad(const tn_node *node, const tn_quantised *x)
{
    double real = 0;
    tn_quantised y;
    if (((const tn_pad_attr *)node->attr)->mode != TN_PAD_CONSTANT) {
        return true;
    }
    if (node->n_in > 2 && node->in[2] && !tn_scalar(node->in[2], &real)) {
        return false;
    }
    if ((float)(tn_quantise_one(x, real) - x->zero_first) * x->first == (float)real) {
        return true;
    }
    for (size_t i = 0; i < node->out[0]->n_uses; i++) {
        if (!tn_quantises_any(node->out[0]->uses[i].node, &y) || !tn_same_quantisation(x, &y)) {
            return false;
        }
    }
    return !node->out[0]->is_output;
}

// Rules of single operators: what else than the first operand would have to change.
static bool may_move(const tn_node *node, const tn_quantised *x)
{
    if (node->op == &tn_op_max_pool) {
        return node->n_out == 1 || !node->out[1];
    }
    if (node->op == &tn_op_resize) {
        const tn_resize_attr *attr = node->attr;
        return attr->mode == TN_RESIZE_NEAREST && attr->coord != TN_COORD_TF_CROP;
    }
    if (node->op == &tn_op_pad) {
        return may_pad(node, x);
    }
    return true;
}

static tn_status move(tn_graph *graph, tn_pass_context *context, tn_node *node, const tn_quantised *q)
{
    tn_value *in[TN_MAX_IN], *out[TN_MAX_OUT];
    int n_in = node->n_in;
    memcpy(in, node->in, (size_t)n_in * sizeof *in);
    for (int i = 0; i < moved(node); i++) {
        in[i] = node->in[i]->producer->in[0];
    }
    if (node->op == &tn_op_pad && ((const tn_pad_attr *)node->attr)->mode == TN_PAD_CONSTANT) {
        double real = 0;
        (void)(n_in > 2 && tn_scalar(node->in[2], &real));
        in[2] = pad_value(graph, q, real);
        n_in = TN_MAX(n_in, 3);
        if (!in[2]) {
            return tn_fail_memory(context->diag, node->name, 1);
        }
    }
    for (int i = 0; i < node->n_out; i++) {
        out[i] = node->out[i] ? tn_graph_value(graph, NULL) : NULL;
        if (node->out[i] && !out[i]) {
            return tn_fail_memory(context->diag, node->name, sizeof *out[i]);
        }
        if (out[i]) {
            out[i]->dtype = q->dtype;
            out[i]->shape = node->out[i]->shape;
        }
    }
    tn_node *bytes = tn_graph_node(graph, node, node->op, node->name, node->attr, in, n_in, out, node->n_out);
    if (!bytes) {
        return tn_fail_memory(context->diag, node->name, sizeof *bytes);
    }
    TN_TRY(tn_node_add_origins(graph, bytes, node));
    static const tn_quantize_attr attr = {.axis = 1, .saturate = true};
    for (int i = 0; i < node->n_out; i++) {
        if (!out[i]) {
            continue;
        }
        tn_value *operands[3] = {out[i], q->scale, q->zero}, *real = tn_graph_value(graph, node->out[i]->name);
        if (!real) {
            return tn_fail_memory(context->diag, node->name, sizeof *real);
        }
        real->dtype = TN_F32;
        real->shape = node->out[i]->shape;
        if (!tn_graph_node(graph, node, &tn_op_dequantize_linear, node->name, &attr, operands, q->zero ? 3 : 2, &real, 1)) {
            return tn_fail_memory(context->diag, node->name, sizeof *node);
        }
        TN_TRY(tn_graph_replace(graph, node->out[i], real));
    }
    tn_graph_remove(graph, node);
    context->changes++;
    return TN_OK;
}

static bool can_replace_all(const tn_pass_context *context, const tn_node *node)
{
    for (int i = 0; i < node->n_out; i++) {
        if (node->out[i] && !node->out[i]->is_output && !tn_can_drop(context, node->out[i])) {
            return false;
        }
    }
    return true;
}

static tn_status run_quant_move(tn_graph *graph, tn_pass_context *context)
{
    for (tn_node *node = context->floats ? NULL : graph->first, *next; node; node = next) {
        tn_quantised first, other;
        next = node->next;
        if (node->op == &tn_op_quantize_linear) {
            TN_TRY(tn_raise_quantise(graph, context, node));
            continue;
        }
        if (!is_mover(node) || node->n_in < 1 || node->n_in >= TN_MAX_IN || node->n_out > TN_MAX_OUT ||
            !tn_dequantised_any(node->in[0], &first) || first.count != 1 || first.x->constant || !may_move(node, &first) ||
            !can_replace_all(context, node)) {
            continue;
        }
        bool same = true;
        for (int i = 1; i < moved(node) && same; i++) {
            same = tn_dequantised_any(node->in[i], &other) && tn_same_quantisation(&first, &other);
        }
        if (same) {
            TN_TRY(move(graph, context, node, &first));
        }
    }
    return TN_OK;
}

const tn_pass tn_pass_quant_move = {"quant_move", run_quant_move};
