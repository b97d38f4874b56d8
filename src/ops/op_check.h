// SPDX-License-Identifier: Apache-2.0
// Checks beside those of op_facts.h that layers with weights need: optional operands, vectors of a given length, operands that
// fit another shape.
// Ownership: none. Threads: any.
#ifndef TN_OP_CHECK_H
#define TN_OP_CHECK_H

#include "ops/op_facts.h"

#define TN_SET_SMALL_INT (TN_BIT(U4) | TN_BIT(I4) | TN_BIT(U2) | TN_BIT(I2))

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

#endif
