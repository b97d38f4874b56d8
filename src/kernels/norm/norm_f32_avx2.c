// SPDX-License-Identifier: Apache-2.0
// Normalisations of f32, avx2 tier: the body of norm_f32.inc.
// Ownership: const data. Threads: any.
#include "kernels/norm/norm_f32.inc"

static const tn_kernel rows[] = {TN_NORM_ROWS(avx2, TN_IMPL_AVX2, TN_CPU_AVX2)};
TN_EXPORT_KERNELS(norm_f32_avx2, rows);
