// SPDX-License-Identifier: Apache-2.0
// Products of matrices of bytes, avx2 tier: the body of qgemm_s8.inc.
// Ownership: const data. Threads: any.
#include "kernels/qgemm/qgemm_s8.inc"

static const tn_kernel rows[] = {TN_QGEMM_ROWS(avx2, TN_IMPL_AVX2, TN_CPU_AVX2)};
TN_EXPORT_KERNELS(qgemm_s8_avx2, rows);
