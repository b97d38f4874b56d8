// SPDX-License-Identifier: Apache-2.0
// Comparisons, logic, choice and casts, portable tier: the loops of typed.inc.
// Ownership: const data. Threads: any.
#include "kernels/typed/typed.inc"

static const tn_kernel rows[] = {TN_TYPED_ROWS(portable, TN_IMPL_PORTABLE, 0)};
TN_EXPORT_KERNELS(typed_portable, rows);
