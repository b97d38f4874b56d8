// SPDX-License-Identifier: Apache-2.0
// The OpenCL driver as a table of functions, opened at run time: nothing links against it, and a test can put its own functions in.
// Ownership: tn_cl_driver_open / close. Threads: const after opening; OpenCL itself takes calls from any thread.
#ifndef TN_CL_DRIVER_H
#define TN_CL_DRIVER_H

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 120
#endif
#include <CL/cl.h>

#include "base/diag.h"

#include <stdbool.h>

// X(function without its prefix): all must be there.
#define TN_CL_FUNCTIONS(X)                                                                                             \
    X(GetPlatformIDs) X(GetPlatformInfo) X(GetDeviceIDs) X(GetDeviceInfo) X(CreateContext) X(ReleaseContext)           \
    X(CreateCommandQueue) X(ReleaseCommandQueue) X(CreateProgramWithSource) X(CreateProgramWithBinary) X(BuildProgram) \
    X(GetProgramBuildInfo) X(GetProgramInfo) X(ReleaseProgram) X(CreateKernel) X(ReleaseKernel) X(SetKernelArg)        \
    X(GetKernelWorkGroupInfo) X(CreateBuffer) X(CreateImage) X(ReleaseMemObject) X(EnqueueNDRangeKernel)               \
    X(EnqueueWriteBuffer) X(EnqueueReadBuffer) X(EnqueueFillBuffer) X(EnqueueReadImage) X(EnqueueWriteImage)           \
    X(EnqueueMapBuffer) X(EnqueueUnmapMemObject) X(GetMemObjectInfo) X(RetainMemObject)                                                                       \
    X(Flush) X(Finish) X(WaitForEvents) X(ReleaseEvent) X(GetEventProfilingInfo)

typedef struct tn_cl_driver {
    void *library;
#define X(name) __typeof__(&cl##name) name;
    TN_CL_FUNCTIONS(X)
#undef X
    uint64_t (*Now)(void);        // not of the driver: the clock that its work is measured with, nanoseconds
    // Of OpenCL 2.0; NULL where the driver is older.
    cl_command_queue(CL_API_CALL *CreateQueueWithProperties)(cl_context context, cl_device_id device, const cl_ulong *properties, cl_int *error);
} tn_cl_driver;

// Between these two calls a driver is started, asked what it has, or closed: many drivers are not made for two threads that do so at once.
// false, and nothing to end: the driver was started by the process that this one was forked from; its threads are not here, and it would
// wait for them forever.
bool tn_cl_driver_begin(const char **reason);
void tn_cl_driver_end(void);

// Opens the first library of a list of usual names. false: none is there, or it lacks a function; *reason is a fixed text.
bool tn_cl_driver_open(tn_cl_driver *driver, const char **reason);
void tn_cl_driver_close(tn_cl_driver *driver);

const char *tn_cl_error_text(cl_int error);   // "CL_OUT_OF_RESOURCES"

// Records TN_DEVICE with the error's name: whatever OpenCL refuses, the session can go on without the device.
tn_status tn_cl_fail(tn_diag *diag, const char *place, const char *call, cl_int error);

#endif
