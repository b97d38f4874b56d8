// SPDX-License-Identifier: Apache-2.0
// Depthwise convolution of bf16 in NCHW32B for the avx512bf16 tier: the body of dwconv_f32.inc. Weights and arithmetic are float32.
// Ownership: const data. Threads: any.
#include "kernels/dwconv/dwconv.h"

#include "base/macros.h"
#include "kernels/simd/vec.h"

#define DW_BLOCK 32
#define DW_BF16

#include "kernels/dwconv/dwconv_f32.inc"

static tn_status run(const tn_call *call) { return tn_dwconv_run(call, dw_rows); }

static const tn_kernel rows[] = {
    {.name = "dwconv_bf16_nchw32b_avx512bf16",
     .op = &tn_op_conv,
     .types = {TN_F32, TN_F32, TN_F32, TN_F32},
     .layouts = {TN_LAYOUT_NCHW32B, TN_LAYOUT_NCHW32B, 1 << 3},
     .impl = TN_IMPL_AVX512BF16,
     .tag = "depthwise",
     .version = 1,
     .cpu = TN_CPU_AVX512 | TN_CPU_AVX512BF16 | TN_CPU_BF16_WEIGHTS,
     .aligned_constants = true,
     .match = tn_dwconv_match,
     .cost = tn_dwconv_cost_avx512bf16,
     .prepare = tn_dwconv_prepare,
     .run = run},
};

TN_EXPORT_KERNELS(dwconv_bf16_avx512bf16, rows);
