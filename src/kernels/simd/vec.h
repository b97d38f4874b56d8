// SPDX-License-Identifier: Apache-2.0
// A small vocabulary of float vectors: one vector is vf (VF_LANES floats), a comparison is vm. A file that is compiled for an
// ISA includes this and gets the vectors of that ISA; the bodies written on it are compiled once per ISA.
//   vf_max, vf_min   when either operand is NaN the result is b: put the value whose NaN must survive second
//   vf_fma           a * b + c, one rounding where the ISA has it
//   *_n              the first n lanes only (1 <= n <= VF_LANES): nothing past them is read (lanes are 0) or written
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
