// SPDX-License-Identifier: Apache-2.0
// A pointwise convolution of some pixels, one group of output channels at a time: what pairs of convolutions are made of. Where a tier has
// strips (tn_strip_fn) whole groups go by these.
// Ownership: borrows everything. Threads: any.
#ifndef TN_POINTS_H
#define TN_POINTS_H

#include "dispatch/kernel.h"
#include "kernels/gemm/tile.h"

// Most vectors of output channels in a group.
#define TN_POINTS_MOST 3

typedef struct tn_points {
    const tn_tile_facts *facts;
    int64_t c, m;                // channels of x and y
    int block;                   // of channels in both
    int64_t vectors, groups;     // of y, and groups of those: two each, three in the last one where their number is odd
    tn_act act;
} tn_points;

tn_points tn_points_of(const tn_tile_facts *facts, int64_t c, int64_t m, int block, const tn_act *act);

// Vectors of a group; the first of them is 2 * group.
int tn_points_width(const tn_points *points, int64_t group);

// Weights [m][c] packed per group: [group][input channel][its vectors]. A group begins tn_points_at floats from the first.
bool tn_points_bytes(const tn_points *points, size_t *bytes);
void tn_points_pack(const tn_points *points, float *to, const void *weights);
size_t tn_points_at(const tn_points *points, int64_t group);

// y (+ residual, which lies as y does; NULL: none) of `pixels` neighbours, for one group. x: the first channel block, x_plane floats to the next
// one; y, residual: the group's first block; w, bias (NULL: none): of the whole convolution, the bias from its first channel on.
void tn_points_run(const tn_points *points, const tn_tiles *tiles, int64_t group, const float *w, const float *bias, const float *x, ptrdiff_t x_plane,
                   int64_t pixels, float *y, const float *residual, ptrdiff_t y_plane);

#endif
