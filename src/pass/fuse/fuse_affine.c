// SPDX-License-Identifier: Apache-2.0
// Scales and shifts per channel move into weights and bias: batch_norm, and products and sums with constants, behind a
// convolution or matrix product (always) and before one (a shift only where nothing is padded). y = s (w x + b) + t becomes
// (s w) x + (s b + t); w (s x + t) becomes (w s) x + w t. What batch_norm is left becomes a product and a sum.
// Ownership: new constants belong to the graph. Threads: one per graph.
#include "pass/fuse/fuse.h"

#include "ops/math/op_binary.h"
#include "ops/nn/op_norm.h"
#include "pass/fuse/linear.h"

#include <math.h>

#define MAX_CHANNELS (1 << 20)

// What a node does to each channel of one operand: y = scale x + shift.
typedef struct affine {
    tn_value *of;
    bool scales, shifts;
    float *scale, *shift;      // n of each
    int64_t n;
} affine;

// ---- reading ----

// Room for n channels that are left as they are.
static bool affine_room(affine *a, int64_t n, tn_arena *arena)
{
    if (!tn_dim_known(n) || n < 1 || n > MAX_CHANNELS) {
        return false;
    }
    a->n = n;
    a->scale = tn_arena_array(arena, (size_t)n, sizeof *a->scale);
    a->shift = tn_arena_array(arena, (size_t)n, sizeof *a->shift);
    for (int64_t i = 0; a->scale && i < n; i++) {
        a->scale[i] = 1;
    }
    return a->scale && a->shift;
}

// An f32 constant [n].
static bool vector_of(const tn_value *value, int64_t n)
{
    int64_t count;
    return tn_floats(value, &count) && value->shape.rank == 1 && count == n;
}

// ONNX BatchNormalization: scale (x - mean) / sqrt(var + epsilon) + bias.
static bool read_batch_norm(const tn_node *node, affine *a, tn_arena *arena)
{
    const tn_batch_norm_attr *attr = node->attr;
    if (attr->training || node->n_in != 5 || node->in[0]->shape.rank < 2) {
        return false;
    }
    // Running statistics are results of training only.
    for (int i = 1; i < node->n_out; i++) {
        if (node->out[i]) {
            return false;
        }
    }
    const int64_t n = node->in[0]->shape.dims[1];
    for (int i = 1; i < 5; i++) {
        if (!vector_of(node->in[i], n)) {
            return false;
        }
    }
    if (!affine_room(a, n, arena)) {
        return false;
    }
    a->of = node->in[0];
    a->scales = a->shifts = true;
    for (int64_t i = 0; i < n; i++) {
        const double scale = tn_float(node->in[1], i) / sqrt((double)tn_float(node->in[4], i) + attr->epsilon);
        a->scale[i] = (float)scale;
        a->shift[i] = (float)(tn_float(node->in[2], i) - scale * tn_float(node->in[3], i));
    }
    return true;
}

// add, sub, mul, div of a value and a constant that has one number per index of `axis`.
static bool read_binary(const tn_node *node, int axis, affine *a, tn_arena *arena)
{
    const bool product = node->op == &tn_op_mul || node->op == &tn_op_div;
    const bool inverse = node->op == &tn_op_sub || node->op == &tn_op_div;
    // c - x and c / x are no scale and shift of x: -x would need a scale too, and 1 / x is none.
    const int side = node->in[1]->constant ? 1 : 0;
    const tn_value *constant = node->in[side];
    tn_value *x = node->in[1 - side];
    const int rank = x->shape.rank;
    if (axis >= rank || (inverse && side == 0) || node->out[0]->shape.rank != rank ||
        !tn_per_axis(constant, rank, axis, x->shape.dims[axis]) || !affine_room(a, x->shape.dims[axis], arena)) {
        return false;
    }
    a->of = x;
    a->scales = product;
    a->shifts = !product;
    for (int64_t i = 0; i < a->n; i++) {
        const float v = tn_float(constant, i);
        if (product) {
            a->scale[i] = inverse ? 1 / v : v;
        } else {
            a->shift[i] = inverse ? -v : v;
        }
    }
    return true;
}

// A sum or product of a value and a constant.
static bool is_binary(const tn_node *node)
{
    return (node->op == &tn_op_add || node->op == &tn_op_sub || node->op == &tn_op_mul || node->op == &tn_op_div) &&
           !node->in[0]->constant != !node->in[1]->constant;
}

// The node's work per index of `axis`. Numbers that are not finite stay where they are.
static bool read_affine(const tn_node *node, int axis, affine *a, tn_arena *arena)
{
    *a = (affine){.of = NULL};
    if (!node || node->n_out < 1 || !node->out[0] || !tn_is_f32(node->out[0])) {
        return false;
    }
    const bool read = node->op == &tn_op_batch_norm ? axis == 1 && read_batch_norm(node, a, arena)
                                                    : is_binary(node) && read_binary(node, axis, a, arena);
    for (int64_t i = 0; read && i < a->n; i++) {
        if (!isfinite(a->scale[i]) || !isfinite(a->shift[i])) {
            return false;
        }
    }
    return read;
}

// ---- behind ----

// scale * bias + shift as a new bias of n numbers.
static tn_value *new_bias(tn_graph *graph, const tn_value *bias, const affine *a)
{
    float *data;
    const tn_shape shape = tn_shape_of(1, &a->n);
    tn_value *value = tn_new_room(graph, &shape, &data);
    for (int64_t i = 0; value && i < a->n; i++) {
        data[i] = (float)((double)a->scale[i] * (bias ? tn_float(bias, i) : 0) + a->shift[i]);
    }
    return value;
}

// node scales or shifts what a convolution or matrix product makes, and is all that reads it. With a residual inside the product
// only a shift may pass: the residual must not be scaled.
static tn_status visit_behind(tn_graph *graph, tn_pass_context *context, tn_node *node, tn_arena *arena)
{
    affine a;
    tn_linear linear;
    tn_node *before = NULL;
    for (int i = 0; i < TN_MIN(node->n_in, 2) && !before; i++) {
        before = node->in[i] && tn_used_once(context, node->in[i]) ? node->in[i]->producer : NULL;
        if (before && !tn_linear_of(before, &linear)) {
            before = NULL;
        }
    }
    if (!before || linear.act.code != TN_LOOP_CONST || !read_affine(node, linear.out_axis, &a, arena) || a.of != before->out[0] ||
        a.n != linear.channels || (linear.in[TN_LINEAR_RESIDUAL] && a.scales) ||
        (linear.in[TN_LINEAR_BIAS] && !vector_of(linear.in[TN_LINEAR_BIAS], a.n))) {
        return TN_OK;
    }
    if (a.scales) {
        linear.in[TN_LINEAR_W] = tn_linear_scale_out(graph, &linear, a.scale);
    }
    if (!linear.in[TN_LINEAR_W]) {
        return TN_OK;
    }
    if (linear.in[TN_LINEAR_BIAS] || a.shifts) {
        linear.in[TN_LINEAR_BIAS] = new_bias(graph, linear.in[TN_LINEAR_BIAS], &a);
        if (!linear.in[TN_LINEAR_BIAS]) {
            return tn_fail_memory(context->diag, node->name, (size_t)a.n * sizeof(float));
        }
    }
    return tn_linear_replace(graph, context, &linear, node, NULL);
}

// ---- before ----

// node is a product whose operand x [.., C, ..] was scaled or shifted per channel, for it alone. A scale passes the zeros of the
// padding unchanged; a shift does not.
static tn_status visit_before(tn_graph *graph, tn_pass_context *context, tn_node *node, tn_arena *arena, tn_node **made)
{
    affine a;
    tn_linear linear;
    *made = NULL;
    if (!tn_linear_of(node, &linear) || !tn_used_once(context, linear.in[TN_LINEAR_X])) {
        return TN_OK;
    }
    const tn_value *x = linear.in[TN_LINEAR_X];
    tn_node *before = x->producer;
    const int64_t channels = tn_linear_in_channels(&linear);
    if (!before || channels < 1 || linear.in_axis < 0 || !read_affine(before, linear.in_axis, &a, arena) || a.n != channels ||
        (a.shifts && !tn_linear_unpadded(&linear))) {
        return TN_OK;
    }
    if (a.shifts) {
        if (linear.in[TN_LINEAR_BIAS] && !vector_of(linear.in[TN_LINEAR_BIAS], linear.channels)) {
            return TN_OK;
        }
        affine sum = {.scale = NULL};
        double *sums = affine_room(&sum, linear.channels, arena) ? tn_arena_array(arena, (size_t)sum.n, sizeof *sums) : NULL;
        if (!sums || !tn_linear_shift_in(&linear, a.shift, a.n, sums)) {
            return TN_OK;
        }
        for (int64_t i = 0; i < sum.n; i++) {
            sum.shift[i] = (float)sums[i];
        }
        linear.in[TN_LINEAR_BIAS] = new_bias(graph, linear.in[TN_LINEAR_BIAS], &sum);
        if (!linear.in[TN_LINEAR_BIAS]) {
            return tn_fail_memory(context->diag, node->name, (size_t)sum.n * sizeof(float));
        }
    }
    if (a.scales && !(linear.in[TN_LINEAR_W] = tn_linear_scale_in(graph, &linear, a.scale, a.n))) {
        return TN_OK;
    }
    linear.in[TN_LINEAR_X] = a.of;
    TN_TRY(tn_linear_replace(graph, context, &linear, node, made));
    TN_TRY(tn_node_add_origins(graph, *made, before));
    tn_drop_unused(graph, context, before);
    return TN_OK;
}

// ---- alone ----

// A batch_norm that found no place: x * scale + shift with constants [C, 1, ...], which chains take.
static tn_status split_batch_norm(tn_graph *graph, tn_pass_context *context, tn_node *node, tn_arena *arena)
{
    affine a;
    if (!read_affine(node, 1, &a, arena)) {
        return TN_OK;
    }
    tn_shape shape = {.rank = a.of->shape.rank - 1, .dims = {a.n}};
    for (int d = 1; d < shape.rank; d++) {
        shape.dims[d] = 1;
    }
    tn_value *scale = tn_new_floats(graph, &shape, a.scale), *shift = tn_new_floats(graph, &shape, a.shift), *scaled;
    if (!scale || !shift) {
        return tn_fail_memory(context->diag, node->name, (size_t)a.n * sizeof(float));
    }
    tn_value *const product[2] = {a.of, scale};
    TN_TRY(tn_insert_node(graph, context, node, node, &tn_op_mul, NULL, product, 2, TN_F32, &node->out[0]->shape, &scaled));
    tn_value *const sum[2] = {scaled, shift};
    return tn_rewrite_node(graph, context, &(tn_rewrite){.root = node, .op = &tn_op_add, .in = sum, .n_in = 2}, NULL);
}

// ---- the pass ----

// Behind first: what stands between two convolutions belongs to the first, as that needs no sum over weights.
static tn_status walk(tn_graph *graph, tn_pass_context *context, tn_arena *arena)
{
    for (tn_node *node = graph->first, *next; node; node = next) {
        next = node->next;
        if (node->op == &tn_op_batch_norm || is_binary(node)) {
            TN_TRY(visit_behind(graph, context, node, arena));
        }
    }
    for (tn_node *node = graph->first, *next; node; node = next) {
        next = node->next;
        for (tn_node *made = node; made;) {
            node = made;
            TN_TRY(visit_before(graph, context, node, arena, &made));
        }
    }
    for (tn_node *node = graph->first, *next; node; node = next) {
        next = node->next;
        if (node->op == &tn_op_batch_norm) {
            TN_TRY(split_batch_norm(graph, context, node, arena));
        }
    }
    return TN_OK;
}

static tn_status run_fuse_affine(tn_graph *graph, tn_pass_context *context)
{
    tn_arena arena;
    tn_arena_init(&arena, context->heap);
    const tn_status status = walk(graph, context, &arena);
    tn_arena_deinit(&arena);
    return status;
}

const tn_pass tn_pass_fuse_affine = {"fuse_affine", run_fuse_affine};
