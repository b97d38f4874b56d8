// SPDX-License-Identifier: Apache-2.0
// Attention on f32, avx2 tier: the body of attention_f32.inc.
// Ownership: const data. Threads: any.
#include "kernels/attention/attention_f32.inc"

static tn_status run(const tn_call *call) { return run_attention(call, &tn_tiles_avx2); }

static const tn_kernel rows[] = {TN_ATTENTION_ROW(avx2, TN_IMPL_AVX2, TN_CPU_AVX2)};
TN_EXPORT_KERNELS(attention_f32_avx2, rows);
