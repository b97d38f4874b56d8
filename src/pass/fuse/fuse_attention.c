// SPDX-License-Identifier: Apache-2.0
// Attention written out: the product of queries and keys, a mask, softmax, the product with the values. Where heads were split from rows by a
// reshape and a transpose and are joined again the same way, the operator takes and makes the rows as they are.
// A row that sees no key, all of whose mask is -infinity, is NaN as written and 0 here, as the operator says: frameworks' own attention,
// which such products were exported from, gives 0 (docs/operators.md).
// The first step needs no shapes but ranks, the second finds more when they are concrete.
// Ownership: the caller's graph. Threads: one per graph.
#include "pass/fuse/fuse.h"

#include "base/num.h"
#include "ops/math/op_binary.h"
#include "ops/move/op_reshape.h"
#include "ops/move/op_transpose.h"
#include "ops/nn/op_matmul.h"
#include "ops/nn/op_softmax.h"
#include "ops/seq/op_attention.h"
#include "pass/rewrite.h"

enum { RANK = 4, MASK = 3 };

// ---- softmax(alpha * q k^T + mask) v ----

// A product of two operands alone.
static const tn_matmul_attr *plain_product(const tn_node *node, bool trans_b)
{
    const tn_matmul_attr *attr = node ? node->attr : NULL;
    const bool plain = node && node->n_in == 2 && !attr->trans_a && attr->trans_b == trans_b && attr->act.code == TN_LOOP_CONST;
    return plain && tn_is_f32(node->out[0]) && tn_is_f32(node->in[0]) && tn_is_f32(node->in[1]) ? attr : NULL;
}

// The mask broadcasts to the scores and covers all keys.
static bool fits_scores(const tn_value *mask, const tn_shape *scores)
{
    const tn_shape *m = &mask->shape;
    const int extra = scores->rank - m->rank;
    if (!tn_is_f32(mask) || m->rank < 1 || extra < 0 || !tn_dim_surely_same(m->dims[m->rank - 1], scores->dims[RANK - 1])) {
        return false;
    }
    for (int d = 0; d < m->rank; d++) {
        if (m->dims[d] != 1 && !tn_dim_surely_same(m->dims[d], scores->dims[d + extra])) {
            return false;
        }
    }
    return true;
}

// The product that gives `value`, perhaps with a mask added by *sum.
static tn_node *scores_of(const tn_pass_context *context, tn_value *value, tn_node **sum, tn_value **mask)
{
    tn_node *product = tn_made_by(value, &tn_op_matmul);
    *sum = tn_made_by(value, &tn_op_add);
    *mask = NULL;
    for (int side = 0; *sum && side < 2 && !product; side++) {
        product = tn_made_by((*sum)->in[side], &tn_op_matmul);
        *mask = (*sum)->in[1 - side];
        if (product && (!tn_used_once(context, product->out[0]) || !plain_product(product, true) || !fits_scores(*mask, &value->shape))) {
            product = NULL;
        }
    }
    return product;
}

static tn_status visit_product(tn_graph *graph, tn_pass_context *context, tn_node *node)
{
    const tn_matmul_attr *last = plain_product(node, false);
    tn_node *softmax = last && last->alpha == 1 ? tn_made_by(node->in[0], &tn_op_softmax) : NULL;
    if (!softmax || !tn_used_once(context, node->in[0]) || !tn_used_once(context, softmax->in[0]) || softmax->in[0]->shape.rank != RANK) {
        return TN_OK;
    }
    const int64_t axis = ((const tn_softmax_attr *)softmax->attr)->axis;
    tn_node *sum, *product;
    tn_value *mask;
    product = scores_of(context, softmax->in[0], &sum, &mask);
    const tn_matmul_attr *first = plain_product(product, true);
    if (!first || (axis != -1 && axis != RANK - 1)) {
        return TN_OK;
    }
    tn_value *in[] = {product->in[0], product->in[1], node->in[1], mask};
    for (int i = 0; i < MASK; i++) {
        const tn_shape *s = &in[i]->shape;
        if (s->rank != RANK || !tn_dim_surely_same(s->dims[0], in[0]->shape.dims[0]) || !tn_dim_surely_same(s->dims[1], in[0]->shape.dims[1])) {
            return TN_OK;
        }
    }
    const tn_attention_attr attr = {.has_scale = true, .scale = first->alpha, .left_window = -1, .right_window = -1};
    tn_node *const with_sum[] = {softmax, sum, product}, *const without[] = {softmax, product};
    return tn_rewrite_node(graph, context, &(tn_rewrite){.root = node, .op = &tn_op_attention, .attr = &attr, .in = in, .n_in = mask ? 4 : 3,
                                                         .from = sum ? with_sum : without, .n_from = sum ? 3 : 2}, NULL);
}

// ---- heads that lie side by side in rows ----

// The transpose exchanges rows and heads.
static bool swaps_heads(const tn_node *node)
{
    const tn_transpose_attr *attr = node ? node->attr : NULL;
    return node && attr->perm.set && attr->perm.count == RANK && attr->perm.v[0] == 0 && attr->perm.v[1] == 2 && attr->perm.v[2] == 1 &&
           attr->perm.v[3] == 3;
}

// rows [B, L, H * D] and split [B, L, H, D] are the same numbers.
static bool same_rows(const tn_value *rows, const tn_value *split)
{
    const tn_shape *r = &rows->shape, *s = &split->shape;
    int64_t width;
    return tn_is_f32(rows) && r->rank == RANK - 1 && s->rank == RANK && tn_dim_surely_same(r->dims[0], s->dims[0]) &&
           tn_dim_surely_same(r->dims[1], s->dims[1]) && tn_dim_known(s->dims[2]) && tn_dim_known(s->dims[3]) && s->dims[2] > 0 &&
           tn_mul_i64(s->dims[2], s->dims[3], &width) && r->dims[2] == width;
}

// The rows whose heads `value` [B, H, L, D] are; NULL: it is not made so.
static tn_value *rows_of(const tn_value *value)
{
    const tn_node *swap = tn_made_by(value, &tn_op_transpose);
    const tn_node *split = swaps_heads(swap) ? tn_made_by(swap->in[0], &tn_op_reshape) : NULL;
    return split && same_rows(split->in[0], swap->in[0]) ? split->in[0] : NULL;
}

// `join` is the reshape that puts the heads of an attention side by side.
static tn_status visit_join(tn_graph *graph, tn_pass_context *context, tn_node *join)
{
    tn_node *swap = tn_made_by(join->in[0], &tn_op_transpose);
    tn_node *node = swaps_heads(swap) && tn_used_once(context, swap->out[0]) ? tn_made_by(swap->in[0], &tn_op_attention) : NULL;
    if (!node || !tn_used_once(context, swap->in[0]) || node->n_in < MASK || node->n_in > MASK + 1 || node->n_out != 1 ||
        node->in[0]->shape.rank != RANK || !same_rows(join->out[0], swap->out[0])) {
        return TN_OK;
    }
    tn_attention_attr attr = *(const tn_attention_attr *)node->attr;
    tn_value *in[MASK + 1] = {NULL}, *old[MASK];
    for (int i = 0; i < MASK; i++) {
        old[i] = node->in[i];
        in[i] = rows_of(old[i]);
        if (!in[i]) {
            return TN_OK;
        }
    }
    if (node->n_in > MASK) {
        in[MASK] = node->in[MASK];
    }
    attr.q_num_heads = old[0]->shape.dims[1];
    attr.kv_num_heads = old[1]->shape.dims[1];
    tn_node *const from[] = {swap, node};
    TN_TRY(tn_rewrite_node(graph, context, &(tn_rewrite){.root = join, .op = &tn_op_attention, .attr = &attr, .in = in, .n_in = node->n_in,
                                                         .from = from, .n_from = 2}, NULL));
    for (int i = 0; i < MASK; i++) {
        const bool again = i > 0 && (old[i] == old[0] || old[i] == old[i - 1]);
        tn_node *move = again ? NULL : old[i]->producer, *split = move ? move->in[0]->producer : NULL;
        if (move && tn_drop_unused(graph, context, move) && split) {
            tn_drop_unused(graph, context, split);
        }
    }
    return TN_OK;
}

static tn_status run_fuse_attention(tn_graph *graph, tn_pass_context *context)
{
    for (tn_node *node = graph->first, *next; node; node = next) {
        next = node->next;
        if (node->op == &tn_op_matmul) {
            TN_TRY(visit_product(graph, context, node));
        }
    }
    for (tn_node *node = graph->first, *next; node; node = next) {
        next = node->next;
        if (node->op == &tn_op_reshape) {
            TN_TRY(visit_join(graph, context, node));
        }
    }
    return TN_OK;
}

const tn_pass tn_pass_fuse_attention = {"fuse_attention", run_fuse_attention};
