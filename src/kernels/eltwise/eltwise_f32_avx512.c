// SPDX-License-Identifier: Apache-2.0
// Elementwise f32 operators, avx512 tier: the body of eltwise_f32.inc.
// Ownership: const data. Threads: any.
#include "ops/math/op_binary.h"
#include "ops/math/op_chain.h"
#include "ops/math/op_unary.h"
#include "ops/nn/op_activation.h"

#include "kernels/eltwise/eltwise_f32.inc"

static const tn_kernel rows[] = {TN_ELTWISE_ROWS(avx512, TN_IMPL_AVX512, TN_CPU_AVX512)};
TN_EXPORT_KERNELS(eltwise_f32_avx512, rows);
