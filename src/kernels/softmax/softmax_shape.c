// SPDX-License-Identifier: Apache-2.0
// Predicate, parameters and costs of softmax.
// Ownership: none. Threads: any.
#include "kernels/simd/stream.h"
#include "kernels/softmax/softmax.h"

#include "ops/nn/op_softmax.h"

bool tn_softmax_match(const tn_query *query, const char **why)
{
    if (query->in[0]->shape.rank < 1 || tn_tensor_count(query->in[0]) == 0) {
        *why = "a scalar, or no elements";
        return false;
    }
    return true;
}

tn_status tn_softmax_prepare(tn_prepare *prepare)
{
    const tn_query *query = prepare->query;
    const tn_shape *x = &query->in[0]->shape;
    int axis = 0;
    void *memory;
    TN_TRY(tn_prepare_params(prepare, sizeof(tn_softmax_shape), &memory));
    tn_axis(((const tn_softmax_attr *)query->attr)->axis, x->rank, &axis);
    *(tn_softmax_shape *)memory = (tn_softmax_shape){.outer = tn_shape_span(x, 0, axis),
                                                     .size = x->dims[axis],
                                                     .inner = tn_shape_span(x, axis + 1, x->rank),
                                                     .stream = tn_stream_result(query)};
    return TN_OK;
}

static double cost(const tn_query *query, double element) { return 200.0 + (double)tn_tensor_count(query->in[0]) * element; }

double tn_softmax_cost_portable(const tn_query *query) { return cost(query, 2.5); }
double tn_softmax_cost_avx2(const tn_query *query) { return cost(query, 0.5); }
double tn_softmax_cost_avx512(const tn_query *query) { return cost(query, 0.25); }
