// SPDX-License-Identifier: Apache-2.0
// Recurrent layers with weights of bf16: AVX512-BF16 multiplies inputs and state.
// Ownership: const data. Threads: any.
#include "kernels/bgemm/bgemm.h"
#include "kernels/rnn/rnn.h"
#include "kernels/simd/vec.h"

#define RNN_JOINT 0
#include "kernels/rnn/rnn_bf16.inc"

static const tn_rnn_isa isa = {&tn_tiles_avx512, &tn_btiles_avx512bf16, rnn_lstm, rnn_gru, rnn_reset, rnn_update, rnn_product};

static tn_status run(const tn_call *call) { return tn_rnn_run(call, &isa); }

static const tn_kernel rows[] = {TN_RNN_ROW(lstm, avx512bf16, TN_IMPL_AVX512BF16, TN_CPU_AVX512 | TN_CPU_AVX512BF16, tn_rnn_prepare_bf16), TN_RNN_ROW(gru, avx512bf16, TN_IMPL_AVX512BF16, TN_CPU_AVX512 | TN_CPU_AVX512BF16, tn_rnn_prepare_bf16)};

TN_EXPORT_KERNELS(rnn_bf16_avx512bf16, rows);
