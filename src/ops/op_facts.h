// SPDX-License-Identifier: Apache-2.0
// What the operator files share: checks and reads for infer, and the shorthand for a reference row. Every failure is recorded with
// the node's name; numbers that come from the model are compared, never trusted.
// Ownership: what these calls make lives in infer->arena. Threads: as infer.
#ifndef TN_OP_FACTS_H
#define TN_OP_FACTS_H

#include "dispatch/kernel.h"

// ---- sets of dtypes, one bit each ----

#define TN_BIT(dtype) (UINT32_C(1) << TN_##dtype)
#define TN_SET_F8 (TN_BIT(F8E4M3FN) | TN_BIT(F8E4M3FNUZ) | TN_BIT(F8E5M2) | TN_BIT(F8E5M2FNUZ))
#define TN_SET_FLOAT (TN_BIT(F16) | TN_BIT(BF16) | TN_BIT(F32) | TN_BIT(F64))
#define TN_SET_SIGNED (TN_BIT(I8) | TN_BIT(I16) | TN_BIT(I32) | TN_BIT(I64))
#define TN_SET_UNSIGNED (TN_BIT(U8) | TN_BIT(U16) | TN_BIT(U32) | TN_BIT(U64))
#define TN_SET_INT (TN_SET_SIGNED | TN_SET_UNSIGNED)
#define TN_SET_SMALL_INT (TN_BIT(U4) | TN_BIT(I4) | TN_BIT(U2) | TN_BIT(I2))
#define TN_SET_NUMBER (TN_SET_INT | TN_SET_FLOAT)
#define TN_SET_INDEX (TN_BIT(I32) | TN_BIT(I64))
#define TN_SET_ANY (~TN_BIT(NONE))

// ---- checks ----

// Fails with TN_INVALID_MODEL: "<operator>: <text>" at the node.
tn_status tn_infer_fail(const tn_infer *infer, const char *format, ...) TN_PRINTF(2, 3);

// A shape for a message, with the names that the model gives its dims.
char *tn_infer_print(const tn_infer *infer, const tn_shape *shape, char *text, size_t size);

// Operand i, NULL when absent.
static inline const tn_fact *tn_infer_in(const tn_infer *infer, int i) { return i < infer->n_in ? infer->in[i] : NULL; }

// Operand i is there, is a tensor, and its dtype, where known, is in `set`.
tn_status tn_infer_type(const tn_infer *infer, int i, uint32_t set);

// The same for operands first .. last, which must also agree; *dtype is their common type (TN_NONE: none is known).
tn_status tn_infer_types(const tn_infer *infer, int first, int last, uint32_t set, tn_dtype *dtype);

// Operand i, where its rank is known, has low .. high dims.
tn_status tn_infer_rank(const tn_infer *infer, int i, int low, int high);

// Operand i, where known, is one element: rank 0, or rank 1 with one element.
tn_status tn_infer_scalar(const tn_infer *infer, int i);

// Resolves an axis that may be negative against a known rank. `what` names it in the message.
tn_status tn_infer_axis(const tn_infer *infer, const char *what, int64_t axis, int rank, int *out);

// A list of axes given as contents of an operand or as attribute: each in range, none twice. *mask gets a bit for each.
tn_status tn_infer_axes(const tn_infer *infer, const int64_t *axes, int count, int rank, uint32_t *mask, int *resolved);

// The broadcast shape of operands first .. last (absent ones are skipped).
tn_status tn_infer_broadcast(const tn_infer *infer, int first, int last, tn_shape *shape);

// Joins what two statements say of one dim: false when they contradict.
bool tn_dim_join(int64_t a, int64_t b, int64_t *out);

// ---- optional operands, and shapes that depend on other operands ----

// Operand i, when there, is a tensor, and its dtype, where known, is in `set`.
tn_status tn_infer_optional(const tn_infer *infer, int i, uint32_t set);

// Operand i, when there, has the dtype of operand `like`.
tn_status tn_infer_like(const tn_infer *infer, int i, int like);

// Operand i, when there, is a vector of `length` elements (a length that is not known: of any).
tn_status tn_infer_vector(const tn_infer *infer, int i, int64_t length);

// Operand i, when there, has this shape as far as both are known.
tn_status tn_infer_shape(const tn_infer *infer, int i, const tn_shape *shape);

// Operand i, when there, broadcasts to `shape` without making it larger (ONNX "unidirectional broadcasting").
tn_status tn_infer_fits(const tn_infer *infer, int i, const tn_shape *shape);

// dim * factor; TN_DIM_UNKNOWN when a part is not known. false: it does not fit.
bool tn_dim_times(int64_t dim, int64_t factor, int64_t *out);

// What two shapes that must be equal say together; *out may be one of them. false: they differ for certain.
bool tn_shape_join(const tn_shape *a, const tn_shape *b, tn_shape *out);

// ---- results ----

static inline void tn_infer_out(const tn_infer *infer, int i, tn_dtype dtype, const tn_shape *shape)
{
    if (i < infer->n_out) {
        infer->out[i].kind = TN_KIND_TENSOR;
        infer->out[i].dtype = dtype;
        infer->out[i].shape = *shape;
    }
}

// ---- contents of small integer tensors ----

#define TN_MAX_ELEMS 64

// Number of elements, or -1 when the shape is not known.
int64_t tn_fact_count(const tn_fact *fact);

// Element i of an integer or bool tensor as it is; false when it is not known. i < the count.
bool tn_fact_int(const tn_fact *fact, int64_t i, int64_t *v);

// Element i in dim coding: known, symbolic or TN_DIM_UNKNOWN.
int64_t tn_fact_elem(const tn_fact *fact, int64_t i);

// All elements of a list of at most `max`; *count is -1 when they are not all known. Fails when the list is longer or not of rank <= 1.
tn_status tn_infer_ints(const tn_infer *infer, int i, int max, int64_t *v, int *count);

// One element of an integer operand as a number; *known is false when it is not known.
tn_status tn_infer_int(const tn_infer *infer, int i, int64_t *v, bool *known);

// True when output 0 is an int32, int64 or bool tensor of at most TN_MAX_ELEMS elements and operand i tells elements (value or elems).
bool tn_infer_tells(const tn_infer *infer, int i);

// Gives output i room for `count` elements (<= TN_MAX_ELEMS), all unknown; NULL: no memory (recorded).
int64_t *tn_infer_elems(const tn_infer *infer, int i, int64_t count);

// A fact that says all of a tensor; contents where data is there.
tn_fact tn_fact_of(const tn_tensor *tensor);

// ---- rows ----

#define TN_REFERENCE(NAME, MATCH, RUN)                                                                            \
    {                                                                                                             \
        .name = #NAME "_reference", .op = &tn_op_##NAME, .impl = TN_IMPL_REFERENCE, .tag = "", .version = 1,      \
        .aligned_constants = true, .match = MATCH, .run = RUN,                                                    \
    }

// Predicate of rows that do arithmetic: refuses strings.
bool tn_match_numbers(const tn_query *query, const char **why);

// True when the caller wants the run to stop.
static inline bool tn_cancelled(const tn_call *call) { return call->cancel && *call->cancel; }
tn_status tn_fail_cancelled(const tn_call *call);

#endif
