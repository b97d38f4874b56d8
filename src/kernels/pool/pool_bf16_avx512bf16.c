// SPDX-License-Identifier: Apache-2.0
// Pooling of bf16 in NCHW32B, avx512bf16 tier: the body of pool_f32.inc, whose arithmetic is float32.
// Ownership: const data. Threads: any.
#define TN_POOL_BF16

#include "kernels/pool/pool_f32.inc"

static const tn_kernel rows[] = {
    TN_POOL_BLOCKED(NCHW32B, "nchw32b_", avx512bf16, TN_IMPL_AVX512BF16, TN_CPU_AVX512 | TN_CPU_AVX512BF16 | TN_CPU_BF16_WEIGHTS),
};
TN_EXPORT_KERNELS(pool_bf16_avx512bf16, rows);
