// SPDX-License-Identifier: Apache-2.0
// The guard of fp16 storage: values beyond 65504 are found in the run, are kept in f32 from then on, and the run's results are right; so are
// constants beyond it. What was widened is told once, may be forbidden, and every failing allocation on the way is an error.
#include "unit/opencl/cl_unit.h"

#include "exec/opencl/run/cl_watch.h"
#include "ir/edit.h"
#include "ops/nn/op_activation.h"
#include "ops/nn/op_conv.h"
#include "ops/nn/op_pool.h"

#include <math.h>
#include <string.h>

enum { MOST = 256, PIXELS = 12, COUNT = MOST * PIXELS };

static tn_heap heap;
static bool images;
static int channels = 5, told;
static char names[256];

static tn_cl_context *open_context(tn_heap *own)
{
    tn_cl_context *cl = tn_unit_device(own);
    if (!cl) {
        return NULL;
    }
    cl->buffers_only = !images;
    return cl;
}

static tn_value *value(tn_graph *graph)
{
    tn_value *v = tn_graph_value(graph, NULL);
    v->dtype = TN_F32;
    v->shape = tn_shape_of(4, (const int64_t[]){1, channels, 3, 4});
    return v;
}

static tn_value *scaled(tn_graph *graph, const char *name, tn_value *x, float by)
{
    static float weights[4][MOST * MOST];
    static int next;
    float *w = weights[next++ % 4];
    memset(w, 0, sizeof weights[0]);
    for (int c = 0; c < channels; c++) {
        w[c * channels + c] = by;
    }
    const tn_shape shape = tn_shape_of(4, (const int64_t[]){channels, channels, 1, 1});
    const tn_conv_attr attr = {.group = 1};
    tn_value *in[2] = {x, tn_graph_constant(graph, NULL, TN_F32, &shape, w, true)}, *y = value(graph);
    assert_non_null(tn_graph_node(graph, NULL, &tn_op_conv, name, &attr, in, 2, &y, 1));
    return y;
}

// relu(x * up) * down
static tn_graph *chain(float up, float down)
{
    tn_graph *graph = tn_graph_create(&heap, "chain");
    tn_value *x = value(graph);
    assert_int_equal(tn_graph_add_input(graph, x), TN_OK);
    tn_value *large = scaled(graph, "up", x, up), *y = value(graph);
    assert_non_null(tn_graph_node(graph, NULL, &tn_op_relu, "relu", NULL, &large, 1, &y, 1));
    assert_int_equal(tn_graph_add_output(graph, scaled(graph, "down", y, down)), TN_OK);
    return graph;
}

static tn_status tell(void *context, const tn_node *node, const char *what, tn_diag *diag)
{
    told++;
    (void)strncat(names, node->name, 20);
    (void)strncat(names, " ", 2);
    return context ? tn_fail(diag, TN_FALLBACK, node->name, "%s", what) : TN_OK;
}

static tn_status run(tn_flow *flow, float x, bool strict, float y[COUNT], tn_diag *diag)
{
    static float data[COUNT];
    const tn_shape shape = tn_shape_of(4, (const int64_t[]){1, channels, 3, 4});
    for (int i = 0; i < channels * PIXELS; i++) {
        data[i] = x * (float)(1 + i % 7);
    }
    tn_tensor in = {.dtype = TN_F32, .shape = shape, .data = data}, out = {.dtype = TN_F32, .shape = shape, .data = y};
    const tn_tensor *ins[] = {&in};
    tn_tensor *outs[] = {&out};
    const tn_flow_listener listener = {.precision = tell, .context = strict ? &told : NULL};
    const tn_flow_run go = {.in = ins, .out = outs, .listener = &listener, .diag = diag};
    return tn_cl_watched_run((tn_cl_flow *)flow, &go);
}

static tn_cl_flow *make(tn_cl_context *cl, const tn_graph *graph, tn_diag *diag)
{
    static const tn_flow_listener listener = {.precision = tell};
    const tn_flow_request request = {.graph = graph, .precision = "fp16", .store = images ? "image" : "buffer", .listener = &listener, .diag = diag};
    tn_cl_flow *flow;
    told = 0;
    names[0] = 0;
    return tn_cl_flow_make(cl, &request, &flow) == TN_OK ? flow : NULL;
}

static void expect(const float y[COUNT], float x, double within)
{
    for (int i = 0; i < channels * PIXELS; i++) {
        const float want = x * (float)(1 + i % 7);
        assert_true(fabsf(y[i] - want) <= (float)within * fabsf(want));
    }
}

static void values(void **state)
{
    static float y[COUNT], again[COUNT];
    tn_diag diag = {.status = TN_OK};
    (void)state;
    for (int round = 0; round < 3; round++) {
        images = round == 1;
        tn_cl_context *cl = open_context(&heap);
        if (!cl) {
            skip();
        }
        if (round == 2) {
            cl->facts.is_cpu = cl->facts.unified = false;      // all transfers go through a pinned block
        }
        tn_graph *graph = chain(1000, 1e-3f);
        tn_cl_flow *flow = make(cl, graph, &diag);
        assert_non_null(flow);
        assert_int_equal(run(&flow->base, 1, false, y, &diag), TN_OK);       // 7000 at most
        expect(y, 1, 2e-3);
        assert_int_equal(told, 0);
        assert_int_equal(run(&flow->base, 20, true, y, &diag), TN_FALLBACK); // strict
        assert_string_equal(diag.place, "up");
        told = 0;
        assert_int_equal(run(&flow->base, 1, true, y, &diag), TN_OK);        // the refused run is not held against the next
        expect(y, 1, 2e-3);
        assert_int_equal(told, 0);
        names[0] = 0;
        assert_int_equal(run(&flow->base, 20, false, y, &diag), TN_OK);      // 140000
        expect(y, 20, 2e-3);
        assert_string_equal(names, "up relu ");
        assert_int_equal(run(&flow->base, 20, false, again, &diag), TN_OK);
        assert_memory_equal(y, again, sizeof y);
        assert_int_equal(told, 2);
        assert_int_equal(run(&flow->base, 1e5f, false, y, &diag), TN_OK);    // now the result, too (the operand was f32 from the first: `up` lifts its rounding)
        expect(y, 1e5f, 2e-3);
        assert_string_equal(names, "up relu down ");
        assert_int_equal(run(&flow->base, NAN, false, y, &diag), TN_OK);     // neither is an overflow
        assert_int_equal(run(&flow->base, INFINITY, false, y, &diag), TN_OK);
        assert_int_equal(told, 3);
        tn_cl_flow_release(flow);
        tn_graph_destroy(graph);
        tn_cl_context_close(cl);
        assert_int_equal(atomic_load(&heap.live_blocks), 0);
    }
}

static void constants(void **state)
{
    static float y[COUNT];
    tn_diag diag = {.status = TN_OK};
    (void)state;
    images = false;
    tn_cl_context *cl = open_context(&heap);
    if (!cl) {
        skip();
    }
    channels = MOST;      // the first number of channels whose filters are kept as halves
    tn_graph *graph = chain(1e5f, 1e-5f);
    tn_cl_flow *flow = make(cl, graph, &diag);
    assert_non_null(flow);
    assert_string_equal(names, "up ");                                       // its weights
    assert_int_equal(run(&flow->base, 0.01f, false, y, &diag), TN_OK);
    expect(y, 0.01f, 2e-2);                                                  // 1e-5 is a half with few bits
    assert_int_equal(told, 1);
    assert_int_equal(run(&flow->base, 1, false, y, &diag), TN_OK);
    expect(y, 1, 2e-2);
    assert_string_equal(names, "up up relu ");
    channels = 5;
    tn_cl_flow_release(flow);
    tn_graph_destroy(graph);
    tn_cl_context_close(cl);
}

// Filters of a norm above 3 keep their operand in f32, and what it was pooled from; those below do not.
static void gain(void **state)
{
    (void)state;
    channels = 5;
    for (int large = 0; large < 2; large++) {
        tn_graph *graph = tn_graph_create(&heap, "gain");
        tn_value *x = value(graph), *pooled = value(graph), *y = value(graph);
        const tn_pool_attr attr = {.kernel = {.set = true, .count = 2, .v = (const int64_t[]){1, 1}}};
        assert_int_equal(tn_graph_add_input(graph, x), TN_OK);
        tn_value *first = scaled(graph, "first", x, 1);
        assert_non_null(tn_graph_node(graph, NULL, &tn_op_relu, "relu", NULL, &first, 1, &y, 1));
        assert_non_null(tn_graph_node(graph, NULL, &tn_op_max_pool, "pool", &attr, &y, 1, &pooled, 1));
        tn_value *last = scaled(graph, "last", pooled, large ? 3.1f : 2.9f);
        assert_int_equal(tn_graph_add_output(graph, last), TN_OK);
        unsigned char wide[16] = {0};
        assert_true(graph->n_values <= 16);
        tn_cl_gain_mark(graph, wide);
        assert_int_equal(wide[pooled->id], large);
        assert_int_equal(wide[y->id], large);
        assert_int_equal(wide[x->id] + wide[first->id] + wide[last->id], 0);
        tn_graph_destroy(graph);
    }
    assert_int_equal(atomic_load(&heap.live_blocks), 0);
}

static void each_allocation_fails_once(void **state)
{
    static float y[COUNT];
    tn_fail_heap failing;
    (void)state;
    images = false;
    tn_fail_heap_init(&failing, 0);
    tn_cl_context *cl = open_context(&failing.heap);
    if (!cl) {
        skip();
    }
    tn_graph *graph = chain(1000, 1e-3f);
    tn_status status = TN_OUT_OF_MEMORY;
    for (size_t n = 1; status != TN_OK; n++) {
        tn_diag diag = {.status = TN_OK};
        tn_cl_flow *flow = make(cl, graph, &diag);
        assert_non_null(flow);
        failing.fail_at = failing.requests + n;
        status = run(&flow->base, 20, false, y, &diag);
        failing.fail_at = 0;
        assert_true(status == TN_OK || status == TN_OUT_OF_MEMORY);
        tn_cl_flow_release(flow);
        assert_true(n < 1000);
    }
    expect(y, 20, 2e-3);
    tn_graph_destroy(graph);
    tn_cl_context_close(cl);
    assert_int_equal(atomic_load(&failing.heap.live_blocks), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(values), cmocka_unit_test(constants), cmocka_unit_test(gain),
                                       cmocka_unit_test(each_allocation_fails_once)};
    tn_heap_init(&heap, NULL, NULL, NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
