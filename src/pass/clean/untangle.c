// SPDX-License-Identifier: Apache-2.0
// Movements: transposes and reshapes that cancel or merge, and shapes that are computed although they are known. (What is left is
// composed again when a plan knows all shapes; here it matters because matrix products and chains look through fewer nodes.)
// Ownership: the caller's graph. Threads: one per graph.
#include "pass/clean/clean.h"

#include "ops/move/op_reshape.h"
#include "ops/move/op_transpose.h"
#include "pass/rewrite.h"

#define MAX_CHAIN 64   // reshapes in a row that are looked through

// ---- reshapes ----

// Keeps the elements and their order, whatever becomes of the shape.
static bool is_reshape(const tn_node *node)
{
    return node && (node->op == &tn_op_reshape || node->op == &tn_op_squeeze || node->op == &tn_op_unsqueeze ||
                    node->op == &tn_op_flatten) && node->out[0] && node->in[0];
}

// The shape operand that makes `to` of `from`: numbers, 0 for a dim that stays where it is, -1 for one other. false: it takes more.
static bool reshape_target(const tn_shape *from, const tn_shape *to, int64_t *target)
{
    bool free = true;
    for (int d = 0; d < to->rank; d++) {
        const int64_t dim = to->dims[d];
        if (tn_dim_known(dim)) {
            if (dim == 0) {
                return false;
            }
            target[d] = dim;
        } else if (d < from->rank && tn_dim_surely_same(dim, from->dims[d])) {
            target[d] = 0;
        } else if (free) {
            target[d] = -1;
            free = false;
        } else {
            return false;
        }
    }
    return to->rank >= 0;
}

// Replaces node by one reshape of `source`.
static tn_status become_reshape(tn_graph *graph, tn_pass_context *context, tn_node *node, tn_value *source, tn_node *from)
{
    int64_t target[TN_MAX_RANK];
    if (!reshape_target(&source->shape, &node->out[0]->shape, target)) {
        return TN_OK;
    }
    tn_value *shape = tn_new_ints(graph, node->out[0]->shape.rank, target);
    if (!shape) {
        return tn_fail_memory(context->diag, node->name, sizeof *shape);
    }
    tn_value *const in[2] = {source, shape};
    const tn_rewrite rewrite = {.root = node, .op = &tn_op_reshape, .in = in, .n_in = 2, .from = &from, .n_from = from ? 1 : 0};
    return tn_rewrite_node(graph, context, &rewrite, NULL);
}

// A reshape that leads back to a shape that was there is that value; of two in a row only the last matters; a shape operand that is
// computed is replaced by what is known of it.
static tn_status visit_reshape(tn_graph *graph, tn_pass_context *context, tn_node *node)
{
    // Back along the chain of reshapes: a value of the result's shape is the result.
    tn_value *value = node->in[0];
    for (int i = 0; value && i < MAX_CHAIN; i++, value = is_reshape(value->producer) ? value->producer->in[0] : NULL) {
        if (tn_surely_same(&value->shape, &node->out[0]->shape) && tn_can_replace(context, node->out[0], value)) {
            return tn_bypass(graph, context, node, value);
        }
    }
    tn_node *inner = node->in[0]->producer;
    if (is_reshape(inner) && tn_can_drop(context, node->in[0])) {
        const unsigned before = context->changes;
        TN_TRY(become_reshape(graph, context, node, inner->in[0], inner));
        if (context->changes != before) {
            return TN_OK;
        }
    }
    const bool computed = node->op == &tn_op_reshape && node->n_in > 1 && node->in[1] && !node->in[1]->constant;
    return computed ? become_reshape(graph, context, node, node->in[0], NULL) : TN_OK;
}

// ---- transposes ----

// The permutation of a transpose of known rank.
static bool permutation(const tn_node *node, int *perm)
{
    const tn_transpose_attr *attr = node->attr;
    const int rank = node->in[0] ? node->in[0]->shape.rank : -1;
    if (rank < 0 || (attr->perm.set && attr->perm.count != rank)) {
        return false;
    }
    for (int d = 0; d < rank; d++) {
        const int64_t p = attr->perm.set ? attr->perm.v[d] : rank - 1 - d;
        if (p < 0 || p >= rank) {
            return false;
        }
        perm[d] = (int)p;
    }
    return true;
}

static bool is_identity(const int *perm, int rank)
{
    for (int d = 0; d < rank; d++) {
        if (perm[d] != d) {
            return false;
        }
    }
    return true;
}

// The dims other than 1 keep their order: no element moves.
static bool moves_nothing(const tn_shape *shape, const int *perm)
{
    int last = -1;
    for (int d = 0; d < shape->rank; d++) {
        if (shape->dims[perm[d]] == 1) {
            continue;
        }
        if (perm[d] < last) {
            return false;
        }
        last = perm[d];
    }
    return true;
}

// Replaces node by one transpose of `source`: result dim d is dim perm[d] of it.
static tn_status become_transpose(tn_graph *graph, tn_pass_context *context, tn_node *node, tn_value *source, const int *perm,
                                  tn_node *const *from, int n_from)
{
    int64_t wide[TN_MAX_RANK];
    for (int d = 0; d < source->shape.rank; d++) {
        wide[d] = perm[d];
    }
    const tn_transpose_attr attr = {tn_new_attr_ints(graph, source->shape.rank, wide)};
    if (!attr.perm.set) {
        return tn_fail_memory(context->diag, node->name, sizeof wide);
    }
    return tn_rewrite_node(graph, context, &(tn_rewrite){.root = node, .op = &tn_op_transpose, .attr = &attr, .in = &source,
                                                         .n_in = 1, .from = from, .n_from = n_from}, NULL);
}

// Two in a row are one; one that keeps all dims in place is none; one that only moves dims of 1 is a reshape.
static tn_status visit_transpose(tn_graph *graph, tn_pass_context *context, tn_node *node)
{
    int outer[TN_MAX_RANK], inner[TN_MAX_RANK];
    tn_value *source = node->in[0];
    if (!permutation(node, outer)) {
        return TN_OK;
    }
    if (is_identity(outer, source->shape.rank) && tn_can_replace(context, node->out[0], source)) {
        return tn_bypass(graph, context, node, source);
    }
    tn_node *before = tn_made_by(source, &tn_op_transpose);
    if (before && permutation(before, inner)) {
        int perm[TN_MAX_RANK];
        for (int d = 0; d < source->shape.rank; d++) {
            // y[d] = b[outer[d]], b[e] = x[inner[e]]
            perm[d] = inner[outer[d]];
        }
        if (is_identity(perm, source->shape.rank) && tn_can_replace(context, node->out[0], before->in[0])) {
            TN_TRY(tn_bypass(graph, context, node, before->in[0]));
            tn_drop_unused(graph, context, before);
            return TN_OK;
        }
        return become_transpose(graph, context, node, before->in[0], perm, &before, 1);
    }
    return moves_nothing(&source->shape, outer) ? become_reshape(graph, context, node, source, NULL) : TN_OK;
}

// reshape, transpose of the last two dims, reshape: the reshapes only merge the leading dims and take them apart again, as
// exporters of batched matrix products write it. It is a transpose of the last two dims.
//   [A, B, S, D] -> [A*B, S, D] -> [A*B, D, S] -> [A, B, D, S]
static tn_status visit_sandwich(tn_graph *graph, tn_pass_context *context, tn_node *node)
{
    tn_node *middle = tn_made_by(node->in[0], &tn_op_transpose);
    tn_node *first = middle && is_reshape(middle->in[0]->producer) ? middle->in[0]->producer : NULL;
    int perm[TN_MAX_RANK];
    if (!first || !permutation(middle, perm) || !tn_can_drop(context, node->in[0])) {
        return TN_OK;
    }
    const tn_shape *x = &first->in[0]->shape, *flat = &middle->in[0]->shape;
    const int r = x->rank, f = flat->rank;
    if (r < 2 || f < 2 || perm[f - 1] != f - 2 || perm[f - 2] != f - 1 || !is_identity(perm, f - 2) ||
        !tn_dim_surely_same(x->dims[r - 1], flat->dims[f - 1]) || !tn_dim_surely_same(x->dims[r - 2], flat->dims[f - 2])) {
        return TN_OK;
    }
    tn_shape swapped = *x;
    swapped.dims[r - 1] = x->dims[r - 2];
    swapped.dims[r - 2] = x->dims[r - 1];
    if (!tn_surely_same(&swapped, &node->out[0]->shape)) {
        return TN_OK;
    }
    for (int d = 0; d < r; d++) {
        perm[d] = d < r - 2 ? d : 2 * r - 3 - d;
    }
    tn_node *const from[2] = {middle, first};
    return become_transpose(graph, context, node, first->in[0], perm, from, 2);
}

// ---- the pass ----

static tn_status run_untangle(tn_graph *graph, tn_pass_context *context)
{
    for (tn_node *node = graph->first, *next; node; node = next) {
        next = node->next;
        if (node->n_out < 1 || !node->out[0] || node->n_in < 1 || !node->in[0] || node->out[0]->kind != TN_KIND_TENSOR) {
            continue;
        }
        if (node->op == &tn_op_transpose) {
            TN_TRY(visit_transpose(graph, context, node));
        } else if (is_reshape(node)) {
            const unsigned before = context->changes;
            TN_TRY(visit_sandwich(graph, context, node));
            if (context->changes == before) {
                TN_TRY(visit_reshape(graph, context, node));
            }
        }
    }
    return TN_OK;
}

const tn_pass tn_pass_untangle = {"untangle", run_untangle};
