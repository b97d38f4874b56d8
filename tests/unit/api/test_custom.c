// SPDX-License-Identifier: Apache-2.0
// Operators of the application (ext.h): results, versions, attributes, dynamic shapes, failures of callbacks, refusals, files, the N-th allocation
// failing, and that destroy is called once.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "support/fail_heap.h"

#include <tenon/build.h>
#include <tenon/ext.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// What the callbacks find in `user`.
typedef struct own {
    int destroyed, runs;
    const char *run_fails, *shape_fails;     // with this text
    tenon_session *again;                    // run once more from inside; what it says goes to `said`
    tenon_status said;
    tenon_model *model;                      // use it from inside, once
} own;

static tenon_status use_model(tenon_model *model)
{
    static const char *const name = "t";
    static const int64_t dims[1] = {4};
    static const float x[4];
    tenon_session *session = NULL;
    tenon_status status = tenon_session_create(&session, model, NULL, NULL);
    status = status == TENON_OK ? tenon_session_set_input(session, "x", TENON_FLOAT32, 1, dims, x, sizeof x, NULL) : status;
    status = status == TENON_OK ? tenon_session_run(session, &name, 1, NULL) : status;
    tenon_session_destroy(session);
    return status;
}

static void destroy(void *user) { ((own *)user)->destroyed++; }

static tenon_status ramp_shape(const tenon_call *call)
{
    const own *o = call->user;
    if (o->shape_fails) {
        return tenon_call_fail(call, TENON_INVALID_MODEL, o->shape_fails);
    }
    call->outputs[0] = call->inputs[0];
    return TENON_OK;
}

static tenon_status ramp(const tenon_call *call)
{
    own *o = call->user;
    const float *x = call->inputs[0].data;
    float *y = call->outputs[0].data;
    o->runs++;
    if (o->again) {
        o->said = tenon_session_run(o->again, NULL, 0, NULL);
    }
    if (o->model) {
        tenon_model *model = o->model;
        o->model = NULL;
        o->said = use_model(model);
    }
    if (o->run_fails) {
        return o->run_fails[0] ? tenon_call_fail(call, TENON_IO, o->run_fails) : TENON_DEVICE;
    }
    for (size_t i = 0; i < call->outputs[0].bytes / sizeof *y; i++) {
        y[i] = (x[i] > 0 ? x[i] : 0) * (float)tenon_call_real(call, "slope");
    }
    return TENON_OK;
}

static tenon_status newer_ramp(const tenon_call *call)
{
    const tenon_status status = ramp(call);
    float *y = call->outputs[0].data;
    for (size_t i = 0; i < call->outputs[0].bytes / sizeof *y; i++) {
        y[i] += 100;
    }
    return status;
}

// The elements above the limit; of a negative number of them, to show that resize refuses.
static tenon_status above(const tenon_call *call)
{
    const float *x = call->inputs[0].data, limit = *(const float *)call->inputs[1].data;
    int64_t count = 0;
    for (int64_t i = 0; i < call->inputs[0].dims[0]; i++) {
        count += x[i] > limit;
    }
    count = limit < -1000 ? -1 : count;
    const tenon_status status = tenon_call_resize(call, 0, 1, &count);
    float *y = call->outputs[0].data;
    for (int64_t i = 0; i < call->inputs[0].dims[0] && status == TENON_OK; i++) {
        if (x[i] > limit) {
            *y++ = x[i];
        }
    }
    return status;
}

static tenon_status above_shape(const tenon_call *call)
{
    call->outputs[0] = (tenon_tensor){.dtype = call->inputs[0].dtype, .rank = 1, .dims = {-1}};
    return TENON_OK;
}

static const tenon_attribute slope[] = {{.name = "slope", .kind = TENON_ATTRIBUTE_REAL, .default_real = 1}};

static tenon_custom_op ramp_op(own *o, int version)
{
    tenon_custom_op op;
    tenon_custom_op_init(&op);
    op.domain = "com.example";
    op.name = "Ramp";
    op.since_version = version;
    op.min_inputs = op.max_inputs = op.min_outputs = op.max_outputs = 1;
    op.attributes = slope;
    op.attribute_count = 1;
    op.shape = ramp_shape;
    op.run = ramp;
    op.destroy = destroy;
    op.user = o;
    return op;
}

static tenon_custom_op above_op(own *o)
{
    tenon_custom_op op = ramp_op(o, 1);
    op.name = "Above";
    op.min_inputs = op.max_inputs = 2;
    op.attribute_count = 0;
    op.flags = TENON_CUSTOM_DYNAMIC;
    op.shape = above_shape;
    op.run = above;
    return op;
}

// Registry, model and session as far as they get; the registry's handle is gone afterwards.
static tenon_status open_named(const char *path, own owns[2], const tenon_allocator *allocator, tenon_model **model, tenon_session **session,
                               tenon_error **error)
{
    tenon_registry *registry = NULL;
    tenon_model_options options;
    tenon_model_options_init(&options);
    tenon_session_options so;
    tenon_session_options_init(&so);
    so.threads = 1;
    so.strict = TENON_STRICT_REFERENCE;
    const tenon_custom_op first = ramp_op(&owns[0], 1), second = above_op(&owns[1]);
    tenon_status status = tenon_registry_create(&registry, allocator, error);
    if (status != TENON_OK) {
        return status;
    }
    status = tenon_registry_add(registry, &first, error);
    status = status == TENON_OK ? tenon_registry_add(registry, &second, error) : status;
    options.registry = registry;
    options.allocator = allocator ? *allocator : (tenon_allocator){0};
    status = status == TENON_OK ? tenon_model_open(model, path, &options, error) : status;
    status = status == TENON_OK ? tenon_session_create(session, *model, &so, error) : status;
    tenon_registry_destroy(registry);
    return status;
}

static tenon_status open_session(own owns[2], const tenon_allocator *allocator, tenon_model **model, tenon_session **session,
                                 tenon_error **error)
{
    return open_named("data/session/custom.onnx", owns, allocator, model, session, error);
}

static tenon_status run(tenon_session *session, const float *x, int64_t n, float limit, tenon_error **error)
{
    tenon_status status = tenon_session_set_input(session, "x", TENON_FLOAT32, 1, &n, x, (size_t)n * sizeof *x, error);
    status = status == TENON_OK ? tenon_session_set_input(session, "limit", TENON_FLOAT32, 0, NULL, &limit, sizeof limit, error) : status;
    return status == TENON_OK ? tenon_session_run(session, NULL, 0, error) : status;
}

static void close_all(tenon_model *model, tenon_session *session, tenon_error *error)
{
    tenon_error_destroy(error);
    tenon_model_destroy(model);
    tenon_session_destroy(session);
}

static void test_results(void **state)
{
    own owns[2] = {{0}};
    tenon_model *model = NULL;
    tenon_session *session = NULL;
    tenon_tensor out;
    static const float x[4] = {-1, 2, 0.5f, 3};
    assert_int_equal(open_session(owns, NULL, &model, &session, NULL), TENON_OK);
    for (int64_t n = 4; n >= 0; n -= 2) {
        assert_int_equal(run(session, x, n, 5, NULL), TENON_OK);
        assert_int_equal(tenon_session_output(session, 0, &out, NULL), TENON_OK);
        assert_int_equal(out.dims[0], n);
        assert_true(n < 2 || ((const float *)out.data)[1] == 8);
        assert_int_equal(tenon_session_output(session, 1, &out, NULL), TENON_OK);
        assert_int_equal(out.dims[0], n / 2);
    }
    assert_int_equal(owns[0].runs, 3);
    close_all(model, session, NULL);
    assert_int_equal(owns[0].destroyed, 1);
    assert_int_equal(owns[1].destroyed, 1);
}

static void test_failures_of_callbacks(void **state)
{
    own owns[2] = {{0}};
    tenon_model *model = NULL;
    tenon_session *session = NULL;
    tenon_error *error = NULL;
    static const float x[2] = {1, 2};
    assert_int_equal(open_session(owns, NULL, &model, &session, &error), TENON_OK);
    owns[0].run_fails = "the disk is full";
    assert_int_equal(run(session, x, 2, 0, &error), TENON_IO);
    assert_non_null(strstr(tenon_error_message(error), "the disk is full"));
    assert_string_equal(tenon_error_place(error), "ramp");
    owns[0].run_fails = "";
    assert_int_equal(run(session, x, 2, 0, &error), TENON_DEVICE);
    owns[0].run_fails = NULL;
    assert_int_equal(run(session, x, 2, -2000, &error), TENON_INVALID_ARGUMENT);
    assert_string_equal(tenon_error_place(error), "above");
    assert_int_equal(run(session, x, 2, 0, &error), TENON_OK);
    close_all(model, session, error);
    model = NULL;
    session = NULL;
    error = NULL;
    owns[0].shape_fails = "not with this shape";
    assert_int_equal(open_session(owns, NULL, &model, &session, &error), TENON_INVALID_MODEL);
    assert_non_null(strstr(tenon_error_message(error), "not with this shape"));
    close_all(model, session, error);
}

static void test_run_from_inside(void **state)
{
    own owns[2] = {{0}};
    tenon_model *model = NULL;
    tenon_session *session = NULL;
    static const float x[2] = {1, 2};
    assert_int_equal(open_session(owns, NULL, &model, &session, NULL), TENON_OK);
    owns[0].again = session;
    assert_int_equal(run(session, x, 2, 0, NULL), TENON_OK);
    assert_int_equal(owns[0].said, TENON_STATE);
    assert_int_equal(owns[0].runs, 1);
    close_all(model, session, NULL);
}

// A kernel that is called while the model is optimised for a tensor that fusion swallowed may make sessions of the model, which want such
// tensors too.
static void test_model_from_inside(void **state)
{
    own owns[2] = {{0}};
    tenon_model *model = NULL;
    tenon_session *session = NULL;
    static const char *const name = "s";
    static const int64_t dims[1] = {4};
    static const float x[4] = {1, 1, 1, 1};
    tenon_tensor s;
    assert_int_equal(open_named("data/session/folded.onnx", owns, NULL, &model, &session, NULL), TENON_OK);
    assert_true(owns[0].runs > 0);       // it is folded
    owns[0].model = model;
    owns[0].said = TENON_INTERNAL;
    assert_int_equal(tenon_session_set_input(session, "x", TENON_FLOAT32, 1, dims, x, sizeof x, NULL), TENON_OK);
    assert_int_equal(tenon_session_run(session, &name, 1, NULL), TENON_OK);
    assert_int_equal(owns[0].said, TENON_OK);
    assert_int_equal(tenon_session_output(session, 0, &s, NULL), TENON_OK);
    assert_true(((const float *)s.data)[3] == 4);
    close_all(model, session, NULL);
}

// Saved by domain, name and version: a file that opens with a registry that has them, and says what it lacks without.
static void test_saved(void **state)
{
    own owns[2] = {{0}}, others[2] = {{0}};
    tenon_model *model = NULL, *saved = NULL;
    tenon_session *session = NULL;
    tenon_registry *registry = NULL;
    tenon_error *error = NULL;
    tenon_model_options options;
    tenon_tensor out;
    char path[] = "/tmp/test_custom.XXXXXX";
    static const float x[4] = {-1, 2, 0.5f, 3};
    const int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    close(descriptor);
    assert_int_equal(open_session(owns, NULL, &model, &session, NULL), TENON_OK);
    assert_int_equal(tenon_model_save(model, path, NULL, &error), TENON_OK);
    tenon_session_destroy(session);
    tenon_model_destroy(model);
    session = NULL;
    assert_int_equal(tenon_model_open(&saved, path, NULL, &error), TENON_UNSUPPORTED);
    assert_string_equal(tenon_error_place(error), "com.example:Ramp");
    assert_non_null(strstr(tenon_error_message(error), "registry"));
    for (int version = 2; version > 0; version--) {      // of another version the operator may mean something else
        const tenon_custom_op first = ramp_op(&others[0], version), second = above_op(&others[1]);
        assert_int_equal(tenon_registry_create(&registry, NULL, NULL), TENON_OK);
        assert_int_equal(tenon_registry_add(registry, &second, NULL), TENON_OK);
        assert_int_equal(tenon_registry_add(registry, &first, NULL), TENON_OK);
        tenon_model_options_init(&options);
        options.registry = registry;
        assert_int_equal(tenon_model_open(&saved, path, &options, &error), version == 1 ? TENON_OK : TENON_UNSUPPORTED);
        tenon_registry_destroy(registry);
    }
    assert_int_equal(tenon_session_create(&session, saved, NULL, NULL), TENON_OK);
    assert_int_equal(run(session, x, 4, 5, NULL), TENON_OK);
    assert_int_equal(tenon_session_output(session, 0, &out, NULL), TENON_OK);
    assert_true(((const float *)out.data)[1] == 8);      // the attribute was saved too
    assert_int_equal(others[0].runs, 1);
    close_all(saved, session, error);
    unlink(path);
}

static void test_versions(void **state)
{
    own owns[3] = {{0}};
    tenon_registry *registry = NULL;
    tenon_model_options options;
    tenon_model *model = NULL;
    tenon_session *session = NULL;
    tenon_tensor out;
    static const float x[1] = {1};
    tenon_custom_op late = ramp_op(&owns[0], 3), newer = ramp_op(&owns[1], 2), older = ramp_op(&owns[1], 1), other = above_op(&owns[2]);
    newer.run = newer_ramp;
    assert_int_equal(tenon_registry_create(&registry, NULL, NULL), TENON_OK);
    assert_int_equal(tenon_registry_add(registry, &older, NULL), TENON_OK);
    assert_int_equal(tenon_registry_add(registry, &late, NULL), TENON_OK);
    assert_int_equal(tenon_registry_add(registry, &newer, NULL), TENON_OK);
    assert_int_equal(tenon_registry_add(registry, &newer, NULL), TENON_INVALID_ARGUMENT);   // twice
    assert_int_equal(tenon_registry_add(registry, &other, NULL), TENON_OK);
    tenon_model_options_init(&options);
    options.registry = registry;
    assert_int_equal(tenon_model_open(&model, "data/session/custom.onnx", &options, NULL), TENON_OK);
    assert_int_equal(tenon_registry_add(registry, &other, NULL), TENON_STATE);
    tenon_registry_destroy(registry);
    assert_int_equal(tenon_session_create(&session, model, NULL, NULL), TENON_OK);
    assert_int_equal(run(session, x, 1, 0, NULL), TENON_OK);
    assert_int_equal(tenon_session_output(session, 0, &out, NULL), TENON_OK);
    assert_true(((const float *)out.data)[0] == 204);
    close_all(model, session, NULL);
    assert_int_equal(owns[0].destroyed + owns[1].destroyed + owns[2].destroyed, 6);
}

static void test_refusals(void **state)
{
    own o = {0};
    tenon_registry *registry = NULL;
    tenon_error *error = NULL;
    tenon_model *model = NULL;
    assert_int_equal(tenon_model_open(&model, "data/session/custom.onnx", NULL, &error), TENON_UNSUPPORTED);
    assert_int_equal(tenon_registry_create(&registry, NULL, NULL), TENON_OK);
    const tenon_custom_op good = ramp_op(&o, 1);
    tenon_custom_op bad[6] = {good, good, good, good, good, good};
    bad[0].name = NULL;
    bad[1].run = NULL;
    bad[2].max_outputs = 65;
    bad[3].since_version = 256;
    bad[4].attribute_count = 17;
    bad[5].min_inputs = 0;
    bad[5].shape = NULL;
    for (int i = 0; i < 6; i++) {
        assert_int_equal(tenon_registry_add(registry, &bad[i], &error), TENON_INVALID_ARGUMENT);
        assert_int_equal(o.destroyed, i + 1);
    }
    assert_int_equal(tenon_registry_add(registry, NULL, NULL), TENON_INVALID_ARGUMENT);
    tenon_error_destroy(error);
    tenon_registry_destroy(registry);
    tenon_registry_destroy(NULL);
}

static void test_every_allocation(void **state)
{
    static const float x[4] = {-1, 2, 0.5f, 3};
    long total = 1;
    for (long n = 0; n <= total; n += n ? tn_fail_stride(total, 150) : 1) {
        tn_fail_counter c = {.fail_at = n};
        own owns[2] = {{0}};
        const tenon_allocator allocator = {tn_fail_take, tn_fail_give, &c};
        tenon_model *model = NULL;
        tenon_session *session = NULL;
        tenon_error *error = NULL;
        tenon_status status = open_session(owns, &allocator, &model, &session, &error);
        status = status == TENON_OK ? run(session, x, 4, 5, &error) : status;
        assert_true(status == TENON_OK || status == TENON_OUT_OF_MEMORY);
        assert_true(status == TENON_OK || tenon_error_status(error) == TENON_OUT_OF_MEMORY);
        close_all(model, session, error);
        assert_int_equal(c.live, 0);
        assert_true(owns[0].destroyed <= 1 && owns[1].destroyed <= 1);
        total = n ? total : c.count;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_results), cmocka_unit_test(test_failures_of_callbacks),
                                       cmocka_unit_test(test_run_from_inside), cmocka_unit_test(test_model_from_inside),
                                       cmocka_unit_test(test_saved), cmocka_unit_test(test_versions), cmocka_unit_test(test_refusals),
                                       cmocka_unit_test(test_every_allocation)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
