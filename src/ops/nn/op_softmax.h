// SPDX-License-Identifier: Apache-2.0
// softmax, log_softmax, hardmax along one axis (the meaning of opset 13).
// Ownership: const data. Threads: any.
#ifndef TN_OP_SOFTMAX_H
#define TN_OP_SOFTMAX_H

#include "ir/op.h"

typedef struct tn_softmax_attr { int64_t axis; } tn_softmax_attr;

extern const tn_op tn_op_softmax;
extern const tn_op tn_op_log_softmax;
extern const tn_op tn_op_hardmax;

#endif
