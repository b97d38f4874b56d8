// SPDX-License-Identifier: Apache-2.0
// The parts of a composite node: its lowering, in a graph of its own, for a device that has no kernel for the whole but for them.
// Ownership: the caller destroys the graph; constants of the query must outlive it. Threads: any.
#ifndef TN_PARTS_H
#define TN_PARTS_H

#include "dispatch/kernel.h"
#include "ir/graph.h"

// *out: the parts, with types and shapes; NULL: the operator has none for these. The operands that are there are the graph's first values, in
// their order (constants too); its outputs are the results that are there.
tn_status tn_parts_make(tn_graph **out, const tn_query *query, tn_heap *heap, tn_diag *diag);

#endif
