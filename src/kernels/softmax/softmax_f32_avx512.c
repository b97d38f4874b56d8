// SPDX-License-Identifier: Apache-2.0
// softmax and log_softmax on f32, avx512 tier: the body of softmax_f32.inc.
// Ownership: const data. Threads: any.
#include "kernels/softmax/softmax_f32.inc"

static const tn_kernel rows[] = {TN_SOFTMAX_ROWS(avx512, TN_IMPL_AVX512, TN_CPU_AVX512)};
TN_EXPORT_KERNELS(softmax_f32_avx512, rows);
