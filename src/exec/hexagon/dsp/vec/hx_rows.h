// SPDX-License-Identifier: Apache-2.0
// Matrix products in tiles of four rows by 64 columns. Lanes are 32 columns: the unsigned operand lies packed in words of four elements of a
// column, the signed one in rows of such words, of which one at a time is in a scalar register.
// Ownership: none. Threads: any.
#ifndef TN_HX_ROWS_H
#define TN_HX_ROWS_H

#include "exec/hexagon/dsp/vec/hx_flat.h"

enum { TN_HX_ROWS = 4, TN_HX_ROWS_COLUMNS = 64 };

typedef struct tn_hx_rows {
    const int32_t *words, *less;  // of the first row; what its sums have less
    int32_t pitch;                // words from a row to the next
    int32_t n;                    // rows; the first one again where there are fewer than four
    const int32_t *begin[2];      // what sums of columns begin with
    const uint8_t *packed;
    int32_t steps, step;          // of four elements; bytes from one to the next
} tn_hx_rows;

static inline __attribute__((always_inline)) void tn_hx_rows_sums(const tn_hx_rows *t, HVX_Vector s[TN_HX_ROWS][2])
{
    const int32_t *x[TN_HX_ROWS], steps = t->steps, step = t->step;
    const uint8_t *w = t->packed;
#pragma unroll
    for (int r = 0; r < TN_HX_ROWS; r++) {
        const int32_t at = r < t->n ? r : 0;
        const HVX_Vector less = Q6_V_vsplat_R(t->less[at]);
        x[r] = t->words + (uint32_t)at * (uint32_t)t->pitch;
        s[r][0] = Q6_Vw_vsub_VwVw(TN_HX_CV(t->begin[0]), less);
        s[r][1] = Q6_Vw_vsub_VwVw(TN_HX_CV(t->begin[1]), less);
    }
    for (int32_t k = 0; k < steps; k++, w += step) {
        const HVX_Vector u = TN_HX_CV(w), v = TN_HX_CV(w + TN_HX_VECTOR);
#pragma unroll
        for (int r = 0; r < TN_HX_ROWS; r++) {
            const int32_t four = x[r][k];
            s[r][0] = Q6_Vw_vrmpyacc_VwVubRb(s[r][0], u, four);
            s[r][1] = Q6_Vw_vrmpyacc_VwVubRb(s[r][1], v, four);
        }
    }
}

// Requantised sums of a row as bytes of y, of whose columns so many are left.
static inline __attribute__((always_inline)) void tn_hx_rows_store(HVX_Vector u, HVX_Vector v, const tn_hx_value *y, const tn_hx_attr *attr, uint8_t *to,
                                                            int32_t left)
{
    const HVX_Vector halves = Q6_Vh_vadd_VhVh_sat(Q6_Vh_vpack_VwVw_sat(v, u), Q6_V_vsplat_R(y->zero * 0x00010001));
    const HVX_Vector bytes = Q6_Vub_vpack_VhVh_sat(halves, halves), low = tn_hx_splat_byte(attr->low), high = tn_hx_splat_byte(attr->high);
    tn_hx_store_bytes(to, Q6_Vub_vmin_VubVub(Q6_Vub_vmax_VubVub(bytes, low), high), left < TN_HX_ROWS_COLUMNS ? left : TN_HX_ROWS_COLUMNS);
}

#endif
