// SPDX-License-Identifier: Apache-2.0
// Attention with products of bf16 by AVX512-BF16: the body of attention_bf16.inc.
// Ownership: const data. Threads: any.
#include "kernels/attention/attention_bf16.inc"

static tn_status run(const tn_call *call) { return run_attention(call, &tn_btiles_avx512bf16); }

static const tn_kernel rows[] = {TN_ATTENTION_ROW(avx512bf16, TN_IMPL_AVX512BF16, TN_CPU_AVX512 | TN_CPU_AVX512BF16)};
TN_EXPORT_KERNELS(attention_bf16_avx512bf16, rows);
