// SPDX-License-Identifier: Apache-2.0
// Copies of strided boxes, avx2 tier: the body of copy.inc.
// Ownership: const data. Threads: any.
#include "kernels/move/copy.inc"

static const tn_kernel rows[] = {TN_COPY_ROW(avx2, TN_IMPL_AVX2, TN_CPU_AVX2)};
TN_EXPORT_KERNELS(copy_avx2, rows);
