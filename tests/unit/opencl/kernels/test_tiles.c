// SPDX-License-Identifier: Apache-2.0
// Tiles: the model's choice is one that the device takes; tables from disk are read as what they are, untrusted; a search finds a tile,
// writes it down, and the next context uses it.
#include "support/unit.h"

#include "base/text.h"
#include "exec/opencl/cl_disk.h"
#include "exec/opencl/tune/cl_search.h"
#include "exec/opencl/tune/cl_table.h"
#include "ir/edit.h"
#include "ops/nn/op_conv.h"
#include "support/case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static tn_heap heap;

static tn_cl_facts gpu(void)
{
    return (tn_cl_facts){.name = "Example GPU 7", .driver = "1.2", .images = true, .max_group = 1024, .local_bytes = 48 << 10, .units = 100};
}

static tn_cl_layer random_layer(tn_rand *r)
{
    const int64_t k = 1 + 2 * tn_rand_range(r, 0, 3);
    return (tn_cl_layer){.kind = tn_rand_range(r, 0, 1) ? TN_CL_LAYER_CONV : TN_CL_LAYER_DEPTHWISE, .pixels = tn_rand_range(r, 1, 50000),
                         .out_blocks = tn_rand_range(r, 1, 512), .in_blocks = tn_rand_range(r, 1, 512), .kh = k, .kw = k,
                         .stride = tn_rand_range(r, 1, 2), .group = 1, .height = tn_rand_range(r, 1, 200), .image = tn_rand_range(r, 0, 1)};
}

static void defaults_are_valid(void **state)
{
    (void)state;
    tn_rand r = {11};
    for (int i = 0; i < 200; i++) {
        const tn_cl_layer layer = random_layer(&r);
        tn_cl_facts facts = gpu();
        facts.max_group = (size_t)1 << tn_rand_range(&r, 5, 10);
        facts.local_bytes = (size_t)tn_rand_range(&r, 4, 64) << 10;
        const tn_cl_tile tile = tn_cl_tile_default(&layer, &facts);
        assert_true(tn_cl_tile_valid(&tile, &layer, &facts));
        assert_true(tn_cl_tile_price(&tile, &layer, &facts) > 0);
    }
}

// A map of few pixels and many channels is cut along its reduction, a large one is not.
static void small_maps_are_split(void **state)
{
    (void)state;
    const tn_cl_facts facts = gpu();
    const tn_cl_layer small = {TN_CL_LAYER_CONV, .pixels = 49, .out_blocks = 40, .in_blocks = 240, .kh = 1, .kw = 1, .stride = 1, .group = 1};
    const tn_cl_layer large = {TN_CL_LAYER_CONV, .pixels = 200000, .out_blocks = 32, .in_blocks = 16, .kh = 1, .kw = 1, .stride = 1, .group = 1};
    const tn_cl_tile a = tn_cl_tile_default(&small, &facts), b = tn_cl_tile_default(&large, &facts);
    assert_true(a.split_c >= 4);
    assert_true(b.split_c * b.split_t < a.split_c * a.split_t);
    assert_true(b.ob * b.p >= 8);
}

#define HEAD "tenon-opencl-tiles 1\ndevice Example GPU\ndriver *\n"

static size_t read_text(tn_cl_table *table, const char *text)
{
    const tn_cl_facts facts = gpu();
    return tn_cl_table_read(table, &heap, &facts, text, strlen(text));
}

static void tables_are_checked(void **state)
{
    (void)state;
    tn_cl_table table = {.count = 0};
    assert_int_equal(read_text(&table, HEAD "a 1 2 1 4 32 1\nb 2 2 1 1 64 2\n"), 2);
    assert_int_equal(read_text(&table, HEAD "a 4 4 1 1 32 1"), 1);
    assert_int_equal(table.count, 2);
    assert_int_equal(table.rows[0].tile.ob, 4);
    static const char *const bad[] = {
        "", "\n", "tenon-opencl-tiles 2\ndevice Example GPU\ndriver *\na 1 1 1 1 32 1\n", "tenon-opencl-tiles 1\ndevice Other\ndriver *\na 1 1 1 1 32 1\n",
        "tenon-opencl-tiles 1\ndevice \ndriver *\na 1 1 1 1 32 1\n", "tenon-opencl-tiles 1\ndevice Example GPU\ndriver 9\na 1 1 1 1 32 1\n",
        HEAD "a 1 1 1 1 32\n", HEAD "a 1 1 1 1 32 x\n", HEAD "a 0 1 1 1 32 1\n", HEAD "a -1 1 1 1 32 1\n",
        HEAD "a 1 1 1 1 4096 1\n", HEAD "a 1 1 1 1 99999999999999999999 1\n", HEAD "a 1 1 9 64 1024 64\n", HEAD " \n  \n",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(read_text(&table, bad[i]), 0);
    }
    // Any bytes behind the head: nothing is read outside, and what is taken is in range.
    tn_rand r = {5};
    for (int round = 0; round < 300; round++) {
        char text[600] = HEAD;
        const size_t head = strlen(text), n = (size_t)tn_rand_range(&r, 0, (int64_t)(sizeof text - head));
        for (size_t i = head; i < head + n && i < sizeof text; i++) {
            text[i] = "a1 0\n9"[tn_rand_range(&r, 0, 5)];
        }
        const tn_cl_facts facts = gpu();
        (void)tn_cl_table_read(&table, &heap, &facts, text, TN_MIN(head + n, sizeof text));
    }
    for (size_t i = 0; i < table.count; i++) {
        assert_in_range(table.rows[i].tile.lanes_x, 1, 4096);
    }
    tn_cl_table_release(&table, &heap);
    assert_int_equal(atomic_load(&heap.live_blocks), 0);
}

// ---- with a device ----

static tn_cl_context *open_context(void)
{
    tn_cl_driver driver;
    tn_cl_context *cl = NULL;
    tn_cpu cpu;
    const char *reason;
    tn_cpu_detect(&cpu);
    if (tn_cl_driver_open(&driver, &reason)) {
        (void)tn_cl_context_open(&cl, &driver, &heap, &cpu, NULL);
    }
    return cl;
}

enum { C = 8, SIDE = 6 };

static tn_graph *one_conv(void)
{
    static float weights[C * C * 9];
    const tn_conv_attr attr = {.group = 1};
    const tn_shape filter = tn_shape_of(4, (const int64_t[]){C, C, 3, 3}), map = tn_shape_of(4, (const int64_t[]){1, C, SIDE, SIDE});
    const tn_shape result = tn_shape_of(4, (const int64_t[]){1, C, SIDE - 2, SIDE - 2});
    tn_graph *graph = tn_graph_create(&heap, "conv");
    tn_value *v[3];
    for (int i = 0; i < C * C * 9; i++) {
        weights[i] = (float)(i % 7) - 3;
    }
    v[0] = tn_graph_value(graph, "x");
    v[1] = tn_graph_constant(graph, "w", TN_F32, &filter, weights, false);
    v[2] = tn_graph_value(graph, "y");
    v[0]->dtype = v[2]->dtype = TN_F32;
    v[0]->shape = map;
    v[2]->shape = result;
    assert_int_equal(tn_graph_add_input(graph, v[0]), TN_OK);
    assert_non_null(tn_graph_node(graph, NULL, &tn_op_conv, "conv", &attr, v, 2, v + 2, 1));
    assert_int_equal(tn_graph_add_output(graph, v[2]), TN_OK);
    return graph;
}

static bool count_layers(void *context, size_t done, size_t count, const char *layer, double before_ns, double after_ns)
{
    assert_int_equal(done, 1);
    assert_int_equal(count, 1);
    assert_non_null(strstr(layer, "conv_3x3_s1"));
    assert_true(before_ns > 0 && after_ns > 0 && after_ns <= before_ns);
    (*(int *)context)++;
    return true;
}

static void a_search_is_used_next_time(void **state)
{
    (void)state;
    char folder[] = "/tmp/tenon_tiles_XXXXXX", path[TN_CL_TABLE_PATH];
    tn_diag diag = {.status = TN_OK};
    tn_cl_context *cl = open_context();
    tn_cl_flow *flow = NULL;
    tn_cl_tile found;
    int layers = 0;
    if (!cl) {
        skip();
    }
    assert_non_null(mkdtemp(folder));
    tn_graph *graph = one_conv();
    const tn_flow_request request = {.graph = graph, .store = "buffer", .cache = folder, .diag = &diag};
    assert_int_equal(tn_cl_flow_make(cl, &request, &flow), TN_OK);
    const tn_tune_request wish = {.seconds = 0.5, .cache = folder, .store = "buffer", .seed = 1, .progress = count_layers, .context = &layers,
                                       .diag = &diag};
    assert_int_equal(tn_cl_search(flow, &wish), TN_OK);
    assert_int_equal(layers, 1);
    const tn_cl_step *step = flow->first;
    while (!step->layer) {
        step = step->next;
    }
    const tn_cl_layer layer = *step->layer;
    assert_true(tn_cl_table_find(cl, &layer, &found));
    assert_int_equal(tn_cl_table_save(cl, folder, &diag), TN_OK);
    tn_cl_table_path(&cl->facts, folder, path);
    tn_cl_flow_release(flow);
    tn_cl_context_close(cl);

    cl = open_context();
    assert_int_equal(tn_cl_flow_make(cl, &request, &flow), TN_OK);
    for (step = flow->first; !step->layer;) {
        step = step->next;
    }
    assert_memory_equal(&step->tile, &found, sizeof found);
    tn_cl_flow_release(flow);
    tn_cl_context_close(cl);
    tn_graph_destroy(graph);
    assert_int_equal(unlink(path), 0);
    tn_cl_disk_prune(folder, 0);
    assert_int_equal(rmdir(folder), 0);
    assert_int_equal(atomic_load(&heap.live_blocks), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_are_valid), cmocka_unit_test(small_maps_are_split), cmocka_unit_test(tables_are_checked),
        cmocka_unit_test(a_search_is_used_next_time),
    };
    tn_heap_init(&heap, NULL, NULL, NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
