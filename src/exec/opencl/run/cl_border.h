// SPDX-License-Identifier: Apache-2.0
// Operands and results of a flow without a copy. A tensor that the application keeps in a memory object of the device's context is read and
// written there. Where host and device share their memory, a large aligned tensor is the device's buffer itself (CL_MEM_USE_HOST_PTR), for
// the one run: its owner may free it afterwards. Everything else is copied (cl_transfer.h).
// Ownership: the flow; shared objects are the application's and are retained. Threads: as the flow; sharing not during a run.
#ifndef TN_CL_BORDER_H
#define TN_CL_BORDER_H

#include "exec/opencl/cl_build.h"

// The tensor at `host` is in `object` (a buffer, retained) from now on; NULL: in host memory again.
tn_status tn_cl_share(tn_cl_context *cl, void *host, size_t bytes, cl_mem object, tn_diag *diag);
// Brings the object's contents to host memory, or the other way round.
tn_status tn_cl_share_sync(tn_cl_context *cl, const void *host, bool to_host, tn_diag *diag);
void tn_cl_share_release(tn_cl_context *cl);

// Room for what lies at the borders, when the flow is made.
tn_status tn_cl_borders_make(tn_cl_flow *flow, tn_diag *diag);

// Gives kernels the handles for this run. Then those with tn_cl_borrowed need no copy.
tn_status tn_cl_borders_begin(tn_cl_flow *flow, const tn_flow_run *run);
bool tn_cl_borrowed(const tn_cl_flow *flow, size_t index);            // operands, then results
// Behind the last kernel in the queue: makes results in host memory seen there.
tn_status tn_cl_borders_show(tn_cl_flow *flow, const tn_flow_run *run);
// When the queue is empty: gives kernels their own handles again.
void tn_cl_borders_end(tn_cl_flow *flow);

#endif
