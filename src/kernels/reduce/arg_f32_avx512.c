// SPDX-License-Identifier: Apache-2.0
// arg_max and arg_min of f32, avx512 tier: the body of arg_f32.inc.
// Ownership: const data. Threads: any.
#include "kernels/reduce/arg_f32.inc"

static const tn_kernel rows[] = {TN_ARG_ROWS(avx512, TN_IMPL_AVX512, TN_CPU_AVX512)};
TN_EXPORT_KERNELS(arg_f32_avx512, rows);
