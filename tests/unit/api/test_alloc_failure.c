// SPDX-License-Identifier: Apache-2.0
// Every public call with the N-th allocation failing, N = 1 .. end, on a model with one node of each kind: a clean error each time and
// nothing left. TENON_FULL=1 in the environment tries every N; otherwise a spread of them, wider under the thread sanitizer.
#include "support/fail_heap.h"
#include "support/read.h"

#include <tenon/build.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef tn_fail_counter counter;

#define STEP(call)                                       \
    do {                                                 \
        const tenon_status status_ = (call);             \
        if (status_ != TENON_OK) {                       \
            assert_int_equal(status_, TENON_OUT_OF_MEMORY); \
            assert_true(status_ == tenon_error_status(error)); \
            goto done;                                   \
        }                                                \
    } while (0)

static void scenario(const bytes *model_bytes, const bytes *feeds, counter *c)
{
    tenon_model_options mo;
    tenon_model *model = NULL;
    tenon_session *session = NULL, *second = NULL;
    tenon_error *error = NULL;
    tenon_tensor out;
    char *json = NULL;
    tenon_model_options_init(&mo);
    mo.allocator = (tenon_allocator){tn_fail_take, tn_fail_give, c};
    tenon_session_options so;
    tenon_session_options_init(&so);
    so.threads = 1;
    STEP(tenon_model_open_memory(&model, model_bytes->data, model_bytes->size, &mo, &error));
    STEP(tenon_model_report(model, TENON_REPORT_MODEL, &json, &error));
    tenon_report_destroy(json);
    STEP(tenon_session_create(&session, model, &so, &error));
    STEP(feed_recorded(session, feeds, &error));
    STEP(tenon_session_prepare(session, NULL, 0, &error));
    STEP(tenon_session_prepare_shapes(session, NULL, 0, NULL, 0, &error));
    STEP(tenon_session_profile(session, 1000, &error));
    tenon_error *refused = NULL;
    assert_int_equal(tenon_session_tune(session, NULL, &refused), TENON_STATE);       // no cache folder
    tenon_error_destroy(refused);
    STEP(tenon_session_run(session, NULL, 0, &error));
    assert_int_equal(tenon_session_output_count(session), tenon_model_output_count(model));
    STEP(tenon_session_output(session, 0, &out, &error));
    for (int kind = TENON_REPORT_EXPLAIN; kind <= TENON_REPORT_PROFILE; kind++) {
        STEP(tenon_report(session, (tenon_report_kind)kind, &json, &error));
        tenon_report_destroy(json);
    }
    STEP(tenon_session_create(&second, model, &so, &error));
    STEP(feed_recorded(second, feeds, &error));
    tenon_value_info info = {.struct_size = sizeof info};
    assert_int_equal(tenon_model_output(model, 1, &info), TENON_OK);
    STEP(tenon_session_run(second, &info.name, 1, &error));
    static uint64_t room[1 << 14];
    STEP(tenon_session_bind_output_as(second, info.name, info.dtype, room, sizeof room, &error));
    STEP(tenon_session_run(second, &info.name, 1, &error));
done:
    tenon_error_destroy(error);
    tenon_session_destroy(second);
    tenon_model_destroy(model);
    tenon_session_destroy(session);
}

// Saving, and opening what was saved: packed weights are in the file, so that the plan takes them from there.
static void scenario_of_files(const bytes *model_bytes, const bytes *feeds, counter *c)
{
    tenon_model_options mo;
    tenon_save_options options;
    tenon_session_options so;
    tenon_model *model = NULL, *saved = NULL;
    tenon_session *session = NULL, *second = NULL;
    tenon_error *error = NULL;
    char *json = NULL, path[] = "/tmp/test_alloc.XXXXXX";
    const int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    close(descriptor);
    tenon_model_options_init(&mo);
    mo.allocator = (tenon_allocator){tn_fail_take, tn_fail_give, c};
    tenon_session_options_init(&so);
    so.threads = 1;
    tenon_save_options_init(&options);
    options.targets = "portable";
    STEP(tenon_model_open_memory(&model, model_bytes->data, model_bytes->size, &mo, &error));
    STEP(tenon_session_create(&session, model, &so, &error));
    STEP(feed_recorded(session, feeds, &error));
    options.session = session;
    STEP(tenon_model_save(model, path, &options, &error));
    mo.verify = mo.describe = 1;
    STEP(tenon_model_open(&saved, path, &mo, &error));
    STEP(tenon_model_report(saved, TENON_REPORT_MODEL, &json, &error));
    tenon_report_destroy(json);
    tenon_model_destroy(saved);
    mo.describe = 0;
    STEP(tenon_model_open(&saved, path, &mo, &error));
    STEP(tenon_model_report(saved, TENON_REPORT_MODEL, &json, &error));
    tenon_report_destroy(json);
    so.isa = "portable";
    STEP(tenon_session_create(&second, saved, &so, &error));
    STEP(feed_recorded(second, feeds, &error));
    STEP(tenon_session_run(second, NULL, 0, &error));
done:
    unlink(path);
    tenon_error_destroy(error);
    tenon_session_destroy(second);
    tenon_session_destroy(session);
    tenon_model_destroy(saved);
    tenon_model_destroy(model);
}

// Quantising a model by a sample.
static void scenario_of_int8(const bytes *model_bytes, counter *c)
{
    static float data[3 * 10 * 11];
    static const char *const names[] = {"x"};
    const tenon_tensor tensor = {.dtype = TENON_FLOAT32, .rank = 4, .dims = {1, 3, 10, 11}, .data = data, .bytes = sizeof data};
    const tenon_sample sample = {names, &tensor, 1};
    tenon_model_options mo;
    tenon_session_options so;
    tenon_model *model = NULL;
    tenon_session *session = NULL;
    tenon_error *error = NULL;
    for (size_t i = 0; i < sizeof data / sizeof data[0]; i++) {
        data[i] = (float)(i % 17) / 8 - 1;
    }
    tenon_model_options_init(&mo);
    mo.allocator = (tenon_allocator){tn_fail_take, tn_fail_give, c};
    tenon_session_options_init(&so);
    so.threads = 1;
    so.precision = "int8";
    so.calibration = &sample;
    so.calibration_count = 1;
    STEP(tenon_model_open_memory(&model, model_bytes->data, model_bytes->size, &mo, &error));
    STEP(tenon_session_create(&session, model, &so, &error));
    STEP(tenon_session_set_input(session, "x", TENON_FLOAT32, 4, tensor.dims, data, sizeof data, &error));
    STEP(tenon_session_run(session, NULL, 0, &error));
done:
    tenon_error_destroy(error);
    tenon_session_destroy(session);
    tenon_model_destroy(model);
}

// Tuning without time: everything but the search, which holds on to nothing between two nodes. The session after it reads the table.
static void scenario_of_tuning(const bytes *model_bytes, counter *c)
{
    static float data[3 * 10 * 11];
    static const int64_t dims[] = {1, 3, 10, 11};
    tenon_model_options mo;
    tenon_session_options so;
    tenon_tune_options options;
    tenon_model *model = NULL;
    tenon_session *session = NULL, *second = NULL;
    tenon_error *error = NULL;
    char folder[] = "/tmp/test_alloc.XXXXXX", command[64];
    assert_non_null(mkdtemp(folder));
    tenon_model_options_init(&mo);
    mo.allocator = (tenon_allocator){tn_fail_take, tn_fail_give, c};
    tenon_session_options_init(&so);
    so.threads = 1;
    so.cache = folder;
    tenon_tune_options_init(&options);
    options.seconds = 0;
    STEP(tenon_model_open_memory(&model, model_bytes->data, model_bytes->size, &mo, &error));
    STEP(tenon_session_create(&session, model, &so, &error));
    STEP(tenon_session_set_input(session, "x", TENON_FLOAT32, 4, dims, data, sizeof data, &error));
    STEP(tenon_session_run(session, NULL, 0, &error));
    STEP(tenon_session_tune(session, &options, &error));
    STEP(tenon_session_run(session, NULL, 0, &error));
    STEP(tenon_session_create(&second, model, &so, &error));
done:
    tenon_error_destroy(error);
    tenon_session_destroy(second);
    tenon_session_destroy(session);
    tenon_model_destroy(model);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    assert_int_equal(system(command), 0);
}

static void every_allocation_of_tuning(void **unused)
{
    const bytes model = read_all("data/session/swallow.onnx");
    counter c = {0};
    (void)unused;
    scenario_of_tuning(&model, &c);
    assert_int_equal(c.live, 0);
    const long total = c.count, step = tn_fail_stride(total, 100);
    for (long n = 1; n <= total; n += step) {
        c = (counter){.fail_at = n};
        scenario_of_tuning(&model, &c);
        assert_int_equal(c.live, 0);
    }
    free(model.data);
}

static void every_allocation_of_int8(void **unused)
{
    const bytes model = read_all("data/session/swallow.onnx");
    counter c = {0};
    (void)unused;
    scenario_of_int8(&model, &c);
    assert_int_equal(c.live, 0);
    const long total = c.count, step = tn_fail_stride(total, 200);
    for (long n = 1; n <= total; n += step) {
        c = (counter){.fail_at = n};
        scenario_of_int8(&model, &c);
        if (c.live != 0) {
            fail_msg("%ld blocks left when allocation %ld of %ld fails", c.live, n, total);
        }
    }
    free(model.data);
}

static void every_allocation_of_files(void **unused)
{
    const bytes model = read_all("data/kinds.onnx"), feeds = read_all("data/kinds.bin");
    counter c = {0};
    (void)unused;
    scenario_of_files(&model, &feeds, &c);
    assert_int_equal(c.live, 0);
    const long total = c.count, step = tn_fail_stride(total, 150);
    for (long n = 1; n <= total; n += step) {
        c = (counter){.fail_at = n};
        scenario_of_files(&model, &feeds, &c);
        if (c.live != 0) {
            fail_msg("%ld blocks left when allocation %ld of %ld fails", c.live, n, total);
        }
    }
    free(model.data);
    free(feeds.data);
}

static void every_allocation(void **unused)
{
    const bytes model = read_all("data/kinds.onnx"), feeds = read_all("data/kinds.bin");
    counter c = {0};
    (void)unused;
    scenario(&model, &feeds, &c);
    assert_int_equal(c.live, 0);
    const long total = c.count;
    assert_true(total > 100);
    const long step = tn_fail_stride(total, 400);
    for (long n = 1; n <= total; n += step) {
        c = (counter){.fail_at = n};
        scenario(&model, &feeds, &c);
        if (c.live != 0) {
            fail_msg("%ld blocks left when allocation %ld of %ld fails", c.live, n, total);
        }
        assert_true(c.count >= n);
    }
    printf("%ld allocations, every %ld-th failed\n", total, step);
    free(model.data);
    free(feeds.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_allocation), cmocka_unit_test(every_allocation_of_files),
                                       cmocka_unit_test(every_allocation_of_int8), cmocka_unit_test(every_allocation_of_tuning)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
