// SPDX-License-Identifier: Apache-2.0
// Copies of strided boxes between tensors in NCHW32B: the body of copy.inc, whose elements have two bytes then.
// Ownership: const data. Threads: any.
#include "kernels/move/copy.inc"

static const tn_kernel rows[] = {
    TN_COPY_LINES(avx512bf16, TN_IMPL_AVX512BF16, TN_CPU_AVX512 | TN_CPU_AVX512BF16 | TN_CPU_BF16_WEIGHTS),
};
TN_EXPORT_KERNELS(copy_avx512bf16, rows);
