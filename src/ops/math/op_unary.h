// SPDX-License-Identifier: Apache-2.0
// Elementwise functions of one operand, result of the operand's type (is_nan, is_inf: bool).
// Ownership: const data. Threads: any.
#ifndef TN_OP_UNARY_H
#define TN_OP_UNARY_H

#include "ir/op.h"

typedef struct tn_is_inf_attr { bool detect_negative, detect_positive; } tn_is_inf_attr;

extern const tn_op tn_op_neg;
extern const tn_op tn_op_abs;
extern const tn_op tn_op_sqrt;
extern const tn_op tn_op_exp;
extern const tn_op tn_op_log;
extern const tn_op tn_op_floor;
extern const tn_op tn_op_ceil;
extern const tn_op tn_op_round;
extern const tn_op tn_op_reciprocal;
extern const tn_op tn_op_sign;
extern const tn_op tn_op_sin;
extern const tn_op tn_op_cos;
extern const tn_op tn_op_tan;
extern const tn_op tn_op_asin;
extern const tn_op tn_op_acos;
extern const tn_op tn_op_atan;
extern const tn_op tn_op_sinh;
extern const tn_op tn_op_cosh;
extern const tn_op tn_op_asinh;
extern const tn_op tn_op_acosh;
extern const tn_op tn_op_atanh;
extern const tn_op tn_op_erf;
extern const tn_op tn_op_not;
extern const tn_op tn_op_bitwise_not;
extern const tn_op tn_op_is_nan;
extern const tn_op tn_op_is_inf;

#endif
