// SPDX-License-Identifier: Apache-2.0
// Pooling on f32, portable tier: the body of pool_f32.inc.
// Ownership: const data. Threads: any.
#include "kernels/pool/pool_f32.inc"

static const tn_kernel rows[] = {
    TN_POOL_PLAIN(portable, TN_IMPL_PORTABLE, 0),
    TN_POOL_BLOCKED(NCHW8C, "nchw8c_", portable, TN_IMPL_PORTABLE, 0),
    TN_POOL_BLOCKED(NCHW16C, "nchw16c_", portable, TN_IMPL_PORTABLE, 0),
};
TN_EXPORT_KERNELS(pool_f32_portable, rows);
