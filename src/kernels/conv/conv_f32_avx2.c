// SPDX-License-Identifier: Apache-2.0
// Rows of f32 convolutions on the avx2 register tiles.
// Ownership: const data. Threads: any.
#include "kernels/conv/conv.h"

static tn_status run_direct(const tn_call *call)
{
    return tn_conv_direct_run(call, &tn_tiles_avx2);
}

static tn_status run_plain(const tn_call *call)
{
    return tn_conv_plain_run(call, &tn_tiles_avx2);
}

static tn_status run_deconv(const tn_call *call)
{
    return tn_deconv_plain_run(call, &tn_tiles_avx2);
}

#define ROW(layout_in, layout_out, blocked, tag_text, which)                       \
    .op = &tn_op_conv, .types = {TN_F32, TN_F32, TN_F32, TN_F32},                   \
    .layouts = {TN_LAYOUT_##layout_in, TN_LAYOUT_##layout_out, blocked},            \
    .impl = TN_IMPL_AVX2, .tag = tag_text, .version = 3, .cpu = TN_CPU_AVX2,        \
    .aligned_constants = true, .cost = tn_conv_##which##_cost_avx2,             \
    .prepare = tn_conv_##which##_prepare_avx2, .run = run_##which

static const tn_kernel rows[] = {
    {.name = "conv_f32_nchw8c_direct_avx2",
     .match = tn_conv_direct_match_avx2,
     ROW(NCHW8C, NCHW8C, 1 << 3, "direct", direct)},
    {.name = "conv_f32_plain_to_nchw8c_direct_avx2",
     .match = tn_conv_direct_match_avx2,
     ROW(PLAIN, NCHW8C, 0, "direct", direct)},
    {.name = "conv_f32_plain_im2col_avx2", .match = tn_conv_plain_match, ROW(PLAIN, PLAIN, 0, "im2col", plain)},
    {.name = "deconv_f32_plain_avx2",
     .op = &tn_op_deconv,
     .types = {TN_F32, TN_F32, TN_F32, TN_F32},
     .layouts = {TN_LAYOUT_PLAIN, TN_LAYOUT_PLAIN, 0},
     .impl = TN_IMPL_AVX2,
     .tag = "col2im",
     .version = 1,
     .cpu = TN_CPU_AVX2,
     .aligned_constants = true,
     .match = tn_deconv_plain_match,
     .cost = tn_deconv_plain_cost_avx2,
     .prepare = tn_deconv_plain_prepare_avx2,
     .run = run_deconv},
};

TN_EXPORT_KERNELS(conv_f32_avx2, rows);
