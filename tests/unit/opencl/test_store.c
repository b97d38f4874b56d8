// SPDX-License-Identifier: Apache-2.0
// The store of a sub-graph: the cheaper of the two by kind of device, never an image past the device's limits, results the same, and what
// was chosen is said; of images that were asked for and cannot be, there is a warning.
#include "unit/opencl/cl_unit.h"

#include "exec/opencl/rows/cl_rows.h"
#include "exec/opencl/run/cl_store.h"
#include "ir/edit.h"
#include "ops/nn/op_conv.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { C = 8, SIDE = 10, COUNT = C * SIDE * SIDE };

extern const tn_device_vtable tn_device_opencl;

static tn_heap heap;
static tn_cl_driver real;
static size_t widest, highest;
static int images, warnings;
static char warned[200];

static cl_mem CL_API_CALL make_image(cl_context context, cl_mem_flags flags, const cl_image_format *format, const cl_image_desc *desc, void *host,
                                     cl_int *error)
{
    images++;
    widest = desc->image_width > widest ? desc->image_width : widest;
    highest = desc->image_height > highest ? desc->image_height : highest;
    return real.CreateImage(context, flags, format, desc, host, error);
}

static tn_cl_context *open_context(void)
{
    tn_cl_context *cl = tn_unit_device(&heap);
    if (!cl) {
        return NULL;
    }
    real = cl->driver;
    cl->driver.CreateImage = make_image;
    return cl;
}

// Two convolutions.
static tn_graph *small_graph(void)
{
    static float weights[C * C * 9];
    const tn_conv_attr attr = {.group = 1, .pads = {.count = 4, .v = (const int64_t[]){1, 1, 1, 1}}};
    const tn_shape shape = tn_shape_of(4, (const int64_t[]){1, C, SIDE, SIDE}), filter = tn_shape_of(4, (const int64_t[]){C, C, 3, 3});
    tn_graph *graph = tn_graph_create(&heap, "small");
    tn_value *v[3];
    for (int i = 0; i < C * C * 9; i++) {
        weights[i] = (float)(i % 7) / 50 - 0.05f;
    }
    for (int i = 0; i < 3; i++) {
        v[i] = tn_graph_value(graph, NULL);
        v[i]->dtype = TN_F32;
        v[i]->shape = shape;
    }
    assert_int_equal(tn_graph_add_input(graph, v[0]), TN_OK);
    for (int i = 0; i < 2; i++) {
        tn_value *in[2] = {v[i], tn_graph_constant(graph, NULL, TN_F32, &filter, weights, false)};
        assert_non_null(tn_graph_node(graph, NULL, &tn_op_conv, i ? "second" : "first", &attr, in, 2, &v[i + 1], 1));
    }
    assert_int_equal(tn_graph_add_output(graph, v[2]), TN_OK);
    return graph;
}

static void warn(void *context, const char *what)
{
    (void)context;
    warnings++;
    (void)strncpy(warned, what, sizeof warned - 1);
}

// Runs the graph; the remark of its flow, which lives on in `remark`.
static void run(tn_cl_context *cl, const tn_graph *graph, const char *store, float y[COUNT], char remark[320])
{
    static float x[COUNT];
    tn_diag diag = {.status = TN_OK};
    const tn_flow_listener listener = {.warn = warn};
    const tn_flow_request request = {.graph = graph, .precision = "fp32", .store = store, .listener = &listener, .diag = &diag};
    tn_cl_flow *flow = NULL;
    for (int i = 0; i < COUNT; i++) {
        x[i] = sinf((float)i);
    }
    images = warnings = 0;
    widest = highest = 0;
    if (tn_cl_flow_make(cl, &request, &flow) != TN_OK) {
        fail_msg("%s", diag.message);
    }
    tn_tensor in = {.dtype = TN_F32, .shape = graph->inputs[0]->shape, .data = x}, out = {.dtype = TN_F32, .shape = graph->outputs[0]->shape, .data = y};
    const tn_tensor *ins[] = {&in};
    tn_tensor *outs[] = {&out};
    const tn_flow_run go = {.in = ins, .out = outs, .diag = &diag};
    if (tn_cl_flow_run(flow, &go) != TN_OK) {
        fail_msg("%s", diag.message);
    }
    (void)snprintf(remark, 320, "%s", flow->remark);
    tn_cl_flow_release(flow);
}

static void expect_same(const float *a, const float *b)
{
    for (int i = 0; i < COUNT; i++) {
        assert_true(fabsf(a[i] - b[i]) <= 1e-5f);
    }
}

static void by_price(void **state)
{
    (void)state;
    const tn_cl_facts cpu = {.images = true, .is_cpu = true, .units = 2, .max_width = 16384, .max_height = 16384};
    tn_cl_facts large = cpu, small = cpu;
    tn_graph *graph = small_graph();
    large.is_cpu = small.is_cpu = false;
    small.unified = true;
    tn_cl_prices p = tn_cl_store_prices(&cpu, graph);
    assert_true(p.buffer_ns > 0 && p.buffer_ns < p.image_ns);
    p = tn_cl_store_prices(&large, graph);
    assert_true(p.buffer_ns < p.image_ns);
    p = tn_cl_store_prices(&small, graph);
    assert_true(p.image_ns < p.buffer_ns);
    // Past the limits there is nothing to choose.
    small.max_width = 4;
    p = tn_cl_store_prices(&small, graph);
    assert_true(p.image_ns == p.buffer_ns);
    tn_graph_destroy(graph);
}

static void past_the_limits(void **state)
{
    static float want[COUNT], got[COUNT];
    char remark[320];
    (void)state;
    tn_cl_context *cl = open_context();
    if (!cl) {
        skip();
    }
    tn_graph *graph = small_graph();
    run(cl, graph, "buffer", want, remark);
    assert_string_equal(remark, "grids in buffers, as asked for");
    assert_int_equal(images, 0);
    if (cl->facts.images) {
        run(cl, graph, "image", got, remark);
        expect_same(got, want);
        assert_string_equal(remark, "grids in images, as asked for");
        assert_true(images > 0);
        assert_int_equal(warnings, 0);
        static const size_t limits[][2] = {{16384, 9}, {19, 16384}, {8, 8}, {1, 1}};
        for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
            cl->facts.max_width = limits[i][0];
            cl->facts.max_height = limits[i][1];
            run(cl, graph, "image", got, remark);
            expect_same(got, want);
            assert_true(widest <= limits[i][0] && highest <= limits[i][1]);
            assert_int_equal(warnings, 1);
            assert_non_null(strstr(warned, "past the device's"));
            assert_string_equal(warned, remark);
        }
    }
    // Left to the device, which is one that likes images: those grids that fit.
    cl->facts.is_cpu = false;
    cl->facts.unified = cl->facts.images = true;
    cl->facts.max_width = cl->facts.max_height = 16384;
    run(cl, graph, NULL, got, remark);
    assert_non_null(strstr(remark, "grids in images: "));
    expect_same(got, want);
    cl->facts.max_width = 4;
    run(cl, graph, NULL, got, remark);
    assert_non_null(strstr(remark, "grids in buffers: "));
    assert_int_equal(warnings, 0);
    expect_same(got, want);
    cl->facts.images = false;
    run(cl, graph, "image", got, remark);
    assert_non_null(strstr(remark, "grids in images, as asked for; the device has no images: "));
    assert_int_equal(warnings, 1);
    assert_int_equal(images, 0);
    expect_same(got, want);
    tn_graph_destroy(graph);
    tn_cl_context_close(cl);
    assert_int_equal(atomic_load(&heap.live_blocks), 0);
}

static bool takes(const tn_cl_facts *facts, const tn_graph *graph, const char **why)
{
    const tn_node *node = graph->first;
    const tn_tensor x = {.dtype = TN_F32, .shape = node->in[0]->shape}, f = {.dtype = TN_F32, .shape = node->in[1]->shape, .data = node->in[1]->constant->data};
    const tn_tensor *in[] = {&x, &f}, *out[] = {&x};
    const tn_query query = {.op = node->op, .attr = node->attr, .name = "first", .n_in = 2, .n_out = 1, .in = in, .out = out, .threads = 1};
    const tn_cl_row *row = tn_cl_row_for(&query, why);
    assert_non_null(row);
    return tn_cl_within(facts, &query, row, why);
}

// A node whose tensors, as grids or filters, are past the device's largest block is refused for the reason, not begun; so is one whose tensors
// together are past its memory.
static void past_the_memory(void **state)
{
    (void)state;
    const char *why = NULL;
    tn_graph *graph = small_graph();
    const uint64_t grid = COUNT * 4, filters = C * C * 9 * 4;
    tn_cl_facts facts = {.largest_bytes = grid, .memory_bytes = 2 * grid + filters};
    assert_true(grid > filters);
    assert_true(takes(&facts, graph, &why));
    facts.largest_bytes = grid - 1;
    assert_false(takes(&facts, graph, &why));
    assert_non_null(strstr(why, "largest block"));
    facts.largest_bytes = grid;
    facts.memory_bytes--;
    assert_false(takes(&facts, graph, &why));
    assert_non_null(strstr(why, "memory"));
    tn_graph_destroy(graph);
    // A map of one channel fills texels of four.
    const tn_shape thin = tn_shape_of(4, (const int64_t[]){1, 1, SIDE, SIDE}), filter = tn_shape_of(4, (const int64_t[]){1, 1, 1, 1});
    const float one = 1;
    const tn_conv_attr attr = {.group = 1};
    graph = tn_graph_create(&heap, "thin");
    tn_value *v[2] = {tn_graph_value(graph, NULL), tn_graph_constant(graph, NULL, TN_F32, &filter, &one, true)}, *y = tn_graph_value(graph, NULL);
    v[0]->dtype = y->dtype = TN_F32;
    v[0]->shape = y->shape = thin;
    assert_non_null(tn_graph_node(graph, NULL, &tn_op_conv, "thin", &attr, v, 2, &y, 1));
    facts.memory_bytes = 1 << 20;
    facts.largest_bytes = SIDE * SIDE * 16;
    assert_true(takes(&facts, graph, &why));
    facts.largest_bytes--;
    assert_false(takes(&facts, graph, &why));
    tn_graph_destroy(graph);
}

// A sub-flow that needs more than the device's memory is an error that says so, and leaves nothing behind.
static void past_the_whole_memory(void **state)
{
    (void)state;
    tn_diag diag = {.status = TN_OK};
    tn_cl_flow *flow = NULL;
    tn_cl_context *cl = open_context();
    if (!cl) {
        skip();
    }
    tn_graph *graph = small_graph();
    // What planning takes it to need is enough, and not three times what it takes.
    const tn_flow_request whole = {.graph = graph, .precision = "fp32", .store = "buffer", .diag = &diag};
    assert_int_equal(tn_cl_flow_make(cl, &whole, &flow), TN_OK);
    const uint64_t bytes = tn_cl_flow_bytes(graph, &heap);
    assert_true(flow->bytes <= bytes / 3 * 4 && bytes < 3 * flow->bytes);
    tn_cl_flow_release(flow);
    cl->facts.memory_bytes = COUNT * 4 * 2;
    const tn_flow_request request = {.graph = graph, .precision = "fp32", .store = "buffer", .diag = &diag};
    assert_int_equal(tn_cl_flow_make(cl, &request, &flow), TN_DEVICE);
    assert_null(flow);
    assert_non_null(strstr(diag.message, "more than the device's memory"));
    tn_graph_destroy(graph);
    tn_cl_context_close(cl);
    assert_int_equal(atomic_load(&heap.live_blocks), 0);
}

// What `explain` says of a node whose grid is past the image limits.
static void say(const tn_flow_node *node, void *context)
{
    (void)snprintf(context, 32, "%s", node->impl);
}

static void said(void **state)
{
    (void)state;
    char impl[32] = "";
    tn_diag diag = {.status = TN_OK};
    tn_cl_flow *flow = NULL;
    tn_cl_context *cl = open_context();
    if (!cl || !cl->facts.images) {
        tn_cl_context_close(cl);
        skip();
    }
    tn_graph *graph = small_graph();
    for (int past = 0; past < 2; past++) {
        cl->facts.max_width = past ? SIDE : 16384;        // filters fit, maps do not
        const tn_flow_request request = {.graph = graph, .precision = "fp32", .store = "image", .diag = &diag};
        assert_int_equal(tn_cl_flow_make(cl, &request, &flow), TN_OK);
        tn_device_opencl.describe(&flow->base, say, impl);
        assert_string_equal(impl, past ? "opencl-buffer" : "opencl-image");
        tn_cl_flow_release(flow);
    }
    tn_graph_destroy(graph);
    tn_cl_context_close(cl);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(by_price), cmocka_unit_test(past_the_limits), cmocka_unit_test(past_the_memory),
                                       cmocka_unit_test(past_the_whole_memory), cmocka_unit_test(said)};
    tn_heap_init(&heap, NULL, NULL, NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
