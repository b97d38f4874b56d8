// SPDX-License-Identifier: Apache-2.0
// arg_max and arg_min of f32 along one axis: x is [outer][length][inner], the result [outer][inner] int64.
// Ownership: none. Threads: any.
#ifndef TN_ARG_H
#define TN_ARG_H

#include "dispatch/kernel.h"

// Indices are kept as floats beside the values, so an axis may have no more elements than floats can count.
#define TN_ARG_LONGEST (1 << 24)

typedef struct tn_arg_shape {
    int64_t outer, length, inner;
} tn_arg_shape;

tn_arg_shape tn_arg_shape_of(const void *attr, const tn_tensor *x);
bool tn_arg_match(const tn_query *query, const char **why);
double tn_arg_cost_portable(const tn_query *query);
double tn_arg_cost_avx2(const tn_query *query);
double tn_arg_cost_avx512(const tn_query *query);

#endif
