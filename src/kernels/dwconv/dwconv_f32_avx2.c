// SPDX-License-Identifier: Apache-2.0
// Depthwise convolution in f32 for the avx2 tier.
// Ownership: const data. Threads: any.
#include "kernels/dwconv/dwconv.h"

#include "base/macros.h"
#include "kernels/simd/vec.h"
#include "ops/joined/op_conv_pair.h"

#define DW_BLOCK 8

#include "kernels/dwconv/dwconv_f32.inc"

static tn_status run(const tn_call *call) { return tn_dwconv_run(call, dw_rows); }
static tn_status run_pair(const tn_call *call) { return tn_dwconv_pair_run(call, dw_rows, &tn_tiles_avx2); }

static const tn_kernel rows[] = {
    {.name = "dwconv_f32_nchw8c_avx2",
     .op = &tn_op_conv,
     .types = {TN_F32, TN_F32, TN_F32, TN_F32},
     .layouts = {TN_LAYOUT_NCHW8C, TN_LAYOUT_NCHW8C, 1 << 3},
     .impl = TN_IMPL_AVX2,
     .tag = "depthwise",
     .version = 3,
     .cpu = TN_CPU_AVX2,
     .aligned_constants = true,
     .match = tn_dwconv_match,
     .cost = tn_dwconv_cost_avx2,
     .prepare = tn_dwconv_prepare,
     .run = run},
    {.name = "dwconv_pointwise_f32_nchw8c_avx2",
     .op = &tn_op_conv_pair,
     .types = {TN_F32, TN_F32, TN_F32, TN_F32},
     .layouts = {TN_LAYOUT_NCHW8C, TN_LAYOUT_NCHW8C, 1 << TN_PAIR_RESIDUAL},
     .impl = TN_IMPL_AVX2,
     .tag = "depthwise_pointwise",
     .version = 1,
     .cpu = TN_CPU_AVX2,
     .aligned_constants = true,
     .match = tn_dwconv_pair_match,
     .cost = tn_dwconv_pair_cost_avx2,
     .prepare = tn_dwconv_pair_prepare_avx2,
     .run = run_pair},
    {.name = "pointwise_dwconv_f32_nchw8c_avx2",
     .op = &tn_op_conv_pair,
     .types = {TN_F32, TN_F32, TN_F32, TN_F32},
     .layouts = {TN_LAYOUT_NCHW8C, TN_LAYOUT_NCHW8C, 1 << TN_PAIR_RESIDUAL},
     .impl = TN_IMPL_AVX2,
     .tag = "pointwise_depthwise",
     .version = 1,
     .cpu = TN_CPU_AVX2,
     .aligned_constants = true,
     .match = tn_expand_pair_match,
     .cost = tn_expand_pair_cost_avx2,
     .prepare = tn_expand_pair_prepare_avx2,
     .run = run_pair},
};

TN_EXPORT_KERNELS(dwconv_f32_avx2, rows);
