// SPDX-License-Identifier: Apache-2.0
// Resizing f32 images, portable tier: the body of resize_f32.inc.
// Ownership: const data. Threads: any.
#include "kernels/resize/resize_f32.inc"

static const tn_kernel rows[] = {
    TN_RESIZE_ROW("", PLAIN, portable, TN_IMPL_PORTABLE, 0),
    TN_RESIZE_ROW("nchw8c_", NCHW8C, portable, TN_IMPL_PORTABLE, 0),
    TN_RESIZE_ROW("nchw16c_", NCHW16C, portable, TN_IMPL_PORTABLE, 0),
};
TN_EXPORT_KERNELS(resize_f32_portable, rows);
