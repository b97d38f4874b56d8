// SPDX-License-Identifier: Apache-2.0
// Operators that reach the DSP in another form: transposed convolutions as convolutions of their phases. What was written dequantise -
// compute - quantise is one sub-flow of integers, with the bits of the CPU's references and within a step of the floats. Skipped where
// there is no emulator.
#include "hex_bench.h"

#include "ops/nn/op_conv.h"
#include "ops/quant/op_quantize.h"
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

// The same text in floats on the CPU: at most one step beside the integers.
static void compare_floats(hex_bench *b, const char *text, const tn_result_slot *got)
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
    assert_true(off * 50 <= tn_tensor_count(&want[0].tensor));
    tn_arena_deinit(&objects);
    tn_program_destroy(program);
    tn_graph_destroy(graph);
}

static void one(const char *weights, const char *bias, const char *attributes, bool bound)
{
    hex_bench b;
    tn_result_slot dsp[HEX_MOST_RESULTS], cpu[HEX_MOST_RESULTS];
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
    assert_int_equal(hex_bench_run(&b, HEX_CPU, cpu, 0), TN_OK);
    assert_int_equal(hex_bench_run(&b, HEX_DSP, dsp, 0), TN_OK);
    hex_bench_compare(&b, dsp, cpu);
    assert_int_equal(tn_program_plan(b.program[HEX_DSP])->n_steps, 1);
    assert_int_equal(b.devices[0]->vtable->copied(b.devices[0]), 0);
    compare_floats(&b, text, dsp);
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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_deconv)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
