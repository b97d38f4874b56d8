// SPDX-License-Identifier: Apache-2.0
// softmax and log_softmax of f32 along one axis: x is [outer][size][inner], and a line is one of its columns of `size` elements.
// Ownership: none. Threads: any.
#ifndef TN_SOFTMAX_H
#define TN_SOFTMAX_H

#include "dispatch/kernel.h"

typedef struct tn_softmax_shape {
    int64_t outer, size, inner;
} tn_softmax_shape;

tn_softmax_shape tn_softmax_shape_of(const void *attr, const tn_tensor *x);
bool tn_softmax_match(const tn_query *query, const char **why);
double tn_softmax_cost_portable(const tn_query *query);
double tn_softmax_cost_avx2(const tn_query *query);
double tn_softmax_cost_avx512(const tn_query *query);

#endif
