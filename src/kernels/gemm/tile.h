// SPDX-License-Identifier: Apache-2.0
// The register tile that all dense f32 work goes through (matrix products, convolutions, recurrent layers): P rows of A times
// Q vectors of columns of B, the sums held in registers.
//
//            b: one k after another, Q vectors each            c[p][q] = act(alpha * sum_k a[p][k] b[k][q]
//               +----------+----------+                                     + bias + beta * residual)
//            k  | q = 0    | q = 1    |
//               +----------+----------+          a row of A is a nest of segments; inside one, k is contiguous:
//   a  p = 0 ---[ sums      sums      ]             for i0 < n0, i1 < n1, i2 < n2, i < lanes:
//      p = 1 ---[ sums      sums      ]                 a[p * a_row + i0 * a0 + i1 * a1 + i2 * a2 + i]
//      ...                                        A matrix is one segment; a convolution has one for each (channel block,
//                                                 row of the window, column of the window).
// The k order is that of the nest, one fused multiply-add after another, so a sum does not depend on P, Q or on threads.
// Leaf header of kernels/. Ownership: borrows everything. Threads: any.
#ifndef TN_TILE_H
#define TN_TILE_H

#include "ops/nn/op_act.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TN_TILE_MAX_P 14
#define TN_TILE_MAX_Q 4

// Steps of an unrolled block: channels in a block of the layout that a tier's convolutions use.
#define TN_TILE_BLOCK(lanes) ((lanes) == 16 ? 16 : 8)

typedef struct tn_tile {
    const float *a;
    ptrdiff_t a_row, a0, a1, a2;     // in floats, as all strides here
    int64_t n0, n1, n2;
    int64_t lanes, last_lanes;       // k steps of a segment; of the segments with i0 = n0 - 1
    const float *b;
    const uint16_t *b_bf16;          // tn_stream_fn of bf16 only: what b is there
    ptrdiff_t b_step;                // from one k to the next
    ptrdiff_t b0, b1, b2;            // b of segment (i0, i1, i2) is b + i0 * b0 + i1 * b1 + i2 * b2
    const float *next;               // bytes that are needed soon: each k step asks for the lines of Q vectors, next_step floats after the
    ptrdiff_t next_step;             // last ones; any address will do; NULL and 0: nothing
    float *c;
    ptrdiff_t c_row, c_vec;          // from row to row, from vector to vector
    int tail;                        // lanes of the last vector that c and residual have (1 .. vector)
    int bias_tail;                   // lanes of the last vector that bias has
    const float *bias;               // one per column, or NULL
    const float *row_bias;           // one per row, or NULL
    const float *residual;           // with the strides of c, or NULL
    float alpha, beta;
    bool clamp;
    float low, high;                 // the result is clamped to these: relu and clip
    const tn_act *act;               // any other activation, or NULL
    int64_t repeat;                  // the same again for the next P rows, and so on: this often in all; 0 is 1
    bool ask;                        // c lies past the second-level cache, and its rows are one vector apart: its lines are asked for first
    bool resume;                     // c holds the sum so far
    bool finish;                     // this is the last part of the sum: bias, residual, activation
} tn_tile;

typedef void (*tn_tile_fn)(const tn_tile *tile);

// P rows times S groups of two whole vectors, `group` floats from one group's b to the next one's; c has the groups one after another.
// Few rows are bound by how fast columns come from memory, and processors fetch ahead best on several streams. The tile is one
// segment, has no factor, and is not resumed; each step asks for what is `ahead` floats on in each stream.
typedef void (*tn_stream_fn)(const tn_tile *tile, ptrdiff_t group, ptrdiff_t ahead);
#define TN_STREAM_MAX_P 3
#define TN_STREAM_MAX_S 6

// The plainest tile: P rows times two whole vectors of packed columns, no factor; `repeat` times, each for the next P rows. A row of A is one
// segment, or channel blocks of an unrolled block of steps each.
typedef struct tn_strip {
    const float *a, *b;
    ptrdiff_t a_row, a_block;        // from row to row, from block of steps to block of steps
    ptrdiff_t c_row, c_vec;
    int64_t steps, repeat;
    float *c;
    const float *bias;               // of two vectors; read when not resumed
    const float *residual;           // with the strides of c, or NULL
    float beta;
    bool resume, clamp;
    bool alone;                      // no other tile needs these columns: they are asked for, not the next rows and ask
    float low, high;
    const tn_act *act;               // any other activation, or NULL
    const float *ask;                // bytes that are needed soon, ask_step of them for each unrolled block of steps, ask_tile for each tile
    size_t ask_step, ask_tile;
} tn_strip;

typedef void (*tn_strip_fn)(const tn_strip *strip);

// Products of many rows; of one tile of rows; sums longer than a chunk too; pointwise convolutions.
enum { TN_STRIPS_MANY = 1, TN_STRIPS_ALONE = 2, TN_STRIPS_LONG = 4, TN_STRIPS_POINTS = 8 };

// What a tier's tiles look like, for code that chooses and packs: data without code of that tier.
typedef struct tn_tile_facts {
    int lanes;                            // floats in a vector
    int max_p[TN_TILE_MAX_Q + 1];         // most rows by q; 0: there is no such tile
    double fma_per_ns;                    // vector multiply-adds of one core in a nanosecond, for cost
    double load_per_ns;                   // vector loads
    int strips;                           // TN_STRIPS_*: where its tn_strip_fn pay; 0: there are none
} tn_tile_facts;

extern const tn_tile_facts tn_tile_facts_avx512, tn_tile_facts_avx2, tn_tile_facts_portable;

// A tier's tiles. tile[q - 1][p - 1].
typedef struct tn_tiles {
    const tn_tile_facts *facts;
    tn_tile_fn tile[TN_TILE_MAX_Q][TN_TILE_MAX_P];
    tn_stream_fn stream[TN_STREAM_MAX_P][TN_STREAM_MAX_S];          // [p - 1][s - 1]; NULL where there is none
    tn_stream_fn stream_bf16[TN_STREAM_MAX_P][TN_STREAM_MAX_S];     // the same with b in bf16, given as b_bf16
    void (*widen)(float *to, const uint16_t *from, int64_t vectors);  // bf16 to floats
    void (*activate)(float *v, int64_t count, const tn_act *act);   // v[i] = act(v[i])
    // One vector of columns for tn_gemm_pack: see gemm_pack.c.
    void (*pack_vector)(float *to, ptrdiff_t step, const float *from, ptrdiff_t row, ptrdiff_t column, int64_t k, int valid);
    tn_strip_fn strip[TN_TILE_MAX_P];                               // [p - 1]; NULL where there is none, and a tile takes its place
} tn_tiles;

extern const tn_tiles tn_tiles_avx512, tn_tiles_avx2, tn_tiles_portable;

// Sets clamp, low, high and act of a tile.
void tn_tile_set_act(tn_tile *tile, const tn_act *act);

// `total` rows are cut into `count` = tn_tile_cuts(total, most) nearly equal parts; part i begins at tn_tile_cut(..., i).
static inline int64_t tn_tile_cuts(int64_t total, int64_t most) { return (total + most - 1) / most; }
static inline int64_t tn_tile_cut(int64_t total, int64_t count, int64_t i)
{
    const int64_t each = total / count, more = total % count;
    return i * each + (i < more ? i : more);
}

// How many of `tiles` tiles of `tile_ns` nanoseconds make one item of work for a thread: items are long enough to be worth handing
// out, and several for each thread, `times` being the number of such rows of tiles. Few items are a little shorter where threads get more
// equal shares so.
int64_t tn_tile_item(double tile_ns, int64_t tiles, int64_t times, unsigned threads);

// Vectors in a group of packed columns that suits `rows` rows and `vectors` vectors of columns.
int tn_tile_choose_q(const tn_tile_facts *facts, int64_t rows, int64_t vectors);

// Nanoseconds of one k step over rows x vectors when cut into tiles with q vectors in a group.
double tn_tile_cost(const tn_tile_facts *facts, int64_t rows, int64_t vectors, int q);

#endif
