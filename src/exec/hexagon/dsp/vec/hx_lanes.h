// SPDX-License-Identifier: Apache-2.0
// Requantisation where the 32 lanes of a vector are 32 output channels: the constants of hx_requant.h as vectors.
// Ownership: none. Threads: any.
#ifndef TN_HX_LANES_H
#define TN_HX_LANES_H

#include "exec/hexagon/dsp/vec/hx_requant.h"

typedef struct tn_hx_lanes {
    int32_t multiplier[32];
    int32_t left[32];
    int32_t less[32];            // right - 1, or 0; float_rne: F
    int32_t some[32];            // -1 where right > 0
    int32_t half[32];
    int32_t limit[32];
    int32_t up[32];
    int32_t bias[32];
    float scale[32];
    tn_hx_requant one[32];       // as given
} tn_hx_lanes __attribute__((aligned(128)));

// From `one`.
void tn_hx_lanes_set(tn_hx_lanes *lanes);
// The scalar way, lane by lane; rounding: of the wire.
HVX_Vector tn_hx_lanes_exact(HVX_Vector sums, const tn_hx_lanes *lanes, int rounding);

// mode: of all channels of the node. Lanes with a shift to the left (multipliers of one and more) are rare and go the scalar way.
static inline HVX_Vector tn_hx_lanes_apply(HVX_Vector x, const tn_hx_lanes *lanes, int mode)
{
    const HVX_Vector m = TN_HX_CV(lanes->multiplier);
    if (mode == TN_HX_RNE) {
        const HVX_Vector up = Q6_Vw_vasl_VwVw(x, TN_HX_CV(lanes->left));
        HVX_Vector v = Q6_Vw_vmpyoacc_VwVwVh_s1_rnd_sat_shift(Q6_Vw_vmpye_VwVuh(up, m), up, m);
        v = Q6_Vw_vadd_VwVw_sat(v, TN_HX_CV(lanes->half));
        const HVX_VectorPred near = Q6_Q_vcmp_gt_VuwVuw(TN_HX_CV(lanes->limit), Q6_Vw_vasl_VwVw(v, TN_HX_CV(lanes->up)));
        return tn_hx_any(near) ? tn_hx_lanes_exact(x, lanes, TN_HEX_FLOAT_RNE) : Q6_Vw_vasr_VwVw(v, TN_HX_CV(lanes->less));
    }
    if (mode == TN_HX_Q31_UNIT && tn_hx_any(Q6_Q_vcmp_gt_VwVw(TN_HX_CV(lanes->left), Q6_V_vzero()))) {
        return tn_hx_lanes_exact(x, lanes, TN_HEX_FIXED_Q31);
    }
    const HVX_Vector some = TN_HX_CV(lanes->some);
    HVX_Vector v = Q6_Vw_vmpyoacc_VwVwVh_s1_rnd_sat_shift(Q6_Vw_vmpye_VwVuh(x, m), x, m);
    v = Q6_Vw_vadd_VwVw_sat(v, Q6_V_vand_VV(Q6_Vw_vasr_VwR(v, 31), some));
    v = Q6_Vw_vasr_VwVw(v, TN_HX_CV(lanes->less));
    // The average with 0 halves; with itself it changes nothing, for lanes without a shift.
    return Q6_Vw_vavg_VwVw_rnd(v, Q6_V_vand_VV(v, Q6_V_vnot_V(some)));
}

#endif
