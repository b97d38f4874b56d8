// SPDX-License-Identifier: Apache-2.0
// Resizing the last two spatial dims of f32 images by any separable filter (nearest, linear, cubic, with or without antialias).
// An input row is resized along its width once and kept while result rows need it; a result row is the weighted sum of kept rows:
//
//      input rows  --taps along the width-->  kept rows [taps][width]  --taps along the height-->  result row
//
// In a blocked layout a pixel is the lanes of a block.
// Ownership: tables live in the plan's arena. Threads: const after prepare.
#ifndef TN_RESIZE_H
#define TN_RESIZE_H

#include "dispatch/kernel.h"

// One direction: result place i is the sum over k of weight[k * out + i] times place index[k * out + i].
typedef struct tn_resize_axis {
    int64_t in, out;
    int64_t taps;                 // 0: not resized
    const int32_t *index;         // [taps][out]
    const float *weight;          // [taps][out]
    // Width, where each vector of V results reads V neighbours of a row for each tap, as where an image grows, or 2 V, as where it shrinks to
    // half; else NULL. By vectors, the last one filled up with lane 0 and weight 0, then by taps: where the neighbours begin, which of them
    // each lane takes, and its weight.
    const int32_t *first;         // [vectors][taps]
    const int32_t *lane;          // [vectors][taps][V]
    const float *lane_weight;     // [vectors][taps][V]
    bool two;                     // of 2 V neighbours
    int32_t step;                 // of V: all vectors but the first and the last have the same lanes and weights and begin so far apart; else 0
} tn_resize_axis;

typedef struct tn_resize_params {
    tn_resize_axis height, width;
    int64_t planes;               // images times channels (or channel blocks) times depth
    int block;                    // lanes; 1 when plain
    bool nearest;
    bool stream;                  // the result is larger than the caches
    int64_t kept;                 // floats of a kept row, whole vectors
    int64_t thread_floats;        // scratch of a thread
} tn_resize_params;

bool tn_resize_match(const tn_query *query, const char **why);
tn_status tn_resize_prepare(tn_prepare *prepare, int lanes);   // of the row's vectors
double tn_resize_cost_portable(const tn_query *query);
double tn_resize_cost_avx2(const tn_query *query);
double tn_resize_cost_avx512(const tn_query *query);

#endif
