// SPDX-License-Identifier: Apache-2.0
// Random draws, with numpy's numbers where a seed is given. Every run starts from the seed again. Without one it comes from the node's name: a
// model gives the same draws each time, two nodes different ones.
// Ownership: const data. Threads: any.
#ifndef TN_OP_RANDOM_H
#define TN_OP_RANDOM_H

#include "ir/op.h"

typedef struct tn_random_attr { tn_dtype dtype; tn_ints shape; double a, b; bool has_seed; double seed; } tn_random_attr;
typedef struct tn_multinomial_attr { tn_dtype dtype; int64_t sample_size; bool has_seed; double seed; } tn_multinomial_attr;
typedef struct tn_dropout_attr { bool has_seed; int64_t seed; } tn_dropout_attr;

// random_normal a = mean, b = scale; random_uniform a = low, b = high; *_like and bernoulli(x) take the shape of operand 0
extern const tn_op tn_op_random_normal;
extern const tn_op tn_op_random_uniform;
extern const tn_op tn_op_random_normal_like;
extern const tn_op tn_op_random_uniform_like;
extern const tn_op tn_op_bernoulli;
// x [batch, classes] holds unnormalised log-probabilities; result [batch, sample_size]
extern const tn_op tn_op_multinomial;
// dropout(x, ratio?, training?) -> y, mask? (ONNX Dropout 22)
extern const tn_op tn_op_dropout;

#endif
