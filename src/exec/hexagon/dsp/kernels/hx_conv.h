// SPDX-License-Identifier: Apache-2.0
// What operators with weights share: checks and the constants of their output channels.
// Ownership: none. Threads: the serving thread.
#ifndef TN_HX_CONV_H
#define TN_HX_CONV_H

#include "exec/hexagon/dsp/vec/hx_pack.h"
#include "exec/hexagon/dsp/vec/hx_store.h"

// Weights and bias are constants of the right types, and there are multipliers for so many output channels.
uint32_t tn_hx_conv_check_channels(const tn_hx_graph *graph, const tn_hx_node *node, int32_t channels);
// Requantisation of one output channel with n weights, the operands being x, w, bias. 0: whatever x is, the channel gives one byte (networks
// have channels that training switched off, with scales far from the others'): the constants are for sums of weights that are all 0.
int tn_hx_conv_requant(const tn_hx_graph *graph, const tn_hx_node *node, tn_hx_requant *r, int32_t channel, const int8_t *w, uint32_t n);
// The same from what the weights add up to.
void tn_hx_conv_requant_sums(const tn_hx_graph *graph, const tn_hx_node *node, tn_hx_requant *r, int32_t channel, tn_hx_weight_sums sums);

// What the loops of hx_conv_pairs.S and hx_conv_lines.S work on; they know the offsets, and those in tn_hx_requant.
typedef struct tn_hx_conv_job {
    const uint8_t *x;            // first vector of the first plane
    int32_t stride;              // from plane to plane; of taps: from the first to the second
    const uint8_t *weights;      // [steps][8][4]
    const void *constants;       // [8]: tn_hx_requant, or tn_hx_conv_line
    uint8_t *to[2];
    int32_t pairs, rounds;       // of vectors, one at least; steps but for the first, one at least
    int32_t zero, low, high;     // halves; bytes
    int32_t down, odd, bits;     // of lines; the last two halves
    const int32_t *offsets;      // of taps: from the first, beginning with the fourth; two more than there are
    int32_t second;              // from the second to the third; of planes: as `stride`
} tn_hx_conv_job;

// A channel's line, see hx_line.h; lower: the multiplier's lower half, it and limit in both halves.
typedef struct tn_hx_conv_line {
    int32_t start, multiplier, left, lower, limit, unused;
} tn_hx_conv_line;

typedef int32_t tn_hx_conv_pairs_fn(const tn_hx_conv_job *job);
tn_hx_conv_pairs_fn tn_hx_conv_pairs_q31, tn_hx_conv_pairs_rne, tn_hx_conv_pairs_line, tn_hx_conv_pairs_even_line;   // windows of one pixel
tn_hx_conv_pairs_fn tn_hx_conv_taps_q31, tn_hx_conv_taps_rne, tn_hx_conv_taps_line, tn_hx_conv_taps_even_line;

// Depthwise convolution is a kernel of its own.
int tn_hx_depthwise_fits(const tn_hx_graph *graph, const tn_hx_node *node);
uint32_t tn_hx_depthwise_prepare(tn_hx_graph *graph, tn_hx_node *node);
uint32_t tn_hx_depthwise_pack(tn_hx_graph *graph, tn_hx_node *node, int fresh);
void tn_hx_depthwise_run(tn_hx_graph *graph, tn_hx_node *node);

#endif
