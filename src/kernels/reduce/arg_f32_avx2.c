// SPDX-License-Identifier: Apache-2.0
// arg_max and arg_min of f32, avx2 tier: the body of arg_f32.inc.
// Ownership: const data. Threads: any.
#include "kernels/reduce/arg_f32.inc"

static const tn_kernel rows[] = {TN_ARG_ROWS(avx2, TN_IMPL_AVX2, TN_CPU_AVX2)};
TN_EXPORT_KERNELS(arg_f32_avx2, rows);
