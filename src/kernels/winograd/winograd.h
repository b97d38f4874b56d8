// SPDX-License-Identifier: Apache-2.0
// Winograd's convolution F(m x m, 3 x 3), m = 2, 4, 6, for windows of 3 x 3 and stride 1 on channel blocks (A. Lavin, S. Gray, "Fast
// Algorithms for Convolutional Neural Networks", 2015). With n = m + 2 a tile of n x n inputs gives m x m outputs:
//      V = B' d B     for each channel, n x n numbers          (transform of the input)
//      M = sum_c V U  at each of the n x n places: one matrix product over all tiles
//      y = A' M A     for each output channel                  (transform of the output)
// The points of the interpolation are 0, infinity and k = m / 2 pairs +a, -a, so the transforms share work between a and -a.
// For m = 4 the points 3/4 and 3/2 keep the error about that of the direct sum (measured on normal data: 1.4e-6 of the largest
// result, direct 0.9e-6; the usual points 1 and 2 give 4.8e-6). For m = 6 it is 8e-6.
//
//      V    [n * n places][tile][channel]       M    [n * n places][tile][output channel]
//      U    [n * n places][groups of q vectors][channel][q * V], as the columns of a matrix product
// Ownership: borrows everything; parameters live in the plan's arena. Threads: any.
#ifndef TN_WINOGRAD_H
#define TN_WINOGRAD_H

#include "kernels/conv/conv.h"

#define TN_WINOGRAD_MAX_K 3
#define TN_WINOGRAD_MAX_N 8

// The pairs of points for k = 1, 2, 3.
#define TN_WINOGRAD_POINTS {{1.0f}, {0.75f, 1.5f}, {0.5f, 1.0f, 2.0f}}

typedef struct tn_winograd {
    const tn_tile_facts *facts;
    tn_conv_shape s;             // 2-D
    int block;                   // L
    int k, m, n;
    int q;                       // vectors in a group of U
    int64_t blocks_in, blocks_out, vectors;
    int64_t tiles_h, tiles_w, tiles;     // tiles of all images
    int64_t part;                // tiles done at a time by one thread
    bool grouped;                // M of a part holds one group of output channels at a time, so that V and it stay in the cache
    ptrdiff_t v_row, m_row;      // floats from tile to tile; of M with all channels
    tn_act act;
    float low, high;
    size_t slot_floats;          // of V and M for `part` tiles
    size_t all_floats;           // of V and M for all tiles
    unsigned slots;
} tn_winograd;

// Where V and M are, and which tiles they hold.
typedef struct tn_winograd_part {
    const tn_winograd *w;
    const float *x, *bias, *residual;
    float *y;
    float *v, *mm;
    int64_t first, count;        // tiles
    ptrdiff_t v_plane, m_plane;  // floats from place to place
    ptrdiff_t m_row;             // floats from tile to tile of M, whose first channel is m_first
    int64_t m_first;
} tn_winograd_part;

// Transforms tiles t0 .. t1 - 1 (counted from part->first) of channel block `block`.
typedef void (*tn_winograd_fn)(const tn_winograd_part *part, int64_t block, int64_t t0, int64_t t1);

typedef struct tn_winograd_isa {
    const tn_tiles *tiles;
    tn_winograd_fn in[TN_WINOGRAD_MAX_K], out[TN_WINOGRAD_MAX_K];   // by k - 1
} tn_winograd_isa;

tn_status tn_winograd_run(const tn_call *call, const tn_winograd_isa *isa);

#define TN_WINOGRAD_TIER(tier)                                              \
    bool tn_winograd_match_##tier(const tn_query *query, const char **why); \
    double tn_winograd_cost_##tier(const tn_query *query);                  \
    tn_status tn_winograd_prepare_##tier(tn_prepare *prepare);

TN_WINOGRAD_TIER(avx512)
TN_WINOGRAD_TIER(avx2)
TN_WINOGRAD_TIER(portable)

#endif
