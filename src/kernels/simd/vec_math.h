// SPDX-License-Identifier: Apache-2.0
// Functions over the vocabulary of vec.h, the same text for all tiers. Relative error below 4e-7 over the whole range, results
// that are denormal included where nothing else is said; infinities and NaN as in C. Polynomials are minimax fits (Remez exchange) made
// for these intervals.
// Ownership: none. Threads: any.
#ifndef TN_VEC_MATH_H
#define TN_VEC_MATH_H

// NaN when either is NaN.
TN_INLINE tn_vf tn_vf_min(tn_vf a, tn_vf b)
{
    return tn_vf_select(tn_vf_nan(a), a, tn_vf_minq(a, b));
}

TN_INLINE tn_vf tn_vf_max(tn_vf a, tn_vf b)
{
    return tn_vf_select(tn_vf_nan(a), a, tn_vf_maxq(a, b));
}

// x into [low, high]; NaN stays.
TN_INLINE tn_vf tn_vf_clip(tn_vf x, tn_vf low, tn_vf high)
{
    return tn_vf_minq(high, tn_vf_maxq(low, x));
}

// e^r - 1 for r = x - n ln 2, |r| <= ln(2)/2 (error 2e-8 relative to itself). ln 2 goes in two parts, the first with few enough bits
// that n times it is exact.
TN_INLINE tn_vf tn_vf_exp_rest(tn_vf x, tn_vf n)
{
    tn_vf r = tn_vf_fma(n, tn_vf_set(-0x1.62e4p-1f), x);
    r = tn_vf_fma(n, tn_vf_set(-0x1.7f7d1cp-20f), r);
    // The polynomial in pairs (Estrin): shorter than one chain of multiply-adds.
    const tn_vf rr = tn_vf_mul(r, r);
    const tn_vf low = tn_vf_fma(tn_vf_set(0x1.5554aep-3f), r, tn_vf_set(0.5f));
    const tn_vf mid = tn_vf_fma(tn_vf_set(0x1.12284ep-7f), r, tn_vf_set(0x1.555486p-5f));
    const tn_vf high = tn_vf_fma(tn_vf_set(0x1.6d997ap-10f), rr, mid);
    return tn_vf_fma(rr, tn_vf_fma(high, rr, low), r);
}

// Splits x = n ln 2 + r and returns e^r - 1.
TN_INLINE tn_vf tn_vf_exp_parts(tn_vf x, tn_vf *n)
{
    *n = tn_vf_round(tn_vf_mul(x, tn_vf_set(0x1.715476p+0f)));
    return tn_vf_exp_rest(x, *n);
}

TN_INLINE tn_vf tn_vf_exp(tn_vf x)
{
    tn_vf n;
    // Beyond these bounds the result is 0 or infinity all the same.
    const tn_vf p = tn_vf_exp_parts(tn_vf_clip(x, tn_vf_set(-105.0f), tn_vf_set(89.0f)), &n);
    return tn_vf_scale(tn_vf_add(p, tn_vf_set(1.0f)), n);
}

// Splits x = n ln 2 + r, -88 <= x <= 0, and returns e^r - 1. Adding 1.5 * 2^23 rounds to an integer in the low bits, whose bias of 127
// makes it the exponent of *scale = 2^n once it is moved up.
TN_INLINE tn_vf tn_vf_exp_split(tn_vf x, tn_vf *scale)
{
    const tn_vf magic = tn_vf_set(0x1.8p23f + 127.0f), shifted = tn_vf_fma(x, tn_vf_set(0x1.715476p+0f), magic);
    *scale = tn_vf_from_bits(tn_vi_shl(tn_vf_bits(shifted), 23));
    return tn_vf_exp_rest(x, tn_vf_sub(shifted, magic));
}

// e^x for x <= 0, with 0 from -87.7 down, where the exponent of the scale is that of 0: half the instructions of exp.
TN_INLINE tn_vf tn_vf_exp_down(tn_vf x)
{
    tn_vf scale;
    const tn_vf p = tn_vf_exp_split(tn_vf_maxq(tn_vf_set(-88.0f), x), &scale);
    return tn_vf_fma(p, scale, scale);
}

// 2^x for x <= 0 as in exp_split, with 0 for x below -126.5: its exponent would be that of 0.
TN_INLINE tn_vf tn_vf_exp2_down(tn_vf x)
{
    const tn_vf magic = tn_vf_set(0x1.8p23f + 127.0f), y = tn_vf_maxq(tn_vf_set(-127.0f), x), shifted = tn_vf_add(y, magic);
    const tn_vf scale = tn_vf_from_bits(tn_vi_shl(tn_vf_bits(shifted), 23)), f = tn_vf_sub(y, tn_vf_sub(shifted, magic));
    // 2^f - 1, error 2e-8 of 2^f
    const tn_vf ff = tn_vf_mul(f, f);
    const tn_vf low = tn_vf_fma(tn_vf_set(0x1.c6aee8p-5f), f, tn_vf_set(0x1.ebfbdcp-3f));
    const tn_vf mid = tn_vf_fma(tn_vf_set(0x1.5f3e54p-10f), f, tn_vf_set(0x1.3b2d4cp-7f));
    const tn_vf high = tn_vf_fma(tn_vf_set(0x1.41fbbcp-13f), ff, mid);
    const tn_vf p = tn_vf_fma(ff, tn_vf_fma(high, ff, low), tn_vf_mul(f, tn_vf_set(0x1.62e43p-1f)));
    return tn_vf_fma(p, scale, scale);
}

// e^x - 1, also where x is small.
TN_INLINE tn_vf tn_vf_expm1(tn_vf x)
{
    tn_vf n;
    const tn_vf one = tn_vf_set(1.0f);
    const tn_vf p = tn_vf_exp_parts(tn_vf_clip(x, tn_vf_set(-30.0f), tn_vf_set(89.0f)), &n);
    // From n = 64 on the 1 is lost anyway; 2^128 is no float, so there the sum is made first.
    const tn_vf s = tn_vf_scale(one, tn_vf_minq(n, tn_vf_set(64.0f)));
    const tn_vf small = tn_vf_fma(s, p, tn_vf_sub(s, one));
    return tn_vf_select(tn_vf_lt(tn_vf_set(64.0f), n), tn_vf_scale(tn_vf_add(p, one), n), small);
}

TN_INLINE tn_vf tn_vf_log(tn_vf x)
{
    // Denormals are brought into the normal range first.
    const tn_vm tiny = tn_vf_lt(x, tn_vf_set(0x1p-126f));
    const tn_vf y = tn_vf_select(tiny, tn_vf_mul(x, tn_vf_set(0x1p23f)), x);
    // y = m 2^e with sqrt(1/2) <= m < sqrt(2).
    const tn_vi e = tn_vi_shr(tn_vi_sub(tn_vf_bits(y), tn_vi_set(0x3f3504f3)), 23);
    const tn_vf m = tn_vf_from_bits(tn_vi_sub(tn_vf_bits(y), tn_vi_shl(e, 23)));
    const tn_vf n = tn_vf_sub(tn_vi_to_vf(e), tn_vf_select(tiny, tn_vf_set(23.0f), tn_vf_set(0.0f)));
    // log(1 + f) = f - f^2 / 2 + f^3 p(f)
    const tn_vf f = tn_vf_sub(m, tn_vf_set(1.0f)), ff = tn_vf_mul(f, f);
    tn_vf p = tn_vf_set(-0x1.41efdep-4f);
    p = tn_vf_fma(p, f, tn_vf_set(0x1.07d172p-3f));
    p = tn_vf_fma(p, f, tn_vf_set(-0x1.0ce056p-3f));
    p = tn_vf_fma(p, f, tn_vf_set(0x1.226e32p-3f));
    p = tn_vf_fma(p, f, tn_vf_set(-0x1.54788ep-3f));
    p = tn_vf_fma(p, f, tn_vf_set(0x1.99a598p-3f));
    p = tn_vf_fma(p, f, tn_vf_set(-0x1.000220p-2f));
    p = tn_vf_fma(p, f, tn_vf_set(0x1.55554ap-2f));
    tn_vf r = tn_vf_fma(n, tn_vf_set(0x1.7f7d1cp-20f), tn_vf_mul(tn_vf_mul(ff, f), p));
    r = tn_vf_fma(ff, tn_vf_set(-0.5f), r);
    r = tn_vf_add(r, f);
    r = tn_vf_fma(n, tn_vf_set(0x1.62e4p-1f), r);
    // log of 0, of negative numbers, of infinity and NaN
    const tn_vf zero = tn_vf_set(0.0f);
    r = tn_vf_select(tn_vf_eq(x, zero), tn_vf_set(-INFINITY), r);
    r = tn_vf_select(tn_vf_lt(x, zero), tn_vf_set(NAN), r);
    return tn_vf_select(tn_vf_lt(x, tn_vf_set(INFINITY)), r, tn_vf_mul(x, x));
}

// log(1 + x) for 0 <= x <= 1: what the sum loses is added back.
TN_INLINE tn_vf tn_vf_log1p_unit(tn_vf x)
{
    const tn_vf one = tn_vf_set(1.0f), y = tn_vf_add(one, x);
    return tn_vf_add(tn_vf_log(y), tn_vf_sub(x, tn_vf_sub(y, one)));
}

// tanh |x| = -e / (e + 2), e = e^(-2|x|) - 1, which is s p + (s - 1) with s = 2^n: exact enough where x is small.
TN_INLINE tn_vf tn_vf_tanh(tn_vf x)
{
    tn_vf scale;
    const tn_vf a = tn_vf_minq(tn_vf_set(10.0f), tn_vf_abs(x));
    const tn_vf p = tn_vf_exp_split(tn_vf_mul(a, tn_vf_set(-2.0f)), &scale);
    const tn_vf e = tn_vf_fma(scale, p, tn_vf_sub(scale, tn_vf_set(1.0f)));
    return tn_vf_copysign(tn_vf_div(e, tn_vf_add(e, tn_vf_set(2.0f))), x);
}

// With e = e^-|x| no step overflows: 1 / (1 + e) for x >= 0, else e / (1 + e). Most results that would be denormal are 0.
TN_INLINE tn_vf tn_vf_sigmoid(tn_vf x)
{
    const tn_vf one = tn_vf_set(1.0f), e = tn_vf_exp_down(tn_vf_neg(tn_vf_abs(x)));
    return tn_vf_div(tn_vf_select(tn_vf_lt(x, tn_vf_set(0.0f)), e, one), tn_vf_add(one, e));
}

// x / (1 + e^-x), the activation of many layers, so with as few instructions as its error allows: e^-x = 2^n e^-r as in exp_split, the
// polynomial is of degree 5 (1e-7) with the 1 in it, and one multiply-add takes off n ln 2 where products are not rounded. From -88.4 down
// 2^n is infinity and the result 0.
TN_INLINE tn_vf tn_vf_silu(tn_vf x)
{
    const tn_vf one = tn_vf_set(1.0f), magic = tn_vf_set(0x1.8p23f + 127.0f);
    const tn_vf y = tn_vf_clip(x, tn_vf_set(-89.0f), tn_vf_set(86.0f)), shifted = tn_vf_fma(y, tn_vf_set(-0x1.715476p+0f), magic);
    const tn_vf scale = tn_vf_from_bits(tn_vi_shl(tn_vf_bits(shifted), 23)), n = tn_vf_sub(shifted, magic);
    const tn_vf r = TN_VF_FUSED ? tn_vf_fma(n, tn_vf_set(0x1.62e43p-1f), y)
                                : tn_vf_fma(n, tn_vf_set(0x1.7f7d1cp-20f), tn_vf_fma(n, tn_vf_set(0x1.62e4p-1f), y));
    tn_vf p = tn_vf_fma(tn_vf_set(-0x1.0fa822p-7f), r, tn_vf_set(0x1.573a6cp-5f));
    p = tn_vf_fma(p, r, tn_vf_set(-0x1.555a6cp-3f));
    p = tn_vf_fma(p, r, tn_vf_set(0x1.fffdc6p-2f));
    p = tn_vf_fma(p, r, tn_vf_set(-0x1.fffff6p-1f));
    p = tn_vf_fma(p, r, one);
    return tn_vf_div(x, tn_vf_fma(p, scale, one));
}

// x p(x^2) / q(x^2), fitted on |x| <= 3.925 (error 2e-8); past it erf rounds to 1.
TN_INLINE tn_vf tn_vf_erf(tn_vf x)
{
    const tn_vf t = tn_vf_mul(x, x);
    tn_vf p = tn_vf_set(2.04604510e-6f), q = tn_vf_set(3.80479842e-5f);
    p = tn_vf_fma(p, t, tn_vf_set(2.84843970e-4f));
    q = tn_vf_fma(q, t, tn_vf_set(1.16385360e-3f));
    p = tn_vf_fma(p, t, tn_vf_set(3.77252464e-3f));
    q = tn_vf_fma(q, t, tn_vf_set(1.49831444e-2f));
    p = tn_vf_fma(p, t, tn_vf_set(5.27692183e-2f));
    q = tn_vf_fma(q, t, tn_vf_set(1.14182433e-1f));
    p = tn_vf_fma(p, t, tn_vf_set(1.90593019e-1f));
    q = tn_vf_fma(q, t, tn_vf_set(5.02241395e-1f));
    p = tn_vf_fma(p, t, tn_vf_set(1.12837915f));
    q = tn_vf_fma(q, t, tn_vf_set(1.0f));
    const tn_vf one = tn_vf_set(1.0f), big = tn_vf_copysign(one, x);
    const tn_vf r = tn_vf_div(tn_vf_mul(x, p), q);
    return tn_vf_select(tn_vf_le(tn_vf_set(3.925f), tn_vf_abs(x)), big, tn_vf_copysign(tn_vf_minq(one, tn_vf_abs(r)), r));
}

// a^b by the C library, lane by lane: its special cases are many and its users few.
TN_INLINE tn_vf tn_vf_pow(tn_vf a, tn_vf b)
{
    float x[TN_VL], y[TN_VL];
    tn_vf_store(x, a);
    tn_vf_store(y, b);
    for (int i = 0; i < TN_VL; i++) {
        x[i] = powf(x[i], y[i]);
    }
    return tn_vf_load(x);
}

#endif
