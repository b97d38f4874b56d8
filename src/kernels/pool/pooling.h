// SPDX-License-Identifier: Apache-2.0
// Pooling on f32: max and average, windows and whole planes, plain and blocked.
//
//   window, plain     the rows that a window touches are folded into one padded row, which is dealt out by column modulo stride
//                     ("phases"), so that every tap along the row is a run of neighbours; taps are then folded run by run
//   window, blocked   each result pixel folds its taps, all lanes of a block at a time; large windows that overlap much are
//                     first folded into a padded row of pixels too
//   plane             one result for each channel: global pooling, or a window that covers all of an unpadded input
//
// Ownership: parameters live in the plan's arena. Threads: const after prepare.
#ifndef TN_POOLING_H
#define TN_POOLING_H

#include "dispatch/kernel.h"
#include "ops/nn/op_pool.h"

typedef struct tn_pool_params {
    bool max;                  // else average
    bool plane;
    int64_t images, channels, blocks;
    int block;                 // lanes; 1 when plain
    int64_t planes;            // channels or channel blocks of all images
    int64_t pixels;            // of an input plane
    tn_window window;          // 3 dims; not for `plane`
    const float *counts[3];    // average: taps that count for each output of a dim, at least 1
    int64_t row;               // columns of the padded row, from -pad on; 0: it is not used
    int64_t phase;             // plain: floats of a phase; 0: stride 1, the padded row is used as it is
    int64_t inner_begin, inner_end;   // outputs along the row whose taps all lie inside
    int64_t thread_floats;     // scratch of a thread
} tn_pool_params;

bool tn_pool_match(const tn_query *query, const char **why);
bool tn_pool_match_lines(const tn_query *query, const char **why);   // for NCHW32B
tn_status tn_pool_prepare(tn_prepare *prepare);

#define TN_POOL_TIER(tier) double tn_pool_cost_##tier(const tn_query *query);
TN_POOL_TIER(portable)
TN_POOL_TIER(avx2)
TN_POOL_TIER(avx512)
TN_POOL_TIER(avx512bf16)

// Taps k0 .. k1-1 of output o that lie inside the input; *start is the position of tap 0.
static inline void tn_pool_taps(const tn_window *w, int dim, int64_t o, int64_t *start, int64_t *k0, int64_t *k1)
{
    const int64_t first = o * w->stride[dim] - w->pad_begin[dim], step = w->dilation[dim], in = w->in[dim];
    *start = first;
    *k0 = first >= 0 ? 0 : (-first + step - 1) / step;
    *k1 = first >= in ? 0 : (in - first + step - 1) / step;
    *k1 = *k1 < w->kernel[dim] ? *k1 : w->kernel[dim];
    *k0 = *k0 < *k1 ? *k0 : *k1;
}

#endif
