// SPDX-License-Identifier: Apache-2.0
// where(condition, a, b), with broadcasting.
// Ownership: const data. Threads: any.
#ifndef TN_OP_SELECT_H
#define TN_OP_SELECT_H

#include "ir/op.h"

extern const tn_op tn_op_where;

#endif
