// SPDX-License-Identifier: Apache-2.0
// The vector vocabulary on AVX2 and FMA: 8 lanes, comparisons as full-width masks, tails by masked moves.
// Included by vec.h only. Ownership: none. Threads: any.
#ifndef TN_VEC_AVX2_H
#define TN_VEC_AVX2_H

#include <immintrin.h>

#define VF_LANES 8

typedef __m256 vf;
typedef __m256 vm;

TN_INLINE __m256i vm_first(int n)
{
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

TN_INLINE vf vf_zero(void) { return _mm256_setzero_ps(); }
TN_INLINE vf vf_set(float x) { return _mm256_set1_ps(x); }
TN_INLINE vf vf_load(const float *p) { return _mm256_loadu_ps(p); }
TN_INLINE void vf_store(float *p, vf v) { _mm256_storeu_ps(p, v); }
TN_INLINE vf vf_load_n(const float *p, int n) { return _mm256_maskload_ps(p, vm_first(n)); }
TN_INLINE void vf_store_n(float *p, vf v, int n) { _mm256_maskstore_ps(p, vm_first(n), v); }

TN_INLINE vf vf_add(vf a, vf b) { return _mm256_add_ps(a, b); }
TN_INLINE vf vf_sub(vf a, vf b) { return _mm256_sub_ps(a, b); }
TN_INLINE vf vf_mul(vf a, vf b) { return _mm256_mul_ps(a, b); }
TN_INLINE vf vf_div(vf a, vf b) { return _mm256_div_ps(a, b); }
TN_INLINE vf vf_fma(vf a, vf b, vf c) { return _mm256_fmadd_ps(a, b, c); }
TN_INLINE vf vf_max(vf a, vf b) { return _mm256_max_ps(a, b); }
TN_INLINE vf vf_min(vf a, vf b) { return _mm256_min_ps(a, b); }
TN_INLINE vf vf_abs(vf a) { return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), a); }
TN_INLINE vf vf_neg(vf a) { return _mm256_xor_ps(a, _mm256_set1_ps(-0.0f)); }
TN_INLINE vf vf_sqrt(vf a) { return _mm256_sqrt_ps(a); }
TN_INLINE vf vf_round(vf a) { return _mm256_round_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }
TN_INLINE vf vf_floor(vf a) { return _mm256_floor_ps(a); }
TN_INLINE vf vf_ceil(vf a) { return _mm256_ceil_ps(a); }

// Magnitude of a, sign of b.
TN_INLINE vf vf_sign(vf a, vf b) { return _mm256_or_ps(vf_abs(a), _mm256_and_ps(b, _mm256_set1_ps(-0.0f))); }

// 2^n for integral n in -126 .. 127, by its bits.
TN_INLINE vf vf_power_of_two(__m256i n)
{
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(n, _mm256_set1_epi32(127)), 23));
}

// a * 2^n for integral |n| <= 252: in two steps, so that results may be denormal or overflow to infinity.
TN_INLINE vf vf_scale(vf a, vf n)
{
    const __m256i whole = _mm256_cvtps_epi32(n);
    const __m256i half = _mm256_srai_epi32(whole, 1);
    return vf_mul(vf_mul(a, vf_power_of_two(half)), vf_power_of_two(_mm256_sub_epi32(whole, half)));
}

TN_INLINE vm vf_lt(vf a, vf b) { return _mm256_cmp_ps(a, b, _CMP_LT_OQ); }
TN_INLINE vm vf_le(vf a, vf b) { return _mm256_cmp_ps(a, b, _CMP_LE_OQ); }
TN_INLINE vm vf_eq(vf a, vf b) { return _mm256_cmp_ps(a, b, _CMP_EQ_OQ); }

// Lane by lane: m ? a : b.
TN_INLINE vf vf_select(vm m, vf a, vf b) { return _mm256_blendv_ps(b, a, m); }

// The order of additions is fixed: halves, quarters, ...
TN_INLINE float vf_sum(vf a)
{
    __m128 s = _mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    s = _mm_add_ps(s, _mm_movehl_ps(s, s));
    return _mm_cvtss_f32(_mm_add_ss(s, _mm_movehdup_ps(s)));
}

#endif
