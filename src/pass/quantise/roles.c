// SPDX-License-Identifier: Apache-2.0
// Roles of nodes in quantisation (roles.h).
// Ownership: none. Threads: any.
#include "pass/quantise/roles.h"

#include "ops/index/op_gather.h"
#include "ops/math/op_binary.h"
#include "ops/math/op_reduce.h"
#include "ops/move/op_block.h"
#include "ops/move/op_join.h"
#include "ops/move/op_reshape.h"
#include "ops/move/op_slice.h"
#include "ops/move/op_transpose.h"
#include "ops/nn/op_activation.h"
#include "ops/nn/op_conv.h"
#include "ops/nn/op_matmul.h"
#include "ops/nn/op_norm.h"
#include "ops/nn/op_pool.h"
#include "ops/nn/op_softmax.h"
#include "ops/vision/op_resize.h"
#include "pass/quant/quant.h"
#include "pass/rewrite.h"

static bool is_one_of(const tn_op *op, const tn_op *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (list[i] == op) {
            return true;
        }
    }
    return false;
}

bool tn_is_weight(const tn_value *value, int least_rank)
{
    int64_t count;
    return value && tn_floats(value, &count) && value->shape.rank >= least_rank;
}

int tn_values_read(const tn_node *node)
{
    int count = 0;
    for (int i = 0; i < node->n_in; i++) {
        count += node->in[i] && !node->in[i]->constant;
    }
    return count;
}

// All operands but one are single numbers.
static bool is_unary(const tn_node *node)
{
    double v;
    if (!(node->op->flags & TN_OP_ELEMENTWISE) || tn_values_read(node) != 1) {
        return false;
    }
    for (int i = 0; i < node->n_in; i++) {
        if (node->in[i] && node->in[i]->constant && !tn_scalar(node->in[i], &v)) {
            return false;
        }
    }
    return true;
}

// Of two values that are computed, as attention has them, whatever is added to it.
bool tn_multiplies_values(const tn_node *node)
{
    const tn_matmul_attr *attr = node->attr;
    if (node->op != &tn_op_matmul || node->n_in < 2 || node->in[0]->constant || node->in[1]->constant || attr->act.code != TN_LOOP_CONST) {
        return false;
    }
    return tn_is_f32(node->in[0]) && tn_is_f32(node->in[1]) && node->in[0]->shape.rank >= 2 && node->in[1]->shape.rank >= 2 && attr->alpha > 0;
}

static bool is_product(const tn_node *node) { return node->n_in == 2 && tn_multiplies_values(node); }

// Linear resizing is a mean of neighbours.
static tn_role resize_role(const tn_node *node)
{
    const tn_resize_attr *attr = node->attr;
    const bool linear = attr->mode == TN_RESIZE_LINEAR && attr->coord != TN_COORD_TF_CROP && !attr->antialias && !node->in[0]->constant;
    return attr->mode == TN_RESIZE_NEAREST ? TN_ROLE_MOVE : linear && node->in[0]->shape.rank == 4 ? TN_ROLE_MEAN : TN_ROLE_NONE;
}

tn_role tn_role_of(const tn_node *node)
{
    static const tn_op *const movers[] = {
        &tn_op_reshape, &tn_op_flatten,  &tn_op_squeeze, &tn_op_unsqueeze,      &tn_op_transpose,      &tn_op_slice,
        &tn_op_split,   &tn_op_identity, &tn_op_expand,  &tn_op_depth_to_space, &tn_op_space_to_depth, &tn_op_max_pool,
    };
    static const tn_op *const pairs[] = {&tn_op_add, &tn_op_sub, &tn_op_mul};
    static const tn_op *const means[] = {&tn_op_average_pool, &tn_op_global_average_pool};
    if (node->n_in < 1 || node->n_out < 1 || !node->out[0] || !node->in[0] || !tn_is_f32(node->out[0])) {
        return TN_ROLE_NONE;
    }
    if (node->op == &tn_op_conv) {
        return node->n_in <= 3 && tn_is_weight(node->in[1], 3) && !node->in[0]->constant &&
                       ((const tn_conv_attr *)node->attr)->act.code == TN_LOOP_CONST ? TN_ROLE_SUM : TN_ROLE_NONE;
    }
    if (node->op == &tn_op_matmul || node->op == &tn_op_gemm) {
        return tn_is_weight(node->in[1], 2) && node->in[1]->shape.rank == 2 && !node->in[0]->constant ? TN_ROLE_SUM : is_product(node) ? TN_ROLE_PRODUCT : TN_ROLE_NONE;
    }
    if (node->op == &tn_op_softmax) {
        return node->in[0]->constant ? TN_ROLE_NONE : TN_ROLE_SOFTMAX;
    }
    if (is_one_of(node->op, pairs, TN_COUNT(pairs)) && !is_unary(node)) {
        return node->n_in == 2 && tn_values_read(node) >= 1 ? TN_ROLE_PAIR : TN_ROLE_NONE;
    }
    if (is_one_of(node->op, movers, TN_COUNT(movers))) {
        return node->in[0]->constant || (node->op == &tn_op_max_pool && node->n_out > 1 && node->out[1]) ? TN_ROLE_NONE : TN_ROLE_MOVE;
    }
    if (node->op == &tn_op_resize) {
        return resize_role(node);
    }
    if (node->op == &tn_op_reduce_mean) {
        int first, last;
        return !node->in[0]->constant && tn_mean_axes(node, &first, &last) ? TN_ROLE_MEAN : TN_ROLE_NONE;
    }
    if (node->op == &tn_op_layer_norm) {
        // Statistics of the line alone: as a mean, with constants for its gain and bias.
        return tn_values_read(node) == 1 && !node->in[0]->constant && (node->n_out == 1 || !node->out[1]) ? TN_ROLE_MEAN : TN_ROLE_NONE;
    }
    if (node->op == &tn_op_concat) {
        return tn_values_read(node) > 0 ? TN_ROLE_JOIN : TN_ROLE_NONE;
    }
    if (node->op == &tn_op_gather) {
        return !node->in[0]->constant && node->in[1]->constant ? TN_ROLE_MOVE : TN_ROLE_NONE;
    }
    return is_one_of(node->op, means, TN_COUNT(means)) ? TN_ROLE_MEAN : is_unary(node) ? TN_ROLE_UNARY : TN_ROLE_NONE;
}

bool tn_is_bound(const tn_node *node) { return node->op == &tn_op_relu || node->op == &tn_op_clip; }

const tn_node *tn_only_reader(const tn_value *value) { return value->n_uses == 1 && !value->is_output ? value->uses[0].node : NULL; }

// Bounds of which a convolution or product makes its clamp.
static bool is_clamp(const tn_node *node)
{
    const tn_node *maker = node;
    while (maker && tn_is_bound(maker) && tn_values_read(maker) == 1 && maker->in[0] && tn_only_reader(maker->in[0]) == maker) {
        maker = maker->in[0]->producer;
    }
    return maker && maker != node && tn_role_is_sum(tn_role_of(maker));
}

static bool inner_at(const tn_node *node, int depth)
{
    const tn_role r = tn_role_of(node);
    if (tn_role_is_sum(r) || is_clamp(node)) {
        return true;
    }
    if (r == TN_ROLE_NONE || depth > 64) {
        return false;
    }
    for (int i = 0; i < node->n_out; i++) {
        for (size_t u = 0; node->out[i] && u < node->out[i]->n_uses; u++) {
            if (inner_at(node->out[i]->uses[u].node, depth + 1)) {
                return true;
            }
        }
    }
    return false;
}

bool tn_is_inner(const tn_node *node) { return inner_at(node, 0); }

static bool feeds_at(const tn_value *value, int depth)
{
    for (size_t u = 0; u < value->n_uses && depth < 64; u++) {
        const tn_node *node = value->uses[u].node;
        const tn_role r = tn_role_of(node);
        if (r != TN_ROLE_NONE && r != TN_ROLE_MOVE && tn_is_inner(node)) {
            return true;
        }
        for (int i = 0; r == TN_ROLE_MOVE && i < node->n_out; i++) {
            if (node->out[i] && feeds_at(node->out[i], depth + 1)) {
                return true;
            }
        }
    }
    return false;
}

bool tn_feeds_inner(const tn_value *value) { return feeds_at(value, 0); }

bool tn_has_scale(const tn_value *value)
{
    const tn_node *maker = value->producer;
    if (value->constant || !tn_is_f32(value) || (!maker && !value->is_input) || (maker && tn_role_of(maker) == TN_ROLE_MOVE)) {
        return false;
    }
    const tn_role r = maker ? tn_role_of(maker) : TN_ROLE_NONE;
    const bool made = r != TN_ROLE_NONE && tn_is_inner(maker);
    if (!made && !tn_feeds_inner(value)) {
        return false;
    }
    const tn_node *reader = tn_only_reader(value);
    if (reader && made && tn_is_bound(reader) && r != TN_ROLE_UNARY && r != TN_ROLE_JOIN) {
        return false;
    }
    // Functions of functions are one table. Bounds that a convolution takes in are no function, up to the last of them.
    const bool ends = reader && is_clamp(maker) && !tn_is_bound(reader);
    return !(reader && made && r == TN_ROLE_UNARY && !ends && tn_role_of(reader) == TN_ROLE_UNARY && tn_is_inner(reader));
}
