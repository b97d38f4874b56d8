// SPDX-License-Identifier: Apache-2.0
// Attention on f32, avx512 tier: the body of attention_f32.inc.
// Ownership: const data. Threads: any.
#include "kernels/attention/attention_f32.inc"

static tn_status run(const tn_call *call) { return run_attention(call, &tn_tiles_avx512); }

static const tn_kernel rows[] = {TN_ATTENTION_ROW(avx512, TN_IMPL_AVX512, TN_CPU_AVX512)};
TN_EXPORT_KERNELS(attention_f32_avx512, rows);
