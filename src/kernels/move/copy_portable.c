// SPDX-License-Identifier: Apache-2.0
// Copies of strided boxes, portable tier: the body of copy.inc.
// Ownership: const data. Threads: any.
#include "kernels/move/copy.inc"

static const tn_kernel rows[] = {
    TN_COPY_ROW("", PLAIN, PLAIN, portable, TN_IMPL_PORTABLE, 0),
    TN_COPY_BLOCKED(NCHW8C, "nchw8c", portable, TN_IMPL_PORTABLE, 0),
    TN_COPY_BLOCKED(NCHW16C, "nchw16c", portable, TN_IMPL_PORTABLE, 0),
};
TN_EXPORT_KERNELS(copy_portable, rows);
