// SPDX-License-Identifier: Apache-2.0
// tenon bench: how long a model takes. Warm-up, timing and the per-operator table are three separate phases: the observer that the
// table needs is never there while the clock that counts runs.
#include "cmd.h"

#include "cli_feed.h"
#include "cli_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct times {
    double *ms;            // sorted, [count]
    size_t count;
    double first_ms, load_ms, warmup_ms;
    uint64_t warmup;
    char processor[64];
    unsigned threads;      // that run
} times;

// One step of the plan over the profiled runs.
typedef struct step_time {
    char *node, *op, *kernel;
    double ns;
    double macs;
} step_time;

typedef struct profile {
    step_time *steps;
    size_t count, at;      // at: the step of the current run
    unsigned runs;
} profile;

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

static void on_step(void *context, const tenon_step_info *info, int after, const tenon_tensor *outputs)
{
    profile *p = context;
    (void)outputs;
    if (!after) {
        return;
    }
    if (p->at == p->count) {
        p->steps = tn_cli_grow(p->steps, ++p->count, sizeof *p->steps);
        p->steps[p->at] = (step_time){tn_cli_copy(info->node ? info->node : ""), tn_cli_copy(info->op ? info->op : ""),
                                      tn_cli_copy(info->kernel ? info->kernel : ""), 0, (double)info->macs};
    }
    p->steps[p->at++].ns += (double)info->nanoseconds;
}

static int profile_runs(tn_cli_session *s, profile *p, uint64_t most)
{
    int code = TN_EXIT_GOOD;
    tenon_session_observe(s->session, on_step, p);
    for (; !code && p->runs < PROFILED_RUNS && p->runs < most; p->runs++) {
        p->at = 0;
        code = tn_cli_session_run(s, NULL, 0);
    }
    tenon_session_observe(s->session, NULL, NULL);
    return code;
}

static void free_profile(profile *p)
{
    for (size_t i = 0; i < p->count; i++) {
        free(p->steps[i].node);
        free(p->steps[i].op);
        free(p->steps[i].kernel);
    }
    free(p->steps);
}

typedef struct op_time {
    const char *op;
    size_t nodes;
    double ms, macs;
} op_time;

static int by_time(const void *a, const void *b)
{
    const double x = ((const op_time *)a)->ms, y = ((const op_time *)b)->ms;
    return (x < y) - (x > y);
}

// The steps gathered by operator, dearest first.
static op_time *by_operator(const profile *p, size_t *count)
{
    op_time *ops = tn_cli_take(p->count, sizeof *ops);
    *count = 0;
    for (size_t i = 0; i < p->count; i++) {
        size_t k = 0;
        while (k < *count && strcmp(ops[k].op, p->steps[i].op) != 0) {
            k++;
        }
        *count += k == *count;
        ops[k].op = p->steps[i].op;
        ops[k].nodes++;
        ops[k].ms += p->steps[i].ns * 1e-6 / p->runs;
        ops[k].macs += p->steps[i].macs;
    }
    qsort(ops, *count, sizeof *ops, by_time);
    return ops;
}

static double rate(double macs, double ms)
{
    return ms > 0 ? 2e-6 * macs / ms : 0;   // GFLOP/s
}

static void print_operators(const profile *p)
{
    static const char *const heads[] = {"operator", ">nodes", ">ms", ">%", ">MACs", ">GFLOP/s"};
    size_t count;
    op_time *ops = by_operator(p, &count);
    double total = 0;
    for (size_t i = 0; i < count; i++) {
        total += ops[i].ms;
    }
    tn_cli_table table;
    tn_cli_table_init(&table, 6, heads);
    for (size_t i = 0; i < count; i++) {
        char macs[24];
        tn_cli_table_add(&table, 0, "%s", ops[i].op);
        tn_cli_table_add(&table, 1, "%zu", ops[i].nodes);
        tn_cli_table_add(&table, 2, "%.3f", ops[i].ms);
        tn_cli_table_add(&table, 3, "%.1f", total > 0 ? 100 * ops[i].ms / total : 0);
        tn_cli_table_add(&table, 4, "%s", ops[i].macs > 0 ? tn_cli_count_text(macs, ops[i].macs) : "-");
        tn_cli_table_add(&table, 5, ops[i].macs > 0 ? "%.1f" : "-", rate(ops[i].macs, ops[i].ms));
    }
    printf("\nBy operator (mean of %u more runs, observed)\n", p->runs);
    tn_cli_table_print(&table);
    free(ops);
}

static int by_step(const void *a, const void *b)
{
    const double x = (*(step_time *const *)a)->ns, y = (*(step_time *const *)b)->ns;
    return (x < y) - (x > y);
}

static void print_steps(const profile *p)
{
    enum { SHOWN = 10 };
    static const char *const heads[] = {">ms", ">GFLOP/s", "kernel", "node"};
    const step_time **order = tn_cli_take(p->count, sizeof *order);
    for (size_t i = 0; i < p->count; i++) {
        order[i] = &p->steps[i];
    }
    qsort(order, p->count, sizeof *order, by_step);
    tn_cli_table table;
    tn_cli_table_init(&table, 4, heads);
    for (size_t i = 0; i < p->count && i < SHOWN; i++) {
        const double ms = order[i]->ns * 1e-6 / p->runs;
        tn_cli_table_add(&table, 0, "%.3f", ms);
        tn_cli_table_add(&table, 1, order[i]->macs > 0 ? "%.1f" : "-", rate(order[i]->macs, ms));
        tn_cli_table_add(&table, 2, "%s", order[i]->kernel);
        tn_cli_table_add(&table, 3, "%s", order[i]->node);
    }
    printf("\nDearest nodes\n");
    tn_cli_table_print(&table);
    free(order);
}

static void read_machine(const tn_cli_session *s, times *t)
{
    int code;
    cJSON *plan = tn_cli_session_report(s, TENON_REPORT_EXPLAIN, &code);
    snprintf(t->processor, sizeof t->processor, "%s", tn_cli_string(plan, "processor", "this machine"));
    t->threads = (unsigned)tn_cli_number(plan, "threads", 0);
    cJSON_Delete(plan);
}

static void print_text(const tn_cli_feeds *feeds, const times *t, const profile *p, const tn_cli_options *o)
{
    printf("%s%s%s on %s, %u thread%s\n", tn_cli_bold(), tn_cli_shown(o->model), tn_cli_plain(), t->processor, t->threads, t->threads == 1 ? "" : "s");
    tn_cli_feeds_print(feeds);
    printf("\n  load %.3f ms, first run %.3f ms, warm-up %llu runs of %.3f ms\n", t->load_ms, t->first_ms,
           (unsigned long long)t->warmup, t->warmup_ms);
    printf("  %zu runs: min %.3f  median %.3f  p90 %.3f  p99 %.3f  max %.3f ms\n", t->count, t->ms[0], quantile(t, 0.5),
           quantile(t, 0.9), quantile(t, 0.99), t->ms[t->count - 1]);
    if (p->count) {
        print_operators(p);
        print_steps(p);
    }
    printf("\nmedian_ms=%.6g min_ms=%.6g load_ms=%.6g first_ms=%.6g\n", quantile(t, 0.5), t->ms[0], t->load_ms, t->first_ms);
}

static void print_json(const tn_cli_feeds *feeds, const times *t, const profile *p, const tn_cli_options *o)
{
    cJSON *root = tn_cli_document("bench", o);
    cJSON_AddItemToObject(root, "inputs", tn_cli_feeds_json(feeds));
    cJSON_AddNumberToObject(root, "threads", t->threads);
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
    size_t count;
    op_time *table = by_operator(p, &count);
    for (size_t i = 0; i < count; i++) {
        cJSON *item = cJSON_CreateObject();
        cJSON_AddStringToObject(item, "op", table[i].op);
        cJSON_AddNumberToObject(item, "nodes", (double)table[i].nodes);
        cJSON_AddNumberToObject(item, "ms", table[i].ms);
        cJSON_AddNumberToObject(item, "macs", table[i].macs);
        cJSON_AddItemToArray(ops, item);
    }
    for (size_t i = 0; i < p->count; i++) {
        cJSON *item = cJSON_CreateObject();
        cJSON_AddStringToObject(item, "node", p->steps[i].node);
        cJSON_AddStringToObject(item, "op", p->steps[i].op);
        cJSON_AddStringToObject(item, "kernel", p->steps[i].kernel);
        cJSON_AddNumberToObject(item, "ms", p->steps[i].ns * 1e-6 / p->runs);
        cJSON_AddNumberToObject(item, "macs", p->steps[i].macs);
        cJSON_AddItemToArray(nodes, item);
    }
    free(table);
    tn_cli_print_document(root);
}

static int run(const tn_cli_options *options)
{
    tn_cli_session session;
    tn_cli_feeds feeds;
    times t = {0};
    profile p = {0};
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
        read_machine(&session, &t);
    }
    if (!code) {
        code = tn_cli_session_write_outputs(&session, options);
    }
    if (!code) {
        code = profile_runs(&session, &p, t.count);
    }
    if (!code && options->json) {
        print_json(&feeds, &t, &p, options);
    } else if (!code) {
        print_text(&feeds, &t, &p, options);
    }
    free_profile(&p);
    free(t.ms);
    tn_cli_session_close(&session);
    tn_cli_feeds_deinit(&feeds);
    return code;
}

const tn_cli_verb tn_verb_bench = {
    .name = "bench",
    .summary = "time a model: load, first run, median and tails, by operator",
    .about = "Opens and plans the model (load), runs it once (first), warms up (--warmup, 3), then times --runs runs, by default\n"
             "as many as fit 2 seconds. A few more runs with an observer give the table by operator; they are not in the times.\n"
             "The last line is made for scripts: median_ms=... min_ms=... load_ms=... first_ms=...\n",
    .examples = "  tenon bench model.onnx --threads 1\n"
                "  tenon bench model.onnx --shape input=1x3x640x640 --runs 100\n"
                "  tenon bench model.onnx --inputs feeds/ --outputs out.bin --json\n",
    .run = run,
};
