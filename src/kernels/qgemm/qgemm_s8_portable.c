// SPDX-License-Identifier: Apache-2.0
// Products of matrices of bytes, portable tier: the body of qgemm_s8.inc.
// Ownership: const data. Threads: any.
#include "kernels/qgemm/qgemm_s8.inc"

static const tn_kernel rows[] = {TN_QGEMM_ROWS(portable, TN_IMPL_PORTABLE, 0)};
TN_EXPORT_KERNELS(qgemm_s8_portable, rows);
