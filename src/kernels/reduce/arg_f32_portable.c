// SPDX-License-Identifier: Apache-2.0
// arg_max and arg_min of f32, portable tier: the body of arg_f32.inc.
// Ownership: const data. Threads: any.
#include "kernels/reduce/arg_f32.inc"

static const tn_kernel rows[] = {TN_ARG_ROWS(portable, TN_IMPL_PORTABLE, 0)};
TN_EXPORT_KERNELS(arg_f32_portable, rows);
