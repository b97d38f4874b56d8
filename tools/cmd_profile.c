// SPDX-License-Identifier: Apache-2.0
// tenon profile: where the time of a run goes, by operator, node, sub-flow and thread, against what this machine can do at most.
#include "cmd.h"

#include "cli_feed.h"
#include "cli_text.h"
#include "drawing.h"
#include "peak.h"
#include "summary.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_lines(const tn_cli_summary *s, const tn_cli_line *lines, size_t count, bool nodes, double peak)
{
    static const char *const heads[] = {">ms a run", ">share", ">calls", ">GFLOP/s", ">of peak", ">GB/s", "operator", "kernel", "node"};
    tn_cli_table table;
    tn_cli_table_init(&table, nodes ? 9 : 7, heads);
    for (size_t i = 0; i < count; i++) {
        const tn_cli_line *l = &lines[i];
        const double gflops = l->ns > 0 ? l->flop / l->ns : 0;
        tn_cli_table_add(&table, 0, "%.4f", l->ns * 1e-6);
        tn_cli_table_add(&table, 1, "%.1f %%", s->all > 0 ? 100 * l->ns / s->all : 0);
        tn_cli_table_add(&table, 2, "%.4g", l->calls);
        tn_cli_table_add(&table, 3, l->flop > 0 ? "%.1f" : "-", gflops);
        tn_cli_table_add(&table, 4, l->flop > 0 && peak > 0 ? "%.0f %%" : "-", peak > 0 ? 100 * gflops / peak : 0);
        tn_cli_table_add(&table, 5, "%.1f", l->ns > 0 ? l->bytes / l->ns : 0);
        tn_cli_table_add(&table, 6, "%s", l->op);
        if (nodes) {
            tn_cli_table_add(&table, 7, "%s", l->kernel);
            tn_cli_table_add(&table, 8, "%s", l->name);
        }
    }
    tn_cli_table_print(&table);
}

// The nodes inside sub-flows, dearest first, as their device timed them.
static void print_flows(const cJSON *profile, size_t most)
{
    static const char *const heads[] = {">ms", "operator", "kernel", "node"};
    const cJSON *node, *inner;
    cJSON_ArrayForEach(node, cJSON_GetObjectItemCaseSensitive(profile, "nodes"))
    {
        const cJSON *list = cJSON_GetObjectItemCaseSensitive(node, "inner");
        const size_t count = (size_t)cJSON_GetArraySize(list);
        tn_cli_line *lines = tn_cli_take(count + 1, sizeof *lines);
        size_t n = 0;
        cJSON_ArrayForEach(inner, list)
        {
            lines[n++] = (tn_cli_line){.name = tn_cli_string(inner, "name", "?"), .op = tn_cli_string(inner, "op", "?"),
                                .kernel = tn_cli_string(inner, "kernel", "?"), .ns = tn_cli_number(inner, "ns", 0)};
        }
        if (n) {
            tn_cli_table table;
            qsort(lines, n, sizeof *lines, tn_cli_dearest);
            printf("\nSub-flow %s on %s, %zu nodes%s\n", tn_cli_shown(tn_cli_string(node, "name", "?")), tn_cli_string(node, "device", "?"), n,
                   lines[0].ns > 0 ? "" : " (not timed by the device)");
            tn_cli_table_init(&table, 4, heads);
            for (size_t i = 0; i < n && i < most; i++) {
                tn_cli_table_add(&table, 0, "%.4f", lines[i].ns * 1e-6);
                tn_cli_table_add(&table, 1, "%s", lines[i].op);
                tn_cli_table_add(&table, 2, "%s", lines[i].kernel);
                tn_cli_table_add(&table, 3, "%s", lines[i].name);
            }
            tn_cli_table_print(&table);
        }
        free(lines);
    }
}

static void print_text(const tn_cli_summary *s, const tn_draw_profile *d, const tn_cli_feeds *feeds, size_t top)
{
    double flop = 0, wall = 0;
    for (size_t i = 0; i < s->n_ops; i++) {
        flop += s->ops[i].flop;
    }
    for (size_t i = 0; i < s->n_runs; i++) {
        wall += s->runs[i];
    }
    const double median = s->n_runs ? s->runs[s->n_runs / 2] : 0, runs = s->n_runs ? (double)s->n_runs : 1;
    printf("%s%s%s on %s, up to %s, %u thread%s\n", tn_cli_bold(), tn_cli_shown(d->model), tn_cli_plain(), d->processor, d->isa, s->threads, s->threads == 1 ? "" : "s");
    tn_cli_feeds_print(feeds);
    printf("\n  %zu runs: median %.3f  min %.3f  max %.3f ms; outside of steps %.4f ms a run\n", s->n_runs, median * 1e-6,
           s->n_runs ? s->runs[0] * 1e-6 : 0, s->n_runs ? s->runs[s->n_runs - 1] * 1e-6 : 0, (wall - s->stepped) * 1e-6 / runs);
    printf("  %.1f GFLOP/s over the median run; this machine now: %.1f GFLOP/s of multiply-adds, %.1f GB/s of copying\n",
           median > 0 ? flop / median : 0, d->peak_gflops, d->copy_gbps);
    printf("  threads busy:");
    for (unsigned t = 0; t < s->threads; t++) {
        printf(" %.0f %%", wall > 0 ? 100 * (s->busy[t] + (t == 0 ? s->alone : 0)) / wall : 0);
    }
    printf("  (work that only the caller's thread did: %.0f %%)\n\nBy operator\n", wall > 0 ? 100 * s->alone / wall : 0);
    print_lines(s, s->ops, s->n_ops, false, d->peak_gflops);
    printf("\nDearest nodes\n");
    print_lines(s, s->nodes, s->n_nodes < top ? s->n_nodes : top, true, d->peak_gflops);
    print_flows(d->profile, top);
    const double dropped = tn_cli_number(d->profile, "dropped", 0);
    if (dropped > 0) {
        tn_cli_note("%.0f events found no room in the record", dropped);
    }
}

static int record(tn_cli_session *s, const tn_cli_options *o)
{
    const uint64_t warmup = o->warmup == TN_CLI_UNSET ? 3 : o->warmup, runs = o->runs == TN_CLI_UNSET ? 10 : o->runs;
    tenon_error *error = NULL;
    int code = TN_EXIT_GOOD;
    for (uint64_t i = 0; !code && i < warmup; i++) {
        code = tn_cli_session_run(s, o->wanted.items, o->wanted.count);
    }
    if (!code && tenon_session_profile(s->session, TN_CLI_EVENTS, &error) != TENON_OK) {
        return tn_cli_error(error);
    }
    for (uint64_t i = 0; !code && i < runs; i++) {
        code = tn_cli_session_run(s, o->wanted.items, o->wanted.count);
    }
    return code ? code : tn_cli_session_write_outputs(s, o);
}

static int tell(tn_cli_session *s, const tn_cli_feeds *feeds, const tn_cli_options *o)
{
    int code;
    cJSON *memory = tn_cli_session_report(s, TENON_REPORT_MEMORY, &code);
    cJSON *profile = code ? NULL : tn_cli_session_report(s, TENON_REPORT_PROFILE, &code);
    if (!code) {
        tn_cli_summary sum;
        tn_cli_summarise(&sum, profile);
        qsort(sum.nodes, sum.n_nodes, sizeof *sum.nodes, tn_cli_dearest);
        const tn_draw_profile d = {.model = o->model, .processor = tn_cli_string(profile, "processor", "this machine"),
                                   .isa = tn_cli_string(profile, "isa", "?"), .profile = profile, .memory = memory,
                                   .peak_gflops = tn_peak_gflops(0, sum.threads), .copy_gbps = tn_peak_copy(sum.threads)};
        code = o->trace ? tn_draw_trace(&d, o->trace) : TN_EXIT_GOOD;
        code = !code && o->html ? tn_draw_page(&d, o->html) : code;
        if (!code && o->json) {
            cJSON *root = tn_cli_document("profile", o);
            cJSON_AddItemToObject(root, "inputs", tn_cli_feeds_json(feeds));
            cJSON_AddNumberToObject(root, "median_ms", sum.n_runs ? sum.runs[sum.n_runs / 2] * 1e-6 : 0);
            cJSON_AddNumberToObject(root, "peak_gflops", d.peak_gflops);
            cJSON_AddNumberToObject(root, "copy_gbps", d.copy_gbps);
            cJSON_AddItemToObject(root, "profile", profile);
            profile = NULL;
            tn_cli_print_document(root);
        } else if (!code) {
            print_text(&sum, &d, feeds, o->top == TN_CLI_UNSET ? 15 : (size_t)o->top);
        }
        tn_cli_summary_free(&sum);
    }
    cJSON_Delete(memory);
    cJSON_Delete(profile);
    return code;
}

static int run(const tn_cli_options *options)
{
    tn_cli_session session;
    tn_cli_feeds feeds;
    if (options->runs == 0) {
        return tn_cli_fail(TN_EXIT_USAGE, "--runs 0: a profile needs at least one run");
    }
    int code = tn_cli_session_open(&session, options);
    if (code) {
        return code;
    }
    code = tn_cli_feeds_make(&feeds, &session, options);
    code = code ? code : record(&session, options);
    code = code ? code : tell(&session, &feeds, options);
    tn_cli_session_close(&session);
    tn_cli_feeds_deinit(&feeds);
    return code;
}

#define AT(field) offsetof(tn_cli_options, field)

static const tn_cli_option options_of_profile[] = {
    {"html", "FILE", TN_CLI_TEXT, AT(html), "write a page that needs nothing else: timeline, tables, roofline, arena"},
    {"trace", "FILE", TN_CLI_TEXT, AT(trace), "write trace events (JSON) for Perfetto or chrome://tracing"},
    {"output", "NAME", TN_CLI_LIST, AT(wanted), "an output or a tensor inside the model, instead of all outputs; repeatable"},
    {"top", "K", TN_CLI_NUMBER, AT(top), "how many nodes to list (default 15)"},
    {NULL, NULL, TN_CLI_FLAG, 0, NULL},
};

const tn_cli_verb tn_verb_profile = {
    .name = "profile",
    .summary = "show where the time of a run goes, as text, page or trace",
    .about = "Runs the model (--warmup 3, then --runs 10) and records when each step began and ended and which thread did how much of it.\n"
             "Prints the time by operator and by node against the multiply-add rate and the copy bandwidth of this machine, both measured\n"
             "at the end with as many threads. --html and --trace write the whole record.\n",
    .examples = "  tenon profile model.onnx\n"
                "  tenon profile model.onnx --threads 2 --html profile.html --trace profile.json\n",
    .options = options_of_profile,
    .run = run,
};
