// SPDX-License-Identifier: Apache-2.0
// Models that are wrong, that lie about their sizes, or that stand for endless work; the good ones cut and changed at every byte;
// every allocation failing. Each must give its status, a message, and all memory back.
#include "support/unit.h"

#include "import/import.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- writing messages ----

typedef struct message {
    uint8_t data[1 << 15];
    size_t size;
} message;

static void put_varint(message *m, uint64_t v)
{
    for (; v > 127; v >>= 7) {
        m->data[m->size++] = (uint8_t)(v | 128);
    }
    m->data[m->size++] = (uint8_t)v;
}

static void put_int(message *m, unsigned field, uint64_t v)
{
    put_varint(m, field << 3);
    put_varint(m, v);
}

static void put_bytes(message *m, unsigned field, const void *data, size_t size)
{
    put_varint(m, field << 3 | 2);
    put_varint(m, size);
    assert_true(m->size + size < sizeof m->data);
    memcpy(m->data + m->size, data, size);
    m->size += size;
}

static void put_text(message *m, unsigned field, const char *text)
{
    put_bytes(m, field, text, strlen(text));
}

static void put_message(message *m, unsigned field, const message *inner)
{
    put_bytes(m, field, inner->data, inner->size);
}

// A ValueInfoProto: a float tensor of shape [2].
static void put_value(message *graph, unsigned field, const char *name)
{
    static const uint8_t type[] = {0x0a, 8, 0x08, 1, 0x12, 4, 0x0a, 2, 0x08, 2};
    message value = {.size = 0};
    put_text(&value, 1, name);
    put_bytes(&value, 2, type, sizeof type);
    put_message(graph, field, &value);
}

static void put_names(message *node, unsigned field, char *names)
{
    char *rest = NULL;
    for (char *name = strtok_r(names, ",", &rest); name; name = strtok_r(NULL, ",", &rest)) {
        put_text(node, field, strcmp(name, "-") == 0 ? "" : name);
    }
}

// "Op name a,b c": an operator, its node's name, its operands and results ("-": none of that name).
static void put_node(message *graph, unsigned field, const char *line, const message *attribute)
{
    char op[64], name[64], in[256], out[256];
    message node = {.size = 0};
    assert_int_equal(sscanf(line, "%63s %63s %255s %255s", op, name, in, out), 4);
    char *dot = strchr(op, '.'); // domain.Op
    if (dot) {
        *dot = '\0';
        put_text(&node, 7, op);
    }
    put_names(&node, 1, in);
    put_names(&node, 2, out);
    put_text(&node, 3, name);
    put_text(&node, 4, dot ? dot + 1 : op);
    if (attribute) {
        put_message(&node, 5, attribute);
    }
    put_message(graph, field, &node);
}

static void put_opset(message *m, unsigned field, const char *domain, uint64_t version)
{
    message opset = {.size = 0};
    put_text(&opset, 1, domain);
    put_int(&opset, 2, version);
    put_message(m, field, &opset);
}

// Lines "in x", "out y", "node Op name a,b c", separated by ';'.
static void put_graph(message *graph, const char *text)
{
    char copy[1024], *rest = NULL;
    snprintf(copy, sizeof copy, "%s", text);
    for (char *line = strtok_r(copy, ";", &rest); line; line = strtok_r(NULL, ";", &rest)) {
        if (strncmp(line, "in ", 3) == 0) {
            put_value(graph, 11, line + 3);
        } else if (strncmp(line, "out ", 4) == 0) {
            put_value(graph, 12, line + 4);
        } else {
            put_node(graph, 1, line + 5, NULL);
        }
    }
}

static void put_model(message *model, const message *graph, uint64_t opset)
{
    put_int(model, 1, 8);
    put_opset(model, 8, "", opset);
    put_message(model, 7, graph);
}

// ---- reading them ----

static tn_diag diag;
static size_t peak;

static uint64_t limit_nodes = 1000;

static tn_status read_bytes(const uint8_t *data, size_t size)
{
    const tn_import_options options = {.folder = "data/onnx", .limit_tensor_bytes = 1 << 24, .limit_nodes = limit_nodes};
    tn_heap heap;
    tn_import import;
    tn_heap_init(&heap, NULL, NULL, NULL);
    tn_diag_clear(&diag);
    const tn_status status = tn_import_model(&import, data, size, &options, &heap, &diag);
    peak = heap.peak_bytes;
    if (status == TN_OK) {
        tn_import_deinit(&import);
    } else {
        assert_int_equal(status, diag.status);
        assert_true(diag.message[0] != '\0');
        assert_int_not_equal(status, TN_INTERNAL);
    }
    assert_int_equal(heap.live_blocks, 0);
    return status;
}

static void expect(const message *m, tn_status status, const char *text)
{
    const tn_status got = read_bytes(m->data, m->size);
    if (got != status || (text && !strstr(diag.message, text) && !strstr(diag.place, text))) {
        fail_msg("status %d, expected %d with '%s'; '%s': %s", got, status, text ? text : "", diag.place, diag.message);
    }
}

static void expect_graph(const char *text, tn_status status, const char *message_part)
{
    static message graph, model;
    graph.size = model.size = 0;
    put_graph(&graph, text);
    put_model(&model, &graph, 21);
    expect(&model, status, message_part);
}

static void test_graph_rules(void **state)
{
    expect_graph("in x;node Relu a x y;out y", TN_OK, NULL);
    expect_graph("in x;node Relu b t y;node Neg a x t;out y", TN_INVALID_MODEL, "operand 't' is no input");
    expect_graph("in x;node Relu b x y;node Neg a x y;out y", TN_INVALID_MODEL, "'y' is defined twice");
    expect_graph("in x;node Neg a x x;out x", TN_INVALID_MODEL, "'x' is defined twice");
    expect_graph("in x;in x;out x", TN_INVALID_MODEL, "'x' is defined twice");
    expect_graph("in x;node Relu a x y;out z", TN_INVALID_MODEL, "output 'z'");
    expect_graph("in x;node Relu a x y", TN_INVALID_MODEL, "no outputs");
    expect_graph("in x;node Add a x y;out y", TN_INVALID_MODEL, "1 operands, expected 2");
    expect_graph("in x;node Add a -,x y;out y", TN_INVALID_MODEL, "operand 0 is missing");
    expect_graph("in x;node Relu a x,x y;out y", TN_INVALID_MODEL, "2 operands");
    expect_graph("in x;node Relu a x y,z;out y", TN_INVALID_MODEL, "2 results");
    expect_graph("in x;node MatMul a x,x,x y;out y", TN_INVALID_MODEL, "at most 2");
    expect_graph("in x;node Cast a x y;out y", TN_INVALID_MODEL, "'to' is missing");
    expect_graph("in x;node far.Relu a x y;out y", TN_UNSUPPORTED, "imports no opset");
    expect_graph("in x;node If a x y;out y", TN_INVALID_MODEL, "'then_branch' must be a graph");
    expect_graph("in x;node Loop a - y;out y", TN_INVALID_MODEL, "'body' must be a graph");
    expect_graph("in x;node Scan a x y;out y", TN_INVALID_MODEL, "num_scan_inputs");
}

static void test_versions(void **state)
{
    static message graph, model;
    put_graph(&graph, "in x;out x");
    put_model(&model, &graph, 29);
    expect(&model, TN_UNSUPPORTED, "opset 29");
    model.size = 0;
    put_model(&model, &graph, 0);
    expect(&model, TN_INVALID_MODEL, "opset 0");
    model.size = 0;
    put_int(&model, 1, 15);
    put_message(&model, 7, &graph);
    expect(&model, TN_UNSUPPORTED, "IR version 15");
    model.size = 0;
    put_int(&model, 1, 8);
    expect(&model, TN_INVALID_MODEL, "no graph");
    model.size = 0;
    put_message(&model, 7, &graph);
    expect(&model, TN_INVALID_MODEL, "no IR version");
    model.size = 0;
    put_text(&model, 9, "what");
    expect(&model, TN_INVALID_MODEL, "known format");
    assert_int_equal(read_bytes(NULL, 0), TN_INVALID_MODEL);
}

static void test_zero_byte(void **state)
{
    static message graph, model, node;
    put_value(&graph, 11, "x");
    put_text(&node, 1, "x");
    put_bytes(&node, 2, "y\0z", 3);
    put_text(&node, 4, "Relu");
    put_message(&graph, 1, &node);
    put_value(&graph, 12, "x");
    put_model(&model, &graph, 21);
    expect(&model, TN_INVALID_MODEL, "zero byte");
}

static void test_attributes(void **state)
{
    static const struct {
        uint64_t type;
        unsigned field;
        const char *name;
        tn_status status;
        const char *text;
    } cases[] = {
        {2, 3, "axis", TN_OK, NULL},
        {1, 3, "axis", TN_INVALID_MODEL, "must be an integer"},
        {0, 3, "axis", TN_OK, NULL}, // without a type, the field tells
        {2, 3, "axes", TN_UNSUPPORTED, "'axes' is not known"},
        {2, 3, "", TN_INVALID_MODEL, "no name"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        static message graph, model, attribute;
        graph.size = model.size = attribute.size = 0;
        put_text(&attribute, 1, cases[i].name);
        put_int(&attribute, cases[i].field, 0);
        put_int(&attribute, 20, cases[i].type);
        put_value(&graph, 11, "x");
        put_node(&graph, 1, "Softmax s x y", &attribute);
        put_value(&graph, 12, "y");
        put_model(&model, &graph, 21);
        expect(&model, cases[i].status, cases[i].text);
    }
}

// ---- tensors that lie ----

static void expect_tensor(const int64_t *dims, size_t rank, uint64_t dtype, const char *raw, tn_status status, const char *text)
{
    static message graph, model, tensor;
    graph.size = model.size = tensor.size = 0;
    for (size_t i = 0; i < rank; ++i) {
        put_int(&tensor, 1, (uint64_t)dims[i]);
    }
    put_int(&tensor, 2, dtype);
    put_text(&tensor, 8, "w");
    if (raw) {
        put_text(&tensor, 9, raw);
    }
    put_message(&graph, 5, &tensor);
    put_value(&graph, 12, "w");
    put_model(&model, &graph, 21);
    expect(&model, status, text);
    assert_true(peak < 1 << 20);
}

static void test_tensors(void **state)
{
    const int64_t many[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
    expect_tensor((const int64_t[]){1, 2}, 2, TN_F32, "12345678", TN_OK, NULL);
    expect_tensor((const int64_t[]){1, 3}, 2, TN_F32, "12345678", TN_INVALID_MODEL, "8 bytes, its shape and type need 12");
    expect_tensor((const int64_t[]){1000000}, 1, TN_F32, NULL, TN_INVALID_MODEL, "0 numbers");
    expect_tensor((const int64_t[]){1000000}, 1, TN_I64, NULL, TN_INVALID_MODEL, "0 numbers");
    expect_tensor((const int64_t[]){-1}, 1, TN_F32, NULL, TN_INVALID_MODEL, "negative");
    expect_tensor((const int64_t[]){1 << 30, 1 << 30, 1 << 30}, 3, TN_F32, "", TN_LIMIT, "limit_tensor_bytes");
    expect_tensor((const int64_t[]){INT64_MAX, 2}, 2, TN_I4, "", TN_LIMIT, "limit_tensor_bytes");
    expect_tensor((const int64_t[]){INT64_MAX, 0}, 2, TN_F32, "", TN_OK, NULL);
    expect_tensor((const int64_t[]){1 << 25}, 1, TN_U8, "1", TN_LIMIT, "limit_tensor_bytes");
    expect_tensor(many, 9, TN_U8, "1", TN_UNSUPPORTED, "more than 8 dims");
    expect_tensor(many, 1, 99, "1", TN_INVALID_MODEL, "data type 99");
    expect_tensor(many, 1, 0, "1", TN_INVALID_MODEL, "data type 0");
    expect_tensor(many, 1, TN_STRING, "1", TN_INVALID_MODEL, "string_data");
    expect_tensor((const int64_t[]){3}, 1, TN_U4, "1", TN_INVALID_MODEL, "1 bytes");
}

static void expect_external(const char *location, const char *offset, const char *length, tn_status status, const char *text)
{
    static message graph, model, tensor;
    const char *const pairs[3][2] = {{"location", location}, {"offset", offset}, {"length", length}};
    graph.size = model.size = tensor.size = 0;
    put_int(&tensor, 1, 2);
    put_int(&tensor, 2, TN_F32);
    put_text(&tensor, 8, "w");
    put_int(&tensor, 14, 1);
    for (int i = 0; i < 3; ++i) {
        message entry = {.size = 0};
        put_text(&entry, 1, pairs[i][0]);
        put_text(&entry, 2, pairs[i][1] ? pairs[i][1] : "");
        if (pairs[i][1]) {
            put_message(&tensor, 13, &entry);
        }
    }
    put_message(&graph, 5, &tensor);
    put_value(&graph, 12, "w");
    put_model(&model, &graph, 21);
    expect(&model, status, text);
}

static void test_external(void **state)
{
    expect_external("external.bin", "3", "8", TN_OK, NULL);
    expect_external("external.bin", "3", NULL, TN_OK, NULL);
    expect_external("external.bin", "4", NULL, TN_INVALID_MODEL, "past the end");
    expect_external("external.bin", "18446744073709551615", NULL, TN_INVALID_MODEL, "past the end");
    expect_external("external.bin", "99999999999999999999", NULL, TN_INVALID_MODEL, "not a number");
    expect_external("external.bin", "-1", NULL, TN_INVALID_MODEL, "not a number");
    expect_external("external.bin", "3", "7", TN_INVALID_MODEL, "7 bytes, its shape needs 8");
    expect_external(NULL, NULL, NULL, TN_INVALID_MODEL, "no location");
    expect_external("../make_onnx.py", NULL, NULL, TN_INVALID_MODEL, NULL);
    expect_external("/etc/passwd", NULL, NULL, TN_INVALID_MODEL, NULL);
    expect_external("nowhere.bin", NULL, NULL, TN_IO, NULL);
}

// ---- endless work ----

// `levels` Ifs inside each other; `line` is the innermost node. The graph around them has inputs c and x.
static void expect_nested(int levels, const char *line, tn_status status, const char *text)
{
    static message graph, model, attribute, node;
    graph.size = model.size = 0;
    put_node(&graph, 1, line, NULL);
    put_value(&graph, 12, "y");
    for (int level = 0; level < levels; ++level) {
        node.size = 0;
        put_text(&node, 1, "c");
        put_text(&node, 2, "y");
        put_text(&node, 4, "If");
        for (int branch = 0; branch < 2; ++branch) {
            message other = {.size = 0};
            put_node(&other, 1, "Identity a c y", NULL);
            put_value(&other, 12, "y");
            attribute.size = 0;
            put_text(&attribute, 1, branch ? "else_branch" : "then_branch");
            put_message(&attribute, 6, branch ? &other : &graph);
            put_int(&attribute, 20, 5);
            put_message(&node, 5, &attribute);
        }
        graph.size = 0;
        put_message(&graph, 1, &node);
        put_value(&graph, 12, "y");
    }
    put_value(&graph, 11, "c");
    for (char name[] = "x0"; name[1] <= '9'; ++name[1]) {
        put_value(&graph, 11, name);
    }
    put_model(&model, &graph, 21);
    expect(&model, status, text);
}

static void test_nesting(void **state)
{
    expect_nested(20, "Identity a c y", TN_OK, NULL);
    expect_nested(32, "Identity a c y", TN_OK, NULL);
    expect_nested(33, "Identity a c y", TN_LIMIT, "nested more than 32");
    // Each level takes each value from the one around it.
    expect_nested(20, "Sum a x0,x1,x2,x3,x4,x5,x6,x7,x8,x9 y", TN_OK, NULL);
    limit_nodes = 200;
    expect_nested(20, "Sum a x0,x1,x2,x3,x4,x5,x6,x7,x8,x9 y", TN_LIMIT, "from outside (limit_nodes)");
    limit_nodes = 1000;
}

// Functions F0 .. F29: each calls the one before it twice; `first` is what F0 does.
static void put_functions(message *model, const char *first, int count)
{
    static message function;
    for (int i = 0; i < count; ++i) {
        char line[64], name[16];
        function.size = 0;
        snprintf(name, sizeof name, "F%d", i);
        put_text(&function, 1, name);
        put_text(&function, 10, "own");
        put_text(&function, 4, "a");
        put_text(&function, 5, "b");
        put_opset(&function, 9, "", 21);
        put_opset(&function, 9, "own", 1);
        if (i == 0) {
            put_node(&function, 7, first, NULL);
        } else {
            snprintf(line, sizeof line, "own.F%d one a t", i - 1);
            put_node(&function, 7, line, NULL);
            snprintf(line, sizeof line, "own.F%d two t b", i - 1);
            put_node(&function, 7, line, NULL);
        }
        put_message(model, 25, &function);
    }
}

static void expect_functions(const char *first, int count, const char *call, tn_status status, const char *text)
{
    static message graph, model;
    graph.size = model.size = 0;
    put_value(&graph, 11, "x");
    put_node(&graph, 1, call, NULL);
    put_value(&graph, 12, "y");
    put_int(&model, 1, 8);
    put_opset(&model, 8, "own", 1);
    put_functions(&model, first, count);
    put_message(&model, 7, &graph);
    expect(&model, status, text);
}

static void test_functions(void **state)
{
    expect_functions("Relu r a b", 3, "own.F2 call x y", TN_OK, NULL);
    expect_functions("Relu r a b", 30, "own.F29 call x y", TN_LIMIT, "limit_nodes");
    expect_functions("Relu r a b", 40, "own.F39 call x y", TN_LIMIT, "nested more than 32");
    expect_functions("own.F0 r a b", 1, "own.F0 call x y", TN_INVALID_MODEL, "calls itself");
    expect_functions("own.F1 r a b", 2, "own.F1 call x y", TN_INVALID_MODEL, "calls itself");
    expect_functions("Relu r a c", 1, "own.F0 call x y", TN_INVALID_MODEL, "does not make its result");
    expect_functions("Relu r a b", 1, "own.F0 call x,x y", TN_INVALID_MODEL, "the function takes 1");
    expect_functions("Relu r a b", 1, "own.F0 call x y,z", TN_INVALID_MODEL, "the function has 1");
    expect_functions("Relu r x b", 1, "own.F0 call x y", TN_INVALID_MODEL, "operand 'x'"); // sees its operands only
}

// ---- every byte, every allocation ----

static const char *const files[] = {"names",   "tensors", "constants",   "functions", "control",   "opset10", "resize13",
                                    "contrib", "many",    "unsupported", "external",  "quantised", "domains"};

static void open_file(tn_file *file, size_t i)
{
    char path[64];
    snprintf(path, sizeof path, "data/onnx/%s.onnx", files[i]);
    assert_int_equal(tn_file_open(file, path, &diag), TN_OK);
}

static void test_every_byte(void **state)
{
    for (size_t i = 0; i < sizeof files / sizeof files[0]; ++i) {
        tn_file file;
        open_file(&file, i);
        for (size_t at = 0; at < file.size; ++at) {
            // Blocks of exactly the right size, so that a sanitizer sees the first byte too many.
            uint8_t *copy = malloc(at + 1);
            memcpy(copy, file.data, at);
            read_bytes(copy, at);
            free(copy);
            copy = malloc(file.size);
            for (int change = 0; change < 4; ++change) {
                static const uint8_t mask[] = {0x01, 0x80, 0x7f, 0x28};
                memcpy(copy, file.data, file.size);
                copy[at] ^= mask[change];
                read_bytes(copy, file.size);
                assert_true(peak < 4 << 20);
            }
            free(copy);
        }
        tn_file_close(&file);
    }
}

static bool import_once(tn_heap *heap, void *context)
{
    const tn_file *file = context;
    const tn_import_options options = {.folder = "data/onnx", .limit_tensor_bytes = 1 << 24, .limit_nodes = 1000};
    tn_import import;
    tn_diag_clear(&diag);
    const tn_status status = tn_import_model(&import, file->data, file->size, &options, heap, &diag);
    if (status == TN_OK) {
        tn_import_deinit(&import);
    } else if (status != TN_UNSUPPORTED) {
        assert_int_equal(status, TN_OUT_OF_MEMORY);
        assert_int_equal(diag.status, TN_OUT_OF_MEMORY);
        return false;
    }
    return true;
}

static void test_no_memory(void **state)
{
    for (size_t i = 0; i < sizeof files / sizeof files[0]; ++i) {
        tn_file file;
        open_file(&file, i);
        assert_true(tn_fail_every_request(import_once, &file) > 2);
        tn_file_close(&file);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_graph_rules), cmocka_unit_test(test_versions),  cmocka_unit_test(test_zero_byte),
        cmocka_unit_test(test_attributes),  cmocka_unit_test(test_tensors),   cmocka_unit_test(test_external),
        cmocka_unit_test(test_nesting),     cmocka_unit_test(test_functions), cmocka_unit_test(test_every_byte),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
