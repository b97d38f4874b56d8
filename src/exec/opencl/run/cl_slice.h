// SPDX-License-Identifier: Apache-2.0
// Cutting the work of a flow into stretches: a long kernel into slices of its groups, and the queue into windows, so that a display can
// run and a cancelled run ends soon. What a group takes is measured slice by slice and kept for the next run. Before that a kernel's time
// is an estimate, times what estimates of this flow were wrong by so far; nothing is trusted of the first kernel of all, which begins with
// the smallest slice there is.
// Ownership: none. Threads: as the flow.
#ifndef TN_CL_SLICE_H
#define TN_CL_SLICE_H

#include "exec/opencl/cl_build.h"

// Offset and size of the items of one slice, in multiples of the group.
typedef struct tn_cl_slice { size_t offset[3], size[3]; } tn_cl_slice;

// What of a step is done: rows, which are groups along its longest dim, and of the next row, groups along the second.
typedef struct tn_cl_cut { size_t row, part; } tn_cl_cut;

size_t tn_cl_slice_groups(const tn_cl_step *step);        // all of a step

// The next slice of at most limit_ns where each group takes group_ns, but at least of one part of a row; moves *at behind it. The number of
// its groups; 0: the step is done. Together the slices hold each item once.
size_t tn_cl_slice_next(const tn_cl_step *step, tn_cl_cut *at, double group_ns, double limit_ns, tn_cl_slice *slice);

// Nanoseconds by what devices of this kind usually do.
double tn_cl_slice_estimate(const tn_cl_facts *facts, const tn_cl_step *step);

// Puts all steps into the queue, in stretches; looks at cancel and deadline between them.
tn_status tn_cl_run_steps(tn_cl_flow *flow, const tn_flow_run *run, bool timed);

#endif
