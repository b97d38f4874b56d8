// SPDX-License-Identifier: Apache-2.0
// softmax and log_softmax of f32 along one axis: x is [outer][size][inner], and a line is one of its columns of `size` elements.
// Ownership: none. Threads: any.
#ifndef TN_SOFTMAX_H
#define TN_SOFTMAX_H

#include "dispatch/kernel.h"

typedef struct tn_softmax_shape {
    int64_t outer, size, inner;
    bool stream;                  // the result is larger than the caches
} tn_softmax_shape;

bool tn_softmax_match(const tn_query *query, const char **why);
tn_status tn_softmax_prepare(tn_prepare *prepare);
double tn_softmax_cost_portable(const tn_query *query);
double tn_softmax_cost_avx2(const tn_query *query);
double tn_softmax_cost_avx512(const tn_query *query);

#endif
