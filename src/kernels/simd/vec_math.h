// SPDX-License-Identifier: Apache-2.0
// Elementary functions on vectors, written once on the vocabulary of vec.h. Coefficients are minimax fits made for this file;
// errors are of the function in exact arithmetic, rounding adds one to two units in the last place. NaN stays NaN.
// Included by vec.h only. Ownership: none. Threads: any.
#ifndef TN_VEC_MATH_H
#define TN_VEC_MATH_H

// e^a = 2^n e^r, n = round(a / ln 2), |r| <= ln(2) / 2; e^r = 1 + r + r^2 P(r), relative error 4e-9.
TN_INLINE tn_vf tn_vf_exp(tn_vf a)
{
    a = tn_vf_minq(tn_vf_set(89.0f), tn_vf_maxq(tn_vf_set(-105.0f), a));
    const tn_vf n = tn_vf_round(tn_vf_mul(a, tn_vf_set(1.44269504f)));
    // ln 2 in two parts; the first has 10 zero bits at its end, so that n times it is exact
    tn_vf r = tn_vf_fma(n, tn_vf_set(-0.693359375f), a);
    r = tn_vf_fma(n, tn_vf_set(2.12194440e-4f), r);
    tn_vf p = tn_vf_set(0.0013950489f);
    p = tn_vf_fma(p, r, tn_vf_set(0.0083688898f));
    p = tn_vf_fma(p, r, tn_vf_set(0.041666206f));
    p = tn_vf_fma(p, r, tn_vf_set(0.16666518f));
    p = tn_vf_fma(p, r, tn_vf_set(0.5f));
    p = tn_vf_fma(tn_vf_mul(p, r), r, r);
    return tn_vf_scale(tn_vf_add(p, tn_vf_set(1.0f)), n);
}

TN_INLINE tn_vf tn_vf_sigmoid(tn_vf a) { return tn_vf_div(tn_vf_set(1.0f), tn_vf_add(tn_vf_set(1.0f), tn_vf_exp(tn_vf_neg(a)))); }

// |a| < 0.63: a + a^3 P(a^2), relative error 5e-9. Beyond: 1 - 2 / (e^2|a| + 1) with the sign of a.
TN_INLINE tn_vf tn_vf_tanh(tn_vf a)
{
    const tn_vf z = tn_vf_mul(a, a);
    tn_vf p = tn_vf_set(-0.0056607611f);
    p = tn_vf_fma(p, z, tn_vf_set(0.020601982f));
    p = tn_vf_fma(p, z, tn_vf_set(-0.053729221f));
    p = tn_vf_fma(p, z, tn_vf_set(0.13331328f));
    p = tn_vf_fma(p, z, tn_vf_set(-0.33333278f));
    p = tn_vf_fma(tn_vf_mul(p, z), a, a);
    const tn_vf m = tn_vf_abs(a);
    const tn_vf e = tn_vf_exp(tn_vf_add(m, m));
    const tn_vf q = tn_vf_sub(tn_vf_set(1.0f), tn_vf_div(tn_vf_set(2.0f), tn_vf_add(e, tn_vf_set(1.0f))));
    return tn_vf_select(tn_vf_lt(m, tn_vf_set(0.63f)), p, tn_vf_copysign(q, a));
}

// |a| < 0.95: a P(a^2). Beyond: 1 - e^-Q(|a|), where Q fits -ln erfc on 0.9 .. 4; from 4 on the result is 1. Absolute error
// 4e-8.
TN_INLINE tn_vf tn_vf_erf(tn_vf a)
{
    const tn_vf z = tn_vf_mul(a, a);
    tn_vf p = tn_vf_set(-5.6601543e-4f);
    p = tn_vf_fma(p, z, tn_vf_set(0.0049247900f));
    p = tn_vf_fma(p, z, tn_vf_set(-0.026717709f));
    p = tn_vf_fma(p, z, tn_vf_set(0.11280411f));
    p = tn_vf_fma(p, z, tn_vf_set(-0.37612355f));
    p = tn_vf_mul(tn_vf_fma(p, z, tn_vf_set(1.1283791f)), a);
    const tn_vf m = tn_vf_minq(tn_vf_set(4.0f), tn_vf_abs(a));
    tn_vf q = tn_vf_set(-1.9066019e-4f);
    q = tn_vf_fma(q, m, tn_vf_set(0.0029945252f));
    q = tn_vf_fma(q, m, tn_vf_set(-0.022045119f));
    q = tn_vf_fma(q, m, tn_vf_set(0.10357986f));
    q = tn_vf_fma(q, m, tn_vf_set(0.63755441f));
    q = tn_vf_fma(q, m, tn_vf_set(1.1274712f));
    q = tn_vf_fma(q, m, tn_vf_set(2.4121968e-4f));
    q = tn_vf_sub(tn_vf_set(1.0f), tn_vf_exp(tn_vf_neg(q)));
    return tn_vf_select(tn_vf_lt(m, tn_vf_set(0.95f)), p, tn_vf_copysign(q, a));
}

#endif
