// SPDX-License-Identifier: Apache-2.0
// Depthwise 3 x 3 and 5 x 5 of stride 1 in rows of one channel.
// Ownership: plans in the graph's pool. Threads: prepare: the serving thread; plane: any, one plane at a time in each scratch.
#ifndef TN_HX_PLANAR_H
#define TN_HX_PLANAR_H

#include "exec/hexagon/dsp/vec/hx_line.h"

typedef struct tn_hx_planar_channel {
    int32_t weights[10];         // four taps of each row, then the fifth
    int32_t bias, multiplier, right;   // fixed_q31 by its definition
    int32_t by;                  // how it is requantised
    tn_hx_line line;
} tn_hx_planar_channel;

// What a loop of hx_planar_loops.S works on; it knows the offsets.
typedef struct tn_hx_planar_job {
    int32_t weights[6];
    int32_t start, multiplier;   // of a line; fixed_q31: bias
    int32_t lower, shift, down;  // of a line: `low` in both halves, `left`; fixed_q31: 31, `right`
    int32_t low, high;           // bytes
    int32_t limit, odd, bits;    // halves; of a line with a gap
    int32_t zero;                // halves; fixed_q31
    const uint8_t *x;            // first pixel under the upper left tap
    int32_t pitch, rounds;
    uint8_t *to;                 // of the first round, whose results are not the first: see below
    int32_t unused;              // jobs lie at multiples of 8 bytes
} tn_hx_planar_job;

// Rounds in flight, less one: as many vectors before the results are written over, and there are so many rounds more.
enum { TN_HX_PLANAR_LINE_AHEAD = 3, TN_HX_PLANAR_EVEN_LINE_AHEAD = 3, TN_HX_PLANAR_Q31_AHEAD = 2, TN_HX_PLANAR_MOST_AHEAD = 3 };
// hx_planar_rows.S
void tn_hx_planar_apart(const uint8_t *pixels, uint8_t *rows, int32_t apart, int32_t chunks, int32_t step, int32_t row_step);
void tn_hx_planar_together(uint8_t *pixels, const uint8_t *rows, int32_t apart, int32_t chunks, int32_t step, int32_t row_step);
// hx_planar_loops.S
void tn_hx_planar_line(const tn_hx_planar_job *job);
void tn_hx_planar_even_line(const tn_hx_planar_job *job);
void tn_hx_planar_q31(const tn_hx_planar_job *job);

// A channel as the loops over planes read it; lower and limit in both halves.
typedef struct tn_hx_planar_record3 {
    int32_t weights[3], lower, start, multiplier, left, limit;
} tn_hx_planar_record3;
typedef struct tn_hx_planar_record5 {
    int32_t weights[10], start, multiplier, left, lower, limit, unused;
} tn_hx_planar_record5;

// What such a loop works on; it knows the offsets. Rounds and `to` as in a job.
typedef struct tn_hx_planar_batch {
    const uint8_t *x;
    int32_t pitch, slot, rounds;
    const void *records;
    uint8_t *to;
    const uint8_t *clamp;
    int32_t down, odd, bits;     // of a line
} tn_hx_planar_batch;

enum { TN_HX_PLANAR_PLANES_AHEAD = 4 };   // at most
// hx_planar_planes.S
void tn_hx_planar_planes_3_line(const tn_hx_planar_batch *batch);
void tn_hx_planar_planes_3_even_line(const tn_hx_planar_batch *batch);
void tn_hx_planar_planes_5_line(const tn_hx_planar_batch *batch);
void tn_hx_planar_planes_5_even_line(const tn_hx_planar_batch *batch);

typedef struct tn_hx_columns tn_hx_columns;   // hx_columns.h

typedef struct tn_hx_planar {
    tn_hx_planar_channel *channels;
    tn_hx_planar_job *jobs;      // of the channels of large images; x and to are those of the thread that does the plane
    uint8_t *fits;               // [planes]: the plane is done this way
    uint16_t *alike;             // [4 * planes]: so many channels up to this one are requantised alike
    uint8_t *records;            // of all channels
    int32_t record;              // bytes
    int32_t rounding, zero, low, high;
    int32_t first;               // flat pixel of x under the upper left tap of the first pixel
    int32_t pitch, pixels;       // pixels: of a flat run
    int32_t vectors, chunks;     // of 128 pixels: of the result, of what is taken apart
    int32_t kernel;
    int32_t group;               // planes done at once
    tn_hx_columns *columns;      // NULL: not that way
    // Groups; pixels.
    tn_hx_line line;             // what all channels have the same
    int32_t slot;                // of a plane in a row; 0: large images, plane by plane
    int32_t lead, reach;         // padding before a plane's first pixel; with it, a plane and the padding behind it
    int32_t margin;              // room before the first slot, which reading of padding may reach
    int32_t x_zero;
    uint8_t *clamps;             // for each vector of a slot: low, high
} tn_hx_planar;

// Whether a square window of 3 or 5 that reads x itself goes this way.
int tn_hx_planar_pays(const tn_hx_value *x, const tn_hx_value *y, int32_t kernel);
// Bits of fraction that the lines of n channels can all have.
int32_t tn_hx_planar_fewest(const tn_hx_requant *requant, int32_t n, int rounding);
// Whether the channels of a plane are requantised by lines.
int tn_hx_planar_has_lines(const tn_hx_planar *planar, int32_t plane);
// Room for what is kept of it.
void tn_hx_planar_room(tn_hx_graph *graph, const tn_hx_value *y, int32_t kernel);
// w, requant: of all channels; modes: of all planes. first: flat pixel of the first tap. fresh: see tn_hx_packed_copy; else w may be NULL.
uint32_t tn_hx_planar_prepare(tn_hx_graph *graph, tn_hx_planar *planar, const tn_hx_node *node, const int8_t *w, const tn_hx_requant *requant,
                              const uint8_t *modes, int32_t first, int fresh);
uint32_t tn_hx_planar_scratch(const tn_hx_planar *planar);
// One plane, padding and all.
void tn_hx_planar_plane(const tn_hx_planar *planar, int32_t plane, const uint8_t *x, const tn_hx_value *y, uint8_t *to, uint8_t *scratch);
// n planes, `group` at most, from `plane` on; x, to: of the first.
void tn_hx_planar_planes(const tn_hx_planar *planar, int32_t plane, int32_t n, const uint8_t *x, const tn_hx_value *y, uint8_t *to,
                         uint8_t *scratch);

#endif
