// SPDX-License-Identifier: Apache-2.0
// Elementwise operators that are not arithmetic on f32: comparisons, logic, choice and casts, plain. One list says which operator
// on which types there is a loop for; the loops are plain C, which the compiler turns into vectors of the tier.
// Ownership: none. Threads: any.
#ifndef TN_TYPED_H
#define TN_TYPED_H

#include "dispatch/kernel.h"

// X(operator, type of operand 0, of operand 1 (NONE: there is none), of the result, expression over a, b, c)
#define TN_TYPED_LIST(X)                                  \
    X(equal, F32, F32, BOOL, a == b)                      \
    X(equal, I32, I32, BOOL, a == b)                      \
    X(equal, I64, I64, BOOL, a == b)                      \
    X(greater, F32, F32, BOOL, a > b)                     \
    X(greater, I32, I32, BOOL, a > b)                     \
    X(greater, I64, I64, BOOL, a > b)                     \
    X(less, F32, F32, BOOL, a < b)                        \
    X(less, I32, I32, BOOL, a < b)                        \
    X(less, I64, I64, BOOL, a < b)                        \
    X(greater_or_equal, F32, F32, BOOL, a >= b)           \
    X(greater_or_equal, I32, I32, BOOL, a >= b)           \
    X(greater_or_equal, I64, I64, BOOL, a >= b)           \
    X(less_or_equal, F32, F32, BOOL, a <= b)              \
    X(less_or_equal, I32, I32, BOOL, a <= b)              \
    X(less_or_equal, I64, I64, BOOL, a <= b)              \
    X(and, BOOL, BOOL, BOOL, a & b)                       \
    X(or, BOOL, BOOL, BOOL, a | b)                        \
    X(xor, BOOL, BOOL, BOOL, a != b)                      \
    X(not, BOOL, NONE, BOOL, !a)                          \
    X(is_nan, F32, NONE, BOOL, a != a)                    \
    X(where, BOOL, F32, F32, a ? b : c)                   \
    X(where, BOOL, I32, I32, a ? b : c)                   \
    X(where, BOOL, I64, I64, a ? b : c)                   \
    X(where, BOOL, BOOL, BOOL, a ? b : c)                 \
    X(cast, BOOL, NONE, F32, a ? 1.0f : 0.0f)             \
    X(cast, BOOL, NONE, I32, a ? 1 : 0)                   \
    X(cast, BOOL, NONE, I64, a ? 1 : 0)                   \
    X(cast, U8, NONE, F32, (float)a)                      \
    X(cast, I8, NONE, F32, (float)a)                      \
    X(cast, I32, NONE, F32, (float)a)                     \
    X(cast, I64, NONE, F32, (float)a)                     \
    X(cast, I32, NONE, I64, a)                            \
    X(cast, F32, NONE, BOOL, a != 0)                      \
    X(cast, I32, NONE, BOOL, a != 0)                      \
    X(cast, I64, NONE, BOOL, a != 0)                      \
    X(cast, F32, NONE, I32, tn_typed_i32(a))              \
    X(cast, F32, NONE, I64, tn_typed_i64(a))

// Toward zero, saturating; NaN becomes 0.
static inline int32_t tn_typed_i32(float v)
{
    return v >= 0x1p31f ? INT32_MAX : v >= -0x1p31f ? (int32_t)v : v < 0 ? INT32_MIN : 0;
}
static inline int64_t tn_typed_i64(float v)
{
    return v >= 0x1p63f ? INT64_MAX : v >= -0x1p63f ? (int64_t)v : v < 0 ? INT64_MIN : 0;
}

typedef struct tn_typed_params {
    int entry;                // in TN_TYPED_LIST
    int operands;
    int64_t rows, row;        // as tn_walk gives them
    int64_t pieces;           // of a row
} tn_typed_params;

#define TN_TYPED_PIECE 8192

bool tn_typed_match(const tn_query *query, const char **why);
tn_status tn_typed_prepare(tn_prepare *prepare);
double tn_typed_cost(const tn_query *query);

#endif
