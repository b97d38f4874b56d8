// SPDX-License-Identifier: Apache-2.0
// Reading and writing by index tensors; indices are checked at run time, negative ones wrap once.
// Ownership: const data. Threads: any.
#ifndef TN_OP_GATHER_H
#define TN_OP_GATHER_H

#include "ir/op.h"

enum { TN_SCATTER_NONE, TN_SCATTER_ADD, TN_SCATTER_MUL, TN_SCATTER_MAX, TN_SCATTER_MIN };
typedef struct tn_gather_attr { int64_t axis; } tn_gather_attr;                       // gather, gather_elements, one_hot
typedef struct tn_gather_nd_attr { int64_t batch_dims; } tn_gather_nd_attr;
typedef struct tn_scatter_attr { int64_t axis; int reduction; } tn_scatter_attr;      // axis: scatter_elements only
// tensor_scatter(cache, update, indices?): circular 0 linear, 1 circular
typedef struct tn_tensor_scatter_attr { int64_t axis; int circular; } tn_tensor_scatter_attr;

extern const tn_op tn_op_gather;
extern const tn_op tn_op_gather_elements;
extern const tn_op tn_op_gather_nd;
extern const tn_op tn_op_scatter_elements;
extern const tn_op tn_op_scatter_nd;
extern const tn_op tn_op_tensor_scatter;
extern const tn_op tn_op_one_hot;

#endif
