// SPDX-License-Identifier: Apache-2.0
// Winograd convolutions on the OpenCL device against sums in double precision: random shapes, both block sizes, images and buffers, bias,
// activation and residual, kernels that report writes outside their grids; and the rounding error that docs/opencl.md states. Without a
// device only the choice by price is tested.
//   test_winograd [RANDOM CASES]
#include "unit/opencl/cl_unit.h"

#include "exec/opencl/tune/cl_search.h"
#include "exec/opencl/tune/cl_table.h"
#include "ir/edit.h"
#include "ops/nn/op_conv.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static tn_heap heap;
static tn_cl_context *device;
static unsigned cases = 12;

// Largest error, in units of 2^-24 times the largest sum of products' magnitudes: a direct sum stays below 8.
#define BOUND_2 24.0
#define BOUND_4 160.0

typedef struct layer {
    int64_t n, c, h, w, o, pads[4];
    bool bias, residual, relu;
} layer;

static layer draw(tn_rand *r)
{
    layer l = {.n = tn_rand_range(r, 1, 2), .c = tn_rand_range(r, 5, 21), .o = tn_rand_range(r, 1, 21)};
    l.h = tn_rand_range(r, 3, 14);
    l.w = tn_rand_range(r, 3, 14);
    for (int i = 0; i < 4; i++) {
        l.pads[i] = tn_rand_range(r, 0, 2);
    }
    l.bias = tn_rand_range(r, 0, 1);
    l.residual = l.bias && tn_rand_range(r, 0, 1);
    l.relu = tn_rand_range(r, 0, 1);
    return l;
}

static int64_t out_h(const layer *l) { return l->h + l->pads[0] + l->pads[2] - 2; }
static int64_t out_w(const layer *l) { return l->w + l->pads[1] + l->pads[3] - 2; }

typedef struct data {
    float *x, *w, *bias, *residual, *y;
} data;

// The result at one place; *size: the sum of the magnitudes.
static double want(const layer *l, const data *d, int64_t n, int64_t o, int64_t y, int64_t x, double *size)
{
    double sum = l->bias ? (double)d->bias[o] : 0;
    *size = fabs(sum);
    for (int64_t c = 0; c < l->c; c++) {
        for (int64_t k = 0; k < 9; k++) {
            const int64_t iy = y - l->pads[0] + k / 3, ix = x - l->pads[1] + k % 3;
            if (iy >= 0 && ix >= 0 && iy < l->h && ix < l->w) {
                const double p = (double)d->x[((n * l->c + c) * l->h + iy) * l->w + ix] * (double)d->w[(o * l->c + c) * 9 + k];
                sum += p;
                *size += fabs(p);
            }
        }
    }
    if (l->residual) {
        const double v = (double)d->residual[((n * l->o + o) * out_h(l) + y) * out_w(l) + x];
        sum += v;
        *size += fabs(v);
    }
    return l->relu && sum < 0 ? 0 : sum;
}

static tn_value *add_input(tn_graph *graph, const tn_shape *shape)
{
    tn_value *v = tn_graph_value(graph, NULL);
    v->dtype = TN_F32;
    v->shape = *shape;
    assert_int_equal(tn_graph_add_input(graph, v), TN_OK);
    return v;
}

static tn_graph *graph_of(const layer *l, const data *d, tn_arena *arena)
{
    const tn_shape x = tn_shape_of(4, (const int64_t[]){l->n, l->c, l->h, l->w}), w = tn_shape_of(4, (const int64_t[]){l->o, l->c, 3, 3});
    const tn_shape y = tn_shape_of(4, (const int64_t[]){l->n, l->o, out_h(l), out_w(l)}), list = tn_shape_of(1, (const int64_t[]){l->o});
    tn_conv_attr attr = {.group = 1, .pads = tn_case_ints(arena, 4, l->pads), .act = {.code = l->relu ? TN_LOOP_RELU : TN_LOOP_CONST}};
    tn_graph *graph = tn_graph_create(&heap, "conv");
    tn_value *in[4] = {NULL}, *out = tn_graph_value(graph, "y");
    in[0] = add_input(graph, &x);
    in[1] = tn_graph_constant(graph, "w", TN_F32, &w, d->w, false);
    in[2] = l->bias ? tn_graph_constant(graph, "b", TN_F32, &list, d->bias, false) : NULL;
    in[3] = l->residual ? add_input(graph, &y) : NULL;
    out->dtype = TN_F32;
    out->shape = y;
    assert_non_null(tn_graph_node(graph, NULL, &tn_op_conv, "conv", &attr, in, l->residual ? 4 : l->bias ? 3 : 2, &out, 1));
    assert_int_equal(tn_graph_add_output(graph, out), TN_OK);
    return graph;
}

static void run(const layer *l, const data *d, tn_graph *graph, const char *kernel)
{
    tn_diag diag = {.status = TN_OK};
    tn_cl_flow *flow;
    const tn_flow_request request = {.graph = graph, .precision = "fp32", .store = device->buffers_only ? "buffer" : "image", .diag = &diag};
    tn_tensor x = {.dtype = TN_F32, .shape = graph->inputs[0]->shape, .data = d->x}, y = {.dtype = TN_F32, .shape = graph->outputs[0]->shape, .data = d->y};
    tn_tensor residual = {.dtype = TN_F32, .shape = y.shape, .data = d->residual};
    const tn_tensor *in[] = {&x, &residual};
    tn_tensor *out[] = {&y};
    const tn_flow_run once = {.in = in, .out = out, .diag = &diag};
    bool found = false;
    if (tn_cl_flow_make(device, &request, &flow) != TN_OK || tn_cl_flow_run(flow, &once) != TN_OK) {
        fail_msg("%s", diag.message);
    }
    for (const tn_cl_step *step = flow->first; step; step = step->next) {
        found = found || strcmp(step->file, kernel) == 0;
    }
    assert_true(found);
    tn_cl_flow_release(flow);
    (void)l;
}

// The largest error in the unit above.
static double error_of(const layer *l, const data *d)
{
    double worst = 0, largest = 1e-30;
    for (int64_t i = 0; i < l->n * l->o * out_h(l) * out_w(l); i++) {
        const int64_t x = i % out_w(l), y = i / out_w(l) % out_h(l), o = i / out_w(l) / out_h(l) % l->o, n = i / out_w(l) / out_h(l) / l->o;
        double size;
        const double exact = want(l, d, n, o, y, x, &size);
        worst = fmax(worst, fabs((double)d->y[i] - exact));
        largest = fmax(largest, size);
    }
    return worst / largest * 16777216.0;
}

static double try_layer(const layer *l, tn_rand *r, int block)
{
    tn_arena arena;
    const int64_t results = l->n * l->o * out_h(l) * out_w(l);
    data d = {tn_unit_numbers(r, l->n * l->c * l->h * l->w), tn_unit_numbers(r, l->o * l->c * 9), tn_unit_numbers(r, l->o), tn_unit_numbers(r, results), tn_unit_numbers(r, results)};
    tn_arena_init(&arena, &heap);
    tn_graph *graph = graph_of(l, &d, &arena);
    device->winograd = block;
    run(l, &d, graph, block == 1 ? "conv" : "winograd_matmul");
    device->winograd = 0;
    const double error = error_of(l, &d);
    tn_graph_destroy(graph);
    tn_arena_deinit(&arena);
    free(d.x), free(d.w), free(d.bias), free(d.residual), free(d.y);
    return error;
}

static void need_device(void)
{
    if (!device) {
        print_message("no OpenCL device\n");
        skip();
    }
}

static void layers_agree(void **state)
{
    tn_rand r = {77};
    double worst[5] = {0};
    (void)state;
    need_device();
    device->checked = true;
    for (unsigned i = 0; i < cases; i++) {
        const layer l = draw(&r);
        const int block = i % 2 ? 4 : 2;
        device->buffers_only = i % 4 < 2;
        device->baked = i % 9 == 0;
        device->no_sampler = i % 5 == 0;
        device->filter_buffers = i % 3 == 0;
        device->tile_seed = i % 3 == 0 ? i + 1 : 0;
        const double error = try_layer(&l, &r, block);
        worst[block] = fmax(worst[block], error);
        if (!(error < (block == 2 ? BOUND_2 : BOUND_4))) {
            fail_msg("case %u, F(%d, 3), [%lld %lld %lld %lld] to %lld: error %g", i, block, (long long)l.n, (long long)l.c, (long long)l.h, (long long)l.w,
                     (long long)l.o, error);
        }
    }
    device->checked = false;
    print_message("largest errors: F(2, 3) %.2f, F(4, 3) %.2f of 2^-24\n", worst[2], worst[4]);
}

// The error grows with the block, and hardly with the number of channels.
static void error_is_bounded(void **state)
{
    const layer l = {1, 96, 12, 12, 8, {1, 1, 1, 1}, false, false, false};
    (void)state;
    need_device();
    device->buffers_only = true;
    device->tile_seed = 0;
    tn_rand r = {3}, again = {3}, third = {3};
    const double direct = try_layer(&l, &r, 1), two = try_layer(&l, &again, 2), four = try_layer(&l, &third, 4);
    print_message("96 channels: direct %.2f, F(2, 3) %.2f, F(4, 3) %.2f of 2^-24\n", direct, two, four);
    assert_true(direct < 8 && two < BOUND_2 && four < BOUND_4);
}

// By price: a large map with many channels goes the way with fewer products on a GPU.
static void price_decides(void **state)
{
    const tn_cl_facts gpu = {.name = "GPU", .driver = "1", .max_group = 1024, .local_bytes = 48 << 10, .units = 8};
    tn_cl_layer direct = {.kind = TN_CL_LAYER_CONV, .pixels = 56 * 56, .out_blocks = 64, .in_blocks = 64, .kh = 3, .kw = 3, .stride = 1, .group = 1, .height = 56};
    (void)state;
    for (int small = 0; small < 2; small++) {
        if (small) {
            direct.pixels = 8 * 8, direct.out_blocks = direct.in_blocks = 4;
        }
        tn_cl_layer product = direct;
        product.kind = TN_CL_LAYER_WINOGRAD_4;
        product.pixels = direct.pixels / 16;
        assert_int_equal(tn_cl_layer_batch(&product), 36);
        const tn_cl_tile a = tn_cl_tile_default(&direct, &gpu), b = tn_cl_tile_default(&product, &gpu);
        assert_true(tn_cl_tile_valid(&b, &product, &gpu));
        const double one = tn_cl_tile_price(&a, &direct, &gpu), other = tn_cl_tile_price(&b, &product, &gpu) + tn_cl_winograd_moves(&product, &gpu);
        assert_true(small ? one < other : other < one);
    }
}

// A measured row of the table decides before any price.
static void table_decides(void **state)
{
    const layer l = {1, 16, 8, 8, 16, {1, 1, 1, 1}, false, false, false};
    tn_rand r = {5};
    (void)state;
    need_device();
    device->buffers_only = true;
    const tn_cl_tile four = {4, 1, 1, 1, 1, 1};
    const tn_cl_layer choice = {.kind = TN_CL_LAYER_CHOICE, .pixels = 64, .out_blocks = 4, .in_blocks = 4, .kh = 3, .kw = 3, .stride = 1, .group = 1, .height = 8};
    char text[TN_CL_LAYER_TEXT];
    tn_cl_layer_text(&choice, text);
    assert_true(tn_cl_table_put(device, text, &four));
    assert_true(try_layer(&l, &r, 0) < BOUND_4);
}

// Tuning measures each way and writes down which is the fastest; layers made afterwards follow it.
static void a_search_chooses(void **state)
{
    const layer l = {1, 16, 6, 6, 16, {1, 1, 1, 1}, false, false, false};
    tn_rand r = {9};
    tn_arena arena;
    tn_diag diag = {.status = TN_OK};
    tn_cl_flow *flow = NULL;
    tn_cl_tile found;
    (void)state;
    need_device();
    device->buffers_only = true;
    tn_arena_init(&arena, &heap);
    data d = {.w = tn_unit_numbers(&r, l.o * l.c * 9)};
    tn_graph *graph = graph_of(&l, &d, &arena);
    const tn_flow_request request = {.graph = graph, .store = "buffer", .precision = "fp32", .diag = &diag};
    assert_int_equal(tn_cl_flow_make(device, &request, &flow), TN_OK);
    const tn_tune_request wish = {.seconds = 1.0, .store = "buffer", .seed = 1, .diag = &diag};
    assert_int_equal(tn_cl_search(flow, &wish), TN_OK);
    const tn_cl_step *step = flow->first;
    while (step && !step->layer) {
        step = step->next;
    }
    assert_non_null(step);
    const tn_cl_layer choice = tn_cl_layer_choice(step->layer);
    tn_cl_flow_release(flow);
    assert_true(tn_cl_table_find(device, &choice, &found));
    assert_true(found.ob == 1 || found.ob == 2 || found.ob == 4);
    assert_int_equal(tn_cl_flow_make(device, &request, &flow), TN_OK);
    for (step = flow->first; !step->layer;) {
        step = step->next;
    }
    assert_int_equal(tn_cl_layer_batch(step->layer), found.ob == 1 ? 1 : (found.ob + 2) * (found.ob + 2));
    tn_cl_flow_release(flow);
    tn_graph_destroy(graph);
    tn_arena_deinit(&arena);
    free(d.w);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(price_decides), cmocka_unit_test(layers_agree), cmocka_unit_test(error_is_bounded), cmocka_unit_test(table_decides),
        cmocka_unit_test(a_search_chooses),
    };
    cases = argc > 1 ? (unsigned)atoi(argv[1]) : cases;
    tn_heap_init(&heap, NULL, NULL, NULL);
    device = tn_unit_device(&heap);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    tn_cl_context_close(device);
    return failed;
}
