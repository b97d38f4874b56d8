// SPDX-License-Identifier: Apache-2.0
// Shapes: counting with checked arithmetic, and broadcasting over dims that may be unknown.
// Ownership: plain values. Threads: any.
#include "ir/shape.h"
#include "base/macros.h"
#include "base/num.h"

#include <stdio.h>

tn_shape tn_shape_of(int rank, const int64_t *dims)
{
    tn_shape shape = {.rank = rank};
    for (int i = 0; i < rank; i++) {
        shape.dims[i] = dims[i];
    }
    return shape;
}

bool tn_shape_known(const tn_shape *shape)
{
    for (int i = 0; i < shape->rank; i++) {
        if (!tn_dim_known(shape->dims[i])) {
            return false;
        }
    }
    return shape->rank >= 0;
}

bool tn_shape_equal(const tn_shape *a, const tn_shape *b)
{
    if (a->rank != b->rank) {
        return false;
    }
    for (int i = 0; i < a->rank; i++) {
        if (a->dims[i] != b->dims[i]) {
            return false;
        }
    }
    return true;
}

bool tn_shape_count(const tn_shape *shape, int64_t *count)
{
    if (!tn_shape_known(shape)) {
        return false;
    }
    int64_t n = 1;
    bool empty = false;
    for (int i = 0; i < shape->rank; i++) {
        if (shape->dims[i] < 0) {
            return false;
        }
        empty |= shape->dims[i] == 0;
    }
    for (int i = 0; i < shape->rank && !empty; i++) {
        if (!tn_mul_i64(n, shape->dims[i], &n)) {
            return false;
        }
    }
    *count = empty ? 0 : n;
    return true;
}

int64_t tn_shape_span(const tn_shape *shape, int from, int to)
{
    int64_t n = 1;
    for (int i = from; i < to; i++) {
        // The whole count fits, but next to a zero dim a part of it may not: such a span is never walked.
        if (!tn_mul_i64(n, shape->dims[i], &n)) {
            return INT64_MAX;
        }
    }
    return n;
}

// One pair of dims; false: they cannot meet.
static bool broadcast_dim(int64_t a, int64_t b, int64_t *out)
{
    if (a == b || b == 1) {
        *out = a;
    } else if (a == 1) {
        *out = b;
    } else if (tn_dim_known(a) && tn_dim_known(b)) {
        return false;
    } else {
        // A known dim other than 1 wins: the other one can only be the same or 1.
        *out = tn_dim_known(a) ? a : tn_dim_known(b) ? b : TN_DIM_UNKNOWN;
    }
    return true;
}

bool tn_shape_broadcast(const tn_shape *a, const tn_shape *b, tn_shape *out)
{
    if (a->rank < 0 || b->rank < 0) {
        *out = tn_shape_unknown();
        return true;
    }
    tn_shape shape = {.rank = TN_MAX(a->rank, b->rank)};
    for (int i = 0; i < shape.rank; i++) {
        const int in_a = i - (shape.rank - a->rank), in_b = i - (shape.rank - b->rank);
        if (!broadcast_dim(in_a < 0 ? 1 : a->dims[in_a], in_b < 0 ? 1 : b->dims[in_b], &shape.dims[i])) {
            return false;
        }
    }
    *out = shape;
    return true;
}

// Bytes of a name that are shown: characters of UTF-8 stay whole.
static int shown_bytes(const char *name)
{
    enum { MOST = 40 };
    int length = 0;
    while (length < MOST && name[length]) {
        length++;
    }
    while (length > 0 && name[length] && ((unsigned char)name[length] & 0xc0) == 0x80) {
        length--;
    }
    return length;
}

static int print_dim(int64_t dim, const tn_dim_names *names, char *text, size_t size)
{
    if (tn_dim_known(dim)) {
        return snprintf(text, size, "%lld", (long long)dim);
    }
    if (dim != TN_DIM_UNKNOWN && !names) {
        return snprintf(text, size, "s%lld", (long long)(dim - TN_DIM_SYMBOL));
    }
    if (dim != TN_DIM_UNKNOWN && (uint64_t)(dim - TN_DIM_SYMBOL) < names->count) {
        const char *name = names->names[dim - TN_DIM_SYMBOL];
        return snprintf(text, size, "%.*s", shown_bytes(name), name);
    }
    return snprintf(text, size, "?");
}

char *tn_shape_print_named(const tn_shape *shape, const tn_dim_names *names, char *text, size_t size)
{
    if (shape->rank < 0) {
        snprintf(text, size, "[*]");
        return text;
    }
    size_t used = (size_t)snprintf(text, size, "[");
    for (int i = 0; i < shape->rank && used < size; i++) {
        used += i ? (size_t)snprintf(text + used, size - used, ",") : 0;
        used += used < size ? (size_t)print_dim(shape->dims[i], names, text + used, size - used) : 0;
    }
    if (used < size) {
        snprintf(text + used, size - used, "]");
    }
    return text;
}

char *tn_shape_print(const tn_shape *shape, char *text, size_t size) { return tn_shape_print_named(shape, NULL, text, size); }

bool tn_axis(int64_t axis, int rank, int *out)
{
    if (axis < -(int64_t)rank || axis >= rank) {
        return false;
    }
    *out = (int)(axis < 0 ? axis + rank : axis);
    return true;
}
