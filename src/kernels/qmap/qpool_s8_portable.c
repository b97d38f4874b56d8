// SPDX-License-Identifier: Apache-2.0
// Pooling of bytes, portable tier: the body of qpool_s8.inc.
// Ownership: const data. Threads: any.
#include "kernels/qmap/qpool_s8.inc"

static const tn_kernel rows[] = {TN_QPOOL_ROWS(portable, TN_IMPL_PORTABLE, 0)};
TN_EXPORT_KERNELS(qpool_s8_portable, rows);
