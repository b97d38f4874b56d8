// SPDX-License-Identifier: Apache-2.0
// Operators that reach the DSP in another form: transposed convolutions as convolutions of their phases, linear resizing, layer
// normalisation and products of two values in integers, and a block of attention made of all of it. What was written dequantise - compute - quantise is one sub-flow of integers, with the bits of the CPU's references and within a step of the floats. Skipped where
// there is no emulator.
#include "hex_bench.h"

#include "ops/nn/op_conv.h"
#include "ops/nn/op_matmul.h"
#include "ops/nn/op_norm.h"
#include "ops/quant/op_qlinear.h"
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

// The same on int16, between bytes that functions of one value widen and narrow.
static void test_resize_wide(void **state)
{
    static const char *const sizes[] = {"24,24", "17,31", "5,12", "1,40"};
    if (!hex_bench_present()) {
        skip();
    }
    for (size_t i = 0; i < TN_COUNT(sizes); i++) {
        hex_bench b;
        char text[2048];
        (void)snprintf(text, sizeof text,
                       "graph \"g\" (%%q: uint8[1,8,12,12]) -> (%%y)\n"
                       "  %%x = dequantize_linear(%%q, %%xs: const float32[](0.02), %%xz: const uint8[](120))\n"
                       "  %%e = swish(%%x)\n"
                       "  %%w = quantize_linear(%%e, %%ws: const float32[](0.0001), %%wz: const int16[](0))\n"
                       "  %%v = dequantize_linear(%%w, %%ws, %%wz)\n"
                       "  %%d = resize(%%v, -, -, %%sizes: const int64[4](1,8,%s)) {mode=linear, coord=half_pixel}\n"
                       "  %%t = quantize_linear(%%d, %%ts: const float32[](0.00011), %%wz)\n"
                       "  %%u = dequantize_linear(%%t, %%ts, %%wz)\n"
                       "  %%y = quantize_linear(%%u, %%ys: const float32[](0.012), %%yz: const uint8[](30))\n",
                       sizes[i]);
        hex_bench_open(&b, text, false);
        assert_int_equal(count_of(b.graph, &tn_op_qlinear_resize), 1);
        assert_int_equal(count_of(b.graph, &tn_op_dequantize_linear), 0);
        compare_places(&b, text, 25);
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

// Written out with means, as exporters that lack the operator write it.
static void test_norm_written(void **state)
{
    static const char *const text =
        "graph \"g\" (%q: uint8[1,8,12,12]) -> (%y)\n"
        "  %x = dequantize_linear(%q, %xs: const float32[](0.02), %xz: const uint8[](120))\n"
        "  %m = reduce_mean(%x, %axes: const int64[1](-1)) {keepdims=true}\n"
        "  %c = sub(%x, %m)\n"
        "  %p = mul(%c, %c)\n"
        "  %v = reduce_mean(%p, %axes) {keepdims=true}\n"
        "  %e = add(%v, %epsilon: const float32[](0.001))\n"
        "  %d = sqrt(%e)\n"
        "  %n = div(%c, %d)\n"
        "  %s = mul(%n, %g: const float32[12])\n"
        "  %b = add(%s, %h: const float32[12])\n"
        "  %y = quantize_linear(%b, %ys: const float32[](0.03), %yz: const uint8[](128))\n";
    hex_bench b;
    if (!hex_bench_present()) {
        skip();
    }
    hex_bench_open(&b, text, false);
    assert_int_equal(count_of(b.graph, &tn_op_qlinear_layer_norm), 1);
    assert_int_equal(count_of(b.graph, &tn_op_dequantize_linear), 0);
    compare_places(&b, text, 200);
    hex_bench_close(&b);
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

// ---- means, and results of the other type ----

// nodes: from %x, float32[1,8,12,12], to %d; type: of the result, which is float32 to nobody.
static void form_one(const char *nodes, const char *type, const char *scale, const char *zero, int share)
{
    hex_bench b;
    char text[2048];
    (void)snprintf(text, sizeof text,
                   "graph \"g\" (%%q: uint8[1,8,12,12]) -> (%%y)\n"
                   "  %%x = dequantize_linear(%%q, %%xs: const float32[](0.02), %%xz: const uint8[](120))\n"
                   "%s"
                   "  %%y = quantize_linear(%%d, %%ys: const float32[](%s), %%yz: const %s[](%s))\n", nodes, scale, type, zero);
    hex_bench_open(&b, text, false);
    assert_int_equal(count_of(b.graph, &tn_op_dequantize_linear), 0);
    assert_int_equal(count_of(b.graph, &tn_op_quantize_linear), 0);
    compare_places(&b, text, share);
    hex_bench_close(&b);
}

#define MEAN(AXES, COUNT, KEEP) "  %d = reduce_mean(%x, %i: const int64[" #COUNT "]" AXES ") {keepdims=" KEEP "}\n"

static void test_mean(void **state)
{
    static const char *const means[] = {
        MEAN("(2,3)", 2, "true"), MEAN("(-1,-2)", 2, "false"), MEAN("(3)", 1, "true"), MEAN("(2)", 1, "false"), MEAN("(1)", 1, "true"),
        MEAN("(1,2)", 2, "false"), MEAN("(0,1,2)", 3, "true"), MEAN("(1,2,3)", 3, "false"),
        "  %p = reduce_mean(%x, %i: const int64[1](3)) {keepdims=false}\n  %t = transpose(%p) {perm=[2,1,0]}\n  %d = relu(%t)\n",
        "  %p = global_average_pool(%x)\n  %d = flatten(%p) {axis=1}\n",
        "  %p = average_pool(%x) {kernel=[3,2], strides=[2,2]}\n  %d = squeeze(%p, %i: const int64[1](0))\n",
    };
    if (!hex_bench_present()) {
        skip();
    }
    for (size_t i = 0; i < TN_COUNT(means); i++) {
        form_one(means[i], "uint8", "0.01", "100", 8);
        form_one(means[i], "int8", "0.0117", "-20", 8);
    }
}

static void test_other_type(void **state)
{
    if (!hex_bench_present()) {
        skip();
    }
    form_one("  %d = softmax(%x) {axis=3}\n", "int8", "0.0039", "-128", 50);
    form_one("  %s = softmax(%x) {axis=1}\n  %d = clip(%s, %l: const float32[](0.01), %h: const float32[](0.3))\n", "int8", "0.003", "-100", 50);
    form_one("  %d = layer_norm(%x, %g: const float32[12], %b: const float32[12])\n", "int8", "0.02", "3", 200);
    form_one("  %m = max_pool(%x) {kernel=[2,2], strides=[2,2]}\n  %d = sigmoid(%m)\n", "int8", "0.0039", "-128", 50);
}

// What does not change is joined to what does, of either scale and with movement behind.
static void test_join_constant(void **state)
{
    static const char *const joins[] = {
        "  %c = dequantize_linear(%p: const uint8[1,3,12,12], %xs, %xz)\n  %d = concat(%c, %x) {axis=1}\n",
        "  %c = dequantize_linear(%p: const uint8[1,8,1,12], %ps: const float32[](0.013), %pz: const uint8[](77))\n"
        "  %j = concat(%x, %c) {axis=2}\n  %d = transpose(%j) {perm=[0,3,1,2]}\n",
        "  %c = dequantize_linear(%p: const uint8[1,8,12,2], %ps: const float32[](0.013), %pz: const uint8[](77))\n"
        "  %j = concat(%x, %c, %x) {axis=3}\n  %d = slice(%j, %s: const int64[1](3), %e: const int64[1](25), %a: const int64[1](3), %t: const int64[1](2))\n",
    };
    if (!hex_bench_present()) {
        skip();
    }
    for (size_t i = 0; i < TN_COUNT(joins); i++) {
        form_one(joins[i], "uint8", i ? "0.017" : "0.02", i ? "30" : "120", 8);
    }
}

// ---- products of two values ----

static void product_one(const char *a, const char *b, const char *scale, bool is_signed, bool bound)
{
    hex_bench b_;
    char text[2048];
    const int n = snprintf(text, sizeof text,
                           "graph \"g\" (%%q: uint8[1,8,12,12]) -> (%%y)\n"
                           "  %%f = dequantize_linear(%%q, %%xs: const float32[](0.02), %%xz: const uint8[](120))\n"
                           "  %%g = sigmoid(%%f)\n"
                           "  %%h = quantize_linear(%%g, %%hs: const float32[](0.0039), %%hz: const %s[](%s))\n"
                           "  %%v = dequantize_linear(%%h, %%hs, %%hz)\n"
                           "  %%a = reshape(%%f, %%as: const int64%s)\n"
                           "  %%b = reshape(%%v, %%bs: const int64%s)\n"
                           "  %%d = matmul(%%a, %%b)\n"
                           "%s",
                           is_signed ? "int8" : "uint8", is_signed ? "-128" : "0", a, b, bound ? "  %r = relu(%d)\n" : "");
    (void)snprintf(text + n, sizeof text - (size_t)n,
                   "  %%y = quantize_linear(%%%c, %%ys: const float32[](%s), %%yz: const uint8[](90))\n", bound ? 'r' : 'd', scale);
    hex_bench_open(&b_, text, false);
    assert_int_equal(count_of(b_.graph, &tn_op_matmul), 0);
    assert_int_equal(count_of(b_.graph, &tn_op_qlinear_matmul), 1);
    assert_int_equal(count_of(b_.graph, &tn_op_dequantize_linear), 0);
    compare_places(&b_, text, 50);
    hex_bench_close(&b_);
}

static void test_product(void **state)
{
    if (!hex_bench_present()) {
        skip();
    }
    product_one("[4](1,8,12,12)", "[4](1,8,12,12)", "0.1", false, false);
    product_one("[3](12,8,12)", "[3](12,12,8)", "0.11", true, true);
    product_one("[2](8,144)", "[2](144,8)", "0.7", false, true);
    product_one("[2](144,8)", "[2](8,144)", "0.09", true, false);
    product_one("[4](2,3,64,3)", "[4](2,3,3,64)", "0.05", false, false);
}

// ---- a block of attention ----

typedef struct words {
    char text[16384];
    size_t n;
} words;

// A line, with @ for the name of what it makes.
static void line(words *w, const char *name, const char *text)
{
    for (; *text; text++) {
        const int n = *text == '@' ? snprintf(w->text + w->n, sizeof w->text - w->n, "%s", name)
                                   : snprintf(w->text + w->n, sizeof w->text - w->n, "%c", *text);
        w->n += (size_t)n;
        assert_true(w->n < sizeof w->text);
    }
}

// %name, quantised and dequantised, as %name_.
static void rounded(words *w, const char *name, const char *scale)
{
    char text[256];
    (void)snprintf(text, sizeof text, "  %%@q = quantize_linear(%%@, %%@s: const float32[](%s), %%@z: const uint8[](128))\n"
                   "  %%@_ = dequantize_linear(%%@q, %%@s, %%@z)\n", scale);
    line(w, name, text);
}

// %name_: a product of %from_ with weights [inner, columns], and then a bias, as quantising tools leave it.
static void linear(words *w, const char *name, const char *from, const char *shape, const char *columns)
{
    char text[512], product[8];
    (void)snprintf(product, sizeof product, "%sm", name);
    (void)snprintf(text, sizeof text, "  %%%sw = dequantize_linear(%%@w8: const int8[%s], %%@ws: const float32[](0.002))\n"
                   "  %%@ = matmul(%%%s_, %%%sw)\n", product, shape, from, product);
    line(w, product, text);
    rounded(w, product, "0.03");
    (void)snprintf(text, sizeof text, "  %%@b = dequantize_linear(%%@b8: const uint8[%s], %%@bs: const float32[](0.002), %%@bz: const uint8[](110))\n"
                   "  %%@ = add(%%%s_, %%@b)\n", columns, product);
    line(w, name, text);
    rounded(w, name, "0.031");
}

// Normalised, three products, scores of four heads, softmax, their mean of the values, a product, the sum; normalised, a product, gelu
// written out with constants that are quantised, a product, the sum.
static void test_attention(void **state)
{
    static words w;
    hex_bench b;
    if (!hex_bench_present()) {
        skip();
    }
    w.n = 0;
    line(&w, "", "graph \"g\" (%q: uint8[1,8,12,12]) -> (%y)\n"
                 "  %f_ = dequantize_linear(%q, %xs: const float32[](0.02), %xz: const uint8[](120))\n"
                 "  %x_ = reshape(%f_, %rows: const int64[3](1,12,96))\n");
    line(&w, "l", "  %@ = layer_norm(%x_, %@g: const float32[96], %@b: const float32[96]) {axis=-1}\n");
    rounded(&w, "l", "0.05");
    linear(&w, "k", "l", "96,96", "96");
    linear(&w, "u", "l", "96,96", "96");
    linear(&w, "v", "l", "96,96", "96");
    for (int i = 0; i < 3; i++) {
        static const char *const names[] = {"k", "u", "v"};
        line(&w, names[i], "  %@h = reshape(%@_, %@hs: const int64[4](1,12,4,24))\n");
        line(&w, names[i], i ? "  %@t = transpose(%@h) {perm=[0,2,1,3]}\n" : "  %@t = transpose(%@h) {perm=[0,2,3,1]}\n");
    }
    line(&w, "s", "  %@ = matmul(%ut, %kt)\n");
    rounded(&w, "s", "0.1");
    line(&w, "c", "  %@c = dequantize_linear(%@c8: const uint8[](255), %@cs: const float32[](0.0008), %@cz: const uint8[](0))\n  %@ = mul(%s_, %@c)\n");
    rounded(&w, "c", "0.02");
    line(&w, "p", "  %@ = softmax(%c_) {axis=-1}\n"
                  "  %@q = quantize_linear(%@, %@s: const float32[](0.00392), %@z: const uint8[](0))\n  %@_ = dequantize_linear(%@q, %@s, %@z)\n");
    line(&w, "o", "  %@ = matmul(%p_, %vt)\n");
    rounded(&w, "o", "0.02");
    line(&w, "o", "  %@t = transpose(%@_) {perm=[0,2,1,3]}\n  %@r_ = reshape(%@t, %rows)\n");
    linear(&w, "j", "or", "96,96", "96");
    line(&w, "a", "  %@ = add(%j_, %x_)\n");
    rounded(&w, "a", "0.04");
    line(&w, "m", "  %@ = layer_norm(%a_, %@g: const float32[96], %@b: const float32[96]) {axis=-1}\n");
    rounded(&w, "m", "0.05");
    linear(&w, "d", "m", "96,192", "192");
    line(&w, "e", "  %@r = dequantize_linear(%@r8: const uint8[](255), %@rs: const float32[](0.0055458), %@rz: const uint8[](0))\n"
                  "  %@d = div(%d_, %@r)\n  %@ = erf(%@d)\n");
    rounded(&w, "e", "0.0079");
    line(&w, "i", "  %@o = dequantize_linear(%@o8: const uint8[](255), %@os: const float32[](0.0039216), %@oz: const uint8[](0))\n  %@ = add(%e_, %@o)\n");
    rounded(&w, "i", "0.0158");
    line(&w, "g", "  %@ = mul(%d_, %i_)\n");
    rounded(&w, "g", "0.06");
    line(&w, "h", "  %@h = dequantize_linear(%@h8: const uint8[](255), %@hs: const float32[](0.0019608), %@hz: const uint8[](0))\n  %@ = mul(%g_, %@h)\n");
    rounded(&w, "h", "0.03");
    linear(&w, "n", "h", "192,96", "96");
    line(&w, "t", "  %@ = add(%n_, %a_)\n  %y = quantize_linear(%t, %ts: const float32[](0.05), %tz: const uint8[](128))\n");
    hex_bench_open(&b, w.text, false);
    assert_int_equal(count_of(b.graph, &tn_op_dequantize_linear), 0);
    assert_int_equal(count_of(b.graph, &tn_op_qlinear_matmul), 8);
    assert_int_equal(count_of(b.graph, &tn_op_qlinear_layer_norm), 2);
    // Scaling, erf, what is added to it and the half of its product.
    assert_int_equal(count_of(b.graph, &tn_op_qlinear_table), 4);
    compare_places(&b, w.text, 0);
    hex_bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_deconv), cmocka_unit_test(test_resize), cmocka_unit_test(test_resize_roundings),
                                       cmocka_unit_test(test_resize_wide),
                                       cmocka_unit_test(test_resize_floats), cmocka_unit_test(test_norm), cmocka_unit_test(test_norm_floats), cmocka_unit_test(test_norm_written),
                                       cmocka_unit_test(test_mean), cmocka_unit_test(test_other_type), cmocka_unit_test(test_join_constant), cmocka_unit_test(test_product), cmocka_unit_test(test_attention)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
