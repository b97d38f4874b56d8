// SPDX-License-Identifier: Apache-2.0
// Reductions over axes (operand 1, int64, optional: all axes), arg_max / arg_min, running sums and products.
// Ownership: const data. Threads: any.
#ifndef TN_OP_REDUCE_H
#define TN_OP_REDUCE_H

#include "ir/op.h"

typedef struct tn_reduce_attr { bool keepdims, noop_with_empty_axes; } tn_reduce_attr;
typedef struct tn_arg_attr { int64_t axis; bool keepdims, select_last_index; } tn_arg_attr;
typedef struct tn_cum_attr { bool exclusive, reverse; } tn_cum_attr;      // x, axis (scalar)

extern const tn_op tn_op_reduce_sum;
extern const tn_op tn_op_reduce_mean;
extern const tn_op tn_op_reduce_max;
extern const tn_op tn_op_reduce_min;
extern const tn_op tn_op_reduce_prod;
extern const tn_op tn_op_reduce_l1;
extern const tn_op tn_op_reduce_l2;
extern const tn_op tn_op_reduce_log_sum;
extern const tn_op tn_op_reduce_log_sum_exp;
extern const tn_op tn_op_reduce_sum_square;
extern const tn_op tn_op_arg_max;
extern const tn_op tn_op_arg_min;
extern const tn_op tn_op_cum_sum;
extern const tn_op tn_op_cum_prod;

#endif
