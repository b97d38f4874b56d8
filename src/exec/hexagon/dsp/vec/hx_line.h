// SPDX-License-Identifier: Apache-2.0
// Requantisation as one straight line in integers: for sums small enough, the byte is
//
//   (((sum << left) + start) * (multiplier + low) / 2^31) / 2^(16 + down), rounded down and kept within a byte,
//
// with zero point and rounding inside `start`. Which sums give which byte is known at prepare: for each byte the least sum that
// reaches it. A `start` is looked for that puts every one of them on the right side. The multiplier is an upper half and a signed lower
// one; only the upper half of the sum is multiplied with the latter, so that 64 sums take three multiplier packets and not four.
//
// Where float32 arithmetic meets halves, which go to the even neighbour, no line does; then odd results are reached later than even
// ones by `limit` units of the product: what is in this gap, with fraction bits below `limit` and an odd result, goes down by one.
// fixed_q31 rounds halves away from zero, so results of both signs lie on two lines: it has one where the clamp, or the zero point at
// an end of the bytes, leaves one sign.
// Ownership: none. Threads: any.
#ifndef TN_HX_LINE_H
#define TN_HX_LINE_H

#include "exec/hexagon/dsp/vec/hx_requant.h"

typedef struct tn_hx_line {
    int32_t start;
    int32_t multiplier, low;     // the lower 16 bits of multiplier are 0
    int32_t left, down;
    int32_t limit;               // 0: no gap
    int32_t odd;                 // the fraction (0) of a half in the gap, and the lowest bit of an odd result above it
} tn_hx_line;

enum { TN_HX_LINE_FRACTION_MAX = 23 };

// r: a channel, r->bias in its sums; the line is for sums without it. rounding: of the wire. most: bits of fraction, 16 + down at most. 1: every sum
// gives the byte it should, for zero point `zero` and bytes kept within [low, high] afterwards.
int tn_hx_line_find(tn_hx_line *line, const tn_hx_requant *r, int rounding, int32_t zero, int32_t low, int32_t high, int32_t most);
// Whether shifts and halves are such, for lines that were taken over: each is seen, all of them are judged.
typedef struct tn_hx_line_bits {
    uint32_t lefts, downs, limits;
} tn_hx_line_bits;

static inline void tn_hx_line_see(tn_hx_line_bits *bits, const tn_hx_line *line)
{
    bits->lefts |= (uint32_t)line->left;
    bits->downs |= (uint32_t)line->down;
    bits->limits |= (uint32_t)line->limit | (uint32_t)line->odd;
}

static inline int tn_hx_line_sane(const tn_hx_line_bits *bits)
{
    _Static_assert(TN_HX_LINE_FRACTION_MAX - 16 == 7, "what three bits hold");
    return bits->lefts < 32 && bits->downs <= TN_HX_LINE_FRACTION_MAX - 16 && bits->limits <= 0xffff;
}

// The most bits of fraction that a line of this channel may have; 0: it has none.
int32_t tn_hx_line_fraction(const tn_hx_requant *r, int rounding);

typedef struct tn_hx_line_lanes {
    HVX_Vector start, multiplier, limit, odd, bits, less;
    int32_t low, left;
} tn_hx_line_lanes;

static inline tn_hx_line_lanes tn_hx_line_splat(const tn_hx_line *line)
{
    return (tn_hx_line_lanes){.start = Q6_V_vsplat_R(line->start),
                              .multiplier = Q6_V_vsplat_R(line->multiplier),
                              .limit = Q6_V_vsplat_R((int32_t)((uint32_t)line->limit * 0x00010001u)),
                              .odd = Q6_V_vsplat_R(line->odd * 0x00010001),
                              .bits = Q6_V_vsplat_R(((2 << line->down) - 1) * 0x00010001),
                              .less = Q6_V_vsplat_R(-1),
                              .low = (int32_t)((uint16_t)line->low * 0x00010001u),
                              .left = line->left};
}

// Two vectors of sums to halves with `down` bits of fraction, those of a in the even ones. even: there is a gap.
static inline HVX_Vector tn_hx_line_halves(HVX_Vector a, HVX_Vector b, const tn_hx_line_lanes *l, int even)
{
    const HVX_Vector m = l->multiplier;
    a = Q6_Vw_vadd_VwVw(Q6_Vw_vasl_VwR(a, l->left), l->start);
    b = Q6_Vw_vadd_VwVw(Q6_Vw_vasl_VwR(b, l->left), l->start);
    const HVX_VectorPair lower = Q6_Ww_vmpy_VhRh(Q6_Vh_vshuffo_VhVh(b, a), l->low);   // even halves are a's
    a = Q6_Vw_vmpyoacc_VwVwVh_s1_rnd_sat_shift(Q6_V_lo_W(lower), a, m);
    b = Q6_Vw_vmpyoacc_VwVwVh_s1_rnd_sat_shift(Q6_V_hi_W(lower), b, m);
    const HVX_Vector high = Q6_Vh_vshuffo_VhVh(b, a);
    if (!even) {
        return high;
    }
    HVX_VectorPred gap = Q6_Q_vcmp_eq_VhVh(Q6_V_vand_VV(high, l->bits), l->odd);
    gap = Q6_Q_vcmp_gtand_QVuhVuh(gap, l->limit, Q6_Vh_vshuffe_VhVh(b, a));
    return Q6_Vh_condacc_QVhVh(gap, high, l->less);
}

#endif
