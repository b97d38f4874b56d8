// SPDX-License-Identifier: Apache-2.0
// Two convolutions one behind the other, as one node. Made by the planner alone, where a row keeps what lies between them in the cache.
// Ownership: const data. Threads: any.
#ifndef TN_OP_CONV_PAIR_H
#define TN_OP_CONV_PAIR_H

#include "dispatch/kernel.h"
#include "ops/nn/op_conv.h"

// Operands, all float32: x, w of the first, w of the second, bias of the first?, bias of the second?, residual (shape of the result)?
// Result: act2(conv2(act1(conv1(x) + bias1)) + bias2 + residual).
typedef struct tn_conv_pair_attr {
    tn_conv_attr first, second;
} tn_conv_pair_attr;

enum { TN_PAIR_X, TN_PAIR_W1, TN_PAIR_W2, TN_PAIR_BIAS1, TN_PAIR_BIAS2, TN_PAIR_RESIDUAL, TN_PAIR_IN };

extern const tn_op tn_op_conv_pair;

// The two as queries of tn_op_conv that have their operands as conv has them. What lies between has the layout of the result.
typedef struct tn_conv_halves {
    tn_tensor between;
    const tn_tensor *in[2][4], *out[2];
    tn_query query[2];
} tn_conv_halves;

// False when the attributes do not fit (infer has said why).
bool tn_conv_pair_split(const tn_query *query, tn_conv_halves *halves);

#endif
