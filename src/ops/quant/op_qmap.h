// SPDX-License-Identifier: Apache-2.0
// Functions of one quantised operand: any function of a byte as a table, and softmax.
// Ownership: const data. Threads: any.
#ifndef TN_OP_QMAP_H
#define TN_OP_QMAP_H

#include "ops/quant/requantise.h"

typedef struct tn_qsoftmax_attr {
    int64_t axis;
    tn_qlinear_attr q;        // rounding is not looked at: it is integers in either
} tn_qsoftmax_attr;

// x, table [256] of uint8 or int8: y = table[byte of x], of the table's type.
extern const tn_op tn_op_qlinear_table;
// x, x_scale, x_zero?, y_scale, y_zero?: y of y_zero's type, that of x without one.
extern const tn_op tn_op_qlinear_softmax;

#endif
