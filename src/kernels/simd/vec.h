// SPDX-License-Identifier: Apache-2.0
// A small fixed vocabulary of float vectors, for kernels that are bound by memory and are written once for all instruction
// sets. This header picks the file of the tier that the including file is compiled for. TN_VL is the number of lanes.
//
//   tn_vf   TN_VL floats        tn_vi   TN_VL int32        tn_vm   TN_VL truth values (from compares)
//
//   load, store        any alignment of the element type            load_n, store_n   the first n lanes only, 0 <= n <= TN_VL:
//                                                                    nothing past them is touched; load_n fills with zeros
//   stream             a store past the caches, for results that do not fit in them: p is aligned to the vector; stream_end before
//                      anybody else may look
//   permute            lane i is v[index[i]], 0 <= index[i] < TN_VL (lanes with other indices: anything)
//   minq, maxq         b when either is NaN or both are zero: one instruction. minq(constant, x) keeps a NaN of x
//   min, max           NaN when either is NaN
//   fma                a * b + c: one rounding where the tier has it (TN_VF_FUSED), else two
//   round              to nearest, ties to even                      scale   v * 2^n, n integral, |n| <= 252, rounded once
//   to_vi              to nearest even; the value must fit in int32  to_vf   nearest
//   transpose          of TN_VL vectors in place                     load_square   the transpose of TN_VL rows from memory
//   sum, hmax, hmin    over the lanes, halving: the order is fixed by TN_VL (hmax, hmin: no NaN among the lanes)
//
// Only for files with the name of a tier at their end: each has its own copy of everything. Ownership: none. Threads: any.
#ifndef TN_VEC_H
#define TN_VEC_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#define TN_INLINE static inline __attribute__((always_inline))

#if defined(__AVX512F__)
#include "kernels/simd/vec_avx512.h"
#elif defined(__AVX2__)
#include "kernels/simd/vec_avx2.h"
#else
#include "kernels/simd/vec_portable.h"
#endif

#include "kernels/simd/vec_math.h"

#endif
