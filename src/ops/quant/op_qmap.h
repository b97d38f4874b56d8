// SPDX-License-Identifier: Apache-2.0
// Functions of one quantised operand: any function of a byte as a table, softmax and layer normalisation.
// Ownership: const data. Threads: any.
#ifndef TN_OP_QMAP_H
#define TN_OP_QMAP_H

#include "ops/quant/requantise.h"

typedef struct tn_qsoftmax_attr {
    int64_t axis;
    tn_qlinear_attr q;        // rounding is not looked at: it is integers in either
} tn_qsoftmax_attr;

typedef struct tn_qlayer_norm_attr {
    int64_t axis;
    double epsilon;
    tn_qlinear_attr q;        // rounding is not looked at: it is the same in either
} tn_qlayer_norm_attr;

// x, table [256] of uint8 or int8: y = table[byte of x], of the table's type.
extern const tn_op tn_op_qlinear_table;
// x, x_scale, x_zero?, y_scale, y_zero?: y of y_zero's type, that of x without one.
extern const tn_op tn_op_qlinear_softmax;
// x, x_scale, x_zero?, y_scale, y_zero?, gain, bias? (float32, of the dims of x from the axis on): layer normalisation over these dims, of at
// most TN_NORM_LINE elements, by base/requant.h; y of y_zero's type, that of x without one.
extern const tn_op tn_op_qlinear_layer_norm;

// What base/requant.h wants to know of a node.
typedef struct tn_qnorm {
    int32_t n;                // elements of a line
    int32_t down, y_zero, low, high;
    uint64_t epsilon;
} tn_qnorm;

// in: as the operator has them, scales and zero points, gain and bias with data. false: a line of so many elements, a result of so many steps or
// an epsilon so large beside x_scale that the definition does not reach; *q is set all the same, with the nearest that it reaches.
bool tn_qnorm_of(const tn_qlayer_norm_attr *attr, const tn_tensor *const *in, int n_in, tn_dtype y, tn_qnorm *q);

// gain and bias in the units of the definition, q->n of each.
void tn_qnorm_words(const tn_qnorm *q, const tn_tensor *const *in, int n_in, int32_t *gain, int32_t *bias);

#endif
