// SPDX-License-Identifier: Apache-2.0
// Resizing f32 images, avx512 tier: the body of resize_f32.inc.
// Ownership: const data. Threads: any.
#include "kernels/resize/resize_f32.inc"

static const tn_kernel rows[] = {
    TN_RESIZE_ROW("", PLAIN, avx512, TN_IMPL_AVX512, TN_CPU_AVX512),
    TN_RESIZE_ROW("nchw16c_", NCHW16C, avx512, TN_IMPL_AVX512, TN_CPU_AVX512),
};
TN_EXPORT_KERNELS(resize_f32_avx512, rows);
