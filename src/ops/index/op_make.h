// SPDX-License-Identifier: Apache-2.0
// Tensors from little: shape, size, constant_of_shape(shape, value [1]), range(start, limit, delta), trilu(x, k?), eye_like.
// Ownership: const data. Threads: any.
#ifndef TN_OP_MAKE_H
#define TN_OP_MAKE_H

#include "ops/index/op_random.h"

typedef struct tn_shape_attr { int64_t start, end; } tn_shape_attr;                     // end INT64_MAX: to the last
typedef struct tn_trilu_attr { bool upper; } tn_trilu_attr;
typedef struct tn_eye_like_attr { tn_dtype dtype; int64_t k; } tn_eye_like_attr;        // dtype NONE: that of the operand

extern const tn_op tn_op_shape;
extern const tn_op tn_op_size;
extern const tn_op tn_op_constant_of_shape;
extern const tn_op tn_op_range;
extern const tn_op tn_op_trilu;
extern const tn_op tn_op_eye_like;

#endif
