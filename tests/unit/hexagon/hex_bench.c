// SPDX-License-Identifier: Apache-2.0
// hex_bench.h: the engine below sessions, so that tests reach the line to the DSP.
// Ownership: see hex_bench.h. Threads: see hex_bench.h.
#include "hex_bench.h"

#include "pass/pass.h"
#include "support/graph_text.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

// Convolutions of both kinds, a sum, a table, a join, pooling and a product: most of what nets are made of.
static const char *const net =
    "graph \"g\" (%x: uint8[1,8,12,12]) -> (%y, %p)\n"
    "  %c = qlinear_conv(%x, %s: const float32[](0.02), %z: const uint8[](120), %w: const int8[16,8,3,3], %ws: const float32[](0.01), -, "
    "%cs: const float32[](0.05), %cz: const uint8[](100), %b: const int32[16]) {kernel=[3,3], pads=[1,1,1,1], rounding=ROUNDING, low=100}\n"
    "  %d = qlinear_conv(%c, %cs, %cz, %dw: const int8[16,1,3,3], %ws, -, %cs, %cz) {kernel=[3,3], pads=[1,1,1,1], group=16, rounding=ROUNDING}\n"
    "  %a = qlinear_add(%c, %cs, %cz, %d, %cs, %cz, %as: const float32[](0.08), %az: const uint8[](90)) {rounding=ROUNDING}\n"
    "  %t = qlinear_table(%a, %table: const uint8[256])\n"
    "  %k = max(%t, %d)\n"
    "  %n = min(%k, %a)\n"
    "  %j = concat(%n, %a) {axis=1}\n"
    "  %m = max_pool(%j) {kernel=[2,2], strides=[2,2]}\n"
    "  %g = qlinear_global_average_pool(%m, %as, %az, %as, %az) {rounding=ROUNDING}\n"
    "  %f = flatten(%g) {axis=1}\n"
    "  %y = qlinear_matmul(%f, %as, %az, %v: const int8[32,10], %ws, -, %cs, %cz) {rounding=ROUNDING}\n"
    "  %p = identity(%m)\n";

static const char *const third =
    "graph \"g\" (%x: uint8[1,8,12,12]) -> (%y, %p)\n"
    "  %t = qlinear_table(%x, %table: const uint8[256])\n"
    "  %y = max_pool(%t) {kernel=[3,3], strides=[1,1], pads=[1,1,1,1]}\n"
    "  %p = max_pool(%y) {kernel=[2,2], strides=[2,2]}\n";

bool hex_bench_present(void)
{
    const char *what = "";
    if (!tn_hex_qemu.present(&what)) {
        print_message("%s\n", what);
        return false;
    }
    return true;
}

static void optimise(hex_bench *b)
{
    tn_pass_context passes = {.heap = &b->heap, .diag = &b->diag, .limit_tensor_bytes = UINT32_MAX};
    if (tn_optimise(b->graph, &passes, NULL) != TN_OK) {
        fail_msg("%s: %s", b->diag.place, b->diag.message);
    }
}

void hex_bench_open(hex_bench *b, const char *text, bool written) { hex_bench_open_with(b, text, written, NULL); }

void hex_bench_open_with(hex_bench *b, const char *text, bool written, const tn_hex_options *options)
{
    memset(b, 0, sizeof *b);
    tn_heap_init(&b->heap, NULL, NULL, NULL);
    tn_diag_clear(&b->diag);
    tn_cpu_detect(&b->cpu);
    b->graph = tn_graph_parse(text, &b->heap, &b->diag);
    if (!b->graph || tn_infer_graph(b->graph, &b->heap, &b->diag) != TN_OK) {
        fail_msg("%s: %s", b->diag.place, b->diag.message);
    }
    if (!written) {
        optimise(b);
    }
    assert_int_equal(tn_weights_init(&b->weights, &b->heap, &b->diag), TN_OK);
    if ((options ? tn_hex_device_open(&b->devices[0], &b->heap, &b->cpu, options, &b->diag)
                 : tn_device_hexagon.open(&b->devices[0], &b->heap, &b->cpu, &b->diag)) != TN_OK ||
        tn_device_hexagon.revive(b->devices[0], 0, &b->diag) != TN_OK) {
        fail_msg("%s", b->diag.message);
    }
    assert_int_equal(tn_device_cpu.open(&b->devices[1], &b->heap, &b->cpu, &b->diag), TN_OK);
    b->blocks.heap = &b->heap;
    for (int i = 0; i < HEX_WHERES; i++) {
        b->context[i] = (tn_plan_context){.heap = &b->heap, .weights = &b->weights, .cpu = b->cpu, .threads = 1, .devices = b->devices + i,
                                          .n_devices = (size_t)(2 - i), .device = i == HEX_DSP ? "hexagon" : NULL, .precision = "fp32",
                                          .limit_tensor = UINT32_MAX, .limit_work = UINT64_MAX, .limit_loop = 1000, .blocks = &b->blocks,
                                          .memory = i == HEX_DSP ? b->devices[0] : NULL};
        assert_int_equal(tn_program_create(&b->program[i], b->graph, &b->context[i], 4, &b->diag), TN_OK);
    }
    b->x = b->devices[0]->vtable->take(b->devices[0], HEX_INPUT);
    assert_non_null(b->x);
    for (int i = 0; i < HEX_INPUT; i++) {
        b->x[i] = (uint8_t)(i * 37 + i / 7);
    }
    b->feed = (tn_tensor){.dtype = TN_U8, .shape = {4, {1, 8, 12, 12}}, .data = b->x};
}

char *hex_bench_net(const char *rounding)
{
    char *out = malloc(8192), *to = out;
    for (const char *at = net; *at;) {
        const bool here = strncmp(at, "ROUNDING", 8) == 0;
        to += here ? sprintf(to, "%s", rounding) : 0;
        *to = here ? *to : *at;
        to += !here;
        at += here ? 8 : 1;
    }
    *to = 0;
    return out;
}

void hex_bench_open_net(hex_bench *b, const char *rounding)
{
    if (!hex_bench_present()) {
        skip();
    }
    char *full = hex_bench_net(rounding);
    hex_bench_open(b, full, true);
    free(full);
}

void hex_bench_close(hex_bench *b)
{
    tn_program_destroy(b->program[HEX_DSP]);
    tn_program_destroy(b->program[HEX_CPU]);
    b->devices[0]->vtable->give(b->devices[0], b->x);
    tn_device_hexagon.close(b->devices[0]);
    tn_device_cpu.close(b->devices[1]);
    tn_weights_deinit(&b->weights);
    tn_graph_destroy(b->graph);
    tn_block_trim(&b->blocks);
    assert_int_equal(atomic_load(&b->heap.live_blocks), 0);
}

tn_status hex_bench_run(hex_bench *b, int where, tn_result_slot *results, uint64_t deadline_ns)
{
    tn_arena objects;
    tn_arena_init(&objects, &b->heap);
    tn_run run = {.context = &b->context[where], .diag = &b->diag, .objects = &objects, .deadline_ns = deadline_ns};
    memset(results, 0, HEX_MOST_RESULTS * sizeof *results);
    tn_diag_clear(&b->diag);
    const tn_status status = tn_program_run(b->program[where], &run, &b->feed, results);
    tn_arena_deinit(&objects);
    return status;
}

tn_hex_link *hex_bench_link(const hex_bench *b) { return ((tn_hex_device *)b->devices[0])->link; }

pid_t hex_bench_process(const hex_bench *b)
{
    const tn_hex_link *link = hex_bench_link(b);
    return link->transport->process(link->state);
}

void hex_bench_compare(const hex_bench *b, const tn_result_slot *got, const tn_result_slot *want)
{
    for (size_t i = 0; i < b->graph->n_outputs; i++) {
        size_t bytes;
        assert_true(tn_tensor_bytes(&want[i].tensor, &bytes));
        assert_int_equal(tn_tensor_count(&got[i].tensor), tn_tensor_count(&want[i].tensor));
        assert_memory_equal(got[i].tensor.data, want[i].tensor.data, bytes);
    }
}

// ---- users ----

void hex_user_open(hex_user *u, int model, const tn_hex_options *options)
{
    memset(u, 0, sizeof *u);
    char *text = model < 2 ? hex_bench_net(model ? "float_rne" : "fixed_q31") : NULL;
    hex_bench_open_with(&u->b, text ? text : third, true, options);
    free(text);
    assert_int_equal(hex_bench_run(&u->b, HEX_CPU, u->want, 0), TN_OK);
}

static bool same(const hex_bench *b, const tn_result_slot *got, const tn_result_slot *want)
{
    for (size_t i = 0; i < b->graph->n_outputs; i++) {
        size_t bytes, wanted;
        if (!tn_tensor_bytes(&got[i].tensor, &bytes) || !tn_tensor_bytes(&want[i].tensor, &wanted) || bytes != wanted ||
            memcmp(got[i].tensor.data, want[i].tensor.data, bytes) != 0) {
            return false;
        }
    }
    return true;
}

void *hex_user_work(void *context)
{
    hex_user *u = context;
    tn_result_slot got[HEX_MOST_RESULTS];
    for (int i = 0; u->stop ? !atomic_load(u->stop) : i < u->rounds; i++) {
        const tn_status status = hex_bench_run(&u->b, HEX_DSP, got, 0);
        u->died += status == TN_DEVICE;
        u->other += status != TN_OK && status != TN_DEVICE;
        u->ran += status == TN_OK;
        u->wrong += status == TN_OK && !same(&u->b, got, u->want);
        if (status == TN_OK && u->all) {
            atomic_fetch_add(u->all, 1);
        }
    }
    return NULL;
}

void hex_users_run(hex_user *users, int count, int rounds)
{
    pthread_t threads[HEX_MODELS];
    for (int i = 0; i < count; i++) {
        users[i].rounds = rounds;
        users[i].ran = users[i].died = 0;
        users[i].stop = NULL;
        assert_int_equal(pthread_create(&threads[i], NULL, hex_user_work, &users[i]), 0);
    }
    for (int i = 0; i < count; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(users[i].wrong, 0);
        assert_int_equal(users[i].other, 0);
        assert_int_equal(users[i].died, 0);
        assert_int_equal(users[i].ran, rounds);
    }
}

int hex_open_descriptors(void)
{
    int count = 0;
    DIR *folder = opendir("/proc/self/fd");
    while (folder && readdir(folder)) {
        count++;
    }
    if (folder) {
        closedir(folder);
    }
    return count;
}

int hex_descriptors_beside_spare(tn_hex_link *link)
{
    tn_hex_link_lock(link);
    tn_hex_spare_drop(link);
    tn_hex_page_give(link->spare.page, link->spare.page_fd);
    link->spare.page = NULL;
    tn_hex_link_unlock(link);
    return hex_open_descriptors();
}

bool hex_has_children(void) { return waitpid(-1, NULL, WNOHANG) >= 0 || errno != ECHILD; }
