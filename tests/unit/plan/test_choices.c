// SPDX-License-Identifier: Apache-2.0
// Tables of measured choices: read as what they are, untrusted; kept for other machines and other kernels without effect; a plan follows them,
// and its results then have the same bits for any number of threads. What a search finds is not tested, since that is a matter of time: that
// it writes a whole table is.
#include "support/unit.h"

#include "api/api.h"
#include "dispatch/registry.h"
#include "tune/tune_cpu.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static tn_heap heap;
static char folder[] = "/tmp/test_choices.XXXXXX";

static const tn_cpu example = {.features = 0, .cores = 2, .l1d = 32768, .l2 = 1 << 20, .l3 = 1 << 24, .name = "Example 7"};

// A portable row of convolutions.
static bool take_row(const tn_kernel *row, void *context)
{
    const tn_kernel **found = context;
    *found = row->impl == TN_IMPL_PORTABLE ? row : *found;
    return true;
}

static const tn_kernel *some_row(void)
{
    const tn_kernel *row = NULL;
    tn_registry_visit(tn_registry_op("conv"), take_row, &row);
    assert_non_null(row);
    return row;
}

// A table of three rows as text.
static void write_table(tn_text *text)
{
    tn_choices choices;
    tn_choices_init(&choices, &heap);
    for (uint64_t i = 3; i > 0; i--) {
        const tn_tuned row = {.node = i * 1000, .row = some_row(), .in = 1, .out = 1, .cache = (int8_t)(i - 2), .alone = i == 2, .shape = "1x2,3"};
        assert_true(tn_choices_put(&choices, &row));
    }
    tn_text_init(text, &heap);
    tn_choices_write(&choices, &example, text);
    tn_choices_deinit(&choices);
}

static size_t read_table(tn_choices *choices, const tn_cpu *cpu, const char *text, size_t length)
{
    size_t taken = 99;
    tn_diag diag = {0};
    tn_choices_init(choices, &heap);
    assert_int_equal(tn_choices_read(choices, cpu, text, length, &taken, &diag), TN_OK);
    return taken;
}

static void tables_come_back(void **state)
{
    tn_text text;
    tn_choices choices;
    write_table(&text);
    assert_true(tn_choices_whole(text.data, text.length));
    assert_int_equal(read_table(&choices, &example, text.data, text.length), 3);
    const tn_tuned *row = tn_choices_find(&choices, 2000, 1, 1);
    assert_non_null(row);
    assert_ptr_equal(row->row, some_row());
    assert_true(row->alone && row->cache == 0);
    assert_string_equal(row->shape, "1x2,3");
    assert_null(tn_choices_find(&choices, 2000, 1, 0));
    assert_null(tn_choices_find(&choices, 2001, 1, 1));
    assert_true(tn_choices_knows(&choices, tn_registry_op("conv")));
    assert_false(tn_choices_knows(&choices, tn_registry_op("matmul")));
    // A second row of a node takes the place of the first.
    const tn_tuned again = {.node = 2000, .row = some_row(), .in = 1, .out = 1, .cache = -2};
    assert_true(tn_choices_put(&choices, &again));
    assert_int_equal(choices.count, 3);
    assert_int_equal(tn_choices_find(&choices, 2000, 1, 1)->cache, -2);
    tn_choices_deinit(&choices);
    tn_text_deinit(&text);
}

static void other_machines_are_left_out(void **state)
{
    tn_text text;
    tn_choices choices;
    write_table(&text);
    tn_cpu others[4] = {example, example, example, example};
    others[0].name[0] = 'e';
    others[1].l2 *= 2;
    others[2].l1d *= 2;
    others[3].features = TN_CPU_AVX2;
    for (size_t i = 0; i < TN_COUNT(others); i++) {
        assert_int_equal(read_table(&choices, &others[i], text.data, text.length), 0);
        tn_choices_deinit(&choices);
    }
    // Another version of the table, or other rows of the operator than when it was measured.
    char *copy = strdup(text.data);
    *strstr(copy, "choices 1") = 'C';
    assert_int_equal(read_table(&choices, &example, copy, text.length), 0);
    tn_choices_deinit(&choices);
    free(copy);
    copy = strdup(text.data);
    char *stamp = strstr(copy, "conv 00000000000003e8 ") + strlen("conv 00000000000003e8 ");
    *stamp = *stamp == '0' ? '1' : '0';
    assert_int_equal(read_table(&choices, &example, copy, text.length), 2);
    assert_null(tn_choices_find(&choices, 1000, 1, 1));
    assert_int_equal(choices.stale, 1);
    tn_choices_deinit(&choices);
    free(copy);
    tn_text_deinit(&text);
}

// Cut anywhere, and with each byte changed: what is read are whole rows, and nothing else happens.
static void any_bytes_are_read(void **state)
{
    tn_text text;
    tn_choices choices;
    write_table(&text);
    for (size_t length = 0; length < text.length; length++) {
        assert_true(read_table(&choices, &example, text.data, length) <= 3);
        tn_choices_deinit(&choices);
        (void)tn_choices_whole(text.data, length);
    }
    assert_false(tn_choices_whole(text.data, text.length - 1));
    for (size_t i = 0; i < text.length; i++) {
        static const char bytes[] = {0, '\n', ' ', '9', 'z', (char)0xff};
        for (size_t k = 0; k < sizeof bytes; k++) {
            const char old = text.data[i];
            text.data[i] = bytes[k];
            (void)read_table(&choices, &example, text.data, text.length);
            for (size_t r = 0; r < choices.count; r++) {
                const tn_tuned *row = &choices.rows[r];
                assert_true(row->row && row->node && row->in < TN_LAYOUT_COUNT && row->out < TN_LAYOUT_COUNT && abs(row->cache) <= TN_CHOICES_CACHE);
            }
            tn_choices_deinit(&choices);
            (void)tn_choices_whole(text.data, text.length);
            text.data[i] = old;
        }
    }
    tn_text_deinit(&text);
}

// ---- with a model ----

typedef struct result {
    float *data;
    size_t count;
    unsigned tuned;           // nodes that say so
} result;

static tenon_session *open_session(tenon_model *model, unsigned threads, const char *cache)
{
    tenon_session_options options;
    tenon_session *session = NULL;
    tenon_error *error = NULL;
    static float data[3 * 10 * 11];
    static const int64_t dims[] = {1, 3, 10, 11};
    for (size_t i = 0; i < TN_COUNT(data); i++) {
        data[i] = (float)(i % 17) / 8 - 1;
    }
    tenon_session_options_init(&options);
    options.threads = threads;
    options.cache = cache;
    assert_int_equal(tenon_session_create(&session, model, &options, &error), TENON_OK);
    assert_int_equal(tenon_session_set_input(session, "x", TENON_FLOAT32, 4, dims, data, sizeof data, &error), TENON_OK);
    assert_int_equal(tenon_session_run(session, NULL, 0, &error), TENON_OK);
    return session;
}

static result results_of(tenon_session *session)
{
    tenon_tensor out;
    tenon_error *error = NULL;
    char *json = NULL;
    result r = {NULL, 0, 0};
    assert_int_equal(tenon_session_output(session, 0, &out, &error), TENON_OK);
    assert_int_equal(out.dtype, TENON_FLOAT32);
    r.count = out.bytes / sizeof *r.data;
    r.data = malloc(out.bytes);
    memcpy(r.data, out.data, out.bytes);
    assert_int_equal(tenon_report(session, TENON_REPORT_EXPLAIN, &json, &error), TENON_OK);
    for (const char *at = json; (at = strstr(at, "\"tuned\":true")); at++) {
        r.tuned++;
    }
    tenon_report_destroy(json);
    return r;
}

static void near(const result *a, const result *b)
{
    float largest = 0;
    assert_int_equal(a->count, b->count);
    for (size_t i = 0; i < a->count; i++) {
        largest = fmaxf(largest, fabsf(a->data[i]));
    }
    for (size_t i = 0; i < a->count; i++) {
        assert_true(fabsf(a->data[i] - b->data[i]) <= 1e-4f * largest);
    }
}

typedef struct other {
    const tn_kernel *own, *row;
    uint32_t features;
} other;

static bool take_other(const tn_kernel *row, void *context)
{
    other *o = context;
    if (row != o->own && row->impl != TN_IMPL_REFERENCE && !(row->cpu & ~o->features) && memcmp(&row->layouts, &o->own->layouts, sizeof row->layouts) == 0 &&
        memcmp(&row->types, &o->own->types, sizeof row->types) == 0) {
        o->row = row;
    }
    return true;
}

static void add_plan(const tn_plan *plan, void *context) { tn_tune_cpu_add(context, plan); }

// Another row for each node where there is one, smaller blocks, one thread: as far from the estimates' choice as a table can lead.
static size_t write_contrary_table(tenon_session *session)
{
    tn_tune_cpu *tune = calloc(1, sizeof *tune);
    tn_diag diag = {0};
    tn_choices choices;
    tn_choices_init(&choices, session->heap);
    tune->heap = session->heap;
    tune->cpu = &session->context.cpu;
    tune->threads = 2;
    tn_program_visit(session->wanted->program, add_plan, tune);
    const size_t count = tune->count;
    for (size_t i = 0; i < count; i++) {
        const tn_tune_node *node = &tune->nodes[i];
        other o = {.own = node->step->kernel, .row = node->step->kernel, .features = tune->cpu->features};
        tn_registry_visit(node->step->call.op, take_other, &o);
        const tn_tuned row = {.node = node->key, .row = o.row, .in = node->in, .out = node->out, .cache = -2, .alone = i % 2 == 0, .shape = "-"};
        assert_true(tn_choices_put(&choices, &row));
    }
    assert_int_equal(tn_choices_save(&choices, tune->cpu, folder, &diag), TN_OK);
    tn_choices_deinit(&choices);
    free(tune);
    return count;
}

static void plans_follow(void **state)
{
    tenon_model *model = NULL;
    tenon_error *error = NULL;
    assert_int_equal(tenon_model_open(&model, "data/session/swallow.onnx", NULL, &error), TENON_OK);
    tenon_session *session = open_session(model, 1, NULL);
    const result plain = results_of(session);
    assert_true(write_contrary_table(session) > 0);
    tenon_session_destroy(session);
    result first = {NULL, 0, 0};
    for (unsigned threads = 1; threads <= 3; threads++) {
        session = open_session(model, threads, folder);
        result r = results_of(session);
        assert_true(r.tuned > 0);
        near(&plain, &r);
        if (threads > 1) {
            assert_memory_equal(r.data, first.data, r.count * sizeof *r.data);
            free(r.data);
        } else {
            first = r;
        }
        tenon_session_destroy(session);
    }
    free(first.data);
    free(plain.data);
    tenon_model_destroy(model);
}

static void searches_write_tables(void **state)
{
    tenon_model *model = NULL;
    tenon_error *error = NULL;
    tenon_tune_options options;
    assert_int_equal(tenon_model_open(&model, "data/session/swallow.onnx", NULL, &error), TENON_OK);
    for (unsigned threads = 1; threads <= 2; threads++) {
        tenon_session *session = open_session(model, threads, folder);
        result before = results_of(session);
        tenon_tune_options_init(&options);
        options.seconds = 0.3;
        assert_int_equal(tenon_session_tune(session, &options, &error), TENON_OK);
        assert_int_equal(tenon_session_run(session, NULL, 0, &error), TENON_OK);
        result after = results_of(session);
        near(&before, &after);
        char *list = tenon_cache_json(folder);
        assert_non_null(strstr(list, "\"kind\":\"rows\""));
        assert_non_null(strstr(list, "\"broken\":0"));
        free(list);
        free(before.data);
        free(after.data);
        tenon_session_destroy(session);
    }
    tenon_model_destroy(model);
}

// Sessions of a model read the embedded tables once; those with a folder, which may change, have tables of their own.
static void sessions_share_embedded_tables(void **state)
{
    tenon_model *model = NULL;
    tenon_error *error = NULL;
    assert_int_equal(tenon_model_open(&model, "data/session/swallow.onnx", NULL, &error), TENON_OK);
    tenon_session *first = open_session(model, 1, NULL), *second = open_session(model, 2, NULL), *own = open_session(model, 1, folder);
    assert_non_null(first->context.choices);
    assert_ptr_equal(first->context.choices, second->context.choices);
    assert_ptr_not_equal(own->context.choices, first->context.choices);
    assert_ptr_equal(own->context.choices, &own->choices);
    tenon_session_destroy(first);
    tenon_session_destroy(own);
    assert_ptr_equal(second->context.choices, &model->tables->choices);
    assert_null(model->tables->next);
    tenon_session_destroy(second);
    tenon_model_destroy(model);
}

static void broken_tables_go(void **state)
{
    char path[256];
    snprintf(path, sizeof path, "%s/0123456789abcdef.rows", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("tenon-cpu-choices 1\nprocessor x\n", file);
    fclose(file);
    assert_int_equal(tenon_cache_prune(folder, 0), 1);
    assert_int_equal(access(path, F_OK), -1);
}

static int make_folder(void **state)
{
    tn_heap_init(&heap, NULL, NULL, NULL);
    return mkdtemp(folder) ? 0 : -1;
}

static int drop_folder(void **state)
{
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_come_back), cmocka_unit_test(other_machines_are_left_out), cmocka_unit_test(any_bytes_are_read),
        cmocka_unit_test(plans_follow),     cmocka_unit_test(searches_write_tables),       cmocka_unit_test(sessions_share_embedded_tables),
        cmocka_unit_test(broken_tables_go),
    };
    return cmocka_run_group_tests(tests, make_folder, drop_folder);
}
