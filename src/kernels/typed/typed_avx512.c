// SPDX-License-Identifier: Apache-2.0
// Comparisons, logic, choice and casts, avx512 tier: the loops of typed.inc.
// Ownership: const data. Threads: any.
#include "kernels/typed/typed.inc"

static const tn_kernel rows[] = {TN_TYPED_ROWS(avx512, TN_IMPL_AVX512, TN_CPU_AVX512)};
TN_EXPORT_KERNELS(typed_avx512, rows);
