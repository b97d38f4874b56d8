// SPDX-License-Identifier: Apache-2.0
// Control flow. Own operands first, then what the bodies take of the outer scope (captures), in the order of the body's last inputs.
// Ownership: const data. Threads: any.
#ifndef TN_OP_CONTROL_H
#define TN_OP_CONTROL_H

#include "ir/op.h"

// if: condition, captures...; bodies {then, else}, each with all captures as its inputs.
// loop: max_trips?, condition?, carried..., captures...; body inputs: iteration, condition, carried..., captures...;
//       body outputs: condition, carried..., scanned.... n_carried says how many.
// scan: state..., scanned inputs..., captures...
typedef struct tn_loop_attr { int64_t n_carried; } tn_loop_attr;
typedef struct tn_scan_attr {
    int64_t n_state, n_scan;                 // operands
    tn_ints in_axes, in_directions, out_axes, out_directions;
} tn_scan_attr;

struct tn_graph;
// How often a Loop or Scan runs its body, by what is known of its operands (facts: NULL where absent); -1: only running tells. A Loop can
// tell when its body never asks to stop.
int64_t tn_control_steps(const tn_op *op, const void *attr, const struct tn_graph *body, const tn_fact *const *in, int n_in);

extern const tn_op tn_op_if;
extern const tn_op tn_op_loop;
extern const tn_op tn_op_scan;

#endif
