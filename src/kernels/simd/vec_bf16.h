// SPDX-License-Identifier: Apache-2.0
// Vectors of floats from and to bf16, the upper halves of floats, for files of tiers with AVX512-BF16. Rounding is to nearest, ties to even;
// numbers below the normal range become zeros.
// Ownership: none. Threads: any.
#ifndef TN_VEC_BF16_H
#define TN_VEC_BF16_H

#include "kernels/simd/vec.h"

#define TN_BF16_LINE 32   // elements of a pixel in NCHW32B

TN_INLINE tn_vf tn_vf_from_bf16(__m256i v) { return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(v), 16)); }
TN_INLINE tn_vf tn_vf_load_bf16(const uint16_t *p) { return tn_vf_from_bf16(_mm256_loadu_si256((const void *)p)); }
TN_INLINE void tn_vf_store_bf16(uint16_t *p, tn_vf v) { _mm256_storeu_si256((void *)p, (__m256i)_mm512_cvtneps_pbh(v)); }

// The first n lanes, and nothing past them.
TN_INLINE tn_vf tn_vf_load_bf16_n(const uint16_t *p, int n) { return tn_vf_from_bf16(_mm256_maskz_loadu_epi16(tn_vm_first(n), p)); }
TN_INLINE void tn_vf_store_bf16_n(uint16_t *p, tn_vf v, int n) { _mm256_mask_storeu_epi16(p, tn_vm_first(n), (__m256i)_mm512_cvtneps_pbh(v)); }

// 32 neighbours: `low` goes first.
TN_INLINE void tn_vf_store_line(uint16_t *p, tn_vf low, tn_vf high) { _mm512_storeu_si512(p, (__m512i)_mm512_cvtne2ps_pbh(high, low)); }

// Lanes that are not `there` become zeros.
TN_INLINE tn_vf tn_vf_keep(tn_vm there, tn_vf v) { return _mm512_maskz_mov_ps(there, v); }

#endif
