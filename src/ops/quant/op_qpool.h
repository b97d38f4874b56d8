// SPDX-License-Identifier: Apache-2.0
// Average pooling of quantised tensors: sums of integers, requantised once (com.microsoft QLinearAveragePool, QLinearGlobalAveragePool).
// Ownership: const data. Threads: any.
#ifndef TN_OP_QPOOL_H
#define TN_OP_QPOOL_H

#include "ops/nn/op_pool.h"
#include "ops/quant/requantise.h"

// pool: the window, which comes first so that tn_pool_window can read it.
typedef struct tn_qpool_attr {
    tn_pool_attr pool;
    tn_qlinear_attr q;
} tn_qpool_attr;

// x [N, C, ...], x_scale, x_zero?, y_scale, y_zero?: y has y_zero's type, that of x without one.
// The global form takes tn_qlinear_attr and makes [N, C, 1, ...].
extern const tn_op tn_op_qlinear_average_pool;
extern const tn_op tn_op_qlinear_global_average_pool;

#endif
