// SPDX-License-Identifier: Apache-2.0
// Operators that reach the DSP in another form: transposed convolutions as convolutions of their phases, linear resizing and layer
// normalisation in integers. What was written dequantise - compute - quantise is one sub-flow of integers, with the bits of the CPU's references and within a step of the floats. Skipped where
// there is no emulator.
#include "hex_bench.h"

#include "ops/nn/op_conv.h"
#include "ops/nn/op_norm.h"
#include "ops/quant/op_qmap.h"
#include "ops/quant/op_quantize.h"
#include "ops/vision/op_qresize.h"
#include "pass/pass.h"
#include "support/graph_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int count_of(const tn_graph *graph, const tn_op *op)
{
    int count = 0;
    for (const tn_node *node = graph->first; node; node = node->next) {
        count += node->op == op;
    }
    return count;
}

// The same text in floats on the CPU: at most one step beside the integers, and so much for one result in `share` at most.
static void compare_floats(hex_bench *b, const char *text, const tn_result_slot *got, int share)
{
    tn_diag diag;
    tn_result_slot want[HEX_MOST_RESULTS];
    tn_arena objects;
    tn_diag_clear(&diag);
    tn_graph *graph = tn_graph_parse(text, &b->heap, &diag);
    tn_program *program = NULL;
    assert_non_null(graph);
    assert_int_equal(tn_infer_graph(graph, &b->heap, &diag), TN_OK);
    assert_int_equal(tn_program_create(&program, graph, &b->context[HEX_CPU], 4, &diag), TN_OK);
    tn_arena_init(&objects, &b->heap);
    tn_run run = {.context = &b->context[HEX_CPU], .diag = &diag, .objects = &objects};
    memset(want, 0, sizeof want);
    assert_int_equal(tn_program_run(program, &run, &b->feed, want), TN_OK);
    assert_int_equal(tn_tensor_count(&got[0].tensor), tn_tensor_count(&want[0].tensor));
    int off = 0;
    for (int64_t i = 0; i < tn_tensor_count(&want[0].tensor); i++) {
        const int step = abs((int)((const uint8_t *)got[0].tensor.data)[i] - (int)((const uint8_t *)want[0].tensor.data)[i]);
        assert_true(step <= 1);
        off += step;
    }
    assert_true(off * share <= tn_tensor_count(&want[0].tensor));
    tn_arena_deinit(&objects);
    tn_program_destroy(program);
    tn_graph_destroy(graph);
}

// One sub-flow on the DSP, with the bits of the CPU.
static void compare_places(hex_bench *b, const char *text, int share)
{
    tn_result_slot dsp[HEX_MOST_RESULTS], cpu[HEX_MOST_RESULTS];
    assert_int_equal(hex_bench_run(b, HEX_CPU, cpu, 0), TN_OK);
    assert_int_equal(hex_bench_run(b, HEX_DSP, dsp, 0), TN_OK);
    hex_bench_compare(b, dsp, cpu);
    assert_int_equal(tn_program_plan(b->program[HEX_DSP])->n_steps, 1);
    assert_int_equal(b->devices[0]->vtable->copied(b->devices[0]), 0);
    if (share) {
        compare_floats(b, text, dsp, share);
    }
}

static void one(const char *weights, const char *bias, const char *attributes, bool bound)
{
    hex_bench b;
    char text[2048];
    (void)snprintf(text, sizeof text,
                   "graph \"g\" (%%q: uint8[1,8,12,12]) -> (%%y)\n"
                   "  %%x = dequantize_linear(%%q, %%xs: const float32[](0.02), %%xz: const uint8[](120))\n"
                   "  %%w = dequantize_linear(%%wq: const %s\n"
                   "  %%d = deconv(%%x, %%w, %%b: const float32%s) {%s}\n"
                   "%s"
                   "  %%y = quantize_linear(%%%c, %%ys: const float32[](0.2), %%yz: const uint8[](90))\n",
                   weights, bias, attributes, bound ? "  %r = relu(%d)\n" : "", bound ? 'r' : 'd');
    hex_bench_open(&b, text, false);
    assert_int_equal(count_of(b.graph, &tn_op_deconv), 0);
    assert_int_equal(count_of(b.graph, &tn_op_dequantize_linear), 0);
    compare_places(&b, text, 50);
    hex_bench_close(&b);
}

#define WHOLE(SHAPE) "int8[" SHAPE "], %ws: const float32[](0.01))"
#define EACH(SHAPE)                                                                                                   \
    "int8[" SHAPE "], %ws: const float32[6](0.01,0.02,0.005,0.01,0.015,0.01), %wz: const int8[6](0,0,0,0,0,0)) {axis=1}"
#define SIX "[6](0.5,-0.5,1,-1,0,2)"
enum { PLAIN, BOUND };

static void test_deconv(void **state)
{
    if (!hex_bench_present()) {
        skip();
    }
    one(WHOLE("8,6,2,2"), SIX, "kernel=[2,2], strides=[2,2]", PLAIN);
    one(EACH("8,6,3,3"), SIX, "kernel=[3,3], strides=[2,2], pads=[1,1,1,1], output_padding=[1,1]", BOUND);
    one(WHOLE("8,6,4,4"), SIX, "kernel=[4,4], strides=[2,2], pads=[1,1,1,1]", BOUND);
    one(EACH("8,6,5,4"), SIX, "kernel=[5,4], strides=[3,3], pads=[0,2,1,0]", PLAIN);
    one(WHOLE("8,3,3,3"), SIX, "kernel=[3,3], strides=[2,2], pads=[0,1,1,0], group=2", PLAIN);
    one(WHOLE("8,6,3,3"), SIX, "kernel=[3,3], pads=[1,1,1,1]", BOUND);
    one(WHOLE("8,1,2,2"), "[1](0.5)", "kernel=[2,2], strides=[2,2]", PLAIN);
    one(WHOLE("8,6,2,1"), SIX, "kernel=[2,1], strides=[4,4], output_padding=[1,3]", PLAIN);
}

// ---- linear resizing ----

// operands: those of resize behind x. bound: a clip behind it. is_signed: it is done on int8.
static void resize_one(const char *operands, const char *attributes, const char *scale, bool is_signed, bool bound, int share)
{
    hex_bench b;
    char text[2048];
    const int n = snprintf(text, sizeof text,
                           "graph \"g\" (%%q: uint8[1,8,12,12]) -> (%%y)\n"
                           "  %%x = dequantize_linear(%%q, %%xs: const float32[](0.02), %%xz: const uint8[](120))\n"
                           "%s"
                           "  %%d = resize(%%%c, %s) {mode=linear, %s}\n"
                           "%s",
                           is_signed ? "  %s = quantize_linear(%x, %xs, %sz: const int8[](-8))\n  %v = dequantize_linear(%s, %xs, %sz)\n" : "",
                           is_signed ? 'v' : 'x', operands, attributes,
                           bound ? "  %r = clip(%d, %least: const float32[](-1.1), %most: const float32[](1.3))\n" : "");
    (void)snprintf(text + n, sizeof text - (size_t)n,
                   is_signed ? "  %%t = quantize_linear(%%%c, %%ys: const float32[](%s), %%tz: const int8[](-38))\n"
                               "  %%u = dequantize_linear(%%t, %%ys, %%tz)\n  %%y = quantize_linear(%%u, %%ys, %%yz: const uint8[](90))\n"
                             : "  %%y = quantize_linear(%%%c, %%ys: const float32[](%s), %%yz: const uint8[](90))\n",
                   bound ? 'r' : 'd', scale);
    hex_bench_open(&b, text, false);
    assert_int_equal(count_of(b.graph, &tn_op_resize), 0);
    assert_int_equal(count_of(b.graph, &tn_op_qlinear_resize), 1);
    assert_int_equal(count_of(b.graph, &tn_op_dequantize_linear), 0);
    compare_places(&b, text, share);
    hex_bench_close(&b);
}

#define SIZES(H, W) "-, -, %sizes: const int64[4](1,8," #H "," #W ")"
#define SCALES(H, W) "-, %scales: const float32[4](1,1," #H "," #W ")"

static void test_resize(void **state)
{
    if (!hex_bench_present()) {
        skip();
    }
    // Exact weights make halves, which floats round as they fall; others are rounded themselves.
    resize_one(SIZES(24, 24), "coord=half_pixel", "0.02", false, false, 12);
    resize_one(SCALES(2, 4), "coord=asymmetric", "0.0173", true, true, 12);
    resize_one(SCALES(4, 2), "coord=pytorch_half_pixel", "0.03", false, true, 12);
    resize_one(SIZES(33, 70), "coord=align_corners", "0.021", false, false, 12);
    resize_one(SIZES(7, 12), "coord=half_pixel", "0.019", true, false, 12);
    resize_one(SIZES(1, 5), "coord=half_pixel", "0.006", false, false, 4);
    resize_one(SIZES(12, 41), "coord=half_pixel", "0.05", true, true, 12);
    resize_one(SCALES(1.7, 2.6), "coord=half_pixel, exclude_outside=true", "0.02", false, false, 12);
    resize_one(SCALES(3, 3), "coord=half_pixel_symmetric, antialias=true", "0.02", false, true, 12);
}

// What three columns and four rows say of each rounding, of coarse and of fine results, of bounds.
static void test_resize_roundings(void **state)
{
    static const char *const roundings[] = {"float_rne", "fixed_q31"}, *const scales[] = {"0.02", "0.0051", "0.3", "7"};
    if (!hex_bench_present()) {
        skip();
    }
    for (size_t i = 0; i < TN_COUNT(roundings) * TN_COUNT(scales); i++) {
        hex_bench b;
        char text[1024];
        (void)snprintf(text, sizeof text,
                       "graph \"g\" (%%x: uint8[1,8,12,12]) -> (%%y)\n"
                       "  %%y = qlinear_resize(%%x, %%xs: const float32[](0.02), %%xz: const uint8[](77), %%ys: const float32[](%s), "
                       "%%yz: const uint8[](90), %%rows: const int32[4,3](0,0,0, 3,4,1024, 11,0,2048, 7,8,511), "
                       "%%columns: const int32[3,3](5,6,1, 11,11,700, 0,9,1365)) {rounding=%s%s}\n",
                       scales[i / 2], roundings[i % 2], i % 4 ? "" : ", low=60, high=200");
        hex_bench_open(&b, text, true);
        compare_places(&b, text, 0);
        hex_bench_close(&b);
    }
}

// What two neighbours and a weight of eleven bits do not say stays in floats.
static void test_resize_floats(void **state)
{
    static const char *const floats[] = {"{mode=cubic}", "{mode=linear, antialias=true}", "{mode=linear, coord=tf_crop_and_resize}"};
    if (!hex_bench_present()) {
        skip();
    }
    for (size_t i = 0; i <= TN_COUNT(floats); i++) {
        hex_bench b;
        char text[1024];
        (void)snprintf(text, sizeof text,
                       "graph \"g\" (%%q: uint8[1,8,12,12]) -> (%%y)\n"
                       "  %%x = dequantize_linear(%%q, %%xs: const float32[](0.02), %%xz: const uint8[](120))\n"
                       "  %%d = resize(%%x, %%roi: const float32[8](0,0,0,0,1,1,1,1), -, %%sizes: const int64[4](1,8,5,5)) %s\n"
                       "  %%y = quantize_linear(%%d, %%ys: const float32[](%s), %%xz)\n",
                       i < TN_COUNT(floats) ? floats[i] : "{mode=linear}", i < TN_COUNT(floats) ? "0.02" : "0.004");
        hex_bench_open(&b, text, false);
        assert_int_equal(count_of(b.graph, &tn_op_qlinear_resize), 0);
        hex_bench_close(&b);
    }
}

// ---- layer normalisation ----

// vectors: gain and bias; attributes: of layer_norm. is_signed: it is done on int8. shape: of what is normalised.
static void norm_one(const char *shape, const char *vectors, const char *attributes, const char *scale, bool is_signed, bool bound)
{
    hex_bench b;
    char text[2048];
    const int n = snprintf(text, sizeof text,
                           "graph \"g\" (%%q: uint8[1,8,12,12]) -> (%%y)\n"
                           "  %%f = dequantize_linear(%%q, %%xs: const float32[](0.02), %%xz: const uint8[](120))\n"
                           "%s"
                           "  %%x = reshape(%%%c, %%to: const int64%s)\n"
                           "  %%d = layer_norm(%%x, %s) {%s}\n"
                           "%s",
                           is_signed ? "  %s = quantize_linear(%f, %xs, %sz: const int8[](-8))\n  %v = dequantize_linear(%s, %xs, %sz)\n" : "",
                           is_signed ? 'v' : 'f', shape, vectors, attributes,
                           bound ? "  %r = clip(%d, %least: const float32[](-1.1), %most: const float32[](1.3))\n" : "");
    (void)snprintf(text + n, sizeof text - (size_t)n,
                   is_signed ? "  %%t = quantize_linear(%%%c, %%ys: const float32[](%s), %%tz: const int8[](-38))\n"
                               "  %%u = dequantize_linear(%%t, %%ys, %%tz)\n  %%y = quantize_linear(%%u, %%ys, %%yz: const uint8[](90))\n"
                             : "  %%y = quantize_linear(%%%c, %%ys: const float32[](%s), %%yz: const uint8[](90))\n",
                   bound ? 'r' : 'd', scale);
    hex_bench_open(&b, text, false);
    assert_int_equal(count_of(b.graph, &tn_op_layer_norm), 0);
    assert_int_equal(count_of(b.graph, &tn_op_qlinear_layer_norm), 1);
    assert_int_equal(count_of(b.graph, &tn_op_dequantize_linear), 0);
    compare_places(&b, text, 200);
    hex_bench_close(&b);
}

#define VECTORS(...) "%g: const float32[" #__VA_ARGS__ "], %b: const float32[" #__VA_ARGS__ "]"

static void test_norm(void **state)
{
    if (!hex_bench_present()) {
        skip();
    }
    norm_one("[3](96,1,12)", VECTORS(12), "axis=-1", "0.02", false, false);
    norm_one("[2](144,8)", VECTORS(8), "axis=-1, epsilon=0.01", "0.031", true, false);
    norm_one("[2](9,128)", VECTORS(128), "axis=1", "0.0173", false, true);
    norm_one("[2](3,384)", "%g: const float32[384]", "axis=-1", "0.05", true, true);
    norm_one("[4](1,8,12,12)", VECTORS(12,12), "axis=2", "0.013", false, false);
    norm_one("[1](1152)", VECTORS(1152), "axis=0, epsilon=0", "0.02", false, false);
    norm_one("[2](576,2)", VECTORS(2), "axis=-1", "0.007", false, false);
}

// What has no such form stays in floats: gain of a value, one number for all, results of millions of steps, an epsilon that is all there is.
static void test_norm_floats(void **state)
{
    static const char *const floats[] = {
        "%d = layer_norm(%x, %x2) {axis=-1}\n  %y = quantize_linear(%d, %xs, %xz)\n",
        "%d = layer_norm(%x, %g: const float32[1](2)) {axis=-1}\n  %y = quantize_linear(%d, %xs, %xz)\n",
        "%d = layer_norm(%x, %g: const float32[12]) {axis=-1}\n  %y = quantize_linear(%d, %ys: const float32[](1e-6), %xz)\n",
        "%d = layer_norm(%x, %g: const float32[12]) {axis=-1, epsilon=1000}\n  %y = quantize_linear(%d, %xs, %xz)\n",
    };
    if (!hex_bench_present()) {
        skip();
    }
    for (size_t i = 0; i < TN_COUNT(floats); i++) {
        hex_bench b;
        char text[1024];
        (void)snprintf(text, sizeof text,
                       "graph \"g\" (%%q: uint8[1,8,12,12]) -> (%%y)\n"
                       "  %%x = dequantize_linear(%%q, %%xs: const float32[](0.02), %%xz: const uint8[](120))\n"
                       "%s  %s",
                       i ? "" : "  %x2 = add(%x, %one: const float32[](1))\n", floats[i]);
        hex_bench_open(&b, text, false);
        assert_int_equal(count_of(b.graph, &tn_op_qlinear_layer_norm), 0);
        hex_bench_close(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_deconv), cmocka_unit_test(test_resize), cmocka_unit_test(test_resize_roundings),
                                       cmocka_unit_test(test_resize_floats), cmocka_unit_test(test_norm), cmocka_unit_test(test_norm_floats)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
