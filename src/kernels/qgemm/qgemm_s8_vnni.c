// SPDX-License-Identifier: Apache-2.0
// Products of matrices of bytes, vnni tier: the body of qgemm_s8.inc.
// Ownership: const data. Threads: any.
#include "kernels/qgemm/qgemm_s8.inc"

static const tn_kernel rows[] = {TN_QGEMM_ROWS(vnni, TN_IMPL_VNNI, TN_CPU_AVX512 | TN_CPU_VNNI)};
TN_EXPORT_KERNELS(qgemm_s8_vnni, rows);
