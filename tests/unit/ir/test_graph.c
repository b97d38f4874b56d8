// SPDX-License-Identifier: Apache-2.0
// Building, editing, cloning, verifying and printing graphs, with operators made up for the purpose.
#include "support/unit.h"
#include "base/text.h"
#include "ir/edit.h"

#include <string.h>

typedef struct mix_attr {
    int64_t axis;
    tn_ints pads;
    const char *mode;
} mix_attr;

static const tn_attr mix_attrs[] = {
    {"axis", TN_ATTR_INT, offsetof(mix_attr, axis), NULL},
    {"pads", TN_ATTR_INTS, offsetof(mix_attr, pads), NULL},
    {"mode", TN_ATTR_TEXT, offsetof(mix_attr, mode), NULL},
};
static const mix_attr mix_defaults = {.axis = 1};
static const tn_op op_mix = {.name = "mix", .min_in = 1, .max_in = 3, .min_out = 1, .max_out = 2, .attrs = mix_attrs, .n_attrs = 3,
                             .attr_size = sizeof(mix_attr), .defaults = &mix_defaults};
static const tn_op op_relay = {.name = "relay", .min_in = 1, .max_in = 1, .min_out = 1, .max_out = 1};
static const tn_op op_branch = {.name = "branch", .flags = TN_OP_CONTROL, .min_in = 1, .max_in = -1, .min_out = 1, .max_out = -1};

typedef struct sample {
    tn_graph *graph;
    tn_value *x, *w, *t, *y;
    tn_node *mix, *relay;
} sample;

// x, w -> mix -> t -> relay -> y
static bool build(sample *s, tn_heap *heap)
{
    static const float weights[6] = {1, 2, 3, 4, 5, 6};
    static const int64_t pads[2] = {1, -1};
    const int64_t dims[2] = {2, 3};
    const tn_shape shape = tn_shape_of(2, dims);
    const mix_attr attr = {.axis = 0, .pads = {pads, 2, true}, .mode = "edge"};
    memset(s, 0, sizeof *s);
    s->graph = tn_graph_create(heap, "sample");
    if (!s->graph || !(s->x = tn_graph_value(s->graph, "x")) || !(s->t = tn_graph_value(s->graph, NULL)) ||
        !(s->y = tn_graph_value(s->graph, "y")) ||
        !(s->w = tn_graph_constant(s->graph, "w", TN_F32, &shape, weights, true))) {
        return false;
    }
    s->x->dtype = TN_F32;
    s->x->shape = shape;
    s->x->shape.dims[0] = TN_DIM_SYMBOL + tn_graph_symbol(s->graph, "batch");
    if (tn_graph_symbol(s->graph, "batch") != 0 || tn_graph_add_input(s->graph, s->x) != TN_OK) {
        return false;
    }
    tn_value *in[3] = {s->x, NULL, s->w};
    s->mix = tn_graph_node(s->graph, NULL, &op_mix, "mixer", &attr, in, 3, &s->t, 1);
    s->relay = s->mix ? tn_graph_node(s->graph, NULL, &op_relay, NULL, NULL, &s->t, 1, &s->y, 1) : NULL;
    return s->relay && tn_graph_add_output(s->graph, s->y) == TN_OK;
}

static tn_heap heap;
static tn_diag diag;

static int setup(void **state)
{
    tn_heap_init(&heap, NULL, NULL, NULL);
    return 0;
}

static int no_leaks(void **state)
{
    return atomic_load(&heap.live_blocks) != 0;
}

static void verify(const tn_graph *graph)
{
    tn_diag_clear(&diag);
    if (tn_graph_verify(graph, &diag) != TN_OK) {
        fail_msg("%s: %s", diag.place, diag.message);
    }
}

static char *print(const tn_graph *graph, tn_text *text)
{
    tn_text_init(text, &heap);
    tn_graph_print(graph, text);
    assert_false(text->failed);
    return text->data;
}

static void test_build_and_print(void **state)
{
    sample s;
    tn_text text;
    assert_true(build(&s, &heap));
    verify(s.graph);
    assert_string_equal(print(s.graph, &text),
                        "graph \"sample\" (%x: float32[batch,3]) -> (%y)\n"
                        "  %1 = mix(%x, -, %w: const float32[2,3](1,2,3,4,5,6)) {axis=0, pads=[1,-1], mode=\"edge\"} : "
                        "none[*] \"mixer\"\n"
                        "  %y = relay(%1) : none[*] \"relay_1\"\n");
    tn_text_deinit(&text);
    assert_int_not_equal(s.w->weight, 0);
    tn_graph_destroy(s.graph);
    tn_graph_destroy(NULL);
}

static void test_defaults_are_taken(void **state)
{
    sample s;
    assert_true(build(&s, &heap));
    tn_value *z = tn_graph_value(s.graph, "z");
    tn_node *node = tn_graph_node(s.graph, s.relay, &op_mix, NULL, NULL, &s.x, 1, &z, 1);
    assert_int_equal(((const mix_attr *)node->attr)->axis, 1);
    assert_ptr_equal(s.mix->next, node);
    assert_ptr_equal(s.relay->prev, node);
    assert_string_equal(node->origins[0], node->name);
    verify(s.graph);
    tn_graph_destroy(s.graph);
}

static void test_replace_moves_uses_and_the_output_name(void **state)
{
    sample s;
    assert_true(build(&s, &heap));
    // y := t, so that relay can go: the output keeps its name.
    assert_int_equal(tn_graph_replace(s.graph, s.y, s.t), TN_OK);
    tn_graph_remove(s.graph, s.relay);
    verify(s.graph);
    assert_string_equal(s.graph->outputs[0]->name, "y");
    assert_ptr_equal(s.graph->outputs[0], s.t);
    assert_int_equal(s.graph->n_nodes, 1);
    // The input cannot become the output.
    assert_int_equal(tn_graph_replace(s.graph, s.t, s.x), TN_STATE);
    assert_string_equal(s.x->name, "x");
    verify(s.graph);
    tn_graph_destroy(s.graph);
}

static void test_replace_spares_the_new_producer(void **state)
{
    sample s;
    assert_true(build(&s, &heap));
    tn_value *u = tn_graph_value(s.graph, "u");
    tn_node *between = tn_graph_node(s.graph, s.relay, &op_relay, "between", NULL, &s.t, 1, &u, 1);
    assert_int_equal(tn_graph_replace(s.graph, s.t, u), TN_OK);
    assert_ptr_equal(between->in[0], s.t);
    assert_ptr_equal(s.relay->in[0], u);
    verify(s.graph);
    tn_graph_destroy(s.graph);
}

static void test_operands_change_and_grow(void **state)
{
    sample s;
    assert_true(build(&s, &heap));
    assert_int_equal(tn_node_set_in(s.graph, s.mix, 1, s.x), TN_OK);
    assert_int_equal(tn_node_set_in(s.graph, s.mix, 2, NULL), TN_OK);
    assert_int_equal(s.w->n_uses, 0);
    assert_int_equal(s.x->n_uses, 2);
    verify(s.graph);
    tn_value *z = tn_graph_value(s.graph, "z");
    tn_node *branch = tn_graph_node(s.graph, NULL, &op_branch, "b", NULL, &s.x, 1, &z, 1);
    for (int i = 0; i < 100; i++) {
        assert_int_equal(tn_node_add_in(s.graph, branch, i % 2 ? s.y : NULL), TN_OK);
    }
    assert_int_equal(branch->n_in, 101);
    assert_int_equal(s.y->n_uses, 50);
    verify(s.graph);
    tn_graph_remove(s.graph, branch);
    assert_int_equal(s.y->n_uses, 0);
    verify(s.graph);
    tn_graph_destroy(s.graph);
}

static void test_origins_are_joined_once(void **state)
{
    sample s;
    assert_true(build(&s, &heap));
    for (int i = 0; i < 3; i++) {
        assert_int_equal(tn_node_add_origins(s.graph, s.relay, s.mix), TN_OK);
    }
    assert_int_equal(s.relay->n_origins, 2);
    assert_string_equal(s.relay->origins[1], "mixer");
    tn_graph_destroy(s.graph);
}

// A node that stands in for another takes over its list; what either gets later the other does not see.
static void test_origins_are_shared(void **state)
{
    sample s;
    assert_true(build(&s, &heap));
    assert_int_equal(tn_node_add_origins(s.graph, s.mix, s.relay), TN_OK);
    tn_node *twin[2];
    for (int i = 0; i < 2; i++) {
        tn_value *out = tn_graph_value(s.graph, NULL);
        assert_non_null(out);
        twin[i] = tn_graph_node(s.graph, NULL, s.relay->op, s.mix->name, NULL, &s.y, 1, &out, 1);
        assert_non_null(twin[i]);
        assert_int_equal(tn_node_add_origins(s.graph, twin[i], s.mix), TN_OK);
    }
    tn_value *out = tn_graph_value(s.graph, NULL);
    tn_node *other = out ? tn_graph_node(s.graph, NULL, s.relay->op, "other", NULL, &s.y, 1, &out, 1) : NULL;
    out = tn_graph_value(s.graph, NULL);
    tn_node *another = out ? tn_graph_node(s.graph, NULL, s.relay->op, "another", NULL, &s.y, 1, &out, 1) : NULL;
    assert_non_null(other);
    assert_non_null(another);
    assert_int_equal(tn_node_add_origins(s.graph, twin[0], other), TN_OK);
    assert_int_equal(tn_node_add_origins(s.graph, twin[1], another), TN_OK);
    assert_int_equal(s.mix->n_origins, 2);
    assert_int_equal(twin[0]->n_origins, 3);
    assert_int_equal(twin[1]->n_origins, 3);
    assert_string_equal(twin[0]->origins[2], "other");
    assert_string_equal(twin[1]->origins[2], "another");
    assert_string_equal(twin[1]->origins[1], s.mix->origins[1]);
    tn_graph_destroy(s.graph);
}

static bool build_nested(sample *outer, tn_heap *from)
{
    sample inner;
    if (!build(outer, from)) {
        return false;
    }
    tn_value *z = tn_graph_value(outer->graph, "z");
    tn_node *branch = z ? tn_graph_node(outer->graph, NULL, &op_branch, "b", NULL, &outer->x, 1, &z, 1) : NULL;
    if (!branch) {
        return false;
    }
    if (!build(&inner, from) || tn_node_add_body(outer->graph, branch, inner.graph) != TN_OK) {
        tn_graph_destroy(inner.graph);
        return false;
    }
    return true;
}

static void test_clone_is_deep(void **state)
{
    sample s;
    tn_text a, b;
    assert_true(build_nested(&s, &heap));
    verify(s.graph);
    tn_value **map = tn_take_zero(&heap, s.graph->n_values, sizeof *map);
    tn_graph *copy = tn_graph_clone(s.graph, &heap, map);
    assert_non_null(copy);
    verify(copy);
    assert_ptr_not_equal(map[s.x->id], s.x);
    assert_string_equal(map[s.x->id]->name, "x");
    assert_ptr_equal(map[s.w->id]->constant->data, s.w->constant->data);
    assert_int_equal(map[s.w->id]->weight, s.w->weight);
    const mix_attr *attr = copy->first->attr, *old = s.mix->attr;
    assert_ptr_not_equal(attr->pads.v, old->pads.v);
    assert_ptr_not_equal(attr->mode, old->mode);
    assert_true(tn_attr_equal(&op_mix, attr, old));
    print(s.graph, &a);
    print(copy, &b);
    assert_string_equal(a.data, b.data);
    assert_non_null(strstr(b.data, "    graph \"sample\""));   // the body, indented
    tn_text_deinit(&a);
    tn_text_deinit(&b);
    assert_int_equal(tn_graph_symbol(copy, "batch"), 0);
    assert_int_equal(tn_graph_symbol(copy, "other"), 1);
    tn_graph_destroy(copy);
    tn_graph_destroy(s.graph);
    tn_give(&heap, map);
}

// ---- the verifier sees what edit.h cannot do but a bug could ----

static void expect_broken(const sample *s, const char *part)
{
    tn_diag_clear(&diag);
    assert_int_equal(tn_graph_verify(s->graph, &diag), TN_INTERNAL);
    if (!strstr(diag.message, part)) {
        fail_msg("'%s' is not in: %s", part, diag.message);
    }
}

static void test_verify_finds_broken_graphs(void **state)
{
    sample s;
    assert_true(build(&s, &heap));
    s.t->n_uses = 0;
    expect_broken(&s, "does not list this use");
    s.t->n_uses = 1;
    s.t->uses[0].index = 1;
    expect_broken(&s, "does not use it");
    s.t->uses[0].index = 0;
    s.y->producer = NULL;
    expect_broken(&s, "comes from nowhere");
    s.y->producer = s.relay;
    s.x->is_input = false;
    expect_broken(&s, "is not marked");
    s.x->is_input = true;
    s.w->shape.dims[0] = 5;
    expect_broken(&s, "differs from its value");
    s.w->shape.dims[0] = 2;
    s.mix->n_origins = 0;
    expect_broken(&s, "no origin");
    s.mix->n_origins = 1;
    s.graph->n_nodes = 3;
    expect_broken(&s, "counted");
    s.graph->n_nodes = 2;
    verify(s.graph);
    // The order: relay first.
    s.graph->first = s.relay;
    s.relay->prev = NULL;
    s.relay->next = s.mix;
    s.mix->prev = s.relay;
    s.mix->next = NULL;
    s.graph->last = s.mix;
    expect_broken(&s, "made later");
    tn_graph_destroy(s.graph);
}

// ---- failing memory ----

static bool build_and_edit(tn_heap *failing, void *context)
{
    sample s;
    bool ok = build_nested(&s, failing);
    tn_graph *copy = ok ? tn_graph_clone(s.graph, failing, NULL) : NULL;
    ok = ok && copy;
    tn_value *u = ok ? tn_graph_value(s.graph, "u") : NULL;
    ok = u && tn_graph_node(s.graph, s.relay, &op_relay, "between", NULL, &s.t, 1, &u, 1) &&
         tn_graph_replace(s.graph, s.t, u) == TN_OK;
    for (int i = 0; i < 40 && ok; i++) {
        ok = tn_node_add_in(s.graph, s.graph->last, s.y) == TN_OK && tn_node_add_origins(s.graph, s.graph->last, s.mix) == TN_OK;
    }
    // Whatever failed, the graph is still a graph; looking at it takes memory, which is there again.
    if (s.graph) {
        ((tn_fail_heap *)failing)->fail_at = 0;
        verify(s.graph);
    }
    tn_graph_destroy(copy);
    tn_graph_destroy(s.graph);
    return ok;
}

static void test_survives_every_failing_request(void **state)
{
    assert_true(tn_fail_every_request(build_and_edit, NULL) > 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_build_and_print, NULL, no_leaks),
        cmocka_unit_test_setup_teardown(test_defaults_are_taken, NULL, no_leaks),
        cmocka_unit_test_setup_teardown(test_replace_moves_uses_and_the_output_name, NULL, no_leaks),
        cmocka_unit_test_setup_teardown(test_replace_spares_the_new_producer, NULL, no_leaks),
        cmocka_unit_test_setup_teardown(test_operands_change_and_grow, NULL, no_leaks),
        cmocka_unit_test_setup_teardown(test_origins_are_joined_once, NULL, no_leaks),
        cmocka_unit_test_setup_teardown(test_origins_are_shared, NULL, no_leaks),
        cmocka_unit_test_setup_teardown(test_clone_is_deep, NULL, no_leaks),
        cmocka_unit_test_setup_teardown(test_verify_finds_broken_graphs, NULL, no_leaks),
        cmocka_unit_test_setup_teardown(test_survives_every_failing_request, NULL, no_leaks),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
