// SPDX-License-Identifier: Apache-2.0
// Pooling of bytes, avx512 tier: the body of qpool_s8.inc.
// Ownership: const data. Threads: any.
#include "kernels/qmap/qpool_s8.inc"

static const tn_kernel rows[] = {TN_QPOOL_ROWS(avx512, TN_IMPL_AVX512, TN_CPU_AVX512)};
TN_EXPORT_KERNELS(qpool_s8_avx512, rows);
