// SPDX-License-Identifier: Apache-2.0
// Quantised sums and products of two, portable tier: the body of qpair_s8.inc.
// Ownership: const data. Threads: any.
#include "kernels/qmap/qpair_s8.inc"

static const tn_kernel rows[] = {TN_QPAIR_ROWS(portable, TN_IMPL_PORTABLE, 0)};
TN_EXPORT_KERNELS(qpair_s8_portable, rows);
