// SPDX-License-Identifier: Apache-2.0
// Depthwise convolution in f32 for the portable tier.
// Ownership: const data. Threads: any.
#include "kernels/dwconv/dwconv.h"

#include "base/macros.h"
#include "kernels/simd/vec.h"

#define DW_BLOCK 8

#include "kernels/dwconv/dwconv_f32.inc"

static tn_status run(const tn_call *call) { return tn_dwconv_run(call, dw_rows); }

static const tn_kernel rows[] = {
    {.name = "dwconv_f32_nchw8c_portable",
     .op = &tn_op_conv,
     .types = {TN_F32, TN_F32, TN_F32, TN_F32},
     .layouts = {TN_LAYOUT_NCHW8C, TN_LAYOUT_NCHW8C, 1 << 3},
     .impl = TN_IMPL_PORTABLE,
     .tag = "depthwise",
     .version = 3,
     .cpu = 0,
     .aligned_constants = true,
     .match = tn_dwconv_match,
     .cost = tn_dwconv_cost_portable,
     .prepare = tn_dwconv_prepare,
     .run = run},
};

TN_EXPORT_KERNELS(dwconv_f32_portable, rows);
