// SPDX-License-Identifier: Apache-2.0
// A small vocabulary of float vectors: one vector is tn_vf (TN_VL floats), a comparison is tn_vm. A file that is compiled for an
// ISA includes this and gets the vectors of that ISA; the bodies written on it are compiled once per ISA.
//   tn_vf_maxq, tn_vf_minq   when either operand is NaN the result is b: put the value whose NaN must survive second
//   tn_vf_fma           a * b + c, one rounding where the ISA has it
//   *_n              the first n lanes only (1 <= n <= TN_VL): nothing past them is read (lanes are 0) or written
// Only for files with an ISA suffix (or *_portable): two of them must never share a symbol. Ownership: none. Threads: any.
#ifndef TN_VEC_H
#define TN_VEC_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#define TN_INLINE static inline __attribute__((always_inline))

#if defined(__AVX512F__) && defined(__AVX512DQ__)
#include "kernels/simd/vec_avx512.h"
#elif defined(__AVX2__) && defined(__FMA__)
#include "kernels/simd/vec_avx2.h"
#else
#include "kernels/simd/vec_portable.h"
#endif

#include "kernels/simd/vec_math.h"

#endif
