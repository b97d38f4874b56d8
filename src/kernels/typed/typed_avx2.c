// SPDX-License-Identifier: Apache-2.0
// Comparisons, logic, choice and casts, avx2 tier: the loops of typed.inc.
// Ownership: const data. Threads: any.
#include "kernels/typed/typed.inc"

static const tn_kernel rows[] = {TN_TYPED_ROWS(avx2, TN_IMPL_AVX2, TN_CPU_AVX2)};
TN_EXPORT_KERNELS(typed_avx2, rows);
