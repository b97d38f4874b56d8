// SPDX-License-Identifier: Apache-2.0
// A PROFILE report as files (drawing.h): trace events, and the page.
#include "drawing.h"

#include "cli_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double at(const cJSON *row, int index)
{
    const cJSON *item = cJSON_GetArrayItem(row, index);
    return cJSON_IsNumber(item) ? item->valuedouble : 0;
}

// ---- trace events: complete events ("X"), times in microseconds, one process, one track for steps and one for each thread ----

enum { PROCESS = 1, STEPS = 0 };

static cJSON *event(cJSON *list, const char *name, const char *category, int track, double begin_ns, double end_ns)
{
    cJSON *e = cJSON_CreateObject();
    cJSON_AddStringToObject(e, "name", name);
    cJSON_AddStringToObject(e, "cat", category);
    cJSON_AddStringToObject(e, "ph", "X");
    cJSON_AddNumberToObject(e, "ts", begin_ns * 1e-3);
    cJSON_AddNumberToObject(e, "dur", (end_ns - begin_ns) * 1e-3);
    cJSON_AddNumberToObject(e, "pid", PROCESS);
    cJSON_AddNumberToObject(e, "tid", track);
    cJSON_AddItemToArray(list, e);
    return cJSON_AddObjectToObject(e, "args");
}

static void name_track(cJSON *list, const char *what, int track, const char *name)
{
    cJSON *e = cJSON_CreateObject();
    cJSON_AddStringToObject(e, "name", what);
    cJSON_AddStringToObject(e, "ph", "M");
    cJSON_AddNumberToObject(e, "pid", PROCESS);
    cJSON_AddNumberToObject(e, "tid", track);
    cJSON_AddStringToObject(cJSON_AddObjectToObject(e, "args"), "name", name);
    cJSON_AddItemToArray(list, e);
}

static void describe(cJSON *args, const cJSON *node)
{
    static const char *const texts[] = {"op", "kernel", "device"}, *const numbers[] = {"macs", "read_bytes", "write_bytes", "constant_bytes"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        cJSON_AddStringToObject(args, texts[i], tn_cli_string(node, texts[i], ""));
    }
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        cJSON_AddNumberToObject(args, numbers[i], tn_cli_number(node, numbers[i], 0));
    }
}

// The nodes of a sub-flow one after another within the time of its step: devices tell how long each took, not when.
static void inner_events(cJSON *list, const cJSON *node, int track, double begin, double end)
{
    const cJSON *inner = cJSON_GetObjectItemCaseSensitive(node, "inner"), *n;
    double sum = 0;
    cJSON_ArrayForEach(n, inner)
    {
        sum += tn_cli_number(n, "ns", 0);
    }
    const double fit = sum > end - begin && sum > 0 ? (end - begin) / sum : 1;
    cJSON_ArrayForEach(n, inner)
    {
        const double took = tn_cli_number(n, "ns", 0) * fit;
        cJSON *args = event(list, tn_cli_string(n, "name", "?"), tn_cli_string(n, "op", "?"), track, begin, begin + took);
        cJSON_AddStringToObject(args, "kernel", tn_cli_string(n, "kernel", ""));
        begin += took;
    }
}

// Rows by index: cJSON's arrays are lists, and a profile has thousands of steps.
static const cJSON **rows_of(const cJSON *list)
{
    const cJSON **rows = tn_cli_take((size_t)cJSON_GetArraySize(list) + 1, sizeof *rows), *item;
    size_t n = 0;
    cJSON_ArrayForEach(item, list)
    {
        rows[n++] = item;
    }
    return rows;
}

static cJSON *trace_of(const tn_draw_profile *p)
{
    cJSON *root = cJSON_CreateObject(), *list = cJSON_AddArrayToObject(root, "traceEvents");
    const int threads = (int)tn_cli_number(p->profile, "threads", 1);
    const cJSON *node_list = cJSON_GetObjectItemCaseSensitive(p->profile, "nodes"), *row;
    const cJSON **nodes = rows_of(node_list), **steps = rows_of(cJSON_GetObjectItemCaseSensitive(p->profile, "steps"));
    cJSON_AddStringToObject(root, "displayTimeUnit", "ns");
    name_track(list, "process_name", 0, p->model);
    name_track(list, "thread_name", STEPS, "steps");
    for (int t = 0; t < threads; t++) {
        char name[32];
        snprintf(name, sizeof name, "thread %d", t);
        name_track(list, "thread_name", 1 + t, name);
    }
    name_track(list, "thread_name", 1 + threads, "sub-flows");
    cJSON_ArrayForEach(row, cJSON_GetObjectItemCaseSensitive(p->profile, "runs"))
    {
        cJSON_AddNumberToObject(event(list, "run", "run", STEPS, at(row, 0), at(row, 1)), "planning_ns", at(row, 2));
    }
    cJSON_ArrayForEach(row, cJSON_GetObjectItemCaseSensitive(p->profile, "steps"))
    {
        const cJSON *node = nodes[(size_t)at(row, 0)];
        describe(event(list, tn_cli_string(node, "name", "?"), tn_cli_string(node, "op", "?"), STEPS, at(row, 2), at(row, 3)), node);
        inner_events(list, node, 1 + threads, at(row, 2), at(row, 3));
    }
    cJSON_ArrayForEach(row, cJSON_GetObjectItemCaseSensitive(p->profile, "shares"))
    {
        const cJSON *node = nodes[(size_t)at(steps[(size_t)at(row, 0)], 0)];
        cJSON *args = event(list, tn_cli_string(node, "name", "?"), tn_cli_string(node, "op", "?"), 1 + (int)at(row, 1), at(row, 2), at(row, 3));
        cJSON_AddNumberToObject(args, "tiles", at(row, 4));
    }
    free(nodes);
    free(steps);
    return root;
}

static int write_text(tn_cli_writer *writer, char *text)
{
    const int code = text ? tn_cli_writer_add(writer, text, strlen(text)) : tn_cli_fail(TN_EXIT_LIMIT, "no memory left");
    if (!text) {
        tn_cli_writer_abandon(writer);
    }
    free(text);
    return code;
}

int tn_draw_trace(const tn_draw_profile *p, const char *path)
{
    tn_cli_writer writer;
    int code = tn_cli_writer_open(&writer, path);
    if (code) {
        return code;
    }
    cJSON *root = trace_of(p);
    code = write_text(&writer, cJSON_PrintUnformatted(root));
    cJSON_Delete(root);
    return code ? code : tn_cli_writer_close(&writer);
}

// ---- the page ----

// JSON inside a script element: "<" only occurs in texts, and as an escape it can neither end the element nor begin a comment.
static char *harmless(char *json)
{
    size_t extra = 0, n = 0;
    for (const char *c = json; *c; c++) {
        extra += *c == '<' ? 5 : 0;
    }
    char *text = tn_cli_take(strlen(json) + extra + 1, 1);
    for (const char *c = json; *c; c++) {
        if (*c == '<') {
            memcpy(text + n, "\\u003c", 6);
            n += 6;
        } else {
            text[n++] = *c;
        }
    }
    free(json);
    return text;
}

static char *data_of(const tn_draw_profile *p)
{
    cJSON *root = cJSON_CreateObject();
    cJSON_AddStringToObject(root, "model", p->model);
    cJSON_AddStringToObject(root, "processor", p->processor);
    cJSON_AddStringToObject(root, "isa", p->isa);
    cJSON_AddStringToObject(root, "version", tenon_version());
    cJSON_AddNumberToObject(root, "peak_gflops", p->peak_gflops);
    cJSON_AddNumberToObject(root, "copy_gbps", p->copy_gbps);
    cJSON_AddItemToObject(root, "profile", cJSON_Duplicate(p->profile, 1));
    cJSON_AddItemToObject(root, "memory", cJSON_Duplicate(p->memory, 1));
    char *json = cJSON_PrintUnformatted(root);
    cJSON_Delete(root);
    return json ? harmless(json) : NULL;
}

int tn_draw_page(const tn_draw_profile *p, const char *path)
{
    static const char mark[] = ">@DATA@<";
    const char *page = (const char *)tn_draw_page_bytes;
    const char *hole = memmem(page, tn_draw_page_size, mark, sizeof mark - 1);
    tn_cli_writer writer;
    int code = tn_cli_writer_open(&writer, path);
    if (code) {
        return code;
    }
    const size_t before = hole ? (size_t)(hole - page) + 1 : 0, after = before + sizeof mark - 3;
    code = tn_cli_writer_add(&writer, page, before);
    code = code ? code : write_text(&writer, data_of(p));
    code = code ? code : tn_cli_writer_add(&writer, page + after, tn_draw_page_size - after);
    return code ? code : tn_cli_writer_close(&writer);
}
