// SPDX-License-Identifier: Apache-2.0
// Walks several broadcast operands together, row by row, in the row-major order of the result. Neighbouring dims are merged where all
// operands allow it, so that rows are as long as they can be.
// Ownership: plain values. Threads: one walk each.
#ifndef TN_WALK_H
#define TN_WALK_H

#include "ir/op.h"

#define TN_WALK_MAX (TN_MAX_IN + 1)

typedef struct tn_walk {
    int rank, n;                                  // dims left after merging (>= 1), operands
    int64_t sizes[TN_MAX_RANK];
    int64_t strides[TN_WALK_MAX][TN_MAX_RANK];    // in elements; 0 where the operand is broadcast
    int64_t index[TN_MAX_RANK];
    int64_t row;                                  // elements of a row
    int64_t offsets[TN_WALK_MAX];                 // first element of the current row in each operand
    int64_t steps[TN_WALK_MAX];                   // stride inside a row
} tn_walk;

// Walks a known shape; operand k has the known shape *of[k], which broadcasts to it. False when there is no element.
bool tn_walk_init(tn_walk *walk, const tn_shape *shape, int n, const tn_shape *const *of);

// The same with strides given: strides[k] has shape->rank entries.
bool tn_walk_init_strides(tn_walk *walk, const tn_shape *shape, int n, int64_t (*strides)[TN_MAX_RANK]);

void tn_walk_seek(tn_walk *walk, int64_t row);    // to row `row` of them all
bool tn_walk_next(tn_walk *walk);                 // to the next row; false past the last

// Row-major strides, in elements, of a known shape whose count fits.
void tn_strides_of(const tn_shape *shape, int64_t *strides);

#endif
