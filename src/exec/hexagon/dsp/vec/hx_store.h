// SPDX-License-Identifier: Apache-2.0
// How convolutions end: sums of four or eight channels by 32 or 64 pixels are requantised, clamped and stored as QUAD pixels.
// Ownership: none. Threads: any.
#ifndef TN_HX_STORE_H
#define TN_HX_STORE_H

#include "exec/hexagon/dsp/vec/hx_requant.h"

enum { TN_HX_TILE = 8 };         // channels at most

static inline HVX_Vector tn_hx_again(HVX_Vector sums, HVX_Vector fast, const tn_hx_requant *r)
{
    HVX_VectorPred near = Q6_Q_vcmp_gt_VuwVuw(Q6_V_vzero(), Q6_V_vzero());
    tn_hx_rne(sums, r, &near);
    return tn_hx_any(near) ? tn_hx_requant_exact(sums, r->scale) : fast;
}

// What every tile of a span stores with.
typedef struct tn_hx_ends {
    HVX_Vector zero, low, high;
    uint8_t *to[2];
} tn_hx_ends;

static inline void tn_hx_ends_set(tn_hx_ends *ends, int32_t zero, int32_t low, int32_t high)
{
    ends->zero = Q6_V_vsplat_R(zero * 0x00010001);
    ends->low = Q6_V_vsplat_R(low * 0x01010101);
    ends->high = Q6_V_vsplat_R((int32_t)((uint32_t)high * 0x01010101u));
}

// The lanes of four channels that are near a half.
static inline __attribute__((noinline)) void tn_hx_repair_quad(const HVX_Vector *s, HVX_Vector *h, const tn_hx_requant *r, int pixels)
{
    int16_t results[64] __attribute__((aligned(128)));
    for (int c = 0; c < 4; c++) {
        TN_HX_V(results) = h[c];
        tn_hx_requant_repair(s[2 * c], &r[c], results);
        if (pixels == 2) {
            tn_hx_requant_repair(s[2 * c + 1], &r[c], results + 1);
        }
        h[c] = TN_HX_V(results);
    }
}

// loose: at any address.
static inline __attribute__((always_inline)) void tn_hx_store_pixels(uint8_t *to, HVX_Vector v, int loose)
{
    if (loose) {
        TN_HX_VU(to) = v;
    } else {
        TN_HX_V(to) = v;
    }
}

// The narrow way of tn_hx_store_tile. gap: bytes from the first vector of pixels to the second.
static inline __attribute__((always_inline)) void tn_hx_store_q31_narrow(const HVX_Vector *s, const tn_hx_requant *r, const tn_hx_ends *ends,
                                                                   int quads, int pixels, int32_t at, int32_t gap, int loose)
{
    // All constants are loaded before the first store, which the compiler must not move loads across; so the products of the second four
    // channels can be made while the first four are packed.
    int32_t m[TN_HX_TILE], right[TN_HX_TILE];
#pragma unroll
    for (int c = 0; c < 4 * quads; c++) {
        m[c] = r[c].multiplier;
        right[c] = r[c].right;
    }
#pragma unroll
    for (int q = 0; q < quads; q++) {
        HVX_Vector h[4], out[2];
#pragma unroll
        for (int c = 4 * q; c < 4 * q + 4; c++) {
            const HVX_Vector factor = Q6_V_vsplat_R(m[c]);
            const HVX_Vector a = tn_hx_q31_product(s[2 * c], factor), b = pixels == 2 ? tn_hx_q31_product(s[2 * c + 1], factor) : a;
            h[c - 4 * q] = Q6_Vh_vasr_VwVwR_rnd_sat(b, a, right[c]);
        }
        tn_hx_pack_narrow(h, ends->zero, ends->low, ends->high, out);
        tn_hx_store_pixels(ends->to[q] + at, out[0], loose);
        if (pixels == 2) {
            tn_hx_store_pixels(ends->to[q] + at + gap, out[1], loose);
        }
    }
}

static inline __attribute__((always_inline)) void tn_hx_store_rne_narrow(const HVX_Vector *s, const tn_hx_requant *r, const tn_hx_ends *ends,
                                                                   int quads, int pixels, int32_t at, int32_t gap, int loose)
{
    HVX_Vector h[TN_HX_TILE], out[2][2];
    const HVX_VectorPred none = Q6_Q_vcmp_gt_VuwVuw(ends->zero, ends->zero);
    HVX_VectorPred near[2] = {none, none};
#pragma unroll
    for (int c = 0; c < 4 * quads; c++) {
        h[c] = tn_hx_rne_narrow(s[2 * c], s[2 * c + pixels - 1], &r[c], &near[c / 4]);
    }
    if (__builtin_expect(tn_hx_any(Q6_Q_or_QQ(near[0], near[1])), 0)) {
#pragma unroll
        for (int q = 0; q < quads; q++) {
            if (tn_hx_any(near[q])) {
                HVX_Vector sums[8], fast[4];
                __builtin_memcpy(sums, s + 8 * q, sizeof sums);
                __builtin_memcpy(fast, h + 4 * q, sizeof fast);
                tn_hx_repair_quad(sums, fast, r + 4 * q, pixels);
                __builtin_memcpy(h + 4 * q, fast, sizeof fast);
            }
        }
    }
#pragma unroll
    for (int q = 0; q < quads; q++) {
        tn_hx_pack_narrow(h + 4 * q, ends->zero, ends->low, ends->high, out[q]);
    }
#pragma unroll
    for (int q = 0; q < quads; q++) {
        tn_hx_store_pixels(ends->to[q] + at, out[q][0], loose);
        if (pixels == 2) {
            tn_hx_store_pixels(ends->to[q] + at + gap, out[q][1], loose);
        }
    }
}

// Sums of quads * 4 channels and pixels * 32 pixels to bytes; s[2 * channel + pixel vector]. near is looked at once for all of them.
static inline __attribute__((always_inline)) void tn_hx_store_tile(HVX_Vector *s, const tn_hx_requant *r, const tn_hx_ends *ends, int quads,
                                                             int pixels, int mode, int32_t at, int32_t gap, int loose)
{
    const HVX_Vector zero = ends->zero, low = ends->low, high = ends->high;
    if (mode == TN_HX_RNE_NARROW) {
        tn_hx_store_rne_narrow(s, r, ends, quads, pixels, at, gap, loose);
        return;
    }
    if (mode == TN_HX_Q31_NARROW) {
        tn_hx_store_q31_narrow(s, r, ends, quads, pixels, at, gap, loose);
        return;
    }
    if (mode == TN_HX_RNE) {
        HVX_VectorPred near = Q6_Q_vcmp_gt_VuwVuw(zero, zero);
        HVX_Vector v[2 * TN_HX_TILE];
#pragma unroll
        for (int i = 0; i < 8 * quads; i++) {
            if (i % 2 < pixels) {
                v[i] = tn_hx_rne(s[i], &r[i / 2], &near);
            }
        }
        const int again = tn_hx_any(near);
#pragma unroll
        for (int i = 0; i < 8 * quads; i++) {
            if (i % 2 < pixels) {
                if (__builtin_expect(again, 0)) {
                    v[i] = tn_hx_again(s[i], v[i], &r[i / 2]);
                }
                s[i] = v[i];
            }
        }
    } else {
#pragma unroll
        for (int i = 0; i < 8 * quads; i++) {
            if (i % 2 < pixels) {
                s[i] = tn_hx_q31(s[i], &r[i / 2], mode);
            }
        }
    }
#pragma unroll
    for (int q = 0; q < quads; q++) {
#pragma unroll
        for (int p = 0; p < pixels; p++) {
            const HVX_Vector v =
                tn_hx_pack(s[8 * q + p], s[8 * q + 2 + p], s[8 * q + 4 + p], s[8 * q + 6 + p], zero, low, high);
            tn_hx_store_pixels(ends->to[q] + at + p * gap, v, loose);
        }
    }
}

#endif
