// SPDX-License-Identifier: Apache-2.0
// Runs a graph node by node with the reference kernels: slow, simple, and the measure for what passes make of a graph.
// Ownership: results live in the caller's arena, or are inputs and constants. Threads: any, one arena each.
#ifndef TN_INTERPRET_H
#define TN_INTERPRET_H

#include "ir/graph.h"

// inputs: n_inputs tensors with data; outputs: room for n_outputs. If is run; Loop and Scan are TN_UNSUPPORTED.
tn_status tn_interpret(const tn_graph *graph, const tn_tensor *inputs, tn_tensor *outputs, tn_arena *arena, tn_heap *heap, tn_diag *diag);

#endif
