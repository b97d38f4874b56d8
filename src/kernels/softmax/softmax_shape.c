// SPDX-License-Identifier: Apache-2.0
// Predicate and costs of softmax.
// Ownership: none. Threads: any.
#include "kernels/softmax/softmax.h"

#include "ops/nn/op_softmax.h"

tn_softmax_shape tn_softmax_shape_of(const void *attr, const tn_tensor *x)
{
    int axis = 0;
    tn_axis(((const tn_softmax_attr *)attr)->axis, x->shape.rank, &axis);
    const int64_t inner = tn_shape_span(&x->shape, axis + 1, x->shape.rank);
    return (tn_softmax_shape){tn_shape_span(&x->shape, 0, axis), x->shape.dims[axis], inner};
}

bool tn_softmax_match(const tn_query *query, const char **why)
{
    if (query->in[0]->shape.rank < 1 || tn_tensor_count(query->in[0]) == 0) {
        *why = "a scalar, or no elements";
        return false;
    }
    return true;
}

static double cost(const tn_query *query, double element) { return 200.0 + (double)tn_tensor_count(query->in[0]) * element; }

double tn_softmax_cost_portable(const tn_query *query) { return cost(query, 2.5); }
double tn_softmax_cost_avx2(const tn_query *query) { return cost(query, 0.5); }
double tn_softmax_cost_avx512(const tn_query *query) { return cost(query, 0.25); }
