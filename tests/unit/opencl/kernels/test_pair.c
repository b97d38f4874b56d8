// SPDX-License-Identifier: Apache-2.0
// Two convolutions of one map that a concat joins, one of them pointwise, in one kernel: against the same graph with each on its own, over random
// shapes, windows, orders and tiles, images and buffers, kernels that report writes outside their grids. And where they must stay apart.
//   test_pair [RANDOM CASES]
#include "unit/opencl/cl_unit.h"

#include "ir/edit.h"
#include "ops/move/op_copy.h"
#include "ops/nn/op_conv.h"
#include "ops/nn/op_pool.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static tn_heap heap;
static tn_cl_context *device;
static unsigned cases = 5;

// x [n, c, h, w]; results [n, o[0] + o[1], oh, ow]
typedef struct fork {
    int64_t n, c, h, w, oh, ow, o[2], kernel, stride;
    int point;                        // which of the two is pointwise: it has o[point] channels
    bool bias[2], relu[2], swapped;   // swapped: the second node is first in the concat
    bool early;                       // the first branch has a reader before the second one
    float *x, *weights[2], *lists[2], *y, *extra;
} fork_t;

static void draw(fork_t *f, tn_rand *r)
{
    memset(f, 0, sizeof *f);
    f->n = tn_rand_range(r, 1, 2);
    f->c = tn_rand_range(r, 1, 18);
    f->h = tn_rand_range(r, 5, 12);
    f->w = tn_rand_range(r, 5, 12);
    f->stride = tn_rand_range(r, 1, 2);
    f->point = (int)tn_rand_range(r, 0, 1);
    f->swapped = tn_rand_range(r, 0, 1);
    for (int i = 0; i < 2; i++) {
        const bool first = (i == 1) == f->swapped;
        f->o[i] = first ? 4 * tn_rand_range(r, 1, 4) : tn_rand_range(r, 1, 15);
        f->bias[i] = tn_rand_range(r, 0, 1);
    }
    f->kernel = 3 + 2 * tn_rand_range(r, 0, 1);       // with pads of (k - 1) / 2 it gives the pointwise one's sides
    f->relu[0] = f->relu[1] = tn_rand_range(r, 0, 1);
    f->oh = (f->h - 1) / f->stride + 1;
    f->ow = (f->w - 1) / f->stride + 1;
}

static void data(fork_t *f, tn_rand *r)
{
    f->x = tn_unit_numbers(r, f->n * f->c * f->h * f->w);
    f->extra = tn_unit_numbers(r, f->n * f->o[0] * f->oh * f->ow);
    f->y = tn_unit_numbers(r, f->n * (f->o[0] + f->o[1]) * f->oh * f->ow);
    for (int i = 0; i < 2; i++) {
        const int64_t k = i == f->point ? 1 : f->kernel;
        f->weights[i] = tn_unit_numbers(r, f->o[i] * f->c * k * k);
        f->lists[i] = tn_unit_numbers(r, f->o[i]);
    }
}

static void release(fork_t *f)
{
    free(f->x), free(f->y), free(f->weights[0]), free(f->weights[1]), free(f->lists[0]), free(f->lists[1]), free(f->extra);
}

static tn_value *value_of(tn_graph *graph, const fork_t *f, int64_t channels)
{
    tn_value *v = tn_graph_value(graph, NULL);
    v->dtype = TN_F32;
    v->shape = tn_shape_of(4, (const int64_t[]){f->n, channels, f->oh, f->ow});
    return v;
}

static tn_value *branch(tn_graph *graph, tn_arena *arena, const fork_t *f, int i, tn_value *x)
{
    const int64_t k = i == f->point ? 1 : f->kernel, pad = (k - 1) / 2;
    const int64_t pads[] = {pad, pad, pad, pad}, strides[] = {f->stride, f->stride};
    const tn_shape weights = tn_shape_of(4, (const int64_t[]){f->o[i], f->c, k, k}), list = tn_shape_of(1, &f->o[i]);
    const tn_conv_attr attr = {.group = 1, .pads = tn_case_ints(arena, 4, pads), .strides = tn_case_ints(arena, 2, strides),
                               .act = {.code = f->relu[i] ? TN_LOOP_RELU : TN_LOOP_CONST}};
    tn_value *in[] = {x, tn_graph_constant(graph, NULL, TN_F32, &weights, f->weights[i], false),
                      f->bias[i] ? tn_graph_constant(graph, NULL, TN_F32, &list, f->lists[i], false) : NULL};
    tn_value *out = value_of(graph, f, f->o[i]);
    assert_non_null(tn_graph_node(graph, NULL, &tn_op_conv, "conv", &attr, in, f->bias[i] ? 3 : 2, &out, 1));
    return out;
}

static tn_graph *graph_of(const fork_t *f, tn_arena *arena)
{
    tn_graph *graph = tn_graph_create(&heap, "fork");
    const int64_t pixels = f->oh * f->ow, all = f->o[0] + f->o[1], dims[] = {f->n, all, f->oh, f->ow};
    tn_region *boxes = tn_arena_array(arena, 2, sizeof *boxes);
    tn_regions *regions = tn_arena_array(arena, 1, sizeof *regions);
    tn_value *x = value_of(graph, f, f->c), *out = value_of(graph, f, all), *in[2];
    x->shape = tn_shape_of(4, (const int64_t[]){f->n, f->c, f->h, f->w});
    assert_int_equal(tn_graph_add_input(graph, x), TN_OK);
    tn_value *early = NULL;
    assert_true(boxes && regions);
    for (int i = 0; i < 2; i++) {
        in[i] = branch(graph, arena, f, i, x);
        if (f->early && i == 0) {
            const tn_pool_attr pool = {.kernel = tn_case_ints(arena, 2, (const int64_t[]){1, 1})};
            early = value_of(graph, f, f->o[0]);
            assert_non_null(tn_graph_node(graph, NULL, &tn_op_average_pool, "early", &pool, in, 1, &early, 1));
        }
        boxes[(i == 1) == f->swapped ? 0 : 1] = (tn_region){.source = i, .rank = 3, .sizes = {f->n, f->o[i], pixels}, .src_strides = {f->o[i] * pixels, pixels, 1},
                               .dst_strides = {all * pixels, pixels, 1}, .dst_offset = (i == 1) == f->swapped ? 0 : f->o[1 - i] * pixels};
    }
    *regions = (tn_regions){.count = 2, .source_count = 2, .regions = boxes};
    const tn_copy_attr attr = {.regions = regions, .shape = tn_case_ints(arena, 4, dims)};
    assert_non_null(tn_graph_node(graph, NULL, &tn_op_copy, "join", &attr, in, 2, &out, 1));
    assert_int_equal(tn_graph_add_output(graph, out), TN_OK);
    if (early) {
        assert_int_equal(tn_graph_add_output(graph, early), TN_OK);
    }
    return graph;
}

// Runs the graph into y; how many steps do two nodes' work.
static int run(const fork_t *f, const tn_graph *graph, float *y, const char *what)
{
    tn_diag diag = {.status = TN_OK};
    const tn_flow_request request = {.graph = graph, .precision = "fp32", .store = device->buffers_only ? "buffer" : "image", .diag = &diag};
    tn_tensor x = {.dtype = TN_F32, .shape = graph->inputs[0]->shape, .data = f->x}, out = {.dtype = TN_F32, .shape = graph->outputs[0]->shape, .data = y};
    const tn_tensor *ins[] = {&x};
    tn_tensor extra = {.dtype = TN_F32, .shape = tn_shape_of(4, (const int64_t[]){f->n, f->o[0], f->oh, f->ow}), .data = f->extra};
    tn_tensor *outs[] = {&out, &extra};
    const tn_flow_run once = {.in = ins, .out = outs, .diag = &diag};
    tn_cl_flow *flow;
    int joined = 0;
    if (tn_cl_flow_make(device, &request, &flow) != TN_OK || tn_cl_flow_run(flow, &once) != TN_OK) {
        fail_msg("%s: %s", what, diag.message);
    }
    for (const tn_cl_step *step = flow->first; step; step = step->next) {
        joined += step->ahead != NULL;
    }
    tn_cl_flow_release(flow);
    return joined;
}

static void try(fork_t *f, tn_rand *r, const char *what, int wanted)
{
    tn_arena arena;
    const int64_t results = f->n * (f->o[0] + f->o[1]) * f->oh * f->ow;
    data(f, r);
    tn_arena_init(&arena, &heap);
    tn_graph *graph = graph_of(f, &arena);
    float *apart = tn_unit_numbers(r, results);
    device->pairs = 1;
    assert_int_equal(run(f, graph, apart, what), 0);
    device->pairs = 2;
    assert_int_equal(run(f, graph, f->y, what), wanted);
    device->pairs = 0;
    for (int64_t i = 0; i < results; i++) {
        if (!(fabsf(f->y[i] - apart[i]) <= 1e-4f)) {
            fail_msg("%s, [%lld %lld %lld %lld] to %lld + %lld: %g is not %g at %lld", what, (long long)f->n, (long long)f->c, (long long)f->h, (long long)f->w,
                     (long long)f->o[0], (long long)f->o[1], (double)f->y[i], (double)apart[i], (long long)i);
        }
    }
    free(apart);
    tn_graph_destroy(graph);
    tn_arena_deinit(&arena);
    release(f);
}

static void settings(unsigned i)
{
    tn_unit_vary(device, i);
    device->winograd = 1;
}

static void need_device(void)
{
    if (!device) {
        print_message("no OpenCL device\n");
        skip();
    }
}

static void forks_agree(void **state)
{
    tn_rand r = {61};
    (void)state;
    need_device();
    device->checked = true;
    for (unsigned i = 0; i < cases; i++) {
        fork_t f;
        char what[32];
        (void)snprintf(what, sizeof what, "case %u", i);
        settings(i);
        draw(&f, &r);
        try(&f, &r, what, 1);
    }
    device->checked = false;
}

static void some_stay_apart(void **state)
{
    tn_rand r = {67};
    fork_t f;
    (void)state;
    need_device();
    settings(0);
    draw(&f, &r);
    f.relu[1] = !f.relu[0];
    try(&f, &r, "activations that differ", 0);
    draw(&f, &r);
    f.early = true;
    try(&f, &r, "one that is read before the other is there", 0);
    draw(&f, &r);
    f.n = 1;
    f.o[f.swapped ? 1 : 0] = 6;
    try(&f, &r, "a border within a texel", 0);
    draw(&f, &r);
    f.n = 1, f.c = 16, f.o[0] = f.o[1] = 16, f.stride = 1, f.kernel = 3;
    f.oh = f.h, f.ow = f.w;
    device->winograd = 2;
    try(&f, &r, "one that goes by Winograd's transform", 0);
    device->winograd = 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(forks_agree), cmocka_unit_test(some_stay_apart)};
    cases = argc > 1 ? (unsigned)atoi(argv[1]) : cases;
    tn_heap_init(&heap, NULL, NULL, NULL);
    device = tn_unit_device(&heap);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    tn_cl_context_close(device);
    return failed;
}
