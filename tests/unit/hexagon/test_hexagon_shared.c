// SPDX-License-Identifier: Apache-2.0
// Different models in one DSP program: results of each are its own whatever happens to the others - kills, crashes, graphs that do not fit,
// sessions that come and go, memory that ends. In each strictness mode. Skipped where there is no emulator.
#include "hex_session.h"

#include "exec/hexagon/share/hex_share.h"
#include "support/graph_text.h"
#include "sys/clock.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

// ---- models side by side ----

static void interleaved(const tn_hex_options *options, int rounds)
{
    hex_user users[HEX_MODELS];
    const int descriptors = hex_open_descriptors();
    for (int i = 0; i < HEX_MODELS; i++) {
        hex_user_open(&users[i], i, options);
        assert_ptr_equal(hex_bench_link(&users[i].b), hex_bench_link(&users[0].b));
    }
    const uint64_t session = hex_bench_link(&users[0].b)->session;
    hex_users_run(users, HEX_MODELS, rounds);
    assert_int_equal(hex_bench_link(&users[0].b)->session, session);
    for (int i = 0; i < HEX_MODELS; i++) {
        hex_bench_close(&users[i].b);
    }
    assert_int_equal(hex_open_descriptors(), descriptors);
    assert_false(hex_has_children());
}

static void test_interleaved(void **state)
{
    if (!hex_bench_present()) {
        skip();
    }
    interleaved(NULL, 40);
}

// The build that traps on undefined behaviour, beside the folder of the tests; NULL: it was not built.
static uint8_t *strict_program(size_t *size)
{
    char path[600];
    const ssize_t n = readlink("/proc/self/exe", path, 500);
    assert_true(n > 0);
    path[n] = 0;
    char *end = strrchr(path, '/');
    (void)snprintf(end, 64, "/../tenon_dsp_strict.elf");
    FILE *file = fopen(path, "rb");
    uint8_t *bytes = NULL;
    if (file) {
        bytes = malloc(8 << 20);
        *size = fread(bytes, 1, 8 << 20, file);
        fclose(file);
    }
    return bytes;
}

static void test_strictness(void **state)
{
    if (!hex_bench_present()) {
        skip();
    }
    size_t size = 0;
    uint8_t *program = strict_program(&size);
    const tn_hex_options modes[] = {
        {.threads = 2, .flags = TN_HEX_FLAG_NONCOHERENT},
        {.threads = 2, .flags = TN_HEX_FLAG_ACCOUNT},
        {.threads = 3, .vtcm = 65536},
        {.threads = 1, .vtcm = 4096, .flags = TN_HEX_FLAG_NONCOHERENT | TN_HEX_FLAG_ACCOUNT},
        {.threads = 2, .vtcm = 65536, .flags = TN_HEX_FLAG_NONCOHERENT | TN_HEX_FLAG_ACCOUNT, .program = program, .program_size = size},
    };
    for (size_t i = 0; i < sizeof modes / sizeof modes[0] - !program; i++) {
        interleaved(&modes[i], 6);
    }
    // Who wants another mode has another program, and is no part of the first one's troubles.
    hex_user a, b;
    hex_user_open(&a, 0, &modes[0]);
    hex_user_open(&b, 0, &modes[1]);
    assert_ptr_not_equal(hex_bench_link(&a.b), hex_bench_link(&b.b));
    assert_int_not_equal(hex_bench_process(&a.b), hex_bench_process(&b.b));
    kill(hex_bench_process(&a.b), SIGKILL);
    hex_users_run(&b, 1, 4);
    hex_bench_close(&a.b);
    hex_bench_close(&b.b);
    free(program);
}

// ---- death ----

// Runs of several sub-flows: one that has called the program before it died is over, a new one is not.
static void test_under_a_run(void **state)
{
    hex_user a, other;
    if (!hex_bench_present()) {
        skip();
    }
    hex_user_open(&a, 0, NULL);
    hex_user_open(&other, 1, NULL);
    tn_graph *plain = tn_graph_parse("graph \"g\" (%x: uint8[1,8,12,12]) -> (%y)\n  %y = max_pool(%x) {kernel=[2,2], strides=[2,2]}\n", &a.b.heap, &a.b.diag);
    assert_non_null(plain);
    assert_int_equal(tn_infer_graph(plain, &a.b.heap, &a.b.diag), TN_OK);
    tn_hex_flow *flow = NULL;
    const tn_flow_request request = {.graph = plain, .precision = "fp32", .diag = &a.b.diag};
    assert_int_equal(tn_hex_flow_make((tn_hex_device *)a.b.devices[0], &request, &flow), TN_OK);
    uint8_t y[8 * 36];
    tn_tensor out = {.dtype = TN_U8, .shape = {4, {1, 8, 6, 6}}, .data = y};
    const tn_tensor *const ins[] = {&a.b.feed};
    tn_tensor *const outs[] = {&out};
    tn_result_slot got[HEX_MOST_RESULTS];
    for (int i = 0; i < 3; i++) {
        tn_flow_run run = {.in = ins, .out = outs, .number = (uint64_t)(2 * i + 1), .diag = &a.b.diag};
        tn_diag_clear(&a.b.diag);
        assert_int_equal(tn_hex_flow_run(flow, &run), TN_OK);
        assert_int_equal(tn_hex_flow_run(flow, &run), TN_OK);
        // It dies in a run of the other model, or between two.
        const uint64_t session = hex_bench_link(&a.b)->session;
        kill(hex_bench_process(&other.b), i == 1 ? SIGSEGV : SIGKILL);
        while (i < 2 && hex_bench_run(&other.b, HEX_DSP, got, 0) == TN_OK && hex_bench_link(&a.b)->session == session) {
        }
        tn_hex_link_lock(hex_bench_link(&a.b));
        while (i == 2 && tn_hex_link_running(hex_bench_link(&a.b))) {
        }
        tn_hex_link_unlock(hex_bench_link(&a.b));
        assert_int_equal(tn_hex_flow_run(flow, &run), TN_DEVICE);
        assert_non_null(strstr(a.b.diag.message, "died under this run"));
        tn_diag_clear(&a.b.diag);
        run.number++;
        assert_int_equal(tn_hex_flow_run(flow, &run), TN_OK);
    }
    tn_hex_flow_release(flow);
    tn_graph_destroy(plain);
    hex_users_run(&other, 1, 4);
    hex_bench_close(&a.b);
    hex_bench_close(&other.b);
}

typedef struct hanging {
    hex_user *u;
    tn_status status;
} hanging;

static void *hang(void *context)
{
    hanging *h = context;
    tn_result_slot got[HEX_MOST_RESULTS];
    h->status = hex_bench_run(&h->u->b, HEX_DSP, got, tn_clock_ns() + 3000000000u);
    return NULL;
}

// The program hangs in one model's run: others wait as long as they may and no longer, one that is closed does not wait at all.
static void test_hang(void **state)
{
    hex_user users[HEX_MODELS];
    pthread_t thread;
    tn_result_slot got[HEX_MOST_RESULTS];
    if (!hex_bench_present()) {
        skip();
    }
    const int descriptors = hex_open_descriptors();
    for (int i = 0; i < HEX_MODELS; i++) {
        hex_user_open(&users[i], i, NULL);
    }
    hex_users_run(users, HEX_MODELS, 2);
    tn_hex_link *link = hex_bench_link(&users[0].b);
    const uint64_t session = link->session;
    kill(hex_bench_process(&users[0].b), SIGSTOP);
    hanging h = {.u = &users[0]};
    const uint64_t begin = tn_clock_ns();
    assert_int_equal(pthread_create(&thread, NULL, hang, &h), 0);
    while (tn_hex_turn_try(&link->turn)) {      // until it has the turn
        tn_hex_link_unlock(link);
        usleep(1000);
    }
    assert_int_equal(hex_bench_run(&users[1].b, HEX_DSP, got, tn_clock_ns() + 50000000u), TN_DEADLINE);
    assert_non_null(strstr(users[1].b.diag.message, "another session"));
    hex_bench_close(&users[2].b);
    assert_true(tn_clock_ns() - begin < 2900000000u);
    assert_int_equal(hex_bench_run(&users[1].b, HEX_DSP, got, 0), TN_OK);
    hex_bench_compare(&users[1].b, got, users[1].want);
    pthread_join(thread, NULL);
    assert_int_equal(h.status, TN_DEADLINE);
    assert_int_equal(link->session, session + 1);
    hex_users_run(users, 2, 2);
    hex_bench_close(&users[0].b);
    hex_bench_close(&users[1].b);
    assert_int_equal(hex_open_descriptors(), descriptors);
}

// A graph with many weights is handed over in pieces: another model runs in between.
static void test_pieces(void **state)
{
    hex_user u;
    pthread_t thread;
    atomic_int stop = 0, all = 0;
    tn_hex_flow *flow = NULL;
    if (!hex_bench_present()) {
        skip();
    }
    hex_user_open(&u, 0, NULL);
    hex_users_run(&u, 1, 1);
    char text[8192] = "graph \"g\" (%x: uint8[1,128,8,8]) -> (%y15)\n";
    for (int i = 0; i < 16; i++) {
        char line[400], from[8];
        (void)snprintf(from, sizeof from, i ? "y%d" : "x", i - 1);
        (void)snprintf(line, sizeof line, "  %%y%d = qlinear_conv(%%%s, %%s: const float32[](0.02), %%z: const uint8[](120), %%w%d: const int8[128,128,3,3], "
                       "%%ws: const float32[](0.01), -, %%cs: const float32[](0.05), %%cz: const uint8[](100)) "
                       "{kernel=[3,3], pads=[1,1,1,1], rounding=float_rne}\n", i, from, i);
        strncat(text, line, sizeof text - strlen(text) - 1);
    }
    tn_graph *wide = tn_graph_parse(text, &u.b.heap, &u.b.diag);
    if (!wide || tn_infer_graph(wide, &u.b.heap, &u.b.diag) != TN_OK) {
        fail_msg("%s", u.b.diag.message);
    }
    u.stop = &stop;
    u.all = &all;
    u.ran = u.died = 0;
    tn_diag diag = {.status = TN_OK};
    assert_int_equal(pthread_create(&thread, NULL, hex_user_work, &u), 0);
    while (atomic_load(&all) == 0) {
        usleep(1000);
    }
    const int before = atomic_load(&all);
    const tn_flow_request request = {.graph = wide, .precision = "fp32", .diag = &diag};
    const tn_status status = tn_hex_flow_make((tn_hex_device *)u.b.devices[0], &request, &flow);
    const int during = atomic_load(&all) - before;
    atomic_store(&stop, 1);
    pthread_join(thread, NULL);
    if (status != TN_OK) {
        fail_msg("%s", diag.message);
    }
    print_message("%zu pieces, %d runs of another model meanwhile\n", flow->part->pieces, during);
    assert_true(flow->part->pieces > 1);
    assert_true(during > 0);
    assert_int_equal(u.wrong + u.other + u.died, 0);
    tn_hex_flow_release(flow);
    tn_graph_destroy(wide);
    hex_bench_close(&u.b);
}

// ---- coming and going ----

static void test_random_order(void **state)
{
    static hex_user users[6];
    bool open[6] = {false};
    uint32_t seed = 12345;
    if (!hex_bench_present()) {
        skip();
    }
    const int descriptors = hex_open_descriptors();
    for (int i = 0; i < 36; i++) {
        seed = seed * 1664525u + 1013904223u;
        const int at = (int)(seed >> 16) % 6;
        if (open[at]) {
            hex_bench_close(&users[at].b);
        } else {
            hex_user_open(&users[at], at % HEX_MODELS, NULL);
        }
        open[at] = !open[at];
        for (int k = 0; k < 6; k++) {
            tn_result_slot got[HEX_MOST_RESULTS];
            if (open[k]) {
                assert_int_equal(hex_bench_run(&users[k].b, HEX_DSP, got, 0), TN_OK);
                hex_bench_compare(&users[k].b, got, users[k].want);
            }
        }
    }
    for (int k = 0; k < 6; k++) {
        if (open[k]) {
            hex_bench_close(&users[k].b);
        }
    }
    assert_int_equal(hex_open_descriptors(), descriptors);
    assert_false(hex_has_children());
}

typedef struct comer {
    int seed, failed;
} comer;

static void *come_and_go(void *context)
{
    comer *c = context;
    for (int i = 0; i < 12; i++) {
        const tn_hex_options options = {.threads = 1 + (uint32_t)((c->seed + i) % 2)};
        tn_diag diag = {.status = TN_OK};
        tn_hex_link *link = NULL;
        c->failed += tn_hex_share_take(&link, &tn_hex_qemu, &options, &diag) != TN_OK || tn_hex_link_wake(link, 0, &diag) != TN_OK;
        tn_hex_buffer *buffer = link ? tn_hex_buffer_take(link, 100) : NULL;
        if (link) {
            tn_hex_link_lock(link);
            c->failed += !buffer || tn_hex_link_ready(link, &diag) != TN_OK || tn_hex_link_map(link, buffer, &diag) != TN_OK;
            tn_hex_link_unlock(link);
            tn_hex_buffer_give(link, buffer);
        }
        tn_hex_share_give(link);
    }
    return NULL;
}

// The first to open and the last to close may be anybody, at any time.
static void test_come_and_go(void **state)
{
    comer comers[4];
    pthread_t threads[4];
    if (!hex_bench_present()) {
        skip();
    }
    const int descriptors = hex_open_descriptors();
    for (int i = 0; i < 4; i++) {
        comers[i] = (comer){.seed = i};
        assert_int_equal(pthread_create(&threads[i], NULL, come_and_go, &comers[i]), 0);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(comers[i].failed, 0);
    }
    assert_int_equal(hex_open_descriptors(), descriptors);
    assert_false(hex_has_children());
}

// A child of the process has no part in its parent's program, and can have one of its own.
static void test_fork(void **state)
{
    hex_user a;
    int status = -1;
    if (!hex_bench_present()) {
        skip();
    }
    hex_user_open(&a, 2, NULL);
    const pid_t parents = hex_bench_process(&a.b), child = fork();
    if (child == 0) {
        const tn_hex_options options = hex_bench_link(&a.b)->options;
        tn_diag diag = {.status = TN_OK};
        tn_hex_link *link = NULL;
        tn_result_slot got[HEX_MOST_RESULTS];
        const bool refused = hex_bench_run(&a.b, HEX_DSP, got, 0) == TN_STATE;
        const bool own = tn_hex_share_take(&link, hex_bench_link(&a.b)->transport, &options, &diag) == TN_OK && link != hex_bench_link(&a.b) &&
                         tn_hex_link_wake(link, 0, &diag) == TN_OK && link->transport->process(link->state) != parents;
        tn_hex_share_give(link);
        tn_hex_share_give(hex_bench_link(&a.b));
        _exit(refused && own ? 0 : 1);
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(hex_bench_process(&a.b), parents);
    hex_users_run(&a, 1, 4);
    hex_bench_close(&a.b);
}

// ---- room ----

// A graph that no DSP has room for is refused, and nobody else is disturbed for it.
static void test_too_large(void **state)
{
    hex_user a;
    tn_hex_flow *flow = NULL;
    if (!hex_bench_present()) {
        skip();
    }
    hex_user_open(&a, 0, NULL);
    hex_users_run(&a, 1, 4);
    tn_hex_link *link = hex_bench_link(&a.b);
    tn_hex_part *part = link->parts;
    const uint32_t id = part->id, packings = part->packings;
    const uint64_t session = link->session;
    // Seven values of 256 MB that live at the same time.
    tn_graph *large = tn_graph_parse("graph \"g\" (%x: uint8[1,4,8000,8000]) -> (%y)\n"
                                     "  %a = max_pool(%x) {kernel=[3,3], pads=[1,1,1,1]}\n"
                                     "  %b = max_pool(%a) {kernel=[3,3], pads=[1,1,1,1]}\n"
                                     "  %c = max_pool(%b) {kernel=[3,3], pads=[1,1,1,1]}\n"
                                     "  %d = max_pool(%c) {kernel=[3,3], pads=[1,1,1,1]}\n"
                                     "  %e = max_pool(%d) {kernel=[3,3], pads=[1,1,1,1]}\n"
                                     "  %f = max_pool(%e) {kernel=[3,3], pads=[1,1,1,1]}\n"
                                     "  %g = max_pool(%f) {kernel=[3,3], pads=[1,1,1,1]}\n"
                                     "  %h = max(%a, %b)\n"
                                     "  %i = max(%h, %c)\n"
                                     "  %j = max(%i, %d)\n"
                                     "  %k = max(%j, %e)\n"
                                     "  %l = max(%k, %f)\n"
                                     "  %y = max(%l, %g)\n", &a.b.heap, &a.b.diag);
    assert_non_null(large);
    assert_int_equal(tn_infer_graph(large, &a.b.heap, &a.b.diag), TN_OK);
    const tn_flow_request request = {.graph = large, .precision = "fp32", .diag = &a.b.diag};
    const tn_status status = tn_hex_flow_make((tn_hex_device *)a.b.devices[0], &request, &flow);
    print_message("%s\n", a.b.diag.message);
    assert_int_equal(status, TN_DEVICE);
    assert_null(flow);
    tn_diag_clear(&a.b.diag);
    hex_users_run(&a, 1, 4);
    assert_ptr_equal(link->parts, part);
    assert_int_equal(part->id, id);
    assert_int_equal(part->packings, packings);
    assert_int_equal(part->taken, 0);
    assert_int_equal(link->session, session);
    tn_graph_destroy(large);
    hex_bench_close(&a.b);
}

// The program's addresses end: buffers that are not in use give way, then graphs, and come back.
static void test_full(void **state)
{
    enum { MANY = 24, BYTES = 256 << 20 };
    hex_user a, b;
    static tn_hex_buffer *buffers[MANY];
    if (!hex_bench_present()) {
        skip();
    }
    hex_user_open(&a, 0, NULL);
    hex_user_open(&b, 1, NULL);
    tn_hex_link *link = hex_bench_link(&a.b);
    int mapped = 0;
    bool ended = false;
    for (int i = 0; i < MANY && !ended; i++) {
        tn_diag diag = {.status = TN_OK};
        buffers[i] = tn_hex_buffer_take(link, BYTES);
        assert_non_null(buffers[i]);
        tn_hex_link_lock(link);
        const tn_status status = tn_hex_link_map(link, buffers[i], &diag);
        tn_hex_link_unlock(link);
        ended = status == TN_OUT_OF_MEMORY;
        assert_true(status == TN_OK || ended);
        mapped += status == TN_OK;
    }
    assert_true(ended && mapped > 8);
    hex_users_run(&a, 1, 4);
    hex_users_run(&b, 1, 4);
    // Each is used in turn, so that room for it must be found among the others.
    for (int i = 0; i < mapped + 1; i++) {
        tn_diag diag = {.status = TN_OK};
        tn_hex_link_lock(link);
        assert_int_equal(tn_hex_part_map(link->parts, buffers[i], &diag), TN_OK);
        tn_hex_link_unlock(link);
        hex_users_run(i % 2 ? &a : &b, 1, 4);
    }
    for (int i = 0; i < MANY; i++) {
        tn_hex_buffer_give(link, buffers[i]);
    }
    hex_bench_close(&a.b);
    hex_bench_close(&b.b);
}

// ---- what is each session's own ----

static void test_power(void **state)
{
    hex_user a, b, c;
    tn_power_effect effect = {0};
    tn_result_slot got[HEX_MOST_RESULTS];
    if (!hex_bench_present()) {
        skip();
    }
    hex_user_open(&a, 0, NULL);
    hex_user_open(&b, 1, NULL);
    hex_user_open(&c, 2, NULL);
    tn_hex_link *link = hex_bench_link(&a.b);
    const tn_power low = {.dsp_level = 1}, high = {.dsp_level = 5, .dsp_dcvs = 1, .dsp_latency_us = 100};
    tn_device_hexagon.power(a.b.devices[0], &low, &effect);
    assert_true(effect.dsp_level.applied);
    tn_device_hexagon.power(b.b.devices[0], &high, &effect);
    assert_true(effect.dsp_level.applied);
    for (int i = 0; i < 4; i++) {
        if (i == 2) {      // wishes outlive a program
            const uint64_t session = link->session;
            kill(hex_bench_process(&a.b), SIGKILL);
            while (hex_bench_run(&c.b, HEX_DSP, got, 0) == TN_OK && link->session == session) {
            }
        }
        assert_int_equal(hex_bench_run(&a.b, HEX_DSP, got, 0), TN_OK);
        assert_int_equal(link->power_session, link->session);
        assert_true(link->power.wished);
        assert_int_equal(link->power.level, 20);
        assert_int_equal(hex_bench_run(&b.b, HEX_DSP, got, 0), TN_OK);
        assert_int_equal(link->power.level, 100);
        assert_int_equal(link->power.latency_us, 100);
        assert_int_equal(link->power.dcvs, 0);
        assert_int_equal(hex_bench_run(&c.b, HEX_DSP, got, 0), TN_OK);
        assert_false(link->power.wished);
    }
    hex_bench_close(&a.b);
    hex_bench_close(&b.b);
    hex_bench_close(&c.b);
}

// ---- sessions ----

typedef struct ear {
    tenon_session *calls;      // the session that is run for a line of the log
    int lines, runs, failed, inside;
} ear;

static void hear(void *context, tenon_log_level level, const char *text)
{
    ear *e = context;
    if (level != TENON_LOG_DEBUG) {
        return;
    }
    e->lines++;
    if (e->calls && !e->inside && strncmp(text, "execute ", 8) == 0) {
        e->inside = 1;
        e->failed += tenon_session_run(e->calls, NULL, 0, NULL) != TENON_OK;
        e->runs++;
        e->inside = 0;
    }
}

typedef struct sharer {
    const hex_model *m;
    tenon_session *session;
    int wrong, failed;
} sharer;

static void *share(void *context)
{
    sharer *s = context;
    for (int i = 0; i < 30; i++) {
        if (tenon_session_run(s->session, NULL, 0, NULL) != TENON_OK) {
            s->failed++;
        } else {
            s->wrong += !hex_session_right(s->m, s->session);
        }
    }
    return NULL;
}

// Sessions of two models with one program, which is killed again and again: each answers rightly all the time, from the DSP or the CPU.
static void test_sessions(void **state)
{
    static sharer sharers[4];
    pthread_t threads[4];
    if (!hex_bench_present()) {
        skip();
    }
    const int descriptors = hex_open_descriptors();
    hex_model_open(&hex_swallow, NULL, NULL);
    hex_model_open(&hex_digits, NULL, NULL);
    memset(sharers, 0, sizeof sharers);
    for (int i = 0; i < 4; i++) {
        sharers[i].m = i % 2 ? &hex_digits : &hex_swallow;
        sharers[i].session = hex_session_make(i % 2 ? &hex_digits : &hex_swallow, "hexagon", 0);
        assert_ptr_equal(hex_session_link(sharers[i].session), hex_session_link(sharers[0].session));
        assert_int_equal(tenon_session_run(sharers[i].session, NULL, 0, NULL), TENON_OK);
        assert_true(hex_session_right(sharers[i].m, sharers[i].session));
    }
    tn_hex_link *link = hex_session_link(sharers[0].session);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, share, &sharers[i]), 0);
    }
    for (int i = 0; i < 10; i++) {
        tn_hex_link_lock(link);
        const pid_t pid = link->state ? link->transport->process(link->state) : 0;
        if (pid > 0) {
            kill(pid, i % 2 ? SIGKILL : SIGSEGV);
        }
        tn_hex_link_unlock(link);
        usleep(3000);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(sharers[i].wrong, 0);
        assert_int_equal(sharers[i].failed, 0);
        tenon_session_destroy(sharers[i].session);
    }
    hex_model_close(&hex_swallow);
    hex_model_close(&hex_digits);
    assert_int_equal(hex_open_descriptors(), descriptors);
    assert_false(hex_has_children());
}

// What listens to the log may run a session that shares the program, of the same model too.
static void test_log_runs_a_session(void **state)
{
    ear e = {0};
    if (!hex_bench_present()) {
        skip();
    }
    hex_model_open(&hex_swallow, hear, &e);
    hex_model_open(&hex_digits, hear, &e);
    for (int other = 0; other < 2; other++) {
        const hex_model *m = other ? &hex_digits : &hex_swallow;
        tenon_session *talks = hex_session_make(&hex_swallow, "hexagon", 1), *called = hex_session_make(m, "hexagon", 1);
        assert_int_equal(tenon_session_run(called, NULL, 0, NULL), TENON_OK);
        e = (ear){.calls = called};
        assert_int_equal(tenon_session_run(talks, NULL, 0, NULL), TENON_OK);
        assert_true(e.lines > 0 && e.runs > 0);
        assert_int_equal(e.failed, 0);
        assert_true(hex_session_right(&hex_swallow, talks));
        assert_true(hex_session_right(m, called));
        e.calls = NULL;
        tenon_session_destroy(talks);
        tenon_session_destroy(called);
    }
    hex_model_close(&hex_swallow);
    hex_model_close(&hex_digits);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_interleaved), cmocka_unit_test(test_strictness),  cmocka_unit_test(test_under_a_run),
        cmocka_unit_test(test_hang),        cmocka_unit_test(test_pieces),
        cmocka_unit_test(test_random_order), cmocka_unit_test(test_come_and_go),
        cmocka_unit_test(test_fork),        cmocka_unit_test(test_too_large),   cmocka_unit_test(test_full),
        cmocka_unit_test(test_power),       cmocka_unit_test(test_sessions),    cmocka_unit_test(test_log_runs_a_session),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
