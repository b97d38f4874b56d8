// SPDX-License-Identifier: Apache-2.0
// How references of movement operators run: by the boxes that describe them (ir/op.h), and, where those would be too many, by
// mapping each result index to an operand index axis by axis.
// Ownership: plain values. Threads: any.
#ifndef TN_STRIDED_H
#define TN_STRIDED_H

#include "ops/op_facts.h"

// Appends a box of rank 0 at offset 0; NULL when the move has TN_MAX_REGIONS of them. source -1: the fill.
tn_region *tn_move_add(tn_move *move, int source);

// Appends a dim to a box; false when it has TN_MAX_RANK. Dims of size 1 are left out, and a dim that continues the one before it in
// both source and result is merged into it.
bool tn_region_dim(tn_region *region, int64_t size, int64_t src_stride, int64_t dst_stride);

// The result has no elements: no boxes are needed, and sizes need not fit.
static inline bool tn_move_empty(const tn_move *move) { return tn_fact_count(move->out) == 0; }

// The move that copies `count` elements in their order from operand 0.
bool tn_move_dense(tn_move *move, int64_t count);

// True when every element that the box reads and writes lies inside its tensors.
bool tn_region_inside(const tn_region *region, int64_t src_count, int64_t dst_count);

// Copies one box; elements have `size` bytes. src is the operand's data, or one element (with source -1).
void tn_region_copy(const tn_region *region, void *dst, const void *src, size_t size);

// Copies the boxes of a move; `count` of them. TN_INTERNAL when one lies outside its tensors.
tn_status tn_regions_copy(const tn_call *call, const tn_region *regions, int count, const uint8_t *fill, const tn_tensor *out);

// Runs result `index` of a movement operator by its boxes; *done is false when it has none.
tn_status tn_move_try(const tn_call *call, int index, bool *done);

// Kernel of movement operators that always have boxes.
tn_status tn_move_run(const tn_call *call);

// Kernel of operators that only rename dims: the same bytes. Does nothing when result and operand share them.
tn_status tn_move_same(const tn_call *call);

// result[i0, i1, ...] = operand[map(i0 - before[0], n0), ...]; the sizes n are those of operand 0.
tn_status tn_move_mapped(const tn_call *call, int64_t (*map)(int64_t i, int64_t n), const int64_t *before);

#endif
