// SPDX-License-Identifier: Apache-2.0
// tenon tune: measures which kernels run the nodes of a model best on a device and how they are best cut, and keeps the answer in the cache
// folder.
#include "cmd.h"

#include "cli_feed.h"
#include "cli_file.h"
#include "cli_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

typedef struct layer_time {
    char *name;
    double before, after;
} layer_time;

typedef struct tuning {
    layer_time *layers;
    size_t count;
    double begin;
} tuning;

static int on_layer(void *context, size_t done, size_t count, const char *layer, double before_ns, double after_ns)
{
    tuning *t = context;
    tn_cli_progress("layer", done, count, tn_cli_seconds() - t->begin);
    t->layers = tn_cli_grow(t->layers, t->count + 1, sizeof *t->layers);
    t->layers[t->count++] = (layer_time){tn_cli_copy(layer), before_ns, after_ns};
    return 1;
}

static void print_text(const tuning *t, const tn_cli_options *o)
{
    static const char *const heads[] = {"layer", ">before us", ">after us"};
    double before = 0, after = 0;
    tn_cli_table table;
    tn_cli_table_init(&table, 3, heads);
    for (size_t i = 0; i < t->count; i++) {
        tn_cli_table_add(&table, 0, "%s", t->layers[i].name);
        tn_cli_table_add(&table, 1, "%.2f", t->layers[i].before / 1e3);
        tn_cli_table_add(&table, 2, "%.2f", t->layers[i].after / 1e3);
        before += t->layers[i].before;
        after += t->layers[i].after;
    }
    tn_cli_table_print(&table);
    printf("\nlayers=%zu before_us=%.6g after_us=%.6g cache=%s\n", t->count, before / 1e3, after / 1e3, tn_cli_shown(o->cache));
}

static void print_json(const tuning *t, const tn_cli_options *o)
{
    cJSON *root = tn_cli_document("tune", o), *list = cJSON_AddArrayToObject(root, "layers");
    for (size_t i = 0; i < t->count; i++) {
        cJSON *item = cJSON_CreateObject();
        cJSON_AddStringToObject(item, "layer", t->layers[i].name);
        cJSON_AddNumberToObject(item, "before_us", t->layers[i].before / 1e3);
        cJSON_AddNumberToObject(item, "after_us", t->layers[i].after / 1e3);
        cJSON_AddItemToArray(list, item);
    }
    tn_cli_print_document(root);
}

static int tune(tn_cli_session *s, const tn_cli_options *o, tuning *t)
{
    tenon_tune_options options;
    tenon_error *error = NULL;
    tenon_tune_options_init(&options);
    options.seconds = o->seconds == TN_CLI_UNSET ? options.seconds : (double)o->seconds;
    options.seed = o->seed;
    options.progress = on_layer;
    options.context = t;
    t->begin = tn_cli_seconds();
    // The first run brings what is planned late, and its kernels, into being.
    int code = tn_cli_session_run(s, NULL, 0);
    const tenon_status status = code ? TENON_OK : tenon_session_tune(s->session, &options, &error);
    if (status != TENON_OK) {
        code = tn_cli_error(error);
    }
    return status == TENON_IO ? TN_EXIT_CHECK : code;      // the table could not be written: the model is as good as ever
}

static int run(const tn_cli_options *options)
{
    tn_cli_session session;
    tn_cli_feeds feeds;
    tuning t = {0};
    if (!options->cache) {
        return tn_cli_fail(TN_EXIT_USAGE, "tenon tune needs --cache DIR, where the table is kept for later sessions");
    }
    // The search is long: what it ends in is tried first. A folder that is missing is made, as the library makes it.
    (void)mkdir(options->cache, 0700);
    int code = options->cache[0] ? tn_cli_folder_probe(options->cache) : TN_EXIT_GOOD;
    code = code ? code : tn_cli_session_open(&session, options);
    if (code) {
        return code;
    }
    code = tn_cli_feeds_make(&feeds, &session, options);
    if (!code) {
        code = tune(&session, options, &t);
    }
    if (!code && options->json) {
        print_json(&t, options);
    } else if (!code) {
        print_text(&t, options);
    }
    for (size_t i = 0; i < t.count; i++) {
        free(t.layers[i].name);
    }
    free(t.layers);
    tn_cli_session_close(&session);
    tn_cli_feeds_deinit(&feeds);
    return code;
}

static const tn_cli_option options_of_tune[] = {
    {"seconds", "N", TN_CLI_NUMBER, offsetof(tn_cli_options, seconds), "time for all layers together (default 30)"},
    {NULL, NULL, TN_CLI_FLAG, 0, NULL},
};

const tn_cli_verb tn_verb_tune = {
    .name = "tune",
    .summary = "find the fastest kernels and sizes for a model on this machine",
    .about = "Measures each node of the model on the device with other choices: first those that are held best, then random ones and\n"
             "changes of the best (annealing). On the CPU: which kernel runs the node in the layouts it has, how it cuts its blocks, one\n"
             "thread or all. On OpenCL: sizes of work-groups and tiles. The result is a table in the --cache folder, keyed by processor or\n"
             "device, and by kernels; sessions with that folder use it. Leave the machine alone meanwhile. Results of the model stay the\n"
             "same on OpenCL and differ by rounding on the CPU, where they do not depend on the number of threads.\n",
    .examples = "  tenon tune model.onnx --threads 2 --cache ~/.cache/tenon --seconds 60\n"
                "  tenon tune model.onnx --device opencl --cache ~/.cache/tenon\n",
    .options = options_of_tune,
    .run = run,
};
