// SPDX-License-Identifier: Apache-2.0
// A fused chain of elementwise work on f32: one loop program over broadcast operands. Made by the fusion pass, never imported.
// Ownership: const data. Threads: any.
#ifndef TN_OP_CHAIN_H
#define TN_OP_CHAIN_H

#include "ir/op.h"

#include "loop/loop.h"

// Operands: loop->n_inputs tensors, broadcast together. Result: their broadcast shape.
typedef struct tn_chain_attr { const tn_loop *loop; } tn_chain_attr;

extern const tn_op tn_op_chain;

#endif
