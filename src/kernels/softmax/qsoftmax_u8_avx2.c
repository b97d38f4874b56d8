// SPDX-License-Identifier: Apache-2.0
// Softmax of bytes, avx2 tier: the body of qsoftmax_u8.inc.
// Ownership: const data. Threads: any.
#include "kernels/softmax/qsoftmax_u8.inc"

static const tn_kernel rows[] = {TN_QSOFTMAX_ROW(avx2, TN_IMPL_AVX2, TN_CPU_AVX2)};
TN_EXPORT_KERNELS(qsoftmax_u8_avx2, rows);
