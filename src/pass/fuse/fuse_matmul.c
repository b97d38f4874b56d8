// SPDX-License-Identifier: Apache-2.0
// Matrix products: gemm becomes matmul with bias or residual; transposes of the last two dims, scales by one number and reshapes
// that only flatten the leading dims are taken into the product.
// Ownership: the caller's graph. Threads: one per graph.
#include "pass/fuse/fuse.h"

#include "ops/math/op_binary.h"
#include "ops/move/op_reshape.h"
#include "ops/move/op_transpose.h"
#include "ops/nn/op_matmul.h"
#include "pass/rewrite.h"

// Operands of a matmul: a, b, bias?, residual?.
enum { A, B, BIAS, RESIDUAL, OPERANDS };

// All four operands, NULL for those that are absent.
static void operands_of(const tn_node *node, tn_value **in)
{
    for (int i = 0; i < OPERANDS; i++) {
        in[i] = i < node->n_in ? node->in[i] : NULL;
    }
}

// Puts a matmul in root's place; trailing absent operands are left out.
static tn_status become_matmul(tn_graph *graph, tn_pass_context *context, tn_node *root, const tn_matmul_attr *attr,
                               tn_value *const *in, tn_node *const *from, int n_from, tn_node **made)
{
    int n_in = OPERANDS;
    while (n_in > 2 && !in[n_in - 1]) {
        n_in--;
    }
    return tn_rewrite_node(graph, context, &(tn_rewrite){.root = root, .op = &tn_op_matmul, .attr = attr, .in = in, .n_in = n_in,
                                                         .from = from, .n_from = n_from}, made);
}

// ---- gemm ----

// beta * c as a vector of N; NULL: c is no such constant, or no memory.
static tn_value *scaled_bias(tn_graph *graph, const tn_value *c, double beta, int64_t n)
{
    int64_t count;
    float *data;
    if (!tn_dim_known(n) || n < 1 || !tn_per_axis(c, 2, 1, n) || !tn_floats(c, &count)) {
        return NULL;
    }
    const tn_shape shape = tn_shape_of(1, &n);
    tn_value *bias = tn_new_room(graph, &shape, &data);
    for (int64_t i = 0; bias && i < n; i++) {
        data[i] = (float)(beta * tn_float(c, i));
    }
    return bias;
}

// gemm: c [N] is a bias, c [M, N] (unscaled) a residual, one number a bias of equal numbers; a column [M, 1] has no place.
static tn_status visit_gemm(tn_graph *graph, tn_pass_context *context, tn_node *node)
{
    const tn_gemm_attr *attr = node->attr;
    tn_value *in[OPERANDS] = {node->in[0], node->in[1], NULL, NULL}, *c = node->n_in > 2 ? node->in[2] : NULL;
    if (!tn_is_f32(node->out[0]) || in[A]->shape.rank != 2 || in[B]->shape.rank != 2) {
        return TN_OK;
    }
    const int64_t n = in[B]->shape.dims[attr->trans_b ? 0 : 1];
    if (c && attr->beta != 0) {
        const bool plain = attr->beta == 1 && c->constant == NULL;
        in[BIAS] = scaled_bias(graph, c, attr->beta, n);
        if (!in[BIAS] && plain && c->shape.rank == 1 && tn_dim_surely_same(c->shape.dims[0], n)) {
            in[BIAS] = c;
        } else if (!in[BIAS] && plain && tn_surely_same(&c->shape, &node->out[0]->shape)) {
            in[RESIDUAL] = c;
        }
        if (!in[BIAS] && !in[RESIDUAL]) {
            return TN_OK;
        }
    }
    const tn_matmul_attr product = {.trans_a = attr->trans_a, .trans_b = attr->trans_b, .alpha = attr->alpha,
                                    .act = {.code = TN_LOOP_CONST}};
    return become_matmul(graph, context, node, &product, in, NULL, 0, NULL);
}

// ---- transposes ----

// A transpose of x before `before`; NULL: no memory.
static tn_value *transposed(tn_graph *graph, tn_pass_context *context, tn_node *before, const tn_node *from, tn_value *x,
                            const int64_t *perm)
{
    const tn_transpose_attr attr = {tn_new_attr_ints(graph, x->shape.rank, perm)};
    tn_shape shape = x->shape;
    tn_value *out;
    for (int d = 0; d < shape.rank; d++) {
        shape.dims[d] = x->shape.dims[perm[d]];
    }
    if (!attr.perm.set ||
        tn_insert_node(graph, context, before, from, &tn_op_transpose, &attr, &x, 1, x->dtype, &shape, &out) != TN_OK) {
        return NULL;
    }
    return out;
}

// An operand that is a transpose: when it swaps the last two dims, the product does that itself. When it moves the last dim to
// the place before the last, what is left of it moves whole rows.
//   [B, S, H, D] by (0, 2, 3, 1) is [B, S, H, D] by (0, 2, 1, 3), then the swap
static tn_status visit_transpose(tn_graph *graph, tn_pass_context *context, tn_node *node, int index, tn_node **made)
{
    tn_node *move = tn_made_by(node->in[index], &tn_op_transpose);
    const int rank = move ? move->in[0]->shape.rank : 0;
    const tn_transpose_attr *attr = move ? move->attr : NULL;
    if (rank < 2 || (attr->perm.set && attr->perm.count != rank)) {
        return TN_OK;
    }
    int64_t perm[TN_MAX_RANK];
    bool identity = true;
    for (int d = 0; d < rank; d++) {
        perm[d] = attr->perm.set ? attr->perm.v[d] : rank - 1 - d;
        if (perm[d] < 0 || perm[d] >= rank) {
            return TN_OK;
        }
    }
    if (perm[rank - 2] != rank - 1) {
        return TN_OK;
    }
    perm[rank - 2] = perm[rank - 1];
    perm[rank - 1] = rank - 1;
    for (int d = 0; d < rank; d++) {
        identity = identity && perm[d] == d;
    }
    if (!identity && !tn_used_once(context, node->in[index])) {
        return TN_OK;
    }
    tn_value *in[OPERANDS];
    operands_of(node, in);
    in[index] = identity ? move->in[0] : transposed(graph, context, node, move, move->in[0], perm);
    if (!in[index]) {
        return tn_fail_memory(context->diag, node->name, sizeof *node);
    }
    tn_matmul_attr product = *(const tn_matmul_attr *)node->attr;
    *(index == A ? &product.trans_a : &product.trans_b) ^= true;
    TN_TRY(become_matmul(graph, context, node, &product, in, NULL, 0, made));
    tn_drop_unused(graph, context, move);
    return TN_OK;
}

// ---- scales ----

// value = *of * factor, one number.
static bool scaled(const tn_node *node, tn_value **of, double *factor)
{
    if (!node || !node->out[0] || !tn_is_f32(node->out[0]) || (node->op != &tn_op_mul && node->op != &tn_op_div)) {
        return false;
    }
    int side = 0;
    if (tn_scalar(node->in[1], factor)) {
        *factor = node->op == &tn_op_div ? 1 / *factor : *factor;
    } else if (node->op == &tn_op_mul && tn_scalar(node->in[0], factor)) {
        side = 1;
    } else {
        return false;
    }
    *of = node->in[side];
    return *factor - *factor == 0 && tn_is_f32(*of) && (*of)->shape.rank >= 0 && (*of)->shape.rank == node->out[0]->shape.rank;
}

// An operand that is scaled by one number.
static tn_status visit_scaled_operand(tn_graph *graph, tn_pass_context *context, tn_node *node, int index, tn_node **made)
{
    tn_value *in[OPERANDS], *of;
    double factor;
    tn_node *scale = node->in[index]->producer;
    if (!tn_used_once(context, node->in[index]) || !scaled(scale, &of, &factor)) {
        return TN_OK;
    }
    operands_of(node, in);
    in[index] = of;
    tn_matmul_attr product = *(const tn_matmul_attr *)node->attr;
    product.alpha *= factor;
    TN_TRY(become_matmul(graph, context, node, &product, in, NULL, 0, made));
    TN_TRY(tn_node_add_origins(graph, *made, scale));
    tn_drop_unused(graph, context, scale);
    return TN_OK;
}

// The product itself is scaled by one number.
static tn_status visit_scaled_result(tn_graph *graph, tn_pass_context *context, tn_node *node)
{
    tn_value *in[OPERANDS], *of;
    double factor;
    if (!scaled(node, &of, &factor)) {
        return TN_OK;
    }
    tn_node *product = tn_made_by(of, &tn_op_matmul);
    if (!product || !tn_used_once(context, of)) {
        return TN_OK;
    }
    operands_of(product, in);
    tn_matmul_attr attr = *(const tn_matmul_attr *)product->attr;
    if (in[BIAS] || in[RESIDUAL] || attr.act.code != TN_LOOP_CONST) {
        return TN_OK;
    }
    attr.alpha *= factor;
    return become_matmul(graph, context, node, &attr, in, &product, 1, NULL);
}

// ---- reshapes around a product ----

// reshape to [M, K], product with a matrix [K, N], reshape to what x was, with N for K: the product takes x as it is.
static tn_status visit_tensordot(tn_graph *graph, tn_pass_context *context, tn_node *node)
{
    tn_node *product = tn_made_by(node->in[0], &tn_op_matmul);
    tn_node *first = product ? tn_made_by(product->in[A], &tn_op_reshape) : NULL;
    if (!first || !tn_used_once(context, node->in[0]) || product->in[B]->shape.rank != 2 ||
        (product->n_in > RESIDUAL && product->in[RESIDUAL])) {
        return TN_OK;
    }
    const tn_matmul_attr *attr = product->attr;
    const tn_shape *x = &first->in[0]->shape, *flat = &product->in[A]->shape, *out = &node->out[0]->shape;
    if (attr->trans_a || x->rank < 1 || x->rank != out->rank || flat->rank < 1 ||
        !tn_dim_surely_same(x->dims[x->rank - 1], flat->dims[flat->rank - 1]) ||
        !tn_dim_surely_same(out->dims[out->rank - 1], product->in[B]->shape.dims[attr->trans_b ? 0 : 1])) {
        return TN_OK;
    }
    for (int d = 0; d < x->rank - 1; d++) {
        if (!tn_dim_surely_same(x->dims[d], out->dims[d])) {
            return TN_OK;
        }
    }
    tn_value *in[OPERANDS];
    operands_of(product, in);
    in[A] = first->in[0];
    TN_TRY(become_matmul(graph, context, node, attr, in, &product, 1, NULL));
    tn_drop_unused(graph, context, first);
    return TN_OK;
}

// ---- the pass ----

// Takes what it can of both operands.
static tn_status visit_product(tn_graph *graph, tn_pass_context *context, tn_node *node)
{
    // Each change makes a new node, on which the next is tried.
    for (int index = A; index <= B; index++) {
        for (tn_node *made = node; made;) {
            node = made;
            made = NULL;
            TN_TRY(visit_transpose(graph, context, node, index, &made));
            if (!made) {
                TN_TRY(visit_scaled_operand(graph, context, node, index, &made));
            }
        }
    }
    return TN_OK;
}

static tn_status run_fuse_matmul(tn_graph *graph, tn_pass_context *context)
{
    for (tn_node *node = graph->first, *next; node; node = next) {
        next = node->next;
        if (node->op == &tn_op_gemm) {
            TN_TRY(visit_gemm(graph, context, node));
        }
    }
    for (tn_node *node = graph->first, *next; node; node = next) {
        next = node->next;
        if (node->op == &tn_op_matmul && tn_is_f32(node->out[0])) {
            TN_TRY(visit_product(graph, context, node));
        } else if (node->op == &tn_op_mul || node->op == &tn_op_div) {
            TN_TRY(visit_scaled_result(graph, context, node));
        } else if (node->op == &tn_op_reshape && tn_is_f32(node->out[0])) {
            TN_TRY(visit_tensordot(graph, context, node));
        }
    }
    return TN_OK;
}

const tn_pass tn_pass_fuse_matmul = {"fuse_matmul", run_fuse_matmul};
