// SPDX-License-Identifier: Apache-2.0
// Rows of convolutions with rounded operands on the tiles of avx512bf16.
// Ownership: const data. Threads: any.
#include "kernels/bgemm/bgemm.h"
#include "ops/nn/op_conv.h"

static tn_status run_conv(const tn_call *call) { return tn_bconv_run(call, &tn_btiles_avx512bf16); }

#define ROW(layout_in, layout_out, blocked)                                                                                                       \
    .op = &tn_op_conv, .types = {TN_F32, TN_F32, TN_F32, TN_F32}, .layouts = {TN_LAYOUT_##layout_in, TN_LAYOUT_##layout_out, blocked},     \
    .impl = TN_IMPL_AVX512BF16, .tag = "direct_bf16", .version = 2, .cpu = TN_CPU_AVX512 | TN_CPU_AVX512BF16 | TN_CPU_BF16_WEIGHTS, \
    .aligned_constants = true, .match = tn_bconv_match, .cost = tn_bconv_cost_avx512bf16, .prepare = tn_bconv_prepare, .run = run_conv

static const tn_kernel rows[] = {
    {.name = "conv_bf16_nchw16c_avx512bf16", ROW(NCHW16C, NCHW16C, 1 << 3)},
    {.name = "conv_bf16_nchw32b_avx512bf16", ROW(NCHW32B, NCHW32B, 1 << 3)},
    {.name = "conv_bf16_nchw16c_to_nchw32b_avx512bf16", ROW(NCHW16C, NCHW32B, 0)},
    {.name = "conv_bf16_nchw32b_to_nchw16c_avx512bf16", ROW(NCHW32B, NCHW16C, 0)},
    {.name = "conv_bf16_plain_to_nchw16c_avx512bf16", ROW(PLAIN, NCHW16C, 0)},
    {.name = "conv_bf16_plain_to_nchw32b_avx512bf16", ROW(PLAIN, NCHW32B, 0)},
};

TN_EXPORT_KERNELS(bconv_bf16_avx512bf16, rows);
