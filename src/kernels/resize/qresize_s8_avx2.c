// SPDX-License-Identifier: Apache-2.0
// Linear resizing of bytes, avx2 tier: the body of qresize_s8.inc.
// Ownership: const data. Threads: any.
#include "kernels/resize/qresize_s8.inc"

static const tn_kernel rows[] = {TN_QRESIZE_ROW(avx2, TN_IMPL_AVX2, TN_CPU_AVX2)};
TN_EXPORT_KERNELS(qresize_s8_avx2, rows);
