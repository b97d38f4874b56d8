// SPDX-License-Identifier: Apache-2.0
// How a sub-graph keeps its grids: in images or in buffers, whichever its work is cheaper in. A grid past the image limits of the device is a
// buffer in either, and is priced as one.
// Ownership: none. Threads: any.
#ifndef TN_CL_STORE_H
#define TN_CL_STORE_H

#include "exec/opencl/cl_build.h"

// What the graph's work takes in either store.
tn_cl_prices tn_cl_store_prices(const tn_cl_facts *facts, const tn_graph *graph);

// Sets b->buffers and flow->store by the request, or where that is open by price.
void tn_cl_store_choose(tn_cl_build *b, const tn_flow_request *request);

// When all steps are there: flow->remark says what was chosen and why; tells the listener of images that were asked for and cannot be.
void tn_cl_store_remark(tn_cl_build *b, const tn_flow_request *request);

#endif
