// SPDX-License-Identifier: Apache-2.0
// Quantisation between f32 and 8-bit integers, avx2 tier: the body of quantize_f32.inc.
// Ownership: const data. Threads: any.
#include "kernels/quant/quantize_f32.inc"

static const tn_kernel rows[] = {TN_QUANTIZE_ROWS(avx2, TN_IMPL_AVX2, TN_CPU_AVX2)};
TN_EXPORT_KERNELS(quantize_f32_avx2, rows);
