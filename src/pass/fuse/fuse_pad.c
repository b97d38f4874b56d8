// SPDX-License-Identifier: Apache-2.0
// A pad with zeros of spatial dims before a convolution or a pooling becomes part of its own padding. For an average pooling that
// is exact only when it counts its padding, or has none yet and then counts it; for a max pooling, whose own padding is below all
// values, when no value is below zero.
// Ownership: the caller's graph. Threads: one per graph.
#include "pass/fuse/fuse.h"

#include "ops/move/op_slice.h"
#include "ops/nn/op_activation.h"
#include "ops/nn/op_conv.h"
#include "ops/nn/op_pool.h"
#include "pass/rewrite.h"

#include <string.h>

#define MAX_SPATIAL 3

// The sum of a window's own pads (begins, then ends) and those of the pad node. false: they do not fit each other.
static bool joined_pads(tn_graph *graph, const tn_ints *own, int auto_pad, const int64_t *extra, int spatial, tn_ints *out)
{
    int64_t pads[2 * MAX_SPATIAL];
    if (auto_pad == TN_PAD_SAME_UPPER || auto_pad == TN_PAD_SAME_LOWER || (own->set && own->count != 2 * spatial)) {
        return false;
    }
    for (int i = 0; i < 2 * spatial; i++) {
        pads[i] = own->set && auto_pad == TN_PAD_NOTSET ? own->v[i] : 0;
        if (pads[i] < 0 || __builtin_add_overflow(pads[i], extra[i], &pads[i])) {
            return false;
        }
    }
    *out = tn_new_attr_ints(graph, 2 * spatial, pads);
    return out->set;
}

// The pads of the spatial dims (begins, then ends) of a node that pads only those, with zeros, by nothing negative.
static bool spatial_pads(const tn_node *pad, int64_t *extra)
{
    const tn_pad_attr *attr = pad->attr;
    const int rank = pad->in[0]->shape.rank;
    int64_t pads[2 * TN_MAX_RANK], axes[TN_MAX_RANK];
    int count, n_axes = rank;
    double fill;
    if (attr->mode != TN_PAD_CONSTANT || rank < 3 || rank > 2 + MAX_SPATIAL || pad->n_in < 2 ||
        !tn_int_list(pad->in[1], 2 * TN_MAX_RANK, pads, &count) ||
        (pad->n_in > 2 && pad->in[2] && !(tn_scalar(pad->in[2], &fill) && fill == 0))) {
        return false;
    }
    for (int d = 0; d < rank; d++) {
        axes[d] = d;
    }
    if (pad->n_in > 3 && pad->in[3] && !tn_int_list(pad->in[3], TN_MAX_RANK, axes, &n_axes)) {
        return false;
    }
    if (count != 2 * n_axes) {
        return false;
    }
    memset(extra, 0, 2 * MAX_SPATIAL * sizeof *extra);
    for (int i = 0; i < n_axes; i++) {
        int axis;
        if (!tn_axis(axes[i], rank, &axis) || pads[i] < 0 || pads[i + n_axes] < 0 ||
            (axis < 2 && (pads[i] || pads[i + n_axes]))) {
            return false;
        }
        if (axis >= 2) {
            extra[axis - 2] = pads[i];
            extra[axis - 2 + rank - 2] = pads[i + n_axes];
        }
    }
    return true;
}

// The node reads what the pad read; its attributes have the pads already.
static tn_status take_pad(tn_graph *graph, tn_pass_context *context, tn_node *node, tn_node *pad, const void *attr)
{
    tn_value *in[4] = {NULL};
    memcpy(in, node->in, (size_t)node->n_in * sizeof *in);
    in[0] = pad->in[0];
    tn_node *made;
    TN_TRY(tn_rewrite_node(graph, context, &(tn_rewrite){.root = node, .op = node->op, .attr = attr, .in = in, .n_in = node->n_in},
                           &made));
    TN_TRY(tn_node_add_origins(graph, made, pad));
    tn_drop_unused(graph, context, pad);
    return TN_OK;
}

// A window must see more than padding.
static bool within_kernel(const tn_ints *pads, const tn_ints *kernel)
{
    for (int i = 0; i < pads->count; i++) {
        if (!kernel->set || pads->count != 2 * kernel->count || pads->v[i] >= kernel->v[i % kernel->count]) {
            return false;
        }
    }
    return true;
}

// No padding of its own.
static bool is_zero(const tn_ints *pads)
{
    for (int i = 0; pads->set && i < pads->count; i++) {
        if (pads->v[i] != 0) {
            return false;
        }
    }
    return true;
}

// No element is below zero, whatever the inputs are.
static bool never_negative(const tn_value *value)
{
    const tn_node *node = value->producer;
    double low;
    return node && (node->op == &tn_op_relu || node->op == &tn_op_sigmoid || node->op == &tn_op_hard_sigmoid ||
                    (node->op == &tn_op_clip && node->n_in > 1 && tn_scalar(node->in[1], &low) && low >= 0));
}

// A convolution or pooling behind a pad that only it reads.
static tn_status visit(tn_graph *graph, tn_pass_context *context, tn_node *node)
{
    tn_node *pad = tn_made_by(node->in[0], &tn_op_pad);
    int64_t extra[2 * MAX_SPATIAL];
    if (!pad || !tn_is_f32(pad->out[0]) || !tn_used_once(context, node->in[0]) || !spatial_pads(pad, extra)) {
        return TN_OK;
    }
    const int spatial = pad->in[0]->shape.rank - 2;
    if (node->op == &tn_op_conv && node->n_in <= 4) {
        tn_conv_attr attr = *(const tn_conv_attr *)node->attr;
        if (joined_pads(graph, &attr.pads, attr.auto_pad, extra, spatial, &attr.pads)) {
            attr.auto_pad = TN_PAD_NOTSET;
            return take_pad(graph, context, node, pad, &attr);
        }
    }
    if (node->op == &tn_op_average_pool) {
        tn_pool_attr attr = *(const tn_pool_attr *)node->attr;
        if (!attr.ceil_mode && (attr.count_include_pad || attr.auto_pad == TN_PAD_VALID || is_zero(&attr.pads)) &&
            joined_pads(graph, &attr.pads, attr.auto_pad, extra, spatial, &attr.pads) && within_kernel(&attr.pads, &attr.kernel)) {
            attr.auto_pad = TN_PAD_NOTSET;
            attr.count_include_pad = true;
            return take_pad(graph, context, node, pad, &attr);
        }
    }
    if (node->op == &tn_op_max_pool && node->n_out == 1 && never_negative(pad->in[0])) {
        tn_pool_attr attr = *(const tn_pool_attr *)node->attr;
        if (!attr.ceil_mode && joined_pads(graph, &attr.pads, attr.auto_pad, extra, spatial, &attr.pads) &&
            within_kernel(&attr.pads, &attr.kernel)) {
            attr.auto_pad = TN_PAD_NOTSET;
            return take_pad(graph, context, node, pad, &attr);
        }
    }
    return TN_OK;
}

static tn_status run_fuse_pad(tn_graph *graph, tn_pass_context *context)
{
    for (tn_node *node = graph->first, *next; node; node = next) {
        next = node->next;
        if ((node->op == &tn_op_conv || node->op == &tn_op_average_pool || node->op == &tn_op_max_pool) && node->n_in > 0 &&
            node->in[0]) {
            TN_TRY(visit(graph, context, node));
        }
    }
    return TN_OK;
}

const tn_pass tn_pass_fuse_pad = {"fuse_pad", run_fuse_pad};
