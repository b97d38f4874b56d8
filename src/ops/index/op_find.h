// SPDX-License-Identifier: Apache-2.0
// Operators that find positions: top_k, and those with data-dependent shapes: non_zero, unique, compress(x, condition).
// Ownership: const data. Threads: any.
#ifndef TN_OP_FIND_H
#define TN_OP_FIND_H

#include "ir/op.h"

typedef struct tn_top_k_attr { int64_t axis; bool largest, sorted; } tn_top_k_attr;    // x, k -> values, indices
typedef struct tn_unique_attr { int64_t axis; bool has_axis, sorted; } tn_unique_attr;
typedef struct tn_compress_attr { int64_t axis; bool has_axis; } tn_compress_attr;

extern const tn_op tn_op_top_k;
extern const tn_op tn_op_non_zero;
extern const tn_op tn_op_unique;
extern const tn_op tn_op_compress;

#endif
