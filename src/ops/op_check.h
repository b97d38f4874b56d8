// SPDX-License-Identifier: Apache-2.0
// What every infer needs: sets of dtypes, checks of operands with a message that names the node, and dims that are known in part.
// Ownership: none. Threads: any.
#ifndef TN_OP_CHECK_H
#define TN_OP_CHECK_H

#include "ir/op.h"

// A set of dtypes: bit n stands for the dtype with number n.
typedef uint32_t tn_dtype_set;
#define TN_SET_OF(name) ((tn_dtype_set)1 << TN_##name)
#define TN_SET_FLOATS (TN_SET_OF(F16) | TN_SET_OF(BF16) | TN_SET_OF(F32) | TN_SET_OF(F64))
#define TN_SET_INTS                                                                                             \
    (TN_SET_OF(I8) | TN_SET_OF(I16) | TN_SET_OF(I32) | TN_SET_OF(I64) | TN_SET_OF(U8) | TN_SET_OF(U16) |         \
     TN_SET_OF(U32) | TN_SET_OF(U64))
#define TN_SET_INDEX (TN_SET_OF(I32) | TN_SET_OF(I64))
#define TN_SET_FLOAT8                                                                                           \
    (TN_SET_OF(F8E4M3FN) | TN_SET_OF(F8E4M3FNUZ) | TN_SET_OF(F8E5M2) | TN_SET_OF(F8E5M2FNUZ))
#define TN_SET_SMALL_INTS (TN_SET_OF(U4) | TN_SET_OF(I4) | TN_SET_OF(U2) | TN_SET_OF(I2))
#define TN_SET_ANY ((tn_dtype_set)0xffffffff)

// Records TN_INVALID_MODEL at the node and returns it.
tn_status tn_refuse(const tn_infer *infer, const char *format, ...) TN_PRINTF(2, 3);

// Operand i, or NULL when it is absent or past the last.
static inline const tn_fact *tn_operand(const tn_infer *infer, int i) { return i < infer->n_in ? infer->in[i] : NULL; }

// A required operand must be there; both must be a tensor of a dtype in `set` (not yet known dtypes pass).
tn_status tn_check_required(const tn_infer *infer, int i, tn_dtype_set set);
tn_status tn_check_optional(const tn_infer *infer, int i, tn_dtype_set set);

// Operand i, when there, has the dtype of operand `like`.
tn_status tn_check_same_dtype(const tn_infer *infer, int i, int like);

// Operand i, when there, has a rank of low .. high, or none that is known.
tn_status tn_check_rank(const tn_infer *infer, int i, int low, int high);

// Operand i, when there, is a vector of `length` elements (TN_DIM_UNKNOWN or a symbol: any length).
tn_status tn_check_vector(const tn_infer *infer, int i, int64_t length);

// Operand i, when there, holds one element: rank 0, or rank 1 with one element.
tn_status tn_check_scalar(const tn_infer *infer, int i);

// Operand i, when there, broadcasts to `shape` without making it larger (ONNX "unidirectional broadcasting").
tn_status tn_check_broadcast_to(const tn_infer *infer, int i, const tn_shape *shape);

// Two dims that must be equal: *out is what is known of it (out may be NULL). false: both known, and different.
bool tn_dim_join(int64_t a, int64_t b, int64_t *out);

// dim * factor; unknown when dim is not known. false: it does not fit.
bool tn_dim_times(int64_t dim, int64_t factor, int64_t *out);

// Two shapes that must be equal; *out may be one of them. false: they differ for certain.
bool tn_shape_join(const tn_shape *a, const tn_shape *b, tn_shape *out);

// Sets result i (when the node has one).
void tn_result(const tn_infer *infer, int i, tn_dtype dtype, const tn_shape *shape);

// The one element of a known integer operand (any integer dtype); false: absent or contents not known.
bool tn_known_int(const tn_fact *fact, int64_t *value);

#endif
