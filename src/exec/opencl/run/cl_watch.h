// SPDX-License-Identifier: Apache-2.0
// Guards fp16 storage against overflow. Arithmetic is f32, so a value is lost only where it is stored: each store into a grid of halves is
// compared with 65504, the largest half, and one beyond it is noted for the value that the grid holds. After such a run the flow runs
// once with all grids in f32, which tells every value that needs them; then it is made again with those values, and only those, in f32.
// Constants are looked at when they are brought to the device.
// Ownership: the flow. Threads: as the flow.
#ifndef TN_CL_WATCH_H
#define TN_CL_WATCH_H

#include "exec/opencl/cl_build.h"

typedef struct tn_cl_widths {
    const unsigned char *wide;            // by value id: not 0 where grids hold f32
    bool all;                             // f32 everywhere, and watched
} tn_cl_widths;

// Precision fp16: begins to watch. NULL: the first flow for its request.
void tn_cl_watch_open(tn_cl_build *b, const tn_flow_request *request, const tn_cl_widths *widths);

// Whether the grid of this value, or this many filters with these weights, are to hold halves.
bool tn_cl_watch_value(tn_cl_build *b, const tn_cl_value *value);
bool tn_cl_watch_weight(tn_cl_build *b, const void *data, size_t count, size_t filters);

// Halves are too coarse for what these filters read, and for the filters themselves (run/cl_gain.c); sets wide[id] of all such operands.
bool tn_cl_gain_is_large(const void *weights, size_t count, size_t filters);
void tn_cl_gain_mark(const tn_graph *graph, unsigned char *wide);

// Whether stores into the grid are watched; then the macro NAME_WRITE, of NAME_STORE and the test before it.
bool tn_cl_watches(const tn_cl_build *b, const tn_cl_mem *mem);
void tn_cl_watch_store(tn_cl_build *b, const char *name, const tn_cl_mem *mem);
// What stands behind the sum v_ of a step that multiplies in halves: notes one that is not finite, since a short sum may have overflowed.
// Empty in other steps. Behind the result Y of the step, which is watched then.
const char *tn_cl_watch_sum(const tn_cl_build *b);

// Behind the steps in the queue: asks whether one of them overflowed.
tn_status tn_cl_watch_read(tn_cl_flow *flow, tn_diag *diag);

// Runs, makes the flow again while it overflows, and says so to run->listener. Allocates only then.
tn_status tn_cl_watched_run(tn_cl_flow *flow, const tn_flow_run *run);

#endif
