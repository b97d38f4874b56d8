// SPDX-License-Identifier: Apache-2.0
// Convolution of bytes, portable tier: the body of qconv_s8.inc.
// Ownership: const data. Threads: any.
#include "kernels/qconv/qconv_s8.inc"

static const tn_kernel rows[] = {TN_QCONV_ROWS(portable, TN_IMPL_PORTABLE, 0)};
TN_EXPORT_KERNELS(qconv_s8_portable, rows);
