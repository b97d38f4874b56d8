// SPDX-License-Identifier: Apache-2.0
// Elementwise f32 operators, portable tier: the body of eltwise_f32.inc.
// Ownership: const data. Threads: any.
#include "ops/math/op_binary.h"
#include "ops/math/op_chain.h"
#include "ops/math/op_unary.h"
#include "ops/nn/op_activation.h"

#include "kernels/eltwise/eltwise_f32.inc"

static const tn_kernel rows[] = {TN_ELTWISE_ROWS(portable, TN_IMPL_PORTABLE, 0)};
TN_EXPORT_KERNELS(eltwise_f32_portable, rows);
