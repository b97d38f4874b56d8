// SPDX-License-Identifier: Apache-2.0
// What goes wrong below the OpenCL device: each call of the driver fails once, each allocation fails once, programs on disk are short,
// changed, foreign or cannot be written. Nothing crashes or leaks; every failure says what the driver refused. Skipped without a device.
#include "support/unit.h"

#include "failing_driver.h"

#include "exec/opencl/cl_disk.h"
#include "exec/opencl/cl_flow.h"
#include "exec/opencl/run/cl_watch.h"
#include "ir/edit.h"
#include "ops/nn/op_activation.h"
#include "ops/nn/op_conv.h"
#include "ops/nn/op_softmax.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static int open_driver(void **state)
{
    const char *reason;
    (void)state;
    (void)tn_cl_driver_open(&real, &reason);
    return 0;
}

static void open_context(tn_cl_context **cl, tn_heap *heap)
{
    tn_diag diag = {.status = TN_OK};
    tn_cpu cpu;
    const tn_cl_driver driver = failing_driver();
    if (!real.library) {
        print_message("no OpenCL driver\n");
        skip();
    }
    tn_cpu_detect(&cpu);
    if (tn_cl_context_open(cl, &driver, heap, &cpu, &diag) != TN_OK) {
        print_message("%s\n", diag.message);
        skip();
    }
    (*cl)->buffers_only = false;
    (*cl)->lend_from = 0;             // operands and results are lent where the device can, however small
}

// ---- a small graph: softmax(relu(conv(x))) ----

static float weights[8 * 3 * 9];

static tn_graph *small_graph(tn_heap *heap)
{
    const tn_shape x = tn_shape_of(4, (const int64_t[]){1, 3, 8, 8}), w = tn_shape_of(4, (const int64_t[]){8, 3, 3, 3});
    const tn_shape y = tn_shape_of(4, (const int64_t[]){1, 8, 6, 6});
    const tn_conv_attr conv = {.group = 1};
    const tn_softmax_attr softmax = {.axis = 1};
    tn_graph *graph = tn_graph_create(heap, "small");
    tn_value *v[4];
    for (int i = 0; i < 4; i++) {
        v[i] = tn_graph_value(graph, NULL);
        v[i]->dtype = TN_F32;
        v[i]->shape = i ? y : x;
    }
    tn_value *in[2] = {v[0], tn_graph_constant(graph, "w", TN_F32, &w, weights, false)};
    assert_int_equal(tn_graph_add_input(graph, v[0]), TN_OK);
    assert_non_null(tn_graph_node(graph, NULL, &tn_op_conv, "conv", &conv, in, 2, &v[1], 1));
    assert_non_null(tn_graph_node(graph, NULL, &tn_op_relu, "relu", NULL, &v[1], 1, &v[2], 1));
    assert_non_null(tn_graph_node(graph, NULL, &tn_op_softmax, "softmax", &softmax, &v[2], 1, &v[3], 1));
    assert_int_equal(tn_graph_add_output(graph, v[3]), TN_OK);
    return graph;
}

// With fp16 the values of the convolution leave the range of halves, so that the flow is made three times.
static const char *precision = "fp32";

static tn_status make_and_run(tn_cl_context *cl, const tn_graph *graph, const char *cache, tn_diag *diag)
{
    static _Alignas(4096) float x[3 * 64], y[8 * 36];
    const bool half = strcmp(precision, "fp16") == 0;
    for (int i = 0; i < 8 * 3 * 9; i++) {
        weights[i] = half ? 1000 : 0;
    }
    for (int i = 0; i < 3 * 64; i++) {
        x[i] = half ? 10 : 0;
    }
    tn_tensor in = {.dtype = TN_F32, .shape = graph->inputs[0]->shape, .data = x};
    tn_tensor out = {.dtype = TN_F32, .shape = graph->outputs[0]->shape, .data = y};
    const tn_tensor *ins[] = {&in};
    tn_tensor *outs[] = {&out};
    const tn_flow_request request = {.graph = graph, .precision = precision, .store = "image", .cache = cache, .diag = diag};
    const tn_flow_run run = {.in = ins, .out = outs, .diag = diag};
    tn_cl_flow *flow;
    tn_status status = tn_cl_flow_make(cl, &request, &flow);
    if (status == TN_OK) {
        status = tn_cl_watched_run(flow, &run);
        tn_cl_flow_release(flow);
    }
    if (status == TN_OK) {
        float sum = 0;         // of all channels: the result of the softmax
        for (int c = 0; c < 8; c++) {
            sum += y[c * 36];
        }
        assert_true(sum > 0.999f && sum < 1.001f);
    }
    return status;
}

// ---- tests ----

static void fail_each_call(void)
{
    tn_heap heap, graph_heap;
    tn_cl_context *cl = NULL;
    tn_heap_init(&heap, NULL, NULL, NULL);
    tn_heap_init(&graph_heap, NULL, NULL, NULL);
    countdown = -1;
    open_context(&cl, &heap);
    tn_graph *graph = small_graph(&graph_heap);
    int n = 1;
    for (bool failed = true; failed; n++) {
        tn_diag diag = {.status = TN_OK};
        countdown = n;
        const tn_status status = make_and_run(cl, graph, NULL, &diag);
        failed = countdown <= 0;
        // A buffer over host memory that the driver refuses is a copy.
        assert_true(failed || status == TN_OK);
        if (status != TN_OK) {
            assert_int_equal(status, TN_DEVICE);
            assert_true(strlen(diag.message) > 10);
        }
        assert_true(n < 1000);
    }
    countdown = -1;
    print_message("%d calls of the driver\n", n - 1);
    tn_cl_context_close(cl);
    assert_int_equal(live, 0);
    assert_int_equal(atomic_load(&heap.live_blocks), 0);
    tn_graph_destroy(graph);
}

static void each_call_fails_once(void **state)
{
    (void)state;
    fail_each_call();
    precision = "fp16";
    fail_each_call();
    precision = "fp32";
}

static void each_allocation_fails_once(void **state)
{
    tn_heap graph_heap;
    tn_fail_heap failing;
    tn_cl_context *cl = NULL;
    (void)state;
    tn_fail_heap_init(&failing, 0);
    tn_heap_init(&graph_heap, NULL, NULL, NULL);
    countdown = -1;
    open_context(&cl, &failing.heap);
    tn_graph *graph = small_graph(&graph_heap);
    tn_status status = TN_OUT_OF_MEMORY;
    for (size_t n = 1; status != TN_OK; n++) {
        tn_diag diag = {.status = TN_OK};
        failing.fail_at = failing.requests + n;
        status = make_and_run(cl, graph, NULL, &diag);
        failing.fail_at = 0;
        assert_true(status == TN_OK || status == TN_OUT_OF_MEMORY);
        assert_true(n < 1000);
    }
    tn_cl_context_close(cl);
    assert_int_equal(live, 0);
    assert_int_equal(atomic_load(&failing.heap.live_blocks), 0);
    tn_graph_destroy(graph);
}

// Programs built by a fresh start with this cache.
static unsigned start(const char *folder, unsigned *loaded)
{
    tn_heap heap;
    tn_cl_context *cl = NULL;
    tn_diag diag = {.status = TN_OK};
    tn_heap_init(&heap, NULL, NULL, NULL);
    countdown = -1;
    open_context(&cl, &heap);
    tn_graph *graph = small_graph(&heap);
    assert_int_equal(make_and_run(cl, graph, folder, &diag), TN_OK);
    const unsigned built = cl->built;
    *loaded = cl->loaded;
    tn_graph_destroy(graph);
    tn_cl_context_close(cl);
    assert_int_equal(atomic_load(&heap.live_blocks), 0);
    return built;
}

// Calls change for the bytes of every program file.
static void change_files(const char *folder, void (*change)(FILE *file, const char *path))
{
    DIR *list = opendir(folder);
    assert_non_null(list);
    for (struct dirent *entry = readdir(list); entry; entry = readdir(list)) {
        char path[512];
        (void)snprintf(path, sizeof path, "%s/%.200s", folder, entry->d_name);
        FILE *file = entry->d_name[0] == '.' ? NULL : fopen(path, "r+b");
        if (file) {
            change(file, path);
            (void)fclose(file);
        }
    }
    (void)closedir(list);
}

static void flip(FILE *file, const char *path)
{
    (void)path;
    (void)fseek(file, 200, SEEK_SET);
    const int c = fgetc(file);
    (void)fseek(file, 200, SEEK_SET);
    (void)fputc(c ^ 1, file);
}

static void shorten(FILE *file, const char *path)
{
    (void)file;
    assert_int_equal(truncate(path, 100), 0);
}

static void rename_device(FILE *file, const char *path)
{
    (void)path;
    (void)fseek(file, 32, SEEK_SET);      // the hash of device and driver
    (void)fputc('?', file);
}

static void remove_file(FILE *file, const char *path)
{
    (void)file;
    (void)unlink(path);
}

typedef struct folder_state { unsigned files, broken; uint64_t bytes; } folder_state;

static void count_file(const tn_cache_file *file, void *context)
{
    folder_state *seen = context;
    assert_string_equal(file->kind, "program");
    seen->files++;
    seen->broken += !file->whole;
    seen->bytes += file->bytes;
}

static void look(const char *folder, folder_state *seen)
{
    *seen = (folder_state){0};
    assert_true(tn_cl_disk_list(folder, count_file, seen));
}

// Drivers may make machine code only when a kernel runs, so files are written behind the first run; a flow that never ran writes them at its end.
static void programs_are_saved_when_they_have_run(void **state)
{
    char folder[] = "/tmp/tenon-cl-XXXXXX";
    static float x[3 * 64], y[8 * 36];
    tn_heap heap;
    tn_cl_context *cl = NULL;
    tn_diag diag = {.status = TN_OK};
    folder_state seen;
    (void)state;
    assert_non_null(mkdtemp(folder));
    tn_heap_init(&heap, NULL, NULL, NULL);
    countdown = -1;
    for (int runs = 0; runs < 2; runs++) {
        open_context(&cl, &heap);
        tn_graph *graph = small_graph(&heap);
        const tn_flow_request request = {.graph = graph, .precision = "fp32", .store = "image", .cache = folder, .diag = &diag};
        tn_tensor in = {.dtype = TN_F32, .shape = graph->inputs[0]->shape, .data = x};
        tn_tensor out = {.dtype = TN_F32, .shape = graph->outputs[0]->shape, .data = y};
        const tn_tensor *ins[] = {&in};
        tn_tensor *outs[] = {&out};
        const tn_flow_run run = {.in = ins, .out = outs, .diag = &diag};
        tn_cl_flow *flow;
        assert_int_equal(tn_cl_flow_make(cl, &request, &flow), TN_OK);
        look(folder, &seen);
        assert_int_equal(seen.files, 0);
        if (runs) {
            assert_int_equal(tn_cl_flow_run(flow, &run), TN_OK);
            look(folder, &seen);
            assert_int_equal(seen.files, cl->built);
        }
        tn_cl_flow_release(flow);
        look(folder, &seen);
        assert_int_equal(seen.files, cl->built);
        change_files(folder, remove_file);
        tn_graph_destroy(graph);
        tn_cl_context_close(cl);
    }
    (void)rmdir(folder);
    assert_int_equal(atomic_load(&heap.live_blocks), 0);
}

// A process that was killed while it wrote leaves a file; an hour later the next that writes removes it.
static void leftovers_go(void **state)
{
    char folder[] = "/tmp/tenon-cl-XXXXXX", path[2][256];
    unsigned loaded;
    (void)state;
    assert_non_null(mkdtemp(folder));
    for (int i = 0; i < 2; i++) {
        (void)snprintf(path[i], sizeof path[i], "%s/0.clbin.%d-1", folder, i);
        FILE *file = fopen(path[i], "w");
        assert_non_null(file);
        (void)fclose(file);
    }
    const struct timeval old[2] = {{time(NULL) - 7200, 0}, {time(NULL) - 7200, 0}};
    assert_int_equal(utimes(path[0], old), 0);
    assert_true(start(folder, &loaded) > 0);
    assert_int_not_equal(access(path[0], F_OK), 0);
    assert_int_equal(access(path[1], F_OK), 0);
    change_files(folder, remove_file);
    (void)rmdir(folder);
}

static void programs_on_disk(void **state)
{
    char folder[] = "/tmp/tenon-cl-XXXXXX";
    void (*const changes[])(FILE *, const char *) = {flip, shorten, rename_device};
    folder_state seen;
    unsigned loaded = 0;
    (void)state;
    assert_non_null(mkdtemp(folder));
    const unsigned built = start(folder, &loaded);
    assert_true(built > 0);
    assert_int_equal(loaded, 0);
    assert_int_equal(start(folder, &loaded), 0);
    assert_int_equal(loaded, built);
    for (size_t i = 0; i < TN_COUNT(changes); i++) {
        change_files(folder, changes[i]);
        look(folder, &seen);
        assert_int_equal(seen.broken, built);
        assert_int_equal(start(folder, &loaded), built);      // ignored, and written again
        assert_int_equal(start(folder, &loaded), 0);
    }
    assert_true(tn_cl_disk_prune(folder, seen.bytes / 2) > 0);
    look(folder, &seen);
    assert_true(seen.files < built && seen.broken == 0);
    change_files(folder, remove_file);
    (void)rmdir(folder);
    assert_int_equal(start("/proc/nowhere", &loaded), built); // a folder that cannot be made
    assert_int_equal(live, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_call_fails_once), cmocka_unit_test(each_allocation_fails_once), cmocka_unit_test(programs_on_disk),
        cmocka_unit_test(programs_are_saved_when_they_have_run), cmocka_unit_test(leftovers_go),
    };
    return cmocka_run_group_tests(tests, open_driver, NULL);
}
