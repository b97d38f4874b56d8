// SPDX-License-Identifier: Apache-2.0
// Checks shared by the infer functions. Every message says which operand is meant, what it is and what was expected.
// Ownership: none. Threads: any.
#include "ops/op_check.h"

#include <stdio.h>

tn_status tn_refuse(const tn_infer *infer, const char *format, ...)
{
    char text[512];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    return tn_fail(infer->diag, TN_INVALID_MODEL, infer->name, "%s: %s", infer->op->name, text);
}

static tn_status check_tensor(const tn_infer *infer, int i, tn_dtype_set set)
{
    const tn_fact *fact = infer->in[i];
    if (fact->kind != TN_KIND_TENSOR) {
        return tn_refuse(infer, "operand %d must be a tensor", i);
    }
    if (fact->dtype != TN_NONE && !(set >> (unsigned)fact->dtype & 1)) {
        return tn_refuse(infer, "operand %d has the type %s, which the operator does not take", i, tn_dtype_text(fact->dtype));
    }
    return TN_OK;
}

tn_status tn_check_required(const tn_infer *infer, int i, tn_dtype_set set)
{
    if (!tn_operand(infer, i)) {
        return tn_refuse(infer, "operand %d is missing", i);
    }
    return check_tensor(infer, i, set);
}

tn_status tn_check_optional(const tn_infer *infer, int i, tn_dtype_set set)
{
    return tn_operand(infer, i) ? check_tensor(infer, i, set) : TN_OK;
}

tn_status tn_check_same_dtype(const tn_infer *infer, int i, int like)
{
    const tn_fact *a = tn_operand(infer, i), *b = tn_operand(infer, like);
    if (a && b && a->dtype != TN_NONE && b->dtype != TN_NONE && a->dtype != b->dtype) {
        return tn_refuse(infer, "operand %d has the type %s, but operand %d has %s", i, tn_dtype_text(a->dtype), like,
                         tn_dtype_text(b->dtype));
    }
    return TN_OK;
}

tn_status tn_check_rank(const tn_infer *infer, int i, int low, int high)
{
    const tn_fact *fact = tn_operand(infer, i);
    if (!fact || fact->shape.rank < 0 || (fact->shape.rank >= low && fact->shape.rank <= high)) {
        return TN_OK;
    }
    if (low == high) {
        return tn_refuse(infer, "operand %d has rank %d, expected %d", i, fact->shape.rank, low);
    }
    return tn_refuse(infer, "operand %d has rank %d, expected %d to %d", i, fact->shape.rank, low, high);
}

tn_status tn_check_vector(const tn_infer *infer, int i, int64_t length)
{
    const tn_fact *fact = tn_operand(infer, i);
    if (!fact || fact->shape.rank < 0) {
        return TN_OK;
    }
    if (fact->shape.rank != 1) {
        return tn_refuse(infer, "operand %d has rank %d, expected a vector", i, fact->shape.rank);
    }
    if (!tn_dim_join(fact->shape.dims[0], length, NULL)) {
        return tn_refuse(infer, "operand %d has %lld elements, expected %lld", i, (long long)fact->shape.dims[0], (long long)length);
    }
    return TN_OK;
}

tn_status tn_check_scalar(const tn_infer *infer, int i)
{
    const tn_fact *fact = tn_operand(infer, i);
    if (!fact || fact->shape.rank <= 0 || (fact->shape.rank == 1 && tn_dim_join(fact->shape.dims[0], 1, NULL))) {
        return TN_OK;
    }
    char text[160];
    return tn_refuse(infer, "operand %d has the shape %s, expected one element", i, tn_shape_print(&fact->shape, text, sizeof text));
}

tn_status tn_check_broadcast_to(const tn_infer *infer, int i, const tn_shape *shape)
{
    const tn_fact *fact = tn_operand(infer, i);
    if (!fact || fact->shape.rank < 0 || shape->rank < 0) {
        return TN_OK;
    }
    bool fits = fact->shape.rank <= shape->rank;
    for (int d = 1; fits && d <= fact->shape.rank; d++) {
        const int64_t dim = fact->shape.dims[fact->shape.rank - d];
        fits = dim == 1 || tn_dim_join(dim, shape->dims[shape->rank - d], NULL);
    }
    if (!fits) {
        char a[160], b[160];
        return tn_refuse(infer, "operand %d of shape %s does not broadcast to %s", i, tn_shape_print(&fact->shape, a, sizeof a),
                         tn_shape_print(shape, b, sizeof b));
    }
    return TN_OK;
}

bool tn_dim_join(int64_t a, int64_t b, int64_t *out)
{
    if (tn_dim_known(a) && tn_dim_known(b) && a != b) {
        return false;
    }
    if (out) {
        // Known is better than symbolic, symbolic better than unknown (which is the smallest number).
        *out = tn_dim_known(a) ? a : tn_dim_known(b) ? b : a != TN_DIM_UNKNOWN ? a : b;
    }
    return true;
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

void tn_result(const tn_infer *infer, int i, tn_dtype dtype, const tn_shape *shape)
{
    if (i < infer->n_out) {
        infer->out[i].kind = TN_KIND_TENSOR;
        infer->out[i].dtype = dtype;
        infer->out[i].shape = *shape;
    }
}

bool tn_known_int(const tn_fact *fact, int64_t *value)
{
    if (fact && fact->value && fact->value->data && tn_dtype_is_int(fact->value->dtype) && tn_tensor_count(fact->value) == 1) {
        *value = tn_dtype_load_i64(fact->value->dtype, fact->value->data, 0);
        return true;
    }
    if (fact && fact->elems && (fact->shape.rank == 0 || (fact->shape.rank == 1 && fact->shape.dims[0] == 1)) &&
        tn_dim_known(fact->elems[0])) {
        *value = fact->elems[0];
        return true;
    }
    return false;
}
