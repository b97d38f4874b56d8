// SPDX-License-Identifier: Apache-2.0
// Attention on f32, portable tier: the body of attention_f32.inc.
// Ownership: const data. Threads: any.
#include "kernels/attention/attention_f32.inc"

static tn_status run(const tn_call *call) { return run_attention(call, &tn_tiles_portable); }

static const tn_kernel rows[] = {TN_ATTENTION_ROW(portable, TN_IMPL_PORTABLE, 0)};
TN_EXPORT_KERNELS(attention_f32_portable, rows);
