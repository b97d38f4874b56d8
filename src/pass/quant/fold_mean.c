// SPDX-License-Identifier: Apache-2.0
// Means over neighbouring axes in integers. As a tensor [N, outer, mid, inner] the mean over mid is one over what is left of a channel where
// there is nothing inside, else one of windows as high as mid; reshapes move no bytes.
// Ownership: new constants belong to the graph. Threads: one per graph.
#include "pass/quant/quant.h"

#include "base/num.h"
#include "ops/math/op_reduce.h"
#include "ops/move/op_reshape.h"
#include "ops/move/op_transpose.h"
#include "ops/quant/op_qpool.h"
#include "ops/wide/op_wide.h"

#define MOST_ROWS 1024      // of a window
#define MOST_ELEMENTS (1 << 23)

bool tn_mean_axes(const tn_node *node, int *first, int *last)
{
    const tn_reduce_attr *attr = node->attr;
    int64_t axes[TN_MAX_RANK];
    int count = 0;
    uint32_t mask = 0;
    const int rank = node->in[0] ? node->in[0]->shape.rank : 0;
    const bool named = node->n_in > 1 && node->in[1];
    if (node->op != &tn_op_reduce_mean || rank < 1 || (named && !tn_int_list(node->in[1], TN_MAX_RANK, axes, &count))) {
        return false;
    }
    if (count == 0) {
        *first = 0;
        *last = rank;
        return !attr->noop_with_empty_axes;
    }
    for (int i = 0; i < count; i++) {
        int axis;
        if (!tn_axis(axes[i], rank, &axis)) {
            return false;
        }
        mask |= UINT32_C(1) << axis;
    }
    for (*first = 0; !(mask >> *first & 1); ++*first) {}
    for (*last = *first; mask >> *last & 1; ++*last) {}
    return mask >> *last == 0;
}

// x as [N, outer, mid, inner], and what the mean is to be given as; dim 0 may be any, which a reshape calls 0. false: not known.
typedef struct view {
    int64_t dims[4];
    int64_t out[TN_MAX_RANK];
    int rank;                     // of the result
} view;

static bool view_of(const tn_node *node, int first, int last, view *v)
{
    const tn_shape *x = &node->in[0]->shape;
    const bool keep = ((const tn_reduce_attr *)node->attr)->keepdims;
    for (int i = 0; i < 4; i++) {
        v->dims[i] = 1;
    }
    v->rank = 0;
    for (int d = 0; d < x->rank; d++) {
        const int part = d >= last ? 3 : d >= first ? 2 : d > 0 ? 1 : 0;
        const bool any = d == 0 && first > 0 && !tn_dim_known(x->dims[d]);
        if (any) {
            v->dims[0] = 0;
        } else if (!tn_dim_known(x->dims[d]) || x->dims[d] < 1 || !tn_mul_i64(v->dims[part], x->dims[d], &v->dims[part])) {
            return false;
        }
        if (part != 2 || keep) {
            v->out[v->rank++] = any ? 0 : part == 2 ? 1 : x->dims[d];
        }
    }
    return true;
}

static tn_status reshaped(tn_graph *graph, tn_pass_context *context, tn_node *node, const tn_node *from, tn_value *x, const view *v, int rank,
                          tn_value **out)
{
    tn_shape shape = tn_shape_of(rank, v->dims);
    shape.dims[0] = v->dims[0] ? v->dims[0] : from->in[0]->shape.dims[0];
    tn_value *in[2] = {x, tn_new_ints(graph, rank, v->dims)};
    return in[1] ? tn_insert_node(graph, context, node, from, &tn_op_reshape, NULL, in, 2, x->dtype, &shape, out)
                 : tn_fail_memory(context->diag, node->name, sizeof v->dims);
}

// The mean as an operator on bytes, of x as it was reshaped.
static tn_status byte_mean(tn_graph *graph, tn_pass_context *context, tn_node *node, const tn_quant_work *w, const view *v, tn_value *const *in,
                           tn_value **mean)
{
    static const int64_t ones[2] = {1, 1};
    tn_shape made = in[0]->shape;
    made.dims[2] = 1;
    if (made.rank == 3) {
        return tn_insert_node(graph, context, node, w->node, &tn_op_qlinear_global_average_pool, &w->q, in, 5, node->out[0]->dtype, &made, mean);
    }
    const int64_t kernel[2] = {v->dims[2], 1};
    const tn_qpool_attr attr = {.pool = {.kernel = tn_new_attr_ints(graph, 2, kernel), .strides = tn_new_attr_ints(graph, 2, ones), .p = 2}, .q = w->q};
    if (!attr.pool.kernel.set || !attr.pool.strides.set) {
        return tn_fail_memory(context->diag, node->name, sizeof kernel);
    }
    return tn_insert_node(graph, context, node, w->node, &tn_op_qlinear_average_pool, &attr, in, 5, node->out[0]->dtype, &made, mean);
}

// The same on int16, which knows means of whole channels only: what lies inside comes before mid.
static tn_status wide_mean(tn_graph *graph, tn_pass_context *context, tn_node *node, const tn_quantised *x, const tn_quantised *y,
                           const tn_quant_work *w, tn_value *real, tn_value **mean)
{
    static const int64_t perm[4] = {0, 1, 3, 2};
    tn_value *turned = real;
    tn_shape shape = real->shape;
    if (shape.rank == 4) {
        const tn_transpose_attr attr = {.perm = {perm, 4, true}};
        const int64_t inner = shape.dims[3];
        shape.dims[3] = shape.dims[2];
        shape.dims[2] = inner;
        TN_TRY(tn_insert_node(graph, context, node, w->node, &tn_op_transpose, &attr, &real, 1, TN_I16, &shape, &turned));
        const int64_t dims[3] = {tn_dim_known(shape.dims[0]) ? shape.dims[0] : 0, shape.dims[1] * inner, shape.dims[3]};
        tn_value *in[2] = {turned, tn_new_ints(graph, 3, dims)};
        shape = (tn_shape){3, {shape.dims[0], dims[1], dims[2]}};
        TN_TRY(in[1] ? tn_insert_node(graph, context, node, w->node, &tn_op_reshape, NULL, in, 2, TN_I16, &shape, &turned)
                     : tn_fail_memory(context->diag, node->name, sizeof dims));
    }
    tn_value *in[3] = {turned, x->scale, y->scale};
    shape.dims[2] = 1;
    return tn_insert_node(graph, context, node, w->node, &tn_op_wide_mean, &w->q, in, 3, TN_I16, &shape, mean);
}

tn_status tn_fold_mean(tn_graph *graph, tn_pass_context *context, tn_node *node, const tn_quantised *y, const tn_quant_work *w, bool *done)
{
    tn_quantised x;
    view v;
    int first, last;
    if (!tn_mean_axes(w->node, &first, &last) || !tn_dequantised_any(w->node->in[0], &x) || x.count != 1 ||
        (x.dtype == TN_I16) != (y->dtype == TN_I16)) {
        return TN_OK;
    }
    const bool wide = x.dtype == TN_I16, known = view_of(w->node, first, last, &v);
    tn_value *in[5] = {x.x, x.scale, x.zero, y->scale, y->zero}, *mean;
    if (!wide && first == 2 && last == w->node->in[0]->shape.rank && ((const tn_reduce_attr *)w->node->attr)->keepdims) {
        *done = true;
        return tn_rewrite_node(graph, context, &(tn_rewrite){.root = node, .op = &tn_op_qlinear_global_average_pool, .attr = &w->q, .in = in,
                                                             .n_in = 5, .from = w->from, .n_from = w->n_from}, NULL);
    }
    if (!known || v.rank == 0 || v.dims[2] > (wide ? TN_WIDE_MEAN : v.dims[3] > 1 ? MOST_ROWS : MOST_ELEMENTS)) {
        return TN_OK;
    }
    TN_TRY(reshaped(graph, context, node, w->node, x.x, &v, v.dims[3] > 1 ? 4 : 3, &in[0]));
    TN_TRY(wide ? wide_mean(graph, context, node, &x, y, w, in[0], &mean) : byte_mean(graph, context, node, w, &v, in, &mean));
    tn_value *operands[2] = {mean, tn_new_ints(graph, v.rank, v.out)};
    if (!operands[1]) {
        return tn_fail_memory(context->diag, node->name, sizeof v.out);
    }
    *done = true;
    return tn_rewrite_node(graph, context, &(tn_rewrite){.root = node, .op = &tn_op_reshape, .in = operands, .n_in = 2, .from = w->from,
                                                         .n_from = w->n_from}, NULL);
}
