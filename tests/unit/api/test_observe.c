// SPDX-License-Identifier: Apache-2.0
// What can be seen of a session from outside: records of runs, statistics, and planning ahead of runs.
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
    tenon_report_destroy(model, json);
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
    tenon_report_destroy(model, json);
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
    assert_true(number_in(model, s, TENON_REPORT_STATISTICS, "live_bytes") - live <= 2 * 3 * 32 * 32 * 4 + 256);
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
    assert_int_equal(tenon_session_prepare_shapes(s, &shape, 1, NULL, 0, NULL), TENON_INVALID_ARGUMENT);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_are_recorded),
        cmocka_unit_test(a_full_record_counts_what_it_drops),
        cmocka_unit_test(statistics_count),
        cmocka_unit_test(prepared_shapes_need_no_planning),
        cmocka_unit_test(shapes_that_do_not_fit_are_refused),
        cmocka_unit_test(data_of_branches_makes_no_plans),
        cmocka_unit_test(any_sequence_equals_fresh_sessions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
