// SPDX-License-Identifier: Apache-2.0
// The vector vocabulary on AVX2 and FMA: 8 lanes, comparisons as full-width masks, tails by masked moves.
// Included by vec.h only. Ownership: none. Threads: any.
#ifndef TN_VEC_AVX2_H
#define TN_VEC_AVX2_H

#include <immintrin.h>

#define TN_VL 8

typedef __m256 tn_vf;
typedef __m256 tn_vm;

TN_INLINE __m256i tn_vm_first(int n)
{
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

TN_INLINE tn_vf tn_vf_zero(void) { return _mm256_setzero_ps(); }
TN_INLINE tn_vf tn_vf_set(float x) { return _mm256_set1_ps(x); }
TN_INLINE tn_vf tn_vf_load(const float *p) { return _mm256_loadu_ps(p); }
TN_INLINE void tn_vf_store(float *p, tn_vf v) { _mm256_storeu_ps(p, v); }
TN_INLINE tn_vf tn_vf_load_n(const float *p, int n) { return _mm256_maskload_ps(p, tn_vm_first(n)); }
TN_INLINE void tn_vf_store_n(float *p, tn_vf v, int n) { _mm256_maskstore_ps(p, tn_vm_first(n), v); }

TN_INLINE tn_vf tn_vf_add(tn_vf a, tn_vf b) { return _mm256_add_ps(a, b); }
TN_INLINE tn_vf tn_vf_sub(tn_vf a, tn_vf b) { return _mm256_sub_ps(a, b); }
TN_INLINE tn_vf tn_vf_mul(tn_vf a, tn_vf b) { return _mm256_mul_ps(a, b); }
TN_INLINE tn_vf tn_vf_div(tn_vf a, tn_vf b) { return _mm256_div_ps(a, b); }
TN_INLINE tn_vf tn_vf_fma(tn_vf a, tn_vf b, tn_vf c) { return _mm256_fmadd_ps(a, b, c); }
TN_INLINE tn_vf tn_vf_maxq(tn_vf a, tn_vf b) { return _mm256_max_ps(a, b); }
TN_INLINE tn_vf tn_vf_minq(tn_vf a, tn_vf b) { return _mm256_min_ps(a, b); }
TN_INLINE tn_vf tn_vf_abs(tn_vf a) { return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), a); }
TN_INLINE tn_vf tn_vf_neg(tn_vf a) { return _mm256_xor_ps(a, _mm256_set1_ps(-0.0f)); }
TN_INLINE tn_vf tn_vf_sqrt(tn_vf a) { return _mm256_sqrt_ps(a); }
TN_INLINE tn_vf tn_vf_round(tn_vf a) { return _mm256_round_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }
TN_INLINE tn_vf tn_vf_floor(tn_vf a) { return _mm256_floor_ps(a); }
TN_INLINE tn_vf tn_vf_ceil(tn_vf a) { return _mm256_ceil_ps(a); }

// Magnitude of a, sign of b.
TN_INLINE tn_vf tn_vf_copysign(tn_vf a, tn_vf b) { return _mm256_or_ps(tn_vf_abs(a), _mm256_and_ps(b, _mm256_set1_ps(-0.0f))); }

// 2^n for integral n in -126 .. 127, by its bits.
TN_INLINE tn_vf tn_vf_power_of_two(__m256i n)
{
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(n, _mm256_set1_epi32(127)), 23));
}

// a * 2^n for integral |n| <= 252: in two steps, so that results may be denormal or overflow to infinity.
TN_INLINE tn_vf tn_vf_scale(tn_vf a, tn_vf n)
{
    const __m256i whole = _mm256_cvtps_epi32(n);
    const __m256i half = _mm256_srai_epi32(whole, 1);
    return tn_vf_mul(tn_vf_mul(a, tn_vf_power_of_two(half)), tn_vf_power_of_two(_mm256_sub_epi32(whole, half)));
}

TN_INLINE tn_vm tn_vf_lt(tn_vf a, tn_vf b) { return _mm256_cmp_ps(a, b, _CMP_LT_OQ); }
TN_INLINE tn_vm tn_vf_le(tn_vf a, tn_vf b) { return _mm256_cmp_ps(a, b, _CMP_LE_OQ); }
TN_INLINE tn_vm tn_vf_eq(tn_vf a, tn_vf b) { return _mm256_cmp_ps(a, b, _CMP_EQ_OQ); }

// Lane by lane: m ? a : b.
TN_INLINE tn_vf tn_vf_select(tn_vm m, tn_vf a, tn_vf b) { return _mm256_blendv_ps(b, a, m); }

// The order of additions is fixed: halves, quarters, ...
TN_INLINE float tn_vf_sum(tn_vf a)
{
    __m128 s = _mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    s = _mm_add_ps(s, _mm_movehl_ps(s, s));
    return _mm_cvtss_f32(_mm_add_ss(s, _mm_movehdup_ps(s)));
}

#endif
