// SPDX-License-Identifier: Apache-2.0
// Layout conversion of 4-byte elements, avx512 tier: the body of relayout_b32.inc.
// Ownership: const data. Threads: any.
#include "ops/move/op_relayout.h"

#include "kernels/layout/relayout_b32.inc"

static const tn_kernel rows[] = {TN_RELAYOUT_ROW(avx512, TN_IMPL_AVX512, TN_CPU_AVX512)};
TN_EXPORT_KERNELS(relayout_b32_avx512, rows);
