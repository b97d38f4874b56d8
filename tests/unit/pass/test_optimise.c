// SPDX-License-Identifier: Apache-2.0
// The whole pipeline: real models give the same results before and after, run node by node with the reference kernels (skipped
// where the models are not there); every failing allocation is survived; nested bodies are typed in bounded time.
#include "support/unit.h"

#include "import/import.h"
#include "ops/control/op_control.h"
#include "ops/math/op_unary.h"
#include "pass/infer.h"
#include "pass/pass.h"
#include "support/case.h"
#include "support/compare.h"
#include "support/graph_text.h"
#include "support/interpret.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MODELS "../../shared/models/"

// ---- real models ----

typedef struct model {
    const char *name;
    int64_t dynamic[4];      // what the dims that are not known become, in order
} model;

static const model models[] = {
    {"mnist_cnn", {1}}, {"dtln_1", {1}}, {"dtln_2", {1}}, {"mtcnn_pnet", {1, 24, 28}}, {"ppocr_cls", {1, 48, 64}},
};

static tn_tensor make_input(const tn_value *value, const int64_t **dynamic, tn_rand *r, tn_arena *arena)
{
    tn_tensor t = {.dtype = value->dtype, .shape = value->shape};
    size_t bytes;
    for (int d = 0; d < t.shape.rank; d++) {
        if (!tn_dim_known(t.shape.dims[d])) {
            t.shape.dims[d] = *(*dynamic)++;
        }
    }
    assert_true(tn_tensor_bytes(&t, &bytes));
    t.data = tn_arena_take(arena, bytes);
    assert_non_null(t.data);
    for (int64_t i = 0; i < tn_tensor_count(&t); i++) {
        tn_dtype_store(t.dtype, t.data, (size_t)i, tn_rand_normal(r));
    }
    return t;
}

static void check_results(const model *m, const tn_graph *before, const tn_graph *after, tn_heap *heap)
{
    tn_arena arena;
    tn_diag diag = {TN_OK, "", ""};
    tn_rand r = {11};
    tn_tensor inputs[4], want[4], got[4];
    const int64_t *dynamic = m->dynamic;
    tn_arena_init(&arena, heap);
    assert_true(before->n_inputs <= 4 && before->n_outputs <= 4);
    for (size_t i = 0; i < before->n_inputs; i++) {
        inputs[i] = make_input(before->inputs[i], &dynamic, &r, &arena);
    }
    if (tn_interpret(before, inputs, want, &arena, heap, &diag) != TN_OK ||
        tn_interpret(after, inputs, got, &arena, heap, &diag) != TN_OK) {
        fail_msg("%s: %s: %s", m->name, diag.place, diag.message);
    }
    for (size_t i = 0; i < before->n_outputs; i++) {
        tn_difference d;
        assert_string_equal(before->outputs[i]->name, after->outputs[i]->name);
        assert_true(tn_shape_equal(&want[i].shape, &got[i].shape));
        if (!tn_compare(&got[i], &want[i], 2e-5, 1e-6, false, &d)) {
            fail_msg("%s: %s: %lld elements differ, the worst is %g, not %g", m->name, before->outputs[i]->name, (long long)d.count,
                     d.got, d.want);
        }
    }
    tn_arena_deinit(&arena);
}

static void check_model(const model *m)
{
    char path[256];
    tn_heap heap;
    tn_file file;
    tn_import import;
    tn_diag diag = {TN_OK, "", ""};
    tn_heap_init(&heap, NULL, NULL, NULL);
    snprintf(path, sizeof path, MODELS "%s/model.onnx", m->name);
    if (tn_file_open(&file, path, NULL) != TN_OK) {
        print_message("%s is not there\n", m->name);
        return;
    }
    const tn_import_options options = {.limit_tensor_bytes = UINT64_C(1) << 32, .limit_nodes = 1000000};
    if (tn_import_model(&import, file.data, file.size, &options, &heap, &diag) != TN_OK) {
        fail_msg("%s: %s: %s", m->name, diag.place, diag.message);
    }
    tn_graph *graph = tn_graph_clone(import.graph, &heap, NULL);
    assert_non_null(graph);
    tn_pass_context context = {.heap = &heap, .diag = &diag, .limit_tensor_bytes = UINT64_C(1) << 32};
    if (tn_optimise(graph, &context, NULL) != TN_OK || tn_graph_verify(graph, &diag) != TN_OK) {
        fail_msg("%s: %s: %s", m->name, diag.place, diag.message);
    }
    assert_true(graph->n_nodes < import.graph->n_nodes || strcmp(m->name, "mtcnn_pnet") == 0);
    check_results(m, import.graph, graph, &heap);
    tn_graph_destroy(graph);
    tn_import_deinit(&import);
    tn_file_close(&file);
    assert_int_equal(heap.live_blocks, 0);
}

static void test_models_keep_their_results(void **state)
{
    for (size_t i = 0; i < TN_COUNT(models); i++) {
        check_model(&models[i]);
    }
}

// ---- failing allocations ----

static const char rich[] =
    "graph \"g\" (%x: float32[n,3,8,8], %q: float32[b,s,8]) -> (%y, %z)\n"
    "  %c = conv(%x, %w: const float32[4,3,3,3]) {pads=[1,1,1,1]}\n"
    "  %bn = batch_norm(%c, %s: const float32[4](1,2,3,4), %t: const float32[4](0,0,0,1), %m: const float32[4](0,0,1,0), "
    "%v: const float32[4](1,1,1,2))\n"
    "  %a3 = add(%bn, %three: const float32[](3))\n"
    "  %cl = clip(%a3, %zero: const float32[](0), %six: const float32[](6))\n"
    "  %hm = mul(%bn, %cl)\n"
    "  %h = div(%hm, %six)\n"
    "  %d = conv(%h, %u: const float32[4,4,1,1])\n"
    "  %e = add(%d, %h)\n"
    "  %f = exp(%e)\n"
    "  %y = neg(%f)\n"
    "  %k0 = matmul(%q, %wk: const float32[8,8])\n"
    "  %k1 = add(%bk: const float32[8], %k0)\n"
    "  %n2 = shape(%q) {end=2}\n"
    "  %hd = concat(%n2, %tail: const int64[2](2,4)) {axis=0}\n"
    "  %k2 = reshape(%k1, %hd)\n"
    "  %k3 = transpose(%k2) {perm=[0,2,3,1]}\n"
    "  %q3 = transpose(%k2) {perm=[0,2,1,3]}\n"
    "  %p = matmul(%q3, %k3)\n"
    "  %mean = reduce_mean(%p, %ax: const int64[1](-1))\n"
    "  %ce = sub(%p, %mean)\n"
    "  %z = mul(%ce, %half: const float32[](0.5))\n";

static bool optimise_rich(tn_heap *heap, void *context)
{
    tn_diag diag = {TN_OK, "", ""};
    tn_graph *graph = tn_graph_parse(rich, heap, &diag);
    tn_pass_context passes = {.heap = heap, .diag = &diag, .limit_tensor_bytes = UINT64_C(1) << 30};
    tn_status status = graph ? tn_optimise(graph, &passes, NULL) : TN_OUT_OF_MEMORY;
    if (status == TN_OK) {
        status = tn_graph_verify(graph, &diag);
    } else if (graph) {
        assert_int_not_equal(tn_graph_verify(graph, NULL), TN_INTERNAL);
    }
    tn_graph_destroy(graph);
    if (status != TN_OK && status != TN_OUT_OF_MEMORY) {
        fail_msg("%s: %s", diag.place, diag.message);
    }
    return status == TN_OK;
}

static void test_survives_failing_allocations(void **state) { assert_true(tn_fail_every_request(optimise_rich, NULL) > 10); }

// ---- control ----

// loop(trips, -, x) around a body that is such a loop again, `depth` deep; the innermost negates.
static tn_graph *nested_loops(int depth, tn_heap *heap)
{
    tn_graph *graph = tn_graph_create(heap, "body");
    const tn_shape scalar = {0, {0}};
    tn_value *in[3], *out[2], *result;
    const char *const names[3] = {"i", "go", "x"};
    const tn_dtype types[3] = {TN_I64, TN_BOOL, TN_F32};
    for (int k = 0; k < 3; k++) {
        in[k] = tn_graph_value(graph, names[k]);
        in[k]->dtype = types[k];
        in[k]->shape = k < 2 ? scalar : tn_shape_unknown();
        assert_int_equal(tn_graph_add_input(graph, in[k]), TN_OK);
    }
    result = tn_graph_value(graph, "y");
    if (depth == 0) {
        assert_non_null(tn_graph_node(graph, NULL, &tn_op_neg, "neg", NULL, &in[2], 1, &result, 1));
    } else {
        const tn_loop_attr attr = {.n_carried = 1};
        tn_value *const operands[3] = {in[0], in[1], in[2]};
        tn_node *loop = tn_graph_node(graph, NULL, &tn_op_loop, "loop", &attr, operands, 3, &result, 1);
        assert_int_equal(tn_node_add_body(graph, loop, nested_loops(depth - 1, heap)), TN_OK);
    }
    out[0] = in[1];
    out[1] = result;
    for (int k = 0; k < 2; k++) {
        assert_int_equal(tn_graph_add_output(graph, out[k]), TN_OK);
    }
    return graph;
}

static void test_nested_loops(void **state)
{
    tn_heap heap;
    tn_diag diag = {TN_OK, "", ""};
    tn_heap_init(&heap, NULL, NULL, NULL);
    tn_graph *graph = nested_loops(40, &heap);
    graph->inputs[2]->shape = tn_shape_of(2, (const int64_t[]){2, 3});
    assert_int_equal(tn_infer_graph(graph, &heap, &diag), TN_OK);
    assert_int_equal(graph->outputs[1]->dtype, TN_F32);
    tn_graph_destroy(graph);
    graph = nested_loops(100, &heap);
    assert_int_equal(tn_infer_graph(graph, &heap, &diag), TN_LIMIT);
    tn_graph_destroy(graph);
    assert_int_equal(heap.live_blocks, 0);
}

// if(constant) with two branches that take x: the branch taken moves into the graph.
static void test_constant_condition(void **state)
{
    tn_heap heap;
    tn_diag diag = {TN_OK, "", ""};
    const tn_shape scalar = {0, {0}}, vector = {1, {4}};
    const bool yes = true;
    tn_heap_init(&heap, NULL, NULL, NULL);
    tn_graph *graph = tn_graph_create(&heap, "g");
    tn_value *x = tn_graph_value(graph, "x"), *y = tn_graph_value(graph, "y");
    x->dtype = TN_F32;
    x->shape = vector;
    assert_int_equal(tn_graph_add_input(graph, x), TN_OK);
    tn_value *const in[2] = {tn_graph_constant(graph, "go", TN_BOOL, &scalar, &yes, true), x};
    tn_node *node = tn_graph_node(graph, NULL, &tn_op_if, "if", NULL, in, 2, &y, 1);
    for (int b = 0; b < 2; b++) {
        tn_graph *body = tn_graph_create(&heap, "branch");
        tn_value *a = tn_graph_value(body, "a"), *r = tn_graph_value(body, "r");
        a->dtype = TN_F32;
        assert_int_equal(tn_graph_add_input(body, a), TN_OK);
        assert_non_null(tn_graph_node(body, NULL, b == 0 ? &tn_op_exp : &tn_op_neg, "work", NULL, &a, 1, &r, 1));
        assert_int_equal(tn_graph_add_output(body, r), TN_OK);
        assert_int_equal(tn_node_add_body(graph, node, body), TN_OK);
    }
    assert_int_equal(tn_graph_add_output(graph, y), TN_OK);
    tn_pass_context context = {.heap = &heap, .diag = &diag, .limit_tensor_bytes = UINT64_C(1) << 30};
    assert_int_equal(tn_optimise(graph, &context, NULL), TN_OK);
    assert_int_equal(tn_graph_verify(graph, &diag), TN_OK);
    assert_int_equal(graph->n_nodes, 1);
    assert_ptr_equal(graph->first->op, &tn_op_exp);
    assert_string_equal(graph->outputs[0]->name, "y");
    assert_true(tn_shape_equal(&graph->outputs[0]->shape, &vector));
    tn_graph_destroy(graph);
    assert_int_equal(heap.live_blocks, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_models_keep_their_results), cmocka_unit_test(test_survives_failing_allocations),
        cmocka_unit_test(test_nested_loops), cmocka_unit_test(test_constant_condition),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
