// SPDX-License-Identifier: Apache-2.0
// Layer normalisation of bytes in integers (base/requant.h), bit for bit what the operator says. A line is gone over twice: for its
// sums, then for its results.
// Ownership: parameters live in the plan's arena. Threads: const after prepare.
#ifndef TN_QNORM_H
#define TN_QNORM_H

#include "dispatch/kernel.h"
#include "ops/quant/op_qmap.h"

typedef struct tn_qnorm_params {
    tn_qnorm q;
    int64_t lines;
    bool is_signed;
    int32_t room;             // of a line's gains: whole vectors
    int32_t words[];          // [2][room]: gains, biases
} tn_qnorm_params;

bool tn_qnorm_match(const tn_query *query, const char **why);
tn_status tn_qnorm_prepare(tn_prepare *prepare);
double tn_qnorm_cost_portable(const tn_query *query);
double tn_qnorm_cost_avx2(const tn_query *query);
double tn_qnorm_cost_avx512(const tn_query *query);

#endif
