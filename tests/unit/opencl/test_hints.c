// SPDX-License-Identifier: Apache-2.0
// Hints on power: a driver with the extensions gets the right tokens, one that refuses keeps the session going, one without says so.
#include "support/unit.h"

#include "exec/opencl/run/cl_hints.h"

#include <string.h>

static tn_heap heap;
static tn_cl_driver real;
static cl_context_properties seen[8];
static cl_ulong seen_queue[4];
static bool refuse;

static cl_context CL_API_CALL make_context(const cl_context_properties *properties, cl_uint n, const cl_device_id *ids,
                                           void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *), void *data, cl_int *error)
{
    // The driver under the test does not know the vendor's tokens: it gets the platform alone.
    const cl_context_properties known[] = {properties[0], properties[1], 0};
    memset(seen, 0, sizeof seen);
    for (int i = 0; i < 7 && properties[i]; i++) {
        seen[i] = properties[i];
    }
    *error = CL_INVALID_PROPERTY;
    return refuse ? NULL : real.CreateContext(known, n, ids, notify, data, error);
}

static cl_command_queue CL_API_CALL make_queue(cl_context context, cl_device_id id, const cl_ulong *properties, cl_int *error)
{
    memcpy(seen_queue, properties, 3 * sizeof *properties);
    return real.CreateCommandQueue(context, id, 0, error);
}

static tn_cl_context *open_context(void)
{
    tn_cl_context *cl = NULL;
    tn_cpu cpu;
    const char *reason;
    tn_cpu_detect(&cpu);
    if (!tn_cl_driver_open(&real, &reason) || tn_cl_context_open(&cl, &real, &heap, &cpu, NULL) != TN_OK) {
        return NULL;
    }
    cl->driver.CreateContext = make_context;
    cl->driver.CreateQueueWithProperties = make_queue;
    return cl;
}

static void tokens(void **state)
{
    (void)state;
    tn_cl_context *cl = open_context();
    tn_power_effect effect = {0};
    if (!cl) {
        skip();
    }
    const tn_power fast = {.gpu_performance = 3, .gpu_priority = 2}, slow = {.gpu_performance = 1, .gpu_priority = 1};
    cl->facts.performance_hint = cl->facts.context_priority = true;
    tn_cl_hints(cl, &fast, &effect);
    assert_true(effect.gpu_performance.applied && effect.gpu_priority.applied);
    assert_int_equal(seen[2], 0x40C2);
    assert_int_equal(seen[3], 0x40C3);
    assert_int_equal(seen[4], 0x40C9);
    assert_int_equal(seen[5], 0x40CB);
    cl->facts.context_priority = false;
    cl->facts.queue_priority = true;
    tn_cl_hints(cl, &slow, &effect);
    assert_true(effect.gpu_performance.applied && effect.gpu_priority.applied);
    assert_int_equal(seen[3], 0x40C5);
    assert_int_equal(seen[4], 0);
    assert_int_equal(seen_queue[0], 0x1096);
    assert_int_equal(seen_queue[1], 4);
    tn_cl_context_close(cl);
    assert_int_equal(atomic_load(&heap.live_blocks), 0);
}

static void refusals(void **state)
{
    (void)state;
    tn_cl_context *cl = open_context();
    tn_power_effect effect = {0};
    if (!cl) {
        skip();
    }
    const tn_power high = {.gpu_performance = 3, .gpu_priority = 3}, low = {.gpu_priority = 1};
    cl_context before = cl->context;
    cl->facts.performance_hint = cl->facts.context_priority = cl->facts.queue_priority = false;
    tn_cl_hints(cl, &high, &effect);
    assert_false(effect.gpu_performance.applied);
    assert_false(effect.gpu_priority.applied);
    assert_non_null(effect.gpu_priority.why);
    tn_cl_hints(cl, &low, &effect);
    assert_true(effect.gpu_priority.applied);      // by slices
    refuse = true;
    cl->facts.performance_hint = true;
    tn_cl_hints(cl, &high, &effect);
    assert_false(effect.gpu_performance.applied);
    assert_string_equal(effect.gpu_performance.why, "the driver refused the hint");
    assert_ptr_equal(cl->context, before);
    refuse = false;
    tn_cl_context_close(cl);
    assert_int_equal(atomic_load(&heap.live_blocks), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(tokens), cmocka_unit_test(refusals)};
    tn_heap_init(&heap, NULL, NULL, NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
