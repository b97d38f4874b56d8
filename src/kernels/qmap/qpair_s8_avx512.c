// SPDX-License-Identifier: Apache-2.0
// Quantised sums and products of two, avx512 tier: the body of qpair_s8.inc.
// Ownership: const data. Threads: any.
#include "kernels/qmap/qpair_s8.inc"

static const tn_kernel rows[] = {TN_QPAIR_ROWS(avx512, TN_IMPL_AVX512, TN_CPU_AVX512)};
TN_EXPORT_KERNELS(qpair_s8_avx512, rows);
