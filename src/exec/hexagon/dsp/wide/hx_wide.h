// SPDX-License-Identifier: Apache-2.0
// What the kernels on 16 bits share. Values lie PLAIN: dense rows of halves. Sums are kept as two words, 256 * high + low, because products
// of 16 by 16 bits leave no room in one: weights are split the same way, each part by a 16-bit value fits.
// Ownership: none. Threads: any.
#ifndef TN_HX_WIDE_H
#define TN_HX_WIDE_H

#include "exec/hexagon/dsp/vec/hx_flat.h"
#include "exec/hexagon/dsp/vec/hx_requant.h"
#include "exec/hexagon/wire/hex_control.h"

enum { TN_HX_WIDE_LANES = 64 };      // halves of a vector

// What becomes of the sums of one output channel.
typedef struct tn_hx_wide_finish {
    tn_requant factor;
    tn_hx_requant q31;
    int64_t bias;                    // with the half that rounds the shift down
    int32_t down, low, high;
} tn_hx_wide_finish;

static inline int tn_hx_is_wide(const tn_hx_value *v) { return v->dtype == TN_HEX_S16; }
static inline int tn_hx_layout_plain(const tn_hx_graph *graph, const tn_hx_node *node)
{
    (void)graph, (void)node;
    return TN_HX_PLAIN;
}

// Of channel m of a node with a bias operand 2 ([channels, 2] or absent) and one factor or one a channel.
void tn_hx_wide_finish_set(tn_hx_wide_finish *f, const tn_hx_graph *graph, const tn_hx_node *node, uint32_t m);
// Whether those operands are right.
uint32_t tn_hx_wide_sum_check(const tn_hx_graph *graph, const tn_hx_node *node, int32_t channels);
// A sum without its bias.
int16_t tn_hx_wide_finish_one(const tn_hx_wide_finish *f, int64_t sum);
// A factor from MULTIPLIER and SHIFT at place i.
tn_requant tn_hx_wide_factor(const tn_hx_attr *attr, uint32_t i);

// w = 256 * high + low, -128 <= low < 128.
static inline int32_t tn_hx_wide_low(int32_t w) { return (int8_t)w; }
static inline int32_t tn_hx_wide_high(int32_t w) { return (w - (int8_t)w) >> 8; }

// One number in all halves.
static inline HVX_Vector tn_hx_wide_splat(int32_t v) { return Q6_V_vsplat_R((int32_t)((uint32_t)v << 16 | (uint16_t)v)); }

#endif
