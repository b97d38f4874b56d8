// SPDX-License-Identifier: Apache-2.0
// Depthwise 3 x 3 of stride 1 on small images, where a row of one channel does not fill a vector.
// Ownership: plans in the graph's pool. Threads: prepare: the serving thread; planes: any.
#ifndef TN_HX_COLUMNS_H
#define TN_HX_COLUMNS_H

#include "exec/hexagon/dsp/kernels/depthwise/hx_planar.h"

// A round as the loops of hx_columns_loops.S read it; they know the offsets. Those of fixed_q31 as it is defined have biases for starts, whole
// multipliers, and shifts to the right for `lower` and `limit`.
typedef struct tn_hx_columns_record {
    int32_t x, y;                // bytes from the group's first plane, its first row; half: x of both, y of a vector of padding
    struct {
        int32_t taps[3][2];      // of a column: for the upper row and, a byte further, for the lower
        int32_t start, multiplier;   // of a line; its shift in the lowest bits, which are not multiplied
    } channels[4];
    int32_t lower[2], limit[2];  // halves: of the first and third channel, of the second and fourth
} tn_hx_columns_record;

// A round of quarters. Where its lines begin are vectors elsewhere, four a round.
typedef struct tn_hx_columns_plane {
    int32_t x, y;
    int32_t taps[4][3][2];
    int32_t multipliers[2][2];   // of the first and third channel, of the second and fourth; shifts in their lowest bits
    int32_t lower[2], limit[2];
} tn_hx_columns_plane;

// What a loop works on; it knows the offsets.
typedef struct tn_hx_columns_job {
    const uint8_t *x;            // first pixel under the upper left tap, of the group's first plane
    uint8_t *to;
    const void *records;         // of the first round
    int32_t rounds;              // with those after the last plane
    int32_t row;                 // bytes from a row to the next; line: from a plane to the next
    int32_t down;
    const uint8_t *clamps;       // four vectors: low, high, and again for the second vector of a quarter or the lower row of stride 2
    int32_t odd, bits;           // halves; odd: of fixed_q31 the zero point, and `down` is 31
    int32_t x_zero, zero;        // bytes
    int32_t to_row;              // of stride 2: `row` of the result
    const uint8_t *starts;       // of the first round, of quarters
} tn_hx_columns_job;

enum { TN_HX_COLUMNS_AHEAD = 2 };   // rounds in flight, less one, at most: so many records more before the first and behind the last
void tn_hx_columns_quarter(const tn_hx_columns_job *job);
void tn_hx_columns_quarter_even(const tn_hx_columns_job *job);
void tn_hx_columns_line(const tn_hx_columns_job *job);          // quarters of planes that lie one after the other
void tn_hx_columns_half(const tn_hx_columns_job *job);
void tn_hx_columns_half_even(const tn_hx_columns_job *job);
void tn_hx_columns_row(const tn_hx_columns_job *job);
void tn_hx_columns_row_even(const tn_hx_columns_job *job);
void tn_hx_columns_quarter_q31(const tn_hx_columns_job *job);
void tn_hx_columns_half_q31(const tn_hx_columns_job *job);
void tn_hx_columns_row_q31(const tn_hx_columns_job *job);
void tn_hx_columns_blocks(const tn_hx_columns_job *job);        // stride 2: with the records of hx_blocks.h
void tn_hx_columns_blocks_even(const tn_hx_columns_job *job);
void tn_hx_columns_blocks_q31(const tn_hx_columns_job *job);

struct tn_hx_columns {
    int32_t across;              // pixels of a row in a vector: 8, 16, 32
    int32_t positions;           // rounds that a plane takes
    int32_t ends;                // 1: the loop does not write the vectors before and after a plane
    int32_t q31;                 // 1: by the definition of fixed_q31, all planes
    int32_t n_others, *others;   // planes without lines
    int32_t group;               // planes done at once
    int32_t share;               // records of a group
    int32_t record;              // bytes
    uint8_t *records, *starts;   // starts: of quarters
    uint16_t *plain, *gaps;      // [groups]: rounds without a gap, which come first, and the others
    uint8_t *clamps;             // [4][vector]
};

// Makes planar->columns where almost all planes have lines and go faster this way; the others do not fit then.
uint32_t tn_hx_columns_prepare(tn_hx_graph *graph, tn_hx_planar *planar, const tn_hx_node *node);
// Whether a channel can be narrowed as loops for fixed_q31 do.
int tn_hx_columns_narrow(int32_t right);
// Whether so few planes have no lines that the others are done without them.
int tn_hx_columns_few(int32_t without, int32_t planes);
// Whether planes without a gap, so many of n, go by a loop of their own: one more begins for it.
int tn_hx_columns_apart(int32_t plain, int32_t n);
// As many planes to a tile as a thread has, but not more than fit into its part of the cache.
int32_t tn_hx_columns_group(const tn_hx_value *y);
// Vectors before and after n planes.
void tn_hx_columns_ends(const tn_hx_value *y, uint8_t *plane, int32_t n);
// The n planes of a group from `plane` on; x, to: of the first.
void tn_hx_columns_planes(const tn_hx_planar *planar, int32_t plane, int32_t n, const uint8_t *x, const tn_hx_value *y, uint8_t *to);

#endif
