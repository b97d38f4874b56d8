// SPDX-License-Identifier: Apache-2.0
// Winograd's convolution in f32 for the avx2 tier.
// Ownership: const data. Threads: any.
#include "kernels/winograd/winograd.h"

#include "base/macros.h"
#include "kernels/simd/vec.h"

#define WINO_BLOCK 8

#include "kernels/winograd/winograd_f32.inc"

static const tn_winograd_isa isa = {&tn_tiles_avx2, {wino_in_1, wino_in_2, wino_in_3}, {wino_out_1, wino_out_2, wino_out_3}};

static tn_status run(const tn_call *call) { return tn_winograd_run(call, &isa); }

static const tn_kernel rows[] = {
    {.name = "conv_f32_nchw8c_winograd_avx2",
     .op = &tn_op_conv,
     .types = {TN_F32, TN_F32, TN_F32, TN_F32},
     .layouts = {TN_LAYOUT_NCHW8C, TN_LAYOUT_NCHW8C, 1 << 3},
     .impl = TN_IMPL_AVX2,
     .tag = "winograd",
     .version = 2,
     .cpu = TN_CPU_AVX2,
     .aligned_constants = true,
     .match = tn_winograd_match_avx2,
     .cost = tn_winograd_cost_avx2,
     .prepare = tn_winograd_prepare_avx2,
     .run = run},
};

TN_EXPORT_KERNELS(winograd_f32_avx2, rows);
