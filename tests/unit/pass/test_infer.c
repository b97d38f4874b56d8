// SPDX-License-Identifier: Apache-2.0
// Inference over facts: concrete inputs on a symbolic graph, shape arithmetic, contents given for inputs, facts known before,
// contradictions, and the results of If, Loop and Scan.
#include "support/unit.h"

#include "ops/control/op_control.h"
#include "ops/math/op_binary.h"
#include "ops/math/op_unary.h"
#include "ops/move/op_join.h"
#include "pass/infer.h"
#include "pass/pass.h"
#include "support/graph_text.h"

#include <string.h>

typedef struct fixture {
    tn_heap heap;
    tn_diag diag;
    tn_arena arena;
    tn_graph *graph;
    tn_fact *facts;
} fixture;

static void start(fixture *f, tn_graph *graph)
{
    f->graph = graph;
    f->facts = tn_arena_array(&f->arena, 256, sizeof *f->facts);
    assert_non_null(f->facts);
    assert_true(graph->n_values <= 256);
}

static void start_text(fixture *f, const char *text)
{
    memset(f, 0, sizeof *f);
    tn_heap_init(&f->heap, NULL, NULL, NULL);
    tn_arena_init(&f->arena, &f->heap);
    tn_graph *graph = tn_graph_parse(text, &f->heap, &f->diag);
    if (!graph) {
        fail_msg("%s: %s", f->diag.place, f->diag.message);
    }
    start(f, graph);
}

static void end(fixture *f)
{
    tn_graph_destroy(f->graph);
    tn_arena_deinit(&f->arena);
    assert_int_equal(f->heap.live_blocks, 0);
}

static tn_status infer(fixture *f, const tn_fact *inputs, const tn_fact *const *known)
{
    return tn_infer_facts(f->graph, inputs, known, f->facts, &f->arena, &f->heap, &f->diag);
}

static tn_fact of_type(tn_dtype dtype, int rank, const int64_t *dims)
{
    return (tn_fact){.kind = TN_KIND_TENSOR, .dtype = dtype, .shape = tn_shape_of(rank, dims)};
}

static const tn_fact *fact(const fixture *f, const char *name)
{
    for (size_t i = 0; i < f->graph->n_values; i++) {
        if (strcmp(f->graph->values[i]->name, name) == 0) {
            return &f->facts[i];
        }
    }
    fail_msg("no value %s", name);
    return NULL;
}

static void check_shape(const fixture *f, const char *name, const char *want)
{
    char text[192];
    assert_string_equal(tn_shape_print(&fact(f, name)->shape, text, sizeof text), want);
}

static const char flatten[] = "graph \"g\" (%x: float32[b,s,4]) -> (%y)\n"
                              "  %n = shape(%x)\n"
                              "  %h = gather(%n, %zero: const int64[1](0)) {axis=0}\n"
                              "  %t = concat(%h, %rest: const int64[1](-1)) {axis=0}\n"
                              "  %y = reshape(%x, %t)\n";

static void test_concrete_inputs(void **state)
{
    fixture f;
    start_text(&f, flatten);
    assert_int_equal(infer(&f, NULL, NULL), TN_OK);
    check_shape(&f, "y", "[s0,?]");
    const tn_fact x = of_type(TN_F32, 3, (const int64_t[]){2, 5, 4});
    assert_int_equal(infer(&f, &x, NULL), TN_OK);
    check_shape(&f, "y", "[2,20]");
    const tn_tensor *target = fact(&f, "t")->value;
    assert_non_null(target);
    assert_int_equal(tn_dtype_load_i64(TN_I64, target->data, 0), 2);
    assert_int_equal(tn_dtype_load_i64(TN_I64, target->data, 1), -1);
    end(&f);
}

static void test_contradictions(void **state)
{
    fixture f;
    start_text(&f, flatten);
    tn_fact x = of_type(TN_F32, 3, (const int64_t[]){2, 5, 3});
    assert_int_equal(infer(&f, &x, NULL), TN_INVALID_ARGUMENT);
    assert_string_equal(f.diag.place, "x");
    tn_diag_clear(&f.diag);
    x = of_type(TN_I32, 3, (const int64_t[]){2, 5, 4});
    assert_int_equal(infer(&f, &x, NULL), TN_INVALID_ARGUMENT);
    tn_diag_clear(&f.diag);
    x = of_type(TN_F32, 2, (const int64_t[]){2, 4});
    assert_int_equal(infer(&f, &x, NULL), TN_INVALID_ARGUMENT);
    end(&f);
}

static void test_contents_of_inputs_reach_shapes(void **state)
{
    fixture f;
    start_text(&f, "graph \"g\" (%x: float32[6], %t: int64[2]) -> (%y)\n  %y = reshape(%x, %t)\n");
    assert_int_equal(infer(&f, NULL, NULL), TN_OK);
    check_shape(&f, "y", "[?,?]");
    int64_t dims[2] = {2, 3};
    const tn_tensor contents = {.dtype = TN_I64, .shape = tn_shape_of(1, (const int64_t[]){2}), .data = dims};
    tn_fact inputs[2] = {of_type(TN_F32, 1, (const int64_t[]){6}), of_type(TN_I64, 1, (const int64_t[]){2})};
    inputs[1].value = &contents;
    assert_int_equal(infer(&f, inputs, NULL), TN_OK);
    check_shape(&f, "y", "[2,3]");
    end(&f);
}

static void test_known_before(void **state)
{
    fixture f;
    start_text(&f, "graph \"g\" (%x: float32[6]) -> (%y)\n  %i = non_zero(%x)\n  %y = neg(%i)\n");
    assert_int_equal(infer(&f, NULL, NULL), TN_OK);
    check_shape(&f, "y", "[1,?]");
    const tn_fact *known[256] = {NULL};
    const tn_fact found = of_type(TN_I64, 2, (const int64_t[]){1, 4});
    known[f.graph->first->out[0]->id] = &found;
    assert_int_equal(infer(&f, NULL, known), TN_OK);
    check_shape(&f, "y", "[1,4]");
    end(&f);
}

static void test_fresh_symbols_go_again(void **state)
{
    fixture f;
    start_text(&f, "graph \"g\" (%x: float32[?,4]) -> (%y)\n  %y = exp(%x)\n");
    const tn_value *x = f.graph->inputs[0], *y = f.graph->outputs[0];
    assert_int_equal(tn_infer_graph_fresh(f.graph, &f.heap, &f.diag), TN_OK);
    assert_true(y->shape.dims[0] != TN_DIM_UNKNOWN && y->shape.dims[0] == x->shape.dims[0]);
    assert_int_equal(tn_infer_graph(f.graph, &f.heap, &f.diag), TN_OK);
    assert_true(y->shape.dims[0] == TN_DIM_UNKNOWN && x->shape.dims[0] == TN_DIM_UNKNOWN);
    end(&f);
}

static void test_declared_types_are_checked(void **state)
{
    fixture f;
    start_text(&f, "graph \"g\" (%x: float32[2]) -> (%y)\n  %y = exp(%x)\n");
    f.graph->outputs[0]->dtype = TN_I32;
    assert_int_equal(tn_infer_graph(f.graph, &f.heap, &f.diag), TN_INVALID_MODEL);
    assert_string_equal(f.diag.place, "y");
    end(&f);
}

// ---- bodies ----

static tn_value *input(tn_graph *graph, const char *name, tn_dtype dtype)
{
    tn_value *value = tn_graph_value(graph, name);
    assert_non_null(value);
    value->dtype = dtype;
    assert_int_equal(tn_graph_add_input(graph, value), TN_OK);
    return value;
}

static tn_value *apply(tn_graph *graph, const tn_op *op, const void *attr, tn_value *a, tn_value *b)
{
    tn_value *const in[2] = {a, b};
    tn_value *out = tn_graph_value(graph, NULL);
    assert_non_null(tn_graph_node(graph, NULL, op, NULL, attr, in, b ? 2 : 1, &out, 1));
    return out;
}

static void output(tn_graph *graph, tn_value *value) { assert_int_equal(tn_graph_add_output(graph, value), TN_OK); }

// Inputs of the outer graph: x float32, and what the control operator needs besides. The body is filled by the caller.
static tn_node *control(fixture *f, const tn_op *op, const void *attr, tn_value *const *in, int n_in, int n_out)
{
    tn_value *out[4] = {0};
    for (int i = 0; i < n_out; i++) {
        out[i] = tn_graph_value(f->graph, i == 0 ? "y" : "z");
    }
    tn_node *node = tn_graph_node(f->graph, NULL, op, "control", attr, in, n_in, out, n_out);
    assert_non_null(node);
    for (int i = 0; i < n_out; i++) {
        output(f->graph, out[i]);
    }
    return node;
}

static void start_empty(fixture *f)
{
    memset(f, 0, sizeof *f);
    tn_heap_init(&f->heap, NULL, NULL, NULL);
    tn_arena_init(&f->arena, &f->heap);
    start(f, tn_graph_create(&f->heap, "g"));
}

static tn_graph *add_body(fixture *f, tn_node *node)
{
    tn_graph *body = tn_graph_create(&f->heap, "body");
    assert_int_equal(tn_node_add_body(f->graph, node, body), TN_OK);
    return body;
}

static void test_if_joins_branches(void **state)
{
    fixture f;
    start_empty(&f);
    tn_value *const in[2] = {input(f.graph, "go", TN_BOOL), input(f.graph, "x", TN_F32)};
    tn_node *node = control(&f, &tn_op_if, NULL, in, 2, 1);
    tn_graph *then = add_body(&f, node), *otherwise = add_body(&f, node);
    tn_value *a = input(then, "a", TN_F32), *b = input(otherwise, "b", TN_F32);
    const tn_concat_attr second = {1};
    output(then, apply(then, &tn_op_exp, NULL, a, NULL));
    output(otherwise, apply(otherwise, &tn_op_concat, &second, b, b));
    const tn_shape scalar = {0, {0}};
    tn_fact inputs[2] = {{.dtype = TN_BOOL, .shape = scalar}, of_type(TN_F32, 2, (const int64_t[]){2, 3})};
    assert_int_equal(infer(&f, inputs, NULL), TN_OK);
    check_shape(&f, "y", "[2,?]");
    bool no = false;
    const tn_tensor contents = {.dtype = TN_BOOL, .shape = scalar, .data = &no};
    inputs[0].value = &contents;
    assert_int_equal(infer(&f, inputs, NULL), TN_OK);
    check_shape(&f, "y", "[2,6]");
    // A vector has no second dim: that branch says nothing, the other one has the results' type.
    inputs[0].value = NULL;
    inputs[1] = of_type(TN_F32, 1, (const int64_t[]){3});
    assert_int_equal(infer(&f, inputs, NULL), TN_OK);
    assert_int_equal(fact(&f, "y")->dtype, TN_F32);
    check_shape(&f, "y", "[*]");
    end(&f);
}

static void test_loop_widens_states(void **state)
{
    fixture f;
    start_empty(&f);
    tn_value *const in[3] = {input(f.graph, "trips", TN_I64), NULL, input(f.graph, "x", TN_F32)};
    const tn_loop_attr attr = {1};
    const tn_concat_attr first = {0};
    tn_node *node = control(&f, &tn_op_loop, &attr, in, 3, 2);
    tn_graph *body = add_body(&f, node);
    input(body, "i", TN_I64);
    tn_value *go = input(body, "go", TN_BOOL), *s = input(body, "s", TN_F32);
    tn_value *longer = apply(body, &tn_op_concat, &first, s, s);
    output(body, go);
    output(body, longer);
    output(body, apply(body, &tn_op_exp, NULL, s, NULL));
    const tn_fact inputs[2] = {of_type(TN_I64, 0, NULL), of_type(TN_F32, 2, (const int64_t[]){2, 3})};
    assert_int_equal(infer(&f, inputs, NULL), TN_OK);
    check_shape(&f, "y", "[?,3]");
    check_shape(&f, "z", "[?,?,3]");
    assert_int_equal(tn_infer_graph(f.graph, &f.heap, &f.diag), TN_OK);
    assert_int_equal(longer->dtype, TN_F32);
    end(&f);
}

static void test_scan_slices_and_stacks(void **state)
{
    fixture f;
    start_empty(&f);
    tn_value *const in[2] = {input(f.graph, "s", TN_F32), input(f.graph, "x", TN_F32)};
    const int64_t axis[1] = {1};
    tn_scan_attr attr = {.n_state = 1, .n_scan = 1, .in_axes = {axis, 1, true}};
    tn_node *node = control(&f, &tn_op_scan, &attr, in, 2, 2);
    tn_graph *body = add_body(&f, node);
    tn_value *s = input(body, "s", TN_F32), *slice = input(body, "slice", TN_F32);
    tn_value *sum = apply(body, &tn_op_add, NULL, s, slice);
    output(body, sum);
    output(body, apply(body, &tn_op_neg, NULL, sum, NULL));
    tn_fact inputs[2] = {of_type(TN_F32, 1, (const int64_t[]){2}), of_type(TN_F32, 2, (const int64_t[]){2, 7})};
    assert_int_equal(infer(&f, inputs, NULL), TN_OK);
    check_shape(&f, "y", "[2]");
    check_shape(&f, "z", "[7,2]");
    // An axis that the operand does not have.
    inputs[1] = of_type(TN_F32, 1, (const int64_t[]){2});
    assert_int_equal(infer(&f, inputs, NULL), TN_INVALID_MODEL);
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_concrete_inputs),
        cmocka_unit_test(test_contradictions),
        cmocka_unit_test(test_contents_of_inputs_reach_shapes),
        cmocka_unit_test(test_known_before),
        cmocka_unit_test(test_fresh_symbols_go_again),
        cmocka_unit_test(test_declared_types_are_checked),
        cmocka_unit_test(test_if_joins_branches),
        cmocka_unit_test(test_loop_widens_states),
        cmocka_unit_test(test_scan_slices_and_stacks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
