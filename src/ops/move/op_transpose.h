// SPDX-License-Identifier: Apache-2.0
// transpose(x) by a permutation (not set: reversed).
// Ownership: const data. Threads: any.
#ifndef TN_OP_TRANSPOSE_H
#define TN_OP_TRANSPOSE_H

#include "ir/op.h"

typedef struct tn_transpose_attr { tn_ints perm; } tn_transpose_attr;

extern const tn_op tn_op_transpose;

#endif
