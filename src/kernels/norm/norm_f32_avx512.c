// SPDX-License-Identifier: Apache-2.0
// Normalisations of f32, avx512 tier: the body of norm_f32.inc.
// Ownership: const data. Threads: any.
#include "kernels/norm/norm_f32.inc"

static const tn_kernel rows[] = {TN_NORM_ROWS(avx512, TN_IMPL_AVX512, TN_CPU_AVX512)};
TN_EXPORT_KERNELS(norm_f32_avx512, rows);
