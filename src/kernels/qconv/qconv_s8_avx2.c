// SPDX-License-Identifier: Apache-2.0
// Convolution of bytes, avx2 tier: the body of qconv_s8.inc.
// Ownership: const data. Threads: any.
#include "kernels/qconv/qconv_s8.inc"

static const tn_kernel rows[] = {TN_QCONV_ROWS(avx2, TN_IMPL_AVX2, TN_CPU_AVX2)};
TN_EXPORT_KERNELS(qconv_s8_avx2, rows);
