// SPDX-License-Identifier: Apache-2.0
// Layout conversion of 4-byte elements, portable tier: the body of relayout_b32.inc.
// Ownership: const data. Threads: any.
#include "ops/move/op_relayout.h"

#include "kernels/layout/relayout_b32.inc"

static const tn_kernel rows[] = {TN_RELAYOUT_ROW(portable, TN_IMPL_PORTABLE, 0)};
TN_EXPORT_KERNELS(relayout_b32_portable, rows);
