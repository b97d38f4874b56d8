// SPDX-License-Identifier: Apache-2.0
// A sub-flow on an OpenCL device: made once by the rows, run by one walk over its steps and one wait.
// Ownership: make/release. Threads: one run of a flow at a time.
#ifndef TN_CL_FLOW_H
#define TN_CL_FLOW_H

#include "exec/opencl/cl_build.h"

tn_status tn_cl_flow_make(tn_cl_context *cl, const tn_flow_request *request, tn_cl_flow **flow);
// The same with values kept in f32 that are known to need it, and perhaps watching for more (run/cl_watch.h).
struct tn_cl_widths;
tn_status tn_cl_flow_make_wide(tn_cl_context *cl, const tn_flow_request *request, const struct tn_cl_widths *widths, tn_cl_flow **flow);
// Once, whatever a watch sees.
tn_status tn_cl_flow_run(tn_cl_flow *flow, const tn_flow_run *run);
void tn_cl_flow_release(tn_cl_flow *flow);

// Runs once with events around each step and keeps their times.
tn_status tn_cl_flow_time(tn_cl_flow *flow, const tn_flow_run *run);

// A build that is not made from a graph, for tests and pictures: begin, take memory and add steps, finish; then run and release.
tn_status tn_cl_build_open(tn_cl_build *b, tn_cl_context *cl, const tn_graph *graph, tn_diag *diag);
tn_status tn_cl_build_close(tn_cl_build *b, tn_cl_flow **flow);   // gives the flow, or releases it on failure

#endif
