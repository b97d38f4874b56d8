// SPDX-License-Identifier: Apache-2.0
// det(x): determinants of the square matrices in the last two dims.
// Ownership: const data. Threads: any.
#ifndef TN_OP_DET_H
#define TN_OP_DET_H

#include "ir/op.h"

extern const tn_op tn_op_det;

#endif
