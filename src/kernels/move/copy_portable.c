// SPDX-License-Identifier: Apache-2.0
// Copies of strided boxes, portable tier: the body of copy.inc.
// Ownership: const data. Threads: any.
#include "kernels/move/copy.inc"

static const tn_kernel rows[] = {TN_COPY_ROW(portable, TN_IMPL_PORTABLE, 0)};
TN_EXPORT_KERNELS(copy_portable, rows);
