// SPDX-License-Identifier: Apache-2.0
// Reductions of f32, avx512 tier: the body of reduce_f32.inc.
// Ownership: const data. Threads: any.
#include "kernels/reduce/reduce_f32.inc"

static const tn_kernel rows[] = {TN_REDUCE_ROWS(avx512, TN_IMPL_AVX512, TN_CPU_AVX512)};
TN_EXPORT_KERNELS(reduce_f32_avx512, rows);
