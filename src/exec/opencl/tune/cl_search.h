// SPDX-License-Identifier: Apache-2.0
// Off-line search for the tiles of a flow's layers: the model's best guesses, random ones, then changes of the best found (annealing), each
// measured on the device as a flow of that one node. Time-boxed; what was found goes into the context's table.
// Ownership: none. Threads: one, and no other run on the device, or the measure is of both.
#ifndef TN_CL_SEARCH_H
#define TN_CL_SEARCH_H

#include "exec/opencl/cl_flow.h"

tn_status tn_cl_search(tn_cl_flow *flow, const tn_tune_request *request);

#endif
