// SPDX-License-Identifier: Apache-2.0
// Post-training quantisation: transposed convolutions as convolutions of their phases. To 16 bits: channels of very different sizes, which 8 bits cannot hold, come out right; joins, pairs, means
// and functions have operators of 16 bits; only what needs it gets them, and both widths meet in integers; every allocation may fail.
#include "support/unit.h"

#include "exec/calibrate.h"
#include "ops/math/op_binary.h"
#include "ops/move/op_join.h"
#include "ops/nn/op_conv.h"
#include "ops/nn/op_matmul.h"
#include "ops/nn/op_norm.h"
#include "ops/nn/op_softmax.h"
#include "ops/quant/op_qlinear.h"
#include "ops/quant/op_qmap.h"
#include "ops/vision/op_qresize.h"
#include "ops/wide/op_wide.h"
#include "pass/infer.h"
#include "pass/pass.h"
#include "plan/weights.h"
#include "support/graph_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

extern const tn_device_vtable tn_device_cpu;

enum { COUNT = 2 * 8 * 8 };
#define AIM 0.02

// The small channels of %a meet the large weights of %v.
static const char *const uneven =
    "graph \"g\" (%x: float32[1,2,8,8]) -> (%y)\n"
    "  %a = conv(%x, %w: const float32[4,2,1,1](100, 0, 0, 80, 0.03, 0, 0, 0.02), %b: const float32[4](1, 2, 0.01, 0.02)) {kernel=[1,1]}\n"
    "  %s = swish(%a)\n"
    "  %y = conv(%s, %v: const float32[2,4,1,1](0.001, 0, 90, 1, 0, 0.001, 1, 90)) {kernel=[1,1]}\n";

static const char *const parts =
    "graph \"g\" (%x: float32[1,2,8,8]) -> (%y)\n"
    "  %a = conv(%x, %w: const float32[4,2,3,3]) {kernel=[3,3], pads=[1,1,1,1]}\n"
    "  %r = relu(%a)\n"
    "  %t = tanh(%a)\n"
    "  %u = add(%r, %t)\n"
    "  %j = concat(%u, %t) {axis=1}\n"
    "  %m = max_pool(%j) {kernel=[2,2], strides=[2,2]}\n"
    "  %g = global_average_pool(%m)\n"
    "  %q = mul(%m, %g)\n"
    "  %d = conv(%q, %v: const float32[6,8,1,1]) {kernel=[1,1]}\n"
    "  %h = global_average_pool(%d)\n"
    "  %f = flatten(%h) {axis=1}\n"
    "  %y = gemm(%f, %k: const float32[5,6], %c: const float32[5]) {trans_b=true}\n";

// Only the first two convolutions are delicate.
static const char *const partly =
    "graph \"g\" (%x: float32[1,2,8,8]) -> (%y)\n"
    "  %a = conv(%x, %w: const float32[4,2,1,1](100, 0, 0, 80, 0.03, 0, 0, 0.02), %b: const float32[4](1, 2, 0.01, 0.02)) {kernel=[1,1]}\n"
    "  %s = swish(%a)\n"
    "  %c = conv(%s, %v: const float32[2,4,1,1](0.001, 0, 90, 1, 0, 0.001, 1, 90)) {kernel=[1,1]}\n"
    "  %d = conv(%c, %k: const float32[8,2,3,3]) {kernel=[3,3], pads=[1,1,1,1]}\n"
    "  %e = relu(%d)\n"
    "  %f = conv(%e, %l: const float32[8,8,3,3]) {kernel=[3,3], pads=[1,1,1,1]}\n"
    "  %g = add(%e, %f)\n"
    "  %h = conv(%g, %m: const float32[8,8,3,3]) {kernel=[3,3], pads=[1,1,1,1]}\n"
    "  %y = conv(%h, %n: const float32[4,8,1,1]) {kernel=[1,1]}\n";

// Transposed convolutions with bounds behind them, one of which another node reads before its bound.
static const char *const spread =
    "graph \"g\" (%x: float32[1,2,8,8]) -> (%y, %z)\n"
    "  %a = conv(%x, %w: const float32[4,2,3,3]) {kernel=[3,3], pads=[1,1,1,1]}\n"
    "  %t = deconv(%a, %v: const float32[4,3,4,4], %b: const float32[3](0.5, -0.25, 1)) {kernel=[4,4], strides=[2,2], pads=[1,1,1,1]}\n"
    "  %r = relu(%t)\n"
    "  %u = deconv(%r, %k: const float32[3,2,3,3]) {kernel=[3,3], strides=[3,3]}\n"
    "  %z = relu(%u)\n"
    "  %y = conv(%u, %l: const float32[2,2,1,1]) {kernel=[1,1]}\n";

// A map that grows by neighbours between two convolutions, with a bound behind it.
static const char *const grown =
    "graph \"g\" (%x: float32[1,2,8,8]) -> (%y)\n"
    "  %a = conv(%x, %w: const float32[4,2,3,3]) {kernel=[3,3], pads=[1,1,1,1]}\n"
    "  %r = resize(%a, -, -, %s: const int64[4](1,4,21,16)) {mode=linear, coord=half_pixel}\n"
    "  %b = relu(%r)\n"
    "  %y = conv(%b, %k: const float32[2,4,1,1]) {kernel=[1,1]}\n";

// A line of eight normalised between two products, and its bound.
static const char *const normal =
    "graph \"g\" (%x: float32[1,2,8,8]) -> (%y)\n"
    "  %a = matmul(%x, %w: const float32[8,8])\n"
    "  %n = layer_norm(%a, %g: const float32[8](1, 0.5, 2, 1, 1, 0.7, 1.2, 1), %b: const float32[8](0, 0.5, 0, -1, 0, 0, 0, 1))\n"
    "  %r = relu(%n)\n"
    "  %y = matmul(%r, %k: const float32[8,4])\n";

// A block of attention whose mask is a constant, and one whose mask is computed; a token that does not change is joined to the values.
#define HEADS(MASK)                                                                                                   \
    "graph \"g\" (%x: float32[1,2,8,8]) -> (%y)\n"                                                                   \
    "  %a = matmul(%x, %w: const float32[8,8])\n"                                                                     \
    "  %b = matmul(%x, %k: const float32[8,8])\n"                                                                     \
    "  %c = matmul(%x, %v: const float32[8,8])\n"                                                                     \
    "  %s = matmul(%a, %b) {trans_b=true, alpha=0.25}\n"                                                              \
    MASK                                                                                                              \
    "  %p = softmax(%m) {axis=-1}\n"                                                                                  \
    "  %o = matmul(%p, %c)\n"                                                                                         \
    "  %j = concat(%t: const float32[1,2,1,8](0.25), %o) {axis=2}\n"                                                  \
    "  %g = gather(%j, %i: const int64[2](0,3)) {axis=2}\n"                                                           \
    "  %y = matmul(%g, %u: const float32[8,4])\n"
static const char *const heads = HEADS("  %m = add(%s, %l: const float32[8](0,0,0,0,0,-1e30,0,-1e30))\n");
static const char *const computed = HEADS("  %e = mul(%x, %f: const float32[](1e6))\n"
                                          "  %l = clip(%e, %n: const float32[](-10000), %z: const float32[](0))\n"
                                          "  %m = add(%l, %s)\n");

// More masks than one: each is a constant that comes to the graph while its lists of values are made.
static const char *const masks =
    "graph \"g\" (%x: float32[1,2,8,8]) -> (%y)\n"
    "  %a = matmul(%x, %w: const float32[8,8])\n"
    "  %s = matmul(%a, %x) {trans_b=true, alpha=0.25}\n"
    "  %k = add(%s, %l: const float32[8](0,0,0,0,0,-1e30,0,-1e30))\n"
    "  %p = softmax(%k) {axis=-1}\n"
    "  %m = add(%s, %n: const float32[8](-1e30,0,0,0,0,-1e30,0,0))\n"
    "  %q = softmax(%m) {axis=-1}\n"
    "  %o = add(%s, %t: const float32[8](0,-1e30,0,0,-1e30,0,0,0))\n"
    "  %r = softmax(%o) {axis=-1}\n"
    "  %u = add(%p, %q)\n"
    "  %v = add(%u, %r)\n"
    "  %y = matmul(%v, %a)\n";

// Masks as a bias of the product, without end, and put in the place of scores.
#define MASKED_BY(MASK)                                                                                               \
    "graph \"g\" (%x: float32[1,2,8,8]) -> (%y)\n"                                                                   \
    "  %a = matmul(%x, %w: const float32[8,8])\n"                                                                     \
    MASK                                                                                                              \
    "  %p = softmax(%m) {axis=-1}\n"                                                                                  \
    "  %y = matmul(%p, %x)\n"
#define SCORES "  %s = matmul(%a, %x) {trans_b=true, alpha=0.25}\n"
static const char *const masked[] = {
    MASKED_BY("  %m = matmul(%a, %x, %l: const float32[8](0,0,0,0,0,-1e9,0,-1e30)) {trans_b=true, alpha=0.25}\n"),
    MASKED_BY("  %m = matmul(%a, %x, %l: const float32[8](0,0,-inf,0,0,0,0,-inf)) {trans_b=true, alpha=0.25}\n"),
    MASKED_BY(SCORES "  %m = add(%s, %l: const float32[8](0,-inf,-inf,0,0,0,0,-inf))\n"),
    MASKED_BY(SCORES "  %m = where(%c: const bool[8](1,1,1,1,1,0,1,0), %s, %l: const float32[](-1e30))\n"),
    MASKED_BY(SCORES "  %m = where(%c: const bool[8](1,1,1,1,1,0,1,0), %s, %l: const float32[](-inf))\n"),
    MASKED_BY(SCORES "  %e = mul(%x, %f: const float32[](1e30))\n  %l = clip(%e, -, %z: const float32[](0))\n  %m = add(%l, %s)\n"),
};

// Bounds are the last thing there is.
static const char *const bounded =
    "graph \"g\" (%x: float32[1,2,8,8]) -> (%y, %z)\n"
    "  %a = conv(%x, %w: const float32[4,2,3,3]) {kernel=[3,3], pads=[1,1,1,1]}\n"
    "  %r = relu(%a)\n"
    "  %c = conv(%r, %v: const float32[4,4,3,3]) {kernel=[3,3], pads=[1,1,1,1]}\n"
    "  %y = relu(%c)\n"
    "  %d = deconv(%r, %k: const float32[4,3,2,2]) {kernel=[2,2], strides=[2,2]}\n"
    "  %e = relu(%d)\n"
    "  %z = clip(%e, -, %m: const float32[](2))\n";

// A function behind bounds.
static const char *const behind =
    "graph \"g\" (%x: float32[1,2,8,8]) -> (%y)\n"
    "  %a = conv(%x, %w: const float32[4,2,3,3]) {kernel=[3,3], pads=[1,1,1,1]}\n"
    "  %r = relu(%a)\n"
    "  %c = clip(%r, -, %m: const float32[](2))\n"
    "  %s = sigmoid(%c)\n"
    "  %y = conv(%s, %v: const float32[4,4,3,3]) {kernel=[3,3], pads=[1,1,1,1]}\n";

typedef enum mode { NARROW, WIDE, CHOSEN, ODD } mode;      // ODD: every other node is wide

typedef struct bench {
    tn_heap heap;
    tn_graph *real, *whole;
    tn_weights weights;
    tn_device *device;
    tn_plan_context context;
    tn_range *ranges;
    size_t n_ranges;
    float data[COUNT];
    tn_tensor sample;
    double aim;
    tn_diag diag;
} bench;

static tn_status open_bench(bench *b, const char *text)
{
    tn_cpu cpu;
    tn_diag_clear(&b->diag);
    tn_cpu_detect(&cpu);
    for (int i = 0; i < COUNT; i++) {
        b->data[i] = sinf((float)i * 0.7f);
    }
    b->sample = (tn_tensor){.dtype = TN_F32, .shape = {4, {1, 2, 8, 8}}, .data = b->data};
    b->real = tn_graph_parse(text, &b->heap, &b->diag);
    b->whole = b->real ? tn_graph_parse(text, &b->heap, &b->diag) : NULL;
    TN_TRY(b->whole ? TN_OK : TN_OUT_OF_MEMORY);
    TN_TRY(tn_infer_graph(b->real, &b->heap, &b->diag));
    TN_TRY(tn_infer_graph(b->whole, &b->heap, &b->diag));
    TN_TRY(tn_weights_init(&b->weights, &b->heap, &b->diag));
    TN_TRY(tn_device_cpu.open(&b->device, &b->heap, &cpu, &b->diag));
    b->context = (tn_plan_context){.heap = &b->heap, .weights = &b->weights, .cpu = cpu, .threads = 1, .devices = &b->device, .n_devices = 1,
                                   .precision = "fp32", .limit_tensor = UINT32_MAX, .limit_work = UINT64_MAX, .limit_loop = 1000};
    return TN_OK;
}

static void close_bench(bench *b)
{
    tn_ranges_free(b->ranges, b->n_ranges, &b->heap);
    tn_graph_destroy(b->real);
    tn_graph_destroy(b->whole);
    if (b->device) {
        tn_device_cpu.close(b->device);
    }
    if (b->context.heap) {
        tn_weights_deinit(&b->weights);
    }
}

static tn_status quantise(bench *b, mode how, double *error)
{
    tn_pass_context passes = {.heap = &b->heap, .diag = &b->diag, .limit_tensor_bytes = UINT32_MAX, .rounding = TN_ROUND_FIXED_Q31};
    TN_TRY(tn_quantise_prepare(b->whole, &passes));
    b->n_ranges = b->whole->n_values;
    b->ranges = tn_take_zero(&b->heap, b->n_ranges + 1, sizeof *b->ranges);
    TN_TRY(b->ranges ? TN_OK : TN_OUT_OF_MEMORY);
    TN_TRY(tn_calibrate(b->whole, &b->context, NULL, &b->sample, 1, b->ranges, &b->diag));
    const size_t count = tn_quantise_count(b->whole);
    bool *wide = how == NARROW ? NULL : tn_take_zero(&b->heap, count + 1, sizeof *wide);
    tn_status status = wide || how == NARROW ? TN_OK : TN_OUT_OF_MEMORY;
    for (size_t i = 0; wide && i < count; i++) {
        wide[i] = how == WIDE || i % 2 == 1;
    }
    if (status == TN_OK && how == CHOSEN) {
        status = tn_choose_widths(b->whole, &passes, &b->context, NULL, &b->sample, 1, b->ranges, b->aim, wide);
    }
    status = status == TN_OK ? tn_quantise_graph(b->whole, &passes, b->ranges, wide) : status;
    tn_give(&b->heap, wide);
    TN_TRY(status);
    TN_TRY(tn_optimise(b->whole, &passes, NULL));
    const tn_graph *const both[2] = {b->real, b->whole};
    return tn_quantised_error(both, &b->context, NULL, &b->sample, 1, error, &b->diag);
}

static int count_of(const tn_graph *graph, const tn_op *op)
{
    int count = 0;
    for (const tn_node *node = graph->first; node; node = node->next) {
        count += node->op == op;
    }
    return count;
}

static double error_of(const char *text, mode how, bench *b)
{
    double error = 0;
    memset(b, 0, sizeof *b);
    tn_heap_init(&b->heap, NULL, NULL, NULL);
    b->aim = AIM;
    if (open_bench(b, text) != TN_OK || quantise(b, how, &error) != TN_OK) {
        fail_msg("%s: %s", b->diag.place, b->diag.message);
    }
    return error;
}

static void test_uneven(void **state)
{
    bench b;
    assert_true(error_of(uneven, NARROW, &b) > 0.1);
    close_bench(&b);
    assert_true(error_of(uneven, WIDE, &b) < 0.001);
    assert_int_equal(count_of(b.whole, &tn_op_wide_conv), 2);
    assert_int_equal(count_of(b.whole, &tn_op_wide_table), 1);
    // A table for each channel.
    for (const tn_node *node = b.whole->first; node; node = node->next) {
        if (node->op == &tn_op_wide_table) {
            assert_int_equal(node->in[1]->shape.rank, 2);
        }
    }
    close_bench(&b);
}

static void test_parts(void **state)
{
    bench b;
    assert_true(error_of(parts, WIDE, &b) < 0.002);
    assert_int_equal(count_of(b.whole, &tn_op_wide_conv), 2);
    assert_int_equal(count_of(b.whole, &tn_op_wide_matmul), 1);
    assert_int_equal(count_of(b.whole, &tn_op_wide_add), 1);
    assert_int_equal(count_of(b.whole, &tn_op_wide_mul), 1);
    assert_int_equal(count_of(b.whole, &tn_op_wide_mean), 2);
    close_bench(&b);
}

// Nothing that has weights is left in float32.
static void check_whole(const tn_graph *graph)
{
    assert_int_equal(count_of(graph, &tn_op_conv) + count_of(graph, &tn_op_gemm) + count_of(graph, &tn_op_matmul), 0);
}

static void test_chosen(void **state)
{
    bench b;
    assert_true(error_of(partly, NARROW, &b) > 0.1);
    close_bench(&b);
    // The sums of the last ones stay with 8 bits, and so does the pair.
    assert_true(error_of(partly, CHOSEN, &b) < 1.5 * AIM);
    check_whole(b.whole);
    assert_in_range(count_of(b.whole, &tn_op_wide_conv), 2, 3);
    assert_int_equal(count_of(b.whole, &tn_op_wide_conv) + count_of(b.whole, &tn_op_qlinear_conv), 6);
    close_bench(&b);
    // Where 8 bits are enough none are chosen.
    assert_true(error_of(parts, CHOSEN, &b) < 1.5 * AIM);
    assert_true(count_of(b.whole, &tn_op_wide_conv) < 2);
    close_bench(&b);
}

// How many convolutions are wide for an aim, and the error that comes of it.
static int wide_for(const char *text, double aim, double *error)
{
    bench b;
    memset(&b, 0, sizeof b);
    tn_heap_init(&b.heap, NULL, NULL, NULL);
    b.aim = aim;
    if (open_bench(&b, text) != TN_OK || quantise(&b, CHOSEN, error) != TN_OK) {
        fail_msg("%s: %s", b.diag.place, b.diag.message);
    }
    const int count = count_of(b.whole, &tn_op_wide_conv);
    close_bench(&b);
    return count;
}

// A stricter aim never has fewer of 16 bits; integers add little to what the trials measured. Sessions aim at 0.05.
static void test_aims(void **state)
{
    const double aims[] = {1e9, 0.05, 0.02, 0.001, 0};
    int before = 0;
    for (size_t i = 0; i < sizeof aims / sizeof aims[0]; i++) {
        double error;
        const int wide = wide_for(partly, aims[i], &error);
        assert_true(wide >= before);
        assert_true(i == 0 || i == 4 || error < 1.5 * aims[i] + 0.0005);
        assert_true(i > 0 || wide == 0);
        before = wide;
    }
    assert_int_equal(before, 6);
}

static void test_spread(void **state)
{
    bench b;
    assert_true(error_of(spread, NARROW, &b) < 0.05);
    check_whole(b.whole);
    assert_int_equal(count_of(b.whole, &tn_op_deconv), 0);
    assert_int_equal(count_of(b.whole, &tn_op_qlinear_conv), 4);
    close_bench(&b);
    assert_true(error_of(spread, WIDE, &b) < 0.001);
    assert_int_equal(count_of(b.whole, &tn_op_deconv), 0);
    assert_int_equal(count_of(b.whole, &tn_op_wide_conv), 4);
    close_bench(&b);
}

static void test_grown(void **state)
{
    bench b;
    assert_true(error_of(grown, NARROW, &b) < 0.05);
    check_whole(b.whole);
    assert_int_equal(count_of(b.whole, &tn_op_resize), 0);
    assert_int_equal(count_of(b.whole, &tn_op_qlinear_resize), 1);
    close_bench(&b);
    assert_true(error_of(grown, WIDE, &b) < 0.001);
    check_whole(b.whole);
    assert_int_equal(count_of(b.whole, &tn_op_qlinear_resize), 1);
    assert_int_equal(count_of(b.whole, &tn_op_wide_conv), 2);
    close_bench(&b);
}

static void test_behind(void **state)
{
    bench b;
    for (mode how = NARROW; how <= WIDE; how++) {
        assert_true(error_of(behind, how, &b) < 0.05);
        check_whole(b.whole);
        close_bench(&b);
    }
}

static void test_masks(void **state)
{
    bench b;
    for (mode how = NARROW; how <= ODD; how++) {
        assert_true(error_of(masks, how, &b) < 0.05);
        close_bench(&b);
        for (size_t i = 0; i < sizeof masked / sizeof *masked; i++) {
            const double error = error_of(masked[i], how, &b);
            if (!(error < 0.05)) {
                fail_msg("%s is %g off in mode %d", masked[i], error, how);
            }
            close_bench(&b);
        }
    }
}

static void test_bounded(void **state)
{
    bench b;
    assert_true(error_of(bounded, NARROW, &b) < 0.05);
    check_whole(b.whole);
    assert_int_equal(count_of(b.whole, &tn_op_qlinear_conv), 3);
    close_bench(&b);
    assert_true(error_of(bounded, WIDE, &b) < 0.001);
    assert_int_equal(count_of(b.whole, &tn_op_wide_conv), 3);
    close_bench(&b);
}

static void test_normal(void **state)
{
    bench b;
    assert_true(error_of(normal, NARROW, &b) < 0.05);
    check_whole(b.whole);
    assert_int_equal(count_of(b.whole, &tn_op_layer_norm), 0);
    assert_int_equal(count_of(b.whole, &tn_op_qlinear_layer_norm), 1);
    close_bench(&b);
    assert_true(error_of(normal, WIDE, &b) < 0.002);
    assert_int_equal(count_of(b.whole, &tn_op_wide_matmul), 2);
    close_bench(&b);
}

static void test_heads(void **state)
{
    const char *const both[] = {heads, computed};
    for (int i = 0; i < 2; i++) {
        bench b;
        assert_true(error_of(both[i], NARROW, &b) < 0.05);
        check_whole(b.whole);
        assert_int_equal(count_of(b.whole, &tn_op_softmax) + count_of(b.whole, &tn_op_add), 0);
        assert_int_equal(count_of(b.whole, &tn_op_qlinear_softmax), 1);
        assert_int_equal(count_of(b.whole, &tn_op_qlinear_matmul), 6);
        close_bench(&b);
        // Of 16 bits are the sums with weights.
        assert_true(error_of(both[i], WIDE, &b) < 0.002);
        assert_int_equal(count_of(b.whole, &tn_op_softmax), 1);
        assert_int_equal(count_of(b.whole, &tn_op_wide_matmul), 4);
        close_bench(&b);
    }
}

static void test_both(void **state)
{
    bench b;
    assert_true(error_of(parts, ODD, &b) < 0.1);
    check_whole(b.whole);
    assert_true(count_of(b.whole, &tn_op_wide_conv) > 0 || count_of(b.whole, &tn_op_wide_add) > 0);
    close_bench(&b);
    assert_true(error_of(partly, ODD, &b) < 10);
    check_whole(b.whole);
    assert_int_equal(count_of(b.whole, &tn_op_add), 0);
    close_bench(&b);
}

// ---- memory ----

typedef struct counter {
    long count, fail_at, live;
} counter;

static void *take(void *context, size_t bytes, size_t alignment)
{
    counter *c = context;
    void *block = NULL;
    if (++c->count == c->fail_at || posix_memalign(&block, alignment < sizeof(void *) ? sizeof(void *) : alignment, bytes ? bytes : 1) != 0) {
        return NULL;
    }
    c->live++;
    return block;
}

static void give(void *context, void *block)
{
    ((counter *)context)->live -= block != NULL;
    free(block);
}

static long try_all(counter *c, const char *text, mode how)
{
    bench b;
    double error;
    memset(&b, 0, sizeof b);
    tn_heap_init(&b.heap, take, give, c);
    b.aim = AIM;
    if (open_bench(&b, text) == TN_OK) {
        (void)quantise(&b, how, &error);
    }
    close_bench(&b);
    return c->count;
}

static void fail_all(const char *text, mode how)
{
    counter c = {0};
    const long total = try_all(&c, text, how), step = total / 100 + 1;
    assert_int_equal(c.live, 0);
    for (long n = 1; n <= total; n += step) {
        c = (counter){.fail_at = n};
        (void)try_all(&c, text, how);
        if (c.live != 0) {
            fail_msg("%ld blocks left when allocation %ld of %ld fails", c.live, n, total);
        }
    }
}

// Bytes of a join are brought to its scale by tables where floats are preferred too: what was written in bytes stays bytes.
static void test_join_floats(void **state)
{
    static const char *const text =
        "graph \"g\" (%a: uint8[1,2,4,4], %b: uint8[1,3,4,4]) -> (%y)\n"
        "  %y = qlinear_concat(%s: const float32[](0.1), %z: const uint8[](3), %a, %s, %z, %b, %t: const float32[](0.2), %z) {axis=1}\n";
    tn_heap heap;
    tn_diag diag;
    tn_diag_clear(&diag);
    tn_heap_init(&heap, NULL, NULL, NULL);
    tn_graph *graph = tn_graph_parse(text, &heap, &diag);
    tn_pass_context passes = {.heap = &heap, .diag = &diag, .limit_tensor_bytes = UINT32_MAX, .floats = true};
    assert_non_null(graph);
    assert_int_equal(tn_optimise(graph, &passes, NULL), TN_OK);
    int tables = 0, joins = 0;
    for (const tn_node *node = graph->first; node; node = node->next) {
        tables += node->op == &tn_op_qlinear_table;
        joins += node->op == &tn_op_concat;
    }
    assert_int_equal(tables, 1);
    assert_int_equal(joins, 1);
    tn_graph_destroy(graph);
}

static void test_memory(void **state)
{
    fail_all(uneven, WIDE);
    fail_all(uneven, CHOSEN);
    fail_all(parts, ODD);
    fail_all(spread, NARROW);
    fail_all(grown, NARROW);
    fail_all(grown, WIDE);
    fail_all(normal, NARROW);
    fail_all(heads, NARROW);
    fail_all(computed, ODD);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_uneven), cmocka_unit_test(test_parts), cmocka_unit_test(test_chosen), cmocka_unit_test(test_aims),
        cmocka_unit_test(test_spread), cmocka_unit_test(test_grown), cmocka_unit_test(test_bounded), cmocka_unit_test(test_normal),
        cmocka_unit_test(test_masks), cmocka_unit_test(test_behind), cmocka_unit_test(test_heads), cmocka_unit_test(test_both), cmocka_unit_test(test_join_floats), cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
