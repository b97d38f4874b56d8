// SPDX-License-Identifier: Apache-2.0
// Normalisations of f32, portable tier: the body of norm_f32.inc.
// Ownership: const data. Threads: any.
#include "kernels/norm/norm_f32.inc"

static const tn_kernel rows[] = {TN_NORM_ROWS(portable, TN_IMPL_PORTABLE, 0)};
TN_EXPORT_KERNELS(norm_f32_portable, rows);
