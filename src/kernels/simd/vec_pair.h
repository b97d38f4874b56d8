// SPDX-License-Identifier: Apache-2.0
// Integers for the kernels of quantised arithmetic, over vec.h: pairs of int16 side by side, whose products are added in int32 as every
// vector unit does it in one or two instructions, exactly (modulo 2^32).
//
//   tn_vp   TN_VL pairs of int16        dot(acc, a, b)   acc + a.low * b.low + a.high * b.high in each lane
//
// Only for files with the name of a tier at their end. Ownership: none. Threads: any.
#ifndef TN_VEC_PAIR_H
#define TN_VEC_PAIR_H

#include "base/requant.h"
#include "kernels/simd/vec.h"

TN_INLINE tn_vi tn_vi_load_i32(const int32_t *p) { return tn_vf_bits(tn_vf_load((const float *)(const void *)p)); }
TN_INLINE void tn_vi_store_i32(int32_t *p, tn_vi v) { tn_vf_store((float *)(void *)p, tn_vf_from_bits(v)); }

// Says that v may have changed, which costs nothing: gcc then adds to accumulators where they are, instead of copying each round its loop
// (1.7 times the speed), and reads what is loaded once only once.
#if defined(__AVX2__)
#define TN_VI_KEEP(v) __asm__("" : "+v"(v))
#else
#define TN_VI_KEEP(v) ((void)(v))
#endif

#if defined(__AVX512BW__)
typedef __m512i tn_vp;
TN_INLINE tn_vp tn_vp_load(const int16_t *p) { return _mm512_loadu_si512(p); }
TN_INLINE tn_vp tn_vp_set(const int16_t *p)
{
    int32_t pair;
    memcpy(&pair, p, sizeof pair);
    return _mm512_set1_epi32(pair);
}
#if defined(__AVX512VNNI__)
TN_INLINE tn_vi tn_vp_dot(tn_vi acc, tn_vp a, tn_vp b) { return _mm512_dpwssd_epi32(acc, a, b); }
#else
TN_INLINE tn_vi tn_vp_dot(tn_vi acc, tn_vp a, tn_vp b) { return _mm512_add_epi32(acc, _mm512_madd_epi16(a, b)); }
#endif
#elif defined(__AVX2__)
typedef __m256i tn_vp;
TN_INLINE tn_vp tn_vp_load(const int16_t *p) { return _mm256_loadu_si256((const __m256i *)(const void *)p); }
TN_INLINE tn_vp tn_vp_set(const int16_t *p)
{
    int32_t pair;
    memcpy(&pair, p, sizeof pair);
    return _mm256_set1_epi32(pair);
}
TN_INLINE tn_vi tn_vp_dot(tn_vi acc, tn_vp a, tn_vp b) { return _mm256_add_epi32(acc, _mm256_madd_epi16(a, b)); }
#else
typedef tn_vi tn_vp;
TN_INLINE tn_vp tn_vp_load(const int16_t *p)
{
    tn_vp v;
    memcpy(&v, p, sizeof v);
    return v;
}
TN_INLINE tn_vp tn_vp_set(const int16_t *p)
{
    int32_t pair;
    memcpy(&pair, p, sizeof pair);
    return tn_vi_set(pair);
}
// Each half of a lane with its sign; the products of two int16 fit, their sum wraps.
TN_INLINE tn_vi tn_vp_dot(tn_vi acc, tn_vp a, tn_vp b)
{
    const tn_vi low = (tn_vi_shl(a, 16) >> 16) * (tn_vi_shl(b, 16) >> 16), high = (a >> 16) * (b >> 16);
    return tn_vi_add(acc, tn_vi_add(low, high));
}
#endif

// ---- bytes to pairs ----

#if defined(__AVX2__)
// to[i] = {a[i], b[i]} - zeros[i] for sixteen bytes of each.
TN_INLINE void tn_pair_bytes(const uint8_t *a, const uint8_t *b, bool is_signed, const int16_t *zeros, int16_t *to)
{
    const __m128i first = _mm_loadu_si128((const __m128i *)(const void *)a), second = _mm_loadu_si128((const __m128i *)(const void *)b);
    const __m128i low = _mm_unpacklo_epi8(first, second), high = _mm_unpackhi_epi8(first, second);
    const __m256i l = is_signed ? _mm256_cvtepi8_epi16(low) : _mm256_cvtepu8_epi16(low);
    const __m256i h = is_signed ? _mm256_cvtepi8_epi16(high) : _mm256_cvtepu8_epi16(high);
    const __m256i *zero = (const __m256i *)(const void *)zeros;
    _mm256_storeu_si256((__m256i *)(void *)to, _mm256_sub_epi16(l, _mm256_loadu_si256(zero)));
    _mm256_storeu_si256((__m256i *)(void *)(to + 16), _mm256_sub_epi16(h, _mm256_loadu_si256(zero + 1)));
}
#else
TN_INLINE void tn_pair_bytes(const uint8_t *a, const uint8_t *b, bool is_signed, const int16_t *zeros, int16_t *to)
{
    for (int i = 0; i < 16; i++) {
        to[2 * i] = (int16_t)((is_signed ? (int8_t)a[i] : a[i]) - zeros[2 * i]);
        to[2 * i + 1] = (int16_t)((is_signed ? (int8_t)b[i] : b[i]) - zeros[2 * i + 1]);
    }
}
#endif

// Lane i is the pair {b[picks[2 i]], b[picks[2 i + 1]]} of the 16 bytes b from starts[i / 8] of the row on. (Portable: starts[0] alone, as
// lanes are fewer than eight.)
#if defined(__AVX512BW__)
TN_INLINE tn_vp tn_vp_pick(const uint8_t *row, const int32_t *starts, const uint8_t *picks, bool is_signed)
{
    const __m128i low = _mm_loadu_si128((const __m128i *)(const void *)(row + starts[0]));
    const __m128i high = _mm_loadu_si128((const __m128i *)(const void *)(row + starts[1]));
    const __m256i bytes = _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
    const __m256i pairs = _mm256_shuffle_epi8(bytes, _mm256_loadu_si256((const __m256i *)(const void *)picks));
    return is_signed ? _mm512_cvtepi8_epi16(pairs) : _mm512_cvtepu8_epi16(pairs);
}
#elif defined(__AVX2__)
TN_INLINE tn_vp tn_vp_pick(const uint8_t *row, const int32_t *starts, const uint8_t *picks, bool is_signed)
{
    const __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)(row + starts[0]));
    const __m128i pairs = _mm_shuffle_epi8(bytes, _mm_loadu_si128((const __m128i *)(const void *)picks));
    return is_signed ? _mm256_cvtepi8_epi16(pairs) : _mm256_cvtepu8_epi16(pairs);
}
#else
TN_INLINE tn_vp tn_vp_pick(const uint8_t *row, const int32_t *starts, const uint8_t *picks, bool is_signed)
{
    int16_t pairs[2 * TN_VL];
    for (int i = 0; i < 2 * TN_VL; i++) {
        const uint8_t byte = row[starts[0] + picks[i]];
        pairs[i] = (int16_t)(is_signed ? (int8_t)byte : byte);
    }
    return tn_vp_load(pairs);
}
#endif

// to[i] = bytes[i] - zero
TN_INLINE void tn_widen_bytes(const uint8_t *bytes, int64_t count, bool is_signed, int16_t zero, int16_t *restrict to)
{
    if (is_signed) {
        for (int64_t i = 0; i < count; i++) {
            to[i] = (int16_t)((int8_t)bytes[i] - zero);
        }
    } else {
        for (int64_t i = 0; i < count; i++) {
            to[i] = (int16_t)(bytes[i] - zero);
        }
    }
}

// ---- sums to bytes ----

// As tn_requant_rne, then + zero and bounds. The factor is finite; bounds are those of a byte, so that they do for the bound of the
// rounding too.
TN_INLINE tn_vi tn_vi_requant(tn_vi sum, tn_vf scale, tn_vf zero, tn_vf low, tn_vf high)
{
    const tn_vf v = tn_vf_add(tn_vf_round(tn_vf_mul(tn_vi_to_vf(sum), scale)), zero);
    return tn_vf_to_vi(tn_vf_maxq(tn_vf_minq(v, high), low));
}

// TN_REQUANT_RUN bytes of tn_vi_requant at once, from sums + bias. Bounds and the zero point are taken in 16 and 8 bits, whose saturation
// changes nothing: what saturates is out of bounds. is_signed: of the bytes; bias: TN_VL of them, or `step` 0 and one for all.
#if defined(__AVX2__) && !defined(__AVX512BW__)
#define TN_REQUANT_RUN 32
TN_INLINE void tn_requant_bytes(const int32_t *sums, const int32_t *bias, int step, tn_vf scale, int16_t zero, uint8_t low, uint8_t high,
                                bool is_signed, uint8_t *y)
{
    // Beyond 2^22 nothing is within bounds; conversion gives the least integer below its range.
    const __m256 most = _mm256_set1_ps((float)TN_REQUANT_BOUND);
    __m256i v[4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        const __m256i shift = step ? tn_vi_load_i32(bias + 8 * i) : _mm256_set1_epi32(*bias);
        const __m256 sum = _mm256_cvtepi32_ps(_mm256_add_epi32(tn_vi_load_i32(sums + 8 * i), shift));
        v[i] = _mm256_cvtps_epi32(_mm256_min_ps(_mm256_mul_ps(sum, scale), most));
    }
    const __m256i zeros = _mm256_set1_epi16(zero), least = _mm256_set1_epi8((char)low), greatest = _mm256_set1_epi8((char)high);
    const __m256i a = _mm256_adds_epi16(_mm256_packs_epi32(v[0], v[1]), zeros), b = _mm256_adds_epi16(_mm256_packs_epi32(v[2], v[3]), zeros);
    const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    __m256i bytes;
    if (is_signed) {
        bytes = _mm256_max_epi8(_mm256_min_epi8(_mm256_packs_epi16(a, b), greatest), least);
    } else {
        bytes = _mm256_max_epu8(_mm256_min_epu8(_mm256_packus_epi16(a, b), greatest), least);
    }
    _mm256_storeu_si256((__m256i *)(void *)y, _mm256_permutevar8x32_epi32(bytes, order));
}
#else
#define TN_REQUANT_RUN TN_VL
TN_INLINE void tn_requant_bytes(const int32_t *sums, const int32_t *bias, int step, tn_vf scale, int16_t zero, uint8_t low, uint8_t high,
                                bool is_signed, uint8_t *y)
{
    const tn_vi sum = tn_vi_add(tn_vi_load_i32(sums), step ? tn_vi_load_i32(bias) : tn_vi_set(*bias));
    tn_vi_store_8(y, tn_vi_requant(sum, scale, tn_vf_set((float)zero), tn_vf_set((float)(is_signed ? (int8_t)low : low)),
                                   tn_vf_set((float)(is_signed ? (int8_t)high : high))));
}
#endif

// The low 32 bits of products; as tn_q31_mul, but for INT32_MIN times itself; and tn_q31_shift.
#if defined(__AVX512BW__)
TN_INLINE tn_vi tn_vi_mul(tn_vi a, tn_vi b) { return _mm512_mullo_epi32(a, b); }

TN_INLINE tn_vi tn_vi_q31_mul(tn_vi a, tn_vi b)
{
    const __m512i half = _mm512_set1_epi64(INT64_C(1) << 30);
    const __m512i even = _mm512_add_epi64(_mm512_mul_epi32(a, b), half);
    const __m512i odd = _mm512_add_epi64(_mm512_mul_epi32(_mm512_srli_epi64(a, 32), _mm512_srli_epi64(b, 32)), half);
    return _mm512_mask_blend_epi32(0xaaaa, _mm512_srli_epi64(even, 31), _mm512_slli_epi64(odd, 1));
}

TN_INLINE tn_vi tn_vi_q31_shift(tn_vi v, int32_t right)
{
    const int32_t mask = (int32_t)((INT64_C(1) << right) - 1);
    const __m512i rest = _mm512_and_si512(v, _mm512_set1_epi32(mask));
    const __m512i middle = _mm512_sub_epi32(_mm512_set1_epi32(mask >> 1), _mm512_srai_epi32(v, 31));
    const __m512i up = _mm512_maskz_set1_epi32(_mm512_cmpgt_epi32_mask(rest, middle), 1);
    return _mm512_add_epi32(_mm512_sra_epi32(v, _mm_cvtsi32_si128(right)), up);
}

TN_INLINE tn_vi tn_vi_bounded(tn_vi v, int32_t low, int32_t high)
{
    return _mm512_max_epi32(_mm512_min_epi32(v, _mm512_set1_epi32(high)), _mm512_set1_epi32(low));
}
#elif defined(__AVX2__)
TN_INLINE tn_vi tn_vi_mul(tn_vi a, tn_vi b) { return _mm256_mullo_epi32(a, b); }

TN_INLINE tn_vi tn_vi_q31_mul(tn_vi a, tn_vi b)
{
    const __m256i half = _mm256_set1_epi64x(INT64_C(1) << 30);
    const __m256i even = _mm256_add_epi64(_mm256_mul_epi32(a, b), half);
    const __m256i odd = _mm256_add_epi64(_mm256_mul_epi32(_mm256_srli_epi64(a, 32), _mm256_srli_epi64(b, 32)), half);
    return _mm256_blend_epi32(_mm256_srli_epi64(even, 31), _mm256_slli_epi64(odd, 1), 0xaa);
}

TN_INLINE tn_vi tn_vi_q31_shift(tn_vi v, int32_t right)
{
    const int32_t mask = (int32_t)((INT64_C(1) << right) - 1);
    const __m256i rest = _mm256_and_si256(v, _mm256_set1_epi32(mask));
    const __m256i middle = _mm256_sub_epi32(_mm256_set1_epi32(mask >> 1), _mm256_srai_epi32(v, 31));
    return _mm256_sub_epi32(_mm256_sra_epi32(v, _mm_cvtsi32_si128(right)), _mm256_cmpgt_epi32(rest, middle));
}

TN_INLINE tn_vi tn_vi_bounded(tn_vi v, int32_t low, int32_t high)
{
    return _mm256_max_epi32(_mm256_min_epi32(v, _mm256_set1_epi32(high)), _mm256_set1_epi32(low));
}
#else
TN_INLINE tn_vi tn_vi_mul(tn_vi a, tn_vi b) { return (tn_vi)((tn_vu)a * (tn_vu)b); }

TN_INLINE tn_vi tn_vi_q31_mul(tn_vi a, tn_vi b)
{
    for (int i = 0; i < TN_VL; i++) {
        a[i] = tn_q31_mul(a[i], b[i]);
    }
    return a;
}

TN_INLINE tn_vi tn_vi_q31_shift(tn_vi v, int32_t right)
{
    for (int i = 0; i < TN_VL; i++) {
        v[i] = tn_q31_shift(v[i], right);
    }
    return v;
}

TN_INLINE tn_vi tn_vi_bounded(tn_vi v, int32_t low, int32_t high)
{
    for (int i = 0; i < TN_VL; i++) {
        v[i] = tn_clamp_i32(v[i], low, high);
    }
    return v;
}
#endif

// As tn_requant_q31 for 0 <= right <= 31 and no shift to the left, then + zero and bounds.
TN_INLINE tn_vi tn_vi_requant_q31(tn_vi sum, int32_t multiplier, int32_t right, int32_t zero, int32_t low, int32_t high)
{
    const tn_vi v = tn_vi_bounded(tn_vi_q31_shift(tn_vi_q31_mul(sum, tn_vi_set(multiplier)), right), -(1 << 30), 1 << 30);
    return tn_vi_bounded(tn_vi_add(v, tn_vi_set(zero)), low, high);
}

#endif
