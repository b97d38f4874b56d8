// SPDX-License-Identifier: Apache-2.0
// Arithmetic in halves (precision fp16_pure): convolutions of random shapes, dense, grouped, depthwise, transposed, two in one, against the
// reference within what halves lose; a short sum beyond the largest half is found, its node computes in f32 from then on, and the run's result
// is right. Where the device has no cl_khr_fp16 the kernels are tried all the same, since compilers of CPUs know the type; a device whose
// compiler does not is skipped.
//   test_halves [RANDOM CASES]
#include "unit/opencl/cl_unit.h"

#include "exec/opencl/run/cl_watch.h"
#include "ir/edit.h"
#include "ops/nn/op_conv.h"
#include "ops/op_eval.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define UNIT (1.0 / 2048)     // of a rounding to half

static tn_heap heap;
static tn_cl_context *device;
static unsigned cases = 24, told;
static char place[64];

static tn_status tell(void *context, const tn_node *node, const char *what, tn_diag *diag)
{
    (void)what;
    told++;
    (void)snprintf(place, sizeof place, "%s", node->name);
    return context ? tn_fail(diag, TN_FALLBACK, node->name, "%s", what) : TN_OK;
}

static const tn_flow_listener listener = {.precision = tell}, strict = {.precision = tell, .context = &told};

// One convolution, and a depthwise one behind it or not.
typedef struct layer {
    const tn_op *op;
    tn_conv_attr conv;
    tn_deconv_attr deconv;
    tn_shape x, w, y;
    int64_t group;
    float *data, *weights, *behind;       // behind: filters of 3 x 3, or NULL: none
} layer;

static const void *attr_of(const layer *l) { return l->op == &tn_op_conv ? (const void *)&l->conv : (const void *)&l->deconv; }

static void draw(layer *l, tn_arena *arena, tn_rand *r)
{
    memset(l, 0, sizeof *l);
    const int64_t kind = tn_rand_range(r, 0, 4), k = 1 + 2 * tn_rand_range(r, 0, 2), k0 = tn_rand_range(r, 0, 1) ? k : 1;
    const int64_t stride = tn_rand_range(r, 1, 2), dilation = tn_rand_range(r, 1, 2), pad = tn_rand_range(r, 0, k / 2);
    int64_t c = tn_rand_range(r, 5, 90), o = tn_rand_range(r, 1, 30);
    l->group = kind == 1 ? 3 : kind == 2 ? c : 1;
    if (kind == 1) {
        c = 12 * tn_rand_range(r, 1, 4), o = 12 * tn_rand_range(r, 1, 3);
    } else if (kind == 2) {
        o = c;
    }
    l->op = kind == 3 ? &tn_op_deconv : &tn_op_conv;
    const int64_t x[4] = {tn_rand_range(r, 1, 2), c, tn_rand_range(r, 10, 14), tn_rand_range(r, 10, 14)};
    const int64_t kernel[2] = {k0, k}, pads[4] = {0, pad, 0, pad}, strides[2] = {stride, stride}, dilations[2] = {dilation, dilation};
    l->x = tn_shape_of(4, x);
    l->w = tn_shape_of(4, l->op == &tn_op_conv ? (const int64_t[]){o, c / l->group, k0, k} : (const int64_t[]){c, o, k0, k});
    l->conv = (tn_conv_attr){.group = l->group, .pads = tn_case_ints(arena, 4, pads), .strides = tn_case_ints(arena, 2, strides),
                             .dilations = tn_case_ints(arena, 2, dilations), .kernel = tn_case_ints(arena, 2, kernel)};
    l->deconv = (tn_deconv_attr){.group = 1, .pads = l->conv.pads, .strides = l->conv.strides, .dilations = l->conv.dilations,
                                 .kernel = l->conv.kernel};
    tn_window window;
    if (l->op == &tn_op_conv) {
        assert_true(tn_conv_window(&l->conv, &l->x, &l->w, &window));
    } else {
        assert_true(tn_deconv_window(&l->deconv, &l->x, &l->w, &window));
    }
    const int64_t y[4] = {x[0], o, window.out[0], window.out[1]};
    l->y = tn_shape_of(4, y);
    int64_t n_x = 0, n_w = 0;
    assert_true(tn_shape_count(&l->x, &n_x) && tn_shape_count(&l->w, &n_w));
    l->data = tn_unit_numbers(r, n_x);
    l->weights = tn_unit_numbers(r, n_w);
    // Filters of a norm above 3 would keep their operand in f32.
    const double norm = sqrt((double)(c / l->group * k0 * k) / 3);
    for (int64_t i = 0; i < n_w; i++) {
        l->weights[i] *= (float)fmin(1, 2.5 / norm);
    }
    l->behind = kind == 4 ? tn_unit_numbers(r, o * 9) : NULL;
}

// The depthwise convolution behind the layer, of the same sides.
static tn_conv_attr behind_attr(const layer *l)
{
    static const int64_t pads[4] = {1, 1, 1, 1};
    return (tn_conv_attr){.group = l->y.dims[1], .pads = {.set = true, .count = 4, .v = pads}};
}

static tn_shape behind_shape(const layer *l) { return tn_shape_of(4, (const int64_t[]){l->y.dims[1], 1, 3, 3}); }

static tn_graph *graph_of(const layer *l)
{
    tn_graph *graph = tn_graph_create(&heap, "halves");
    tn_value *x = tn_graph_value(graph, NULL), *y = tn_graph_value(graph, NULL);
    x->dtype = y->dtype = TN_F32;
    x->shape = l->x;
    y->shape = l->y;
    assert_int_equal(tn_graph_add_input(graph, x), TN_OK);
    tn_value *in[] = {x, tn_graph_constant(graph, NULL, TN_F32, &l->w, l->weights, false)};
    assert_non_null(tn_graph_node(graph, NULL, l->op, "layer", attr_of(l), in, 2, &y, 1));
    if (l->behind) {
        const tn_conv_attr attr = behind_attr(l);
        const tn_shape shape = behind_shape(l);
        tn_value *operands[] = {y, tn_graph_constant(graph, NULL, TN_F32, &shape, l->behind, false)};
        y = tn_graph_value(graph, NULL);
        y->dtype = TN_F32;
        y->shape = l->y;
        assert_non_null(tn_graph_node(graph, NULL, &tn_op_conv, "behind", &attr, operands, 2, &y, 1));
    }
    assert_int_equal(tn_graph_add_output(graph, y), TN_OK);
    return graph;
}

// NULL: the device's compiler does not know halves.
static tn_cl_flow *make(const tn_graph *graph, const char *precision, const tn_flow_listener *hears, tn_diag *diag)
{
    const tn_flow_request request = {.graph = graph, .precision = precision, .store = device->buffers_only ? "buffer" : "image", .listener = hears, .diag = diag};
    tn_cl_flow *flow = NULL;
    return tn_cl_flow_make(device, &request, &flow) == TN_OK ? flow : NULL;
}

static void run(tn_cl_flow *flow, const layer *l, float *y)
{
    tn_diag diag = {.status = TN_OK};
    const tn_tensor x = {.dtype = TN_F32, .shape = l->x, .data = l->data};
    tn_tensor out = {.dtype = TN_F32, .shape = l->y, .data = y};
    const tn_flow_run go = {.in = (const tn_tensor *const[]){&x}, .out = (tn_tensor *[]){&out}, .listener = &listener, .diag = &diag};
    if (tn_cl_watched_run(flow, &go) != TN_OK) {
        fail_msg("%s", diag.message);
    }
}

// The reference; of the magnitudes: sums of |x| |w|.
static const float *reference(const layer *l, tn_arena *arena, bool magnitudes)
{
    tn_diag diag = {.status = TN_OK};
    int64_t n[2] = {0, 0};
    float *copies[2];
    assert_true(tn_shape_count(&l->x, &n[0]) && tn_shape_count(&l->w, &n[1]));
    for (int k = 0; k < 2; k++) {
        copies[k] = tn_arena_take(arena, (size_t)n[k] * sizeof(float));
        assert_non_null(copies[k]);
        for (int64_t i = 0; i < n[k]; i++) {
            const float v = (k ? l->weights : l->data)[i];
            copies[k][i] = magnitudes ? fabsf(v) : v;
        }
    }
    const tn_tensor x = {.dtype = TN_F32, .shape = l->x, .data = copies[0]}, w = {.dtype = TN_F32, .shape = l->w, .data = copies[1]};
    tn_tensor y = {.dtype = TN_F32, .shape = l->y};
    const tn_tensor *in[] = {&x, &w};
    assert_int_equal(tn_op_eval(l->op, attr_of(l), "layer", in, 2, &y, 1, (size_t)1 << 30, arena, &heap, &diag), TN_OK);
    if (l->behind) {
        const tn_conv_attr attr = behind_attr(l);
        float filters[9 * 30];
        for (int64_t i = 0; i < 9 * l->y.dims[1]; i++) {
            filters[i] = magnitudes ? fabsf(l->behind[i]) : l->behind[i];
        }
        const tn_tensor mid = y, second = {.dtype = TN_F32, .shape = behind_shape(l), .data = filters};
        const tn_tensor *operands[] = {&mid, &second};
        y.data = NULL;
        assert_int_equal(tn_op_eval(&tn_op_conv, &attr, "behind", operands, 2, &y, 1, (size_t)1 << 30, arena, &heap, &diag), TN_OK);
    }
    return y.data;
}

static unsigned narrow_steps(const tn_cl_flow *flow)
{
    unsigned n = 0;
    for (const tn_cl_step *step = flow->first; step; step = step->next) {
        n += step->halves;
    }
    return n;
}

static void layers(void **state)
{
    unsigned narrow = 0, joined = 0;
    double worst = 0;
    (void)state;
    if (!device) {
        skip();
    }
    for (unsigned i = 0; i < cases; i++) {
        tn_rand r = {i * 7919 + 5};
        tn_arena arena;
        tn_diag diag = {.status = TN_OK};
        layer l;
        int64_t count = 0;
        tn_arena_init(&arena, &heap);
        tn_unit_vary(device, i);
        device->winograd = 1;             // its products are floats
        device->expand = i % 2 ? 2 : 1;
        draw(&l, &arena, &r);
        tn_graph *graph = graph_of(&l);
        tn_cl_flow *flow = make(graph, "fp16_pure", &listener, &diag);
        if (!flow) {
            fail_msg("case %u: %s", i, diag.message);
        }
        assert_true(tn_shape_count(&l.y, &count));
        float *y = tn_unit_numbers(&r, count);
        run(flow, &l, y);
        narrow += narrow_steps(flow);
        for (const tn_cl_step *step = flow->first; step; step = step->next) {
            joined += step->halves && strcmp(step->file, "conv_expand") == 0;
        }
        const float *want = reference(&l, &arena, false), *size = reference(&l, &arena, true);
        for (int64_t k = 0; k < count; k++) {
            const double off = fabs((double)y[k] - (double)want[k]) / (UNIT * ((double)size[k] + 1e-3));
            worst = fmax(worst, off);
            if (!(off <= 8)) {
                fail_msg("case %u: %s, element %lld is %g, not %g", i, l.op->name, (long long)k, (double)y[k], (double)want[k]);
            }
        }
        tn_cl_flow_release(flow);
        tn_graph_destroy(graph);
        free(l.data);
        free(l.weights);
        free(l.behind);
        free(y);
        tn_arena_deinit(&arena);
    }
    print_message("%u steps of %u nets in halves, %u of them of two layers, at most %.2f units of their products' magnitudes off\n", narrow, cases, joined, worst);
    assert_true(narrow >= cases * 3 / 4);
    assert_true(joined > 0);
    assert_int_equal(told, 0);
}

// 30000 * (1 + 1 + 1 - 1 - 1 - 1): no operand, filter or result leaves the range, but a sum of halves does.
static void short_sums_are_watched(void **state)
{
    enum { C = 8, PIXELS = 12 };
    static float weights[C * C], data[C * PIXELS], y[C * PIXELS];
    tn_diag diag = {.status = TN_OK};
    layer l = {.op = &tn_op_conv, .conv = {.group = 1}, .group = 1, .data = data, .weights = weights};
    (void)state;
    if (!device) {
        skip();
    }
    l.x = l.y = tn_shape_of(4, (const int64_t[]){1, C, 3, 4});
    l.w = tn_shape_of(4, (const int64_t[]){C, C, 1, 1});
    for (int i = 0; i < C * C; i++) {
        weights[i] = i % C < 3 ? 1 : i % C < 6 ? -1 : 0;
    }
    for (int images = 0; images < 2; images++) {
        tn_unit_vary(device, 0);
        device->buffers_only = !images;
        tn_graph *graph = graph_of(&l);
        for (int strictly = 1; strictly >= 0; strictly--) {
            tn_cl_flow *flow = make(graph, "fp16_pure", &listener, &diag);
            assert_non_null(flow);
            assert_int_equal(narrow_steps(flow), 1);
            for (int i = 0; i < C * PIXELS; i++) {
                data[i] = 100;
            }
            told = 0;
            run(flow, &l, y);
            assert_int_equal(told, 0);
            for (int i = 0; i < C * PIXELS; i++) {
                data[i] = 30000;
            }
            if (strictly) {
                const tn_tensor x = {.dtype = TN_F32, .shape = l.x, .data = data};
                tn_tensor out = {.dtype = TN_F32, .shape = l.y, .data = y};
                const tn_flow_run go = {.in = (const tn_tensor *const[]){&x}, .out = (tn_tensor *[]){&out}, .listener = &strict, .diag = &diag};
                assert_int_equal(tn_cl_watched_run(flow, &go), TN_FALLBACK);
            } else {
                run(flow, &l, y);
                for (int i = 0; i < C * PIXELS; i++) {
                    assert_true(y[i] == 0);
                }
            }
            assert_int_equal(told, 1);
            assert_string_equal(place, "layer");
            assert_int_equal(narrow_steps(flow), strictly);
            for (int i = 0; i < C * PIXELS && !strictly; i++) {
                data[i] = i % 2 ? INFINITY : 1;                  // not an overflow; the node computes in f32 now
            }
            if (!strictly) {
                run(flow, &l, y);
                assert_int_equal(told, 1);
            }
            tn_cl_flow_release(flow);
        }
        tn_graph_destroy(graph);
    }
}

// Infinities of the operand make sums that are none in f32 either: such values are kept in f32, and the results are those of f32.
static void infinities_pass(void **state)
{
    enum { C = 8, PIXELS = 12 };
    static float weights[C * C], data[C * PIXELS], y[C * PIXELS];
    tn_diag diag = {.status = TN_OK};
    layer l = {.op = &tn_op_conv, .conv = {.group = 1}, .group = 1, .data = data, .weights = weights};
    (void)state;
    if (!device) {
        skip();
    }
    l.x = l.y = tn_shape_of(4, (const int64_t[]){1, C, 3, 4});
    l.w = tn_shape_of(4, (const int64_t[]){C, C, 1, 1});
    for (int i = 0; i < C * C; i++) {
        weights[i] = i % C == 0;
    }
    tn_unit_vary(device, 0);
    tn_graph *graph = graph_of(&l);
    tn_cl_flow *flow = make(graph, "fp16_pure", &listener, &diag);
    assert_non_null(flow);
    told = 0;
    data[1] = -INFINITY;
    run(flow, &l, y);
    for (int i = 0; i < C * PIXELS; i++) {
        assert_true(i % PIXELS == 1 ? y[i] == -INFINITY : y[i] == 0);
    }
    assert_int_equal(told, 2);            // the operand, and the result
    run(flow, &l, y);
    assert_int_equal(told, 2);
    tn_cl_flow_release(flow);
    tn_graph_destroy(graph);
}

// A device without halves says so, once for each flow, and stores them all the same.
static void devices_without(void **state)
{
    tn_rand r = {3};
    tn_arena arena;
    tn_diag diag = {.status = TN_OK};
    layer l;
    int64_t count = 0;
    (void)state;
    if (!device) {
        skip();
    }
    tn_arena_init(&arena, &heap);
    tn_unit_vary(device, 0);
    draw(&l, &arena, &r);
    device->halves = false;
    assert_true(tn_shape_count(&l.y, &count));
    float *y = tn_unit_numbers(&r, count), *z = tn_unit_numbers(&r, count);
    tn_graph *graph = graph_of(&l);
    told = 0;
    tn_cl_flow *pure = make(graph, "fp16_pure", &listener, &diag), *stored = make(graph, "fp16", &listener, &diag);
    assert_true(pure && stored);
    assert_int_equal(told, 1);
    assert_int_equal(narrow_steps(pure), 0);
    run(pure, &l, y);
    run(stored, &l, z);
    assert_memory_equal(y, z, (size_t)count * sizeof *y);
    assert_null(make(graph, "fp16_pure", &strict, &diag));
    assert_int_equal(diag.status, TN_FALLBACK);
    tn_cl_flow_release(pure);
    tn_cl_flow_release(stored);
    tn_graph_destroy(graph);
    free(l.data), free(l.weights), free(l.behind), free(y), free(z);
    tn_arena_deinit(&arena);
    tn_cl_context_close(device);
    assert_int_equal(atomic_load(&heap.live_blocks), 0);
}

// Whether the compiler knows the type at all.
static bool compiles(tn_cl_context *cl)
{
    static const char text[] = "typedef half half4 __attribute__((ext_vector_type(4)));\n"
                               "__kernel void run(__global float4 *y) { const half4 v = __builtin_convertvector(y[0], half4);\n"
                               "y[0] = __builtin_convertvector(v * v + v, float4); }\n";
    cl_program program;
    return cl->facts.half || tn_cl_program_get(cl, text, sizeof text - 1, "-cl-std=CL1.2", NULL, "halves", &program, NULL) == TN_OK;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(layers), cmocka_unit_test(short_sums_are_watched), cmocka_unit_test(infinities_pass),
                                       cmocka_unit_test(devices_without)};
    cases = argc > 1 ? (unsigned)atoi(argv[1]) : cases;
    tn_heap_init(&heap, NULL, NULL, NULL);
    device = tn_unit_device(&heap);
    if (device && !compiles(device)) {
        print_message("the compiler does not know halves\n");
        tn_cl_context_close(device);
        device = NULL;
    }
    if (device) {
        device->halves = true;
        device->checked = true;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
