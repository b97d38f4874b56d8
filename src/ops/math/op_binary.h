// SPDX-License-Identifier: Apache-2.0
// Elementwise functions of two operands with broadcasting, and the variadic ones (max, min, sum, mean).
// Ownership: const data. Threads: any.
#ifndef TN_OP_BINARY_H
#define TN_OP_BINARY_H

#include "ir/op.h"

typedef struct tn_mod_attr { bool fmod; } tn_mod_attr;
typedef struct tn_bit_shift_attr { bool left; } tn_bit_shift_attr;

extern const tn_op tn_op_add;
extern const tn_op tn_op_sub;
extern const tn_op tn_op_mul;
extern const tn_op tn_op_div;
extern const tn_op tn_op_pow;
extern const tn_op tn_op_mod;
extern const tn_op tn_op_and;
extern const tn_op tn_op_or;
extern const tn_op tn_op_xor;
extern const tn_op tn_op_bitwise_and;
extern const tn_op tn_op_bitwise_or;
extern const tn_op tn_op_bitwise_xor;
extern const tn_op tn_op_bit_shift;
// results are bool
extern const tn_op tn_op_equal;
extern const tn_op tn_op_greater;
extern const tn_op tn_op_less;
extern const tn_op tn_op_greater_or_equal;
extern const tn_op tn_op_less_or_equal;
// one operand or more
extern const tn_op tn_op_max;
extern const tn_op tn_op_min;
extern const tn_op tn_op_sum;
extern const tn_op tn_op_mean;

#endif
