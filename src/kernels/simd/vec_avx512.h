// SPDX-License-Identifier: Apache-2.0
// The vector vocabulary on AVX-512 (F, DQ, BW, VL): 16 lanes, comparisons in mask registers, tails by masks.
// Included by vec.h only. Ownership: none. Threads: any.
#ifndef TN_VEC_AVX512_H
#define TN_VEC_AVX512_H

#include <immintrin.h>

#define TN_VL 16

typedef __m512 tn_vf;
typedef __mmask16 tn_vm;

TN_INLINE tn_vm tn_vm_first(int n) { return (tn_vm)((1u << n) - 1); }

TN_INLINE tn_vf tn_vf_zero(void) { return _mm512_setzero_ps(); }
TN_INLINE tn_vf tn_vf_set(float x) { return _mm512_set1_ps(x); }
TN_INLINE tn_vf tn_vf_load(const float *p) { return _mm512_loadu_ps(p); }
TN_INLINE void tn_vf_store(float *p, tn_vf v) { _mm512_storeu_ps(p, v); }
TN_INLINE tn_vf tn_vf_load_n(const float *p, int n) { return _mm512_maskz_loadu_ps(tn_vm_first(n), p); }
TN_INLINE void tn_vf_store_n(float *p, tn_vf v, int n) { _mm512_mask_storeu_ps(p, tn_vm_first(n), v); }

TN_INLINE tn_vf tn_vf_add(tn_vf a, tn_vf b) { return _mm512_add_ps(a, b); }
TN_INLINE tn_vf tn_vf_sub(tn_vf a, tn_vf b) { return _mm512_sub_ps(a, b); }
TN_INLINE tn_vf tn_vf_mul(tn_vf a, tn_vf b) { return _mm512_mul_ps(a, b); }
TN_INLINE tn_vf tn_vf_div(tn_vf a, tn_vf b) { return _mm512_div_ps(a, b); }
TN_INLINE tn_vf tn_vf_fma(tn_vf a, tn_vf b, tn_vf c) { return _mm512_fmadd_ps(a, b, c); }
TN_INLINE tn_vf tn_vf_maxq(tn_vf a, tn_vf b) { return _mm512_max_ps(a, b); }
TN_INLINE tn_vf tn_vf_minq(tn_vf a, tn_vf b) { return _mm512_min_ps(a, b); }
TN_INLINE tn_vf tn_vf_abs(tn_vf a) { return _mm512_abs_ps(a); }
TN_INLINE tn_vf tn_vf_neg(tn_vf a) { return _mm512_xor_ps(a, _mm512_set1_ps(-0.0f)); }
TN_INLINE tn_vf tn_vf_sqrt(tn_vf a) { return _mm512_sqrt_ps(a); }
TN_INLINE tn_vf tn_vf_round(tn_vf a) { return _mm512_roundscale_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }
TN_INLINE tn_vf tn_vf_floor(tn_vf a) { return _mm512_roundscale_ps(a, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC); }
TN_INLINE tn_vf tn_vf_ceil(tn_vf a) { return _mm512_roundscale_ps(a, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC); }

// Magnitude of a, sign of b.
TN_INLINE tn_vf tn_vf_copysign(tn_vf a, tn_vf b) { return _mm512_or_ps(tn_vf_abs(a), _mm512_and_ps(b, _mm512_set1_ps(-0.0f))); }

// a * 2^n for integral n: gradual underflow, overflow to infinity.
TN_INLINE tn_vf tn_vf_scale(tn_vf a, tn_vf n) { return _mm512_scalef_ps(a, n); }

TN_INLINE tn_vm tn_vf_lt(tn_vf a, tn_vf b) { return _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ); }
TN_INLINE tn_vm tn_vf_le(tn_vf a, tn_vf b) { return _mm512_cmp_ps_mask(a, b, _CMP_LE_OQ); }
TN_INLINE tn_vm tn_vf_eq(tn_vf a, tn_vf b) { return _mm512_cmp_ps_mask(a, b, _CMP_EQ_OQ); }

// Lane by lane: m ? a : b.
TN_INLINE tn_vf tn_vf_select(tn_vm m, tn_vf a, tn_vf b) { return _mm512_mask_blend_ps(m, b, a); }

// The order of additions is fixed: halves, quarters, ...
TN_INLINE float tn_vf_sum(tn_vf a) { return _mm512_reduce_add_ps(a); }

#endif
