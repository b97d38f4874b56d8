// SPDX-License-Identifier: Apache-2.0
// Operands and results without a copy: large aligned ones where host and device share memory, and those that the application has in
// memory objects of the session's context, also when the session goes on on the CPU. Skipped without a device.
#include "support/unit.h"

#include "api/api.h"
#include "exec/opencl/cl_context.h"

#include <tenon/ext.h>
#include <tenon/tenon.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 32, PIXELS = 28 * 28, CLASSES = 10, IN = BATCH * PIXELS, OUT = BATCH * CLASSES };

static tenon_model *model;
static float *x, *y, *want;
static bool refuse;               // the library's requests for memory

static void *take(void *context, size_t bytes, size_t alignment)
{
    (void)context;
    return refuse ? NULL : aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}

static void give(void *context, void *block)
{
    (void)context;
    free(block);
}

static tenon_error *error;

static void must(tenon_status status)
{
    if (status != TENON_OK) {
        fail_msg("%s: %s", tenon_error_place(error), tenon_error_message(error));
    }
}

static tenon_session *open_session(const char *device)
{
    tenon_session_options options;
    tenon_session *session = NULL;
    tenon_session_options_init(&options);
    options.device = device;
    return tenon_session_create(&session, model, &options, NULL) == TENON_OK ? session : NULL;
}

static void run(tenon_session *session, const float *in, float *out)
{
    const int64_t dims[4] = {BATCH, 1, 28, 28};
    must(tenon_session_bind_input(session, "image", TENON_FLOAT32, 4, dims, (void *)(uintptr_t)in, IN * sizeof *in, &error));
    must(tenon_session_bind_output(session, "digit", out, OUT * sizeof *out, &error));
    must(tenon_session_run(session, NULL, 0, &error));
}

static void expect(const float *got)
{
    for (int i = 0; i < OUT; i++) {
        assert_true(fabsf(got[i] - want[i]) <= 1e-4f * (1 + fabsf(want[i])));
    }
}

static int prepare(void **state)
{
    tenon_model_options options;
    (void)state;
    tenon_model_options_init(&options);
    options.allocator = (tenon_allocator){take, give, NULL};
    x = aligned_alloc(4096, IN * sizeof *x + 4096);
    y = aligned_alloc(4096, (OUT * sizeof *y + 8192) / 4096 * 4096);
    want = calloc(OUT, sizeof *want);
    if (!x || !y || !want || tenon_model_open(&model, "../examples/digits/digits.onnx", &options, NULL) != TENON_OK) {
        return 1;
    }
    for (int i = 0; i < IN; i++) {
        x[i] = (float)(i * 7 % 13) / 13;
    }
    tenon_session *session = open_session("cpu");
    run(session, x, want);
    tenon_session_destroy(session);
    return 0;
}

static int clean(void **state)
{
    (void)state;
    tenon_model_destroy(model);
    free(x);
    free(y);
    free(want);
    return 0;
}

static uint64_t copied(const tenon_session *session) { return session->devices[0]->vtable->copied(session->devices[0]); }

// Lends tensors however small they are.
static tenon_session *open_device(void)
{
    tenon_session *session = open_session("opencl");
    if (session) {
        ((tn_cl_context *)session->devices[0])->lend_from = 0;
    } else {
        print_message("no OpenCL device\n");
    }
    return session;
}

static void in_host_memory(void **state)
{
    (void)state;
    tenon_session *session = open_device();
    if (!session) {
        skip();
    }
    float *aside = malloc(OUT * sizeof *aside);
    assert_non_null(aside);
    run(session, x, y);
    expect(y);
    memcpy(aside, y, OUT * sizeof *y);
    const uint64_t first = copied(session);
    if (((tn_cl_context *)session->devices[0])->facts.unified) {
        assert_int_equal(first, 0);
    }
    memmove(x + 2, x, IN * sizeof *x);               // where no buffer may lie
    memset(y, 0, OUT * sizeof *y);
    run(session, x + 2, y + 2);
    assert_int_equal(copied(session) - first, (IN + OUT) * sizeof *x);
    assert_memory_equal(y + 2, aside, OUT * sizeof *y);
    memmove(x, x + 2, IN * sizeof *x);
    run(session, x, y);
    assert_memory_equal(y, aside, OUT * sizeof *y);
    free(aside);
    tenon_session_destroy(session);
}

static void in_memory_objects(void **state)
{
    (void)state;
    tenon_session *session = open_device();
    if (!session) {
        skip();
    }
    tenon_opencl handles;
    must(tenon_session_opencl(session, &handles, &error));
    const tn_cl_driver *driver = &((tn_cl_context *)session->devices[0])->driver;
    assert_true(handles.context && handles.device && handles.queue);
    float *garbage = malloc(IN * sizeof *garbage), *got = malloc(OUT * sizeof *got);
    assert_true(garbage && got);
    memset(garbage, 0x7f, IN * sizeof *garbage);
    memset(y, 0x5a, OUT * sizeof *y);
    cl_mem in = driver->CreateBuffer(handles.context, CL_MEM_READ_ONLY, IN * sizeof *x, NULL, NULL);
    cl_mem out = driver->CreateBuffer(handles.context, CL_MEM_READ_WRITE, OUT * sizeof *y, NULL, NULL);
    assert_true(in && out);
    assert_int_equal(driver->EnqueueWriteBuffer(handles.queue, in, CL_FALSE, 0, IN * sizeof *x, x, 0, NULL, NULL), CL_SUCCESS);
    must(tenon_session_share_opencl(session, garbage, IN * sizeof *x, in, &error));
    must(tenon_session_share_opencl(session, y, OUT * sizeof *y, out, &error));
    for (int i = 0; i < 2; i++) {
        run(session, garbage, y);
        assert_int_equal(driver->EnqueueReadBuffer(handles.queue, out, CL_TRUE, 0, OUT * sizeof *y, got, 0, NULL, NULL), CL_SUCCESS);
        expect(got);
        memset(got, 0, OUT * sizeof *got);
    }
    assert_int_equal(copied(session), 0);
    assert_int_equal(((unsigned char *)y)[0], 0x5a);                 // host memory was not touched
    // The device is lost: what the CPU works with comes from the objects, and goes there.
    tn_diag diag = {0};
    assert_true(tn_api_lose_devices(session, &diag));
    memset(garbage, 0x7f, IN * sizeof *garbage);
    run(session, garbage, y);
    expect(y);
    assert_int_equal(driver->EnqueueReadBuffer(handles.queue, out, CL_TRUE, 0, OUT * sizeof *y, got, 0, NULL, NULL), CL_SUCCESS);
    expect(got);
    assert_int_equal(tenon_session_opencl(session, &handles, NULL), TENON_UNSUPPORTED);
    (void)driver->ReleaseMemObject(in);
    (void)driver->ReleaseMemObject(out);
    free(garbage);
    free(got);
    tenon_session_destroy(session);
}

static void refusals(void **state)
{
    (void)state;
    tenon_session *session = open_device(), *other, *cpu = open_session("cpu");
    tenon_opencl handles;
    assert_int_equal(tenon_session_opencl(cpu, &handles, NULL), TENON_UNSUPPORTED);
    assert_int_equal(tenon_session_share_opencl(cpu, y, 4, y, NULL), TENON_UNSUPPORTED);
    assert_int_equal(tenon_session_opencl(cpu, NULL, NULL), TENON_INVALID_ARGUMENT);
    assert_int_equal(tenon_session_share_opencl(cpu, NULL, 4, y, NULL), TENON_INVALID_ARGUMENT);
    tenon_session_destroy(cpu);
    if (!session) {
        skip();
    }
    assert_non_null(other = open_session("opencl"));
    assert_int_equal(tenon_session_opencl(other, &handles, NULL), TENON_OK);
    const tn_cl_driver *driver = &((tn_cl_context *)session->devices[0])->driver;
    cl_mem foreign = driver->CreateBuffer(handles.context, CL_MEM_READ_WRITE, 64, NULL, NULL);
    assert_int_equal(tenon_session_share_opencl(session, y, 64, foreign, NULL), TENON_INVALID_ARGUMENT);
    assert_int_equal(tenon_session_share_opencl(other, y, 65, foreign, NULL), TENON_INVALID_ARGUMENT);
    refuse = true;
    assert_int_equal(tenon_session_share_opencl(other, y, 64, foreign, NULL), TENON_OUT_OF_MEMORY);
    refuse = false;
    assert_int_equal(tenon_session_share_opencl(other, y, 64, foreign, NULL), TENON_OK);
    assert_int_equal(tenon_session_share_opencl(other, y, 32, foreign, NULL), TENON_OK);     // in place of the first
    assert_int_equal(tenon_session_share_opencl(other, y, 64, NULL, NULL), TENON_OK);
    assert_int_equal(tenon_session_share_opencl(other, y, 64, NULL, NULL), TENON_OK);
    assert_int_equal(tenon_session_share_opencl(other, y, 64, foreign, NULL), TENON_OK);     // the session gives it back
    (void)driver->ReleaseMemObject(foreign);
    tenon_session_destroy(other);
    tenon_session_destroy(session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(in_host_memory), cmocka_unit_test(in_memory_objects), cmocka_unit_test(refusals)};
    return cmocka_run_group_tests(tests, prepare, clean);
}
