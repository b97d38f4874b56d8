// SPDX-License-Identifier: Apache-2.0
// Finding the driver. Phones keep it under the vendor's name, elsewhere a loader has the usual one.
// Ownership: see the header. Threads: any.
#include "exec/opencl/cl_driver.h"

#include "sys/clock.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

static const char *const library_names[] = {
    "libOpenCL.so.1", "libOpenCL.so", "libGLES_mali.so", "libmali.so", "libPVROCL.so", "libOpenCL-pixel.so",
    "/system/vendor/lib64/libOpenCL.so", "/vendor/lib64/libOpenCL.so", "/system/vendor/lib64/egl/libGLES_mali.so",
};

// The library's only state of the process, since a driver is one: loaded once, with threads of its own.
static pthread_mutex_t starting = PTHREAD_MUTEX_INITIALIZER;
static atomic_long first_process;

bool tn_cl_driver_begin(const char **reason)
{
    long none = 0;
    const long here = (long)getpid();
    // Before the lock, which another thread may have held when this process was forked.
    if (!atomic_compare_exchange_strong(&first_process, &none, here) && none != here) {
        *reason = "OpenCL was used before this process was forked; use it only after forking";
        return false;
    }
    (void)pthread_mutex_lock(&starting);
    return true;
}

void tn_cl_driver_end(void) { (void)pthread_mutex_unlock(&starting); }

bool tn_cl_driver_open(tn_cl_driver *driver, const char **reason)
{
    memset(driver, 0, sizeof *driver);
    for (size_t i = 0; i < TN_COUNT(library_names) && !driver->library; i++) {
        // It stays loaded: a loader that starts anew may no longer find a driver whose own library has been unloaded (seen with NVIDIA's, where
        // another platform's device was opened in its place).
        driver->library = dlopen(library_names[i], RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    }
    driver->Now = tn_clock_ns;
    if (!driver->library) {
        *reason = "no OpenCL library is installed";
        return false;
    }
    bool whole = true;
    void *symbol;
    // dlsym gives a data pointer; ISO C has no conversion to a function's, so the bits are copied.
#define X(name)                                     \
    symbol = dlsym(driver->library, "cl" #name);    \
    memcpy(&driver->name, &symbol, sizeof symbol);  \
    whole = whole && symbol;
    TN_CL_FUNCTIONS(X)
#undef X
    symbol = dlsym(driver->library, "clCreateCommandQueueWithProperties");
    memcpy(&driver->CreateQueueWithProperties, &symbol, sizeof symbol);
    if (!whole) {
        tn_cl_driver_close(driver);
        *reason = "the OpenCL library lacks functions of OpenCL 1.2";
    }
    return whole;
}

void tn_cl_driver_close(tn_cl_driver *driver)
{
    if (driver->library) {
        (void)dlclose(driver->library);
    }
    memset(driver, 0, sizeof *driver);
}

const char *tn_cl_error_text(cl_int error)
{
#define X(name) case name: return #name;
    switch (error) {
        X(CL_SUCCESS) X(CL_DEVICE_NOT_FOUND) X(CL_DEVICE_NOT_AVAILABLE) X(CL_COMPILER_NOT_AVAILABLE)
        X(CL_MEM_OBJECT_ALLOCATION_FAILURE) X(CL_OUT_OF_RESOURCES) X(CL_OUT_OF_HOST_MEMORY) X(CL_PROFILING_INFO_NOT_AVAILABLE)
        X(CL_MEM_COPY_OVERLAP) X(CL_IMAGE_FORMAT_MISMATCH) X(CL_IMAGE_FORMAT_NOT_SUPPORTED) X(CL_BUILD_PROGRAM_FAILURE)
        X(CL_MAP_FAILURE) X(CL_MISALIGNED_SUB_BUFFER_OFFSET) X(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST)
        X(CL_INVALID_VALUE) X(CL_INVALID_DEVICE_TYPE) X(CL_INVALID_PLATFORM) X(CL_INVALID_DEVICE) X(CL_INVALID_CONTEXT)
        X(CL_INVALID_QUEUE_PROPERTIES) X(CL_INVALID_COMMAND_QUEUE) X(CL_INVALID_HOST_PTR) X(CL_INVALID_MEM_OBJECT)
        X(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR) X(CL_INVALID_IMAGE_SIZE) X(CL_INVALID_SAMPLER) X(CL_INVALID_BINARY)
        X(CL_INVALID_BUILD_OPTIONS) X(CL_INVALID_PROGRAM) X(CL_INVALID_PROGRAM_EXECUTABLE) X(CL_INVALID_KERNEL_NAME)
        X(CL_INVALID_KERNEL_DEFINITION) X(CL_INVALID_KERNEL) X(CL_INVALID_ARG_INDEX) X(CL_INVALID_ARG_VALUE)
        X(CL_INVALID_ARG_SIZE) X(CL_INVALID_KERNEL_ARGS) X(CL_INVALID_WORK_DIMENSION) X(CL_INVALID_WORK_GROUP_SIZE)
        X(CL_INVALID_WORK_ITEM_SIZE) X(CL_INVALID_GLOBAL_OFFSET) X(CL_INVALID_EVENT_WAIT_LIST) X(CL_INVALID_EVENT)
        X(CL_INVALID_OPERATION) X(CL_INVALID_BUFFER_SIZE) X(CL_INVALID_GLOBAL_WORK_SIZE) X(CL_INVALID_IMAGE_DESCRIPTOR)
        X(CL_INVALID_COMPILER_OPTIONS) X(CL_INVALID_LINKER_OPTIONS) X(CL_LINK_PROGRAM_FAILURE)
    default:
        return "an error without a name";
    }
#undef X
}

tn_status tn_cl_fail(tn_diag *diag, const char *place, const char *call, cl_int error)
{
    return tn_fail(diag, TN_DEVICE, place, "OpenCL refused %s: %s (%d)", call, tn_cl_error_text(error), (int)error);
}
