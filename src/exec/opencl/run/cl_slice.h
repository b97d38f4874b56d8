// SPDX-License-Identifier: Apache-2.0
// Cutting the work of a flow into stretches: a long kernel into slices of its items, and the queue into windows, so that a display can
// run and a cancelled run ends soon. How long a kernel takes is known from its last run, before that from an estimate whose error is
// measured as the run goes on.
// Ownership: none. Threads: as the flow.
#ifndef TN_CL_SLICE_H
#define TN_CL_SLICE_H

#include "exec/opencl/cl_build.h"

// Offset and size of the items of one slice, in multiples of the group.
typedef struct tn_cl_slice { size_t offset[3], size[3]; } tn_cl_slice;

// How many slices of at most limit_ns a step of `ns` needs: 1 .. groups along its longest dim.
size_t tn_cl_slice_count(const tn_cl_step *step, double ns, double limit_ns);

// Slice `index` of `count`; false: past the last. Together the slices hold each item once.
bool tn_cl_slice_at(const tn_cl_step *step, size_t count, size_t index, tn_cl_slice *slice);

// Nanoseconds by what devices of this kind usually do.
double tn_cl_slice_estimate(const tn_cl_facts *facts, const tn_cl_step *step);

// Puts all steps into the queue, in stretches; looks at cancel and deadline between them.
tn_status tn_cl_run_steps(tn_cl_flow *flow, const tn_flow_run *run, bool timed);

#endif
