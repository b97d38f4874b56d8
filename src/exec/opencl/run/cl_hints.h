// SPDX-License-Identifier: Apache-2.0
// Hints on speed against energy, where the driver takes them: Qualcomm's are properties of the context, Khronos' priority is one of the queue.
// Low priority is followed everywhere, by slices (cl_slice.h).
// Ownership: none. Threads: before the first flow is made.
#ifndef TN_CL_HINTS_H
#define TN_CL_HINTS_H

#include "exec/opencl/cl_context.h"

// Opens context and queue again with what was asked for and is there; on failure the old ones stay.
void tn_cl_hints(tn_cl_context *cl, const tn_power *power, tn_power_effect *effect);

#endif
