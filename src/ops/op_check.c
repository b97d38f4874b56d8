// SPDX-License-Identifier: Apache-2.0
// Checks of optional operands and of shapes that depend on other operands. What is not known passes: the plan asks again.
// Ownership: none. Threads: any.
#include "ops/op_check.h"

tn_status tn_infer_optional(const tn_infer *infer, int i, uint32_t set)
{
    return tn_infer_in(infer, i) ? tn_infer_type(infer, i, set) : TN_OK;
}

tn_status tn_infer_like(const tn_infer *infer, int i, int like)
{
    const tn_fact *a = tn_infer_in(infer, i), *b = tn_infer_in(infer, like);
    if (a && b && a->dtype != TN_NONE && b->dtype != TN_NONE && a->dtype != b->dtype) {
        return tn_infer_fail(infer, "operand %d has type %s, expected %s like operand %d", i, tn_dtype_text(a->dtype),
                             tn_dtype_text(b->dtype), like);
    }
    return TN_OK;
}

tn_status tn_infer_vector(const tn_infer *infer, int i, int64_t length)
{
    const tn_shape shape = tn_shape_of(1, &length);
    return tn_infer_shape(infer, i, &shape);
}

tn_status tn_infer_shape(const tn_infer *infer, int i, const tn_shape *shape)
{
    const tn_fact *fact = tn_infer_in(infer, i);
    tn_shape joined;
    if (!fact || tn_shape_join(&fact->shape, shape, &joined)) {
        return TN_OK;
    }
    char is[160], want[160];
    return tn_infer_fail(infer, "operand %d has shape %s, expected %s", i, tn_shape_print(&fact->shape, is, sizeof is),
                         tn_shape_print(shape, want, sizeof want));
}

// Compares from the last dim on; a dim of 1, or a missing one, repeats.
tn_status tn_infer_fits(const tn_infer *infer, int i, const tn_shape *shape)
{
    const tn_fact *fact = tn_infer_in(infer, i);
    if (!fact || fact->shape.rank < 0 || shape->rank < 0) {
        return TN_OK;
    }
    bool fits = fact->shape.rank <= shape->rank;
    for (int d = 1; fits && d <= fact->shape.rank; d++) {
        int64_t dim = fact->shape.dims[fact->shape.rank - d];
        fits = dim == 1 || tn_dim_join(dim, shape->dims[shape->rank - d], &dim);
    }
    if (fits) {
        return TN_OK;
    }
    char is[160], want[160];
    return tn_infer_fail(infer, "operand %d of shape %s does not broadcast to %s", i, tn_shape_print(&fact->shape, is, sizeof is),
                         tn_shape_print(shape, want, sizeof want));
}

bool tn_dim_times(int64_t dim, int64_t factor, int64_t *out)
{
    if (factor == 1) {
        *out = dim;
        return true;
    }
    if (!tn_dim_known(dim) || !tn_dim_known(factor)) {
        *out = TN_DIM_UNKNOWN;
        return true;
    }
    return !__builtin_mul_overflow(dim, factor, out);
}

// Ranks must agree when both are known; each dim then takes what is known of it.
bool tn_shape_join(const tn_shape *a, const tn_shape *b, tn_shape *out)
{
    if (a->rank < 0 || b->rank < 0) {
        *out = a->rank < 0 ? *b : *a;
        return true;
    }
    if (a->rank != b->rank) {
        return false;
    }
    tn_shape joined = *a;
    for (int i = 0; i < a->rank; i++) {
        if (!tn_dim_join(a->dims[i], b->dims[i], &joined.dims[i])) {
            return false;
        }
    }
    *out = joined;
    return true;
}
