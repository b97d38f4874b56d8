// SPDX-License-Identifier: Apache-2.0
// Programs against the definition: a graph planned and run gives what its nodes give one after another by their references, for any
// sequence of shapes; a run by a cached plan takes nothing from the heap.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "exec/blocks.h"
#include "exec/program.h"
#include "ir/edit.h"
#include "ops/control/op_control.h"
#include "ops/index/op_find.h"
#include "ops/joined/op_conv_pair.h"
#include "ops/math/op_binary.h"
#include "ops/math/op_unary.h"
#include "ops/move/op_copy.h"
#include "ops/move/op_join.h"
#include "ops/move/op_reshape.h"
#include "ops/move/op_transpose.h"
#include "ops/nn/op_activation.h"
#include "ops/nn/op_softmax.h"
#include "ops/op_eval.h"
#include "pass/pass.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static size_t takes;      // blocks taken by the counting allocator

static void *count_take(void *context, size_t bytes, size_t alignment)
{
    (void)context;
    takes++;
    return aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}

static void count_give(void *context, void *block)
{
    (void)context;
    free(block);
}

typedef struct fixture {
    tn_heap heap;
    tn_weights weights;
    tn_device *devices[1];
    tn_block_cache blocks;
    tn_plan_context context;
    tn_diag diag;
} fixture;

static void open_fixture(fixture *f, const char *isa)
{
    int known;
    memset(f, 0, sizeof *f);
    tn_heap_init(&f->heap, count_take, count_give, NULL);
    assert_int_equal(tn_weights_init(&f->weights, &f->heap, &f->diag), TN_OK);
    f->context = (tn_plan_context){.heap = &f->heap, .weights = &f->weights, .threads = 1, .n_devices = 1, .limit_tensor = 1 << 30,
                                   .limit_work = (uint64_t)1 << 40, .limit_loop = 1000};
    f->blocks.heap = &f->heap;
    f->context.blocks = &f->blocks;
    tn_cpu_detect(&f->context.cpu);
    f->context.cpu.features &= tn_cpu_mask(isa, &known);
    const tn_device_vtable *vtable = tn_registry_devices[0];
    assert_int_equal(vtable->open(&f->devices[0], &f->heap, &f->context.cpu, &f->diag), TN_OK);
    f->context.devices = f->devices;
}

static void close_fixture(fixture *f)
{
    f->devices[0]->vtable->close(f->devices[0]);
    tn_weights_deinit(&f->weights);
    tn_block_trim(&f->blocks);
    assert_int_equal(atomic_load(&f->heap.live_blocks), 0);
}

static float *noise(size_t count, unsigned seed)
{
    float *data = malloc(count * sizeof *data + 1);
    for (size_t i = 0; i < count; i++) {
        seed = seed * 1664525u + 1013904223u;
        data[i] = (float)(seed >> 8) / (float)(1 << 23) - 1.0f;
    }
    return data;
}

static tn_value *add(tn_graph *g, const tn_op *op, const char *name, const void *attr, tn_value *a, tn_value *b)
{
    tn_value *in[2] = {a, b}, *out = tn_graph_value(g, name);
    assert_non_null(tn_graph_node(g, NULL, op, name, attr, in, b ? 2 : 1, &out, 1));
    return out;
}

// By the references, node by node.
static void interpret(const tn_graph *g, const tn_tensor *inputs, tn_tensor *outputs, tn_arena *arena, tn_heap *heap)
{
    tn_tensor *values = tn_arena_array(arena, g->n_values, sizeof *values);
    tn_diag diag = {0};
    for (size_t i = 0; i < g->n_inputs; i++) {
        values[g->inputs[i]->id] = inputs[i];
    }
    for (size_t i = 0; i < g->n_values; i++) {
        if (g->values[i] && g->values[i]->constant) {
            values[i] = *g->values[i]->constant;
        }
    }
    for (const tn_node *node = g->first; node; node = node->next) {
        const tn_tensor *in[16];
        tn_tensor out[16];
        for (int i = 0; i < node->n_in; i++) {
            in[i] = node->in[i] ? &values[node->in[i]->id] : NULL;
        }
        const tn_status status = tn_op_eval(node->op, node->attr, node->name, in, node->n_in, out, node->n_out, 1 << 28, arena, heap, &diag);
        if (status != TN_OK) {
            fail_msg("%s: %s", node->name, diag.message);
        }
        for (int i = 0; i < node->n_out; i++) {
            values[node->out[i]->id] = out[i];
        }
    }
    for (size_t i = 0; i < g->n_outputs; i++) {
        outputs[i] = values[g->outputs[i]->id];
    }
}

static void compare(const tn_tensor *got, const tn_tensor *want)
{
    assert_true(tn_shape_equal(&got->shape, &want->shape));
    assert_int_equal(got->dtype, want->dtype);
    for (int64_t i = 0; i < tn_tensor_count(want); i++) {
        const double a = tn_dtype_load(got->dtype, got->data, (size_t)i), b = tn_dtype_load(want->dtype, want->data, (size_t)i);
        if (fabs(a - b) > 1e-4 * (1 + fabs(b))) {
            fail_msg("element %lld: %g, want %g", (long long)i, a, b);
        }
    }
}

// conv - relu - transpose - reshape - (concat with a second branch) - softmax, batch and picture size open.
static tn_graph *net(tn_heap *heap, const float *w1, const float *w2)
{
    tn_graph *g = tn_graph_create(heap, "net");
    tn_value *x = tn_graph_value(g, "x");
    x->dtype = TN_F32;
    x->shape = (tn_shape){4, {TN_DIM_UNKNOWN, 5, TN_DIM_UNKNOWN, TN_DIM_UNKNOWN}};
    tn_graph_add_input(g, x);
    const tn_shape s1 = tn_shape_of(4, (const int64_t[]){20, 5, 3, 3}), s2 = tn_shape_of(4, (const int64_t[]){20, 20, 1, 1});
    static const int64_t ones[] = {1, 1, 1, 1}, perm[] = {0, 2, 3, 1}, two[] = {0, -1}, length[] = {2};
    const tn_shape s3 = tn_shape_of(1, length);
    tn_conv_attr conv = *(const tn_conv_attr *)tn_op_conv.defaults;
    conv.pads = (tn_ints){ones, 4, true};
    tn_value *c = add(g, &tn_op_conv, "conv1", &conv, x, tn_graph_constant(g, "w1", TN_F32, &s1, w1, false));
    tn_value *r = add(g, &tn_op_relu, "relu", NULL, c, NULL);
    conv.pads.set = false;
    tn_value *d = add(g, &tn_op_conv, "conv2", &conv, r, tn_graph_constant(g, "w2", TN_F32, &s2, w2, false));
    tn_value *sum = add(g, &tn_op_add, "sum", NULL, d, r);
    const tn_transpose_attr transpose = {{perm, 4, true}};
    const tn_concat_attr concat = {1};
    const tn_softmax_attr softmax = {1};
    tn_value *t = add(g, &tn_op_transpose, "nhwc", &transpose, sum, NULL);
    tn_value *shape = tn_graph_constant(g, "shape", TN_I64, &s3, two, false);
    tn_value *flat1 = add(g, &tn_op_reshape, "flat1", NULL, t, shape), *flat2 = add(g, &tn_op_reshape, "flat2", NULL, d, shape);
    tn_value *joined = add(g, &tn_op_concat, "joined", &concat, flat1, flat2);
    tn_graph_add_output(g, add(g, &tn_op_softmax, "y", &softmax, joined, NULL));
    tn_graph_add_output(g, flat1);
    tn_graph_add_output(g, x);
    assert_int_equal(tn_graph_verify(g, NULL), TN_OK);
    return g;
}

static void run_and_compare(fixture *f, tn_program *program, const tn_graph *g, const tn_tensor *x)
{
    tn_result_slot results[4] = {{0}};
    tn_tensor want[4];
    tn_arena arena;
    tn_run run = {.context = &f->context, .diag = &f->diag};
    if (tn_program_run(program, &run, x, results) != TN_OK) {
        fail_msg("%s: %s", f->diag.place, f->diag.message);
    }
    tn_arena_init(&arena, &f->heap);
    interpret(g, x, want, &arena, &f->heap);
    for (size_t i = 0; i < g->n_outputs; i++) {
        compare(&results[i].tensor, &want[i]);
    }
    tn_arena_deinit(&arena);
}

static void shapes_in_any_order(const char *isa)
{
    fixture f;
    tn_program *program;
    float *w1 = noise(20 * 5 * 9, 1), *w2 = noise(400, 2), *data = noise(3 * 5 * 19 * 23, 3);
    open_fixture(&f, isa);
    tn_graph *g = net(&f.heap, w1, w2);
    assert_int_equal(tn_program_create(&program, g, &f.context, 3, &f.diag), TN_OK);
    static const int64_t shapes[][4] = {{1, 5, 8, 8}, {2, 5, 7, 9}, {1, 5, 8, 8}, {3, 5, 19, 23}, {1, 5, 1, 1}, {2, 5, 7, 9}, {1, 5, 3, 50},
                                        {1, 5, 8, 8}};
    for (size_t i = 0; i < TN_COUNT(shapes); i++) {
        const tn_tensor x = {.dtype = TN_F32, .shape = tn_shape_of(4, shapes[i]), .data = data};
        run_and_compare(&f, program, g, &x);
        assert_true(tn_program_plans(program) <= 3);
    }
    tn_program_trim(program);
    const tn_tensor x = {.dtype = TN_F32, .shape = tn_shape_of(4, shapes[0]), .data = data};
    run_and_compare(&f, program, g, &x);
    tn_program_destroy(program);
    tn_graph_destroy(g);
    close_fixture(&f);
    free(w1);
    free(w2);
    free(data);
}

static void any_shapes_portable(void **unused) { (void)unused; shapes_in_any_order("portable"); }
static void any_shapes_best(void **unused) { (void)unused; shapes_in_any_order(NULL); }

static void cached_run_takes_nothing(void **unused)
{
    fixture f;
    tn_program *program;
    tn_result_slot results[4] = {{0}};
    float *w1 = noise(20 * 5 * 9, 1), *w2 = noise(400, 2), *data = noise(5 * 64, 3);
    (void)unused;
    open_fixture(&f, NULL);
    tn_graph *g = net(&f.heap, w1, w2);
    tn_run run = {.context = &f.context, .diag = &f.diag};
    const tn_tensor x = {.dtype = TN_F32, .shape = tn_shape_of(4, (const int64_t[]){1, 5, 8, 8}), .data = data};
    assert_int_equal(tn_program_create(&program, g, &f.context, 3, &f.diag), TN_OK);
    assert_int_equal(tn_program_run(program, &run, &x, results), TN_OK);
    const size_t before = takes;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(tn_program_run(program, &run, &x, results), TN_OK);
    }
    assert_int_equal(takes, before);
    tn_program_destroy(program);
    tn_graph_destroy(g);
    close_fixture(&f);
    free(w1);
    free(w2);
    free(data);
}

// ---- joins whose operands are made in place ----

static size_t copies(const tn_program *program)
{
    const tn_plan *plan = tn_program_plan(program);
    size_t count = 0;
    for (size_t i = 0; i < plan->n_steps; i++) {
        count += plan->steps[i].call.op == &tn_op_copy;
    }
    return count;
}

static tn_graph *joining(tn_heap *heap, int64_t channels)
{
    tn_graph *g = tn_graph_create(heap, "joining");
    tn_value *x = tn_graph_value(g, "x");
    x->dtype = TN_F32;
    x->shape = (tn_shape){4, {1, channels, TN_DIM_UNKNOWN, TN_DIM_UNKNOWN}};
    tn_graph_add_input(g, x);
    return g;
}

static void run_joins(fixture *f, const tn_graph *g, const tn_tensor *x, size_t want_copies)
{
    for (int light = 0; light < 2; light++) {
        tn_program *program;
        f->context.light = light;
        assert_int_equal(tn_program_create(&program, g, &f->context, 3, &f->diag), TN_OK);
        run_and_compare(f, program, g, x);
        run_and_compare(f, program, g, x);
        assert_true(want_copies == SIZE_MAX || copies(program) == want_copies);
        tn_program_destroy(program);
    }
}

// Two branches, of which one is joined first, need no copy. An operand that is read later, twice in the join or a result does.
static void parts_are_made_in_the_join(void **unused)
{
    fixture f;
    float *data = noise(16 * 64, 5);
    const tn_tensor x = {.dtype = TN_F32, .shape = tn_shape_of(4, (const int64_t[]){1, 16, 8, 8}), .data = data};
    const tn_concat_attr channels = {1};
    const tn_softmax_attr softmax = {1};
    (void)unused;
    open_fixture(&f, NULL);
    for (int kind = 0; kind < 4; kind++) {
        tn_graph *g = joining(&f.heap, 16);
        tn_value *a = add(g, &tn_op_tanh, "a", NULL, g->inputs[0], NULL), *b = add(g, &tn_op_relu, "b", NULL, a, NULL);
        tn_value *c = add(g, &tn_op_sigmoid, "c", NULL, b, NULL);
        tn_value *first = add(g, &tn_op_concat, "first", &channels, kind == 1 ? a : c, kind == 1 ? a : b);
        tn_value *all = add(g, &tn_op_concat, "all", &channels, a, first);
        tn_value *y = add(g, &tn_op_softmax, "y", &softmax, all, NULL);
        tn_graph_add_output(g, kind == 2 ? add(g, &tn_op_softmax, "z", &softmax, add(g, &tn_op_concat, "again", &channels, y, a), NULL) : y);
        if (kind == 3) {
            tn_graph_add_output(g, b);
        }
        run_joins(&f, g, &x, kind == 0 ? 0 : SIZE_MAX);
        tn_graph_destroy(g);
    }
    close_fixture(&f);
    free(data);
}

// Any graph of joins, halves, functions, sums and convolutions gives what its nodes give.
static void random_joins(void **unused)
{
    fixture f;
    float *data = noise(8 * 35, 7), *weights = noise(16 * 24 * 400, 8);
    const tn_tensor x = {.dtype = TN_F32, .shape = tn_shape_of(4, (const int64_t[]){1, 8, 5, 7}), .data = data};
    const tn_concat_attr joined = {1};
    const tn_split_attr halves = {1, 2};
    uint32_t seed = 11;
    (void)unused;
    open_fixture(&f, NULL);
    for (int round = 0; round < 60; round++) {
        tn_graph *g = joining(&f.heap, 8);
        tn_value *values[24] = {g->inputs[0]};
        int64_t widths[24] = {8};
        int count = 1;
        while (count < 16) {
            char name[8] = {'v', (char)('a' + count), 0};
            seed = seed * 1664525u + 1013904223u;
            const int a = (int)((seed >> 9) % (uint32_t)count), b = count - 1, kind = (int)(seed >> 24) % 6;
            tn_value *to;
            int64_t width = widths[b];
            if (kind < 3 && widths[a] + width <= 400) {
                to = add(g, &tn_op_concat, name, &joined, values[b], values[a]);
                width += widths[a];
            } else if (kind == 3 && widths[a] == width) {
                to = add(g, &tn_op_add, name, NULL, values[a], values[b]);
            } else if (kind == 4) {
                const int64_t m = (seed >> 20) % 2 ? 24 : 13;
                const tn_shape s = tn_shape_of(4, (const int64_t[]){m, widths[a], 1, 1});
                to = add(g, &tn_op_conv, name, tn_op_conv.defaults, values[a], tn_graph_constant(g, name, TN_F32, &s, weights + count * 9600, false));
                width = m;
            } else if (kind == 5 && width % 2 == 0 && count < 15) {
                tn_value *half[2] = {tn_graph_value(g, name), tn_graph_value(g, "half")};
                assert_non_null(tn_graph_node(g, NULL, &tn_op_split, name, &halves, &values[b], 1, half, 2));
                widths[count] = width /= 2;
                values[count++] = half[1];
                to = half[0];
            } else {
                to = add(g, kind == 5 ? &tn_op_tanh : &tn_op_sigmoid, name, NULL, values[b], NULL);
            }
            widths[count] = width;
            values[count++] = to;
        }
        tn_graph_add_output(g, values[count - 1]);
        tn_graph_add_output(g, values[count / 2]);
        run_joins(&f, g, &x, SIZE_MAX);
        tn_graph_destroy(g);
    }
    close_fixture(&f);
    free(data);
    free(weights);
}

// Steps that read a constant in blocks.
static int reads_converted(const tn_program *program)
{
    const tn_plan *plan = tn_program_plan(program);
    int count = 0;
    for (size_t i = 0; i < plan->n_steps; i++) {
        for (int k = 0; k < plan->steps[i].call.n_in; k++) {
            const tn_slot *slot = &plan->slots[plan->steps[i].in[k]];
            count += slot->lease == TN_LEASE_PRIVATE && slot->tensor.layout != TN_LAYOUT_PLAIN;
        }
    }
    return count;
}

// A convolution over a constant map, and beside it one over the input; kind 1 adds the map to the latter's result instead.
static tn_graph *over_constant(tn_heap *heap, int kind, int64_t out, int64_t window, int64_t group, const float *map, const float *weights)
{
    static const int64_t ones[] = {1, 1, 1, 1};
    const tn_shape at = tn_shape_of(4, (const int64_t[]){1, 16, 9, 9});
    const tn_shape s = tn_shape_of(4, (const int64_t[]){out, 16 / group, window, window});
    tn_graph *g = joining(heap, 16);
    tn_conv_attr attr = *(const tn_conv_attr *)tn_op_conv.defaults;
    attr.group = group;
    attr.pads = window == 3 ? (tn_ints){ones, 4, true} : attr.pads;
    tn_value *c = tn_graph_constant(g, "map", TN_F32, &at, map, false), *w = tn_graph_constant(g, "w", TN_F32, &s, weights, false);
    if (kind == 0) {
        tn_graph_add_output(g, add(g, &tn_op_tanh, "t", NULL, add(g, &tn_op_conv, "y", &attr, c, w), NULL));
        tn_graph_add_output(g, add(g, &tn_op_tanh, "u", NULL, g->inputs[0], NULL));
    } else {
        tn_value *y = add(g, &tn_op_conv, "y", &attr, g->inputs[0], w);
        tn_value *sum = add(g, &tn_op_mul, "sum", NULL, y, c);
        tn_graph_add_output(g, add(g, &tn_op_conv, "z", &attr, add(g, &tn_op_tanh, "t", NULL, sum, NULL), w));
    }
    return g;
}

// Data that is a constant is converted once, beside the packed weights, for the rows that read blocks: convolutions pointwise, by Winograd
// and by channel, products with a whole map. It may lie at any address.
static void constant_data(void **unused)
{
    static const struct { int kind; int64_t out, window, group; } cases[] = {{0, 24, 1, 1}, {0, 16, 3, 1}, {0, 32, 3, 1}, {0, 16, 3, 16},
                                                                             {0, 16, 1, 16}, {1, 16, 3, 16}, {1, 16, 3, 1}};
    fixture f;
    float *data = noise(16 * 81, 3), *map = noise(16 * 81 + 1, 4), *weights = noise(32 * 16 * 9, 5);
    const tn_tensor x = {.dtype = TN_F32, .shape = tn_shape_of(4, (const int64_t[]){1, 16, 9, 9}), .data = data};
    int seen[2] = {0, 0};
    (void)unused;
    memmove((char *)map + 2, map, 16 * 81 * sizeof *map);
    for (int i = 0; i < (int)(2 * TN_COUNT(cases)); i++) {
        open_fixture(&f, i % 2 ? NULL : "portable");
        tn_graph *g = over_constant(&f.heap, cases[i / 2].kind, cases[i / 2].out, cases[i / 2].window, cases[i / 2].group,
                                    (const float *)(const void *)((const char *)map + 2), weights);
        tn_program *program;
        run_joins(&f, g, &x, SIZE_MAX);
        assert_int_equal(tn_program_create(&program, g, &f.context, 3, &f.diag), TN_OK);
        run_and_compare(&f, program, g, &x);
        const int found = reads_converted(program);
        seen[cases[i / 2].kind] += found;
        // Of what the plan holds the converted map is a part, counted also where a plan is only weighed.
        assert_true(!found || tn_program_plan(program)->memory.packed_bytes >= 16 * 81 * sizeof *map);
        f.context.limit_memory = tn_plan_peak(tn_program_plan(program));
        tn_program_destroy(program);
        assert_int_equal(tn_program_create(&program, g, &f.context, 3, &f.diag), TN_OK);
        run_and_compare(&f, program, g, &x);
        assert_int_equal(reads_converted(program), found);
        assert_true(tn_plan_peak(tn_program_plan(program)) <= f.context.limit_memory);
        tn_program_destroy(program);
        tn_graph_destroy(g);
        close_fixture(&f);
    }
    assert_true(!(f.context.cpu.features & TN_CPU_AVX2) || (seen[0] > 0 && seen[1] > 0));
    free(data);
    free(map);
    free(weights);
}

static tn_value *input_of(tn_graph *g, const char *name, int64_t size)
{
    tn_value *v = tn_graph_value(g, name);
    v->dtype = TN_I64;
    v->shape = tn_shape_of(1, &size);
    assert_int_equal(tn_graph_add_input(g, v), TN_OK);
    return v;
}

// A body behind a result of unknown size (of too many numbers to be planned by value): shapes that the first plan wrote into it are still
// there for the second.
static void bodies_of_later_stages(void **unused)
{
    enum { WIDE = 65536 };
    static const int64_t zeros[2] = {0, 0}, wide[2] = {1, 2}, tall[2] = {2, 1}, flat[1] = {2}, where[5] = {1, 4, 7, WIDE, WIDE + 13};
    fixture f;
    float *data = calloc(2 * WIDE, sizeof *data);
    const tn_tensor x = {.dtype = TN_F32, .shape = tn_shape_of(2, (const int64_t[]){2, WIDE}), .data = data};
    const tn_shape two = tn_shape_of(1, (const int64_t[]){2}), one = tn_shape_of(1, (const int64_t[]){1});
    const tn_scan_attr attr = {.n_state = 1, .n_scan = 1};
    (void)unused;
    open_fixture(&f, NULL);
    tn_graph *g = tn_graph_create(&f.heap, "staged"), *body = tn_graph_create(&f.heap, "body");
    tn_value *in = tn_graph_value(g, "x"), *out[2] = {tn_graph_value(g, "last"), tn_graph_value(g, "all")};
    in->dtype = TN_F32;
    in->shape = x.shape;
    assert_int_equal(tn_graph_add_input(g, in), TN_OK);
    tn_value *rows = add(g, &tn_op_transpose, "rows", tn_op_transpose.defaults, add(g, &tn_op_non_zero, "places", NULL, in, NULL), NULL);
    tn_value *operands[2] = {tn_graph_constant(g, "zeros", TN_I64, &two, zeros, false), rows};
    tn_node *scan = tn_graph_node(g, NULL, &tn_op_scan, "scan", &attr, operands, 2, out, 2);
    assert_int_equal(tn_node_add_body(g, scan, body), TN_OK);
    tn_value *state = input_of(body, "state", 2), *slice = input_of(body, "slice", 2);
    tn_value *a = add(body, &tn_op_reshape, "a", tn_op_reshape.defaults, add(body, &tn_op_add, "sum", NULL, state, slice), tn_graph_constant(body, "wide", TN_I64, &two, wide, false));
    tn_value *b = add(body, &tn_op_reshape, "b", tn_op_reshape.defaults, a, tn_graph_constant(body, "tall", TN_I64, &two, tall, false));
    tn_value *c = add(body, &tn_op_reshape, "c", tn_op_reshape.defaults, add(body, &tn_op_neg, "n", NULL, b, NULL), tn_graph_constant(body, "flat", TN_I64, &one, flat, false));
    assert_int_equal(tn_graph_add_output(body, c), TN_OK);
    assert_int_equal(tn_graph_add_output(body, add(body, &tn_op_neg, "m", NULL, c, NULL)), TN_OK);
    assert_int_equal(tn_graph_add_output(g, out[0]), TN_OK);
    assert_int_equal(tn_graph_add_output(g, out[1]), TN_OK);
    assert_int_equal(tn_infer_graph(g, &f.heap, &f.diag), TN_OK);
    tn_program *program;
    assert_int_equal(tn_program_create(&program, g, &f.context, 3, &f.diag), TN_OK);
    int64_t want[2] = {0, 0};
    for (int n = 0; n < (int)TN_COUNT(where); n++) {
        tn_result_slot results[2] = {{0}};
        tn_arena objects;
        data[where[n]] = 1;
        tn_arena_init(&objects, &f.heap);
        tn_run run = {.context = &f.context, .diag = &f.diag, .objects = &objects};
        if (tn_program_run(program, &run, &x, results) != TN_OK) {
            fail_msg("%s: %s", f.diag.place, f.diag.message);
        }
        memset(want, 0, sizeof want);
        for (int k = 0; k <= n; k++) {
            want[0] = -(want[0] + where[k] / WIDE);
            want[1] = -(want[1] + where[k] % WIDE);
            assert_int_equal(((const int64_t *)results[1].tensor.data)[2 * k + 1], -want[1]);
        }
        assert_memory_equal(results[0].tensor.data, want, sizeof want);
        tn_arena_deinit(&objects);
    }
    assert_non_null(tn_program_plan(program)->rest);
    tn_program_destroy(program);
    tn_graph_destroy(g);
    close_fixture(&f);
    free(data);
}

// Units that shuffle channels: one half passes by, the other is worked on, both are joined and their channels take turns. All copies read what
// was computed: one copy a unit, for the half that is worked on, and the last one.
static void shuffled_halves(void **unused)
{
    enum { CHANNELS = 26, UNITS = 4 };
    const tn_concat_attr joined = {1};
    const tn_split_attr halves = {1, 2};
    const tn_softmax_attr softmax = {1};
    const tn_transpose_attr swap = {.perm = {.v = (const int64_t[]){0, 2, 1, 3, 4}, .count = 5, .set = true}};
    const int64_t pairs[] = {1, 2, CHANNELS / 2, 5, 7}, flat[] = {1, CHANNELS, 5, 7};
    const tn_shape five = tn_shape_of(1, (const int64_t[]){5}), four = tn_shape_of(1, (const int64_t[]){4});
    fixture f;
    float *data = noise(CHANNELS * 35, 9);
    const tn_tensor x = {.dtype = TN_F32, .shape = tn_shape_of(4, flat), .data = data};
    (void)unused;
    open_fixture(&f, NULL);
    tn_graph *g = joining(&f.heap, CHANNELS);
    g->inputs[0]->shape = x.shape;
    tn_value *value = add(g, &tn_op_tanh, NULL, NULL, g->inputs[0], NULL);
    for (int unit = 0; unit < UNITS; unit++) {
        tn_value *half[2] = {tn_graph_value(g, NULL), tn_graph_value(g, NULL)};
        assert_non_null(tn_graph_node(g, NULL, &tn_op_split, NULL, &halves, &value, 1, half, 2));
        value = add(g, &tn_op_concat, NULL, &joined, half[0], add(g, &tn_op_tanh, NULL, NULL, half[1], NULL));
        value = add(g, &tn_op_reshape, NULL, tn_op_reshape.defaults, value, tn_graph_constant(g, NULL, TN_I64, &five, pairs, false));
        value = add(g, &tn_op_transpose, NULL, &swap, value, NULL);
        value = add(g, &tn_op_reshape, NULL, tn_op_reshape.defaults, value, tn_graph_constant(g, NULL, TN_I64, &four, flat, false));
    }
    tn_graph_add_output(g, add(g, &tn_op_softmax, "y", &softmax, value, NULL));
    run_joins(&f, g, &x, UNITS);   // the first half that is worked on is a view
    tn_graph_destroy(g);
    close_fixture(&f);
    free(data);
}

// ---- pairs of convolutions ----

static tn_value *add_conv(tn_graph *g, const char *name, const tn_conv_attr *attr, tn_value *x, int64_t m, int64_t c, int64_t k, const float *data)
{
    const tn_shape shape = tn_shape_of(4, (const int64_t[]){m, c, k, k});
    return add(g, &tn_op_conv, name, attr, x, tn_graph_constant(g, NULL, TN_F32, &shape, data, false));
}

// A depthwise and a pointwise one are one step where what lies between them is much, and nobody else reads it. Of a chain those pairs are
// made that save most.
static void pairs_are_joined(void **unused)
{
    static const struct {
        int64_t n, c, h, m;
        bool read_twice;
        int joined;
    } nets[] = {{1, 16, 112, 96, false, 2}, {1, 16, 112, 96, true, 1}, {1, 24, 6, 16, false, 0}, {2, 13, 100, 57, false, 2}};
    const tn_softmax_attr softmax = {1};
    fixture f;
    (void)unused;
    open_fixture(&f, "avx2");
    f.context.cpu.l2 = 512 << 10;
    for (size_t i = 0; i < TN_COUNT(nets); i++) {
        const int64_t n = nets[i].n, c = nets[i].c, h = nets[i].h, m = nets[i].m;
        float *data = noise((size_t)(n * c * h * h), 21), *w1 = noise((size_t)(TN_MAX(c, m) * 9), 22), *w2 = noise((size_t)(TN_MAX(c, m) * TN_MAX(c, m)), 23);
        const tn_tensor x = {.dtype = TN_F32, .shape = tn_shape_of(4, (const int64_t[]){n, c, h, h}), .data = data};
        tn_program *program;
        tn_graph *g = joining(&f.heap, c);
        g->inputs[0]->shape.dims[0] = n;
        tn_conv_attr depthwise = *(const tn_conv_attr *)tn_op_conv.defaults;
        depthwise.act.code = TN_LOOP_RELU;
        tn_value *y = add_conv(g, "before", tn_op_conv.defaults, g->inputs[0], c, c, 1, w2);   // from plain to blocks
        y = add_conv(g, "a", tn_op_conv.defaults, y, c, c, 1, w2);
        depthwise.group = c;
        y = add_conv(g, "b", &depthwise, y, c, 1, 3, w1);
        tn_value *between = y = add_conv(g, "c", tn_op_conv.defaults, y, m, c, 1, w2);
        depthwise.group = m;
        y = add_conv(g, "d", &depthwise, y, m, 1, 3, w1);
        tn_graph_add_output(g, add(g, &tn_op_softmax, "y", &softmax, y, NULL));
        if (nets[i].read_twice) {
            tn_graph_add_output(g, add(g, &tn_op_softmax, "z", &softmax, between, NULL));
        }
        for (int as_written = 0; as_written < 2; as_written++) {
            f.context.as_written = as_written;
            assert_int_equal(tn_program_create(&program, g, &f.context, 3, &f.diag), TN_OK);
            run_and_compare(&f, program, g, &x);
            int joined = 0;
            for (size_t k = 0; k < tn_program_plan(program)->n_steps; k++) {
                joined += tn_program_plan(program)->steps[k].call.op == &tn_op_conv_pair;
            }
            assert_int_equal(joined, as_written || !(f.context.cpu.features & TN_CPU_AVX2) ? 0 : nets[i].joined);
            tn_program_destroy(program);
        }
        tn_graph_destroy(g);
        free(data);
        free(w1);
        free(w2);
    }
    close_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(any_shapes_portable), cmocka_unit_test(any_shapes_best),
                                       cmocka_unit_test(cached_run_takes_nothing), cmocka_unit_test(parts_are_made_in_the_join),
                                       cmocka_unit_test(random_joins), cmocka_unit_test(constant_data), cmocka_unit_test(shuffled_halves), cmocka_unit_test(pairs_are_joined),
                                       cmocka_unit_test(bodies_of_later_stages)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
