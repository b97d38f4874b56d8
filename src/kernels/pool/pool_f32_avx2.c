// SPDX-License-Identifier: Apache-2.0
// Pooling on f32, avx2 tier: the body of pool_f32.inc.
// Ownership: const data. Threads: any.
#include "kernels/pool/pool_f32.inc"

static const tn_kernel rows[] = {
    TN_POOL_PLAIN(avx2, TN_IMPL_AVX2, TN_CPU_AVX2),
    TN_POOL_BLOCKED(NCHW8C, "nchw8c_", avx2, TN_IMPL_AVX2, TN_CPU_AVX2),
    TN_POOL_BLOCKED(NCHW16C, "nchw16c_", avx2, TN_IMPL_AVX2, TN_CPU_AVX2),
};
TN_EXPORT_KERNELS(pool_f32_avx2, rows);
