// SPDX-License-Identifier: Apache-2.0
// Sessions whose OpenCL device fails at its n-th call, for each n: memory, builds, kernels, transfers, a lost device. The session says what
// was refused, goes on on the CPU with right results, counts it, and gives everything back; with strict it fails, and says why. Also: drivers
// that start in several threads, and processes forked from one whose driver runs. Skipped without a device.
#include "support/unit.h"

#include "failing_driver.h"

#include "api/api.h"
#include "exec/opencl/cl_context.h"

#include <tenon/tenon.h>

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const int64_t dims[4] = {1, 1, 28, 28};
static float x[28 * 28], want[10];
static char folder[] = "/tmp/tenon-lost-XXXXXX";
static char said[512];
static long blocks;

static void *take(void *context, size_t bytes, size_t alignment)
{
    (void)context;
    blocks++;
    return aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}

static void give(void *context, void *block)
{
    (void)context;
    blocks--;
    free(block);
}

static void hear(void *context, tenon_log_level level, const char *text)
{
    (void)context;
    if (level >= TENON_LOG_WARNING && !said[0]) {
        (void)snprintf(said, sizeof said, "%s", text);
    }
}

static tenon_model *open_model(void)
{
    static const tenon_allocator allocator = {take, give, NULL};
    tenon_model_options options;
    tenon_model *model = NULL;
    tenon_model_options_init(&options);
    options.allocator = allocator;
    options.log = hear;
    assert_int_equal(tenon_model_open(&model, "../examples/digits/digits.onnx", &options, NULL), TENON_OK);
    return model;
}

static tenon_session *open_session(tenon_model *model, const char *device, unsigned strict)
{
    tenon_session_options options;
    tenon_session *session = NULL;
    tenon_session_options_init(&options);
    options.device = device;
    options.strict = strict;
    options.threads = 1;
    options.cache = folder;
    return tenon_session_create(&session, model, &options, NULL) == TENON_OK ? session : NULL;
}

static tenon_status run(tenon_session *session, tenon_error **error)
{
    const tenon_status status = tenon_session_set_input(session, "image", TENON_FLOAT32, 4, dims, x, sizeof x, error);
    return status == TENON_OK ? tenon_session_run(session, NULL, 0, error) : status;
}

static bool right(tenon_session *session)
{
    tenon_tensor out;
    bool same = tenon_session_output(session, 0, &out, NULL) == TENON_OK && out.bytes == sizeof want;
    for (int i = 0; i < 10 && same; i++) {
        same = fabsf(((const float *)out.data)[i] - want[i]) <= 1e-4f * (1 + fabsf(want[i]));
    }
    return same;
}

// A session whose device fails at call n from its first plan on.
static tenon_session *open_failing(tenon_model *model, int n, unsigned strict)
{
    countdown = -1;
    tenon_session *session = open_session(model, "opencl", strict);
    if (!session) {
        return NULL;
    }
    tn_cl_context *cl = (tn_cl_context *)session->devices[0];
    void *library = cl->driver.library;
    real = cl->driver;
    cl->driver = failing_driver();
    cl->driver.library = library;
    countdown = n;
    said[0] = 0;
    return session;
}

static void each_call(void **state)
{
    (void)state;
    tenon_session *cpu = NULL;
    tenon_model *model = open_model();
    for (int i = 0; i < 28 * 28; i++) {
        x[i] = (float)(i * 7 % 13) / 13;
    }
    cpu = open_session(model, "cpu", 0);
    tenon_tensor out;
    assert_int_equal(run(cpu, NULL), TENON_OK);
    assert_int_equal(tenon_session_output(cpu, 0, &out, NULL), TENON_OK);
    memcpy(want, out.data, sizeof want);
    tenon_session_destroy(cpu);
    bool failed = true;
    int n = 1;
    for (; failed; n++) {
        tenon_session *session = open_failing(model, n, 0);
        if (!session) {
            print_message("no OpenCL device\n");
            tenon_model_destroy(model);
            skip();
        }
        assert_int_equal(run(session, NULL), TENON_OK);
        assert_true(right(session));
        failed = countdown <= 0;
        // A buffer that cannot be lent is copied; a program that cannot be read is built: neither loses the device.
        assert_int_equal(session->context.device_fallbacks > 0, session->context.dead != 0);
        assert_true(!session->context.dead || said[0]);
        countdown = -1;
        assert_int_equal(run(session, NULL), TENON_OK);       // and once more, wherever it is now
        assert_true(right(session));
        tenon_session_destroy(session);
        assert_int_equal(live, 0);
        assert_true(n < 500);
    }
    print_message("%d calls of the driver\n", n - 1);
    tenon_model_destroy(model);
    assert_int_equal(blocks, 0);
}

static void strict(void **state)
{
    (void)state;
    tenon_model *model = open_model();
    tenon_session *session = open_failing(model, 3, TENON_STRICT_DEVICE);
    tenon_error *error = NULL;
    if (!session) {
        tenon_model_destroy(model);
        skip();
    }
    assert_int_equal(run(session, &error), TENON_DEVICE);
    assert_non_null(strstr(tenon_error_message(error), "OpenCL refused"));
    tenon_error_destroy(error);
    countdown = -1;
    assert_int_equal(run(session, NULL), TENON_OK);
    tenon_session_destroy(session);
    tenon_model_destroy(model);
    assert_int_equal(live, 0);
    assert_int_equal(blocks, 0);
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : 1;
}

static int remove_folder(void **state)
{
    (void)state;
    (void)tenon_cache_prune(folder, 0);
    return rmdir(folder);
}

// ---- starting the driver ----

typedef struct starter {
    pthread_t thread;
    tenon_model *model;
    tenon_error *error;
    tenon_status status;
} starter;

static void *start(void *context)
{
    starter *s = context;
    tenon_session_options options;
    tenon_session *session = NULL;
    tenon_session_options_init(&options);
    options.device = "opencl";
    options.threads = 1;
    s->status = tenon_session_create(&session, s->model, &options, &s->error);
    tenon_session_destroy(session);
    return NULL;
}

// The first test, so that no driver runs yet. Without a device all threads say the same.
static void threads_start_it_at_once(void **unused)
{
    starter starters[4] = {0};
    tenon_model *model = NULL;
    (void)unused;
    assert_int_equal(tenon_model_open(&model, "../examples/digits/digits.onnx", NULL, NULL), TENON_OK);
    for (int i = 0; i < 4; i++) {
        starters[i].model = model;
        assert_int_equal(pthread_create(&starters[i].thread, NULL, start, &starters[i]), 0);
    }
    for (int i = 0; i < 4; i++) {
        (void)pthread_join(starters[i].thread, NULL);
    }
    for (int i = 0; i < 4; i++) {
        assert_int_equal(starters[i].status, starters[0].status);
        tenon_error_destroy(starters[i].error);
    }
    tenon_model_destroy(model);
}

static void a_forked_process_has_none(void **unused)
{
    starter s = {0};
    int status;
    (void)unused;
    assert_int_equal(tenon_model_open(&s.model, "../examples/digits/digits.onnx", NULL, NULL), TENON_OK);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        (void)start(&s);
        _exit(s.status == TENON_DEVICE && strstr(tenon_error_message(s.error), "fork") ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    tenon_model_destroy(s.model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(threads_start_it_at_once), cmocka_unit_test(each_call), cmocka_unit_test(strict),
                                       cmocka_unit_test(a_forked_process_has_none)};
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
