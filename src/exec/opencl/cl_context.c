// SPDX-License-Identifier: Apache-2.0
// Opening the device and building programs. A program is its source text and nothing else: what varies is written into the text, so
// two kernels with equal text share one build.
// Ownership: see the header. Threads: see the header.
#include "exec/opencl/cl_context.h"

#include "base/map.h"
#include "exec/opencl/cl_disk.h"
#include "exec/opencl/run/cl_border.h"
#include "exec/opencl/tune/cl_table.h"

#include <stdio.h>
#include <string.h>

#define MAX_PLATFORMS 16
#define MAX_DEVICES 16
#define IMAGE_PITCH_ALIGNMENT 0x104A      // of OpenCL 2.0 and cl_khr_image2d_from_buffer

static int rank_of(cl_device_type type)
{
    return type & CL_DEVICE_TYPE_GPU ? 3 : type & CL_DEVICE_TYPE_ACCELERATOR ? 2 : 1;
}

tn_status tn_cl_pick(const tn_cl_driver *driver, cl_platform_id *platform, cl_device_id *id, tn_diag *diag)
{
    cl_platform_id platforms[MAX_PLATFORMS];
    cl_uint n_platforms = 0;
    int best = 0;
    const cl_int error = driver->GetPlatformIDs(MAX_PLATFORMS, platforms, &n_platforms);
    if (error != CL_SUCCESS || n_platforms == 0) {
        return tn_fail(diag, TN_DEVICE, "opencl", "the OpenCL library finds no driver");
    }
    for (cl_uint p = 0; p < n_platforms && p < MAX_PLATFORMS; p++) {
        cl_device_id devices[MAX_DEVICES];
        cl_uint n_devices = 0;
        if (driver->GetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, MAX_DEVICES, devices, &n_devices) != CL_SUCCESS) {
            continue;
        }
        for (cl_uint d = 0; d < n_devices && d < MAX_DEVICES; d++) {
            cl_device_type type = 0;
            cl_bool compiler = CL_FALSE, available = CL_FALSE;
            (void)driver->GetDeviceInfo(devices[d], CL_DEVICE_TYPE, sizeof type, &type, NULL);
            (void)driver->GetDeviceInfo(devices[d], CL_DEVICE_COMPILER_AVAILABLE, sizeof compiler, &compiler, NULL);
            (void)driver->GetDeviceInfo(devices[d], CL_DEVICE_AVAILABLE, sizeof available, &available, NULL);
            if (compiler && available && rank_of(type) > best) {
                best = rank_of(type);
                *platform = platforms[p];
                *id = devices[d];
            }
        }
    }
    return best ? TN_OK : tn_fail(diag, TN_DEVICE, "opencl", "no OpenCL driver has a device with a compiler");
}

void tn_cl_facts_read(const tn_cl_driver *driver, cl_device_id id, tn_cl_facts *facts)
{
    char extensions[8192] = "";
    cl_device_type type = 0;
    cl_bool images = CL_FALSE, unified = CL_FALSE;
    cl_ulong memory = 0, largest = 0, local = 0;
    cl_uint units = 0, bits = 0;
    cl_device_fp_config single = 0;
    memset(facts, 0, sizeof *facts);
    (void)driver->GetDeviceInfo(id, CL_DEVICE_NAME, sizeof facts->name - 1, facts->name, NULL);
    (void)driver->GetDeviceInfo(id, CL_DEVICE_VERSION, sizeof facts->version - 1, facts->version, NULL);
    (void)driver->GetDeviceInfo(id, CL_DRIVER_VERSION, sizeof facts->driver - 1, facts->driver, NULL);
    (void)driver->GetDeviceInfo(id, CL_DEVICE_EXTENSIONS, sizeof extensions - 1, extensions, NULL);
    (void)driver->GetDeviceInfo(id, CL_DEVICE_TYPE, sizeof type, &type, NULL);
    (void)driver->GetDeviceInfo(id, CL_DEVICE_IMAGE_SUPPORT, sizeof images, &images, NULL);
    (void)driver->GetDeviceInfo(id, CL_DEVICE_HOST_UNIFIED_MEMORY, sizeof unified, &unified, NULL);
    (void)driver->GetDeviceInfo(id, CL_DEVICE_IMAGE2D_MAX_WIDTH, sizeof facts->max_width, &facts->max_width, NULL);
    (void)driver->GetDeviceInfo(id, CL_DEVICE_IMAGE2D_MAX_HEIGHT, sizeof facts->max_height, &facts->max_height, NULL);
    (void)driver->GetDeviceInfo(id, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof facts->max_group, &facts->max_group, NULL);
    (void)driver->GetDeviceInfo(id, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof memory, &memory, NULL);
    (void)driver->GetDeviceInfo(id, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof largest, &largest, NULL);
    (void)driver->GetDeviceInfo(id, CL_DEVICE_LOCAL_MEM_SIZE, sizeof local, &local, NULL);
    (void)driver->GetDeviceInfo(id, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof units, &units, NULL);
    (void)driver->GetDeviceInfo(id, CL_DEVICE_MEM_BASE_ADDR_ALIGN, sizeof bits, &bits, NULL);
    (void)driver->GetDeviceInfo(id, CL_DEVICE_SINGLE_FP_CONFIG, sizeof single, &single, NULL);
    facts->exact = (single & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT) != 0;
    facts->images = images;
    facts->unified = unified;
    facts->dot = strstr(extensions, "cl_khr_integer_dot_product") != NULL;
    facts->half = strstr(extensions, "cl_khr_fp16") != NULL;
    facts->performance_hint = strstr(extensions, "cl_qcom_perf_hint") != NULL;
    facts->context_priority = strstr(extensions, "cl_qcom_priority_hint") != NULL;
    facts->queue_priority = strstr(extensions, "cl_khr_priority_hints") != NULL;
    if (strstr(extensions, "cl_khr_image2d_from_buffer")) {
        cl_uint texels = 0;
        (void)driver->GetDeviceInfo(id, IMAGE_PITCH_ALIGNMENT, sizeof texels, &texels, NULL);
        facts->pitch = texels;
    }
    facts->is_cpu = (type & CL_DEVICE_TYPE_CPU) != 0;
    facts->memory_bytes = memory;
    facts->largest_bytes = largest;
    facts->local_bytes = (size_t)local;
    facts->units = units;
    facts->alignment = TN_MAX(bits / 8, 64u);
    facts->max_group = TN_MAX(facts->max_group, (size_t)1);
}

tn_status tn_cl_context_open(tn_cl_context **out, const tn_cl_driver *driver, tn_heap *heap, const tn_cpu *cpu, tn_diag *diag)
{
    cl_platform_id platform = NULL;
    cl_int error = CL_SUCCESS;
    tn_cl_driver own = *driver;
    tn_cl_context *cl = tn_take_zero(heap, 1, sizeof *cl);
    if (!cl) {
        tn_cl_driver_close(&own);
        return tn_fail_memory(diag, "opencl", sizeof *cl);
    }
    cl->base.heap = heap;
    cl->base.cpu = *cpu;
    cl->driver = own;
    (void)pthread_mutex_init(&cl->lock, NULL);
    tn_status status = tn_cl_pick(&cl->driver, &platform, &cl->id, diag);
    if (status != TN_OK) {
        goto done;
    }
    cl->platform = platform;
    tn_cl_facts_read(&cl->driver, cl->id, &cl->facts);
    cl->buffers_only = !cl->facts.images;
    cl->lend_from = (size_t)64 << 10;     // smaller tensors are copied in less time than a buffer takes to be made
    // All items of a group read the same filter texel: one load of a cache line on large GPUs, where the texture units answer each item
    // on its own. Small ones, which share their memory with the CPU, have a cache for textures and none to speak of for buffers.
    cl->filter_buffers = !cl->facts.unified && !cl->facts.is_cpu;
    cl->no_sampler = cl->filter_buffers;
    cl->twins = cl->filter_buffers;
    cl->baked = !cl->facts.is_cpu;
    cl->float_sums = cl->facts.is_cpu;
    cl->halves = cl->facts.half;
    const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM, (cl_context_properties)platform, 0};
    cl->context = cl->driver.CreateContext(properties, 1, &cl->id, NULL, NULL, &error);
    if (!cl->context) {
        status = tn_cl_fail(diag, "opencl", "a context", error);
        goto done;
    }
    cl->queue = cl->driver.CreateCommandQueue(cl->context, cl->id, 0, &error);
    if (!cl->queue) {
        status = tn_cl_fail(diag, "opencl", "a queue", error);
        goto done;
    }
    *out = cl;
    return TN_OK;
done:
    tn_cl_context_close(cl);
    return status;
}

cl_command_queue tn_cl_timing_queue(tn_cl_context *cl)
{
    cl_int error = CL_SUCCESS;
    (void)pthread_mutex_lock(&cl->lock);
    if (!cl->timing) {
        cl->timing = cl->driver.CreateCommandQueue(cl->context, cl->id, CL_QUEUE_PROFILING_ENABLE, &error);
    }
    (void)pthread_mutex_unlock(&cl->lock);
    return cl->timing;
}

void tn_cl_context_close(tn_cl_context *cl)
{
    if (!cl) {
        return;
    }
    while (cl->programs) {
        tn_cl_program *program = cl->programs;
        cl->programs = program->next;
        (void)cl->driver.ReleaseProgram(program->program);
        tn_give(cl->base.heap, program);
    }
    tn_cl_share_release(cl);
    tn_cl_table_release(&cl->tiles, cl->base.heap);
    if (cl->timing) {
        (void)cl->driver.ReleaseCommandQueue(cl->timing);
    }
    if (cl->queue) {
        (void)cl->driver.ReleaseCommandQueue(cl->queue);
    }
    if (cl->context) {
        (void)cl->driver.ReleaseContext(cl->context);
    }
    (void)pthread_mutex_destroy(&cl->lock);
    tn_cl_driver_close(&cl->driver);
    tn_give(cl->base.heap, cl);
}

// ---- programs ----

static tn_status fail_build(tn_cl_context *cl, cl_program program, const char *place, cl_int error, tn_diag *diag)
{
    char log[2048] = "";
    size_t bytes = 0;
    // The log may be longer than our room; then the driver gives nothing, so it is asked for only when it fits.
    if (cl->driver.GetProgramBuildInfo(program, cl->id, CL_PROGRAM_BUILD_LOG, 0, NULL, &bytes) == CL_SUCCESS && bytes < sizeof log) {
        (void)cl->driver.GetProgramBuildInfo(program, cl->id, CL_PROGRAM_BUILD_LOG, sizeof log - 1, log, NULL);
    }
    return tn_fail(diag, TN_DEVICE, place, "the OpenCL compiler refused a kernel: %s. %s", tn_cl_error_text(error), log);
}

static tn_status build(tn_cl_context *cl, const char *source, size_t length, const char *options, const char *place, cl_program *out,
                       tn_diag *diag)
{
    cl_int error = CL_SUCCESS;
    cl_program program = cl->driver.CreateProgramWithSource(cl->context, 1, &source, &length, &error);
    if (!program) {
        return tn_cl_fail(diag, place, "a program", error);
    }
    error = cl->driver.BuildProgram(program, 1, &cl->id, options, NULL, NULL);
    if (error != CL_SUCCESS) {
        const tn_status status = fail_build(cl, program, place, error, diag);
        (void)cl->driver.ReleaseProgram(program);
        return status;
    }
    *out = program;
    cl->built++;
    atomic_fetch_add(&cl->base.programs_built, 1);
    return TN_OK;
}

static tn_status find_or_build(tn_cl_context *cl, const char *source, size_t length, const char *options, const char *cache,
                               const char *place, cl_program *program, tn_diag *diag)
{
    const uint64_t hash[2] = {tn_hash(source, length, 1), tn_hash(source, length, tn_hash(options, strlen(options), 2))};
    for (tn_cl_program *p = cl->programs; p; p = p->next) {
        if (p->hash[0] == hash[0] && p->hash[1] == hash[1]) {
            *program = p->program;
            atomic_fetch_add(&cl->base.programs_found, 1);
            return TN_OK;
        }
    }
    tn_cl_program *fresh = tn_take_zero(cl->base.heap, 1, sizeof *fresh);
    if (!fresh) {
        return tn_fail_memory(diag, place, sizeof *fresh);
    }
    if (cache && tn_cl_disk_load(cl, cache, hash, &fresh->program)) {
        cl->loaded++;
        atomic_fetch_add(&cl->base.programs_found, 1);
    } else {
        const tn_status status = build(cl, source, length, options, place, &fresh->program, diag);
        if (status != TN_OK) {
            tn_give(cl->base.heap, fresh);
            return status;
        }
        fresh->unsaved = true;
    }
    memcpy(fresh->hash, hash, sizeof hash);
    fresh->next = cl->programs;
    cl->programs = fresh;
    *program = fresh->program;
    return TN_OK;
}

void tn_cl_programs_save(tn_cl_context *cl, const char *cache)
{
    (void)pthread_mutex_lock(&cl->lock);
    for (tn_cl_program *p = cl->programs; p && cache; p = p->next) {
        if (p->unsaved) {
            tn_cl_disk_store(cl, cache, p->hash, p->program);
            p->unsaved = false;
        }
    }
    (void)pthread_mutex_unlock(&cl->lock);
}

tn_status tn_cl_program_get(tn_cl_context *cl, const char *source, size_t length, const char *options, const char *cache,
                            const char *place, cl_program *program, tn_diag *diag)
{
    (void)pthread_mutex_lock(&cl->lock);
    const tn_status status = find_or_build(cl, source, length, options, cache, place, program, diag);
    (void)pthread_mutex_unlock(&cl->lock);
    return status;
}

cl_program tn_cl_program_twin(tn_cl_context *cl, cl_program program)
{
    size_t bytes = 0;
    if (cl->driver.GetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof bytes, &bytes, NULL) != CL_SUCCESS || bytes == 0) {
        return NULL;
    }
    unsigned char *binary = tn_take(cl->base.heap, bytes);
    cl_program twin = NULL;
    if (binary && cl->driver.GetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof binary, &binary, NULL) == CL_SUCCESS) {
        const unsigned char *payload = binary;
        cl_int status = CL_SUCCESS, error = CL_SUCCESS;
        twin = cl->driver.CreateProgramWithBinary(cl->context, 1, &cl->id, &bytes, &payload, &status, &error);
        if (twin && (error != CL_SUCCESS || status != CL_SUCCESS || cl->driver.BuildProgram(twin, 1, &cl->id, "", NULL, NULL) != CL_SUCCESS)) {
            (void)cl->driver.ReleaseProgram(twin);
            twin = NULL;
        }
    }
    tn_give(cl->base.heap, binary);
    return twin;
}
