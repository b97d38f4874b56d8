// SPDX-License-Identifier: Apache-2.0
// The odometer of the reference kernels. Offsets are kept up to date by addition, so a step costs a few additions per operand.
// Ownership: plain values. Threads: one walk each.
#include "ops/walk/walk.h"

#include "base/num.h"

void tn_strides_of(const tn_shape *shape, int64_t *strides)
{
    int64_t stride = 1;
    for (int d = shape->rank - 1; d >= 0; d--) {
        strides[d] = stride;
        // beside a dim of 0 the others need not fit together; nothing is walked then
        if (!tn_mul_i64(stride, TN_MAX(shape->dims[d], 1), &stride)) {
            stride = INT64_MAX;
        }
    }
}

// Dim `inner` can be folded into the dim before it when each operand steps through both as through one.
static bool mergeable(const tn_walk *walk, int outer, int64_t (*strides)[TN_MAX_RANK], int inner, int64_t size)
{
    for (int k = 0; k < walk->n; k++) {
        if (walk->strides[k][outer] != strides[k][inner] * size) {
            return false;
        }
    }
    return true;
}

// Dims of 1 vanish; neighbours merge; what is left is walked with the last dim as row.
bool tn_walk_init_strides(tn_walk *walk, const tn_shape *shape, int n, int64_t (*strides)[TN_MAX_RANK])
{
    for (int d = 0; d < shape->rank; d++) {
        if (shape->dims[d] == 0) {
            return false;
        }
    }
    walk->rank = 0;
    walk->n = n;
    for (int d = 0; d < shape->rank; d++) {
        const int64_t size = shape->dims[d];
        if (size == 1) {
            continue;
        }
        const int last = walk->rank - 1;
        const bool merge = last >= 0 && mergeable(walk, last, strides, d, size);
        const int at = merge ? last : walk->rank++;
        walk->sizes[at] = merge ? walk->sizes[at] * size : size;
        for (int k = 0; k < n; k++) {
            walk->strides[k][at] = strides[k][d];
        }
    }
    if (walk->rank == 0) {
        walk->sizes[walk->rank++] = 1;
        for (int k = 0; k < n; k++) {
            walk->strides[k][0] = 0;
        }
    }
    walk->row = walk->sizes[walk->rank - 1];
    for (int k = 0; k < n; k++) {
        walk->offsets[k] = 0;
        walk->steps[k] = walk->strides[k][walk->rank - 1];
    }
    for (int d = 0; d < walk->rank; d++) {
        walk->index[d] = 0;
    }
    return true;
}

// Strides by broadcasting: 0 where a dim of 1 is stretched or a leading dim is missing.
bool tn_walk_init(tn_walk *walk, const tn_shape *shape, int n, const tn_shape *const *of)
{
    int64_t strides[TN_WALK_MAX][TN_MAX_RANK] = {{0}};
    for (int k = 0; k < n; k++) {
        int64_t own[TN_MAX_RANK];
        const int skip = shape->rank - of[k]->rank;
        tn_strides_of(of[k], own);
        for (int d = skip; d < shape->rank; d++) {
            strides[k][d] = of[k]->dims[d - skip] == 1 ? 0 : own[d - skip];
        }
    }
    return tn_walk_init_strides(walk, shape, n, strides);
}

void tn_walk_seek(tn_walk *walk, int64_t row)
{
    for (int d = walk->rank - 2; d >= 0; d--) {
        const int64_t index = row % walk->sizes[d];
        row /= walk->sizes[d];
        for (int k = 0; k < walk->n; k++) {
            walk->offsets[k] += (index - walk->index[d]) * walk->strides[k][d];
        }
        walk->index[d] = index;
    }
}

// An odometer over the outer dims. Going back to 0 subtracts what the dim had added.
bool tn_walk_next(tn_walk *walk)
{
    for (int d = walk->rank - 2; d >= 0; d--) {
        const bool more = ++walk->index[d] < walk->sizes[d];
        const int64_t steps = more ? 1 : 1 - walk->sizes[d];
        for (int k = 0; k < walk->n; k++) {
            walk->offsets[k] += steps * walk->strides[k][d];
        }
        if (more) {
            return true;
        }
        walk->index[d] = 0;
    }
    return false;
}
