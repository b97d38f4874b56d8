// SPDX-License-Identifier: Apache-2.0
// Operands to the device and results back. Where the device has memory of its own they pass through a mapped block that the driver can
// reach without a copy of its own (pinned); parts of an operand are sent while the next part is copied there.
// Ownership: the flow. Threads: as the flow.
#ifndef TN_CL_TRANSFER_H
#define TN_CL_TRANSFER_H

#include "exec/opencl/cl_build.h"

// Makes the block when it pays; without one, transfers go straight to and from the caller's memory.
void tn_cl_stage_make(tn_cl_flow *flow);
void tn_cl_stage_release(tn_cl_flow *flow);

tn_status tn_cl_send(tn_cl_flow *flow, const tn_flow_run *run);
// Puts the downloads into the queue; after the wait, fetch copies what came through the block.
tn_status tn_cl_receive(tn_cl_flow *flow, const tn_flow_run *run);
void tn_cl_fetch(tn_cl_flow *flow, const tn_flow_run *run);

// Puts the download of one of the flow's own numbers (flag_seen, overflow) into the queue, through the block as well: a number that is read into
// memory which is not pinned takes as long as all the results.
typedef enum tn_cl_number { TN_CL_FLAG_SEEN, TN_CL_OVERFLOW, TN_CL_NUMBERS } tn_cl_number;
tn_status tn_cl_receive_number(tn_cl_flow *flow, tn_cl_number which, const tn_cl_mem *mem, tn_diag *diag);

#endif
