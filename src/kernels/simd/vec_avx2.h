// SPDX-License-Identifier: Apache-2.0
// The vocabulary of vec.h for AVX2 with FMA: eight lanes.
// Ownership: none. Threads: any.
#ifndef TN_VEC_AVX2_H
#define TN_VEC_AVX2_H

#include <immintrin.h>

#define TN_VL 8
#define TN_VF_FUSED 1

typedef __m256 tn_vf;
typedef __m256i tn_vi;
typedef __m256 tn_vm;   // all bits of a lane alike

// ---- memory ----

// Lanes below n are all ones: what the masked moves want.
TN_INLINE __m256i tn_vm_first(int n)
{
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

TN_INLINE tn_vf tn_vf_load(const float *p) { return _mm256_loadu_ps(p); }
TN_INLINE void tn_vf_store(float *p, tn_vf v) { _mm256_storeu_ps(p, v); }
TN_INLINE void tn_vf_stream(float *p, tn_vf v) { _mm256_stream_ps(p, v); }
TN_INLINE void tn_stream_end(void) { _mm_sfence(); }
TN_INLINE tn_vf tn_vf_load_n(const float *p, int n) { return _mm256_maskload_ps(p, tn_vm_first(n)); }
// Lanes from n on are those of v.
TN_INLINE tn_vf tn_vf_load_or(const float *p, int n, tn_vf v)
{
    const __m256i first = tn_vm_first(n);
    return _mm256_blendv_ps(v, _mm256_maskload_ps(p, first), _mm256_castsi256_ps(first));
}

TN_INLINE void tn_vf_store_n(float *p, tn_vf v, int n) { _mm256_maskstore_ps(p, tn_vm_first(n), v); }

// Lane i is p[index[i]]; lanes from n on are 0 and their indices are not read.
TN_INLINE tn_vf tn_vf_gather_n(const float *p, const int32_t *index, int n)
{
    const __m256i first = tn_vm_first(n);
    return _mm256_mask_i32gather_ps(_mm256_setzero_ps(), p, _mm256_maskload_epi32(index, first), _mm256_castsi256_ps(first), 4);
}

// Bytes widened to int32, and the low byte of each lane.
TN_INLINE tn_vi tn_vi_load_i8_n(const int8_t *p, int n)
{
    int64_t bytes = 0;
    memcpy(&bytes, p, (size_t)n);
    return _mm256_cvtepi8_epi32(_mm_cvtsi64_si128(bytes));
}

TN_INLINE tn_vi tn_vi_load_u8_n(const uint8_t *p, int n)
{
    int64_t bytes = 0;
    memcpy(&bytes, p, (size_t)n);
    return _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(bytes));
}

TN_INLINE void tn_vi_store_8_n(void *p, tn_vi v, int n)
{
    // The low bytes of a half's four lanes come together in its first four bytes.
    const __m256i pick = _mm256_setr_epi8(0, 4, 8, 12, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 0, 4, 8, 12, -1, -1, -1, -1,
                                          -1, -1, -1, -1, -1, -1, -1, -1);
    const __m256i low = _mm256_shuffle_epi8(v, pick);
    const __m128i both = _mm_unpacklo_epi32(_mm256_castsi256_si128(low), _mm256_extracti128_si256(low, 1));
    const int64_t bytes = _mm_cvtsi128_si64(both);
    memcpy(p, &bytes, (size_t)n);
}

TN_INLINE tn_vi tn_vi_load_i8(const int8_t *p) { return tn_vi_load_i8_n(p, TN_VL); }
TN_INLINE tn_vi tn_vi_load_u8(const uint8_t *p) { return tn_vi_load_u8_n(p, TN_VL); }
TN_INLINE void tn_vi_store_8(void *p, tn_vi v) { tn_vi_store_8_n(p, v, TN_VL); }

// ---- integers, bits ----

TN_INLINE tn_vi tn_vi_set(int32_t x) { return _mm256_set1_epi32(x); }
TN_INLINE tn_vi tn_vi_add(tn_vi a, tn_vi b) { return _mm256_add_epi32(a, b); }
TN_INLINE tn_vi tn_vi_sub(tn_vi a, tn_vi b) { return _mm256_sub_epi32(a, b); }
TN_INLINE tn_vi tn_vi_and(tn_vi a, tn_vi b) { return _mm256_and_si256(a, b); }
TN_INLINE tn_vi tn_vi_or(tn_vi a, tn_vi b) { return _mm256_or_si256(a, b); }
TN_INLINE tn_vi tn_vi_shl(tn_vi a, int n) { return _mm256_slli_epi32(a, n); }
TN_INLINE tn_vi tn_vi_shr(tn_vi a, int n) { return _mm256_srai_epi32(a, n); }
TN_INLINE tn_vi tn_vf_bits(tn_vf v) { return _mm256_castps_si256(v); }
TN_INLINE tn_vf tn_vf_from_bits(tn_vi v) { return _mm256_castsi256_ps(v); }

// ---- compares ----

TN_INLINE tn_vm tn_vf_lt(tn_vf a, tn_vf b) { return _mm256_cmp_ps(a, b, _CMP_LT_OQ); }
TN_INLINE tn_vm tn_vf_le(tn_vf a, tn_vf b) { return _mm256_cmp_ps(a, b, _CMP_LE_OQ); }
TN_INLINE tn_vm tn_vf_eq(tn_vf a, tn_vf b) { return _mm256_cmp_ps(a, b, _CMP_EQ_OQ); }
TN_INLINE tn_vm tn_vf_nan(tn_vf a) { return _mm256_cmp_ps(a, a, _CMP_UNORD_Q); }
TN_INLINE tn_vm tn_vm_and(tn_vm a, tn_vm b) { return _mm256_and_ps(a, b); }
TN_INLINE tn_vm tn_vm_or(tn_vm a, tn_vm b) { return _mm256_or_ps(a, b); }
TN_INLINE tn_vf tn_vf_select(tn_vm m, tn_vf yes, tn_vf no) { return _mm256_blendv_ps(no, yes, m); }

// ---- arithmetic ----

TN_INLINE tn_vf tn_vf_zero(void) { return _mm256_setzero_ps(); }
TN_INLINE tn_vf tn_vf_set(float x) { return _mm256_set1_ps(x); }
TN_INLINE tn_vf tn_vf_add(tn_vf a, tn_vf b) { return _mm256_add_ps(a, b); }
TN_INLINE tn_vf tn_vf_sub(tn_vf a, tn_vf b) { return _mm256_sub_ps(a, b); }
TN_INLINE tn_vf tn_vf_mul(tn_vf a, tn_vf b) { return _mm256_mul_ps(a, b); }
TN_INLINE tn_vf tn_vf_div(tn_vf a, tn_vf b) { return _mm256_div_ps(a, b); }
TN_INLINE tn_vf tn_vf_fma(tn_vf a, tn_vf b, tn_vf c) { return _mm256_fmadd_ps(a, b, c); }
// sum + a b in the register of sum. Left to choose among the three forms, compilers put it into another one in long unrolled code, and
// then move or spill sums.
TN_INLINE tn_vf tn_vf_fma_sum(tn_vf sum, tn_vf a, tn_vf b)
{
    __asm__("vfmadd231ps %2, %1, %0" : "+x"(sum) : "x"(a), "x"(b));
    return sum;
}
TN_INLINE tn_vf tn_vf_minq(tn_vf a, tn_vf b) { return _mm256_min_ps(a, b); }
TN_INLINE tn_vf tn_vf_maxq(tn_vf a, tn_vf b) { return _mm256_max_ps(a, b); }
TN_INLINE tn_vf tn_vf_abs(tn_vf a) { return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), a); }
TN_INLINE tn_vf tn_vf_neg(tn_vf a) { return _mm256_xor_ps(_mm256_set1_ps(-0.0f), a); }

// |a| with the sign of s.
TN_INLINE tn_vf tn_vf_copysign(tn_vf a, tn_vf s)
{
    const __m256 sign = _mm256_set1_ps(-0.0f);
    return _mm256_or_ps(_mm256_andnot_ps(sign, a), _mm256_and_ps(sign, s));
}

TN_INLINE tn_vf tn_vf_sqrt(tn_vf a) { return _mm256_sqrt_ps(a); }
TN_INLINE tn_vf tn_vf_round(tn_vf a) { return _mm256_round_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }
TN_INLINE tn_vf tn_vf_floor(tn_vf a) { return _mm256_floor_ps(a); }
TN_INLINE tn_vf tn_vf_ceil(tn_vf a) { return _mm256_ceil_ps(a); }
TN_INLINE tn_vi tn_vf_to_vi(tn_vf a) { return _mm256_cvtps_epi32(a); }
TN_INLINE tn_vf tn_vi_to_vf(tn_vi a) { return _mm256_cvtepi32_ps(a); }

// In two factors, so that neither leaves the range of normal numbers.
TN_INLINE tn_vf tn_vf_scale(tn_vf v, tn_vf n)
{
    const __m256i bias = _mm256_set1_epi32(127), all = _mm256_cvtps_epi32(n), half = _mm256_srai_epi32(all, 1);
    const __m256i rest = _mm256_sub_epi32(all, half);
    const __m256 first = _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(half, bias), 23));
    const __m256 second = _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(rest, bias), 23));
    return _mm256_mul_ps(_mm256_mul_ps(v, first), second);
}

// ---- across lanes ----

TN_INLINE tn_vf tn_vf_permute(tn_vf v, tn_vi index) { return _mm256_permutevar8x32_ps(v, index); }

TN_INLINE float tn_vf_sum(tn_vf a)
{
    __m128 v = _mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    v = _mm_add_ps(v, _mm_movehl_ps(v, v));
    return _mm_cvtss_f32(_mm_add_ss(v, _mm_movehdup_ps(v)));
}

TN_INLINE float tn_vf_hmax(tn_vf a)
{
    __m128 v = _mm_max_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    v = _mm_max_ps(v, _mm_movehl_ps(v, v));
    return _mm_cvtss_f32(_mm_max_ss(v, _mm_movehdup_ps(v)));
}

TN_INLINE float tn_vf_hmin(tn_vf a)
{
    __m128 v = _mm_min_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    v = _mm_min_ps(v, _mm_movehl_ps(v, v));
    return _mm_cvtss_f32(_mm_min_ss(v, _mm_movehdup_ps(v)));
}

// Lane j of r[i] and lane i of r[j] change places: pairs of lanes, then fours, then halves of registers.
TN_INLINE void tn_vf_transpose(tn_vf r[TN_VL])
{
    __m256 t[8], u[8];
    for (int i = 0; i < 8; i += 2) {
        t[i] = _mm256_unpacklo_ps(r[i], r[i + 1]);
        t[i + 1] = _mm256_unpackhi_ps(r[i], r[i + 1]);
    }
    for (int i = 0; i < 8; i += 4) {
        u[i] = _mm256_shuffle_ps(t[i], t[i + 2], 0x44);
        u[i + 1] = _mm256_shuffle_ps(t[i], t[i + 2], 0xee);
        u[i + 2] = _mm256_shuffle_ps(t[i + 1], t[i + 3], 0x44);
        u[i + 3] = _mm256_shuffle_ps(t[i + 1], t[i + 3], 0xee);
    }
    for (int i = 0; i < 4; i++) {
        r[i] = _mm256_permute2f128_ps(u[i], u[i + 4], 0x20);
        r[i + 4] = _mm256_permute2f128_ps(u[i], u[i + 4], 0x31);
    }
}

// Lane j of r[i] is rows[j][i]. Halves of registers are put together by the loads, which leaves two thirds of the shuffles.
TN_INLINE void tn_vf_load_square(tn_vf r[TN_VL], const float *const rows[TN_VL])
{
    __m256 h[8], t[8];
    for (int i = 0; i < 4; i++) {
        h[i] = _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(rows[i])), _mm_loadu_ps(rows[i + 4]), 1);
        h[i + 4] = _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(rows[i] + 4)), _mm_loadu_ps(rows[i + 4] + 4), 1);
    }
    for (int i = 0; i < 8; i += 2) {
        t[i] = _mm256_unpacklo_ps(h[i], h[i + 1]);
        t[i + 1] = _mm256_unpackhi_ps(h[i], h[i + 1]);
    }
    for (int i = 0; i < 8; i += 4) {
        r[i] = _mm256_shuffle_ps(t[i], t[i + 2], 0x44);
        r[i + 1] = _mm256_shuffle_ps(t[i], t[i + 2], 0xee);
        r[i + 2] = _mm256_shuffle_ps(t[i + 1], t[i + 3], 0x44);
        r[i + 3] = _mm256_shuffle_ps(t[i + 1], t[i + 3], 0xee);
    }
}

#endif
