// SPDX-License-Identifier: Apache-2.0
// Helpers for case files (case.h).
// Ownership: results are in the caller's arena. Threads: any, one arena each.
#include "support/case.h"

#include <stdarg.h>

void *tn_case_attr(tn_arena *arena, const tn_op *op)
{
    if (!op->attr_size) {
        return NULL;
    }
    return op->defaults ? tn_arena_copy(arena, op->defaults, op->attr_size) : tn_arena_take(arena, op->attr_size);
}

tn_ints tn_case_ints(tn_arena *arena, int count, const int64_t *v)
{
    return (tn_ints){tn_arena_copy(arena, v, (size_t)count * sizeof *v), count, true};
}

tn_shape tn_case_shape(int rank, ...)
{
    tn_shape shape = {.rank = rank};
    va_list dims;
    va_start(dims, rank);
    for (int i = 0; i < rank; i++) {
        shape.dims[i] = va_arg(dims, int64_t);
    }
    va_end(dims);
    return shape;
}

tn_case_in tn_case_f32(tn_shape shape) { return (tn_case_in){.dtype = TN_F32, .shape = shape, .low = 1, .high = 0}; }
