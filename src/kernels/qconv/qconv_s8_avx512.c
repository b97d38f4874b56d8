// SPDX-License-Identifier: Apache-2.0
// Convolution of bytes, avx512 tier: the body of qconv_s8.inc.
// Ownership: const data. Threads: any.
#include "kernels/qconv/qconv_s8.inc"

static const tn_kernel rows[] = {TN_QCONV_ROWS(avx512, TN_IMPL_AVX512, TN_CPU_AVX512)};
TN_EXPORT_KERNELS(qconv_s8_avx512, rows);
