// SPDX-License-Identifier: Apache-2.0
// Linear resizing of bytes, portable tier: the body of qresize_s8.inc.
// Ownership: const data. Threads: any.
#include "kernels/resize/qresize_s8.inc"

static const tn_kernel rows[] = {TN_QRESIZE_ROW(portable, TN_IMPL_PORTABLE, 0)};
TN_EXPORT_KERNELS(qresize_s8_portable, rows);
