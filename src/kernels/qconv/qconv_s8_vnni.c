// SPDX-License-Identifier: Apache-2.0
// Convolution of bytes, vnni tier: the body of qconv_s8.inc.
// Ownership: const data. Threads: any.
#include "kernels/qconv/qconv_s8.inc"

static const tn_kernel rows[] = {TN_QCONV_ROWS(vnni, TN_IMPL_VNNI, TN_CPU_AVX512 | TN_CPU_VNNI)};
TN_EXPORT_KERNELS(qconv_s8_vnni, rows);
