// SPDX-License-Identifier: Apache-2.0
// Orders of nodes with a low peak of live bytes, over a graph reduced to what matters for that.
// Ownership: arrays are the caller's; what the search needs comes from the arena given. Threads: any.
#ifndef TN_SCHEDULE_H
#define TN_SCHEDULE_H

#include "base/arena.h"

typedef struct tn_schedule_node {
    const uint32_t *in, *out;     // values, each named once
    uint32_t n_in, n_out;
    uint32_t in_place;            // result 0 may take over the bytes of one of so many first operands that ends here and is as large
} tn_schedule_node;

typedef struct tn_schedule {
    const tn_schedule_node *nodes;
    size_t n_nodes;
    const size_t *bytes;          // by value; 0: not in the arena
    const bool *kept;             // by value: lives to the end
    size_t n_values;
} tn_schedule;

// Peak of live bytes when the nodes run in this order. SIZE_MAX: no memory.
size_t tn_schedule_peak(const tn_schedule *schedule, const uint32_t *order, tn_arena *arena);

// A peak that no order can be below: every node needs its operands and results at once.
size_t tn_schedule_floor(const tn_schedule *schedule);

// Improves `order` (all nodes, operands before their readers). Returns its peak, never above that of the order given. SIZE_MAX: no
// memory, the order is as it was. Deterministic. `effort` bounds nodes times states that are kept after each node.
size_t tn_schedule_improve(const tn_schedule *schedule, uint32_t *order, size_t effort, tn_arena *arena);

#endif
