// SPDX-License-Identifier: Apache-2.0
// softmax and log_softmax on f32, portable tier: the body of softmax_f32.inc.
// Ownership: const data. Threads: any.
#include "kernels/softmax/softmax_f32.inc"

static const tn_kernel rows[] = {TN_SOFTMAX_ROWS(portable, TN_IMPL_PORTABLE, 0)};
TN_EXPORT_KERNELS(softmax_f32_portable, rows);
