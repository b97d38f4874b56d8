// SPDX-License-Identifier: Apache-2.0
// Copies of strided boxes, avx512 tier: the body of copy.inc.
// Ownership: const data. Threads: any.
#include "kernels/move/copy.inc"

static const tn_kernel rows[] = {
    TN_COPY_ROW("", PLAIN, PLAIN, avx512, TN_IMPL_AVX512, TN_CPU_AVX512),
    TN_COPY_BLOCKED(NCHW8C, "nchw8c", avx512, TN_IMPL_AVX512, TN_CPU_AVX512),
    TN_COPY_BLOCKED(NCHW16C, "nchw16c", avx512, TN_IMPL_AVX512, TN_CPU_AVX512),
};
TN_EXPORT_KERNELS(copy_avx512, rows);
