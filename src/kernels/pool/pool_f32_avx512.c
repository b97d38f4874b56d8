// SPDX-License-Identifier: Apache-2.0
// Pooling on f32, avx512 tier: the body of pool_f32.inc.
// Ownership: const data. Threads: any.
#include "kernels/pool/pool_f32.inc"

static const tn_kernel rows[] = {
    TN_POOL_PLAIN(avx512, TN_IMPL_AVX512, TN_CPU_AVX512),
    TN_POOL_BLOCKED(NCHW16C, "nchw16c_", avx512, TN_IMPL_AVX512, TN_CPU_AVX512),
};
TN_EXPORT_KERNELS(pool_f32_avx512, rows);
