// SPDX-License-Identifier: Apache-2.0
// Depthwise 3 x 3 and 5 x 5 of stride 2 in blocks of 2 x 2 pixels.
// Ownership: plans in the graph's pool. Threads: prepare: the serving thread; plane: any.
#ifndef TN_HX_BLOCKS_H
#define TN_HX_BLOCKS_H

#include "exec/hexagon/dsp/vec/hx_line.h"

typedef struct tn_hx_blocks_channel {
    int32_t weights[9];          // of the block, of the block below it, and of the column beside both; 5 x 5: of three rows of three blocks
    int32_t bias, multiplier, right;   // fixed_q31
    tn_hx_line line;             // float_rne; the four of a plane have the same `down`
} tn_hx_blocks_channel;

// A round as the loops over planes read it (tn_hx_columns_blocks); they know the offsets.
typedef struct tn_hx_blocks_record {
    int32_t x, y;                // bytes from the group's first plane, its first row
    struct {
        int32_t weights[3], start;
    } channels[4];
    int32_t multipliers[2][2];   // of the first and third channel, of the second and fourth; shifts in their lowest bits
    int32_t lower[2], limit[2];  // halves, of the same pairs
    int32_t last[2][2];          // weights below and beside for the last row, of the third channel and of the fourth
} tn_hx_blocks_record;

typedef struct tn_hx_blocks {
    tn_hx_blocks_channel *channels;
    const tn_hx_requant *requant;
    uint8_t *ways;               // [planes]: how each is requantised
    const uint8_t *modes;        // [planes]: of hx_requant.h
    int32_t kernel;
    int32_t first;               // flat pixel of x under the upper left tap of the first pixel
    // Planes that almost all have lines with one shift are done by groups.
    int32_t group;               // planes done at once
    int32_t rounds;              // that a plane takes
    int32_t share;               // records of a group
    tn_hx_blocks_record *records;   // NULL: one by one
    uint16_t *plain, *gaps;      // [groups]: rounds without a gap, which come first, and the others
    int32_t down;                // of their lines
    int32_t q31;                 // 1: by the definition of fixed_q31, all planes
    int32_t n_others, *others;   // planes without
    uint8_t *clamps;             // [4][vector]
} tn_hx_blocks;

// Room for what is kept of it.
void tn_hx_blocks_room(tn_hx_graph *graph, const tn_hx_value *y);
// w: weights of all channels; requant, modes: of all channels and planes, kept. fresh: see tn_hx_packed_copy; else w may be NULL.
uint32_t tn_hx_blocks_prepare(tn_hx_graph *graph, tn_hx_blocks *blocks, const tn_hx_node *node, const int8_t *w, const tn_hx_requant *requant,
                             const uint8_t *modes, int fresh);
// One plane, padding and all.
void tn_hx_blocks_plane(const tn_hx_blocks *blocks, const tn_hx_attr *attr, int32_t plane, const tn_hx_value *x, const uint8_t *from,
                        const tn_hx_value *y, uint8_t *to);
// The n planes of a group from `plane` on; from, to: of the first.
void tn_hx_blocks_planes(const tn_hx_blocks *blocks, const tn_hx_attr *attr, int32_t plane, int32_t n, const tn_hx_value *x, const uint8_t *from,
                         const tn_hx_value *y, uint8_t *to);

#endif
