// SPDX-License-Identifier: Apache-2.0
// Recurrent layers in f32 for the portable tier.
// Ownership: const data. Threads: any.
#include "kernels/rnn/rnn.h"
#include "kernels/simd/vec.h"

#include "kernels/rnn/rnn_f32.inc"

static const tn_rnn_isa isa = {&tn_tiles_portable, NULL, rnn_lstm, rnn_gru, rnn_reset, rnn_update, rnn_product};

static tn_status run(const tn_call *call) { return tn_rnn_run(call, &isa); }

#define ROW(which)                                                        \
    {.name = #which "_f32_portable",                                         \
     .op = &tn_op_##which,                                                \
     .types = {TN_F32, TN_F32, TN_F32, TN_NONE},                          \
     .layouts = {TN_LAYOUT_PLAIN, TN_LAYOUT_PLAIN, 0},                    \
     .impl = TN_IMPL_PORTABLE,                                               \
     .tag = "",                                                           \
     .version = 2,                                                        \
     .cpu = 0,                                                        \
     .aligned_constants = true,                                           \
     .match = tn_rnn_match,                                               \
     .cost = tn_rnn_cost_portable,                                           \
     .prepare = tn_rnn_prepare_portable,                                     \
     .run = run}

static const tn_kernel rows[] = {ROW(lstm), ROW(gru)};

TN_EXPORT_KERNELS(rnn_f32_portable, rows);
