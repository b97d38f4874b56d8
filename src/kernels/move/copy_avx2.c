// SPDX-License-Identifier: Apache-2.0
// Copies of strided boxes, avx2 tier: the body of copy.inc.
// Ownership: const data. Threads: any.
#include "kernels/move/copy.inc"

static const tn_kernel rows[] = {
    TN_COPY_ROW("", PLAIN, PLAIN, avx2, TN_IMPL_AVX2, TN_CPU_AVX2),
    TN_COPY_BLOCKED(NCHW8C, "nchw8c", avx2, TN_IMPL_AVX2, TN_CPU_AVX2),
    TN_COPY_BLOCKED(NCHW16C, "nchw16c", avx2, TN_IMPL_AVX2, TN_CPU_AVX2),
};
TN_EXPORT_KERNELS(copy_avx2, rows);
