// SPDX-License-Identifier: Apache-2.0
// Runs one operator by its reference kernel (constant folding, shape values, tests), and counts the arithmetic of nodes.
// Ownership: results are in the caller's arena. Threads: any, one arena each.
#ifndef TN_OP_EVAL_H
#define TN_OP_EVAL_H

#include "dispatch/registry.h"
#include "ir/graph.h"

// in[i] NULL: absent. Fills out[0 .. n_out-1] (dtype, shape, data from the arena). max_bytes bounds each result: beyond it
// TN_LIMIT. TN_UNSUPPORTED: no reference row for these types.
tn_status tn_op_eval(const tn_op *op, const void *attr, const char *name, const tn_tensor *const *in, int n_in, tn_tensor *out,
                     int n_out, size_t max_bytes, tn_arena *arena, tn_heap *heap, tn_diag *diag);

// As tn_op_eval into memory that is there: out[i] has the dtype and the shape that infer tells, and data. Not for operators whose
// result shapes depend on contents.
tn_status tn_op_eval_into(const tn_op *op, const void *attr, const char *name, const tn_tensor *const *in, int n_in, tn_tensor *out,
                          int n_out, tn_heap *heap, tn_diag *diag);

// infer with facts made from tensors; used by the above and by tests.
tn_status tn_op_infer(const tn_op *op, const void *attr, const char *name, const tn_fact *const *in, int n_in, tn_fact *out, int n_out,
                      tn_arena *arena, tn_diag *diag);

// The same for a filled struct: checks the arity and clears the results before it asks.
tn_status tn_op_ask(tn_infer *infer);

// Multiply-accumulates of a node from the shapes of its values: 0 for operators that do none; -1 when a shape is not known.
int64_t tn_node_macs(const tn_node *node);

// Sum over a graph (not its bodies); -1 when a shape of a node that does any is not known; INT64_MAX when it does not fit.
int64_t tn_graph_macs(const tn_graph *graph);

#endif
