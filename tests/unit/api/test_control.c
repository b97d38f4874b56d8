// SPDX-License-Identifier: Apache-2.0
// Control of runs: cancel, deadline, asynchronous runs, observers, sessions in parallel threads, shared and foreign thread pools.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <tenon/build.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static tenon_model *open_model(const char *path)
{
    tenon_model *model = NULL;
    assert_int_equal(tenon_model_open(&model, path, NULL, NULL), TENON_OK);
    return model;
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void set_spin(tenon_session *s, int64_t count)
{
    static float x[64 * 64];
    assert_int_equal(tenon_session_set_input(s, "count", TENON_INT64, 0, NULL, &count, 8, NULL), TENON_OK);
    assert_int_equal(tenon_session_set_input(s, "x", TENON_FLOAT32, 2, (const int64_t[]){64, 64}, x, sizeof x, NULL), TENON_OK);
}

static tenon_session *open_spin(tenon_model *model)
{
    tenon_session *session = NULL;
    tenon_session_options o;
    tenon_session_options_init(&o);
    o.threads = 1;
    o.limit_loop_steps = (uint64_t)1 << 40;
    assert_int_equal(tenon_session_create(&session, model, &o, NULL), TENON_OK);
    return session;
}

typedef struct finished {
    atomic_int done;
    tenon_status status;
} finished;

static void on_done(void *context, tenon_session *session, tenon_status status, const tenon_error *error)
{
    finished *f = context;
    (void)session;
    assert_true((status == TENON_OK) == (error == NULL));
    f->status = status;
    atomic_store(&f->done, 1);
}

static void cancel_ends_a_run_and_the_session_goes_on(void **unused)
{
    tenon_model *model = open_model("data/session/spin.onnx");
    tenon_session *s = open_spin(model);
    finished f = {0};
    (void)unused;
    set_spin(s, (int64_t)1 << 38);
    assert_int_equal(tenon_session_run_async(s, NULL, 0, on_done, &f, NULL), TENON_OK);
    assert_int_equal(tenon_session_run_async(s, NULL, 0, on_done, &f, NULL), TENON_STATE);
    nanosleep(&(struct timespec){0, 20000000}, NULL);
    assert_int_equal(atomic_load(&f.done), 0);
    tenon_session_cancel(s);
    tenon_session_wait(s);
    assert_int_equal(f.status, TENON_CANCELLED);
    set_spin(s, 3);
    f.done = 0;
    assert_int_equal(tenon_session_run_async(s, NULL, 0, on_done, &f, NULL), TENON_OK);
    tenon_session_wait(s);
    assert_int_equal(f.status, TENON_OK);
    assert_int_equal(tenon_session_output_count(s), 1);
    tenon_session_destroy(s);
    tenon_model_destroy(model);
}

typedef struct steps {
    tenon_session *session;
    int seen, last;   // last: 0 while they are counted
} steps;

static void cancel_after_the_last(void *context, const tenon_step_info *info, int after, const tenon_tensor *outputs)
{
    steps *st = context;
    (void)info;
    (void)outputs;
    st->seen += after;
    if (after && st->seen == st->last) {
        tenon_session_cancel(st->session);
    }
}

static void cancel_during_the_last_step_counts(void **unused)
{
    tenon_model *model = open_model("data/session/spin.onnx");
    steps st = {.session = open_spin(model)};
    (void)unused;
    set_spin(st.session, 1);
    tenon_session_observe(st.session, cancel_after_the_last, &st);
    assert_int_equal(tenon_session_run(st.session, NULL, 0, NULL), TENON_OK);
    st.last = st.seen;
    st.seen = 0;
    assert_true(st.last > 0);
    assert_int_equal(tenon_session_run(st.session, NULL, 0, NULL), TENON_CANCELLED);
    assert_int_equal(st.seen, st.last);
    assert_int_equal(tenon_session_run(st.session, NULL, 0, NULL), TENON_OK);
    tenon_session_destroy(st.session);
    tenon_model_destroy(model);
}

static void a_deadline_ends_a_run(void **unused)
{
    tenon_model *model = open_model("data/session/spin.onnx");
    tenon_session *s = open_spin(model);
    (void)unused;
    set_spin(s, (int64_t)1 << 38);
    tenon_session_set_deadline(s, 30000000);
    const double start = seconds();
    assert_int_equal(tenon_session_run(s, NULL, 0, NULL), TENON_DEADLINE);
    assert_true(seconds() - start < 20);
    set_spin(s, 2);
    tenon_session_set_deadline(s, 0);
    assert_int_equal(tenon_session_run(s, NULL, 0, NULL), TENON_OK);
    tenon_session_set_deadline(s, UINT64_MAX);   // later than any clock tells
    assert_int_equal(tenon_session_run(s, NULL, 0, NULL), TENON_OK);
    tenon_session_destroy(s);
    tenon_model_destroy(model);
}

// "steps" of the statistics.
static long steps_of(tenon_session *session)
{
    char *json = NULL;
    assert_int_equal(tenon_report(session, TENON_REPORT_STATISTICS, &json, NULL), TENON_OK);
    const char *at = strstr(json, "\"steps\":");
    assert_non_null(at);
    const long steps = strtol(at + 8, NULL, 10);
    tenon_report_destroy(json);
    return steps;
}

static void loops_are_limited(void **unused)
{
    tenon_model *model = open_model("data/session/spin.onnx");
    tenon_session *s = NULL;
    tenon_error *error = NULL;
    (void)unused;
    assert_int_equal(tenon_session_create(&s, model, NULL, NULL), TENON_OK);
    set_spin(s, INT64_MAX);
    tenon_session_set_deadline(s, (uint64_t)100 * 1000000000);
    tenon_session_options o;
    tenon_session_options_init(&o);
    o.limit_loop_steps = 10;
    tenon_session *limited = NULL;
    assert_int_equal(tenon_session_create(&limited, model, &o, NULL), TENON_OK);
    set_spin(limited, 11);
    assert_int_equal(tenon_session_run(limited, NULL, 0, &error), TENON_LIMIT);
    assert_non_null(strstr(tenon_error_message(error), "limit_loop_steps"));
    tenon_error_destroy(error);
    assert_int_equal(steps_of(limited), 0);          // the count is known: no turn was made
    set_spin(limited, 10);
    assert_int_equal(tenon_session_run(limited, NULL, 0, NULL), TENON_OK);
    tenon_session_destroy(limited);
    tenon_session_destroy(s);
    tenon_model_destroy(model);
}

// The turns of a loop together stay within limit_work, whatever one of them takes.
static void turns_count_as_work(void **unused)
{
    tenon_model *model = open_model("data/session/spin.onnx");
    tenon_session *s = NULL;
    tenon_error *error = NULL;
    tenon_session_options o;
    (void)unused;
    tenon_session_options_init(&o);
    o.limit_work = 100 * 64 * 64 * 64;      // a turn is a product of 64 x 64 x 64
    assert_int_equal(tenon_session_create(&s, model, &o, NULL), TENON_OK);
    set_spin(s, 3);
    assert_int_equal(tenon_session_run(s, NULL, 0, NULL), TENON_OK);
    set_spin(s, 1000);
    assert_int_equal(tenon_session_run(s, NULL, 0, &error), TENON_LIMIT);
    assert_non_null(strstr(tenon_error_message(error), "limit_work"));
    tenon_error_destroy(error);
    set_spin(s, 80);                        // each run begins at nothing
    assert_int_equal(tenon_session_run(s, NULL, 0, NULL), TENON_OK);
    assert_int_equal(tenon_session_run(s, NULL, 0, NULL), TENON_OK);
    tenon_session_destroy(s);
    tenon_model_destroy(model);
}

// ---- observers ----

typedef struct seen {
    int before, after;
    char names[4096];
} seen;

static void on_step(void *context, const tenon_step_info *info, int after, const tenon_tensor *outputs)
{
    seen *s = context;
    *(after ? &s->after : &s->before) += 1;
    for (size_t i = 0; after && i < info->output_count; i++) {
        assert_non_null(outputs[i].data);
        strncat(s->names, info->output_names[i], sizeof s->names - strlen(s->names) - 1);
        strncat(s->names, "\n", sizeof s->names - strlen(s->names) - 1);
    }
}

static void set_picture(tenon_session *s)
{
    float x[3 * 24 * 24];     // the threads of one test each fill their own
    for (size_t i = 0; i < sizeof x / sizeof x[0]; i++) {
        x[i] = (float)((i * 2654435761u >> 8) % 2000) / 1000.0f - 1.0f;
    }
    assert_int_equal(tenon_session_set_input(s, "x", TENON_FLOAT32, 4, (const int64_t[]){1, 3, 24, 24}, x, sizeof x, NULL), TENON_OK);
}

static void observers_see_every_step(void **unused)
{
    tenon_model *model = open_model("data/session/swallow.onnx");
    tenon_session *s = NULL;
    seen list = {0};
    (void)unused;
    assert_int_equal(tenon_session_create(&s, model, NULL, NULL), TENON_OK);
    set_picture(s);
    tenon_session_observe(s, on_step, &list);
    assert_int_equal(tenon_session_run(s, NULL, 0, NULL), TENON_OK);
    assert_true(list.before > 3);
    assert_int_equal(list.before, list.after);
    assert_non_null(strstr(list.names, "y\n"));
    tenon_session_observe(s, NULL, NULL);
    assert_int_equal(tenon_session_run(s, NULL, 0, NULL), TENON_OK);
    assert_int_equal(list.before, list.after);
    tenon_session_destroy(s);
    tenon_model_destroy(model);
}

typedef struct meddler {
    tenon_session *session;
    tenon_model *model;
    int calls, wrong;
} meddler;

enum { MOST_MEDDLED = 3 };     // calls of the callback that do something

// Calls of the same session from inside its run refuse, void ones do nothing, and the run goes on.
static void meddle(void *context, const tenon_step_info *info, int after, const tenon_tensor *outputs)
{
    static const int64_t dims[4] = {1, 3, 1, 1};
    static _Alignas(8) float x[4];
    meddler *m = context;
    const tenon_input_shape shape = {.name = "x", .rank = 4, .dims = {1, 3, 8, 8}};
    (void)info;
    (void)after;
    (void)outputs;
    if (m->calls++ >= MOST_MEDDLED) {
        return;
    }
    const tenon_status got[] = {
        tenon_session_run(m->session, NULL, 0, NULL), tenon_session_run_async(m->session, NULL, 0, NULL, NULL, NULL),
        tenon_session_prepare(m->session, NULL, 0, NULL), tenon_session_prepare_shapes(m->session, &shape, 1, NULL, 0, NULL),
        tenon_session_set_input(m->session, "x", TENON_FLOAT32, 4, dims, x, 12, NULL),
        tenon_session_bind_output(m->session, "y", x, sizeof x, NULL), tenon_session_profile(m->session, 10, NULL),
    };
    for (size_t i = 0; i < sizeof got / sizeof got[0]; i++) {
        m->wrong += got[i] != TENON_STATE;
    }
    for (int kind = TENON_REPORT_EXPLAIN; kind <= TENON_REPORT_PROFILE; kind++) {
        char *json = NULL;
        const tenon_status said = tenon_report(m->session, (tenon_report_kind)kind, &json, NULL);
        m->wrong += said != (kind == TENON_REPORT_MODEL || kind == TENON_REPORT_GRAPH ? TENON_OK : TENON_STATE);
        tenon_report_destroy(json);
    }
    tenon_save_options so;
    tenon_error *error = NULL;
    tenon_save_options_init(&so);
    so.session = m->session;
    m->wrong += tenon_model_save(m->model, "/no/such/folder/x.tenon", &so, &error) != TENON_STATE || !strstr(tenon_error_message(error), "running");
    tenon_error_destroy(error);
    tenon_session_clear_inputs(m->session);     // does nothing: the runs below find their inputs
    tenon_session_trim(m->session);
    tenon_session_wait(m->session);
    tenon_session_set_deadline(m->session, 1);
    tenon_session_observe(m->session, NULL, NULL);     // nor this: more calls come
}

static void callbacks_cannot_disturb_their_run(void **unused)
{
    tenon_model *model = open_model("data/session/swallow.onnx");
    tenon_session *s = NULL;
    finished f = {0};
    (void)unused;
    assert_int_equal(tenon_session_create(&s, model, NULL, NULL), TENON_OK);
    set_picture(s);
    meddler m = {.session = s, .model = model};
    tenon_session_observe(s, meddle, &m);
    assert_int_equal(tenon_session_run(s, NULL, 0, NULL), TENON_OK);
    assert_int_equal(m.wrong, 0);
    assert_true(m.calls > MOST_MEDDLED);
    m.calls = 0;
    assert_int_equal(tenon_session_run_async(s, NULL, 0, on_done, &f, NULL), TENON_OK);
    tenon_session_wait(s);
    assert_int_equal(f.status, TENON_OK);
    assert_int_equal(m.wrong, 0);
    assert_true(m.calls > MOST_MEDDLED);
    tenon_session_observe(s, NULL, NULL);
    set_picture(s);
    assert_int_equal(tenon_session_run(s, NULL, 0, NULL), TENON_OK);
    tenon_session_destroy(s);
    tenon_model_destroy(model);
}

// ---- threads ----

typedef struct shared {
    tenon_model *model;
    const tenon_session_options *options;
    float want[20];
    atomic_int wrong;
} shared;

static void *many_runs(void *argument)
{
    shared *sh = argument;
    tenon_session *s = NULL;
    if (tenon_session_create(&s, sh->model, sh->options, NULL) != TENON_OK) {
        atomic_fetch_add(&sh->wrong, 1);
        return NULL;
    }
    set_picture(s);
    for (int i = 0; i < 30; i++) {
        tenon_tensor y;
        const char *name = i % 3 ? "y" : "side";
        if (tenon_session_run(s, &name, 1, NULL) != TENON_OK || tenon_session_output(s, 0, &y, NULL) != TENON_OK ||
            (i % 3 && memcmp(y.data, sh->want, sizeof sh->want) != 0)) {
            atomic_fetch_add(&sh->wrong, 1);
        }
    }
    tenon_session_destroy(s);
    return NULL;
}

static void in_parallel(const tenon_session_options *options)
{
    shared sh = {.model = open_model("data/session/swallow.onnx"), .options = options};
    tenon_session *s = NULL;
    tenon_tensor y;
    pthread_t threads[8];
    const char *name = "y";     // asked for alone, as in the threads: other wishes may mean other layouts
    assert_int_equal(tenon_session_create(&s, sh.model, NULL, NULL), TENON_OK);
    set_picture(s);
    assert_int_equal(tenon_session_run(s, &name, 1, NULL), TENON_OK);
    assert_int_equal(tenon_session_output(s, 0, &y, NULL), TENON_OK);
    assert_int_equal(y.bytes, sizeof sh.want);
    memcpy(sh.want, y.data, sizeof sh.want);
    for (int i = 0; i < 8; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, many_runs, &sh), 0);
    }
    for (int i = 0; i < 8; i++) {
        pthread_join(threads[i], NULL);
    }
    assert_int_equal(atomic_load(&sh.wrong), 0);
    tenon_session_destroy(s);
    tenon_model_destroy(sh.model);
}

static void sessions_run_in_parallel(void **unused)
{
    (void)unused;
    for (unsigned threads = 1; threads <= 4; threads++) {
        tenon_session_options o;
        tenon_session_options_init(&o);
        o.threads = threads;
        in_parallel(&o);
    }
}

static void sessions_share_a_pool(void **unused)
{
    tenon_pool_options po;
    tenon_session_options o;
    tenon_pool *pool = NULL;
    (void)unused;
    tenon_pool_options_init(&po);
    po.threads = 3;
    po.affinity = TENON_AFFINITY_HIGH_PERFORMANCE;
    assert_int_equal(tenon_pool_create(&pool, &po, NULL), TENON_OK);
    tenon_session_options_init(&o);
    o.pool = pool;
    in_parallel(&o);
    tenon_pool_destroy(pool);
}

static atomic_int foreign_jobs;

static void foreign_run(void *context, void (*task)(void *task_context, size_t slot), void *task_context, size_t slots)
{
    (void)context;
    atomic_fetch_add(&foreign_jobs, 1);
    for (size_t i = slots; i-- > 0;) {
        task(task_context, i);
    }
}

static void a_foreign_pool_is_used(void **unused)
{
    tenon_pool_options po;
    tenon_session_options o;
    tenon_pool *pool = NULL;
    (void)unused;
    tenon_pool_options_init(&po);
    po.threads = 4;
    po.run = foreign_run;
    assert_int_equal(tenon_pool_create(&pool, &po, NULL), TENON_OK);
    tenon_session_options_init(&o);
    o.pool = pool;
    in_parallel(&o);
    tenon_pool_destroy(pool);
    assert_true(atomic_load(&foreign_jobs) > 0);
}

// ---- power hints ----

static void power_hints_are_reported_and_never_fail(void **unused)
{
    tenon_model *model = open_model("data/session/swallow.onnx");
    tenon_session *s = NULL;
    tenon_session_options o;
    tenon_power power;
    char *json = NULL;
    (void)unused;
    tenon_session_options_init(&o);
    tenon_power_init(&power);
    power.affinity = TENON_AFFINITY_POWER_SAVE;
    power.gpu_performance = 3;
    power.gpu_priority = 1;
    power.dsp_level = 5;
    power.dsp_dcvs = 2;
    o.power = &power;
    o.device = "cpu";
    assert_int_equal(tenon_session_create(&s, model, &o, NULL), TENON_OK);
    assert_int_equal(tenon_report(s, TENON_REPORT_STATISTICS, &json, NULL), TENON_OK);
    assert_non_null(strstr(json, "\"affinity\":{\"asked\":\"power-save\""));
    assert_non_null(strstr(json, "\"gpu_performance\":{\"asked\":3,\"effect\":\"not supported here\",\"why\":\""));
    assert_non_null(strstr(json, "\"dsp_dcvs\":{\"asked\":2,\"effect\":\"not supported here\""));
    assert_non_null(strstr(json, "\"dsp_latency_us\":{\"asked\":0,\"effect\":\"default\",\"why\":null}"));
    tenon_report_destroy(json);
    tenon_session_destroy(s);
    tenon_model_destroy(model);
}

static void power_hints_out_of_range_are_refused(void **unused)
{
    tenon_model *model = open_model("data/session/swallow.onnx");
    static const struct { const char *name; size_t offset; int value; } wrong[] = {
        {"affinity", offsetof(tenon_power, affinity), 9},      {"gpu_performance", offsetof(tenon_power, gpu_performance), 4},
        {"gpu_priority", offsetof(tenon_power, gpu_priority), -1}, {"dsp_level", offsetof(tenon_power, dsp_level), 6},
        {"dsp_dcvs", offsetof(tenon_power, dsp_dcvs), 3},      {"dsp_latency_us", offsetof(tenon_power, dsp_latency_us), -5},
    };
    (void)unused;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        tenon_session *s = NULL;
        tenon_session_options o;
        tenon_power power;
        tenon_error *error = NULL;
        tenon_session_options_init(&o);
        tenon_power_init(&power);
        memcpy((char *)&power + wrong[i].offset, &wrong[i].value, sizeof wrong[i].value);
        o.power = &power;
        assert_int_equal(tenon_session_create(&s, model, &o, &error), TENON_INVALID_ARGUMENT);
        assert_string_equal(tenon_error_place(error), wrong[i].name);
        tenon_error_destroy(error);
    }
    tenon_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cancel_ends_a_run_and_the_session_goes_on),
        cmocka_unit_test(cancel_during_the_last_step_counts),
        cmocka_unit_test(a_deadline_ends_a_run),
        cmocka_unit_test(loops_are_limited),
        cmocka_unit_test(turns_count_as_work),
        cmocka_unit_test(observers_see_every_step),
        cmocka_unit_test(callbacks_cannot_disturb_their_run),
        cmocka_unit_test(sessions_run_in_parallel),
        cmocka_unit_test(sessions_share_a_pool),
        cmocka_unit_test(a_foreign_pool_is_used),
        cmocka_unit_test(power_hints_are_reported_and_never_fail),
        cmocka_unit_test(power_hints_out_of_range_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
