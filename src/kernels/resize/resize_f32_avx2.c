// SPDX-License-Identifier: Apache-2.0
// Resizing f32 images, avx2 tier: the body of resize_f32.inc.
// Ownership: const data. Threads: any.
#include "kernels/resize/resize_f32.inc"

static const tn_kernel rows[] = {
    TN_RESIZE_ROW("", PLAIN, avx2, TN_IMPL_AVX2, TN_CPU_AVX2),
    TN_RESIZE_ROW("nchw8c_", NCHW8C, avx2, TN_IMPL_AVX2, TN_CPU_AVX2),
    TN_RESIZE_ROW("nchw16c_", NCHW16C, avx2, TN_IMPL_AVX2, TN_CPU_AVX2),
};
TN_EXPORT_KERNELS(resize_f32_avx2, rows);
