// SPDX-License-Identifier: Apache-2.0
// Elementary functions on vectors, written once on the vocabulary of vec.h. Coefficients are minimax fits made for this file;
// errors are of the function in exact arithmetic, rounding adds one to two units in the last place. NaN stays NaN.
// Included by vec.h only. Ownership: none. Threads: any.
#ifndef TN_VEC_MATH_H
#define TN_VEC_MATH_H

// e^a = 2^n e^r, n = round(a / ln 2), |r| <= ln(2) / 2; e^r = 1 + r + r^2 P(r), relative error 4e-9.
TN_INLINE vf vf_exp(vf a)
{
    a = vf_min(vf_set(89.0f), vf_max(vf_set(-105.0f), a));
    const vf n = vf_round(vf_mul(a, vf_set(1.44269504f)));
    // ln 2 in two parts; the first has 10 zero bits at its end, so that n times it is exact
    vf r = vf_fma(n, vf_set(-0.693359375f), a);
    r = vf_fma(n, vf_set(2.12194440e-4f), r);
    vf p = vf_set(0.0013950489f);
    p = vf_fma(p, r, vf_set(0.0083688898f));
    p = vf_fma(p, r, vf_set(0.041666206f));
    p = vf_fma(p, r, vf_set(0.16666518f));
    p = vf_fma(p, r, vf_set(0.5f));
    p = vf_fma(vf_mul(p, r), r, r);
    return vf_scale(vf_add(p, vf_set(1.0f)), n);
}

TN_INLINE vf vf_sigmoid(vf a) { return vf_div(vf_set(1.0f), vf_add(vf_set(1.0f), vf_exp(vf_neg(a)))); }

// |a| < 0.63: a + a^3 P(a^2), relative error 5e-9. Beyond: 1 - 2 / (e^2|a| + 1) with the sign of a.
TN_INLINE vf vf_tanh(vf a)
{
    const vf z = vf_mul(a, a);
    vf p = vf_set(-0.0056607611f);
    p = vf_fma(p, z, vf_set(0.020601982f));
    p = vf_fma(p, z, vf_set(-0.053729221f));
    p = vf_fma(p, z, vf_set(0.13331328f));
    p = vf_fma(p, z, vf_set(-0.33333278f));
    p = vf_fma(vf_mul(p, z), a, a);
    const vf m = vf_abs(a);
    const vf e = vf_exp(vf_add(m, m));
    const vf q = vf_sub(vf_set(1.0f), vf_div(vf_set(2.0f), vf_add(e, vf_set(1.0f))));
    return vf_select(vf_lt(m, vf_set(0.63f)), p, vf_sign(q, a));
}

// |a| < 0.95: a P(a^2). Beyond: 1 - e^-Q(|a|), where Q fits -ln erfc on 0.9 .. 4; from 4 on the result is 1. Absolute error
// 4e-8.
TN_INLINE vf vf_erf(vf a)
{
    const vf z = vf_mul(a, a);
    vf p = vf_set(-5.6601543e-4f);
    p = vf_fma(p, z, vf_set(0.0049247900f));
    p = vf_fma(p, z, vf_set(-0.026717709f));
    p = vf_fma(p, z, vf_set(0.11280411f));
    p = vf_fma(p, z, vf_set(-0.37612355f));
    p = vf_mul(vf_fma(p, z, vf_set(1.1283791f)), a);
    const vf m = vf_min(vf_set(4.0f), vf_abs(a));
    vf q = vf_set(-1.9066019e-4f);
    q = vf_fma(q, m, vf_set(0.0029945252f));
    q = vf_fma(q, m, vf_set(-0.022045119f));
    q = vf_fma(q, m, vf_set(0.10357986f));
    q = vf_fma(q, m, vf_set(0.63755441f));
    q = vf_fma(q, m, vf_set(1.1274712f));
    q = vf_fma(q, m, vf_set(2.4121968e-4f));
    q = vf_sub(vf_set(1.0f), vf_exp(vf_neg(q)));
    return vf_select(vf_lt(m, vf_set(0.95f)), p, vf_sign(q, a));
}

#endif
