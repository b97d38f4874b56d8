// SPDX-License-Identifier: Apache-2.0
// .tenon files: what is saved opens again as the same graph with the same results, packs nothing for its target, and refuses to open
// when anything in it was changed. Files are made in a temporary folder.
#include "support/read.h"

#include <tenon/build.h>

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/test_tenon.XXXXXX";

static const char *path_of(const char *name)
{
    static char paths[4][256];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static void write_all(const char *path, const void *data, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size, file), size);
    fclose(file);
}

// Fails with the library's own words.
#define OK(call)                                                                                    \
    do {                                                                                            \
        tenon_error *error = NULL;                                                                  \
        if ((call) != TENON_OK) {                                                                   \
            fail_msg("%s: %s", tenon_error_place(error), tenon_error_message(error));               \
        }                                                                                           \
    } while (0)

static tenon_model *open_file(const char *path, const tenon_model_options *options)
{
    tenon_model *model = NULL;
    OK(tenon_model_open(&model, path, options, &error));
    return model;
}

static void refused(const char *path, const tenon_model_options *options, tenon_status status, const char *words)
{
    tenon_model *model = NULL;
    tenon_error *error = NULL;
    assert_int_not_equal(tenon_model_open(&model, path, options, &error), TENON_OK);
    if (tenon_error_status(error) != status || !strstr(tenon_error_message(error), words)) {
        fail_msg("%s: %s", tenon_error_place(error), tenon_error_message(error));
    }
    tenon_error_destroy(error);
}

static char *report(tenon_model *model, tenon_report_kind kind)
{
    static char *json;
    json = NULL;
    OK(tenon_model_report(model, kind, &json, &error));
    return json;
}

// A session whose inputs are set: kinds.bin for kinds.onnx, else counted numbers in the declared shape with 3 for open dims.
static tenon_session *feed(tenon_model *model)
{
    tenon_session *session = NULL;
    tenon_session_options options;
    tenon_session_options_init(&options);
    options.threads = 1;
    OK(tenon_session_create(&session, model, &options, &error));
    for (size_t i = 0; i < tenon_model_input_count(model); i++) {
        tenon_value_info info = {.struct_size = sizeof info};
        static float numbers[1 << 16];
        assert_int_equal(tenon_model_input(model, i, &info), TENON_OK);
        size_t count = 1;
        for (int d = 0; d < info.rank; d++) {
            info.dims[d] = info.dims[d] < 0 ? 3 : info.dims[d];
            count *= (size_t)info.dims[d];
        }
        assert_int_equal(info.dtype, TENON_FLOAT32);
        assert_true(count <= sizeof numbers / sizeof numbers[0]);
        for (size_t k = 0; k < count; k++) {
            numbers[k] = (float)(k % 13) * 0.25f - 1;
        }
        OK(tenon_session_set_input(session, info.name, info.dtype, info.rank, info.dims, numbers, count * 4, &error));
    }
    return session;
}

static void same_results(tenon_session *a, tenon_session *b, const char *const *names, size_t count)
{
    OK(tenon_session_run(a, names, count, &error));
    OK(tenon_session_run(b, names, count, &error));
    assert_int_equal(tenon_session_output_count(a), tenon_session_output_count(b));
    for (size_t i = 0; i < tenon_session_output_count(a); i++) {
        tenon_tensor x, y;
        OK(tenon_session_output(a, i, &x, &error));
        OK(tenon_session_output(b, i, &y, &error));
        assert_int_equal(x.bytes, y.bytes);
        assert_memory_equal(x.data, y.data, x.bytes);
    }
}

static long statistic(tenon_model *model, tenon_session *session, const char *key)
{
    char *json = NULL, pattern[64];
    OK(tenon_report(session, TENON_REPORT_STATISTICS, &json, &error));
    snprintf(pattern, sizeof pattern, "\"%s\":", key);
    const char *at = strstr(json, pattern);
    assert_non_null(at);
    const long value = strtol(at + strlen(pattern), NULL, 10);
    tenon_report_destroy(json);
    return value;
}

static tenon_save_options plain_options(const char *targets)
{
    tenon_save_options options;
    tenon_save_options_init(&options);
    options.targets = targets;
    return options;
}

#define DIGITS "../examples/digits/digits.onnx"

static void save_digits(const char *path, const tenon_save_options *options)
{
    tenon_model *model = open_file(DIGITS, NULL);
    OK(tenon_model_save(model, path, options, &error));
    tenon_model_destroy(model);
}

// ---- what is stored ----

// Optimised and imported graphs of every importable test model read back as the same text.
static void test_graphs(void **state)
{
    static const char *const names[] = {"names", "tensors", "constants", "functions", "control", "opset6", "opset10", "resize13",
                                        "contrib", "many", "external", "quantised", "domains"};
    const tenon_save_options options = plain_options("none");
    size_t compared = 0;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char path[128];
        tenon_model *probe = NULL;
        snprintf(path, sizeof path, "data/onnx/%s.onnx", names[i]);
        if (tenon_model_open(&probe, path, NULL, NULL) != TENON_OK) {
            continue;            // made for the importer alone: its shapes contradict each other
        }
        tenon_model_destroy(probe);
        compared++;
        for (int raw = 0; raw < 2; raw++) {
            tenon_model_options mo;
            tenon_model *model = NULL;
            tenon_model_options_init(&mo);
            OK(tenon_model_open(&model, path, &mo, &error));
            OK(tenon_model_save(model, path_of("graph.tenon"), &options, &error));
            tenon_model_destroy(model);
            mo.no_optimise = raw;
            model = open_file(path, &mo);
            tenon_model *saved = open_file(path_of("graph.tenon"), &mo);
            char *a = report(model, TENON_REPORT_GRAPH), *b = report(saved, TENON_REPORT_GRAPH);
            if (strcmp(a, b) != 0) {
                fail_msg("%s: the graph is now another:\n%s\n%s", names[i], a, b);
            }
            tenon_report_destroy(a);
            tenon_report_destroy(b);
            tenon_model_destroy(model);
            tenon_model_destroy(saved);
        }
    }
    assert_true(compared >= 9);
}

// A model with a node of each kind of operator, on its recorded inputs.
static void feed_kinds(tenon_session *session)
{
    const bytes feeds = read_all("data/kinds.bin");
    OK(feed_recorded(session, &feeds, &error));
    free(feeds.data);
}

static void test_kinds(void **state)
{
    tenon_session_options so;
    tenon_session *a = NULL, *b = NULL;
    tenon_model *model = open_file("data/kinds.onnx", NULL);
    tenon_session_options_init(&so);
    so.threads = 1;
    OK(tenon_session_create(&a, model, &so, &error));
    feed_kinds(a);
    tenon_save_options options = plain_options("host,portable");
    options.session = a;
    OK(tenon_model_save(model, path_of("kinds.tenon"), &options, &error));
    tenon_model *saved = open_file(path_of("kinds.tenon"), NULL);
    OK(tenon_session_create(&b, saved, &so, &error));
    feed_kinds(b);
    same_results(a, b, NULL, 0);
    // Saved again, it is the same file but for what the writer was.
    options.session = b;
    OK(tenon_model_save(saved, path_of("again.tenon"), &options, &error));
    const bytes first = read_all(path_of("kinds.tenon")), second = read_all(path_of("again.tenon"));
    assert_true(first.size == second.size);
    free(first.data);
    free(second.data);
    tenon_session_destroy(a);
    tenon_session_destroy(b);
    tenon_model_destroy(model);
    tenon_model_destroy(saved);
}

static void test_packs_nothing_for_its_target(void **state)
{
    tenon_save_options options = plain_options("host"), none = plain_options("none");
    tenon_model *model = open_file(DIGITS, NULL);
    tenon_session *a = feed(model);
    options.session = a;
    OK(tenon_model_save(model, path_of("packed.tenon"), &options, &error));
    OK(tenon_model_save(model, path_of("none.tenon"), &none, &error));
    tenon_model *packed = open_file(path_of("packed.tenon"), NULL), *bare = open_file(path_of("none.tenon"), NULL);
    tenon_session *b = feed(packed), *c = feed(bare);
    same_results(a, b, NULL, 0);
    same_results(a, c, NULL, 0);
    assert_int_equal(statistic(packed, b, "weights_packed"), 0);
    assert_int_equal(statistic(packed, b, "packed_weight_bytes"), 0);
    assert_true(statistic(bare, c, "weights_packed") > 0);
    char *json = report(packed, TENON_REPORT_MODEL);
    assert_non_null(strstr(json, "\"copied_bytes\":0"));        // constants lie aligned
    assert_non_null(strstr(json, "\"version\":\"1.0\""));
    tenon_report_destroy(json);
    // Two sessions of a model that must pack share what was packed.
    const long made = statistic(bare, c, "weights_packed");
    tenon_session *d = feed(bare);
    same_results(c, d, NULL, 0);
    assert_int_equal(statistic(bare, d, "weights_packed"), made);
    tenon_session *const sessions[] = {a, b, c, d};
    for (int i = 0; i < 4; i++) {
        tenon_session_destroy(sessions[i]);
    }
    tenon_model_destroy(model);
    tenon_model_destroy(packed);
    tenon_model_destroy(bare);
}

static void test_targets(void **state)
{
    tenon_model *model = open_file(DIGITS, NULL);
    tenon_error *error = NULL;
    const tenon_save_options unknown = plain_options("host,mmx"), empty = plain_options("host,"), all = plain_options("portable,host,portable");
    assert_int_equal(tenon_model_save(model, path_of("t.tenon"), &unknown, &error), TENON_INVALID_ARGUMENT);
    assert_int_equal(tenon_model_save(model, path_of("t.tenon"), &empty, &error), TENON_INVALID_ARGUMENT);
    tenon_error_destroy(error);
    OK(tenon_model_save(model, path_of("t.tenon"), &all, &error));
    tenon_model_destroy(model);
    tenon_model_options mo;
    tenon_model_options_init(&mo);
    mo.verify = 1;
    model = open_file(path_of("t.tenon"), &mo);
    char *json = report(model, TENON_REPORT_MODEL);
    assert_non_null(strstr(json, "\"targets\":[\"portable\""));
    tenon_report_destroy(json);
    mo.no_optimise = 1;
    tenon_model *raw = open_file(path_of("t.tenon"), &mo);
    error = NULL;
    assert_int_equal(tenon_model_save(raw, path_of("u.tenon"), NULL, &error), TENON_STATE);
    tenon_error_destroy(error);
    tenon_model_destroy(raw);
    tenon_model_destroy(model);
}

// Tensors that fusion swallowed are asked by name through the imported graph, or refused when it was left out.
static void test_swallowed_names(void **state)
{
    tenon_save_options options = plain_options("none");
    tenon_model *model = open_file("data/session/swallow.onnx", NULL);
    tenon_session *a = feed(model);
    tenon_model_options mo;
    tenon_model_options_init(&mo);
    mo.no_optimise = 1;
    OK(tenon_model_save(model, path_of("whole.tenon"), &options, &error));
    options.drop_imported = 1;
    OK(tenon_model_save(model, path_of("dropped.tenon"), &options, &error));
    tenon_model *whole = open_file(path_of("whole.tenon"), NULL), *dropped = open_file(path_of("dropped.tenon"), NULL);
    tenon_session *b = feed(whole), *c = feed(dropped);
    const char *names[2] = {"c1", "sum"};
    same_results(a, b, names, 2);
    same_results(a, c, NULL, 0);
    tenon_error *error = NULL;
    const char *absent[1] = {"no such tensor"};
    assert_int_equal(tenon_session_run(c, absent, 1, &error), TENON_NOT_FOUND);
    assert_non_null(strstr(tenon_error_message(error), "drop_imported"));
    tenon_error_destroy(error);
    refused(path_of("dropped.tenon"), &mo, TENON_INVALID_ARGUMENT, "drop_imported");
    tenon_session *const sessions[] = {a, b, c};
    for (int i = 0; i < 3; i++) {
        tenon_session_destroy(sessions[i]);
    }
    tenon_model_destroy(model);
    tenon_model_destroy(whole);
    tenon_model_destroy(dropped);
}

// Bytes at any address give the same results; at an aligned one their packed weights are used.
static void test_memory(void **state)
{
    tenon_save_options options = plain_options("host");
    tenon_model *model = open_file(DIGITS, NULL);
    tenon_session *a = feed(model);
    options.session = a;
    OK(tenon_model_save(model, path_of("memory.tenon"), &options, &error));
    const bytes file = read_all(path_of("memory.tenon"));
    unsigned char *room = aligned_alloc(64, (file.size + 255) / 64 * 64);
    static const size_t shifts[] = {0, 64, 1, 4, 8, 32};
    for (size_t i = 0; i < sizeof shifts / sizeof shifts[0]; i++) {
        tenon_model *moved = NULL;
        memcpy(room + shifts[i], file.data, file.size);
        OK(tenon_model_open_memory(&moved, room + shifts[i], file.size, NULL, &error));
        tenon_session *b = feed(moved);
        same_results(a, b, NULL, 0);
        assert_true((statistic(moved, b, "weights_packed") == 0) == (shifts[i] % 64 == 0));
        tenon_session_destroy(b);
        tenon_model_destroy(moved);
    }
    free(room);
    free(file.data);
    tenon_session_destroy(a);
    tenon_model_destroy(model);
}

// ---- the pair ----

static void test_split(void **state)
{
    tenon_save_options options = plain_options("host");
    options.split_weights = 1;
    save_digits(path_of("pair.tenon"), &options);
    tenon_model *model = open_file(DIGITS, NULL), *saved = open_file(path_of("pair.tenon"), NULL);
    tenon_session *a = feed(model), *b = feed(saved);
    same_results(a, b, NULL, 0);
    tenon_session_destroy(a);
    tenon_session_destroy(b);
    tenon_model_destroy(model);
    tenon_model_destroy(saved);
    const bytes graph = read_all(path_of("pair.tenon"));
    tenon_error *error = NULL;
    saved = NULL;
    assert_int_equal(tenon_model_open_memory(&saved, graph.data, graph.size, NULL, &error), TENON_INVALID_ARGUMENT);
    tenon_error_destroy(error);
    free(graph.data);
    // The weights may not be a link, and must all be there.
    char weights[256], moved[256];
    snprintf(weights, sizeof weights, "%s", path_of("pair.weights"));
    snprintf(moved, sizeof moved, "%s", path_of("moved"));
    assert_int_equal(rename(weights, moved), 0);
    refused(path_of("pair.tenon"), NULL, TENON_IO, "open");
    assert_int_equal(symlink(moved, weights), 0);
    refused(path_of("pair.tenon"), NULL, TENON_INVALID_MODEL, "symbolic link");
    assert_int_equal(unlink(weights), 0);
    assert_int_equal(rename(moved, weights), 0);
    assert_int_equal(truncate(weights, 4096), 0);
    refused(path_of("pair.tenon"), NULL, TENON_INVALID_MODEL, "cut short");
}

// ---- trust ----

static void test_pin(void **state)
{
    const tenon_save_options options = plain_options("host");
    tenon_model_options mo;
    char pin[65];
    save_digits(path_of("pin.tenon"), &options);
    tenon_model *model = open_file(path_of("pin.tenon"), NULL);
    char *json = report(model, TENON_REPORT_MODEL);
    const char *at = strstr(json, "\"graph_sha256\":\"");
    assert_non_null(at);
    snprintf(pin, sizeof pin, "%.64s", at + strlen("\"graph_sha256\":\""));
    tenon_report_destroy(json);
    tenon_model_destroy(model);
    tenon_model_options_init(&mo);
    mo.sha256 = pin;
    tenon_model_destroy(open_file(path_of("pin.tenon"), &mo));
    refused(DIGITS, &mo, TENON_INVALID_MODEL, "pinned");
    // A pin also covers the weights.
    bytes file = read_all(path_of("pin.tenon"));
    file.data[file.size - 1] ^= 1;
    write_all(path_of("pin.tenon"), file.data, file.size);
    refused(path_of("pin.tenon"), &mo, TENON_INVALID_MODEL, "SHA-256");
    file.data[100] ^= 1;
    write_all(path_of("pin.tenon"), file.data, file.size);
    refused(path_of("pin.tenon"), &mo, TENON_INVALID_MODEL, "pinned");
    free(file.data);
    mo.sha256 = "12";
    refused(DIGITS, &mo, TENON_INVALID_ARGUMENT, "hexadecimal");
}

// Hashes are compared when that is asked for.
static void test_verify(void **state)
{
    const tenon_save_options options = plain_options("host");
    tenon_model_options mo;
    save_digits(path_of("v.tenon"), &options);
    bytes file = read_all(path_of("v.tenon"));
    file.data[file.size - 40] ^= 0x10;
    write_all(path_of("v.tenon"), file.data, file.size);
    free(file.data);
    tenon_model_options_init(&mo);
    tenon_model_destroy(open_file(path_of("v.tenon"), &mo));
    mo.verify = 1;
    refused(path_of("v.tenon"), &mo, TENON_INVALID_MODEL, "SHA-256");
}

// Any cut and any changed byte of the graph give an error with words, or a model; nothing crashes and nothing is left.
static void test_damage(void **state)
{
    const tenon_save_options options = plain_options("host");
    save_digits(path_of("d.tenon"), &options);
    const bytes file = read_all(path_of("d.tenon"));
    unsigned char *copy = malloc(file.size);
    size_t opened = 0, tried = 0;
    for (size_t i = 0; i < 2 * file.size; i += i < 16384 ? 41 : 4999) {
        tenon_model *model = NULL;
        tenon_error *error = NULL;
        memcpy(copy, file.data, file.size);
        const size_t size = i < file.size ? file.size : i - file.size;
        if (i < file.size) {
            copy[i] ^= (unsigned char)(1u << (i % 8));
        }
        tried++;
        if (tenon_model_open_memory(&model, copy, size, NULL, &error) == TENON_OK) {
            opened++;
            tenon_session *session = NULL;
            if (tenon_session_create(&session, model, NULL, NULL) == TENON_OK) {
                tenon_session_destroy(session);
            }
        } else {
            assert_true(tenon_error_message(error)[0] != 0 && tenon_error_status(error) != TENON_INTERNAL);
        }
        tenon_error_destroy(error);
        tenon_model_destroy(model);
    }
    assert_true(opened < tried);
    memcpy(copy, file.data, file.size);
    copy[7] = '9';
    write_all(path_of("d9.tenon"), copy, file.size);
    refused(path_of("d9.tenon"), NULL, TENON_UNSUPPORTED, "version 9");
    free(copy);
    free(file.data);
}

// Files that were written when the format was made still open: a change that breaks this needs a new version (docs/format.md).
static void test_recorded_files(void **state)
{
    static const char *const names[] = {"control", "deciders", "packed"};
    tenon_model_options mo;
    tenon_model_options_init(&mo);
    mo.verify = 1;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char path[128];
        tenon_session *session = NULL;
        snprintf(path, sizeof path, "fuzz/corpus/tenon/%s.tenon", names[i]);
        tenon_model *model = open_file(path, &mo);
        OK(tenon_session_create(&session, model, NULL, &error));
        tenon_session_destroy(session);
        tenon_model_destroy(model);
    }
}

// ---- encryption ----

static int give_key(void *context, const char *name, uint8_t *key)
{
    const char *secret = context;
    assert_string_equal(name, "release");
    memset(key, secret[0], 32);
    return secret[0] == '-';
}

static void test_encryption(void **state)
{
    tenon_save_options options = plain_options("host");
    tenon_model_options mo;
    tenon_error *error = NULL;
    options.key = give_key;
    options.key_context = "a";
    options.key_name = "release";
    options.chunk_bytes = 4096;
    tenon_model *model = open_file(DIGITS, NULL);
    tenon_session *a = feed(model);
    options.session = a;
    const tenon_status status = tenon_model_save(model, path_of("e.tenon"), &options, &error);
    if (status == TENON_UNSUPPORTED) {      // no libcrypto here
        tenon_error_destroy(error);
        tenon_session_destroy(a);
        tenon_model_destroy(model);
        skip();
    }
    assert_int_equal(status, TENON_OK);
    refused(path_of("e.tenon"), NULL, TENON_INVALID_ARGUMENT, "encrypted");
    tenon_model_options_init(&mo);
    mo.key = give_key;
    mo.key_context = "a";
    mo.verify = 1;
    tenon_model *saved = open_file(path_of("e.tenon"), &mo);
    tenon_session *b = feed(saved);
    same_results(a, b, NULL, 0);
    assert_int_equal(statistic(saved, b, "weights_packed"), 0);
    tenon_session_destroy(a);
    tenon_session_destroy(b);
    tenon_model_destroy(model);
    tenon_model_destroy(saved);
    mo.key_context = "b";
    refused(path_of("e.tenon"), &mo, TENON_INVALID_MODEL, "key is wrong");
    mo.key_context = "-";
    refused(path_of("e.tenon"), &mo, TENON_INVALID_ARGUMENT, "no key 'release'");
    bytes file = read_all(path_of("e.tenon"));
    file.data[file.size - 10] ^= 4;
    write_all(path_of("e.tenon"), file.data, file.size);
    mo.key_context = "a";
    mo.verify = 0;
    refused(path_of("e.tenon"), &mo, TENON_INVALID_MODEL, "does not open");
    free(file.data);
    options.key_context = "-";
    options.session = NULL;
    model = open_file(DIGITS, NULL);
    error = NULL;
    assert_int_equal(tenon_model_save(model, path_of("f.tenon"), &options, &error), TENON_INVALID_ARGUMENT);
    tenon_error_destroy(error);
    tenon_model_destroy(model);
}

// Without its key a file can be looked at, and nothing else.
static void test_description(void **state)
{
    tenon_save_options options = plain_options("none");
    tenon_model_options mo;
    tenon_error *error = NULL;
    tenon_session *session = NULL;
    options.key = give_key;
    options.key_context = "a";
    options.key_name = "release";
    tenon_model *model = open_file(DIGITS, NULL);
    const tenon_status status = tenon_model_save(model, path_of("closed.tenon"), &options, &error);
    if (status == TENON_UNSUPPORTED) {      // no libcrypto here
        tenon_error_destroy(error);
        tenon_model_destroy(model);
        skip();
    }
    assert_int_equal(status, TENON_OK);
    tenon_model_options_init(&mo);
    mo.describe = 1;
    tenon_model *closed = open_file(path_of("closed.tenon"), &mo);
    tenon_value_info a = {.struct_size = sizeof a}, b = {.struct_size = sizeof b};
    assert_int_equal(tenon_model_input_count(closed), tenon_model_input_count(model));
    OK(tenon_model_input(model, 0, &a));
    OK(tenon_model_input(closed, 0, &b));
    assert_string_equal(a.name, b.name);
    assert_memory_equal(a.dims, b.dims, sizeof a.dims);
    char *json = report(closed, TENON_REPORT_MODEL);
    assert_non_null(strstr(json, "\"encrypted\":true"));
    assert_non_null(strstr(json, "\"macs\":null"));
    tenon_report_destroy(json);
    json = NULL;
    assert_int_equal(tenon_model_report(closed, TENON_REPORT_GRAPH, &json, &error), TENON_STATE);
    assert_int_equal(tenon_session_create(&session, closed, NULL, &error), TENON_STATE);
    assert_non_null(strstr(tenon_error_message(error), "looked at"));
    assert_int_equal(tenon_model_save(closed, path_of("again.tenon"), NULL, &error), TENON_STATE);
    assert_null(session);
    tenon_model_destroy(closed);
    // With the key, and of a file that is not encrypted, everything is told; a session there is not.
    mo.key = give_key;
    mo.key_context = "a";
    closed = open_file(path_of("closed.tenon"), &mo);
    json = report(closed, TENON_REPORT_GRAPH);
    assert_non_null(strstr(json, "conv"));
    tenon_report_destroy(json);
    assert_int_equal(tenon_session_create(&session, closed, NULL, &error), TENON_STATE);
    tenon_error_destroy(error);
    tenon_model_destroy(closed);
    tenon_model_destroy(model);
}

// ---- writing ----

// What a model is read from is not written over, by whatever name.
static void test_own_files(void **state)
{
    tenon_save_options options = plain_options("none");
    tenon_error *error = NULL;
    options.split_weights = 1;
    save_digits(path_of("own.tenon"), &options);
    tenon_model *model = open_file(path_of("own.tenon"), NULL);
    const bytes before = read_all(path_of("own.weights"));
    assert_int_equal(symlink("own.weights", path_of("other.weights")), 0);
    for (int split = 0; split < 2; split++) {
        options.split_weights = split;
        assert_int_equal(tenon_model_save(model, path_of("own.tenon"), &options, &error), TENON_INVALID_ARGUMENT);
    }
    assert_int_equal(tenon_model_save(model, path_of("other.tenon"), &options, &error), TENON_INVALID_ARGUMENT);
    assert_non_null(strstr(tenon_error_message(error), "another name"));
    options.split_weights = 0;
    assert_int_equal(tenon_model_save(model, path_of("other.weights"), &options, &error), TENON_INVALID_ARGUMENT);
    tenon_error_destroy(error);
    error = NULL;
    OK(tenon_model_save(model, path_of("other.tenon"), &options, &error));
    const bytes after = read_all(path_of("own.weights"));
    assert_int_equal(before.size, after.size);
    assert_memory_equal(before.data, after.data, before.size);
    free(before.data);
    free(after.data);
    tenon_model_destroy(model);
}

static size_t files_in_folder(void)
{
    size_t count = 0;
    DIR *open = opendir(folder);
    assert_non_null(open);
    for (const struct dirent *entry = readdir(open); entry; entry = readdir(open)) {
        count += entry->d_name[0] != '.';
    }
    closedir(open);
    return count;
}

// A write that fails leaves the old file and nothing else.
static void test_failed_write(void **state)
{
    tenon_save_options options = plain_options("none");
    tenon_model *model = open_file(DIGITS, NULL);
    tenon_error *error = NULL;
    assert_int_equal(tenon_model_save(model, "/no/such/folder/x.tenon", &options, &error), TENON_IO);
    write_all(path_of("old.tenon"), "old", 3);
    const size_t before = files_in_folder();
    struct rlimit limit, small;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    small = limit;
    small.rlim_cur = 20000;
    signal(SIGXFSZ, SIG_IGN);
    for (int split = 0; split < 2; split++) {
        options.split_weights = split;
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
        const tenon_status status = tenon_model_save(model, path_of("old.tenon"), &options, &error);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
        assert_int_equal(status, TENON_IO);
        assert_int_equal(files_in_folder(), before);
    }
    const bytes old = read_all(path_of("old.tenon"));
    assert_int_equal(old.size, 3);
    free(old.data);
    options.chunk_bytes = 100;
    assert_int_equal(tenon_model_save(model, path_of("x.tenon"), &options, &error), TENON_INVALID_ARGUMENT);
    assert_int_equal(tenon_model_save(NULL, path_of("x.tenon"), NULL, &error), TENON_INVALID_ARGUMENT);
    tenon_error_destroy(error);
    tenon_model_destroy(model);
}

static int make_folder(void **state) { return mkdtemp(folder) ? 0 : -1; }

static int remove_folder(void **state)
{
    DIR *open = opendir(folder);
    char path[512];
    for (const struct dirent *entry = open ? readdir(open) : NULL; entry; entry = readdir(open)) {
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        unlink(path);
    }
    closedir(open);
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_graphs),         cmocka_unit_test(test_kinds),   cmocka_unit_test(test_packs_nothing_for_its_target),
        cmocka_unit_test(test_targets),        cmocka_unit_test(test_split),   cmocka_unit_test(test_swallowed_names),
        cmocka_unit_test(test_pin),            cmocka_unit_test(test_verify),  cmocka_unit_test(test_damage),
        cmocka_unit_test(test_encryption),     cmocka_unit_test(test_failed_write), cmocka_unit_test(test_recorded_files),
        cmocka_unit_test(test_memory),         cmocka_unit_test(test_description), cmocka_unit_test(test_own_files),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
