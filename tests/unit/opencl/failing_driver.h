// SPDX-License-Identifier: Apache-2.0
// An OpenCL driver that fails at the n-th call and counts what is made and given back, over a real one. Each test program has its own.
// Ownership: none. Threads: one.
#ifndef TN_FAILING_DRIVER_H
#define TN_FAILING_DRIVER_H

#include "exec/opencl/cl_driver.h"

static tn_cl_driver real;
static int countdown;             // calls until one fails; negative: none does
static int live;                  // objects made and not given back

static bool fails(void) { return countdown > 0 && --countdown == 0; }

static cl_mem CL_API_CALL make_buffer(cl_context context, cl_mem_flags flags, size_t size, void *host, cl_int *error)
{
    if (fails()) {
        *error = CL_MEM_OBJECT_ALLOCATION_FAILURE;
        return NULL;
    }
    live++;
    return real.CreateBuffer(context, flags, size, host, error);
}

static cl_mem CL_API_CALL make_image(cl_context context, cl_mem_flags flags, const cl_image_format *format, const cl_image_desc *desc, void *host,
                                     cl_int *error)
{
    if (fails()) {
        *error = CL_INVALID_IMAGE_SIZE;
        return NULL;
    }
    live++;
    return real.CreateImage(context, flags, format, desc, host, error);
}

static cl_int CL_API_CALL drop_mem(cl_mem mem)
{
    live--;
    return real.ReleaseMemObject(mem);
}

static cl_kernel CL_API_CALL make_kernel(cl_program program, const char *name, cl_int *error)
{
    if (fails()) {
        *error = CL_OUT_OF_HOST_MEMORY;
        return NULL;
    }
    live++;
    return real.CreateKernel(program, name, error);
}

static cl_int CL_API_CALL drop_kernel(cl_kernel kernel)
{
    live--;
    return real.ReleaseKernel(kernel);
}

static cl_program CL_API_CALL make_program(cl_context context, cl_uint count, const char **texts, const size_t *lengths, cl_int *error)
{
    if (fails()) {
        *error = CL_OUT_OF_HOST_MEMORY;
        return NULL;
    }
    live++;
    return real.CreateProgramWithSource(context, count, texts, lengths, error);
}

static cl_int CL_API_CALL drop_program(cl_program program)
{
    live--;
    return real.ReleaseProgram(program);
}

static cl_program CL_API_CALL load_program(cl_context context, cl_uint count, const cl_device_id *devices, const size_t *lengths,
                                           const unsigned char **binaries, cl_int *status, cl_int *error)
{
    cl_program program = real.CreateProgramWithBinary(context, count, devices, lengths, binaries, status, error);
    live += program != NULL;
    return program;
}

static cl_int CL_API_CALL build(cl_program program, cl_uint count, const cl_device_id *devices, const char *options,
                                void(CL_CALLBACK *notify)(cl_program program, void *data), void *data)
{
    return fails() ? CL_BUILD_PROGRAM_FAILURE : real.BuildProgram(program, count, devices, options, notify, data);
}

static cl_int CL_API_CALL enqueue(cl_command_queue queue, cl_kernel kernel, cl_uint dims, const size_t *offset, const size_t *global,
                                  const size_t *local, cl_uint n, const cl_event *wait, cl_event *event)
{
    return fails() ? CL_OUT_OF_RESOURCES : real.EnqueueNDRangeKernel(queue, kernel, dims, offset, global, local, n, wait, event);
}

static cl_int CL_API_CALL finish(cl_command_queue queue)
{
    (void)real.Finish(queue);
    return fails() ? CL_OUT_OF_RESOURCES : CL_SUCCESS;      // what a lost device says
}

static cl_int CL_API_CALL set_arg(cl_kernel kernel, cl_uint index, size_t size, const void *value)
{
    return fails() ? CL_INVALID_ARG_SIZE : real.SetKernelArg(kernel, index, size, value);
}

static cl_int CL_API_CALL write_buffer(cl_command_queue queue, cl_mem mem, cl_bool block, size_t offset, size_t size, const void *host, cl_uint n,
                                       const cl_event *wait, cl_event *event)
{
    return fails() ? CL_OUT_OF_RESOURCES : real.EnqueueWriteBuffer(queue, mem, block, offset, size, host, n, wait, event);
}

static cl_int CL_API_CALL read_buffer(cl_command_queue queue, cl_mem mem, cl_bool block, size_t offset, size_t size, void *host, cl_uint n,
                                      const cl_event *wait, cl_event *event)
{
    return fails() ? CL_OUT_OF_RESOURCES : real.EnqueueReadBuffer(queue, mem, block, offset, size, host, n, wait, event);
}

static void *CL_API_CALL map_buffer(cl_command_queue queue, cl_mem mem, cl_bool block, cl_map_flags flags, size_t offset, size_t size, cl_uint n,
                                    const cl_event *wait, cl_event *event, cl_int *error)
{
    if (fails()) {
        *error = CL_MAP_FAILURE;
        return NULL;
    }
    return real.EnqueueMapBuffer(queue, mem, block, flags, offset, size, n, wait, event, error);
}

static tn_cl_driver failing_driver(void)
{
    tn_cl_driver d = real;
    d.CreateBuffer = make_buffer;
    d.CreateImage = make_image;
    d.ReleaseMemObject = drop_mem;
    d.CreateKernel = make_kernel;
    d.ReleaseKernel = drop_kernel;
    d.CreateProgramWithSource = make_program;
    d.CreateProgramWithBinary = load_program;
    d.ReleaseProgram = drop_program;
    d.BuildProgram = build;
    d.EnqueueNDRangeKernel = enqueue;
    d.Finish = finish;
    d.EnqueueWriteBuffer = write_buffer;
    d.EnqueueReadBuffer = read_buffer;
    d.EnqueueMapBuffer = map_buffer;
    d.SetKernelArg = set_arg;
    d.library = NULL;             // stays open for the next one
    return d;
}

#endif
