// SPDX-License-Identifier: Apache-2.0
// Precision int8: results near the float ones, the same bits on the DSP where there is one and without a copy, and samples that do not fit.
#include "support/unit.h"

#include <tenon/tenon.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 3 * 10 * 11 };

static const int64_t dims[] = {1, 3, 10, 11};
static float data[COUNT];
static tenon_model *model;

static int open_model(void **state)
{
    tenon_error *error = NULL;
    for (int i = 0; i < COUNT; i++) {
        data[i] = sinf((float)i * 0.37f) * 2;
    }
    assert_int_equal(tenon_model_open(&model, "data/session/swallow.onnx", NULL, &error), TENON_OK);
    return 0;
}

static int close_model(void **state)
{
    tenon_model_destroy(model);
    return 0;
}

static tenon_status make(tenon_session **session, const char *device, const char *precision, const char *name, size_t bytes, tenon_error **error)
{
    const char *names[] = {name};
    tenon_tensor tensor = {.dtype = TENON_FLOAT32, .rank = 4, .data = data, .bytes = bytes};
    memcpy(tensor.dims, dims, sizeof dims);
    const tenon_sample sample = {.names = names, .tensors = &tensor, .count = 1};
    tenon_session_options options;
    tenon_session_options_init(&options);
    options.device = device;
    options.precision = precision;
    options.threads = 1;
    options.calibration = name ? &sample : NULL;
    options.calibration_count = name ? 1 : 0;
    return tenon_session_create(session, model, &options, error);
}

static void run(tenon_session *session, tenon_tensor *out)
{
    tenon_error *error = NULL;
    if (tenon_session_set_input(session, "x", TENON_FLOAT32, 4, dims, data, sizeof data, &error) != TENON_OK ||
        tenon_session_run(session, NULL, 0, &error) != TENON_OK || tenon_session_output(session, 0, out, &error) != TENON_OK) {
        fail_msg("%s: %s", tenon_error_place(error), tenon_error_message(error));
    }
}

static void test_near(void **state)
{
    tenon_session *real = NULL, *whole = NULL;
    tenon_error *error = NULL;
    tenon_tensor a, b;
    assert_int_equal(make(&real, "cpu", NULL, NULL, 0, &error), TENON_OK);
    if (make(&whole, "cpu", "int8", "x", sizeof data, &error) != TENON_OK) {
        fail_msg("%s: %s", tenon_error_place(error), tenon_error_message(error));
    }
    run(real, &a);
    run(whole, &b);
    assert_int_equal(a.bytes, b.bytes);
    float low = INFINITY, high = -INFINITY, most = 0;
    for (size_t i = 0; i < a.bytes / sizeof(float); i++) {
        const float x = ((const float *)a.data)[i], y = ((const float *)b.data)[i];
        low = fminf(low, x);
        high = fmaxf(high, x);
        most = fmaxf(most, fabsf(x - y));
    }
    assert_true(most > 0 && most < 0.05f * (high - low));
    // No convolution is left in float.
    char *json = NULL;
    assert_int_equal(tenon_report(whole, TENON_REPORT_EXPLAIN, &json, &error), TENON_OK);
    assert_non_null(strstr(json, "qlinear_conv"));
    assert_null(strstr(json, "\"op\":\"conv\""));
    tenon_report_destroy(json);
    tenon_session_destroy(real);
    tenon_session_destroy(whole);
}

static void test_same_on_dsp(void **state)
{
    tenon_session *cpu = NULL, *dsp = NULL, *second = NULL;
    tenon_error *error = NULL;
    tenon_tensor a, b;
    char *json = NULL;
    if (make(&dsp, "hexagon", "int8", "x", sizeof data, &error) != TENON_OK) {
        print_message("%s\n", tenon_error_message(error));
        tenon_error_destroy(error);
        skip();
    }
    assert_int_equal(make(&cpu, "cpu", "int8", "x", sizeof data, &error), TENON_OK);
    assert_int_equal(make(&second, "hexagon", "int8", "x", sizeof data, &error), TENON_OK);     // the same program
    run(cpu, &a);
    run(dsp, &b);
    assert_int_equal(a.bytes, b.bytes);
    assert_memory_equal(a.data, b.data, a.bytes);
    run(second, &b);
    assert_memory_equal(a.data, b.data, a.bytes);
    run(dsp, &b);
    assert_memory_equal(a.data, b.data, a.bytes);
    assert_int_equal(tenon_report(dsp, TENON_REPORT_STATISTICS, &json, &error), TENON_OK);
    assert_non_null(strstr(json, "\"device_copied_bytes\":0"));
    tenon_report_destroy(json);
    tenon_session_destroy(cpu);
    tenon_session_destroy(dsp);
    tenon_session_destroy(second);
}

static void test_refused(void **state)
{
    static const struct { const char *name; size_t bytes; } wrong[] = {{NULL, 0}, {"y", sizeof data}, {"x", sizeof data - 4}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        tenon_session *session = NULL;
        tenon_error *error = NULL;
        assert_int_equal(make(&session, "cpu", "int8", wrong[i].name, wrong[i].bytes, &error), TENON_INVALID_ARGUMENT);
        assert_null(session);
        tenon_error_destroy(error);
    }
    // Samples without the precision that needs them.
    static const char *const others[] = {NULL, "fp32", "bf16"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        tenon_session *session = NULL;
        tenon_error *error = NULL;
        assert_int_equal(make(&session, "cpu", others[i], "x", sizeof data, &error), TENON_INVALID_ARGUMENT);
        assert_string_equal(tenon_error_place(error), "calibration");
        tenon_error_destroy(error);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_near), cmocka_unit_test(test_same_on_dsp), cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, open_model, close_model);
}
