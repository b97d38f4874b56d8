// SPDX-License-Identifier: Apache-2.0
// The vector vocabulary on AVX-512 (F, DQ, BW, VL): 16 lanes, comparisons in mask registers, tails by masks.
// Included by vec.h only. Ownership: none. Threads: any.
#ifndef TN_VEC_AVX512_H
#define TN_VEC_AVX512_H

#include <immintrin.h>

#define VF_LANES 16

typedef __m512 vf;
typedef __mmask16 vm;

TN_INLINE vm vm_first(int n) { return (vm)((1u << n) - 1); }

TN_INLINE vf vf_zero(void) { return _mm512_setzero_ps(); }
TN_INLINE vf vf_set(float x) { return _mm512_set1_ps(x); }
TN_INLINE vf vf_load(const float *p) { return _mm512_loadu_ps(p); }
TN_INLINE void vf_store(float *p, vf v) { _mm512_storeu_ps(p, v); }
TN_INLINE vf vf_load_n(const float *p, int n) { return _mm512_maskz_loadu_ps(vm_first(n), p); }
TN_INLINE void vf_store_n(float *p, vf v, int n) { _mm512_mask_storeu_ps(p, vm_first(n), v); }

TN_INLINE vf vf_add(vf a, vf b) { return _mm512_add_ps(a, b); }
TN_INLINE vf vf_sub(vf a, vf b) { return _mm512_sub_ps(a, b); }
TN_INLINE vf vf_mul(vf a, vf b) { return _mm512_mul_ps(a, b); }
TN_INLINE vf vf_div(vf a, vf b) { return _mm512_div_ps(a, b); }
TN_INLINE vf vf_fma(vf a, vf b, vf c) { return _mm512_fmadd_ps(a, b, c); }
TN_INLINE vf vf_max(vf a, vf b) { return _mm512_max_ps(a, b); }
TN_INLINE vf vf_min(vf a, vf b) { return _mm512_min_ps(a, b); }
TN_INLINE vf vf_abs(vf a) { return _mm512_abs_ps(a); }
TN_INLINE vf vf_neg(vf a) { return _mm512_xor_ps(a, _mm512_set1_ps(-0.0f)); }
TN_INLINE vf vf_sqrt(vf a) { return _mm512_sqrt_ps(a); }
TN_INLINE vf vf_round(vf a) { return _mm512_roundscale_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }
TN_INLINE vf vf_floor(vf a) { return _mm512_roundscale_ps(a, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC); }
TN_INLINE vf vf_ceil(vf a) { return _mm512_roundscale_ps(a, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC); }

// Magnitude of a, sign of b.
TN_INLINE vf vf_sign(vf a, vf b) { return _mm512_or_ps(vf_abs(a), _mm512_and_ps(b, _mm512_set1_ps(-0.0f))); }

// a * 2^n for integral n: gradual underflow, overflow to infinity.
TN_INLINE vf vf_scale(vf a, vf n) { return _mm512_scalef_ps(a, n); }

TN_INLINE vm vf_lt(vf a, vf b) { return _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ); }
TN_INLINE vm vf_le(vf a, vf b) { return _mm512_cmp_ps_mask(a, b, _CMP_LE_OQ); }
TN_INLINE vm vf_eq(vf a, vf b) { return _mm512_cmp_ps_mask(a, b, _CMP_EQ_OQ); }

// Lane by lane: m ? a : b.
TN_INLINE vf vf_select(vm m, vf a, vf b) { return _mm512_mask_blend_ps(m, b, a); }

// The order of additions is fixed: halves, quarters, ...
TN_INLINE float vf_sum(vf a) { return _mm512_reduce_add_ps(a); }

#endif
