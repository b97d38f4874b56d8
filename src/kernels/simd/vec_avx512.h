// SPDX-License-Identifier: Apache-2.0
// The vocabulary of vec.h for AVX-512 (F, BW, DQ, VL): sixteen lanes.
// Ownership: none. Threads: any.
#ifndef TN_VEC_AVX512_H
#define TN_VEC_AVX512_H

#include <immintrin.h>

#define TN_VL 16
#define TN_VF_FUSED 1

typedef __m512 tn_vf;
typedef __m512i tn_vi;
typedef __mmask16 tn_vm;

// ---- memory ----

TN_INLINE __mmask16 tn_vm_first(int n) { return (__mmask16)((1u << n) - 1u); }
TN_INLINE tn_vf tn_vf_load(const float *p) { return _mm512_loadu_ps(p); }
TN_INLINE void tn_vf_store(float *p, tn_vf v) { _mm512_storeu_ps(p, v); }
TN_INLINE void tn_vf_stream(float *p, tn_vf v) { _mm512_stream_ps(p, v); }
TN_INLINE void tn_stream_end(void) { _mm_sfence(); }
TN_INLINE tn_vf tn_vf_load_n(const float *p, int n) { return _mm512_maskz_loadu_ps(tn_vm_first(n), p); }
// Lanes from n on are those of v.
TN_INLINE tn_vf tn_vf_load_or(const float *p, int n, tn_vf v) { return _mm512_mask_loadu_ps(v, tn_vm_first(n), p); }
TN_INLINE void tn_vf_store_n(float *p, tn_vf v, int n) { _mm512_mask_storeu_ps(p, tn_vm_first(n), v); }

// Lane i is p[index[i]]; lanes from n on are 0 and their indices are not read.
TN_INLINE tn_vf tn_vf_gather_n(const float *p, const int32_t *index, int n)
{
    const __mmask16 first = tn_vm_first(n);
    return _mm512_mask_i32gather_ps(_mm512_setzero_ps(), first, _mm512_maskz_loadu_epi32(first, index), p, 4);
}

// Bytes widened to int32, and the low byte of each lane.
TN_INLINE tn_vi tn_vi_load_i8_n(const int8_t *p, int n) { return _mm512_cvtepi8_epi32(_mm_maskz_loadu_epi8(tn_vm_first(n), p)); }
TN_INLINE tn_vi tn_vi_load_u8_n(const uint8_t *p, int n) { return _mm512_cvtepu8_epi32(_mm_maskz_loadu_epi8(tn_vm_first(n), p)); }
TN_INLINE void tn_vi_store_8_n(void *p, tn_vi v, int n) { _mm_mask_storeu_epi8(p, tn_vm_first(n), _mm512_cvtepi32_epi8(v)); }
TN_INLINE tn_vi tn_vi_load_i8(const int8_t *p) { return _mm512_cvtepi8_epi32(_mm_loadu_si128((const void *)p)); }
TN_INLINE tn_vi tn_vi_load_u8(const uint8_t *p) { return _mm512_cvtepu8_epi32(_mm_loadu_si128((const void *)p)); }
TN_INLINE void tn_vi_store_8(void *p, tn_vi v) { _mm_storeu_si128(p, _mm512_cvtepi32_epi8(v)); }

// ---- integers, bits ----

TN_INLINE tn_vi tn_vi_set(int32_t x) { return _mm512_set1_epi32(x); }
TN_INLINE tn_vi tn_vi_add(tn_vi a, tn_vi b) { return _mm512_add_epi32(a, b); }
TN_INLINE tn_vi tn_vi_sub(tn_vi a, tn_vi b) { return _mm512_sub_epi32(a, b); }
TN_INLINE tn_vi tn_vi_and(tn_vi a, tn_vi b) { return _mm512_and_si512(a, b); }
TN_INLINE tn_vi tn_vi_or(tn_vi a, tn_vi b) { return _mm512_or_si512(a, b); }
TN_INLINE tn_vi tn_vi_shl(tn_vi a, int n) { return _mm512_slli_epi32(a, (unsigned)n); }
TN_INLINE tn_vi tn_vi_shr(tn_vi a, int n) { return _mm512_srai_epi32(a, (unsigned)n); }
TN_INLINE tn_vi tn_vf_bits(tn_vf v) { return _mm512_castps_si512(v); }
TN_INLINE tn_vf tn_vf_from_bits(tn_vi v) { return _mm512_castsi512_ps(v); }

// ---- compares ----

TN_INLINE tn_vm tn_vf_lt(tn_vf a, tn_vf b) { return _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ); }
TN_INLINE tn_vm tn_vf_le(tn_vf a, tn_vf b) { return _mm512_cmp_ps_mask(a, b, _CMP_LE_OQ); }
TN_INLINE tn_vm tn_vf_eq(tn_vf a, tn_vf b) { return _mm512_cmp_ps_mask(a, b, _CMP_EQ_OQ); }
TN_INLINE tn_vm tn_vf_nan(tn_vf a) { return _mm512_cmp_ps_mask(a, a, _CMP_UNORD_Q); }
TN_INLINE tn_vm tn_vm_and(tn_vm a, tn_vm b) { return (tn_vm)(a & b); }
TN_INLINE tn_vm tn_vm_or(tn_vm a, tn_vm b) { return (tn_vm)(a | b); }
TN_INLINE tn_vf tn_vf_select(tn_vm m, tn_vf yes, tn_vf no) { return _mm512_mask_blend_ps(m, no, yes); }

// ---- arithmetic ----

TN_INLINE tn_vf tn_vf_zero(void) { return _mm512_setzero_ps(); }
TN_INLINE tn_vf tn_vf_set(float x) { return _mm512_set1_ps(x); }
TN_INLINE tn_vf tn_vf_add(tn_vf a, tn_vf b) { return _mm512_add_ps(a, b); }
TN_INLINE tn_vf tn_vf_sub(tn_vf a, tn_vf b) { return _mm512_sub_ps(a, b); }
TN_INLINE tn_vf tn_vf_mul(tn_vf a, tn_vf b) { return _mm512_mul_ps(a, b); }
TN_INLINE tn_vf tn_vf_div(tn_vf a, tn_vf b) { return _mm512_div_ps(a, b); }
TN_INLINE tn_vf tn_vf_fma(tn_vf a, tn_vf b, tn_vf c) { return _mm512_fmadd_ps(a, b, c); }
// sum + a b in the register of sum: see vec_avx2.h.
TN_INLINE tn_vf tn_vf_fma_sum(tn_vf sum, tn_vf a, tn_vf b)
{
    __asm__("vfmadd231ps %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b));
    return sum;
}
TN_INLINE tn_vf tn_vf_minq(tn_vf a, tn_vf b) { return _mm512_min_ps(a, b); }
TN_INLINE tn_vf tn_vf_maxq(tn_vf a, tn_vf b) { return _mm512_max_ps(a, b); }
TN_INLINE tn_vf tn_vf_abs(tn_vf a) { return _mm512_andnot_ps(_mm512_set1_ps(-0.0f), a); }
TN_INLINE tn_vf tn_vf_neg(tn_vf a) { return _mm512_xor_ps(_mm512_set1_ps(-0.0f), a); }

// |a| with the sign of s.
TN_INLINE tn_vf tn_vf_copysign(tn_vf a, tn_vf s)
{
    // Truth table 0xca: where the first operand has ones the second, else the third.
    const __m512i sign = _mm512_set1_epi32(INT32_MIN);
    return _mm512_castsi512_ps(_mm512_ternarylogic_epi32(sign, _mm512_castps_si512(s), _mm512_castps_si512(a), 0xca));
}

TN_INLINE tn_vf tn_vf_sqrt(tn_vf a) { return _mm512_sqrt_ps(a); }
TN_INLINE tn_vf tn_vf_round(tn_vf a) { return _mm512_roundscale_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }
TN_INLINE tn_vf tn_vf_floor(tn_vf a) { return _mm512_roundscale_ps(a, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC); }
TN_INLINE tn_vf tn_vf_ceil(tn_vf a) { return _mm512_roundscale_ps(a, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC); }
TN_INLINE tn_vi tn_vf_to_vi(tn_vf a) { return _mm512_cvtps_epi32(a); }
TN_INLINE tn_vf tn_vi_to_vf(tn_vi a) { return _mm512_cvtepi32_ps(a); }
TN_INLINE tn_vf tn_vf_scale(tn_vf v, tn_vf n) { return _mm512_scalef_ps(v, n); }

// ---- across lanes ----

TN_INLINE tn_vf tn_vf_permute(tn_vf v, tn_vi index) { return _mm512_permutexvar_ps(index, v); }

TN_INLINE float tn_vf_sum(tn_vf a)
{
    const __m256 w = _mm256_add_ps(_mm512_castps512_ps256(a), _mm512_extractf32x8_ps(a, 1));
    __m128 v = _mm_add_ps(_mm256_castps256_ps128(w), _mm256_extractf128_ps(w, 1));
    v = _mm_add_ps(v, _mm_movehl_ps(v, v));
    return _mm_cvtss_f32(_mm_add_ss(v, _mm_movehdup_ps(v)));
}

TN_INLINE float tn_vf_hmax(tn_vf a)
{
    const __m256 w = _mm256_max_ps(_mm512_castps512_ps256(a), _mm512_extractf32x8_ps(a, 1));
    __m128 v = _mm_max_ps(_mm256_castps256_ps128(w), _mm256_extractf128_ps(w, 1));
    v = _mm_max_ps(v, _mm_movehl_ps(v, v));
    return _mm_cvtss_f32(_mm_max_ss(v, _mm_movehdup_ps(v)));
}

TN_INLINE float tn_vf_hmin(tn_vf a)
{
    const __m256 w = _mm256_min_ps(_mm512_castps512_ps256(a), _mm512_extractf32x8_ps(a, 1));
    __m128 v = _mm_min_ps(_mm256_castps256_ps128(w), _mm256_extractf128_ps(w, 1));
    v = _mm_min_ps(v, _mm_movehl_ps(v, v));
    return _mm_cvtss_f32(_mm_min_ss(v, _mm_movehdup_ps(v)));
}

// Lane j of r[i] and lane i of r[j] change places: pairs of lanes, then fours, then quarters of registers.
TN_INLINE void tn_vf_transpose(tn_vf r[TN_VL])
{
    __m512 t[16], u[16];
    for (int i = 0; i < 16; i += 2) {
        t[i] = _mm512_unpacklo_ps(r[i], r[i + 1]);
        t[i + 1] = _mm512_unpackhi_ps(r[i], r[i + 1]);
    }
    for (int i = 0; i < 16; i += 4) {
        u[i] = _mm512_shuffle_ps(t[i], t[i + 2], 0x44);
        u[i + 1] = _mm512_shuffle_ps(t[i], t[i + 2], 0xee);
        u[i + 2] = _mm512_shuffle_ps(t[i + 1], t[i + 3], 0x44);
        u[i + 3] = _mm512_shuffle_ps(t[i + 1], t[i + 3], 0xee);
    }
    // u[4 q + i] holds, in its quarter k, lanes 4 k + i of rows 4 q .. 4 q + 3.
    for (int i = 0; i < 4; i++) {
        const __m512 a = _mm512_shuffle_f32x4(u[i], u[4 + i], 0x88), b = _mm512_shuffle_f32x4(u[8 + i], u[12 + i], 0x88);
        const __m512 c = _mm512_shuffle_f32x4(u[i], u[4 + i], 0xdd), d = _mm512_shuffle_f32x4(u[8 + i], u[12 + i], 0xdd);
        r[i] = _mm512_shuffle_f32x4(a, b, 0x88);
        r[4 + i] = _mm512_shuffle_f32x4(c, d, 0x88);
        r[8 + i] = _mm512_shuffle_f32x4(a, b, 0xdd);
        r[12 + i] = _mm512_shuffle_f32x4(c, d, 0xdd);
    }
}

// Lane j of r[i] is rows[j][i].
TN_INLINE void tn_vf_load_square(tn_vf r[TN_VL], const float *const rows[TN_VL])
{
    for (int i = 0; i < TN_VL; i++) {
        r[i] = tn_vf_load(rows[i]);
    }
    tn_vf_transpose(r);
}

#endif
