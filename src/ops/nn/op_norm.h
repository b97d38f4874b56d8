// SPDX-License-Identifier: Apache-2.0
// Normalisations. ONNX BatchNormalization, InstanceNormalization, LayerNormalization, RMSNormalization, GroupNormalization, LRN,
// LpNormalization, MeanVarianceNormalization.
// Ownership: const data. Threads: any.
#ifndef TN_OP_NORM_H
#define TN_OP_NORM_H

#include "ir/op.h"

typedef struct tn_batch_norm_attr { double epsilon, momentum; bool training; } tn_batch_norm_attr;   // x, scale, bias, mean, var
typedef struct tn_instance_norm_attr { double epsilon; } tn_instance_norm_attr;                      // x, scale, bias
// x, scale, bias? -> y, mean?, inv_std?; rms_norm: x, scale
typedef struct tn_layer_norm_attr { int64_t axis; double epsilon; int64_t stash_type; } tn_layer_norm_attr;
// x, scale [C], bias [C]
typedef struct tn_group_norm_attr { int64_t groups; double epsilon; int64_t stash_type; } tn_group_norm_attr;
typedef struct tn_lrn_attr { double alpha, beta, bias; int64_t size; } tn_lrn_attr;
typedef struct tn_lp_norm_attr { int64_t axis, p; } tn_lp_norm_attr;
typedef struct tn_mvn_attr { tn_ints axes; } tn_mvn_attr;

extern const tn_op tn_op_batch_norm;
extern const tn_op tn_op_instance_norm;
extern const tn_op tn_op_layer_norm;
extern const tn_op tn_op_rms_norm;
extern const tn_op tn_op_group_norm;
extern const tn_op tn_op_lrn;
extern const tn_op tn_op_lp_norm;
extern const tn_op tn_op_mvn;

#endif
