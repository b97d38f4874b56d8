// SPDX-License-Identifier: Apache-2.0
// Quantisation between f32 and 8-bit integers, portable tier: the body of quantize_f32.inc.
// Ownership: const data. Threads: any.
#include "kernels/quant/quantize_f32.inc"

static const tn_kernel rows[] = {TN_QUANTIZE_ROWS(portable, TN_IMPL_PORTABLE, 0)};
TN_EXPORT_KERNELS(quantize_f32_portable, rows);
