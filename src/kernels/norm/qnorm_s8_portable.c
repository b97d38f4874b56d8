// SPDX-License-Identifier: Apache-2.0
// Layer normalisation of bytes, portable tier: the body of qnorm_s8.inc.
// Ownership: const data. Threads: any.
#include "kernels/norm/qnorm_s8.inc"

static const tn_kernel rows[] = {TN_QNORM_ROW(portable, TN_IMPL_PORTABLE, 0)};
TN_EXPORT_KERNELS(qnorm_s8_portable, rows);
