// SPDX-License-Identifier: Apache-2.0
// The host side of the DSP, over the real program in the emulator: bits equal to the CPU's, no copies, deadlines, a program that is killed
// again and again, and one that answers nonsense. Skipped where there is no emulator. TENON_TEST_LONG=1: more kills.
#include "support/unit.h"

#include "exec/blocks.h"
#include "exec/hexagon/hex_flow.h"
#include "exec/program.h"
#include "pass/pass.h"
#include "support/graph_text.h"
#include "sys/clock.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

extern const tn_device_vtable tn_device_cpu, tn_device_hexagon;

// Convolutions of both kinds, a sum, a table, a join, pooling and a product: most of what nets are made of.
static const char *const text =
    "graph \"g\" (%x: uint8[1,8,12,12]) -> (%y, %p)\n"
    "  %c = qlinear_conv(%x, %s: const float32[](0.02), %z: const uint8[](120), %w: const int8[16,8,3,3], %ws: const float32[](0.01), -, "
    "%cs: const float32[](0.05), %cz: const uint8[](100), %b: const int32[16]) {kernel=[3,3], pads=[1,1,1,1], rounding=ROUNDING, low=100}\n"
    "  %d = qlinear_conv(%c, %cs, %cz, %dw: const int8[16,1,3,3], %ws, -, %cs, %cz) {kernel=[3,3], pads=[1,1,1,1], group=16, rounding=ROUNDING}\n"
    "  %a = qlinear_add(%c, %cs, %cz, %d, %cs, %cz, %as: const float32[](0.08), %az: const uint8[](90)) {rounding=ROUNDING}\n"
    "  %t = qlinear_table(%a, %table: const uint8[256])\n"
    "  %j = concat(%t, %a) {axis=1}\n"
    "  %m = max_pool(%j) {kernel=[2,2], strides=[2,2]}\n"
    "  %g = qlinear_global_average_pool(%m, %as, %az, %as, %az) {rounding=ROUNDING}\n"
    "  %f = flatten(%g) {axis=1}\n"
    "  %y = qlinear_matmul(%f, %as, %az, %v: const int8[32,10], %ws, -, %cs, %cz) {rounding=ROUNDING}\n"
    "  %p = identity(%m)\n";

typedef struct bench {
    tn_heap heap;
    tn_graph *graph;
    tn_weights weights;
    tn_cpu cpu;
    tn_device *devices[2];
    tn_plan_context context[2];       // on the DSP, on the CPU
    tn_program *program[2];
    tn_block_cache blocks;
    uint8_t *x;                       // in memory that the DSP sees
    tn_tensor feed;
    tn_diag diag;
} bench;

static char *with_rounding(const char *rounding)
{
    char *out = malloc(8192), *to = out;
    for (const char *at = text; *at;) {
        const bool here = strncmp(at, "ROUNDING", 8) == 0;
        to += here ? sprintf(to, "%s", rounding) : 0;
        *to = here ? *to : *at;
        to += !here;
        at += here ? 8 : 1;
    }
    *to = 0;
    return out;
}

static bool present(void)
{
    const char *what = "";
    if (!tn_hex_qemu.present(&what)) {
        print_message("%s\n", what);
        return false;
    }
    return true;
}

static void open_bench(bench *b, const char *rounding)
{
    if (!present()) {
        skip();
    }
    memset(b, 0, sizeof *b);
    tn_heap_init(&b->heap, NULL, NULL, NULL);
    tn_diag_clear(&b->diag);
    tn_cpu_detect(&b->cpu);
    char *full = with_rounding(rounding);
    b->graph = tn_graph_parse(full, &b->heap, &b->diag);
    free(full);
    if (!b->graph || tn_infer_graph(b->graph, &b->heap, &b->diag) != TN_OK) {
        fail_msg("%s: %s", b->diag.place, b->diag.message);
    }
    assert_int_equal(tn_weights_init(&b->weights, &b->heap, &b->diag), TN_OK);
    assert_int_equal(tn_device_hexagon.open(&b->devices[0], &b->heap, &b->cpu, &b->diag), TN_OK);
    assert_int_equal(tn_device_cpu.open(&b->devices[1], &b->heap, &b->cpu, &b->diag), TN_OK);
    b->blocks.heap = &b->heap;
    for (int i = 0; i < 2; i++) {
        b->context[i] = (tn_plan_context){.heap = &b->heap, .weights = &b->weights, .cpu = b->cpu, .threads = 1, .devices = b->devices + i,
                                          .n_devices = (size_t)(2 - i), .device = i ? NULL : "hexagon", .precision = "fp32",
                                          .limit_tensor = UINT32_MAX, .limit_work = UINT64_MAX, .limit_loop = 1000, .blocks = &b->blocks,
                                          .memory = i ? NULL : b->devices[0]};
        assert_int_equal(tn_program_create(&b->program[i], b->graph, &b->context[i], 4, &b->diag), TN_OK);
    }
    b->x = b->devices[0]->vtable->take(b->devices[0], 8 * 144);
    assert_non_null(b->x);
    for (int i = 0; i < 8 * 144; i++) {
        b->x[i] = (uint8_t)(i * 37 + i / 7);
    }
    b->feed = (tn_tensor){.dtype = TN_U8, .shape = {4, {1, 8, 12, 12}}, .data = b->x};
}

static void close_bench(bench *b)
{
    tn_program_destroy(b->program[0]);
    tn_program_destroy(b->program[1]);
    b->devices[0]->vtable->give(b->devices[0], b->x);
    tn_device_hexagon.close(b->devices[0]);
    tn_device_cpu.close(b->devices[1]);
    tn_weights_deinit(&b->weights);
    tn_graph_destroy(b->graph);
}

static tn_status run_on(bench *b, int where, tn_result_slot *results, uint64_t deadline)
{
    tn_arena objects;
    tn_arena_init(&objects, &b->heap);
    tn_run run = {.context = &b->context[where], .diag = &b->diag, .objects = &objects, .deadline_ns = deadline};
    memset(results, 0, 2 * sizeof *results);
    tn_diag_clear(&b->diag);
    const tn_status status = tn_program_run(b->program[where], &run, &b->feed, results);
    tn_arena_deinit(&objects);
    return status;
}

static void compare(const tn_result_slot *dsp, const tn_result_slot *cpu)
{
    for (int i = 0; i < 2; i++) {
        assert_int_equal(tn_tensor_count(&dsp[i].tensor), tn_tensor_count(&cpu[i].tensor));
        assert_memory_equal(dsp[i].tensor.data, cpu[i].tensor.data, (size_t)tn_tensor_count(&cpu[i].tensor));
    }
}

static tn_hex_link *link_of(const bench *b) { return ((tn_hex_device *)b->devices[0])->link; }

// ---- bits and bytes ----

static void check_bits(const char *rounding)
{
    bench b;
    tn_result_slot dsp[2], cpu[2];
    open_bench(&b, rounding);
    assert_int_equal(run_on(&b, 1, cpu, 0), TN_OK);
    if (run_on(&b, 0, dsp, 0) != TN_OK) {
        fail_msg("%s: %s", b.diag.place, b.diag.message);
    }
    compare(dsp, cpu);
    const tn_plan *plan = tn_program_plan(b.program[0]);
    assert_int_equal(plan->n_steps, 1);                      // whole, by one call
    // Results lie where the DSP wrote them, and nothing was copied.
    assert_non_null(tn_hex_buffer_find(link_of(&b), dsp[0].tensor.data, 10));
    assert_int_equal(b.devices[0]->vtable->copied(b.devices[0]), 0);
    // An input that the DSP cannot see is copied, and counted.
    uint8_t *mine = malloc(8 * 144);
    memcpy(mine, b.x, 8 * 144);
    b.feed.data = mine;
    assert_int_equal(run_on(&b, 0, dsp, 0), TN_OK);
    compare(dsp, cpu);
    assert_int_equal(b.devices[0]->vtable->copied(b.devices[0]), 8 * 144);
    free(mine);
    close_bench(&b);
}

static void test_float_rne(void **state) { check_bits("float_rne"); }
static void test_fixed_q31(void **state) { check_bits("fixed_q31"); }

// What a run costs beyond the DSP's own time: the least of many, because the machine may be busy.
static void test_overhead(void **state)
{
    bench b;
    tn_result_slot dsp[2];
    uint64_t least = UINT64_MAX;
    open_bench(&b, "fixed_q31");
    for (int i = 0; i < 60; i++) {
        const uint64_t begin = tn_clock_ns();
        assert_int_equal(run_on(&b, 0, dsp, 0), TN_OK);
        const uint64_t all = tn_clock_ns() - begin, own = 1000 * ((const tn_hex_flow *)tn_program_plan(b.program[0])->flows[0])->dsp_us;
        least = i > 2 && all > own && all - own < least ? all - own : least;
    }
    print_message("%u us on the host beside the DSP's own time\n", (unsigned)(least / 1000));
    assert_true(least < 2000000);
    close_bench(&b);
}

// ---- a program that dies ----

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
    const int rounds = getenv("TENON_TEST_LONG") ? 100 : 8;
    bench b;
    tn_result_slot dsp[2], cpu[2];
    int died = 0;
    uint64_t longest = 0;
    open_bench(&b, "fixed_q31");
    assert_int_equal(run_on(&b, 1, cpu, 0), TN_OK);
    assert_int_equal(run_on(&b, 0, dsp, 0), TN_OK);
    for (int i = 0; i < rounds; i++) {
        killer k = {link_of(&b)->transport->process(link_of(&b)->state), (unsigned)(i * 97 % 3000)};
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, kill_later, &k), 0);
        tn_status status = TN_OK;
        for (int turn = 0; turn < 50 && status == TN_OK; turn++) {
            status = run_on(&b, 0, dsp, 0);
            if (status == TN_OK) {
                compare(dsp, cpu);
            }
        }
        pthread_join(thread, NULL);
        died += status == TN_DEVICE;
        assert_true(status == TN_OK || status == TN_DEVICE);
        // The next run starts it again, soon.
        const uint64_t begin = tn_clock_ns();
        if (run_on(&b, 0, dsp, 0) == TN_DEVICE) {
            assert_int_equal(run_on(&b, 0, dsp, 0), TN_OK);   // killed after the last turn of the round
        }
        compare(dsp, cpu);
        longest = tn_clock_ns() - begin > longest ? tn_clock_ns() - begin : longest;
        assert_true(longest < 5000000000u);
    }
    print_message("%d of %d kills hit a run; longest restart with its run %u ms\n", died, rounds, (unsigned)(longest / 1000000));
    close_bench(&b);
}

static void test_deadline(void **state)
{
    bench b;
    tn_result_slot dsp[2], cpu[2];
    open_bench(&b, "float_rne");
    assert_int_equal(run_on(&b, 1, cpu, 0), TN_OK);
    assert_int_equal(run_on(&b, 0, dsp, 0), TN_OK);
    // Stopped: the program hangs for good.
    kill(link_of(&b)->transport->process(link_of(&b)->state), SIGSTOP);
    const uint64_t begin = tn_clock_ns();
    assert_int_equal(run_on(&b, 0, dsp, begin + 100000000u), TN_DEADLINE);
    assert_true(tn_clock_ns() - begin < 3000000000u);
    assert_int_equal(run_on(&b, 0, dsp, 0), TN_OK);
    compare(dsp, cpu);
    // Another session has the DSP: the run waits no longer than it may, and the DSP goes on.
    tn_hex_link_lock(link_of(&b));
    const uint64_t sessions = link_of(&b)->session;
    assert_int_equal(run_on(&b, 0, dsp, tn_clock_ns() + 30000000u), TN_DEADLINE);
    tn_hex_link_unlock(link_of(&b));
    assert_int_equal(run_on(&b, 0, dsp, tn_clock_ns() + 60000000000u), TN_OK);
    assert_int_equal(link_of(&b)->session, sessions);
    compare(dsp, cpu);
    close_bench(&b);
}

// ---- a program that lies ----

// Answers every call, with whatever comes into its mind.
typedef struct liar {
    tn_heap *heap;
    uint8_t *page;
    pthread_t thread;
    atomic_int stop;
    _Atomic uint32_t seed;       // both sides ask for lies
} liar;

static uint32_t lie(liar *l)
{
    const uint32_t seed = atomic_load(&l->seed) * 1664525u + 1013904223u;
    atomic_store(&l->seed, seed);
    return seed >> 8;
}

static _Atomic uint32_t *word(liar *l, size_t offset, int i) { return (_Atomic uint32_t *)(void *)(l->page + offset + 4 * (size_t)i); }

static void answer(liar *l, uint32_t sequence)
{
    const uint32_t call = atomic_load(word(l, TN_HEX_AT_REQUEST, TN_HEX_MSG_CALL));
    for (int i = 0; i < TN_HEX_MESSAGE_WORDS; i++) {
        atomic_store(word(l, TN_HEX_AT_RESPONSE, i), lie(l) % 3 ? lie(l) % 8 : lie(l) * 257u);
    }
    atomic_store(word(l, TN_HEX_AT_RESPONSE, TN_HEX_MSG_SEQ), lie(l) % 16 ? sequence : lie(l));
    atomic_store(word(l, TN_HEX_AT_RESPONSE, TN_HEX_MSG_STATUS), lie(l) % 3 ? 0 : lie(l) % 24);
    if (lie(l) % 8) {
        atomic_store(word(l, TN_HEX_AT_RESPONSE, TN_HEX_MSG_N_ARGS), lie(l) % (TN_HEX_MESSAGE_ARGS + 1));
    }
    if (lie(l) % 16) {        // mostly plausible, so that graphs get as far as a run
        atomic_store(word(l, TN_HEX_AT_RESPONSE, TN_HEX_MSG_SEQ), sequence);
        atomic_store(word(l, TN_HEX_AT_RESPONSE, TN_HEX_MSG_STATUS), 0);
        atomic_store(word(l, TN_HEX_AT_RESPONSE, TN_HEX_MSG_N_ARGS), 7);
        atomic_store(word(l, TN_HEX_AT_RESPONSE, TN_HEX_MSG_ARG + 3), 1);
        atomic_store(word(l, TN_HEX_AT_RESPONSE, TN_HEX_MSG_ARG + 4), 2);
    }
    if (call == TN_HEX_CALL_HELLO) {
        atomic_store(word(l, TN_HEX_AT_RESPONSE, TN_HEX_MSG_ARG), TN_HEX_PROTOCOL);
        atomic_store(word(l, TN_HEX_AT_RESPONSE, TN_HEX_MSG_ARG + 6), TN_HEX_OP_COUNT);
    }
    for (int i = 0; i < 8; i++) {
        atomic_store(word(l, TN_HEX_AT_CRASH, i), lie(l) % 2 ? 1 : lie(l) * 999u);
    }
    atomic_store(word(l, TN_HEX_AT_RSP_SEQ, 0), sequence);
}

static void *lie_on(void *context)
{
    liar *l = context;
    uint32_t seen = 0;
    atomic_store(word(l, TN_HEX_AT_ALIVE, TN_HEX_ALIVE_READY), 1);
    while (!atomic_load(&l->stop)) {
        const uint32_t sequence = atomic_load(word(l, TN_HEX_AT_REQ_SEQ, 0));
        if (sequence != seen) {
            seen = sequence;
            answer(l, sequence);
        }
        usleep(20);
    }
    return NULL;
}

static uint32_t next_seed = 1;

static tn_status liar_start(void **state, tn_heap *heap, int page_fd, tn_diag *diag)
{
    liar *l = tn_take_zero(heap, 1, sizeof *l);
    assert_non_null(l);
    l->heap = heap;
    atomic_init(&l->seed, next_seed++ * 7919);
    l->page = mmap(NULL, TN_HEX_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, page_fd, 0);
    assert_true(l->page != MAP_FAILED);
    assert_int_equal(pthread_create(&l->thread, NULL, lie_on, l), 0);
    *state = l;
    return TN_OK;
}

static bool liar_alive(void *state, char *how, size_t size)
{
    (void)snprintf(how, size, "a lie");
    return lie(state) % 64 != 0;
}

static tn_status liar_send(void *state, int fd, void *data, size_t bytes)
{
    (void)fd, (void)data, (void)bytes;
    return lie(state) % 32 ? TN_OK : TN_DEVICE;
}

static void liar_stop(void *state)
{
    liar *l = state;
    if (l) {
        atomic_store(&l->stop, 1);
        pthread_join(l->thread, NULL);
        munmap(l->page, TN_HEX_PAGE);
        tn_give(l->heap, l);
    }
}

static bool liar_present(const char **what)
{
    *what = "";
    return true;
}

static const tn_hex_transport lies = {.name = "lies", .present = liar_present, .start = liar_start, .alive = liar_alive, .send_fd = liar_send,
                                      .stop = liar_stop};

static void test_lies(void **state)
{
    tn_heap heap;
    tn_diag diag;
    tn_cpu cpu;
    uint8_t x[8 * 144] = {0}, y[8 * 144], p[8 * 36];
    tn_heap_init(&heap, NULL, NULL, NULL);
    tn_diag_clear(&diag);
    tn_cpu_detect(&cpu);
    tn_graph *graph = tn_graph_parse("graph \"g\" (%x: uint8[1,8,12,12]) -> (%y, %p)\n"
                                     "  %y = qlinear_table(%x, %t: const uint8[256])\n"
                                     "  %p = max_pool(%y) {kernel=[2,2], strides=[2,2]}\n", &heap, &diag);
    assert_non_null(graph);
    assert_int_equal(tn_infer_graph(graph, &heap, &diag), TN_OK);
    unsigned ran = 0, refused = 0;
    for (int round = 0; round < 60; round++) {
        tn_hex_device device = {.base = {.vtable = &tn_device_hexagon, .heap = &heap, .cpu = cpu}};
        tn_hex_flow *flow = NULL;
        tn_diag_clear(&diag);
        if (tn_hex_link_open(&device.link, &lies, &heap, 1, &diag) != TN_OK) {
            refused++;
            continue;
        }
        const tn_flow_request request = {.graph = graph, .precision = "fp32", .diag = &diag};
        const tn_tensor in = {.dtype = TN_U8, .shape = {4, {1, 8, 12, 12}}, .data = x};
        tn_tensor out[2] = {{.dtype = TN_U8, .shape = {4, {1, 8, 12, 12}}, .data = y}, {.dtype = TN_U8, .shape = {4, {1, 8, 6, 6}}, .data = p}};
        const tn_tensor *const ins[] = {&in};
        tn_tensor *const outs[] = {&out[0], &out[1]};
        if (tn_hex_flow_make(&device, &request, &flow) == TN_OK) {
            for (int i = 0; i < 4; i++) {
                tn_diag_clear(&diag);
                const tn_flow_run run = {.in = ins, .out = outs, .diag = &diag};
                ran += tn_hex_flow_run(flow, &run) == TN_OK;
            }
            tn_hex_flow_release(flow);
        } else {
            refused++;
        }
        tn_hex_link_close(device.link);
    }
    print_message("%u runs believed, %u links or graphs refused\n", ran, refused);
    assert_true(ran > 0 && refused > 0);
    tn_graph_destroy(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_float_rne), cmocka_unit_test(test_fixed_q31), cmocka_unit_test(test_overhead), cmocka_unit_test(test_kill), cmocka_unit_test(test_deadline),
        cmocka_unit_test(test_lies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
