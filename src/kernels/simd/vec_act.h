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

TN_INLINE tn_vf tn_vf_gelu(tn_vf a)
{
    const tn_vf half = tn_vf_mul(a, tn_vf_set(0.5f));
    return tn_vf_fma(half, tn_vf_erf(tn_vf_mul(a, tn_vf_set(0.707106781f))), half);
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
        return tn_vf_mul(a, tn_vf_sigmoid(a));
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
