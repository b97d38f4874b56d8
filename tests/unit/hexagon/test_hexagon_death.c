// SPDX-License-Identifier: Apache-2.0
// A DSP program that is killed again and again, crashes, hangs, or cannot be started again; sessions that share it meanwhile. Results are
// right or there is an error, everything is given back, and the next run works. Skipped where there is no emulator.
#include "hex_session.h"

#include "support/graph_text.h"
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
    const int descriptors = hex_descriptors_beside_spare(hex_bench_link(&b));
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
    assert_int_equal(hex_descriptors_beside_spare(hex_bench_link(&b)), descriptors);
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
    link->spare.off = true;       // one that is there would have both behind it
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
static const tn_hex_transport refusing = {.name = "qemu", .start = refuse_start, .alive = dead, .stop = bury};
static const tn_hex_transport stillborn = {.name = "qemu", .start = start_dead, .alive = dead, .stop = bury};

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
    const int descriptors = hex_descriptors_beside_spare(hex_bench_link(&b));
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
    assert_int_equal(hex_descriptors_beside_spare(hex_bench_link(&b)), descriptors);
    hex_bench_close(&b);
}

// ---- sessions ----

enum { SESSIONS = 4, RUNS = 30 };

typedef struct sharer {
    tenon_session *session;
    int wrong, failed;
} sharer;

static void *share(void *context)
{
    sharer *s = context;
    for (int i = 0; i < RUNS; i++) {
        tenon_error *error = NULL;
        if (tenon_session_run(s->session, NULL, 0, &error) != TENON_OK) {
            s->failed++;
            tenon_error_destroy(error);
        } else {
            s->wrong += !hex_session_right(&hex_swallow, s->session);
        }
    }
    return NULL;
}

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
    hex_model_open(&hex_swallow, NULL, NULL);
    memset(sharers, 0, sizeof sharers);
    for (int i = 0; i < SESSIONS; i++) {
        sharers[i].session = hex_session_make(&hex_swallow, "hexagon", 0);
        assert_ptr_equal(hex_session_link(sharers[i].session), hex_session_link(sharers[0].session));
        assert_int_equal(tenon_session_run(sharers[i].session, NULL, 0, NULL), TENON_OK);
        assert_true(hex_session_right(&hex_swallow, sharers[i].session));
    }
    for (int i = 0; i < SESSIONS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, share, &sharers[i]), 0);
    }
    int crashes = 0;
    for (int i = 0; i < 10; i++) {
        crashes += crash(hex_session_link(sharers[0].session));
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
    hex_model_close(&hex_swallow);
    assert_int_equal(hex_open_descriptors(), descriptors);
    assert_false(hex_has_children());
}

// The program cannot come back: the CPU takes over, unless strict says that this is an error.
static void test_policy(void **state)
{
    tenon_error *error = NULL;
    if (!hex_bench_present()) {
        skip();
    }
    hex_model_open(&hex_swallow, NULL, NULL);
    tenon_session *one = hex_session_make(&hex_swallow, "hexagon", 0), *other = hex_session_make(&hex_swallow, "hexagon", 0);
    assert_int_equal(tenon_session_run(one, NULL, 0, &error), TENON_OK);
    assert_int_equal(tenon_session_run(other, NULL, 0, &error), TENON_OK);
    other->context.strict = TENON_STRICT_DEVICE;
    assert_true(hex_session_on_device(one));
    const tn_hex_transport *good = hex_session_link(one)->transport;
    end_program(hex_session_link(one), &refusing);
    assert_int_equal(tenon_session_run(other, NULL, 0, &error), TENON_DEVICE);
    assert_non_null(strstr(tenon_error_message(error), "could not be started"));
    tenon_error_destroy(error);
    error = NULL;
    assert_int_equal(tenon_session_run(one, NULL, 0, &error), TENON_OK);
    assert_true(hex_session_right(&hex_swallow, one));
    assert_false(hex_session_on_device(one));
    assert_true(hex_session_tells(one, TENON_REPORT_STATISTICS, "\"device_fallbacks\":1"));
    // It asks again after a while, and a longer one where the answer is no.
    const uint64_t first = one->retry_ns;
    assert_true(first > tn_clock_ns());
    one->retry_ns = 0;
    assert_int_equal(tenon_session_run(one, NULL, 0, &error), TENON_OK);
    assert_false(hex_session_on_device(one));
    assert_true(one->retry_ns > first);
    // The strict one goes on where it was as soon as there is a program.
    end_program(hex_session_link(one), good);
    assert_int_equal(tenon_session_run(other, NULL, 0, &error), TENON_OK);
    assert_true(hex_session_right(&hex_swallow, other));
    // The one that went to the CPU comes back when its time has come, not before. On a busy machine that may be now.
    assert_int_equal(tenon_session_run(one, NULL, 0, &error), TENON_OK);
    if (tn_clock_ns() < one->retry_ns) {
        assert_false(hex_session_on_device(one));
    }
    one->retry_ns = 0;
    assert_int_equal(tenon_session_run(one, NULL, 0, &error), TENON_OK);
    assert_true(hex_session_on_device(one));
    assert_true(hex_session_right(&hex_swallow, one));
    assert_int_equal(one->losses, 0);
    tenon_session_destroy(one);
    tenon_session_destroy(other);
    hex_model_close(&hex_swallow);
}

static tenon_status create(tenon_session **session, unsigned strict, tenon_error **error)
{
    tenon_sample sample;
    tenon_tensor tensor;
    tenon_session_options options;
    hex_session_options(&hex_swallow, &sample, &tensor, &options);
    options.strict = strict;
    *session = NULL;
    *error = NULL;
    const tenon_status status = tenon_session_create(session, hex_swallow.model, &options, error);
    if (status == TENON_OK) {
        hex_session_feed(&hex_swallow, *session);
    }
    return status;
}

// A session without the device, for that reason, and the error of one that will not do without.
static void check_without(const char *why)
{
    tenon_session *session;
    tenon_error *error;
    assert_int_equal(create(&session, TENON_STRICT_DEVICE, &error), TENON_DEVICE);
    assert_null(session);
    assert_non_null(strstr(tenon_error_message(error), why));
    tenon_error_destroy(error);
    assert_int_equal(create(&session, 0, &error), TENON_OK);
    assert_int_not_equal(session->context.dead, 0);
    assert_int_equal(tenon_session_run(session, NULL, 0, &error), TENON_OK);
    assert_true(hex_session_right(&hex_swallow, session));
    assert_false(hex_session_tells(session, TENON_REPORT_STATISTICS, "\"device_fallbacks\":0"));
    assert_true(hex_session_tells(session, TENON_REPORT_EXPLAIN, why));
    assert_true(hex_session_tells(session, TENON_REPORT_EXPLAIN, "\"device_failure\":\""));
    tenon_session_destroy(session);
}

// The program dies as it starts, or cannot be had in time, when a session is opened.
static void test_opening(void **state)
{
    tenon_session *first, *late;
    tenon_error *error;
    if (!hex_bench_present()) {
        skip();
    }
    hex_model_open(&hex_swallow, NULL, NULL);
    assert_int_equal(create(&first, 0, &error), TENON_OK);      // its line is what the others find
    assert_int_equal(tenon_session_run(first, NULL, 0, &error), TENON_OK);
    first->context.strict = TENON_STRICT_DEVICE;
    tn_hex_link *link = hex_session_link(first);
    const tn_hex_transport *good = link->transport;
    end_program(link, &stillborn);
    check_without("exit status 127");
    assert_int_equal(create(&late, 0, &error), TENON_OK);
    assert_int_equal(tenon_session_run(first, NULL, 0, &error), TENON_DEVICE);
    tenon_error_destroy(error);
    error = NULL;
    end_program(link, good);
    tn_hex_link_lock(link);
    link->patience_ns = 50000000;
    check_without("within 50 ms");
    link->patience_ns = 120000000000u;
    tn_hex_link_unlock(link);
    // The one that was opened meanwhile has the device as soon as it works.
    assert_int_equal(tenon_session_run(first, NULL, 0, &error), TENON_OK);
    for (int i = 0; i < 100 && (i == 0 || !hex_session_on_device(late)); i++) {      // a busy machine has it no sooner than in 100 ms
        late->retry_ns = 0;
        assert_int_equal(tenon_session_run(late, NULL, 0, &error), TENON_OK);
    }
    assert_true(hex_session_on_device(late));
    assert_true(hex_session_right(&hex_swallow, late));
    assert_true(hex_session_tells(late, TENON_REPORT_EXPLAIN, "\"device_failure\":null"));
    tenon_session_destroy(first);
    tenon_session_destroy(late);
    hex_model_close(&hex_swallow);
}

// A sub-graph that cannot be handed over in time, the DSP being there.
static void test_slow_preparation(void **state)
{
    hex_bench b;
    tn_hex_flow *flow = NULL;
    hex_bench_open_net(&b, "fixed_q31");
    tn_hex_link *link = hex_bench_link(&b);
    tn_graph *plain = tn_graph_parse("graph \"g\" (%x: uint8[1,8,12,12]) -> (%y)\n  %y = max_pool(%x) {kernel=[2,2], strides=[2,2]}\n", &b.heap, &b.diag);
    assert_non_null(plain);
    assert_int_equal(tn_infer_graph(plain, &b.heap, &b.diag), TN_OK);
    const tn_flow_request request = {.graph = plain, .precision = "fp32", .diag = &b.diag};
    tn_hex_link_lock(link);
    link->patience_ns = 50000000;
    assert_int_equal(tn_hex_flow_make((tn_hex_device *)b.devices[0], &request, &flow), TN_DEVICE);
    assert_null(flow);
    assert_non_null(strstr(b.diag.message, "nodes within 50 ms"));
    link->patience_ns = 120000000000u;
    tn_hex_link_unlock(link);
    tn_diag_clear(&b.diag);
    assert_int_equal(tn_hex_flow_make((tn_hex_device *)b.devices[0], &request, &flow), TN_OK);
    tn_hex_flow_release(flow);
    tn_graph_destroy(plain);
    hex_bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kill),       cmocka_unit_test(test_crash_record), cmocka_unit_test(test_deadline),
        cmocka_unit_test(test_impatient),  cmocka_unit_test(test_no_restart), cmocka_unit_test(test_shared_crash), cmocka_unit_test(test_policy),
        cmocka_unit_test(test_opening),    cmocka_unit_test(test_slow_preparation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
