// SPDX-License-Identifier: Apache-2.0
// Quantisation between f32 and 8-bit integers, avx512 tier: the body of quantize_f32.inc.
// Ownership: const data. Threads: any.
#include "kernels/quant/quantize_f32.inc"

static const tn_kernel rows[] = {TN_QUANTIZE_ROWS(avx512, TN_IMPL_AVX512, TN_CPU_AVX512)};
TN_EXPORT_KERNELS(quantize_f32_avx512, rows);
