// SPDX-License-Identifier: Apache-2.0
// Tensors from little: shape, size, constant_of_shape(shape, value [1]), range(start, limit, delta), trilu(x, k?), eye_like, random draws.
// Ownership: const data. Threads: any.
#ifndef TN_OP_MAKE_H
#define TN_OP_MAKE_H

#include "ir/op.h"

typedef struct tn_shape_attr { int64_t start, end; } tn_shape_attr;                     // end INT64_MAX: to the last
typedef struct tn_trilu_attr { bool upper; } tn_trilu_attr;
typedef struct tn_eye_like_attr { tn_dtype dtype; int64_t k; } tn_eye_like_attr;        // dtype NONE: that of the operand
typedef struct tn_random_attr { tn_dtype dtype; tn_ints shape; double a, b; bool has_seed; double seed; } tn_random_attr;

extern const tn_op tn_op_shape;
extern const tn_op tn_op_size;
extern const tn_op tn_op_constant_of_shape;
extern const tn_op tn_op_range;
extern const tn_op tn_op_trilu;
extern const tn_op tn_op_eye_like;
// random_normal a = mean, b = scale; random_uniform a = low, b = high; *_like and bernoulli(x) take the shape of operand 0
extern const tn_op tn_op_random_normal;
extern const tn_op tn_op_random_uniform;
extern const tn_op tn_op_random_normal_like;
extern const tn_op tn_op_random_uniform_like;
extern const tn_op tn_op_bernoulli;

#endif
