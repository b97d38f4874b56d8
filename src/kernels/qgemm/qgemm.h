// SPDX-License-Identifier: Apache-2.0
// Products of matrices of bytes: matmul_integer and qlinear_matmul, over qsum.h. Nothing is packed: b is read as it lies, whether it is
// constant or not. One row of a reads b once, straight into sums: no columns are made that would be used once.
// Ownership: parameters live in the plan's arena. Threads: const after prepare.
#ifndef TN_QGEMM_H
#define TN_QGEMM_H

#include "kernels/qgemm/qsum.h"
#include "ops/nn/nn_reference.h"
#include "ops/quant/op_qlinear.h"

typedef struct tn_qgemm_params {
    tn_product product;           // for its dims and stacks only
    bool vector;                  // one row
    int b, a_zero, b_zero;        // operands
    bool a_signed, b_signed, each;    // each: zero points of b for each column
    bool columns;                 // factors for each column, else one for all; biases always for each
    size_t slot_bytes;
    tn_qsum_results results;
} tn_qgemm_params;

bool tn_matmul_integer_match(const tn_query *query, const char **why);
bool tn_qlinear_matmul_match(const tn_query *query, const char **why);
tn_status tn_matmul_integer_prepare(tn_prepare *prepare);
tn_status tn_qlinear_matmul_prepare(tn_prepare *prepare);

#define TN_QGEMM_TIER(tier) double tn_qgemm_cost_##tier(const tn_query *query);
TN_QGEMM_TIER(portable)
TN_QGEMM_TIER(avx2)
TN_QGEMM_TIER(avx512)
TN_QGEMM_TIER(vnni)

#endif
