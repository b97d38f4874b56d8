// SPDX-License-Identifier: Apache-2.0
// What can be seen of a session from outside: records of runs, statistics, planning ahead, inputs with initialisers.
#include "support/unit.h"

#include <tenon/tenon.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static tenon_model *open_model(const char *path)
{
    tenon_model *model = NULL;
    assert_int_equal(tenon_model_open(&model, path, NULL, NULL), TENON_OK);
    return model;
}

static tenon_session *open_session(tenon_model *model, unsigned threads)
{
    tenon_session *session = NULL;
    tenon_session_options o;
    tenon_session_options_init(&o);
    o.threads = threads;
    assert_int_equal(tenon_session_create(&session, model, &o, NULL), TENON_OK);
    return session;
}

static void set_picture(tenon_session *s, int64_t n, int64_t side)
{
    float x[4 * 3 * 32 * 32];
    for (size_t i = 0; i < sizeof x / sizeof x[0]; i++) {
        x[i] = (float)((i * 2654435761u >> 8) % 2000) / 1000.0f - 1.0f;
    }
    assert_int_equal(tenon_session_set_input(s, "x", TENON_FLOAT32, 4, (const int64_t[]){n, 3, side, side}, x, (size_t)(n * 3 * side * side) * 4, NULL),
                     TENON_OK);
}

static void run(tenon_session *session)
{
    tenon_error *error = NULL;
    if (tenon_session_run(session, NULL, 0, &error) != TENON_OK) {
        fail_msg("%s: %s", tenon_error_place(error), tenon_error_message(error));
    }
}

// The number after "key": in a report; -1: not there.
static long long number_in(tenon_model *model, tenon_session *s, tenon_report_kind kind, const char *key)
{
    char *json = NULL, pattern[64];
    assert_int_equal(tenon_report(s, kind, &json, NULL), TENON_OK);
    snprintf(pattern, sizeof pattern, "\"%s\":", key);
    const char *at = strstr(json, pattern);
    const long long value = at ? strtoll(at + strlen(pattern), NULL, 10) : -1;
    tenon_report_destroy(json);
    return value;
}

// Rows of the array under `key`.
static int rows_in(tenon_model *model, tenon_session *s, const char *key)
{
    char *json = NULL, pattern[64];
    int rows = 0, depth = 0;
    assert_int_equal(tenon_report(s, TENON_REPORT_PROFILE, &json, NULL), TENON_OK);
    snprintf(pattern, sizeof pattern, "\"%s\":[", key);
    const char *at = strstr(json, pattern);
    assert_non_null(at);
    for (at += strlen(pattern) - 1; *at; at++) {
        depth += *at == '[' || *at == '{' ? 1 : *at == ']' || *at == '}' ? -1 : 0;
        rows += depth == 2 && (*at == '[' || *at == '{');
        if (depth == 0) {
            break;
        }
    }
    tenon_report_destroy(json);
    return rows;
}

// ---- records ----

static void runs_are_recorded(void **unused)
{
    tenon_model *model = open_model("data/session/swallow.onnx");
    tenon_session *s = open_session(model, 2);
    char *json = NULL;
    (void)unused;
    assert_int_equal(tenon_report(s, TENON_REPORT_PROFILE, &json, NULL), TENON_STATE);
    assert_int_equal(tenon_session_profile(s, (size_t)1 << 40, NULL), TENON_INVALID_ARGUMENT);
    set_picture(s, 2, 32);
    run(s);
    const long long before = number_in(model, s, TENON_REPORT_STATISTICS, "steps");
    assert_int_equal(tenon_session_profile(s, 10000, NULL), TENON_OK);
    run(s);
    run(s);
    const long long steps = number_in(model, s, TENON_REPORT_STATISTICS, "steps") - before;
    assert_int_equal(rows_in(model, s, "runs"), 2);
    assert_int_equal(rows_in(model, s, "steps"), steps);
    assert_int_equal(rows_in(model, s, "nodes"), steps / 2);
    assert_int_equal(number_in(model, s, TENON_REPORT_PROFILE, "dropped"), 0);
    set_picture(s, 1, 16);      // another plan: nodes of its own
    run(s);
    assert_int_equal(rows_in(model, s, "runs"), 3);
    assert_true(rows_in(model, s, "nodes") > steps / 2);
    assert_int_equal(tenon_session_profile(s, 0, NULL), TENON_OK);
    run(s);
    assert_int_equal(tenon_report(s, TENON_REPORT_PROFILE, &json, NULL), TENON_STATE);
    tenon_session_destroy(s);
    tenon_model_destroy(model);
}

static void a_full_record_counts_what_it_drops(void **unused)
{
    tenon_model *model = open_model("data/session/swallow.onnx");
    tenon_session *s = open_session(model, 1);
    tenon_tensor a, b;
    float first[20];
    (void)unused;
    set_picture(s, 1, 24);
    run(s);
    assert_int_equal(tenon_session_output(s, 0, &a, NULL), TENON_OK);
    memcpy(first, a.data, a.bytes < sizeof first ? a.bytes : sizeof first);
    assert_int_equal(tenon_session_profile(s, 3, NULL), TENON_OK);
    run(s);
    assert_int_equal(tenon_session_output(s, 0, &b, NULL), TENON_OK);
    assert_memory_equal(b.data, first, b.bytes < sizeof first ? b.bytes : sizeof first);
    assert_int_equal(rows_in(model, s, "steps"), 3);
    assert_true(number_in(model, s, TENON_REPORT_PROFILE, "dropped") > 0);
    tenon_session_destroy(s);      // with its record
    tenon_model_destroy(model);
}

// ---- statistics ----

static void statistics_count(void **unused)
{
    tenon_model *model = open_model("data/session/swallow.onnx");
    tenon_session *s = open_session(model, 1), *second = open_session(model, 1);
    (void)unused;
    set_picture(s, 1, 24);
    run(s);
    run(s);
    const tenon_report_kind kind = TENON_REPORT_STATISTICS;
    assert_int_equal(number_in(model, s, kind, "plans_made"), 1);
    assert_int_equal(number_in(model, s, kind, "plan_hits"), 1);
    assert_int_equal(number_in(model, s, kind, "runs"), 2);
    assert_true(number_in(model, s, kind, "planning_ns") > 0);
    assert_int_equal(number_in(model, s, kind, "device_fallbacks"), 0);
    assert_int_equal(number_in(model, s, kind, "precision_events"), 0);
    assert_true(number_in(model, s, kind, "peak_bytes") >= number_in(model, s, kind, "live_bytes"));
    const long long made = number_in(model, s, kind, "weights_packed");
    assert_true(made > 0);
    set_picture(second, 1, 24);
    run(second);
    assert_int_equal(number_in(model, second, kind, "weights_packed"), made);      // the second session finds them packed
    assert_true(number_in(model, second, kind, "weights_found") >= made);
    assert_int_equal(number_in(model, s, kind, "programs_built"), 0);
    tenon_session_destroy(s);
    tenon_session_destroy(second);
    tenon_model_destroy(model);
}

// ---- planning ahead ----

static tenon_input_shape picture_shape(int64_t n, int64_t side) { return (tenon_input_shape){.name = "x", .rank = 4, .dims = {n, 3, side, side}}; }

static void same_results(tenon_session *a, tenon_session *b)
{
    for (size_t i = 0; i < tenon_session_output_count(a); i++) {
        tenon_tensor x, y;
        assert_int_equal(tenon_session_output(a, i, &x, NULL), TENON_OK);
        assert_int_equal(tenon_session_output(b, i, &y, NULL), TENON_OK);
        assert_int_equal(x.rank, y.rank);
        assert_memory_equal(x.dims, y.dims, (size_t)x.rank * sizeof x.dims[0]);
        assert_int_equal(x.bytes, y.bytes);
        if (x.bytes) {
            assert_memory_equal(x.data, y.data, x.bytes);
        }
    }
}

static void prepared_shapes_need_no_planning(void **unused)
{
    tenon_model *model = open_model("data/session/swallow.onnx");
    tenon_session *s = open_session(model, 1);
    (void)unused;
    for (int64_t side = 8; side <= 32; side += 8) {
        const tenon_input_shape shape = picture_shape(2, side);
        assert_int_equal(tenon_session_prepare_shapes(s, &shape, 1, NULL, 0, NULL), TENON_OK);
    }
    assert_int_equal(number_in(model, s, TENON_REPORT_STATISTICS, "plans_made"), 4);
    const long long live = number_in(model, s, TENON_REPORT_STATISTICS, "live_bytes");
    for (int64_t side = 32; side >= 8; side -= 8) {
        set_picture(s, 2, side);
        run(s);
    }
    assert_int_equal(number_in(model, s, TENON_REPORT_STATISTICS, "plans_made"), 4);
    // Arena and results were there already: what came is our copy of the input.
    assert_true(number_in(model, s, TENON_REPORT_STATISTICS, "live_bytes") - live <= 2 * 3 * 32 * 32 * 4 + 4096);      // and some for the report itself
    tenon_session_destroy(s);
    tenon_model_destroy(model);
}

static void shapes_that_do_not_fit_are_refused(void **unused)
{
    tenon_model *model = open_model("data/session/swallow.onnx"), *deciders = open_model("data/session/deciders.onnx");
    tenon_session *s = open_session(model, 1), *d = open_session(deciders, 1);
    tenon_error *error = NULL;
    tenon_input_shape shape = picture_shape(1, 8);
    (void)unused;
    assert_int_equal(tenon_session_prepare_shapes(s, NULL, 0, NULL, 0, NULL), TENON_INVALID_ARGUMENT);      // the shape is open
    assert_int_equal(tenon_session_prepare_shapes(s, NULL, 1, NULL, 0, NULL), TENON_INVALID_ARGUMENT);
    assert_int_equal(tenon_session_prepare_shapes(NULL, &shape, 1, NULL, 0, NULL), TENON_INVALID_ARGUMENT);
    shape.name = NULL;
    assert_int_equal(tenon_session_prepare_shapes(s, &shape, 1, NULL, 0, NULL), TENON_INVALID_ARGUMENT);
    shape.name = "z";
    assert_int_equal(tenon_session_prepare_shapes(s, &shape, 1, NULL, 0, NULL), TENON_NOT_FOUND);
    const tenon_input_shape same[2] = {picture_shape(1, 8), picture_shape(1, 8)};
    assert_int_equal(tenon_session_prepare_shapes(s, same, 2, NULL, 0, NULL), TENON_INVALID_ARGUMENT);
    shape = picture_shape(1, 8);
    const tenon_input_shape twice[2] = {shape, {.name = "no such", .rank = 0}};
    assert_int_equal(tenon_session_prepare_shapes(s, twice, 2, NULL, 0, NULL), TENON_NOT_FOUND);
    shape.dims[1] = 4;
    assert_int_equal(tenon_session_prepare_shapes(s, &shape, 1, NULL, 0, NULL), TENON_INVALID_ARGUMENT);
    shape = picture_shape((int64_t)1 << 62, 8);
    assert_int_equal(tenon_session_prepare_shapes(s, &shape, 1, NULL, 0, NULL), TENON_LIMIT);
    shape = picture_shape(-1, 8);
    assert_int_equal(tenon_session_prepare_shapes(s, &shape, 1, NULL, 0, NULL), TENON_INVALID_ARGUMENT);
    const tenon_input_shape open[] = {{.name = "x", .rank = 2, .dims = {2, 6}}, {.name = "shape", .rank = 1, .dims = {2}}};
    assert_int_equal(tenon_session_prepare_shapes(d, open, 2, NULL, 0, &error), TENON_INVALID_ARGUMENT);
    assert_non_null(strstr(tenon_error_message(error), "decide shapes"));
    tenon_error_destroy(error);
    tenon_session_destroy(s);
    tenon_session_destroy(d);
    tenon_model_destroy(model);
    tenon_model_destroy(deciders);
}

static uint64_t state = 1;

static int64_t draw(int64_t low, int64_t high)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return low + (int64_t)((state >> 33) % (uint64_t)(high - low + 1));
}

typedef struct deciding {
    int64_t shape[3], rank, start, end, k;
    unsigned char cond;
} deciding;

static deciding draw_deciding(void)
{
    static const int64_t shapes[4][4] = {{2, 3, 4, 0}, {3, 2, 2, 3}, {1, 12, 0, 0}, {2, -1, 6, 0}};
    const int64_t *row = shapes[draw(0, 3)];
    return (deciding){.shape = {row[1], row[2], row[3]}, .rank = row[0], .start = draw(-2, 5), .end = draw(0, 8), .k = draw(1, 6),
                      .cond = (unsigned char)draw(0, 1)};
}

static void set_deciding(tenon_session *s, const deciding *d)
{
    static const float x[12] = {0, 7, 2, 9, 4, 11, 6, 1, 8, 3, 10, 5};
    assert_int_equal(tenon_session_set_input(s, "x", TENON_FLOAT32, 2, (const int64_t[]){2, 6}, x, 48, NULL), TENON_OK);
    assert_int_equal(tenon_session_set_input(s, "shape", TENON_INT64, 1, &d->rank, d->shape, (size_t)d->rank * 8, NULL), TENON_OK);
    assert_int_equal(tenon_session_set_input(s, "starts", TENON_INT64, 1, (const int64_t[]){1}, &d->start, 8, NULL), TENON_OK);
    assert_int_equal(tenon_session_set_input(s, "ends", TENON_INT64, 1, (const int64_t[]){1}, &d->end, 8, NULL), TENON_OK);
    assert_int_equal(tenon_session_set_input(s, "k", TENON_INT64, 1, (const int64_t[]){1}, &d->k, 8, NULL), TENON_OK);
    assert_int_equal(tenon_session_set_input(s, "cond", TENON_BOOL, 0, NULL, &d->cond, 1, NULL), TENON_OK);
}

static void prepare_deciding(tenon_session *s, const deciding *d)
{
    const tenon_input_shape shapes[] = {
        {.name = "x", .rank = 2, .dims = {2, 6}},
        {.name = "shape", .rank = 1, .dims = {d->rank}, .values = d->shape},
        {.name = "starts", .rank = 1, .dims = {1}, .values = &d->start},
        {.name = "ends", .rank = 1, .dims = {1}, .values = &d->end},
        {.name = "k", .rank = 1, .dims = {1}, .values = &d->k},
        {.name = "cond", .rank = 0, .values = &d->cond},
    };
    tenon_error *error = NULL;
    if (tenon_session_prepare_shapes(s, shapes, 6, NULL, 0, &error) != TENON_OK) {
        fail_msg("%s: %s", tenon_error_place(error), tenon_error_message(error));
    }
}

// Floating data that a branch only computes with is no part of the key.
static void data_of_branches_makes_no_plans(void **unused)
{
    tenon_model *model = open_model("data/session/deciders.onnx");
    tenon_session *s = open_session(model, 1);
    const deciding d = {.shape = {3, 4}, .rank = 2, .start = 0, .end = 3, .k = 2, .cond = 1};
    (void)unused;
    set_deciding(s, &d);
    run(s);
    for (int i = 0; i < 3; i++) {
        const float x[12] = {(float)i, 1, 2, 3};
        assert_int_equal(tenon_session_set_input(s, "x", TENON_FLOAT32, 2, (const int64_t[]){2, 6}, x, 48, NULL), TENON_OK);
        run(s);
    }
    assert_int_equal(number_in(model, s, TENON_REPORT_STATISTICS, "plans_made"), 1);
    tenon_session_destroy(s);
    tenon_model_destroy(model);
}

// Any sequence of shapes, of values that decide shapes, of planning ahead, trimming and a small plan cache gives what fresh sessions give.
static void any_sequence_equals_fresh_sessions(void **unused)
{
    tenon_model *pictures = open_model("data/session/swallow.onnx"), *deciders = open_model("data/session/deciders.onnx");
    tenon_session *kept_pictures = NULL, *kept_deciders = NULL;
    tenon_session_options o;
    (void)unused;
    tenon_session_options_init(&o);
    o.threads = 1;
    o.plan_cache = 3;
    assert_int_equal(tenon_session_create(&kept_pictures, pictures, &o, NULL), TENON_OK);
    assert_int_equal(tenon_session_create(&kept_deciders, deciders, &o, NULL), TENON_OK);
    for (int i = 0; i < 60; i++) {
        const bool picture = draw(0, 1);
        tenon_session *kept = picture ? kept_pictures : kept_deciders, *fresh = open_session(picture ? pictures : deciders, 1);
        const int64_t n = draw(1, 3), side = draw(4, 14);
        const deciding d = draw_deciding();
        const tenon_input_shape shape = picture_shape(n, side);
        if (draw(0, 3) == 0) {
            tenon_session_trim(kept);
        }
        if (draw(0, 2) == 0 && picture) {
            assert_int_equal(tenon_session_prepare_shapes(kept, &shape, 1, NULL, 0, NULL), TENON_OK);
        } else if (draw(0, 2) == 0 && !picture) {
            prepare_deciding(kept, &d);
            const long long made = number_in(deciders, kept, TENON_REPORT_STATISTICS, "plans_made");
            set_deciding(kept, &d);
            run(kept);
            assert_int_equal(number_in(deciders, kept, TENON_REPORT_STATISTICS, "plans_made"), made);
        }
        for (int k = 0; k < 2; k++) {
            tenon_session *s = k ? fresh : kept;
            if (picture) {
                set_picture(s, n, side);
            } else {
                set_deciding(s, &d);
            }
            run(s);
        }
        same_results(kept, fresh);
        tenon_session_destroy(fresh);
    }
    assert_true(number_in(pictures, kept_pictures, TENON_REPORT_STATISTICS, "plans_cached") <= 3);
    tenon_session_destroy(kept_pictures);
    tenon_session_destroy(kept_deciders);
    tenon_model_destroy(pictures);
    tenon_model_destroy(deciders);
}

// ---- inputs that have an initialiser ----

// y = x * w + b as ONNX bytes; w and b are inputs too, with initialisers. Field numbers of onnx.proto.
static size_t put(unsigned char *at, int field, const void *data, size_t size)
{
    at[0] = (unsigned char)(field << 3 | 2);
    at[1] = (unsigned char)size;
    memcpy(at + 2, data, size);
    return size + 2;
}

static size_t put_text(unsigned char *at, int field, const char *text) { return put(at, field, text, strlen(text)); }

static size_t put_value(unsigned char *at, int field, const char *name)
{
    static const unsigned char type[] = {0x0a, 0x08, 0x08, 0x01, 0x12, 0x04, 0x0a, 0x02, 0x08, 0x02};      // float[2]
    unsigned char value[64];
    size_t n = put_text(value, 1, name);
    n += put(value + n, 2, type, sizeof type);
    return put(at, field, value, n);
}

static size_t put_initialiser(unsigned char *at, const char *name, float a, float b)
{
    unsigned char tensor[64] = {0x08, 2, 0x10, 1};
    const float values[2] = {a, b};
    size_t n = 4;
    n += put_text(tensor + n, 8, name);
    n += put(tensor + n, 9, values, sizeof values);
    return put(at, 5, tensor, n);
}

static size_t put_node(unsigned char *at, const char *op, const char *a, const char *b, const char *out)
{
    unsigned char node[64];
    size_t n = put_text(node, 1, a);
    n += put_text(node + n, 1, b);
    n += put_text(node + n, 2, out);
    n += put_text(node + n, 4, op);
    return put(at, 1, node, n);
}

static size_t defaults_model(unsigned char *at)
{
    unsigned char graph[512], opset[] = {0x10, 13};
    size_t n = put_node(graph, "Mul", "x", "w", "xw");
    n += put_node(graph + n, "Add", "xw", "b", "y");
    n += put_text(graph + n, 2, "g");
    n += put_initialiser(graph + n, "w", 2, 3);
    n += put_initialiser(graph + n, "b", 10, 20);
    n += put_value(graph + n, 11, "x");
    n += put_value(graph + n, 11, "w");
    n += put_value(graph + n, 11, "b");
    n += put_value(graph + n, 12, "y");
    size_t m = 0;
    at[m++] = 0x08;
    at[m++] = 8;
    at[m++] = 0x3a;      // graph: its size takes two bytes
    at[m++] = (unsigned char)((n & 127) | 128);
    at[m++] = (unsigned char)(n >> 7);
    memcpy(at + m, graph, n);
    m += n;
    return m + put(at + m, 8, opset, sizeof opset);
}

static void set_two(tenon_session *s, const char *name, float a, float b)
{
    const float values[2] = {a, b};
    const int64_t dims[1] = {2};
    assert_int_equal(tenon_session_set_input(s, name, TENON_FLOAT32, 1, dims, values, sizeof values, NULL), TENON_OK);
}

static void expect(tenon_session *s, const char *name, float a, float b)
{
    tenon_tensor t;
    tenon_error *error = NULL;
    if (tenon_session_run(s, name ? &name : NULL, name ? 1 : 0, &error) != TENON_OK) {
        fail_msg("%s: %s", tenon_error_place(error), tenon_error_message(error));
    }
    assert_int_equal(tenon_session_output(s, 0, &t, NULL), TENON_OK);
    assert_true(((const float *)t.data)[0] == a && ((const float *)t.data)[1] == b);
}

static void initialisers_can_be_replaced(void **unused)
{
    unsigned char bytes[1024];
    const size_t size = defaults_model(bytes);
    tenon_model *model = NULL;
    tenon_error *error = NULL;
    const float three[3] = {1, 2, 3};
    (void)unused;
    if (tenon_model_open_memory(&model, bytes, size, NULL, &error) != TENON_OK) {
        fail_msg("%s: %s", tenon_error_place(error), tenon_error_message(error));
    }
    assert_int_equal(tenon_model_input_count(model), 1);
    tenon_session *s = open_session(model, 1), *other = open_session(model, 1);
    set_two(s, "x", 1, 1);
    set_two(other, "x", 1, 1);
    expect(s, NULL, 12, 23);
    set_two(s, "w", 5, 6);
    expect(s, NULL, 15, 26);
    expect(s, "xw", 5, 6);                     // a tensor that fusion swallowed
    expect(other, NULL, 12, 23);               // the other session has the model's own
    const long long made = number_in(model, s, TENON_REPORT_STATISTICS, "plans_made");
    set_two(s, "w", 5, 6);                     // the same again
    expect(s, NULL, 15, 26);
    assert_int_equal(number_in(model, s, TENON_REPORT_STATISTICS, "plans_made"), made);
    set_two(s, "b", 0, 1);
    expect(s, NULL, 5, 7);
    set_two(s, "w", 7, 8);
    expect(s, NULL, 7, 9);
    tenon_session_clear_inputs(s);
    set_two(s, "x", 1, 1);
    expect(s, NULL, 12, 23);
    const int64_t dims[1] = {3};
    assert_int_equal(tenon_session_set_input(s, "w", TENON_FLOAT32, 1, dims, three, sizeof three, NULL), TENON_INVALID_ARGUMENT);
    assert_int_equal(tenon_session_set_input(s, "w", TENON_INT32, 1, (const int64_t[]){2}, three, 8, NULL), TENON_INVALID_ARGUMENT);
    assert_int_equal(tenon_session_set_input(s, "w", TENON_FLOAT32, 1, (const int64_t[]){2}, three, 12, NULL), TENON_INVALID_ARGUMENT);
    assert_int_equal(tenon_session_set_input(s, "xw", TENON_FLOAT32, 1, (const int64_t[]){2}, three, 8, NULL), TENON_NOT_FOUND);
    tenon_session_destroy(s);
    tenon_session_destroy(other);
    tenon_model_destroy(model);
}

// ---- the same with each allocation refused in turn ----

typedef struct counter {
    long count, refuse, live;
} counter;

static void *take(void *context, size_t bytes, size_t alignment)
{
    counter *c = context;
    void *block = NULL;
    if (++c->count == c->refuse || posix_memalign(&block, alignment < sizeof(void *) ? sizeof(void *) : alignment, bytes ? bytes : 1) != 0) {
        return NULL;
    }
    c->live++;
    return block;
}

static void give(void *context, void *block)
{
    ((counter *)context)->live--;
    free(block);
}

static tenon_status replace_and_record(counter *c)
{
    static const float values[2] = {5, 6};
    unsigned char bytes[1024];
    tenon_model *model = NULL;
    tenon_session *s = NULL;
    tenon_model_options mo;
    tenon_session_options so;
    const char *inner = "xw";
    const int64_t dims[1] = {2};
    char *json = NULL;
    tenon_model_options_init(&mo);
    mo.allocator = (tenon_allocator){take, give, c};
    tenon_session_options_init(&so);
    so.threads = 1;
    const size_t size = defaults_model(bytes);
    tenon_status status = tenon_model_open_memory(&model, bytes, size, &mo, NULL);
    status = status ? status : tenon_session_create(&s, model, &so, NULL);
    status = status ? status : tenon_session_profile(s, 20, NULL);
    status = status ? status : tenon_session_set_input(s, "x", TENON_FLOAT32, 1, dims, values, sizeof values, NULL);
    status = status ? status : tenon_session_set_input(s, "w", TENON_FLOAT32, 1, dims, values, sizeof values, NULL);
    status = status ? status : tenon_session_run(s, NULL, 0, NULL);
    status = status ? status : tenon_session_set_input(s, "w", TENON_FLOAT32, 1, dims, values, sizeof values, NULL);
    status = status ? status : tenon_session_run(s, &inner, 1, NULL);
    status = status ? status : tenon_report(s, TENON_REPORT_PROFILE, &json, NULL);
    tenon_report_destroy(json);
    tenon_session_destroy(s);
    tenon_model_destroy(model);
    return status;
}

static void every_allocation_may_fail(void **unused)
{
    (void)unused;
    for (long refuse = 1;; refuse++) {
        counter c = {.refuse = refuse};
        const tenon_status status = replace_and_record(&c);
        assert_int_equal(c.live, 0);
        if (c.count < refuse) {
            assert_int_equal(status, TENON_OK);
            break;
        }
        // A record that finds no memory for a node's facts drops the event; everything else fails cleanly.
        assert_true(status == TENON_OUT_OF_MEMORY || status == TENON_OK);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_are_recorded),
        cmocka_unit_test(a_full_record_counts_what_it_drops),
        cmocka_unit_test(statistics_count),
        cmocka_unit_test(prepared_shapes_need_no_planning),
        cmocka_unit_test(shapes_that_do_not_fit_are_refused),
        cmocka_unit_test(initialisers_can_be_replaced),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(data_of_branches_makes_no_plans),
        cmocka_unit_test(any_sequence_equals_fresh_sessions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
