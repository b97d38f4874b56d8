// SPDX-License-Identifier: Apache-2.0
// A sub-flow: a closed part of the graph that one device runs in one call. Made by the plan, never imported.
// Ownership: const data. Threads: any.
#ifndef TN_OP_FLOW_H
#define TN_OP_FLOW_H

#include "ir/op.h"

// Operands and results are those of the one body, in order; all shapes are known.
typedef struct tn_flow_attr { const char *device; } tn_flow_attr;

extern const tn_op tn_op_flow;

#endif
