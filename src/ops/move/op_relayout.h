// SPDX-License-Identifier: Apache-2.0
// The conversion between two memory layouts of one tensor (ir/layout.h). Made by the plan, never imported.
// Ownership: const data. Threads: any.
#ifndef TN_OP_RELAYOUT_H
#define TN_OP_RELAYOUT_H

#include "ir/op.h"

typedef struct tn_relayout_attr { int layout; } tn_relayout_attr;   // tn_layout of the result

extern const tn_op tn_op_relayout;

#endif
