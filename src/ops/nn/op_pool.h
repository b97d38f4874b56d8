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

// Rows of the attributes of every pooling with a window, for a struct that begins with tn_pool_attr.
#define TN_POOL_ATTRS                                                                        \
    {"kernel", TN_ATTR_INTS, offsetof(tn_pool_attr, kernel), NULL},                          \
    {"strides", TN_ATTR_INTS, offsetof(tn_pool_attr, strides), NULL},                        \
    {"pads", TN_ATTR_INTS, offsetof(tn_pool_attr, pads), NULL},                              \
    {"dilations", TN_ATTR_INTS, offsetof(tn_pool_attr, dilations), NULL},                    \
    {"auto_pad", TN_ATTR_ENUM, offsetof(tn_pool_attr, auto_pad), tn_auto_pad_texts},         \
    {"ceil_mode", TN_ATTR_BOOL, offsetof(tn_pool_attr, ceil_mode), NULL},                    \
    {"count_include_pad", TN_ATTR_BOOL, offsetof(tn_pool_attr, count_include_pad), NULL}

typedef struct tn_global_pool_attr { int64_t p; } tn_global_pool_attr;   // p: global_lp_pool only

// tn_op.macs of poolings with a window.
int64_t tn_pool_macs(const void *attr, const tn_fact *const *in, int n_in, const tn_fact *out, int n_out);

bool tn_pool_window(const tn_pool_attr *attr, const tn_shape *x, tn_window *window);

// The shape that the places of max_unpool count in. Returns NULL, or the rule that is broken (fixed text).
const char *tn_unpool_shape(const tn_pool_attr *attr, const tn_shape *x, tn_shape *y);

extern const tn_op tn_op_max_pool;
extern const tn_op tn_op_average_pool;
extern const tn_op tn_op_lp_pool;
extern const tn_op tn_op_max_unpool;        // kernel, strides and pads of tn_pool_attr
extern const tn_op tn_op_global_average_pool;
extern const tn_op tn_op_global_max_pool;
extern const tn_op tn_op_global_lp_pool;

#endif
