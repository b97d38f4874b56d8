// SPDX-License-Identifier: Apache-2.0
// Offsets of blocks with known lifetimes in one linear arena.
// Ownership: none. Threads: any.
#ifndef TN_OFFSETS_H
#define TN_OFFSETS_H

#include "base/alloc.h"

#include <stdbool.h>

typedef struct tn_block {
    size_t bytes;       // a multiple of 64
    int first, last;    // steps between which it is live, both included
    size_t offset;      // the answer
} tn_block;

// Places every block so that blocks that are live at the same step do not overlap. *total is the arena's size, *lower_bound the
// largest sum of live blocks over the steps. false: no memory.
bool tn_offsets_assign(tn_block *blocks, size_t count, size_t *total, size_t *lower_bound, tn_heap *heap);

#endif
