// SPDX-License-Identifier: Apache-2.0
// The host side of the DSP, over the real program in the emulator: bits equal to the CPU's and no copies; and over a program that answers
// nonsense. The first part is skipped where there is no emulator.
#include "hex_bench.h"

#include "pass/pass.h"
#include "support/graph_text.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

// ---- bits and bytes ----

static void check_bits(const char *rounding)
{
    hex_bench b;
    tn_result_slot dsp[2], cpu[2];
    hex_bench_open_net(&b, rounding);
    assert_int_equal(hex_bench_run(&b, HEX_CPU, cpu, 0), TN_OK);
    if (hex_bench_run(&b, HEX_DSP, dsp, 0) != TN_OK) {
        fail_msg("%s: %s", b.diag.place, b.diag.message);
    }
    hex_bench_compare(&b, dsp, cpu);
    const tn_plan *plan = tn_program_plan(b.program[0]);
    assert_int_equal(plan->n_steps, 1);                      // whole, by one call
    // Results lie where the DSP wrote them, and nothing was copied.
    assert_non_null(tn_hex_buffer_find(hex_bench_link(&b), dsp[0].tensor.data, 10));
    assert_int_equal(b.devices[0]->vtable->copied(b.devices[0]), 0);
    // An input that the DSP cannot see is copied, and counted.
    uint8_t *mine = malloc(HEX_INPUT);
    memcpy(mine, b.x, HEX_INPUT);
    b.feed.data = mine;
    assert_int_equal(hex_bench_run(&b, HEX_DSP, dsp, 0), TN_OK);
    hex_bench_compare(&b, dsp, cpu);
    assert_int_equal(b.devices[0]->vtable->copied(b.devices[0]), HEX_INPUT);
    free(mine);
    hex_bench_close(&b);
}

static void test_float_rne(void **state) { check_bits("float_rne"); }
static void test_fixed_q31(void **state) { check_bits("fixed_q31"); }

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

static tn_status liar_start(void **state, tn_heap *heap, int page_fd, const tn_hex_options *options, tn_diag *diag)
{
    (void)options;
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

static void liar_stop(void *state, bool asked)
{
    (void)asked;
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

static const tn_hex_options one_thread = {.threads = 1};

static void test_lies(void **state)
{
    tn_heap heap;
    tn_diag diag;
    tn_cpu cpu;
    uint8_t x[HEX_INPUT] = {0}, y[HEX_INPUT], p[8 * 36];
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
        if (tn_hex_link_open(&device.link, &lies, &heap, &one_thread, &diag) != TN_OK) {
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

// Two models and one liar: what it tells one of them must not harm the other, nor what they give back.
typedef struct believer {
    tn_hex_device device;
    const tn_graph *graph;
    unsigned ran;
} believer;

static void *believe(void *context)
{
    believer *b = context;
    static const uint8_t x[HEX_INPUT];
    uint8_t y[HEX_INPUT], p[8 * 36];
    tn_diag diag;
    const tn_tensor in = {.dtype = TN_U8, .shape = {4, {1, 8, 12, 12}}, .data = (void *)(uintptr_t)x};
    tn_tensor out[2] = {{.dtype = TN_U8, .shape = {4, {1, 8, 12, 12}}, .data = y}, {.dtype = TN_U8, .shape = {4, {1, 8, 6, 6}}, .data = p}};
    const tn_tensor *const ins[] = {&in};
    tn_tensor *const outs[] = {&out[0], &out[1]};
    for (int i = 0; i < 4; i++) {
        tn_hex_flow *flow = NULL;
        tn_diag_clear(&diag);
        const tn_flow_request request = {.graph = b->graph, .precision = "fp32", .diag = &diag};
        tn_hex_buffer *buffer = tn_hex_buffer_take(b->device.link, 1000);
        if (tn_hex_flow_make(&b->device, &request, &flow) == TN_OK) {
            for (uint64_t k = 0; k < 4; k++) {
                tn_diag_clear(&diag);
                const tn_flow_run run = {.in = ins, .out = outs, .number = 1 + k / 2, .diag = &diag};
                b->ran += tn_hex_flow_run(flow, &run) == TN_OK;
            }
            tn_hex_flow_release(flow);
        }
        tn_hex_buffer_give(b->device.link, buffer);
    }
    return NULL;
}

static void test_lies_to_two(void **state)
{
    static const char *const texts[2] = {
        "graph \"g\" (%x: uint8[1,8,12,12]) -> (%y, %p)\n"
        "  %y = qlinear_table(%x, %t: const uint8[256])\n  %p = max_pool(%y) {kernel=[2,2], strides=[2,2]}\n",
        "graph \"g\" (%x: uint8[1,8,12,12]) -> (%y, %p)\n"
        "  %y = qlinear_table(%x, %t: const uint8[256])\n  %p = max_pool(%x) {kernel=[2,2], strides=[2,2]}\n"};
    tn_heap heap;
    tn_diag diag;
    tn_cpu cpu;
    believer b[2];
    pthread_t threads[2];
    unsigned ran = 0, opened = 0;
    tn_heap_init(&heap, NULL, NULL, NULL);
    tn_diag_clear(&diag);
    tn_cpu_detect(&cpu);
    tn_graph *graphs[2];
    for (int i = 0; i < 2; i++) {
        graphs[i] = tn_graph_parse(texts[i], &heap, &diag);
        assert_non_null(graphs[i]);
        assert_int_equal(tn_infer_graph(graphs[i], &heap, &diag), TN_OK);
    }
    for (int round = 0; round < 12; round++) {
        tn_hex_link *link;
        tn_diag_clear(&diag);
        if (tn_hex_link_open(&link, &lies, &heap, &one_thread, &diag) != TN_OK) {
            continue;
        }
        opened++;
        for (int i = 0; i < 2; i++) {
            b[i] = (believer){.device = {.base = {.vtable = &tn_device_hexagon, .heap = &heap, .cpu = cpu}, .link = link}, .graph = graphs[i]};
            assert_int_equal(pthread_create(&threads[i], NULL, believe, &b[i]), 0);
        }
        for (int i = 0; i < 2; i++) {
            pthread_join(threads[i], NULL);
            ran += b[i].ran;
        }
        tn_hex_link_close(link);
    }
    print_message("%u runs believed over %u links\n", ran, opened);
    assert_true(opened > 0);
    tn_graph_destroy(graphs[0]);
    tn_graph_destroy(graphs[1]);
    assert_int_equal(atomic_load(&heap.live_blocks), 0);
}

// More sub-graphs than the program has room for: those that were not used for longest give way, and come back when they are used.
enum { FLOWS = 300 };

static void run_one(tn_hex_flow *flow, int width, tn_diag *diag)
{
    static uint8_t x[FLOWS], y[FLOWS];
    const tn_tensor in = {.dtype = TN_U8, .shape = {4, {1, 1, 1, width}}, .data = x};
    tn_tensor out = {.dtype = TN_U8, .shape = {4, {1, 1, 1, width}}, .data = y};
    const tn_tensor *const ins[] = {&in};
    tn_tensor *const outs[] = {&out};
    const tn_flow_run run = {.in = ins, .out = outs, .diag = diag};
    memset(x, width % 251 + 1, sizeof x);
    if (tn_hex_flow_run(flow, &run) != TN_OK) {
        fail_msg("width %d: %s", width, diag->message);
    }
    assert_memory_equal(x, y, (size_t)width);
}

static void test_many(void **state)
{
    static tn_hex_flow *flows[FLOWS];
    static tn_graph *graphs[FLOWS];
    tn_heap heap;
    tn_cpu cpu;
    tn_diag diag;
    (void)state;
    if (!hex_bench_present()) {
        skip();
    }
    tn_heap_init(&heap, NULL, NULL, NULL);
    tn_diag_clear(&diag);
    tn_cpu_detect(&cpu);
    tn_hex_device device = {.base = {.vtable = &tn_device_hexagon, .heap = &heap, .cpu = cpu}};
    assert_int_equal(tn_hex_link_open(&device.link, tn_hex_transport_choose(), &heap, &one_thread, &diag), TN_OK);
    for (int i = 0; i < FLOWS; i++) {
        char text[120];
        snprintf(text, sizeof text, "graph \"g\" (%%x: uint8[1,1,1,%d]) -> (%%y)\n  %%y = max_pool(%%x) {kernel=[1,1]}\n", i + 1);
        graphs[i] = tn_graph_parse(text, &heap, &diag);
        assert_non_null(graphs[i]);
        assert_int_equal(tn_infer_graph(graphs[i], &heap, &diag), TN_OK);
        const tn_flow_request request = {.graph = graphs[i], .precision = "fp32", .diag = &diag};
        if (tn_hex_flow_make(&device, &request, &flows[i]) != TN_OK) {
            fail_msg("flow %d: %s", i, diag.message);
        }
    }
    for (int i = 0; i < FLOWS; i += 23) {
        run_one(flows[i], i + 1, &diag);
    }
    for (int i = 0; i < FLOWS; i++) {
        tn_hex_flow_release(flows[i]);
        tn_graph_destroy(graphs[i]);
    }
    tn_hex_link_close(device.link);
    assert_int_equal(atomic_load(&heap.live_bytes), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_float_rne), cmocka_unit_test(test_fixed_q31), cmocka_unit_test(test_lies), cmocka_unit_test(test_lies_to_two),
        cmocka_unit_test(test_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
