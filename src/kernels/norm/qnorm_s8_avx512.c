// SPDX-License-Identifier: Apache-2.0
// Layer normalisation of bytes, avx512 tier: the body of qnorm_s8.inc.
// Ownership: const data. Threads: any.
#include "kernels/norm/qnorm_s8.inc"

static const tn_kernel rows[] = {TN_QNORM_ROW(avx512, TN_IMPL_AVX512, TN_CPU_AVX512)};
TN_EXPORT_KERNELS(qnorm_s8_avx512, rows);
