// SPDX-License-Identifier: Apache-2.0
// Constants of requantisation, made at prepare, and its exact slow way.
// Ownership: none. Threads: any.
#include "exec/hexagon/dsp/vec/hx_requant.h"

#include "exec/hexagon/wire/hex_control.h"

enum { MANTISSA = 24, EXPONENT_BIAS = 127, FRACTION_MAX = 22, FRACTION_MIN = 8 };


static int bits_of(uint64_t v) { return v ? 64 - __builtin_clzll(v) : 0; }

// A scale that the fast way cannot serve: every lane counts as near a half.
static void set_always(tn_hx_requant *r)
{
    r->multiplier = 0;
    r->left = 0;
    r->right = 1;
    r->half = 0;
    r->up = 31;
    r->limit = UINT32_MAX;
}

static void set_rne(tn_hx_requant *r, uint32_t bits, uint64_t bound)
{
    __builtin_memcpy(&r->scale, &bits, 4);
    // scale = multiplier / 2^31 / 2^e
    const int e = EXPONENT_BIAS - 1 - (int)(bits >> 23 & 0xff);
    r->multiplier = (int32_t)(((bits & 0x7fffff) | 0x800000) << (31 - MANTISSA));
    int left = 30 - bits_of(bound);
    if (left > FRACTION_MAX - e) {
        left = FRACTION_MAX - e;
    }
    const int fraction = e + left;
    if (left < 0 || fraction < FRACTION_MIN) {
        set_always(r);
        return;
    }
    const uint32_t window = (uint32_t)((UINT64_C(384) << fraction) >> 23) + 2;
    r->left = left;
    r->right = fraction;
    r->half = (int32_t)(1u << (fraction - 1)) + (int32_t)window;
    r->up = 32 - fraction;
    r->limit = 2 * window << r->up;
}

void tn_hx_requant_set(tn_hx_requant *r, int rounding, uint32_t multiplier, int32_t shift, uint64_t bound)
{
    r->bound = bound;
    if (rounding == TN_HEX_FLOAT_RNE) {
        set_rne(r, multiplier, bound);
        return;
    }
    r->multiplier = (int32_t)multiplier;
    r->left = shift > 0 ? shift : 0;
    r->right = shift < 0 ? -shift : 0;
}

static int fits_narrow(const tn_hx_requant *r, int rounding)
{
    if (rounding == TN_HEX_FIXED_Q31) {
        return r->left == 0 && r->right >= 1 && r->right <= TN_HX_NARROW && r->bound < 1u << 30;
    }
    uint32_t bits;
    __builtin_memcpy(&bits, &r->scale, 4);
    const int left = TN_HX_NARROW - (EXPONENT_BIAS - 1 - (int)(bits >> 23 & 0xff));
    return left >= 0 && left + bits_of(r->bound) <= 30 && r->bound < 1u << MANTISSA;
}

int tn_hx_requant_mode(tn_hx_requant *r, uint32_t n, int rounding, int narrow)
{
    for (uint32_t i = 0; i < n && narrow; i++) {
        narrow = fits_narrow(&r[i], rounding);
    }
    if (narrow && rounding == TN_HEX_FLOAT_RNE) {
        for (uint32_t i = 0; i < n; i++) {
            uint32_t bits;
            __builtin_memcpy(&bits, &r[i].scale, 4);
            r[i].multiplier = (int32_t)(((bits & 0x7fffff) | 0x800000) << (31 - MANTISSA));
            r[i].left = TN_HX_NARROW - (EXPONENT_BIAS - 1 - (int)(bits >> 23 & 0xff));
        }
    }
    if (narrow) {
        return rounding == TN_HEX_FLOAT_RNE ? TN_HX_RNE_NARROW : TN_HX_Q31_NARROW;
    }
    int mode = rounding == TN_HEX_FLOAT_RNE ? TN_HX_RNE : TN_HX_Q31;
    for (uint32_t i = 0; i < n && mode == TN_HX_Q31; i++) {
        mode = r[i].right == 0 || r[i].left != 0 ? TN_HX_Q31_UNIT : TN_HX_Q31;
    }
    return mode;
}

uint32_t tn_hx_requant_sane(const tn_hx_requant *r, uint32_t n, const uint8_t *modes, uint32_t n_modes)
{
    uint32_t bits = 0;
    for (uint32_t i = 0; i < n_modes; i++) {
        bits |= modes[i] > TN_HX_RNE ? 32 : 0;
    }
    for (uint32_t i = 0; i < n; i++) {
        bits |= (uint32_t)r[i].left | (uint32_t)r[i].right | (uint32_t)r[i].up;
    }
    return bits < 32 ? TN_HEX_WHY_NONE : TN_HEX_WHY_RANGE;
}

__attribute__((noinline)) void tn_hx_requant_repair(HVX_Vector sums, const tn_hx_requant *r, int16_t *results)
{
    const HVX_Vector v = tn_hx_rne_product(sums, Q6_V_vsplat_R(r->multiplier), r->left);
    if (!tn_hx_any(tn_hx_rne_near(Q6_Q_vcmp_gt_VuwVuw(v, v), v))) {
        return;
    }
    int32_t lanes[32] __attribute__((aligned(128))), near[32] __attribute__((aligned(128)));
    TN_HX_V(lanes) = sums;
    TN_HX_V(near) = Q6_V_vand_VV(v, Q6_V_vsplat_R((1 << TN_HX_NARROW) - 1));
    for (int i = 0; i < 32; i++) {
        if (near[i] < 2 * TN_HX_NARROW_WINDOW) {
            results[2 * i] = (int16_t)tn_clamp_i32(tn_requant_rne(lanes[i], r->scale), INT16_MIN, INT16_MAX);
        }
    }
}

__attribute__((noinline)) HVX_Vector tn_hx_requant_exact(HVX_Vector sums, float scale)
{
    int32_t lanes[32] __attribute__((aligned(128)));
    TN_HX_V(lanes) = sums;
    for (int i = 0; i < 32; i++) {
        lanes[i] = tn_requant_rne(lanes[i], scale);
    }
    return TN_HX_V(lanes);
}
