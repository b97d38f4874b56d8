// SPDX-License-Identifier: Apache-2.0
// Conversions between element types. cast_like takes the type of operand 1; bit_cast keeps the bits.
// Ownership: const data. Threads: any.
#ifndef TN_OP_CAST_H
#define TN_OP_CAST_H

#include "ir/op.h"

typedef struct tn_cast_attr { tn_dtype to; bool saturate; int64_t round_mode; } tn_cast_attr;   // round_mode: 0 up, 1 down, 2 nearest (float8_e8m0 only)

extern const tn_op tn_op_cast;
extern const tn_op tn_op_cast_like;
extern const tn_op tn_op_bit_cast;

#endif
