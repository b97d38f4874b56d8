// SPDX-License-Identifier: Apache-2.0
// hx_pack.h.
// Ownership: none. Threads: any.
#include "exec/hexagon/dsp/vec/hx_pack.h"

// The sum of the words of a vector.
static int32_t add_up(HVX_Vector v)
{
    for (int32_t bytes = 64; bytes >= 4; bytes /= 2) {
        v = Q6_Vw_vadd_VwVw(v, Q6_V_vror_VR(v, bytes));
    }
    return Q6_R_vextract_VR(v, 0);
}

tn_hx_weight_sums tn_hx_weight_sums_of(const int8_t *w, uint32_t n)
{
    tn_hx_weight_sums sums = {0, 0};
    uint32_t i = 0;
    if (n >= TN_HX_VECTOR) {
        const HVX_Vector ones = Q6_V_vsplat_R(0x01010101), zero = Q6_V_vzero();
        HVX_Vector all = zero, positive = zero;
        for (; i + TN_HX_VECTOR <= n; i += TN_HX_VECTOR) {
            const HVX_Vector v = TN_HX_CVU(w + i);
            all = Q6_Vw_vrmpyacc_VwVbVb(all, v, ones);
            positive = Q6_Vw_vrmpyacc_VwVbVb(positive, Q6_Vb_vmax_VbVb(v, zero), ones);
        }
        sums.all = add_up(all);
        sums.positive = add_up(positive);
    }
    for (; i < n; i++) {
        sums.all += w[i];
        sums.positive += w[i] > 0 ? w[i] : 0;
    }
    return sums;
}

static int32_t word_of(const int8_t *w, int32_t taps)
{
    return (int32_t)((uint32_t)(uint8_t)w[0] | (uint32_t)(uint8_t)w[taps] << 8 | (uint32_t)(uint8_t)w[2 * taps] << 16 |
                     (uint32_t)(uint8_t)w[3 * taps] << 24);
}

void tn_hx_pack_row(uint8_t *to, int32_t step, const int8_t *w, int32_t inner, int32_t taps)
{
    const int32_t planes = inner / 4;
    int32_t *word = (int32_t *)to;
    if (taps == 1 && (uintptr_t)w % 4 == 0) {
        for (int32_t p = 0; p < planes; p++, word += step) {
            *word = ((const int32_t *)w)[p];
        }
    } else {
        for (int32_t p = 0; p < planes; p++) {
            for (int32_t t = 0; t < taps; t++, word += step) {
                *word = word_of(w + 4 * p * taps + t, taps);
            }
        }
    }
    for (int32_t c = 4 * planes; c < inner; c++) {
        for (int32_t t = 0; t < taps; t++) {
            to[4 * ((c / 4 * taps + t) * step) + c % 4] = (uint8_t)w[c * taps + t];
        }
    }
}

void tn_hx_pack_columns(uint8_t *to, int32_t steps, const int8_t *w, int32_t pitch, int32_t inner, tn_hx_weight_sums *sums)
{
    const HVX_Vector zero = Q6_V_vzero(), ones = Q6_V_vsplat_R(0x01010101), turn = Q6_V_vsplat_R((int32_t)0x80808080u);
    HVX_Vector all[4] = {zero, zero, zero, zero}, positive[4] = {zero, zero, zero, zero};
    for (int32_t s = 0; s < steps; s++) {
        HVX_Vector row[4], word[4];
        for (int32_t k = 0; k < 4; k++) {
            row[k] = 4 * s + k < inner ? TN_HX_CVU(w + (4 * s + k) * pitch) : zero;
        }
        // Bytes of two rows side by side, then pairs of those: words in the order of the columns.
        const HVX_VectorPair ab = Q6_W_vshuff_VVR(row[1], row[0], -1), cd = Q6_W_vshuff_VVR(row[3], row[2], -1);
        const HVX_VectorPair low = Q6_W_vshuff_VVR(Q6_V_lo_W(cd), Q6_V_lo_W(ab), -2), high = Q6_W_vshuff_VVR(Q6_V_hi_W(cd), Q6_V_hi_W(ab), -2);
        word[0] = Q6_V_lo_W(low);
        word[1] = Q6_V_hi_W(low);
        word[2] = Q6_V_lo_W(high);
        word[3] = Q6_V_hi_W(high);
        for (int32_t i = 0; i < 4; i++) {
            all[i] = Q6_Vw_vrmpyacc_VwVbVb(all[i], word[i], ones);
            positive[i] = Q6_Vw_vrmpyacc_VwVbVb(positive[i], Q6_Vb_vmax_VbVb(word[i], zero), ones);
            TN_HX_V(to + (uint32_t)(i / 2 * steps + s) * 2 * TN_HX_VECTOR + i % 2 * TN_HX_VECTOR) = Q6_V_vxor_VV(word[i], turn);
        }
    }
    for (int32_t i = 0; i < 4; i++) {
        int32_t words[2][32] __attribute__((aligned(128)));
        TN_HX_V(words[0]) = all[i];
        TN_HX_V(words[1]) = positive[i];
        for (int32_t k = 0; k < 32; k++) {
            sums[32 * i + k] = (tn_hx_weight_sums){words[0][k], words[1][k]};
        }
    }
}
