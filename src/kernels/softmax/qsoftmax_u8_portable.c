// SPDX-License-Identifier: Apache-2.0
// Softmax of bytes, portable tier: the body of qsoftmax_u8.inc.
// Ownership: const data. Threads: any.
#include "kernels/softmax/qsoftmax_u8.inc"

static const tn_kernel rows[] = {TN_QSOFTMAX_ROW(portable, TN_IMPL_PORTABLE, 0)};
TN_EXPORT_KERNELS(qsoftmax_u8_portable, rows);
