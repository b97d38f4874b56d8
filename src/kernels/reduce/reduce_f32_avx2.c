// SPDX-License-Identifier: Apache-2.0
// Reductions of f32, avx2 tier: the body of reduce_f32.inc.
// Ownership: const data. Threads: any.
#include "kernels/reduce/reduce_f32.inc"

static const tn_kernel rows[] = {TN_REDUCE_ROWS(avx2, TN_IMPL_AVX2, TN_CPU_AVX2)};
TN_EXPORT_KERNELS(reduce_f32_avx2, rows);
