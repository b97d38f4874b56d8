// SPDX-License-Identifier: Apache-2.0
// Linear resizing of bytes, avx512 tier: the body of qresize_s8.inc.
// Ownership: const data. Threads: any.
#include "kernels/resize/qresize_s8.inc"

static const tn_kernel rows[] = {TN_QRESIZE_ROW(avx512, TN_IMPL_AVX512, TN_CPU_AVX512)};
TN_EXPORT_KERNELS(qresize_s8_avx512, rows);
