// SPDX-License-Identifier: Apache-2.0
// The unary functions of the loop IR (loop/loop.h) over vectors, for elementwise kernels and for the epilogues of convolution
// and matrix kernels. `code` should be a constant where it is used in a loop, or the switch be outside of it.
// Ownership: none. Threads: any.
#ifndef TN_VEC_ACT_H
#define TN_VEC_ACT_H

#include "kernels/simd/vec.h"
#include "loop/loop.h"

// a / 2 (1 + tanh u) with u = sqrt(2 / pi) (a + 0.044715 a^3) is a sigmoid(2 u).
TN_INLINE tn_vf tn_vf_gelu_tanh(tn_vf a)
{
    const tn_vf aa = tn_vf_mul(a, a);
    const tn_vf u2 = tn_vf_mul(a, tn_vf_fma(aa, tn_vf_set(0.0713548163f), tn_vf_set(1.59576912f)));
    return tn_vf_mul(a, tn_vf_sigmoid(u2));
}

// x / 2 (1 + e), e = erf(x / sqrt 2) = x p(x^2): a minimax fit for |x| <= 5.2, where the result's error is below 7e-7; past it e is 1
// to that precision. The polynomial is in u = x^2 (2 / 5.2^2) - 1, which keeps its coefficients small, and is evaluated in pairs
// (Estrin): one chain of 14 multiply-adds would leave the units idle.
TN_INLINE tn_vf tn_vf_gelu(tn_vf x)
{
    static const float c[15] = {0x1.166cf2p-2f,  -0x1.157a7ep-3f, 0x1.99d02cp-4f,  -0x1.471426p-4f, 0x1.05da3ep-4f, -0x1.958816p-5f,
                                0x1.28d2dcp-5f,  -0x1.966256p-6f, 0x1.0895ecp-6f,  -0x1.45d4ecp-7f, 0x1.4d544cp-8f, -0x1.17e398p-9f,
                                0x1.72f238p-10f, -0x1.163734p-10f, 0x1.5b61b0p-12f};
    const tn_vf one = tn_vf_set(1.0f), half = tn_vf_mul(tn_vf_set(0.5f), x);
    const tn_vf t = tn_vf_minq(tn_vf_set(27.04f), tn_vf_mul(x, x));
    tn_vf u = tn_vf_fma(t, tn_vf_set(2.0f / 27.04f), tn_vf_set(-1.0f)), p[8];
#pragma GCC unroll 8
    for (int i = 0; i < 7; i++) {
        p[i] = tn_vf_fma(tn_vf_set(c[2 * i + 1]), u, tn_vf_set(c[2 * i]));
    }
    p[7] = tn_vf_set(c[14]);
#pragma GCC unroll 3
    for (int n = 4; n > 0; n /= 2) {
        u = tn_vf_mul(u, u);
#pragma GCC unroll 4
        for (int i = 0; i < n; i++) {
            p[i] = tn_vf_fma(p[2 * i + 1], u, p[2 * i]);
        }
    }
    const tn_vf e = tn_vf_minq(one, tn_vf_maxq(tn_vf_set(-1.0f), tn_vf_mul(x, p[0])));
    return tn_vf_fma(half, e, half);
}

// log(1 + e^a) = max(a, 0) + log(1 + e^-|a|)
TN_INLINE tn_vf tn_vf_softplus(tn_vf a)
{
    const tn_vf rest = tn_vf_log1p_unit(tn_vf_exp(tn_vf_neg(tn_vf_abs(a))));
    return tn_vf_add(tn_vf_maxq(tn_vf_set(0.0f), a), rest);
}

// A code of one operand and immediates x, y; TN_LOOP_CONST and codes of more operands leave the value as it is.
TN_INLINE tn_vf tn_vf_act(tn_loop_code code, tn_vf a, tn_vf x, tn_vf y)
{
    const tn_vf zero = tn_vf_set(0.0f), one = tn_vf_set(1.0f);
    switch (code) {
    case TN_LOOP_NEG:
        return tn_vf_neg(a);
    case TN_LOOP_ABS:
        return tn_vf_abs(a);
    case TN_LOOP_SQRT:
        return tn_vf_sqrt(a);
    case TN_LOOP_RSQRT:
        return tn_vf_div(one, tn_vf_sqrt(a));
    case TN_LOOP_RECIP:
        return tn_vf_div(one, a);
    case TN_LOOP_EXP:
        return tn_vf_exp(a);
    case TN_LOOP_LOG:
        return tn_vf_log(a);
    case TN_LOOP_TANH:
        return tn_vf_tanh(a);
    case TN_LOOP_SIGMOID:
        return tn_vf_sigmoid(a);
    case TN_LOOP_ERF:
        return tn_vf_erf(a);
    case TN_LOOP_FLOOR:
        return tn_vf_floor(a);
    case TN_LOOP_CEIL:
        return tn_vf_ceil(a);
    case TN_LOOP_ROUND:
        return tn_vf_round(a);
    case TN_LOOP_RELU:
        return tn_vf_maxq(zero, a);
    case TN_LOOP_LEAKY:
        return tn_vf_select(tn_vf_lt(a, zero), tn_vf_mul(x, a), a);
    case TN_LOOP_CLIP:
        return tn_vf_clip(a, x, y);
    case TN_LOOP_HARD_SIGMOID:
        return tn_vf_clip(tn_vf_fma(x, a, y), zero, one);
    case TN_LOOP_HARD_SWISH:
        return tn_vf_mul(a, tn_vf_clip(tn_vf_fma(a, tn_vf_set(1.0f / 6.0f), tn_vf_set(0.5f)), zero, one));
    case TN_LOOP_HARD_SWISH_AFFINE:
        return tn_vf_fma(tn_vf_mul(a, tn_vf_clip(tn_vf_fma(a, tn_vf_set(1.0f / 6.0f), tn_vf_set(0.5f)), zero, one)), x, y);
    case TN_LOOP_SILU:
        return tn_vf_silu(a);
    case TN_LOOP_GELU:
        return tn_vf_gelu(a);
    case TN_LOOP_GELU_TANH:
        return tn_vf_gelu_tanh(a);
    case TN_LOOP_ELU:
        return tn_vf_select(tn_vf_lt(a, zero), tn_vf_mul(x, tn_vf_expm1(a)), a);
    case TN_LOOP_SOFTPLUS:
        return tn_vf_softplus(a);
    case TN_LOOP_AFFINE:
        return tn_vf_fma(x, a, y);
    default:
        return a;
    }
}

#endif
