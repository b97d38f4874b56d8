// SPDX-License-Identifier: Apache-2.0
// Boxes between tensors of which one or both are blocked, as boxes over their memory.
// Ownership: none. Threads: any.
#ifndef TN_COPY_BLOCKED_H
#define TN_COPY_BLOCKED_H

#include "ir/op.h"

#define TN_COPY_PARTS 3      // boxes one box can become: lanes of a first block, whole blocks, lanes of a last block

// Rewrites a box in logical coordinates (it lies inside its tensors) as boxes whose offsets and strides count the elements in
// memory. Returns how many, or -1 with the rule that refused. source NULL: the fill.
int tn_copy_physical(const tn_region *region, const tn_tensor *source, const tn_tensor *result, tn_region *parts, const char **why);

#endif
