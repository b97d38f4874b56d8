// SPDX-License-Identifier: Apache-2.0
// Predicate, parameters and costs of reductions (reduce.h).
// Ownership: none. Threads: any.
#include "kernels/reduce/reduce.h"

#include "base/macros.h"
#include "kernels/simd/fold.h"
#include "ops/math/op_reduce.h"

// Bit d: axis d is reduced. False: the axes are not known, or there are none in range.
static bool reduced_axes(const tn_query *query, uint32_t *mask)
{
    const tn_reduce_attr *attr = query->attr;
    const tn_tensor *axes = query->n_in > 1 ? query->in[1] : NULL;
    const int rank = query->in[0]->shape.rank;
    if (axes && !axes->data && tn_tensor_count(axes) > 0) {
        return false;
    }
    const int64_t count = axes ? tn_tensor_count(axes) : 0;
    *mask = count > 0 || attr->noop_with_empty_axes ? 0 : (UINT32_C(1) << rank) - 1;
    for (int64_t i = 0; i < count; i++) {
        int axis;
        if (!tn_axis(tn_dtype_load_i64(axes->dtype, axes->data, (size_t)i), rank, &axis)) {
            return false;
        }
        *mask |= UINT32_C(1) << axis;
    }
    return true;
}

bool tn_reduce_match(const tn_query *query, const char **why)
{
    uint32_t mask;
    if (!reduced_axes(query, &mask)) {
        *why = "axes that are not constant";
        return false;
    }
    if (tn_tensor_count(query->in[0]) == 0) {
        *why = "no elements";
        return false;
    }
    return true;
}

static void set_kind(const tn_op *op, tn_reduce_params *p)
{
    static const struct {
        const tn_op *op;
        int kind, end;
    } kinds[] = {
        {&tn_op_reduce_sum, TN_FOLD_SUM, TN_REDUCE_END_NONE},    {&tn_op_reduce_mean, TN_FOLD_SUM, TN_REDUCE_END_MEAN},
        {&tn_op_reduce_max, TN_FOLD_MAX, TN_REDUCE_END_NONE},    {&tn_op_reduce_min, TN_FOLD_MIN, TN_REDUCE_END_NONE},
        {&tn_op_reduce_prod, TN_FOLD_PROD, TN_REDUCE_END_NONE},  {&tn_op_reduce_l1, TN_FOLD_ABS, TN_REDUCE_END_NONE},
        {&tn_op_reduce_l2, TN_FOLD_SQUARE, TN_REDUCE_END_ROOT},  {&tn_op_reduce_sum_square, TN_FOLD_SQUARE, TN_REDUCE_END_NONE},
        {&tn_op_reduce_log_sum, TN_FOLD_SUM, TN_REDUCE_END_LOG},
    };
    for (size_t i = 0; i < TN_COUNT(kinds); i++) {
        if (kinds[i].op == op) {
            p->kind = kinds[i].kind;
            p->end = kinds[i].end;
        }
    }
}

static void add_dim(tn_reduce_dims *dims, int64_t size, int64_t stride)
{
    dims->sizes[dims->rank] = size;
    dims->strides[dims->rank++] = stride;
    dims->count *= size;
}

static void set_dims(const tn_shape *x, uint32_t mask, tn_reduce_params *p)
{
    int64_t sizes[TN_MAX_RANK];
    bool reduced[TN_MAX_RANK];
    int rank = 0;
    for (int d = 0; d < x->rank; d++) {
        const bool is_reduced = mask >> d & 1;
        if (x->dims[d] == 1) {
            continue;
        }
        if (rank > 0 && reduced[rank - 1] == is_reduced) {
            sizes[rank - 1] *= x->dims[d];
        } else {
            sizes[rank] = x->dims[d];
            reduced[rank++] = is_reduced;
        }
    }
    p->kept.count = p->reduced.count = 1;
    p->last = rank ? sizes[rank - 1] : 1;
    p->runs = rank ? reduced[rank - 1] : true;
    int64_t stride = 1;
    for (int d = 0; d < rank; d++) {
        stride *= sizes[d];
    }
    for (int d = 0; d + 1 < rank; d++) {
        stride /= sizes[d];
        add_dim(reduced[d] ? &p->reduced : &p->kept, sizes[d], stride);
    }
    p->pieces = p->runs ? TN_CEIL_DIV(p->last, TN_REDUCE_PIECE) : 1;
    p->total = (double)p->reduced.count * (p->runs ? (double)p->last : 1.0);
}

tn_status tn_reduce_prepare(tn_prepare *prepare)
{
    const tn_query *query = prepare->query;
    void *memory;
    uint32_t mask;
    TN_TRY(tn_prepare_params(prepare, sizeof(tn_reduce_params), &memory));
    tn_reduce_params *p = memory;
    if (!reduced_axes(query, &mask)) {
        return tn_fail(prepare->diag, TN_INTERNAL, query->name, "%s: the axes are not known", query->op->name);
    }
    set_kind(query->op, p);
    set_dims(&query->in[0]->shape, mask, p);
    prepare->scratch_bytes = p->pieces > 1 ? sizeof(double) * (size_t)(p->kept.count * p->pieces) : 0;
    return TN_OK;
}

static double cost(const tn_query *query, double element) { return 200.0 + (double)tn_tensor_count(query->in[0]) * element; }

double tn_reduce_cost_portable(const tn_query *query) { return cost(query, 0.4); }
double tn_reduce_cost_avx2(const tn_query *query) { return cost(query, 0.12); }
double tn_reduce_cost_avx512(const tn_query *query) { return cost(query, 0.1); }
