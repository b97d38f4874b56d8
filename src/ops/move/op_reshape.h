// SPDX-License-Identifier: Apache-2.0
// Same elements, other shape: reshape(x, shape), squeeze(x, axes?), unsqueeze(x, axes), flatten, identity; and expand(x, shape).
// Ownership: const data. Threads: any.
#ifndef TN_OP_RESHAPE_H
#define TN_OP_RESHAPE_H

#include "ir/op.h"

typedef struct tn_reshape_attr { bool allowzero; } tn_reshape_attr;
typedef struct tn_flatten_attr { int64_t axis; } tn_flatten_attr;

extern const tn_op tn_op_reshape;
extern const tn_op tn_op_squeeze;
extern const tn_op tn_op_unsqueeze;
extern const tn_op tn_op_flatten;
extern const tn_op tn_op_identity;
extern const tn_op tn_op_expand;

#endif
