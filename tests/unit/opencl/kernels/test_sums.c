// SPDX-License-Identifier: Apache-2.0
// Long sums and large means on the OpenCL device against float64: reductions of millions of elements, and normalisations of values that are
// hundreds of times their deviation. Skipped where there is no device.
#include "unit/opencl/cl_unit.h"

#include "ir/edit.h"
#include "ops/math/op_reduce.h"
#include "ops/nn/op_norm.h"
#include "ops/nn/op_pool.h"
#include "ops/nn/op_softmax.h"

#include <math.h>

enum { MANY = 1 << 22, LINE = 1 << 18 };

static tn_heap heap;
static tn_cl_context *device;
static float *x, *y;

static void draw(int64_t n, double mean, double width)
{
    uint64_t state = 12345;
    for (int64_t i = 0; i < n; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        x[i] = (float)(mean + width * ((double)(state >> 40) / (1 << 24) - 0.5));
    }
}

// One node with `more` constants of one element (or of `scales` equal ones) behind its operand.
static void run(const tn_op *op, const void *attr, tn_shape in_shape, tn_shape out_shape, const float *more, int n_more)
{
    tn_diag diag = {.status = TN_OK};
    tn_cl_flow *flow;
    tn_graph *graph = tn_graph_create(&heap, "sums");
    tn_value *in[4] = {tn_graph_value(graph, NULL)}, *out = tn_graph_value(graph, NULL);
    in[0]->dtype = out->dtype = TN_F32;
    in[0]->shape = in_shape;
    out->shape = out_shape;
    assert_int_equal(tn_graph_add_input(graph, in[0]), TN_OK);
    for (int i = 0; i < n_more; i++) {
        const tn_shape one = op == &tn_op_layer_norm ? tn_shape_of(1, (const int64_t[]){in_shape.dims[in_shape.rank - 1]}) : tn_shape_of(1, (const int64_t[]){1});
        const int64_t n = one.dims[0];
        float *data = malloc((size_t)n * sizeof *data);
        assert_non_null(data);
        for (int64_t k = 0; k < n; k++) {
            data[k] = more[i];
        }
        in[1 + i] = tn_graph_constant(graph, NULL, TN_F32, &one, data, true);
        free(data);
    }
    assert_non_null(tn_graph_node(graph, NULL, op, "node", attr, in, 1 + n_more, &out, 1));
    assert_int_equal(tn_graph_add_output(graph, out), TN_OK);
    const tn_flow_request request = {.graph = graph, .precision = "fp32", .store = "buffer", .diag = &diag};
    if (tn_cl_flow_make(device, &request, &flow) != TN_OK) {
        fail_msg("%s", diag.message);
    }
    const tn_tensor from = {.dtype = TN_F32, .shape = in_shape, .data = x};
    tn_tensor to = {.dtype = TN_F32, .shape = out_shape, .data = y};
    const tn_tensor *ins[] = {&from};
    tn_tensor *outs[] = {&to};
    const tn_flow_run go = {.in = ins, .out = outs, .diag = &diag};
    assert_int_equal(tn_cl_flow_run(flow, &go), TN_OK);
    tn_cl_flow_release(flow);
    tn_graph_destroy(graph);
}

static void near(double got, double want, double within)
{
    if (!(fabs(got - want) <= within * fabs(want))) {
        fail_msg("%.9g instead of %.9g: off by %.2g", got, want, fabs(got - want) / fabs(want));
    }
}

static void reductions(void **state)
{
    const tn_reduce_attr attr = {.keepdims = 1};
    double sum = 0, squares = 0, sizes = 0, exps = 0;
    (void)state;
    if (!device) {
        skip();
    }
    const tn_shape many = tn_shape_of(1, (const int64_t[]){MANY}), one = tn_shape_of(1, (const int64_t[]){1});
    draw(MANY, 0.5, 1);
    for (int i = 0; i < MANY; i++) {
        sum += x[i];
        squares += (double)x[i] * x[i];
        sizes += fabs(x[i]);
        exps += exp(x[i]);
    }
    const struct { const tn_op *op; double want; } each[] = {
        {&tn_op_reduce_sum, sum}, {&tn_op_reduce_mean, sum / MANY}, {&tn_op_reduce_l1, sizes}, {&tn_op_reduce_l2, sqrt(squares)},
        {&tn_op_reduce_sum_square, squares}, {&tn_op_reduce_log_sum_exp, log(exps)},
    };
    for (size_t i = 0; i < TN_COUNT(each); i++) {
        run(each[i].op, &attr, many, one, NULL, 0);
        near(y[0], each[i].want, 5e-7);
    }
    const tn_shape map = tn_shape_of(4, (const int64_t[]){1, 1, 2048, MANY / 2048}), pixel = tn_shape_of(4, (const int64_t[]){1, 1, 1, 1});
    run(&tn_op_global_average_pool, NULL, map, pixel, NULL, 0);
    near(y[0], sum / MANY, 2e-6);
    // An infinite element is still infinite, and no NaN.
    x[77] = INFINITY;
    run(&tn_op_reduce_sum, &attr, many, one, NULL, 0);
    assert_true(isinf(y[0]) && y[0] > 0);
}

static void check_lines(double scale, double bias, double epsilon, double floor)
{
    double mean = 0, variance = 0, worst = 0;
    for (int i = 0; i < LINE; i++) {
        mean += x[i];
    }
    mean /= LINE;
    for (int i = 0; i < LINE; i++) {
        variance += (x[i] - mean) * (x[i] - mean);
    }
    const double deviation = sqrt(variance / LINE + epsilon) + floor;
    for (int i = 0; i < LINE; i++) {
        worst = fmax(worst, fabs(y[i] - ((x[i] - mean) / deviation * scale + bias)));
    }
    if (!(worst <= 3e-6)) {
        fail_msg("off by %.2g", worst);
    }
}

static void large_means(void **state)
{
    static const double means[] = {0, 100, -3000, 1e5};
    static const float ones[] = {1.5f, 0.25f};
    const tn_layer_norm_attr layer = {.axis = -1, .epsilon = 1e-5f};
    const tn_instance_norm_attr instance = {.epsilon = 1e-5f};
    const tn_mvn_attr mvn = {.axes = {.set = true, .count = 3, .v = (const int64_t[]){0, 2, 3}}};
    const tn_shape line = tn_shape_of(2, (const int64_t[]){1, LINE}), map = tn_shape_of(4, (const int64_t[]){1, 1, 512, LINE / 512});
    (void)state;
    if (!device) {
        skip();
    }
    for (size_t i = 0; i < TN_COUNT(means); i++) {
        draw(LINE, means[i], 1);
        run(&tn_op_layer_norm, &layer, line, line, ones, 2);
        check_lines(1.5, 0.25, 1e-5, 0);
        run(&tn_op_instance_norm, &instance, map, map, ones, 2);
        check_lines(1.5, 0.25, 1e-5, 0);
        run(&tn_op_mvn, &mvn, map, map, NULL, 0);
        check_lines(1, 0, 0, 1e-9);
    }
}

static void softmax_sums(void **state)
{
    const tn_softmax_attr attr = {.axis = -1};
    const tn_shape line = tn_shape_of(2, (const int64_t[]){1, LINE});
    double sum = 0;
    (void)state;
    if (!device) {
        skip();
    }
    draw(LINE, 0, 2);
    for (int i = 0; i < LINE; i++) {
        sum += exp(x[i]);
    }
    run(&tn_op_softmax, &attr, line, line, NULL, 0);
    for (int i = 0; i < LINE; i += 97) {
        near(y[i], exp(x[i]) / sum, 1e-6);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(reductions), cmocka_unit_test(large_means), cmocka_unit_test(softmax_sums)};
    tn_heap_init(&heap, NULL, NULL, NULL);
    x = malloc(MANY * sizeof *x);
    y = malloc(MANY * sizeof *y);
    device = x && y ? tn_unit_device(&heap) : NULL;
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    tn_cl_context_close(device);
    free(x);
    free(y);
    return failed;
}
