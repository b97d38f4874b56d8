// SPDX-License-Identifier: Apache-2.0
// Requantisation of vectors of 32 sums, with the bits of base/requant.h.
//
// fixed_q31 is three steps of the vector unit: the rounding doubling high product, the step towards zero that makes halves round away from
// it, and a rounding shift as the average of the value shifted one less and 0.
//
// float_rne has no float unit here. The sum times the 24-bit mantissa, shifted up as far as its bound allows, gives the result with F
// bits of fraction, off by at most WINDOW: half a unit here, and what float32 rounds away (2^-23 of the value, results below 384 being the
// only ones that are not clamped). Unless the fraction is that close to one half the nearest integer is the answer; those lanes (about
// one in ten thousand) are found by one comparison, and their vectors done again by the scalar float unit.
// Ownership: none. Threads: any.
#ifndef TN_HX_REQUANT_H
#define TN_HX_REQUANT_H

#include "exec/hexagon/dsp/vec/hx_kernels.h"

// Of one output channel.
typedef struct tn_hx_requant {
    int32_t bias;                // what sums begin with
    int32_t multiplier;          // Q31
    int32_t left;                // shift before the product
    int32_t right;               // shift after it; float_rne: F
    int32_t half;                // float_rne: 2^(F-1) + WINDOW
    uint32_t limit;              // float_rne: 2 * WINDOW, at the top of 32 bits
    int32_t up;                  // float_rne: 32 - F
    float scale;
    uint64_t bound;              // greatest magnitude of the sums
} tn_hx_requant;

// Modes that a whole node shares. The first two let a shift and the narrowing to 16 bits be one instruction for two vectors, which shifts
// by 15 at most: no shift to the left and sums below 2^30; one F for all channels. With sums below 2^24, which float32 holds exactly, and
// F = 15, float32 is off by 3/4 and the product here by 1/2: fractions one unit beside one half and one half itself are in doubt.
enum { TN_HX_Q31_NARROW, TN_HX_RNE_NARROW, TN_HX_Q31, TN_HX_Q31_UNIT, TN_HX_RNE };   // all right > 0 and left = 0; any; float
enum { TN_HX_NARROW = 15, TN_HX_NARROW_WINDOW = 2 };   // F, and its WINDOW

// multiplier, shift: as on the wire; the sums' magnitude is at most `bound`.
void tn_hx_requant_set(tn_hx_requant *r, int rounding, uint32_t multiplier, int32_t shift, uint64_t bound);
// The mode of n channels; narrow: the kernel has the narrow ones, and channels may be set anew for them.
int tn_hx_requant_mode(tn_hx_requant *r, uint32_t n, int rounding, int narrow);
// Whether shifts are shifts and modes are modes, for n channels that were taken over: TN_HEX_WHY_NONE, or TN_HEX_WHY_RANGE. modes: n_modes; NULL: none.
uint32_t tn_hx_requant_sane(const tn_hx_requant *r, uint32_t n, const uint8_t *modes, uint32_t n_modes);
// Does those of 32 channel sums again whose fraction is near one half: results[2 * lane] are 16 bits wide.
void tn_hx_requant_repair(HVX_Vector sums, const tn_hx_requant *r, int16_t *results);
// Exactly, by scalar float.
HVX_Vector tn_hx_requant_exact(HVX_Vector sums, float scale);

static inline int32_t tn_hx_any(HVX_VectorPred q)
{
    return (uint32_t)Q6_R_vextract_VR(Q6_Vb_prefixsum_Q(q), 124) >> 24;
}

static inline HVX_Vector tn_hx_q31(HVX_Vector x, const tn_hx_requant *r, int mode)
{
    if (mode == TN_HX_Q31_UNIT) {
        for (int32_t i = 0; i < r->left; i++) {
            x = Q6_Vw_vadd_VwVw_sat(x, x);
        }
    }
    const HVX_Vector m = Q6_V_vsplat_R(r->multiplier);
    HVX_Vector v = Q6_Vw_vmpye_VwVuh(x, m);
    v = Q6_Vw_vmpyoacc_VwVwVh_s1_rnd_sat_shift(v, x, m);
    if (mode == TN_HX_Q31_UNIT && r->right == 0) {
        return v;
    }
    v = Q6_Vw_vadd_VwVw_sat(v, Q6_Vw_vasr_VwR(v, 31));
    return Q6_Vw_vavg_VwVw_rnd(Q6_Vw_vasr_VwR(v, r->right - 1), Q6_V_vzero());
}

// *near collects the lanes that need the exact way.
static inline HVX_Vector tn_hx_rne(HVX_Vector x, const tn_hx_requant *r, HVX_VectorPred *near)
{
    const HVX_Vector m = Q6_V_vsplat_R(r->multiplier);
    x = Q6_Vw_vasl_VwR(x, r->left);
    HVX_Vector v = Q6_Vw_vmpye_VwVuh(x, m);
    v = Q6_Vw_vmpyoacc_VwVwVh_s1_rnd_sat_shift(v, x, m);
    v = Q6_Vw_vadd_VwVw_sat(v, Q6_V_vsplat_R(r->half));
    *near = Q6_Q_vcmp_gtor_QVuwVuw(*near, Q6_V_vsplat_R((int32_t)r->limit), Q6_Vw_vasl_VwR(v, r->up));
    return Q6_Vw_vasr_VwR(v, r->right);
}

// ---- narrow modes: two vectors of one channel to halves, those of the first in the even ones ----

static inline HVX_Vector tn_hx_q31_product(HVX_Vector x, HVX_Vector m)
{
    const HVX_Vector v = Q6_Vw_vmpyoacc_VwVwVh_s1_rnd_sat_shift(Q6_Vw_vmpye_VwVuh(x, m), x, m);
    return Q6_Vw_vasracc_VwVwR(v, v, 31);
}

// Results with F bits of fraction, one half and WINDOW added.
static inline HVX_Vector tn_hx_rne_product(HVX_Vector x, HVX_Vector m, int32_t left)
{
    const HVX_Vector up = Q6_Vw_vasl_VwR(x, left);
    const HVX_Vector v = Q6_Vw_vmpyoacc_VwVwVh_s1_rnd_sat_shift(Q6_Vw_vmpye_VwVuh(up, m), up, m);
    return Q6_Vw_vadd_VwVw_sat(v, Q6_V_vsplat_R((1 << (TN_HX_NARROW - 1)) + TN_HX_NARROW_WINDOW));
}

static inline HVX_VectorPred tn_hx_rne_near(HVX_VectorPred near, HVX_Vector v)
{
    return Q6_Q_vcmp_gtor_QVuwVuw(near, Q6_V_vsplat_R(2 * TN_HX_NARROW_WINDOW), Q6_V_vand_VV(v, Q6_V_vsplat_R((1 << TN_HX_NARROW) - 1)));
}

static inline HVX_Vector tn_hx_q31_narrow(HVX_Vector a, HVX_Vector b, const tn_hx_requant *r)
{
    const HVX_Vector m = Q6_V_vsplat_R(r->multiplier);
    return Q6_Vh_vasr_VwVwR_rnd_sat(tn_hx_q31_product(b, m), tn_hx_q31_product(a, m), r->right);
}

static inline HVX_Vector tn_hx_rne_narrow(HVX_Vector a, HVX_Vector b, const tn_hx_requant *r, HVX_VectorPred *near)
{
    const HVX_Vector m = Q6_V_vsplat_R(r->multiplier);
    const HVX_Vector u = tn_hx_rne_product(a, m, r->left), v = tn_hx_rne_product(b, m, r->left);
    *near = tn_hx_rne_near(tn_hx_rne_near(*near, u), v);
    return Q6_Vh_vasr_VwVwR_sat(v, u, TN_HX_NARROW);
}

// Four channels of two pixel vectors, as above, to two vectors of 32 pixels x 4 channels.
static inline void tn_hx_pack_narrow(const HVX_Vector h[4], HVX_Vector zero, HVX_Vector low, HVX_Vector high, HVX_Vector out[2])
{
    const HVX_Vector a = Q6_Vh_vadd_VhVh_sat(h[0], zero), b = Q6_Vh_vadd_VhVh_sat(h[1], zero);
    const HVX_Vector c = Q6_Vh_vadd_VhVh_sat(h[2], zero), d = Q6_Vh_vadd_VhVh_sat(h[3], zero);
    const HVX_Vector ab = Q6_Vub_vmin_VubVub(Q6_Vub_vmax_VubVub(Q6_Vub_vsat_VhVh(b, a), low), high);   // a0 b0 a1 b1
    const HVX_Vector cd = Q6_Vub_vmin_VubVub(Q6_Vub_vmax_VubVub(Q6_Vub_vsat_VhVh(d, c), low), high);
    out[0] = Q6_Vh_vshuffe_VhVh(cd, ab);
    out[1] = Q6_Vh_vshuffo_VhVh(cd, ab);
}

// A vector that may need the exact way.
static inline HVX_Vector tn_hx_rne_checked(HVX_Vector x, const tn_hx_requant *r)
{
    HVX_VectorPred near = Q6_Q_vcmp_gt_VuwVuw(Q6_V_vzero(), Q6_V_vzero());
    const HVX_Vector v = tn_hx_rne(x, r, &near);
    return tn_hx_any(near) ? tn_hx_requant_exact(x, r->scale) : v;
}

static inline HVX_Vector tn_hx_requant_one(HVX_Vector x, const tn_hx_requant *r, int mode)
{
    return mode == TN_HX_RNE ? tn_hx_rne_checked(x, r) : tn_hx_q31(x, r, mode);
}

// Four vectors of results of four channels to 32 pixels x 4 channels: zero point added, clamped.
static inline HVX_Vector tn_hx_pack(HVX_Vector a, HVX_Vector b, HVX_Vector c, HVX_Vector d, HVX_Vector zero, HVX_Vector low,
                                    HVX_Vector high)
{
    // vsat puts its second operand in the even lanes: channels 0, 2 and 1, 3 first, so that bytes come out as 0 1 2 3.
    const HVX_Vector even = Q6_Vh_vadd_VhVh_sat(Q6_Vh_vsat_VwVw(c, a), zero);
    const HVX_Vector odd = Q6_Vh_vadd_VhVh_sat(Q6_Vh_vsat_VwVw(d, b), zero);
    return Q6_Vub_vmin_VubVub(Q6_Vub_vmax_VubVub(Q6_Vub_vsat_VhVh(odd, even), low), high);
}

#endif
