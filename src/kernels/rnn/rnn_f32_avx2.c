// SPDX-License-Identifier: Apache-2.0
// Recurrent layers in f32 for the avx2 tier.
// Ownership: const data. Threads: any.
#include "kernels/rnn/rnn.h"
#include "kernels/simd/vec.h"

#include "kernels/rnn/rnn_f32.inc"

static const tn_rnn_isa isa = {&tn_tiles_avx2, NULL, rnn_lstm, rnn_gru, rnn_reset, rnn_update, rnn_product};

static tn_status run(const tn_call *call) { return tn_rnn_run(call, &isa); }

#define ROW(which)                                                        \
    {.name = #which "_f32_avx2",                                         \
     .op = &tn_op_##which,                                                \
     .types = {TN_F32, TN_F32, TN_F32, TN_NONE},                          \
     .layouts = {TN_LAYOUT_PLAIN, TN_LAYOUT_PLAIN, 0},                    \
     .impl = TN_IMPL_AVX2,                                               \
     .tag = "",                                                           \
     .version = 2,                                                        \
     .cpu = TN_CPU_AVX2,                                                        \
     .aligned_constants = true,                                           \
     .match = tn_rnn_match,                                               \
     .cost = tn_rnn_cost_avx2,                                           \
     .prepare = tn_rnn_prepare_avx2,                                     \
     .run = run}

static const tn_kernel rows[] = {ROW(lstm), ROW(gru)};

TN_EXPORT_KERNELS(rnn_f32_avx2, rows);
