// SPDX-License-Identifier: Apache-2.0
// tenon bench: how long a model takes. Warm-up, timing and the per-operator table are three separate phases: the record that the
// table needs is never made while the clock that counts runs.
#include "cmd.h"

#include "cli_feed.h"
#include "cli_text.h"
#include "summary.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct times {
    double *ms;            // sorted, [count]
    size_t count;
    double first_ms, load_ms, warmup_ms;
    uint64_t warmup;
} times;

enum { PROFILED_RUNS = 5 };
static const double DEFAULT_SECONDS = 2;

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// Quantile by linear interpolation between order statistics (Hyndman and Fan 1996, type 7).
static double quantile(const times *t, double q)
{
    const double at = q * (double)(t->count - 1);
    const size_t low = (size_t)at, high = low + 1 < t->count ? low + 1 : low;
    return t->ms[low] + (at - (double)low) * (t->ms[high] - t->ms[low]);
}

static int timed_run(tn_cli_session *s, double *ms)
{
    const double begin = tn_cli_seconds();
    const int code = tn_cli_session_run(s, NULL, 0);
    *ms = 1e3 * (tn_cli_seconds() - begin);
    return code;
}

static int measure(tn_cli_session *s, const tn_cli_options *o, times *t)
{
    const double begin = tn_cli_seconds();
    int code = timed_run(s, &t->first_ms);
    t->warmup = o->warmup == TN_CLI_UNSET ? 3 : o->warmup;
    double ms = t->first_ms, sum = 0;
    for (uint64_t i = 0; !code && i < t->warmup; i++) {
        tn_cli_progress("warm-up", i, t->warmup, tn_cli_seconds() - begin);
        code = timed_run(s, &ms);
        sum += ms;
    }
    t->warmup_ms = t->warmup ? sum / (double)t->warmup : 0;
    uint64_t runs = o->runs;
    if (runs == TN_CLI_UNSET) {
        const double fit = DEFAULT_SECONDS * 1e3 / (ms > 1e-3 ? ms : 1e-3);
        runs = fit < 5 ? 5 : fit > 2000 ? 2000 : (uint64_t)fit;
    }
    size_t room = 0;
    for (; !code && t->count < runs; t->count++) {
        if (t->count == room) {      // between runs, which alone are timed; what is asked for may never be reached
            room = room ? 2 * room : 4096;
            t->ms = tn_cli_grow(t->ms, room, sizeof *t->ms);
        }
        tn_cli_progress("run", t->count, runs, tn_cli_seconds() - begin);
        code = timed_run(s, &t->ms[t->count]);
    }
    tn_cli_progress("run", runs, runs, tn_cli_seconds() - begin);
    qsort(t->ms, t->count, sizeof *t->ms, by_value);
    return code;
}

// A few more runs, recorded: the report, which the caller deletes, in *profile.
static int profile_runs(tn_cli_session *s, uint64_t most, cJSON **profile)
{
    tenon_error *error = NULL;
    int code = TN_EXIT_GOOD;
    if (tenon_session_profile(s->session, TN_CLI_EVENTS, &error) != TENON_OK) {
        return tn_cli_error(error);
    }
    for (uint64_t i = 0; !code && i < PROFILED_RUNS && i < most; i++) {
        code = tn_cli_session_run(s, NULL, 0);
    }
    if (!code) {
        *profile = tn_cli_session_report(s, TENON_REPORT_PROFILE, &code);
    }
    return code;
}

static double rate(const tn_cli_line *l)
{
    return l->ns > 0 ? l->flop / l->ns : 0;   // GFLOP/s
}

static void print_operators(const tn_cli_summary *p)
{
    static const char *const heads[] = {"operator", ">nodes", ">ms", ">%", ">MACs", ">GFLOP/s"};
    tn_cli_table table;
    tn_cli_table_init(&table, 6, heads);
    for (size_t i = 0; i < p->n_ops; i++) {
        const tn_cli_line *l = &p->ops[i];
        char macs[24];
        tn_cli_table_add(&table, 0, "%s", l->op);
        tn_cli_table_add(&table, 1, "%.4g", l->calls);
        tn_cli_table_add(&table, 2, "%.3f", l->ns * 1e-6);
        tn_cli_table_add(&table, 3, "%.1f", p->all > 0 ? 100 * l->ns / p->all : 0);
        tn_cli_table_add(&table, 4, "%s", l->flop > 0 ? tn_cli_count_text(macs, l->flop / 2) : "-");
        tn_cli_table_add(&table, 5, l->flop > 0 ? "%.1f" : "-", rate(l));
    }
    printf("\nBy operator (median of %zu more runs, recorded)\n", p->n_runs);
    tn_cli_table_print(&table);
}

static void print_nodes(const tn_cli_summary *p)
{
    enum { SHOWN = 10 };
    static const char *const heads[] = {">ms", ">GFLOP/s", "kernel", "node"};
    tn_cli_line *order = tn_cli_take(p->n_nodes + 1, sizeof *order);
    memcpy(order, p->nodes, p->n_nodes * sizeof *order);
    qsort(order, p->n_nodes, sizeof *order, tn_cli_dearest);
    tn_cli_table table;
    tn_cli_table_init(&table, 4, heads);
    for (size_t i = 0; i < p->n_nodes && i < SHOWN; i++) {
        tn_cli_table_add(&table, 0, "%.3f", order[i].ns * 1e-6);
        tn_cli_table_add(&table, 1, order[i].flop > 0 ? "%.1f" : "-", rate(&order[i]));
        tn_cli_table_add(&table, 2, "%s", order[i].kernel);
        tn_cli_table_add(&table, 3, "%s", order[i].name);
    }
    printf("\nDearest nodes\n");
    tn_cli_table_print(&table);
    free(order);
}

static void print_text(const tn_cli_feeds *feeds, const times *t, const cJSON *profile, const tn_cli_summary *p, const tn_cli_options *o)
{
    printf("%s%s%s on %s, %u thread%s\n", tn_cli_bold(), tn_cli_shown(o->model), tn_cli_plain(),
           tn_cli_string(profile, "processor", "this machine"), p->threads, p->threads == 1 ? "" : "s");
    tn_cli_feeds_print(feeds);
    printf("\n  load %.3f ms, first run %.3f ms, warm-up %llu runs of %.3f ms\n", t->load_ms, t->first_ms,
           (unsigned long long)t->warmup, t->warmup_ms);
    printf("  %zu runs: min %.3f  median %.3f  p90 %.3f  p99 %.3f  max %.3f ms\n", t->count, t->ms[0], quantile(t, 0.5),
           quantile(t, 0.9), quantile(t, 0.99), t->ms[t->count - 1]);
    if (p->n_nodes) {
        print_operators(p);
        print_nodes(p);
    }
    printf("\nmedian_ms=%.6g min_ms=%.6g load_ms=%.6g first_ms=%.6g\n", quantile(t, 0.5), t->ms[0], t->load_ms, t->first_ms);
}

static void add_cost(cJSON *item, const tn_cli_line *l)
{
    cJSON_AddNumberToObject(item, "ms", l->ns * 1e-6);
    cJSON_AddNumberToObject(item, "macs", l->flop / 2);
}

static void print_json(const tn_cli_feeds *feeds, const times *t, const tn_cli_summary *p, const tn_cli_options *o)
{
    cJSON *root = tn_cli_document("bench", o);
    cJSON_AddItemToObject(root, "inputs", tn_cli_feeds_json(feeds));
    cJSON_AddNumberToObject(root, "threads", p->threads);
    cJSON_AddNumberToObject(root, "runs", (double)t->count);
    cJSON_AddNumberToObject(root, "warmup", (double)t->warmup);
    cJSON_AddNumberToObject(root, "median_ms", quantile(t, 0.5));
    cJSON_AddNumberToObject(root, "min_ms", t->ms[0]);
    cJSON_AddNumberToObject(root, "max_ms", t->ms[t->count - 1]);
    cJSON_AddNumberToObject(root, "p90_ms", quantile(t, 0.9));
    cJSON_AddNumberToObject(root, "p99_ms", quantile(t, 0.99));
    cJSON_AddNumberToObject(root, "load_ms", t->load_ms);
    cJSON_AddNumberToObject(root, "first_ms", t->first_ms);
    cJSON *ops = cJSON_AddArrayToObject(root, "operators"), *nodes = cJSON_AddArrayToObject(root, "nodes");
    for (size_t i = 0; i < p->n_ops; i++) {
        cJSON *item = cJSON_CreateObject();
        cJSON_AddStringToObject(item, "op", p->ops[i].op);
        cJSON_AddNumberToObject(item, "nodes", p->ops[i].calls);
        add_cost(item, &p->ops[i]);
        cJSON_AddItemToArray(ops, item);
    }
    for (size_t i = 0; i < p->n_nodes; i++) {
        cJSON *item = cJSON_CreateObject();
        cJSON_AddStringToObject(item, "node", p->nodes[i].name);
        cJSON_AddStringToObject(item, "op", p->nodes[i].op);
        cJSON_AddStringToObject(item, "kernel", p->nodes[i].kernel);
        add_cost(item, &p->nodes[i]);
        cJSON_AddItemToArray(nodes, item);
    }
    tn_cli_print_document(root);
}

static int run(const tn_cli_options *options)
{
    tn_cli_session session;
    tn_cli_feeds feeds;
    times t = {0};
    cJSON *profile = NULL;
    if (options->runs == 0) {
        return tn_cli_fail(TN_EXIT_USAGE, "--runs 0: there would be nothing to time");
    }
    int code = tn_cli_session_open(&session, options);
    if (code) {
        return code;
    }
    code = tn_cli_feeds_make(&feeds, &session, options);
    t.load_ms = session.open_ms + session.create_ms + feeds.prepare_ms;
    if (!code) {
        code = measure(&session, options, &t);
    }
    if (!code) {
        code = tn_cli_session_write_outputs(&session, options);
    }
    if (!code) {
        code = profile_runs(&session, t.count, &profile);
    }
    if (!code) {
        tn_cli_summary sum;
        tn_cli_summarise(&sum, profile);
        if (options->json) {
            print_json(&feeds, &t, &sum, options);
        } else {
            print_text(&feeds, &t, profile, &sum, options);
        }
        tn_cli_summary_free(&sum);
    }
    cJSON_Delete(profile);
    free(t.ms);
    tn_cli_session_close(&session);
    tn_cli_feeds_deinit(&feeds);
    return code;
}

const tn_cli_verb tn_verb_bench = {
    .name = "bench",
    .summary = "time a model: load, first run, median and tails, by operator",
    .about = "Opens and plans the model (load), runs it once (first), warms up (--warmup, 3), then times --runs runs, by default\n"
             "as many as fit 2 seconds. A few more runs, recorded, give the table by operator; they are not in the times.\n"
             "The last line is made for scripts: median_ms=... min_ms=... load_ms=... first_ms=...\n",
    .examples = "  tenon bench model.onnx --threads 1\n"
                "  tenon bench model.onnx --shape input=1x3x640x640 --runs 100\n"
                "  tenon bench model.onnx --inputs feeds/ --outputs out.bin --json\n",
    .run = run,
};
