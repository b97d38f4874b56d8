// SPDX-License-Identifier: Apache-2.0
// Predicate and costs of arg_max and arg_min.
// Ownership: none. Threads: any.
#include "kernels/reduce/arg.h"

#include "ops/math/op_reduce.h"

tn_arg_shape tn_arg_shape_of(const void *attr, const tn_tensor *x)
{
    int axis = 0;
    if (x->shape.rank == 0 || !tn_axis(((const tn_arg_attr *)attr)->axis, x->shape.rank, &axis)) {
        return (tn_arg_shape){1, 1, 1};
    }
    return (tn_arg_shape){tn_shape_span(&x->shape, 0, axis), x->shape.dims[axis], tn_shape_span(&x->shape, axis + 1, x->shape.rank)};
}

bool tn_arg_match(const tn_query *query, const char **why)
{
    const tn_arg_shape s = tn_arg_shape_of(query->attr, query->in[0]);
    if (tn_tensor_count(query->in[0]) == 0 || s.length > TN_ARG_LONGEST) {
        *why = "no elements, or an axis too long to count in floats";
        return false;
    }
    return true;
}

static double cost(const tn_query *query, double element) { return 200.0 + (double)tn_tensor_count(query->in[0]) * element; }

double tn_arg_cost_portable(const tn_query *query) { return cost(query, 0.8); }
double tn_arg_cost_avx2(const tn_query *query) { return cost(query, 0.3); }
double tn_arg_cost_avx512(const tn_query *query) { return cost(query, 0.2); }
