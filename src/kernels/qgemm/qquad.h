// SPDX-License-Identifier: Apache-2.0
// Products of bytes with constant weights, four k side by side: what multiplies unsigned by signed bytes and adds neighbours (vpmaddubsw,
// vpdpbusd) does twice the work of pairs of int16. The first adds two products in 16 bits with saturation. So that it never comes to
// that, of two neighbours in k that together leave [-128, 128] the larger is reduced when weights are packed, and what was taken off is
// added again as a correction: exact, for the price of a few percent where weights are spread as usual. A block with too many of those is
// multiplied in 16 bits instead.
//
//   columns   [TILE / step][quads][step][4] bytes of x, unsigned: signed ones have 128 added
//   weights   for each group and each four of its rows a block: head, corrections in the order of k, [quads][4 rows][4]
//
// The zero point of x is taken off at the end, times the sum of a row of weights. Ownership: none. Threads: const.
#ifndef TN_QQUAD_H
#define TN_QQUAD_H

#include "dispatch/kernel.h"

#define TN_QQUAD_ROWS 4

// Of a row in a block: e times x[k] is to be added.
typedef struct tn_qquad_fix { uint16_t k; int8_t e; uint8_t row; } tn_qquad_fix;

typedef struct tn_qquad_block {
    int32_t sums[TN_QQUAD_ROWS];  // of the weights of a row
    int32_t fixes;                // -1: to be multiplied in 16 bits
    int32_t pad[3];               // the weights behind the corrections lie at a multiple of 16
} tn_qquad_block;

// How weights [group * mg][k] lie in blocks.
typedef struct tn_qquads {
    int64_t group, mg, k;
    int64_t quads, blocks;        // of a row; of a group
    int64_t room;                 // corrections of a block, a multiple of four: one for ten pairs, up to where they pay
    size_t block_bytes;
    bool clip;                    // weights are reduced as above; vpdpbusd needs none of it
    int32_t flip;                 // 128 for unsigned weights: their zero point
    size_t bytes;                 // of all
} tn_qquads;

// false: K has more than 16 bits, or the sizes do not fit.
bool tn_qquads_init(tn_qquads *quads, int64_t group, int64_t mg, int64_t k, bool clip, bool is_unsigned);

// One block: the rows of `weights` (row 0 of the group's) from 4 * block on.
void tn_qquads_pack(void *dst, const tn_qquads *quads, const uint8_t *weights, int64_t block);

#endif
