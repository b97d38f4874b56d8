// SPDX-License-Identifier: Apache-2.0
// Elementwise operators on bf16 in NCHW32B, avx512bf16 tier: the body of eltwise_f32.inc, with chunks widened and rounded at its border.
// Ownership: const data. Threads: any.
#include "ops/math/op_binary.h"
#include "ops/math/op_chain.h"
#include "ops/math/op_unary.h"
#include "ops/nn/op_activation.h"

#define TN_ELTWISE_TYPE "_bf16_"

#include "kernels/eltwise/eltwise_f32.inc"
#include "kernels/simd/vec_bf16.h"

static void widen(float *to, const uint16_t *from, int64_t n)
{
    for (int64_t i = 0; i < n; i += TN_VL) {
        tn_vf_store(to + i, tn_vf_load_bf16(from + i));
    }
}

static void round_floats(uint16_t *to, const float *from, int64_t n, int lanes)
{
    const tn_vm low = tn_vm_first(TN_MIN(lanes, TN_VL)), high = tn_vm_first(TN_MAX(lanes - TN_VL, 0));
    for (int64_t i = 0; i < n; i += TN_BF16_LINE) {
        tn_vf_store_line(to + i, tn_vf_keep(low, tn_vf_load(from + i)), tn_vf_keep(high, tn_vf_load(from + i + TN_VL)));
    }
}

static const tn_eltwise_border border = {widen, round_floats};

static tn_status run_eltwise(const tn_call *call) { return run_by_border(call, &border); }

static const tn_kernel rows[] = {TN_ELTWISE_ROWS(avx512bf16, TN_IMPL_AVX512BF16, TN_CPU_AVX512 | TN_CPU_AVX512BF16 | TN_CPU_BF16_WEIGHTS)};
TN_EXPORT_KERNELS(eltwise_bf16_avx512bf16, rows);
