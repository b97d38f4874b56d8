// SPDX-License-Identifier: Apache-2.0
// A DSP program that is killed again and again, crashes, hangs, or cannot be started again; sessions that share it meanwhile. Results are
// right or there is an error, everything is given back, and the next run works. Skipped where there is no emulator.
#include "hex_bench.h"

#include "api/api.h"
#include "sys/clock.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef struct killer {
    pid_t pid;
    unsigned wait_us;
} killer;

static void *kill_later(void *context)
{
    const killer *k = context;
    usleep(k->wait_us);
    kill(k->pid, SIGKILL);
    return NULL;
}

static void test_kill(void **state)
{
    hex_bench b;
    tn_result_slot dsp[HEX_MOST_RESULTS], cpu[HEX_MOST_RESULTS];
    int hit = 0;
    const int before = hex_open_descriptors();
    hex_bench_open_net(&b, "fixed_q31");
    assert_int_equal(hex_bench_run(&b, HEX_CPU, cpu, 0), TN_OK);
    assert_int_equal(hex_bench_run(&b, HEX_DSP, dsp, 0), TN_OK);
    const size_t bytes = atomic_load(&b.heap.live_bytes);
    const int descriptors = hex_open_descriptors();
    for (int i = 0; i < 100; i++) {
        killer k = {hex_bench_process(&b), (unsigned)(i * 97 % 1500)};
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, kill_later, &k), 0);
        tn_status status = TN_OK;
        // The program that is to be killed, not one that was started since.
        while (status == TN_OK && hex_bench_link(&b)->state && hex_bench_process(&b) == k.pid) {
            status = hex_bench_run(&b, HEX_DSP, dsp, 0);
            if (status == TN_OK) {
                hex_bench_compare(&b, dsp, cpu);
            }
        }
        pthread_join(thread, NULL);
        assert_true(status == TN_OK || status == TN_DEVICE);
        hit += status == TN_DEVICE;
        assert_int_equal(hex_bench_run(&b, HEX_DSP, dsp, 0), TN_OK);
        hex_bench_compare(&b, dsp, cpu);
        assert_true(hex_bench_process(&b) != k.pid);
    }
    assert_true(hit > 0);
    assert_int_equal(atomic_load(&b.heap.live_bytes), bytes);
    assert_int_equal(hex_open_descriptors(), descriptors);
    assert_int_equal(b.devices[0]->vtable->copied(b.devices[0]), 0);
    print_message("%d of 100 kills hit a run\n", hit);
    hex_bench_close(&b);
    assert_int_equal(hex_open_descriptors(), before);
    assert_false(hex_has_children());
}

// The signal of a wild access reaches the program's own handler: the error has what its crash record says.
static void test_crash_record(void **state)
{
    hex_bench b;
    tn_result_slot dsp[HEX_MOST_RESULTS], cpu[HEX_MOST_RESULTS];
    hex_bench_open_net(&b, "float_rne");
    assert_int_equal(hex_bench_run(&b, HEX_CPU, cpu, 0), TN_OK);
    assert_int_equal(hex_bench_run(&b, HEX_DSP, dsp, 0), TN_OK);
    // Between runs nobody asks how it ended, so it is stopped first: the signal comes when the run has begun.
    kill(hex_bench_process(&b), SIGSTOP);
    kill(hex_bench_process(&b), SIGSEGV);
    killer k = {hex_bench_process(&b), 0};
    assert_int_equal(kill(k.pid, SIGCONT), 0);
    tn_status status = TN_OK;
    for (int i = 0; i < 1000 && status == TN_OK && hex_bench_link(&b)->state && hex_bench_process(&b) == k.pid; i++) {
        status = hex_bench_run(&b, HEX_DSP, dsp, 0);
    }
    if (status != TN_OK) {
        assert_int_equal(status, TN_DEVICE);
        assert_non_null(strstr(b.diag.message, "signal 11"));
    }
    assert_int_equal(hex_bench_run(&b, HEX_DSP, dsp, 0), TN_OK);
    hex_bench_compare(&b, dsp, cpu);
    hex_bench_close(&b);
}

static void test_deadline(void **state)
{
    hex_bench b;
    tn_result_slot dsp[HEX_MOST_RESULTS], cpu[HEX_MOST_RESULTS];
    hex_bench_open_net(&b, "float_rne");
    assert_int_equal(hex_bench_run(&b, HEX_CPU, cpu, 0), TN_OK);
    assert_int_equal(hex_bench_run(&b, HEX_DSP, dsp, 0), TN_OK);
    // Stopped: the program hangs for good.
    kill(hex_bench_process(&b), SIGSTOP);
    assert_int_equal(hex_bench_run(&b, HEX_DSP, dsp, tn_clock_ns() + 100000000u), TN_DEADLINE);
    assert_int_equal(hex_bench_run(&b, HEX_DSP, dsp, 0), TN_OK);
    hex_bench_compare(&b, dsp, cpu);
    // Another session has the DSP: the run waits no longer than it may, and the DSP goes on.
    tn_hex_link_lock(hex_bench_link(&b));
    const uint64_t sessions = hex_bench_link(&b)->session;
    assert_int_equal(hex_bench_run(&b, HEX_DSP, dsp, tn_clock_ns() + 30000000u), TN_DEADLINE);
    tn_hex_link_unlock(hex_bench_link(&b));
    assert_int_equal(hex_bench_run(&b, HEX_DSP, dsp, tn_clock_ns() + 60000000000u), TN_OK);
    assert_int_equal(hex_bench_link(&b)->session, sessions);
    hex_bench_compare(&b, dsp, cpu);
    hex_bench_close(&b);
}

// Runs that may not wait for a start or a preparation leave both to go on: the next run has the same program, and what it has done.
static void test_impatient(void **state)
{
    hex_bench b;
    tn_result_slot dsp[HEX_MOST_RESULTS], cpu[HEX_MOST_RESULTS];
    hex_bench_open_net(&b, "float_rne");
    tn_hex_link *link = hex_bench_link(&b);
    assert_int_equal(hex_bench_run(&b, HEX_CPU, cpu, 0), TN_OK);
    assert_int_equal(hex_bench_run(&b, HEX_DSP, dsp, 0), TN_OK);
    uint64_t before = link->session;
    // A signal takes its time: a run may be answered before it, or find the program dead already and start another.
    tn_status died = TN_OK;
    for (int i = 0; i < 100 && died == TN_OK; i++) {
        before = link->session;
        kill(hex_bench_process(&b), SIGKILL);
        died = hex_bench_run(&b, HEX_DSP, dsp, 0);
    }
    assert_int_equal(died, TN_DEVICE);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(hex_bench_run(&b, HEX_DSP, dsp, tn_clock_ns() - 1), TN_DEADLINE);      // while it starts
    }
    tn_hex_link_lock(link);
    assert_int_equal(tn_hex_link_ready(link, &b.diag), TN_OK);
    tn_hex_link_unlock(link);
    for (int i = 0; i < 40; i++) {
        assert_int_equal(hex_bench_run(&b, HEX_DSP, dsp, tn_clock_ns() - 1), TN_DEADLINE);      // while it prepares
        usleep(2000);
    }
    assert_int_equal(link->session, before + 1);
    assert_int_equal(hex_bench_run(&b, HEX_DSP, dsp, 0), TN_OK);
    assert_int_equal(link->session, before + 1);
    hex_bench_compare(&b, dsp, cpu);
    hex_bench_close(&b);
}

// ---- a program that cannot be started again ----

static tn_status refuse_start(void **state, tn_heap *heap, int page_fd, const tn_hex_options *options, tn_diag *diag)
{
    (void)heap, (void)page_fd, (void)options;
    *state = NULL;
    return tn_fail(diag, TN_DEVICE, "hexagon", "the test's emulator could not be started");
}

static int corpse;

static tn_status start_dead(void **state, tn_heap *heap, int page_fd, const tn_hex_options *options, tn_diag *diag)
{
    (void)heap, (void)page_fd, (void)options, (void)diag;
    *state = &corpse;
    return TN_OK;
}

static bool dead(void *state, char *how, size_t size)
{
    (void)state;
    (void)snprintf(how, size, "exit status 127");
    return false;
}

static void bury(void *state, bool asked) { (void)state, (void)asked; }

// Whatever stands in for the emulator must still be able to end the one that runs.
static const tn_hex_transport refusing = {.name = "refusing", .start = refuse_start, .alive = dead, .stop = bury};
static const tn_hex_transport stillborn = {.name = "stillborn", .start = start_dead, .alive = dead, .stop = bury};

static void end_program(tn_hex_link *link, const tn_hex_transport *next)
{
    tn_hex_link_lock(link);
    if (link->state) {
        link->transport->stop(link->state, false);
    }
    link->state = NULL;
    link->transport = next;
    tn_hex_link_unlock(link);
}

static void test_no_restart(void **state)
{
    hex_bench b;
    tn_result_slot dsp[HEX_MOST_RESULTS], cpu[HEX_MOST_RESULTS];
    hex_bench_open_net(&b, "fixed_q31");
    const tn_hex_transport *good = hex_bench_link(&b)->transport;
    assert_int_equal(hex_bench_run(&b, HEX_CPU, cpu, 0), TN_OK);
    assert_int_equal(hex_bench_run(&b, HEX_DSP, dsp, 0), TN_OK);
    const int descriptors = hex_open_descriptors();
    end_program(hex_bench_link(&b), &refusing);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(hex_bench_run(&b, HEX_DSP, dsp, 0), TN_DEVICE);
        assert_non_null(strstr(b.diag.message, "could not be started"));
    }
    end_program(hex_bench_link(&b), &stillborn);
    assert_int_equal(hex_bench_run(&b, HEX_DSP, dsp, 0), TN_DEVICE);
    assert_non_null(strstr(b.diag.message, "exit status 127"));
    assert_int_equal(hex_bench_run(&b, HEX_CPU, cpu, 0), TN_OK);
    // When it can be started again it is.
    end_program(hex_bench_link(&b), good);
    assert_int_equal(hex_bench_run(&b, HEX_DSP, dsp, 0), TN_OK);
    hex_bench_compare(&b, dsp, cpu);
    assert_int_equal(hex_open_descriptors(), descriptors);
    hex_bench_close(&b);
}

// ---- sessions ----

enum { SESSIONS = 4, RUNS = 30, COUNT = 3 * 10 * 11 };

static const int64_t dims[] = {1, 3, 10, 11};
static float data[COUNT];

typedef struct sharer {
    tenon_session *session;
    uint8_t want[4096];
    size_t bytes;
    int wrong, failed;
} sharer;

static tenon_session *make_session(tenon_model *model, const char *device)
{
    tenon_session *session = NULL;
    tenon_error *error = NULL;
    const char *names[] = {"x"};
    tenon_tensor tensor = {.dtype = TENON_FLOAT32, .rank = 4, .data = data, .bytes = sizeof data};
    memcpy(tensor.dims, dims, sizeof dims);
    const tenon_sample sample = {.names = names, .tensors = &tensor, .count = 1};
    tenon_session_options options;
    tenon_session_options_init(&options);
    options.device = device;
    options.precision = "int8";
    options.threads = 1;
    options.calibration = &sample;
    options.calibration_count = 1;
    if (tenon_session_create(&session, model, &options, &error) != TENON_OK ||
        tenon_session_set_input(session, "x", TENON_FLOAT32, 4, dims, data, sizeof data, &error) != TENON_OK) {
        fail_msg("%s", tenon_error_message(error));
    }
    return session;
}

static tenon_model *open_model(void)
{
    tenon_model *model = NULL;
    tenon_error *error = NULL;
    for (int i = 0; i < COUNT; i++) {
        data[i] = (float)(i * 37 % 101) / 25 - 2;
    }
    assert_int_equal(tenon_model_open(&model, "data/session/swallow.onnx", NULL, &error), TENON_OK);
    return model;
}

static void want_of(tenon_model *model, sharer *s)
{
    tenon_session *cpu = make_session(model, "cpu");
    tenon_error *error = NULL;
    tenon_tensor out;
    assert_int_equal(tenon_session_run(cpu, NULL, 0, &error), TENON_OK);
    assert_int_equal(tenon_session_output(cpu, 0, &out, &error), TENON_OK);
    assert_true(out.bytes > 0 && out.bytes <= sizeof s->want);
    memcpy(s->want, out.data, out.bytes);
    s->bytes = out.bytes;
    tenon_session_destroy(cpu);
}

static bool right(const sharer *s)
{
    tenon_tensor out;
    return tenon_session_output(s->session, 0, &out, NULL) == TENON_OK && out.bytes == s->bytes && memcmp(out.data, s->want, s->bytes) == 0;
}

static void *share(void *context)
{
    sharer *s = context;
    for (int i = 0; i < RUNS; i++) {
        tenon_error *error = NULL;
        if (tenon_session_run(s->session, NULL, 0, &error) != TENON_OK) {
            s->failed++;
            tenon_error_destroy(error);
        } else {
            s->wrong += !right(s);
        }
    }
    return NULL;
}

static tn_hex_link *link_of(const tenon_session *session) { return ((tn_hex_device *)session->devices[0])->link; }

static bool crash(tn_hex_link *link)
{
    tn_hex_link_lock(link);
    const pid_t pid = link->state ? link->transport->process(link->state) : 0;      // 0: found dead already
    if (pid > 0) {
        kill(pid, SIGSEGV);
    }
    tn_hex_link_unlock(link);
    return pid > 0;
}

// One of the sessions that share a program brings it down again and again. Each of the others answers rightly all the time: by the program
// that is started again, or by the CPU if it was hit twice in one run.
static void test_shared_crash(void **state)
{
    static sharer sharers[SESSIONS];
    pthread_t threads[SESSIONS];
    if (!hex_bench_present()) {
        skip();
    }
    const int descriptors = hex_open_descriptors();
    tenon_model *model = open_model();
    memset(sharers, 0, sizeof sharers);
    want_of(model, &sharers[0]);
    for (int i = 0; i < SESSIONS; i++) {
        memcpy(sharers[i].want, sharers[0].want, sharers[0].bytes);
        sharers[i].bytes = sharers[0].bytes;
        sharers[i].session = make_session(model, "hexagon");
        assert_ptr_equal(link_of(sharers[i].session), link_of(sharers[0].session));
        assert_int_equal(tenon_session_run(sharers[i].session, NULL, 0, NULL), TENON_OK);
        assert_true(right(&sharers[i]));
    }
    for (int i = 0; i < SESSIONS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, share, &sharers[i]), 0);
    }
    int crashes = 0;
    for (int i = 0; i < 10; i++) {
        crashes += crash(link_of(sharers[0].session));
        usleep(3000);
    }
    for (int i = 0; i < SESSIONS; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(sharers[i].wrong, 0);
        assert_int_equal(sharers[i].failed, 0);
    }
    assert_true(crashes > 0);
    for (int i = 0; i < SESSIONS; i++) {
        tenon_session_destroy(sharers[i].session);
    }
    tenon_model_destroy(model);
    assert_int_equal(hex_open_descriptors(), descriptors);
    assert_false(hex_has_children());
}

static bool on_devices(tenon_session *session)
{
    char *json = NULL;
    assert_int_equal(tenon_report(session, TENON_REPORT_MEMORY, &json, NULL), TENON_OK);
    assert_non_null(strstr(json, "\"device_bytes\":"));
    const bool some = !strstr(json, "\"device_bytes\":0");
    tenon_report_destroy(json);
    return some;
}

// The program cannot come back: the CPU takes over, unless strict says that this is an error.
static void test_policy(void **state)
{
    sharer s = {.bytes = 0}, other = {.bytes = 0};
    tenon_error *error = NULL;
    char *json = NULL;
    if (!hex_bench_present()) {
        skip();
    }
    tenon_model *model = open_model();
    want_of(model, &s);
    s.session = make_session(model, "hexagon");
    other.session = make_session(model, "hexagon");
    assert_int_equal(tenon_session_run(s.session, NULL, 0, &error), TENON_OK);
    assert_int_equal(tenon_session_run(other.session, NULL, 0, &error), TENON_OK);
    other.session->context.strict = TENON_STRICT_DEVICE;
    assert_true(on_devices(s.session));
    const tn_hex_transport *good = link_of(s.session)->transport;
    end_program(link_of(s.session), &refusing);
    assert_int_equal(tenon_session_run(other.session, NULL, 0, &error), TENON_DEVICE);
    assert_non_null(strstr(tenon_error_message(error), "could not be started"));
    tenon_error_destroy(error);
    error = NULL;
    assert_int_equal(tenon_session_run(s.session, NULL, 0, &error), TENON_OK);
    assert_true(right(&s));
    assert_false(on_devices(s.session));
    assert_int_equal(tenon_report(s.session, TENON_REPORT_STATISTICS, &json, NULL), TENON_OK);
    assert_non_null(strstr(json, "\"device_fallbacks\":1"));
    tenon_report_destroy(json);
    // It asks again after a while, and a longer one where the answer is no.
    const uint64_t first = s.session->retry_ns;
    assert_true(first > tn_clock_ns());
    s.session->retry_ns = 0;
    assert_int_equal(tenon_session_run(s.session, NULL, 0, &error), TENON_OK);
    assert_false(on_devices(s.session));
    assert_true(s.session->retry_ns > first);
    // The strict one goes on where it was as soon as there is a program.
    end_program(link_of(s.session), good);
    assert_int_equal(tenon_session_run(other.session, NULL, 0, &error), TENON_OK);
    memcpy(other.want, s.want, s.bytes);
    other.bytes = s.bytes;
    assert_true(right(&other));
    // The one that went to the CPU comes back when its time has come, not before. On a busy machine that may be now.
    assert_int_equal(tenon_session_run(s.session, NULL, 0, &error), TENON_OK);
    if (tn_clock_ns() < s.session->retry_ns) {
        assert_false(on_devices(s.session));
    }
    s.session->retry_ns = 0;
    assert_int_equal(tenon_session_run(s.session, NULL, 0, &error), TENON_OK);
    assert_true(on_devices(s.session));
    assert_true(right(&s));
    assert_int_equal(s.session->losses, 0);
    tenon_session_destroy(s.session);
    tenon_session_destroy(other.session);
    tenon_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kill),       cmocka_unit_test(test_crash_record), cmocka_unit_test(test_deadline),
        cmocka_unit_test(test_impatient),  cmocka_unit_test(test_no_restart), cmocka_unit_test(test_shared_crash), cmocka_unit_test(test_policy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
