// SPDX-License-Identifier: Apache-2.0
// Matrix products. ONNX MatMul (numpy semantics), Gemm, Einsum.
// Ownership: const data. Threads: any.
#ifndef TN_OP_MATMUL_H
#define TN_OP_MATMUL_H

#include "ir/op.h"

#include "ops/nn/op_act.h"

// matmul: a [..., M, K], b [..., K, N], bias [N]?, residual (shape of the result)?; trans_* swap the last two dims of an operand
// first.
// y = act(alpha * a b + bias + residual).
typedef struct tn_matmul_attr {
    bool trans_a, trans_b;
    double alpha;
    tn_act act;
} tn_matmul_attr;

// gemm: a [M, K] or [K, M], b [K, N] or [N, K], c? broadcast to [M, N]; y = alpha * a b + beta * c.
typedef struct tn_gemm_attr { bool trans_a, trans_b; double alpha, beta; } tn_gemm_attr;

typedef struct tn_einsum_attr { const char *equation; } tn_einsum_attr;

// An einsum as loops: dims of the result, in order, then those that are summed, and how far a step along each goes in each operand.
#define TN_EINSUM_OPERANDS 4
typedef struct tn_einsum_form {
    int kept, summed;
    int64_t sizes[2 * TN_MAX_RANK], strides[TN_EINSUM_OPERANDS][2 * TN_MAX_RANK];
} tn_einsum_form;

// false: more operands or summed dims than the form holds.
struct tn_query;
bool tn_einsum_form_of(const struct tn_query *query, tn_einsum_form *form);

extern const tn_op tn_op_matmul;
extern const tn_op tn_op_gemm;
extern const tn_op tn_op_einsum;

#endif
