// SPDX-License-Identifier: Apache-2.0
// Pooling: max_pool (values, indices?), average_pool, lp_pool, max_unpool(x, indices, output_shape?) and the global
// kinds. ONNX MaxPool, AveragePool, LpPool, MaxUnpool, Global*.
// Ownership: const data. Threads: any.
#ifndef TN_OP_POOL_H
#define TN_OP_POOL_H

#include "ir/op.h"

#include "ops/nn/op_conv.h"

typedef struct tn_pool_attr {
    tn_ints kernel, strides, pads, dilations;
    int auto_pad;
    bool ceil_mode, count_include_pad;
    int64_t storage_order, p;
} tn_pool_attr;

typedef struct tn_global_pool_attr { int64_t p; } tn_global_pool_attr;   // p: global_lp_pool only

// tn_op.macs of poolings with a window.
int64_t tn_pool_macs(const void *attr, const tn_fact *const *in, int n_in, const tn_fact *out, int n_out);

bool tn_pool_window(const tn_pool_attr *attr, const tn_shape *x, tn_window *window);

extern const tn_op tn_op_max_pool;
extern const tn_op tn_op_average_pool;
extern const tn_op tn_op_lp_pool;
extern const tn_op tn_op_max_unpool;        // kernel, strides and pads of tn_pool_attr
extern const tn_op tn_op_global_average_pool;
extern const tn_op tn_op_global_max_pool;
extern const tn_op tn_op_global_lp_pool;

#endif
