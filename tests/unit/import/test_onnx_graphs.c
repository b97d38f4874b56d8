// SPDX-License-Identifier: Apache-2.0
// The models of data/onnx (made by data/make_onnx.py) as graphs, against data/onnx_graphs: names, constants, operators, attributes,
// bodies. What inference fills in is left out of the comparison: it is not the importer's. TENON_UPDATE=1 writes the files anew.
#include "support/unit.h"

#include "base/text.h"
#include "import/import.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static tn_diag diag;

static tn_status import(tn_import *out, tn_file *file, const char *name, const char *folder, tn_heap *heap)
{
    char path[256];
    const tn_import_options options = {.folder = folder, .limit_tensor_bytes = 1 << 20, .limit_nodes = 1000};
    snprintf(path, sizeof path, "data/onnx/%s.onnx", name);
    tn_diag_clear(&diag);
    assert_int_equal(tn_file_open(file, path, &diag), TN_OK);
    return tn_import_model(out, file->data, file->size, &options, heap, &diag);
}

// "%a = add(%x, %y) : float32[2] "name"" becomes "%a = add(%x, %y) "name"".
static void drop_types(tn_text *out, const char *text)
{
    while (*text) {
        const size_t length = strcspn(text, "\n");
        const char *at = NULL, *end = text + length;
        for (const char *p = text; p + 3 < end; ++p) {
            at = memcmp(p, ") : ", 4) == 0 || memcmp(p, "} : ", 4) == 0 ? p + 1 : at;
        }
        const char *name = at ? memchr(at, '"', (size_t)(end - at)) : NULL;
        tn_text_bytes(out, text, (size_t)((name ? at : end) - text));
        if (name) {
            tn_text_add(out, " %.*s", (int)(end - name), name);
        }
        tn_text_bytes(out, "\n", 1);
        text = end + (*end != 0);
    }
}

static void check_golden(const char *name, const tn_text *text)
{
    char path[256];
    tn_file file;
    snprintf(path, sizeof path, "data/onnx_graphs/%s.txt", name);
    if (getenv("TENON_UPDATE")) {
        assert_int_equal(tn_file_write(path, text->data, text->length, &diag), TN_OK);
        return;
    }
    assert_int_equal(tn_file_open(&file, path, &diag), TN_OK);
    if (file.size != text->length || memcmp(file.data, text->data, file.size) != 0) {
        fprintf(stderr, "%s differs; the graph is now:\n%s", path, text->data);
        fail();
    }
    tn_file_close(&file);
}

static void test_graphs(void **state)
{
    static const char *const names[] = {"names",    "tensors", "constants", "functions", "control",   "opset6", "opset10",
                                        "resize13", "contrib", "many",      "external",  "quantised", "domains"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i) {
        tn_heap heap;
        tn_import model;
        tn_file file;
        tn_text typed, text;
        tn_heap_init(&heap, NULL, NULL, NULL);
        if (import(&model, &file, names[i], "data/onnx", &heap) != TN_OK) {
            fail_msg("%s: %s: %s", names[i], diag.place, diag.message);
        }
        tn_text_init(&typed, &heap);
        tn_text_init(&text, &heap);
        tn_graph_print(model.graph, &typed);
        drop_types(&text, typed.data);
        check_golden(names[i], &text);
        tn_text_deinit(&typed);
        tn_text_deinit(&text);
        tn_import_deinit(&model);
        tn_file_close(&file);
        assert_int_equal(heap.live_blocks, 0);
    }
}

static void test_head(void **state)
{
    tn_heap heap;
    tn_import model;
    tn_file file;
    tn_heap_init(&heap, NULL, NULL, NULL);
    assert_int_equal(import(&model, &file, "names", NULL, &heap), TN_OK);
    assert_string_equal(model.producer, "tests 2");
    assert_string_equal(model.format, "onnx");
    assert_int_equal(model.opset, 8);
    assert_true(model.parameter_count == 3);
    assert_int_equal(model.n_metadata, 2);
    assert_string_equal(model.metadata[0], "author");
    assert_string_equal(model.metadata[1], "nobody");
    assert_string_equal(model.metadata[3], "");
    assert_int_equal(model.graph->n_inputs, 1); // the other one has an initialiser
    assert_string_equal(model.graph->symbols[1], "size");
    assert_int_equal(model.graph->n_outputs, 3);
    assert_ptr_equal(model.graph->outputs[2], model.graph->inputs[0]);
    // Weights stay in the file.
    const tn_value *w = model.graph->first->in[1];
    assert_true((const uint8_t *)w->constant->data > file.data && (const uint8_t *)w->constant->data < file.data + file.size);
    assert_true(w->weight != 0);
    tn_import_deinit(&model);
    tn_file_close(&file);
}

// Operand `index` of node `name` of a graph or of a body in it.
static const tn_value *find_operand(const tn_graph *graph, const char *name, int index)
{
    const tn_value *found = NULL;
    for (const tn_node *node = graph->first; node && !found; node = node->next) {
        found = strcmp(node->name, name) == 0 ? node->in[index] : NULL;
        for (int b = 0; b < node->n_bodies && !found; ++b) {
            found = find_operand(node->bodies[b], name, index);
        }
    }
    return found;
}

// A constant that a body takes from outside is the same weight there.
static void test_captured_weight(void **state)
{
    tn_heap heap;
    tn_import model;
    tn_file file;
    tn_heap_init(&heap, NULL, NULL, NULL);
    assert_int_equal(import(&model, &file, "control", NULL, &heap), TN_OK);
    const tn_value *a = find_operand(model.graph, "Mul_0", 1), *b = find_operand(model.graph, "Mul_2", 1);
    assert_true(a && b && a != b && a->weight == b->weight && a->weight != 0);
    assert_ptr_equal(a->constant->data, b->constant->data);
    tn_import_deinit(&model);
    tn_file_close(&file);
}

static void test_report(void **state)
{
    tn_heap heap;
    tn_import model;
    tn_file file;
    tn_heap_init(&heap, NULL, NULL, NULL);
    assert_int_equal(import(&model, &file, "unsupported", NULL, &heap), TN_UNSUPPORTED);
    assert_string_equal(diag.message, "3 things in this model are not supported:\n"
                                      "node 'deep': far.Beyond (opset 2): no such operator\n"
                                      "node 'odd': ai.onnx.Relu (opset 21): attribute 'slope' is not known\n"
                                      "node 'call:within': ai.onnx.Nothing (opset 21): no such operator");
    assert_null(model.graph);
    assert_int_equal(heap.live_blocks, 0);
    tn_file_close(&file);
}

static void test_external(void **state)
{
    tn_heap heap;
    tn_import model;
    tn_file file;
    tn_heap_init(&heap, NULL, NULL, NULL);
    assert_int_equal(import(&model, &file, "external", NULL, &heap), TN_INVALID_ARGUMENT);
    tn_file_close(&file);
    assert_int_equal(import(&model, &file, "external", "data", &heap), TN_IO);
    tn_file_close(&file);
    assert_int_equal(import(&model, &file, "external", "data/onnx", &heap), TN_OK);
    assert_int_equal(model.n_files, 1);
    assert_true(model.external_bytes == 10);
    tn_import_deinit(&model);
    tn_file_close(&file);
    assert_int_equal(heap.live_blocks, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_graphs), cmocka_unit_test(test_head),     cmocka_unit_test(test_captured_weight),
        cmocka_unit_test(test_report), cmocka_unit_test(test_external),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
