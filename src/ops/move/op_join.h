// SPDX-License-Identifier: Apache-2.0
// concat(x...) and split(x, sizes?) along an axis.
// Ownership: const data. Threads: any.
#ifndef TN_OP_JOIN_H
#define TN_OP_JOIN_H

#include "ir/op.h"

typedef struct tn_concat_attr { int64_t axis; } tn_concat_attr;
typedef struct tn_split_attr { int64_t axis, num_outputs; } tn_split_attr;   // num_outputs 0: sizes, or the number of results

extern const tn_op tn_op_concat;
extern const tn_op tn_op_split;

#endif
