// SPDX-License-Identifier: Apache-2.0
// Operators that change nothing go, and some are written in their simpler form. Both are tables by operator: `same` names the
// operand that equals the result, `simpler` rewrites the node.
// Ownership: the caller's graph. Threads: one per graph.
#include "pass/clean/clean.h"

#include "ops/math/op_binary.h"
#include "ops/math/op_cast.h"
#include "ops/math/op_reduce.h"
#include "ops/move/op_block.h"
#include "ops/move/op_join.h"
#include "ops/move/op_reshape.h"
#include "ops/move/op_slice.h"
#include "ops/nn/op_activation.h"
#include "ops/nn/op_pool.h"
#include "pass/rewrite.h"

#include <math.h>

#define MAX_UNIFORM 65536   // elements of a constant that are looked at

// ---- operators that change nothing ----

// A constant number tensor all of whose elements are `want`.
static bool uniform(const tn_value *value, double want)
{
    int64_t count;
    if (!value || !value->constant || !tn_shape_count(&value->shape, &count) || count < 1 || count > MAX_UNIFORM ||
        !(tn_dtype_is_float(value->dtype) || tn_dtype_is_int(value->dtype))) {
        return false;
    }
    for (int64_t i = 0; i < count; i++) {
        if (tn_dtype_load(value->dtype, value->constant->data, (size_t)i) != want) {
            return false;
        }
    }
    return true;
}

// The result has the type and, for certain, the shape of `value`: nothing was broadcast or converted.
static bool keeps_type(const tn_node *node, const tn_value *value)
{
    return value && value->kind == node->out[0]->kind && value->dtype == node->out[0]->dtype && value->dtype != TN_NONE &&
           tn_surely_same(&value->shape, &node->out[0]->shape);
}

// x op c with c neutral.
static tn_value *right_neutral(const tn_node *node, double neutral)
{
    return uniform(node->in[1], neutral) && keeps_type(node, node->in[0]) ? node->in[0] : NULL;
}

// The same from both sides, for operators that commute.
static tn_value *either_neutral(const tn_node *node, double neutral)
{
    tn_value *left = uniform(node->in[0], neutral) && keeps_type(node, node->in[1]) ? node->in[1] : NULL;
    return left ? left : right_neutral(node, neutral);
}

static tn_value *same_sum(const tn_node *node) { return either_neutral(node, 0); }
static tn_value *same_product(const tn_node *node) { return either_neutral(node, 1); }
static tn_value *same_difference(const tn_node *node) { return right_neutral(node, 0); }
static tn_value *same_quotient(const tn_node *node) { return right_neutral(node, 1); }
static tn_value *same_operand(const tn_node *node) { return node->in[0]; }
static tn_value *same_shape(const tn_node *node) { return keeps_type(node, node->in[0]) ? node->in[0] : NULL; }
static tn_value *same_single(const tn_node *node) { return node->n_in == 1 ? node->in[0] : NULL; }

// cast and cast_like to the type that is there.
static tn_value *same_cast(const tn_node *node)
{
    return node->in[0] && node->in[0]->dtype != TN_NONE && node->in[0]->dtype == node->out[0]->dtype ? node->in[0] : NULL;
}

// A split into one part.
static tn_value *same_split(const tn_node *node) { return node->n_out == 1 ? same_shape(node) : NULL; }

// A clip without bounds.
static tn_value *same_clip(const tn_node *node)
{
    for (int i = 1; i < node->n_in; i++) {
        if (node->in[i]) {
            return NULL;
        }
    }
    return node->in[0];
}

// A slice that keeps the size and steps forward keeps everything.
static tn_value *same_slice(const tn_node *node)
{
    int64_t steps[TN_MAX_RANK];
    int count = 0;
    if (node->n_in > 4 && node->in[4] && !tn_int_list(node->in[4], TN_MAX_RANK, steps, &count)) {
        return NULL;
    }
    for (int i = 0; i < count; i++) {
        if (steps[i] < 1) {
            return NULL;
        }
    }
    return same_shape(node);
}

// A pad by nothing; equal sizes are not enough, as pads may be negative.
static tn_value *same_pad(const tn_node *node) { return node->n_in > 1 && uniform(node->in[1], 0) ? same_shape(node) : NULL; }

typedef struct same_row {
    const tn_op *op;
    tn_value *(*same)(const tn_node *node);   // result 0 is there
} same_row;

static const same_row same_rows[] = {
    {&tn_op_identity, same_operand},
    {&tn_op_add, same_sum},
    {&tn_op_sub, same_difference},
    {&tn_op_mul, same_product},
    {&tn_op_div, same_quotient},
    {&tn_op_pow, same_quotient},
    {&tn_op_cast, same_cast},
    {&tn_op_cast_like, same_cast},
    {&tn_op_max, same_single},
    {&tn_op_min, same_single},
    {&tn_op_sum, same_single},
    {&tn_op_mean, same_single},
    {&tn_op_concat, same_single},
    {&tn_op_split, same_split},
    {&tn_op_expand, same_shape},
    {&tn_op_tile, same_shape},
    {&tn_op_slice, same_slice},
    {&tn_op_pad, same_pad},
    {&tn_op_clip, same_clip},
};

// ---- simpler forms ----

// x to the power 2 is x * x, bit for bit.
static tn_status simpler_pow(tn_graph *graph, tn_pass_context *context, tn_node *node)
{
    double exponent;
    if (!tn_is_f32(node->in[0]) || !tn_scalar(node->in[1], &exponent) || exponent != 2 || !keeps_type(node, node->in[0])) {
        return TN_OK;
    }
    tn_value *const in[2] = {node->in[0], node->in[0]};
    return tn_rewrite_node(graph, context, &(tn_rewrite){.root = node, .op = &tn_op_mul, .in = in, .n_in = 2}, NULL);
}

// A sum of two is an add, which more passes know.
static tn_status simpler_sum(tn_graph *graph, tn_pass_context *context, tn_node *node)
{
    if (node->n_in != 2 || !tn_is_f32(node->out[0])) {
        return TN_OK;
    }
    return tn_rewrite_node(graph, context, &(tn_rewrite){.root = node, .op = &tn_op_add, .in = node->in, .n_in = 2}, NULL);
}

// What a node clamps its operand to, when it does nothing else; *of is the operand.
static bool clamps(const tn_node *node, double *low, double *high, tn_value **of)
{
    *low = -INFINITY;
    *high = INFINITY;
    *of = node->in[0];
    if (node->op == &tn_op_relu) {
        *low = 0;
        return true;
    }
    if (node->op == &tn_op_clip) {
        return (node->n_in < 2 || !node->in[1] || tn_scalar(node->in[1], low)) &&
               (node->n_in < 3 || !node->in[2] || tn_scalar(node->in[2], high)) && *low <= *high;
    }
    if ((node->op != &tn_op_max && node->op != &tn_op_min) || node->n_in != 2) {
        return false;
    }
    double *bound = node->op == &tn_op_max ? low : high;
    if (tn_scalar(node->in[1], bound)) {
        return *bound == *bound;
    }
    *of = node->in[1];
    return tn_scalar(node->in[0], bound) && *bound == *bound;
}

// A constant of rank 0.
static tn_value *scalar_constant(tn_graph *graph, double v)
{
    const tn_shape shape = {0, {0}};
    const float f = (float)v;
    return tn_new_floats(graph, &shape, &f);
}

// max(x, 0) is relu; a clamp of a clamp is one clamp.
static tn_status simpler_clamp(tn_graph *graph, tn_pass_context *context, tn_node *node)
{
    double low, high, inner_low, inner_high;
    tn_value *of, *inner_of;
    if (!tn_is_f32(node->out[0]) || !clamps(node, &low, &high, &of) || !keeps_type(node, of)) {
        return TN_OK;
    }
    tn_node *inner = of->producer;
    const bool merges = inner && tn_used_once(context, of) && clamps(inner, &inner_low, &inner_high, &inner_of) &&
                        keeps_type(inner, inner_of);
    if (merges) {
        of = inner_of;
        low = fmin(fmax(inner_low, low), high);
        high = fmin(fmax(inner_high, low), high);
    }
    const bool relu = low == 0 && high == INFINITY;
    if (!merges && (node->op == &tn_op_clip || node->op == &tn_op_relu) && !(node->op == &tn_op_clip && relu)) {
        return TN_OK;
    }
    tn_rewrite rewrite = {.root = node, .op = &tn_op_relu, .from = &inner, .n_from = merges ? 1 : 0};
    tn_value *in[3] = {of, NULL, NULL};
    rewrite.in = in;
    rewrite.n_in = 1;
    if (!relu) {
        rewrite.op = &tn_op_clip;
        rewrite.n_in = 3;
        in[1] = low > -INFINITY ? scalar_constant(graph, low) : NULL;
        in[2] = high < INFINITY ? scalar_constant(graph, high) : NULL;
        if ((low > -INFINITY && !in[1]) || (high < INFINITY && !in[2])) {
            return tn_fail_memory(context->diag, node->name, sizeof(tn_value));
        }
    }
    return tn_rewrite_node(graph, context, &rewrite, NULL);
}

// The mean over the spatial dims of [N, C, H, W] is a global pooling, which has kernels for all layouts; the dims are taken away
// behind it when they are not to be kept.
static tn_status simpler_mean(tn_graph *graph, tn_pass_context *context, tn_node *node)
{
    const tn_reduce_attr *attr = node->attr;
    int64_t axes[2];
    int count = 0;
    if (!tn_is_f32(node->in[0]) || node->in[0]->shape.rank != 4 || node->n_in < 2 || !tn_int_list(node->in[1], 2, axes, &count) ||
        count != 2) {
        return TN_OK;
    }
    const int64_t a = axes[0] < 0 ? axes[0] + 4 : axes[0], b = axes[1] < 0 ? axes[1] + 4 : axes[1];
    if (TN_MIN(a, b) != 2 || TN_MAX(a, b) != 3) {
        return TN_OK;
    }
    if (attr->keepdims) {
        return tn_rewrite_node(graph, context,
                               &(tn_rewrite){.root = node, .op = &tn_op_global_average_pool, .in = node->in, .n_in = 1}, NULL);
    }
    tn_shape pooled_shape = node->in[0]->shape;
    pooled_shape.dims[2] = pooled_shape.dims[3] = 1;
    tn_value *pooled;
    TN_TRY(
        tn_insert_node(graph, context, node, node, &tn_op_global_average_pool, NULL, node->in, 1, TN_F32, &pooled_shape, &pooled));
    tn_value *const in[2] = {pooled, node->in[1]};
    return tn_rewrite_node(graph, context, &(tn_rewrite){.root = node, .op = &tn_op_squeeze, .in = in, .n_in = 2}, NULL);
}

// The sum of x * x has an operator of its own, which does not write the squares.
static tn_status simpler_reduce_sum(tn_graph *graph, tn_pass_context *context, tn_node *node)
{
    tn_node *square = tn_made_by(node->in[0], &tn_op_mul);
    if (!square || !tn_is_f32(node->in[0]) || square->in[0] != square->in[1] || !tn_used_once(context, node->in[0])) {
        return TN_OK;
    }
    tn_value *const in[2] = {square->in[0], node->n_in > 1 ? node->in[1] : NULL};
    return tn_rewrite_node(graph, context, &(tn_rewrite){.root = node, .op = &tn_op_reduce_sum_square, .attr = node->attr, .in = in,
                                                         .n_in = node->n_in, .from = &square, .n_from = 1}, NULL);
}

typedef struct simpler_row {
    const tn_op *op;
    tn_status (*run)(tn_graph *graph, tn_pass_context *context, tn_node *node);
} simpler_row;

static const simpler_row simpler_rows[] = {
    {&tn_op_pow, simpler_pow},   {&tn_op_sum, simpler_sum},    {&tn_op_max, simpler_clamp},         {&tn_op_min, simpler_clamp},
    {&tn_op_clip, simpler_clamp}, {&tn_op_relu, simpler_clamp}, {&tn_op_reduce_mean, simpler_mean},
    {&tn_op_reduce_sum, simpler_reduce_sum},
};

// ---- the pass ----

// What changes nothing goes; what has a simpler form takes it.
static tn_status visit(tn_graph *graph, tn_pass_context *context, tn_node *node)
{
    if (node->n_out < 1 || !node->out[0]) {
        return TN_OK;
    }
    for (size_t i = 0; i < TN_COUNT(same_rows); i++) {
        if (node->op != same_rows[i].op || node->n_in < 1) {
            continue;
        }
        tn_value *value = same_rows[i].same(node);
        if (value && tn_can_replace(context, node->out[0], value)) {
            return tn_bypass(graph, context, node, value);
        }
    }
    for (size_t i = 0; i < TN_COUNT(simpler_rows); i++) {
        if (node->op == simpler_rows[i].op && node->in[0]) {
            return simpler_rows[i].run(graph, context, node);
        }
    }
    return TN_OK;
}

static tn_status run_neutral(tn_graph *graph, tn_pass_context *context)
{
    for (tn_node *node = graph->first, *next; node; node = next) {
        next = node->next;
        TN_TRY(visit(graph, context, node));
    }
    return TN_OK;
}

const tn_pass tn_pass_neutral = {"neutral", run_neutral};
