// SPDX-License-Identifier: Apache-2.0
// Checks and reads for infer. Facts may be unknown in every part; a check passes what it cannot know, and the plan, where all is
// known, asks again.
// Ownership: arrays come from infer->arena. Threads: as infer.
#include "ops/op_facts.h"

#include <stdarg.h>
#include <stdio.h>

tn_status tn_infer_fail(const tn_infer *infer, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return tn_fail(infer->diag, TN_INVALID_MODEL, infer->name, "%s: %s", infer->op->name, text);
}

char *tn_infer_print(const tn_infer *infer, const tn_shape *shape, char *text, size_t size)
{
    static const tn_dim_names none = {NULL, 0};
    return tn_shape_print_named(shape, infer->dims ? infer->dims : &none, text, size);
}

// Absent operands that are required are found here, too.
tn_status tn_infer_type(const tn_infer *infer, int i, uint32_t set)
{
    const tn_fact *fact = tn_infer_in(infer, i);
    if (!fact) {
        return tn_infer_fail(infer, "operand %d is missing", i);
    }
    if (fact->kind != TN_KIND_TENSOR) {
        return tn_infer_fail(infer, "operand %d is a %s, expected a tensor", i, fact->kind == TN_KIND_SEQUENCE ? "sequence" : "optional");
    }
    if (fact->dtype != TN_NONE && (fact->dtype >= TN_DTYPE_COUNT || !(set >> fact->dtype & 1))) {
        return tn_infer_fail(infer, "operand %d has type %s, which the operator does not take", i, tn_dtype_text(fact->dtype));
    }
    return TN_OK;
}

// Types that are not known yet agree with anything.
tn_status tn_infer_types(const tn_infer *infer, int first, int last, uint32_t set, tn_dtype *dtype)
{
    *dtype = TN_NONE;
    for (int i = first; i <= last; i++) {
        TN_TRY(tn_infer_type(infer, i, set));
        const tn_dtype given = infer->in[i]->dtype;
        if (given == TN_NONE) {
            continue;
        }
        if (*dtype != TN_NONE && given != *dtype) {
            return tn_infer_fail(infer, "operand %d has type %s, expected %s like the ones before it", i, tn_dtype_text(given),
                                 tn_dtype_text(*dtype));
        }
        *dtype = given;
    }
    return TN_OK;
}

tn_status tn_infer_rank(const tn_infer *infer, int i, int low, int high)
{
    const int rank = infer->in[i]->shape.rank;
    if (rank < 0 || (rank >= low && rank <= high)) {
        return TN_OK;
    }
    if (low == high) {
        return tn_infer_fail(infer, "operand %d has rank %d, expected %d", i, rank, low);
    }
    return tn_infer_fail(infer, "operand %d has rank %d, expected %d to %d", i, rank, low, high);
}

tn_status tn_infer_scalar(const tn_infer *infer, int i)
{
    const tn_shape *shape = &infer->in[i]->shape;
    TN_TRY(tn_infer_rank(infer, i, 0, 1));
    if (shape->rank == 1 && tn_dim_known(shape->dims[0]) && shape->dims[0] != 1) {
        return tn_infer_fail(infer, "operand %d has %lld elements, expected one", i, (long long)shape->dims[0]);
    }
    return TN_OK;
}

tn_status tn_infer_axis(const tn_infer *infer, const char *what, int64_t axis, int rank, int *out)
{
    if (tn_axis(axis, rank, out)) {
        return TN_OK;
    }
    return tn_infer_fail(infer, "%s %lld is out of range for rank %d", what, (long long)axis, rank);
}

// The mask is how callers ask whether a dim is meant; bits are within the rank.
tn_status tn_infer_axes(const tn_infer *infer, const int64_t *axes, int count, int rank, uint32_t *mask, int *resolved)
{
    *mask = 0;
    for (int i = 0; i < count; i++) {
        int axis;
        TN_TRY(tn_infer_axis(infer, "axis", axes[i], rank, &axis));
        if (*mask >> axis & 1) {
            return tn_infer_fail(infer, "axis %lld is given twice", (long long)axes[i]);
        }
        *mask |= UINT32_C(1) << axis;
        if (resolved) {
            resolved[i] = axis;
        }
    }
    return TN_OK;
}

// From the left, so that the message names the first operand that does not fit.
tn_status tn_infer_broadcast(const tn_infer *infer, int first, int last, tn_shape *shape)
{
    *shape = tn_shape_of(0, NULL);
    for (int i = first; i <= last; i++) {
        const tn_fact *fact = tn_infer_in(infer, i);
        if (!fact) {
            continue;
        }
        tn_shape joined;
        if (!tn_shape_broadcast(shape, &fact->shape, &joined)) {
            char before[160], here[160];
            return tn_infer_fail(infer, "operand %d of shape %s cannot be broadcast with %s", i,
                                 tn_infer_print(infer, &fact->shape, here, sizeof here), tn_infer_print(infer, shape, before, sizeof before));
        }
        *shape = joined;
    }
    return TN_OK;
}

// A number says more than a symbol, a symbol more than nothing.
bool tn_dim_join(int64_t a, int64_t b, int64_t *out)
{
    if (tn_dim_known(a) && tn_dim_known(b) && a != b) {
        return false;
    }
    *out = tn_dim_known(a) ? a : tn_dim_known(b) ? b : a != TN_DIM_UNKNOWN ? a : b;
    return true;
}

// ---- optional operands, and shapes that depend on other operands ----

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
    return tn_infer_fail(infer, "operand %d has shape %s, expected %s", i, tn_infer_print(infer, &fact->shape, is, sizeof is),
                         tn_infer_print(infer, shape, want, sizeof want));
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
    return tn_infer_fail(infer, "operand %d of shape %s does not broadcast to %s", i, tn_infer_print(infer, &fact->shape, is, sizeof is),
                         tn_infer_print(infer, shape, want, sizeof want));
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

// ---- contents ----

int64_t tn_fact_count(const tn_fact *fact)
{
    int64_t count;
    return tn_shape_count(&fact->shape, &count) ? count : -1;
}

// Contents before elems: they are exact, and may hold numbers that the dim coding has no room for.
bool tn_fact_int(const tn_fact *fact, int64_t i, int64_t *v)
{
    if (fact->value && fact->value->data) {
        *v = tn_dtype_load_i64(fact->value->dtype, fact->value->data, (size_t)i);
        return true;
    }
    if (fact->elems && i < TN_MAX_ELEMS && tn_dim_known(fact->elems[i])) {
        *v = fact->elems[i];
        return true;
    }
    return false;
}

// Numbers that would read as a symbol or as unknown are given up.
int64_t tn_fact_elem(const tn_fact *fact, int64_t i)
{
    int64_t v;
    if (tn_fact_int(fact, i, &v)) {
        return tn_dim_known(v) ? v : TN_DIM_UNKNOWN;
    }
    return fact->elems && i < TN_MAX_ELEMS ? fact->elems[i] : TN_DIM_UNKNOWN;
}

// A list with one gap is not known: callers need all of it or handle elements one by one.
tn_status tn_infer_ints(const tn_infer *infer, int i, int max, int64_t *v, int *count)
{
    const tn_fact *fact = infer->in[i];
    const int64_t length = tn_fact_count(fact);
    *count = -1;
    TN_TRY(tn_infer_rank(infer, i, 0, 1));
    if (length < 0) {
        return TN_OK;
    }
    if (length > max) {
        return tn_infer_fail(infer, "operand %d has %lld elements, expected at most %d", i, (long long)length, max);
    }
    for (int k = 0; k < length; k++) {
        if (!tn_fact_int(fact, k, &v[k])) {
            return TN_OK;
        }
    }
    *count = (int)length;
    return TN_OK;
}

tn_status tn_infer_int(const tn_infer *infer, int i, int64_t *v, bool *known)
{
    TN_TRY(tn_infer_scalar(infer, i));
    *known = tn_fact_count(infer->in[i]) == 1 && tn_fact_int(infer->in[i], 0, v);
    return TN_OK;
}

// Types that shapes are computed in. Others have no use as elems, and narrow ones would wrap.
bool tn_infer_tells(const tn_infer *infer, int i)
{
    const tn_fact *out = &infer->out[0];
    if (out->dtype != TN_I64 && out->dtype != TN_I32 && out->dtype != TN_BOOL) {
        return false;
    }
    const int64_t count = tn_fact_count(out);
    const tn_fact *fact = tn_infer_in(infer, i);
    return count >= 0 && count <= TN_MAX_ELEMS && fact && tn_fact_count(fact) >= 0 && (fact->elems || (fact->value && fact->value->data));
}

// Zeroed memory would mean dims of 0: every element starts as unknown.
int64_t *tn_infer_elems(const tn_infer *infer, int i, int64_t count)
{
    int64_t *elems = tn_arena_array(infer->arena, (size_t)TN_MAX(count, 1), sizeof *elems);
    if (!elems) {
        tn_fail_memory(infer->diag, infer->name, (unsigned long long)count * sizeof *elems);
        return NULL;
    }
    for (int64_t k = 0; k < count; k++) {
        elems[k] = TN_DIM_UNKNOWN;
    }
    infer->out[i].elems = elems;
    return elems;
}

tn_fact tn_fact_of(const tn_tensor *tensor)
{
    tn_fact fact = {.kind = TN_KIND_TENSOR, .dtype = tensor->dtype, .shape = tensor->shape, .value = tensor->data ? tensor : NULL};
    return fact;
}

bool tn_match_numbers(const tn_query *query, const char **why)
{
    for (int i = 0; i < query->n_in; i++) {
        if (query->in[i] && query->in[i]->dtype == TN_STRING) {
            *why = "strings";
            return false;
        }
    }
    for (int i = 0; i < query->n_out; i++) {
        if (query->out[i] && query->out[i]->dtype == TN_STRING) {
            *why = "strings";
            return false;
        }
    }
    return true;
}

tn_status tn_fail_cancelled(const tn_call *call)
{
    return tn_fail(call->diag, TN_CANCELLED, call->name, "cancelled");
}
