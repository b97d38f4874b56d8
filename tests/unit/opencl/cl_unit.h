// SPDX-License-Identifier: Apache-2.0
// What tests of the OpenCL device begin with: a heap, the device, and random numbers for tensors.
// Ownership: the caller's. Threads: one.
#ifndef TN_CL_UNIT_H
#define TN_CL_UNIT_H

#include "support/unit.h"

#include "exec/opencl/cl_flow.h"
#include "support/case.h"

#include <stdlib.h>

// The device, or NULL where there is none; then tests skip.
static inline tn_cl_context *tn_unit_device(tn_heap *heap)
{
    tn_cl_context *cl = NULL;
    tn_cl_driver driver;
    tn_cpu cpu;
    const char *reason;
    tn_cpu_detect(&cpu);
    if (!tn_cl_driver_open(&driver, &reason) || tn_cl_context_open(&cl, &driver, heap, &cpu, NULL) != TN_OK) {
        print_message("no OpenCL device\n");
        return NULL;
    }
    return cl;
}

// The i-th mixture of what a device may be like and of tiles, for cases that are drawn.
static inline void tn_unit_vary(tn_cl_context *cl, unsigned i)
{
    cl->buffers_only = i % 4 < 2;
    cl->baked = i % 3 == 0;
    cl->no_sampler = i % 5 == 0;
    cl->filter_buffers = i % 2 == 0;
    cl->tile_seed = i % 4 ? i + 1 : 0;
}

// Numbers from -1 to 1; free with free.
static inline float *tn_unit_numbers(tn_rand *r, int64_t count)
{
    float *v = calloc((size_t)count, sizeof *v);
    assert_non_null(v);
    for (int64_t i = 0; i < count; i++) {
        v[i] = (float)tn_rand_real(r, -1, 1);
    }
    return v;
}

#endif
