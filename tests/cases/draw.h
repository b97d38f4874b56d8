// SPDX-License-Identifier: Apache-2.0
// What case files draw at random: shapes of odd sizes, operands that broadcast, element types.
// Ownership: plain values; arrays are in the caller's arena. Threads: any, one tn_rand each.
#ifndef TN_DRAW_H
#define TN_DRAW_H

#include "base/macros.h"
#include "support/case.h"

// One of `count` things.
static inline int64_t tn_draw_index(tn_rand *r, int64_t count) { return tn_rand_range(r, 0, count - 1); }
#define TN_DRAW(r, array) ((array)[tn_draw_index(r, (int64_t)TN_COUNT(array))])

static inline bool tn_draw_rarely(tn_rand *r) { return tn_draw_index(r, 16) == 0; }

// low .. high dims, small or around the widths of vectors; rarely one of 0.
static inline tn_shape tn_draw_shape(tn_rand *r, int low, int high)
{
    static const int64_t wide[] = {7, 8, 9, 15, 16, 17, 31, 33, 67};
    tn_shape shape = {.rank = (int)tn_rand_range(r, low, high)};
    const int at = shape.rank ? (int)tn_draw_index(r, shape.rank) : 0;
    for (int d = 0; d < shape.rank; d++) {
        shape.dims[d] = d == at ? TN_DRAW(r, wide) : tn_rand_range(r, 1, 5);
    }
    if (shape.rank && tn_draw_rarely(r)) {
        shape.dims[at] = 0;
    }
    return shape;
}

// A shape that broadcasts to `full` without making it larger: dims of 1, leading dims left out.
static inline tn_shape tn_draw_part(tn_rand *r, const tn_shape *full)
{
    tn_shape part = {.rank = (int)tn_rand_range(r, 0, full->rank)};
    for (int d = 0; d < part.rank; d++) {
        part.dims[d] = tn_rand_bool(r) ? full->dims[full->rank - part.rank + d] : 1;
    }
    return part;
}

// A type out of a set (one bit per dtype, not empty); float32 half of the time, where it is in it.
static inline tn_dtype tn_draw_dtype(tn_rand *r, uint32_t set)
{
    if (set >> TN_F32 & 1 && tn_rand_bool(r)) {
        return TN_F32;
    }
    int64_t left = tn_draw_index(r, __builtin_popcount(set));
    int dtype = 0;
    while (!(set >> dtype & 1) || left-- > 0) {
        dtype++;
    }
    return (tn_dtype)dtype;
}

// An operand of any type with random contents: normal(0, 1), small integers.
static inline tn_case_in tn_draw_in(tn_dtype dtype, tn_shape shape)
{
    const bool real = tn_dtype_is_float(dtype);
    const double high = dtype == TN_BOOL ? 1 : dtype == TN_U2 || dtype == TN_U4 ? 3 : real ? 0 : 100;
    const double low = real ? 1 : !tn_dtype_is_signed(dtype) ? 0 : dtype == TN_I4 || dtype == TN_I2 ? -2 : -100;
    return (tn_case_in){.dtype = dtype, .shape = shape, .low = low, .high = dtype == TN_I4 || dtype == TN_I2 ? 1 : high};
}

// A constant list of int64; count 0 .. any. NULL contents: no memory.
static inline tn_case_in tn_draw_list(tn_arena *arena, int64_t count, const int64_t *v)
{
    const int64_t none = 0;
    return (tn_case_in){.dtype = TN_I64, .shape = tn_shape_of(1, &count), .constant = true,
                        .ints = tn_arena_copy(arena, count ? v : &none, (size_t)TN_MAX(count, 1) * sizeof *v)};
}

// The same as a scalar.
static inline tn_case_in tn_draw_scalar(tn_arena *arena, int64_t v)
{
    tn_case_in in = tn_draw_list(arena, 1, &v);
    in.shape = tn_shape_of(0, NULL);
    return in;
}

// A constant list of float32.
static inline tn_case_in tn_draw_reals(tn_arena *arena, int64_t count, const double *v)
{
    return (tn_case_in){.dtype = TN_F32, .shape = tn_shape_of(1, &count), .constant = true,
                        .reals = tn_arena_copy(arena, v, (size_t)count * sizeof *v)};
}

#define TN_ABSENT ((tn_case_in){.absent = true})

// The sets of ops/op_facts.h, by name.
#define TN_DRAW_FLOATS (1u << TN_F32 | 1u << TN_F64 | 1u << TN_F16 | 1u << TN_BF16)
#define TN_DRAW_INTS \
    (1u << TN_I8 | 1u << TN_I16 | 1u << TN_I32 | 1u << TN_I64 | 1u << TN_U8 | 1u << TN_U16 | 1u << TN_U32 | 1u << TN_U64)
#define TN_DRAW_NUMBERS (TN_DRAW_FLOATS | TN_DRAW_INTS)
// one of each element size
#define TN_DRAW_SIZES (1u << TN_U8 | 1u << TN_F16 | 1u << TN_F32 | 1u << TN_F64 | 1u << TN_C128 | 1u << TN_I64 | 1u << TN_BOOL)

#endif
