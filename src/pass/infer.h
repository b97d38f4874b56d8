// SPDX-License-Identifier: Apache-2.0
// Type and shape inference with element propagation, on a graph that is only read: the planner asks with concrete inputs, passes
// ask with the declared ones. pass.h's tn_infer_graph is the same walk with the results written into the graph.
// Ownership: what the facts point to lives in the caller's arena (or is constant data of the graph). Threads: any number of
// walks over one graph, each with its own arena.
#ifndef TN_INFER_H
#define TN_INFER_H

#include "ir/graph.h"

// A result of at most so many elements is computed when everything it depends on is known; its fact then has `value`.
#define TN_INFER_MAX_ELEMS 64

// Symbols from this id on are anonymous: dims that cannot be told but are the same number wherever the symbol stands. They exist
// while passes run, never after.
#define TN_FRESH_SYMBOL (1 << 19)

// The facts of all values of `graph` (not of its bodies' values).
//   inputs  n_inputs facts in the order of graph->inputs; NULL: as declared. A known dim or dtype of the declaration that a given
//           fact contradicts is TN_INVALID_ARGUMENT. A fact may carry `value` (small integer inputs that reach a shape).
//   known   NULL, or n_values pointers by value id: a fact that is there is taken as it stands instead of being inferred (results
//           of an earlier stage, whose shapes depended on data). Nodes all of whose results are known are not visited.
//   facts   n_values facts by value id, filled in. Constants have `value`; integer and bool ones of at most 64 elements `elems`.
// Dims stay unknown where they cannot be told; symbols are those of `graph`, also inside the bodies that the walk goes through.
// Only the branch that a known condition takes is looked at; a branch of an unknown condition that cannot be typed for these
// inputs says nothing about the results (it fails when it is taken).
tn_status tn_infer_facts(const tn_graph *graph, const tn_fact *inputs, const tn_fact *const *known, tn_fact *facts, tn_arena *arena,
                         tn_heap *heap, tn_diag *diag);

// As tn_infer_graph of pass.h, with a fresh symbol for every dim that cannot be told, so that passes see which are the same.
tn_status tn_infer_graph_fresh(tn_graph *graph, tn_heap *heap, tn_diag *diag);

// Turns the fresh symbols of a graph and its bodies into unknown dims.
void tn_infer_forget_fresh(tn_graph *graph);

#endif
