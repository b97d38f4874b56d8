// SPDX-License-Identifier: Apache-2.0
// Sessions through the public API: inputs that decide shapes, wanted names, light mode and shared memory, limits, refusals.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <tenon/tenon.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__has_feature)
#define SANITIZED (__has_feature(thread_sanitizer) || __has_feature(address_sanitizer))
#else
#define SANITIZED 0
#endif

static tenon_model *open_model(const char *name, int no_optimise)
{
    char path[128];
    tenon_model *model = NULL;
    tenon_model_options options;
    tenon_model_options_init(&options);
    options.no_optimise = no_optimise;
    snprintf(path, sizeof path, "data/session/%s.onnx", name);
    assert_int_equal(tenon_model_open(&model, path, &options, NULL), TENON_OK);
    return model;
}

static tenon_session *open_session(tenon_model *model, const tenon_session_options *options)
{
    tenon_session *session = NULL;
    tenon_error *error = NULL;
    if (tenon_session_create(&session, model, options, &error) != TENON_OK) {
        fail_msg("%s: %s", tenon_error_place(error), tenon_error_message(error));
    }
    return session;
}

static void run(tenon_session *session, const char *const *names, size_t count)
{
    tenon_error *error = NULL;
    if (tenon_session_run(session, names, count, &error) != TENON_OK) {
        fail_msg("%s: %s", tenon_error_place(error), tenon_error_message(error));
    }
}

static void same_results(tenon_session *a, tenon_session *b)
{
    assert_int_equal(tenon_session_output_count(a), tenon_session_output_count(b));
    for (size_t i = 0; i < tenon_session_output_count(a); i++) {
        tenon_tensor x, y;
        assert_int_equal(tenon_session_output(a, i, &x, NULL), TENON_OK);
        assert_int_equal(tenon_session_output(b, i, &y, NULL), TENON_OK);
        assert_int_equal(x.rank, y.rank);
        assert_memory_equal(x.dims, y.dims, sizeof x.dims);
        assert_int_equal(x.bytes, y.bytes);
        assert_memory_equal(x.data, y.data, x.bytes);
    }
}

static long report_value(tenon_session *session, tenon_report_kind kind, const char *key)
{
    char *json = NULL, pattern[64];
    assert_int_equal(tenon_report(session, kind, &json, NULL), TENON_OK);
    snprintf(pattern, sizeof pattern, "\"%s\":", key);
    const char *at = strstr(json, pattern);
    assert_non_null(at);
    const long number = strtol(at + strlen(pattern), NULL, 10);
    tenon_report_destroy(json);
    return number;
}

static long statistic(tenon_session *session, const char *key) { return report_value(session, TENON_REPORT_STATISTICS, key); }

// ---- inputs whose values decide ----

typedef struct deciding {
    int64_t shape[3], rank, start, end, k;
    unsigned char cond;
} deciding;

static void set_deciders(tenon_session *s, const deciding *d, const float *x)
{
    assert_int_equal(tenon_session_set_input(s, "x", TENON_FLOAT32, 2, (const int64_t[]){2, 6}, x, 48, NULL), TENON_OK);
    assert_int_equal(tenon_session_set_input(s, "shape", TENON_INT64, 1, &d->rank, d->shape, (size_t)d->rank * 8, NULL), TENON_OK);
    assert_int_equal(tenon_session_set_input(s, "starts", TENON_INT64, 1, (const int64_t[]){1}, &d->start, 8, NULL), TENON_OK);
    assert_int_equal(tenon_session_set_input(s, "ends", TENON_INT64, 1, (const int64_t[]){1}, &d->end, 8, NULL), TENON_OK);
    assert_int_equal(tenon_session_set_input(s, "k", TENON_INT64, 1, (const int64_t[]){1}, &d->k, 8, NULL), TENON_OK);
    assert_int_equal(tenon_session_set_input(s, "cond", TENON_BOOL, 0, NULL, &d->cond, 1, NULL), TENON_OK);
}

static void values_decide_shapes(void **unused)
{
    static const deciding list[] = {{{3, 4}, 2, 0, 3, 2, 1},  {{2, 2, 3}, 3, 1, 6, 6, 0}, {{12}, 1, -2, 100, 1, 1},
                                    {{3, 4}, 2, 0, 3, 2, 1},  {{-1, 6}, 2, 5, 2, 3, 0},   {{2, 2, 3}, 3, 1, 6, 6, 0}};
    float x[12];
    (void)unused;
    for (int i = 0; i < 12; i++) {
        x[i] = (float)((i * 7) % 12);
    }
    tenon_model *model = open_model("deciders", 0);
    tenon_session *kept = open_session(model, NULL);
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
        tenon_session *fresh = open_session(model, NULL);
        set_deciders(kept, &list[i], x);
        set_deciders(fresh, &list[i], x);
        run(kept, NULL, 0);
        run(fresh, NULL, 0);
        same_results(kept, fresh);
        tenon_tensor t;
        tenon_session_output(kept, 4, &t, NULL);
        assert_int_equal(t.dims[0], list[i].cond ? 2 : 4);
        tenon_session_destroy(fresh);
    }
    assert_int_equal(statistic(kept, "plans_made"), 4);     // two of the six were seen before
    assert_int_equal(statistic(kept, "plan_hits"), 2);
    tenon_model_destroy(model);
    tenon_session_destroy(kept);
}

// ---- wanted names ----

static void set_picture(tenon_session *s, int64_t n, int64_t side)
{
    static float x[4 * 3 * 32 * 32];
    const int64_t dims[4] = {n, 3, side, side};
    for (size_t i = 0; i < sizeof x / sizeof x[0]; i++) {
        x[i] = (float)((i * 2654435761u >> 8) % 2000) / 1000.0f - 1.0f;
    }
    assert_int_equal(tenon_session_set_input(s, "x", TENON_FLOAT32, 4, dims, x, (size_t)(n * 3 * side * side) * 4, NULL), TENON_OK);
}

static void fewer_results_run_fewer_steps(void **unused)
{
    tenon_model *model = open_model("swallow", 0);
    tenon_session *s = open_session(model, NULL);
    (void)unused;
    set_picture(s, 1, 16);
    run(s, NULL, 0);
    const long all = statistic(s, "steps");
    const char *side = "side";
    run(s, &side, 1);
    const long few = statistic(s, "steps") - all;
    assert_true(few > 0 && few < all);
    assert_int_equal(tenon_session_output_count(s), 1);
    tenon_session_destroy(s);
    tenon_model_destroy(model);
}

// Without optimising each node of the file is a step of its own: nothing is fused when the plan is made, either.
static void what_is_written_is_run(void **unused)
{
    tenon_model *model = open_model("swallow", 1);
    tenon_session *s = open_session(model, NULL);
    char *json = NULL, *plan = NULL;
    (void)unused;
    set_picture(s, 2, 11);
    run(s, NULL, 0);
    assert_int_equal(tenon_report(s, TENON_REPORT_EXPLAIN, &plan, NULL), TENON_OK);
    assert_int_equal(tenon_report(s, TENON_REPORT_MODEL, &json, NULL), TENON_OK);
    long planned = 0;
    for (const char *at = strstr(plan, "\"origins\":["); at; at = strstr(at, "\"origins\":[")) {
        at += strlen("\"origins\":[");
        const char *end = strchr(at, ']'), *comma = strchr(at, ',');
        if (comma && comma < end) {
            fail_msg("fused: %.*s", (int)(end - at), at);
        }
        planned += *at != ']';
    }
    const char *nodes = strstr(json, "\"nodes\":");
    assert_non_null(nodes);
    assert_true(planned >= strtol(nodes + strlen("\"nodes\":"), NULL, 10));
    tenon_report_destroy(json);
    tenon_report_destroy(plan);
    tenon_session_destroy(s);
    tenon_model_destroy(model);
}

static void swallowed_tensors_can_be_asked_for(void **unused)
{
    static const char *const names[] = {"c1", "r1", "c2", "sum", "gate", "silu", "c3", "pooled", "y"};
    tenon_model *model = open_model("swallow", 0), *plain = open_model("swallow", 1);
    tenon_session *s = open_session(model, NULL), *reference = open_session(plain, NULL);
    (void)unused;
    set_picture(s, 2, 11);
    set_picture(reference, 2, 11);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        tenon_tensor a, b;
        run(s, &names[i], 1);
        run(reference, &names[i], 1);
        tenon_session_output(s, 0, &a, NULL);
        tenon_session_output(reference, 0, &b, NULL);
        assert_int_equal(a.bytes, b.bytes);
        for (size_t k = 0; k < a.bytes / 4; k++) {
            const float got = ((const float *)a.data)[k], want = ((const float *)b.data)[k];
            if (fabsf(got - want) > 1e-4f * (1 + fabsf(want))) {
                fail_msg("%s[%zu]: %g, want %g", names[i], k, (double)got, (double)want);
            }
        }
    }
    run(s, names, 9);
    assert_int_equal(tenon_session_output_count(s), 9);
    const char *none = "no_such_tensor";
    assert_int_equal(tenon_session_run(s, &none, 1, NULL), TENON_NOT_FOUND);
    run(s, NULL, 0);
    tenon_session_destroy(s);
    tenon_session_destroy(reference);
    tenon_model_destroy(model);
    tenon_model_destroy(plain);
}

// ---- memory ----

static void light_and_shared_arenas_give_the_same(void **unused)
{
    tenon_model *model = open_model("swallow", 0);
    tenon_session_options light, shared;
    tenon_arenas *arenas = NULL;
    (void)unused;
    assert_int_equal(tenon_arenas_create(&arenas, 1 << 20, NULL), TENON_OK);
    tenon_session_options_init(&light);
    light.light = 1;
    tenon_session_options_init(&shared);
    shared.arenas = arenas;
    tenon_session *plain = open_session(model, NULL), *a = open_session(model, &light), *b = open_session(model, &shared);
    tenon_session *c = open_session(model, &shared);
    tenon_arenas_destroy(arenas);
    for (int64_t side = 5; side < 32; side += 9) {
        tenon_session *list[4] = {plain, a, b, c};
        for (int i = 0; i < 4; i++) {
            set_picture(list[i], 1 + side % 2, side);
            run(list[i], NULL, 0);
        }
        same_results(plain, a);
        same_results(plain, b);
        same_results(plain, c);
    }
    tenon_session_trim(plain);
    run(plain, NULL, 0);
    same_results(plain, a);
    tenon_session_destroy(a);
    tenon_session_destroy(b);
    tenon_session_destroy(c);
    tenon_session_destroy(plain);
    tenon_model_destroy(model);
}

static void limits_are_refused_by_name(void **unused)
{
    tenon_model *model = open_model("swallow", 0);
    tenon_session_options o;
    tenon_error *error = NULL;
    (void)unused;
    tenon_session_options_init(&o);
    o.memory_limit = 1000;
    tenon_session *s = open_session(model, &o);
    set_picture(s, 4, 32);
    assert_int_equal(tenon_session_run(s, NULL, 0, &error), TENON_LIMIT);
    assert_non_null(strstr(tenon_error_message(error), "memory_limit"));
    tenon_error_destroy(error);
    error = NULL;
    tenon_session_destroy(s);
    o.memory_limit = 0;
    o.limit_work = 10;
    s = open_session(model, &o);
    set_picture(s, 1, 8);
    assert_int_equal(tenon_session_run(s, NULL, 0, &error), TENON_LIMIT);
    assert_non_null(strstr(tenon_error_message(error), "limit_work"));
    tenon_error_destroy(error);
    tenon_session_destroy(s);
    tenon_model_destroy(model);
}

static long needed_by(tenon_session *s)
{
    return report_value(s, TENON_REPORT_MEMORY, "peak_bytes");
}

// Runs under a limit; 0 when it fits, else the number of bytes the refusal asks for. `like`: results to compare with, or NULL.
static unsigned long long run_within(tenon_model *model, const float *x, unsigned long long limit, const float *like)
{
    tenon_session_options o;
    tenon_error *error = NULL;
    unsigned long long asked = 0;
    tenon_tensor y;
    tenon_session_options_init(&o);
    o.memory_limit = limit;
    tenon_session *s = NULL;
    tenon_status status = tenon_session_create(&s, model, &o, &error);     // shapes are known: planned here
    if (status == TENON_OK) {
        assert_int_equal(tenon_session_set_input(s, "x", TENON_FLOAT32, 4, (const int64_t[]){1, 16, 16, 16}, x, 16384, NULL), TENON_OK);
        status = tenon_session_run(s, NULL, 0, &error);
    }
    if (status == TENON_OK) {
        assert_true((unsigned long long)needed_by(s) <= limit);
        assert_int_equal(tenon_session_output(s, 0, &y, NULL), TENON_OK);
        for (int i = 0; like && i < 96; i++) {
            assert_true(fabsf(((const float *)y.data)[i] - like[i]) <= 1e-4f);
        }
    } else {
        assert_int_equal(status, TENON_LIMIT);
        assert_int_equal(sscanf(tenon_error_message(error), "a run would take at least %llu", &asked), 1);
        tenon_error_destroy(error);
    }
    tenon_session_destroy(s);
    return asked;
}

// Over the limit a plan with smaller rows is found, as long as there is one; the number in the refusal is the limit that is enough.
static void a_limit_is_kept_by_smaller_rows(void **unused)
{
    tenon_model *model = open_model("weighty", 0);
    tenon_session *free_of_limits = open_session(model, NULL);
    float x[4096], like[96];
    tenon_tensor y;
    (void)unused;
    for (int i = 0; i < 4096; i++) {
        x[i] = (float)((i * 37) % 101) / 101 - 0.5f;
    }
    assert_int_equal(tenon_session_set_input(free_of_limits, "x", TENON_FLOAT32, 4, (const int64_t[]){1, 16, 16, 16}, x, sizeof x, NULL),
                     TENON_OK);
    run(free_of_limits, NULL, 0);
    assert_int_equal(tenon_session_output(free_of_limits, 0, &y, NULL), TENON_OK);
    memcpy(like, y.data, sizeof like);
    const unsigned long long peak = (unsigned long long)needed_by(free_of_limits);
    tenon_session_destroy(free_of_limits);
    assert_int_equal(run_within(model, x, peak, like), 0);
    assert_int_equal(run_within(model, x, peak * 9 / 10, like), 0);
    assert_int_equal(run_within(model, x, peak * 6 / 10, like), 0);
    const unsigned long long least = run_within(model, x, 1, like);
    assert_in_range(least, 2, peak * 6 / 10);
    assert_int_equal(run_within(model, x, least, like), 0);
    assert_int_equal(run_within(model, x, least - 1, like), least);
    tenon_session_options o;
    char *json = NULL;
    tenon_session_options_init(&o);
    o.memory_limit = least;
    tenon_session *s = open_session(model, &o);
    assert_int_equal(tenon_report(s, TENON_REPORT_EXPLAIN, &json, NULL), TENON_OK);
    assert_non_null(strstr(json, "memory_limit leaves no room"));
    tenon_report_destroy(json);
    tenon_session_destroy(s);
    tenon_model_destroy(model);
}

static size_t resident(void)
{
    long pages = 0, all = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file) {
        if (fscanf(file, "%ld %ld", &all, &pages) != 2) {
            pages = 0;
        }
        fclose(file);
    }
    return (size_t)pages * 4096;
}

static void cycles_leave_nothing(void **unused)
{
    const int cycles = getenv("TENON_FULL") ? 10000 : 300;
    tenon_model *model = open_model("swallow", 0);
    tenon_session *keeper = open_session(model, NULL);      // only to ask
    const long live = statistic(keeper, "live_bytes");
    size_t early = 0;
    (void)unused;
    for (int i = 0; i < cycles; i++) {
        tenon_session *s = open_session(model, NULL);
        set_picture(s, 1, 8 + i % 3);
        run(s, NULL, 0);
        tenon_session_destroy(s);
        if (i == 50) {
            early = resident();
        }
    }
    assert_true(statistic(keeper, "live_bytes") - live < 8 * cycles);      // the report itself lies in the heap: its buffer may have grown
    tenon_session_destroy(keeper);
    tenon_model_destroy(model);
    // Sanitizers and emulators keep memory of their own.
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && !SANITIZED
    assert_true(resident() < early + (2 << 20));
#else
    (void)early;
#endif
}

// ---- refusals ----

static void bad_arguments_are_refused(void **unused)
{
    tenon_model *model = open_model("swallow", 0);
    tenon_session_options o;
    tenon_session *s = NULL;
    tenon_error *error = NULL;
    tenon_tensor t;
    float x[10] = {0};
    (void)unused;
    tenon_session_options_init(&o);
    o.device = "no-such-device";
    assert_int_equal(tenon_session_create(&s, model, &o, &error), TENON_DEVICE);
    assert_null(s);
    tenon_error_destroy(error);
    error = NULL;
    o.device = NULL;
    o.isa = "mmx";
    assert_int_equal(tenon_session_create(&s, model, &o, NULL), TENON_INVALID_ARGUMENT);
    o.isa = NULL;
    o.precision = "int3";
    assert_int_equal(tenon_session_create(&s, model, &o, NULL), TENON_INVALID_ARGUMENT);
    o.struct_size = 3;
    assert_int_equal(tenon_session_create(&s, model, &o, NULL), TENON_INVALID_ARGUMENT);
    s = open_session(model, NULL);
    assert_int_equal(tenon_session_output(s, 0, &t, NULL), TENON_STATE);
    assert_int_equal(tenon_session_run(s, NULL, 0, NULL), TENON_STATE);
    const int64_t dims[4] = {1, 3, 1, 1}, wrong[4] = {1, 4, 1, 1}, negative[4] = {-1, 3, 1, 1};
    assert_int_equal(tenon_session_set_input(s, "z", TENON_FLOAT32, 4, dims, x, 12, NULL), TENON_NOT_FOUND);
    assert_int_equal(tenon_session_set_input(s, "x", TENON_FLOAT64, 4, dims, x, 24, NULL), TENON_INVALID_ARGUMENT);
    assert_int_equal(tenon_session_set_input(s, "x", TENON_FLOAT32, 4, wrong, x, 16, NULL), TENON_INVALID_ARGUMENT);
    assert_int_equal(tenon_session_set_input(s, "x", TENON_FLOAT32, 4, negative, x, 12, NULL), TENON_INVALID_ARGUMENT);
    assert_int_equal(tenon_session_set_input(s, "x", TENON_FLOAT32, 3, dims, x, 12, NULL), TENON_INVALID_ARGUMENT);
    assert_int_equal(tenon_session_set_input(s, "x", TENON_FLOAT32, 4, dims, x, 11, NULL), TENON_INVALID_ARGUMENT);
    assert_int_equal(tenon_session_set_input(s, "x", TENON_FLOAT32, 99, dims, x, 12, NULL), TENON_INVALID_ARGUMENT);
    assert_int_equal(tenon_session_bind_input(s, "x", TENON_FLOAT32, 4, dims, (char *)x + 1, 12, NULL), TENON_INVALID_ARGUMENT);
    assert_int_equal(tenon_session_set_input(s, "x", TENON_FLOAT32, 4, dims, x, 12, NULL), TENON_OK);
    assert_int_equal(tenon_session_bind_output(s, "y", x, 4, NULL), TENON_OK);
    assert_int_equal(tenon_session_run(s, NULL, 0, &error), TENON_INVALID_ARGUMENT);
    tenon_error_destroy(error);
    assert_int_equal(tenon_session_bind_output(s, "y", NULL, 0, NULL), TENON_OK);
    run(s, NULL, 0);
    tenon_session_destroy(s);
    tenon_model_destroy(model);
}

// A buffer of another type or too small is refused before any buffer is written.
static void bound_outputs_fit_or_none_is_written(void **unused)
{
    tenon_model *model = open_model("swallow", 0);
    tenon_session *s = open_session(model, NULL);
    static _Alignas(8) float y[20], side[20 * 64];
    tenon_error *error = NULL;
    (void)unused;
    assert_int_equal(tenon_session_bind_output_as(NULL, "y", TENON_FLOAT32, y, sizeof y, NULL), TENON_INVALID_ARGUMENT);
    assert_int_equal(tenon_session_bind_output_as(s, "y", (tenon_dtype)99, y, sizeof y, NULL), TENON_INVALID_ARGUMENT);
    assert_int_equal(tenon_session_bind_output_as(s, "nobody", TENON_FLOAT32, y, sizeof y, NULL), TENON_NOT_FOUND);
    set_picture(s, 1, 8);
    for (int wrong = 0; wrong < 2; wrong++) {
        y[0] = side[0] = 77;
        tenon_status status = tenon_session_bind_output_as(s, "y", TENON_FLOAT32, y, sizeof y, NULL);
        assert_int_equal(status, TENON_OK);
        status = tenon_session_bind_output_as(s, "side", wrong ? TENON_INT32 : TENON_FLOAT32, side, wrong ? sizeof side : sizeof side - 4, &error);
        status = status == TENON_OK ? tenon_session_run(s, NULL, 0, &error) : status;
        assert_int_equal(status, TENON_INVALID_ARGUMENT);
        assert_string_equal(tenon_error_place(error), "side");
        assert_true(y[0] == 77 && side[0] == 77);
    }
    tenon_error_destroy(error);
    assert_int_equal(tenon_session_bind_output_as(s, "side", TENON_FLOAT32, side, sizeof side, NULL), TENON_OK);
    run(s, NULL, 0);
    assert_true(y[0] != 77 && side[0] != 77);
    tenon_session_destroy(s);
    tenon_model_destroy(model);
}

// Results are written while inputs are read, so no byte may be both; nor the byte of two results.
static void overlapping_buffers_are_refused(void **unused)
{
    static const char *const names[] = {"c1", "y"};
    static uint64_t room[1 << 12];
    static const int64_t dims[4] = {1, 3, 8, 8};
    tenon_model *model = open_model("swallow", 0);
    tenon_session *s = open_session(model, NULL);
    tenon_error *error = NULL;
    tenon_tensor out;
    float *x = (float *)(void *)&room[100];
    const size_t bytes = 3 * 8 * 8 * sizeof *x;       // words 100 .. 195
    (void)unused;
    for (size_t i = 0; i < 3 * 8 * 8; i++) {
        x[i] = (float)(i % 7) - 3;
    }
    assert_int_equal(tenon_session_bind_input(s, "x", TENON_FLOAT32, 4, dims, x, bytes, NULL), TENON_OK);
    run(s, NULL, 0);
    assert_int_equal(tenon_session_output(s, 0, &out, NULL), TENON_OK);
    const size_t size = out.bytes;
    float *want = malloc(size);
    memcpy(want, out.data, size);
    static const struct { size_t at, words; } over[] = {{100, 96}, {0, 101}, {195, 1000}, {120, 1}, {0, 4096}};
    for (size_t i = 0; i < sizeof over / sizeof over[0]; i++) {
        assert_int_equal(tenon_session_bind_output(s, "y", &room[over[i].at], over[i].words * 8, NULL), TENON_OK);
        assert_int_equal(tenon_session_run(s, NULL, 0, &error), TENON_INVALID_ARGUMENT);
        assert_string_equal(tenon_error_place(error), "y");
        assert_non_null(strstr(tenon_error_message(error), "input 'x'"));
    }
    assert_int_equal(tenon_session_bind_output(s, "y", &room[196], (4096 - 196) * 8, NULL), TENON_OK);     // right behind
    run(s, NULL, 0);
    assert_memory_equal(&room[196], want, size);
    assert_int_equal(tenon_session_bind_output(s, "c1", &room[2000], 2096 * 8, NULL), TENON_OK);
    run(s, NULL, 0);                                   // not wanted, so not written
    assert_int_equal(tenon_session_run(s, names, 2, &error), TENON_INVALID_ARGUMENT);
    assert_non_null(strstr(tenon_error_message(error), "output 'c1'"));
    assert_int_equal(tenon_session_bind_output(s, "c1", NULL, 0, NULL), TENON_OK);
    // An input by copy is the session's: its origin may be written over.
    assert_int_equal(tenon_session_set_input(s, "x", TENON_FLOAT32, 4, dims, x, bytes, NULL), TENON_OK);
    assert_int_equal(tenon_session_bind_output(s, "y", x, 8 * 1000, NULL), TENON_OK);
    run(s, NULL, 0);
    assert_memory_equal(x, want, size);
    free(want);
    tenon_error_destroy(error);
    tenon_session_destroy(s);
    tenon_model_destroy(model);
}

static void a_forked_child_refuses(void **unused)
{
    tenon_model *model = open_model("swallow", 0);
    tenon_session_options o;
    (void)unused;
    tenon_session_options_init(&o);
    o.threads = 2;
    tenon_session *s = open_session(model, &o);
    set_picture(s, 1, 8);
    run(s, NULL, 0);
    const pid_t child = fork();
    if (child == 0) {
        const int refused = tenon_session_run(s, NULL, 0, NULL) == TENON_STATE;
        tenon_session *own = NULL;
        int works = 1;
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__) && !SANITIZED     // emulator and sanitizer end a child that makes threads
        works = tenon_session_create(&own, model, &o, NULL) == TENON_OK;
        if (works) {
            set_picture(own, 1, 8);
            works = tenon_session_run(own, NULL, 0, NULL) == TENON_OK;
            tenon_session_destroy(own);
        }
#endif
        (void)own;
        tenon_session_destroy(s);
        _exit(refused && works ? 0 : 1);
    }
    int status = 1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    run(s, NULL, 0);
    tenon_session_destroy(s);
    tenon_model_destroy(model);
}

// 0, or the number of the first call on what the parent made that does not refuse in the child.
static int calls_in_child(tenon_session *s, tenon_pool *pool, tenon_arenas *arenas, tenon_model *model)
{
    static float x[3];
    static const int64_t dims[4] = {1, 3, 1, 1};
    tenon_session *other = NULL;
    tenon_session_options with_pool, with_arenas;
    tenon_session_options_init(&with_pool);
    tenon_session_options_init(&with_arenas);
    with_pool.pool = pool;
    with_arenas.arenas = arenas;
    alarm(20);      // a hang is a failure
    const tenon_status got[] = {
        tenon_session_run_async(s, NULL, 0, NULL, NULL, NULL), tenon_session_prepare(s, NULL, 0, NULL),
        tenon_session_set_input(s, "x", TENON_FLOAT32, 4, dims, x, sizeof x, NULL), tenon_session_profile(s, 10, NULL),
        tenon_session_create(&other, model, &with_pool, NULL), tenon_session_create(&other, model, &with_arenas, NULL),
    };
    for (int i = 0; i < (int)(sizeof got / sizeof got[0]); i++) {
        if (got[i] != TENON_STATE) {
            return i + 1;
        }
    }
    tenon_session_cancel(s);
    tenon_session_wait(s);
    tenon_session_trim(s);
    tenon_session_destroy(s);
    tenon_pool_destroy(pool);
    tenon_arenas_destroy(arenas);
    return 0;
}

static void what_was_made_before_a_fork_is_refused(void **unused)
{
    tenon_model *model = open_model("swallow", 0);
    tenon_pool_options po;
    tenon_pool *pool = NULL;
    tenon_arenas *arenas = NULL;
    tenon_session_options o;
    (void)unused;
    tenon_pool_options_init(&po);
    po.threads = 3;
    assert_int_equal(tenon_pool_create(&pool, &po, NULL), TENON_OK);
    assert_int_equal(tenon_arenas_create(&arenas, 1 << 20, NULL), TENON_OK);
    tenon_session_options_init(&o);
    o.pool = pool;
    o.arenas = arenas;
    tenon_session *s = open_session(model, &o);
    set_picture(s, 1, 8);
    run(s, NULL, 0);
    for (int with_thread = 0; with_thread < 2; with_thread++) {
        if (with_thread) {
            assert_int_equal(tenon_session_run_async(s, NULL, 0, NULL, NULL, NULL), TENON_OK);
            tenon_session_wait(s);
        }
        const pid_t child = fork();
        if (child == 0) {
            int wrong = calls_in_child(s, pool, arenas, model);
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__) && !SANITIZED     // as above
            tenon_session *own = NULL;
            o.pool = NULL;
            o.arenas = NULL;
            o.threads = 2;
            wrong = wrong ? wrong : tenon_session_create(&own, model, &o, NULL) != TENON_OK;
            if (own) {
                set_picture(own, 1, 8);
                wrong = tenon_session_run(own, NULL, 0, NULL) != TENON_OK;
                tenon_session_destroy(own);
            }
#endif
            tenon_model_destroy(model);
            _exit(wrong);
        }
        int status = 1;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
    run(s, NULL, 0);
    tenon_session_destroy(s);
    tenon_pool_destroy(pool);
    tenon_arenas_destroy(arenas);
    tenon_model_destroy(model);
}

// Movement of tensors whose elements 64 bits cannot count is refused by a limit, before anybody computes their strides.
static void test_uncountable_movement(void **state)
{
    static const float x[3] = {1, 2, 3};
    static const int64_t dims[3] = {1, 1, 3};
    tenon_model *model = open_model("huge", 0);
    tenon_session *session = NULL;
    tenon_error *error = NULL;
    tenon_status status = tenon_session_create(&session, model, NULL, &error);
    if (status == TENON_OK) {
        assert_int_equal(tenon_session_set_input(session, "x", TENON_FLOAT32, 3, dims, x, sizeof x, NULL), TENON_OK);
        status = tenon_session_run(session, NULL, 0, &error);
    }
    assert_true(status == TENON_LIMIT || status == TENON_INVALID_ARGUMENT || status == TENON_INVALID_MODEL);
    assert_true(tenon_error_message(error)[0] != 0);
    tenon_error_destroy(error);
    tenon_session_destroy(session);
    tenon_model_destroy(model);
}

// Results that are too large are refused before kernels are asked whether they take them, which may look at each window.
static void wide_windows_are_refused_at_once(void **state)
{
    static const float x[16] = {1};
    tenon_model *model = open_model("wide", 0);
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        const char *wanted[2] = {"y", "z"};
        tenon_session *session = open_session(model, NULL);
        tenon_error *error = NULL;
        assert_int_equal(tenon_session_set_input(session, "x", TENON_FLOAT32, 4, (const int64_t[]){1, 1, 4, 4}, x, sizeof x, NULL), TENON_OK);
        assert_int_equal(tenon_session_run(session, &wanted[i], 1, &error), TENON_LIMIT);
        assert_non_null(strstr(tenon_error_message(error), "limit_tensor_bytes"));
        tenon_error_destroy(error);
        tenon_session_destroy(session);
    }
    tenon_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_uncountable_movement),
        cmocka_unit_test(wide_windows_are_refused_at_once),
        cmocka_unit_test(values_decide_shapes),
        cmocka_unit_test(fewer_results_run_fewer_steps),
        cmocka_unit_test(what_is_written_is_run),
        cmocka_unit_test(swallowed_tensors_can_be_asked_for),
        cmocka_unit_test(light_and_shared_arenas_give_the_same),
        cmocka_unit_test(bound_outputs_fit_or_none_is_written),
        cmocka_unit_test(limits_are_refused_by_name),
        cmocka_unit_test(a_limit_is_kept_by_smaller_rows),
        cmocka_unit_test(cycles_leave_nothing),
        cmocka_unit_test(bad_arguments_are_refused),
        cmocka_unit_test(overlapping_buffers_are_refused),
        cmocka_unit_test(a_forked_child_refuses),
        cmocka_unit_test(what_was_made_before_a_fork_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
