// SPDX-License-Identifier: Apache-2.0
// Elementwise f32 operators, avx2 tier: the body of eltwise_f32.inc.
// Ownership: const data. Threads: any.
#include "ops/math/op_binary.h"
#include "ops/math/op_chain.h"
#include "ops/math/op_unary.h"
#include "ops/nn/op_activation.h"

#include "kernels/eltwise/eltwise_f32.inc"

static const tn_kernel rows[] = {TN_ELTWISE_ROWS(avx2, TN_IMPL_AVX2, TN_CPU_AVX2)};
TN_EXPORT_KERNELS(eltwise_f32_avx2, rows);
