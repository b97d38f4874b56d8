// SPDX-License-Identifier: Apache-2.0
// Reductions of f32, portable tier: the body of reduce_f32.inc.
// Ownership: const data. Threads: any.
#include "kernels/reduce/reduce_f32.inc"

static const tn_kernel rows[] = {TN_REDUCE_ROWS(portable, TN_IMPL_PORTABLE, 0)};
TN_EXPORT_KERNELS(reduce_f32_portable, rows);
