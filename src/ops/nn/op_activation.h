// SPDX-License-Identifier: Apache-2.0
// Activations with parameters. Each is elementwise on operand 0; clip takes x, min?, max?, prelu x, slope and swiglu gate, x
// (of one shape) as operands.
// Ownership: const data. Threads: any.
#ifndef TN_OP_ACTIVATION_H
#define TN_OP_ACTIVATION_H

#include "ir/op.h"

// alpha, beta as in ONNX; gelu: approximate != 0 is the tanh form. Unused fields keep their defaults.
typedef struct tn_activation_attr {
    double alpha, beta;
    bool approximate;
} tn_activation_attr;

// leaky_relu elu celu thresholded_relu swish: alpha. selu: alpha, beta = gamma. hard_sigmoid: alpha, beta. shrink: alpha = lambd,
// beta = bias.
extern const tn_op tn_op_relu;
extern const tn_op tn_op_leaky_relu;
extern const tn_op tn_op_elu;
extern const tn_op tn_op_selu;
extern const tn_op tn_op_celu;
extern const tn_op tn_op_thresholded_relu;
extern const tn_op tn_op_hard_sigmoid;
extern const tn_op tn_op_hard_swish;
extern const tn_op tn_op_softplus;
extern const tn_op tn_op_softsign;
extern const tn_op tn_op_mish;
extern const tn_op tn_op_gelu;
extern const tn_op tn_op_swish;
extern const tn_op tn_op_sigmoid;
extern const tn_op tn_op_tanh;
extern const tn_op tn_op_shrink;
extern const tn_op tn_op_clip;
extern const tn_op tn_op_prelu;
extern const tn_op tn_op_swiglu;     // swish(gate) * x; alpha as in swish

#endif
