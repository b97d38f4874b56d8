// SPDX-License-Identifier: Apache-2.0
// The one movement operator that plans work with: a list of strided boxes. Made by the plan, never imported.
// Ownership: const data. Threads: any.
#ifndef TN_OP_COPY_H
#define TN_OP_COPY_H

#include "ir/op.h"

// Operands: regions->source_count tensors of any dtype, all the same. Result: `shape`.
typedef struct tn_copy_attr {
    const tn_regions *regions;
    tn_ints shape;
} tn_copy_attr;

extern const tn_op tn_op_copy;

#endif
