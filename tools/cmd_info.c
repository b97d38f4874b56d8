// SPDX-License-Identifier: Apache-2.0
// tenon info: what a model holds, whether all of it is supported, and what it will take, before anything runs.
#include "cmd.h"

#include "cli_feed.h"
#include "cli_text.h"
#include "drawing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct reports {
    cJSON *model, *memory, *explain, *placement, *graph;
} reports;

static void free_reports(reports *r)
{
    cJSON_Delete(r->model);
    cJSON_Delete(r->memory);
    cJSON_Delete(r->explain);
    cJSON_Delete(r->placement);
    cJSON_Delete(r->graph);
}

static int ask(reports *r, const tn_cli_session *s, bool graph)
{
    int code;
    r->model = tn_cli_session_report(s, TENON_REPORT_MODEL, &code);
    r->memory = code ? NULL : tn_cli_session_report(s, TENON_REPORT_MEMORY, &code);
    r->explain = code ? NULL : tn_cli_session_report(s, TENON_REPORT_EXPLAIN, &code);
    r->placement = code ? NULL : tn_cli_session_report(s, TENON_REPORT_PLACEMENT, &code);
    if (!code && graph) {
        r->graph = tn_cli_session_report(s, TENON_REPORT_GRAPH, &code);
    }
    return code;
}

static double planned_macs(const reports *r)
{
    double macs = 0;
    const cJSON *device;
    cJSON_ArrayForEach(device, r->placement)
    {
        macs += tn_cli_number(device, "macs", 0);
    }
    return macs;
}

// "1x3x224x224"; with named dims "batch x 3 x height x width".
static void print_shape(const cJSON *shape, const cJSON *symbols)
{
    const cJSON *dim, *symbol;
    const char *join = "x";
    cJSON_ArrayForEach(symbol, symbols)
    {
        join = cJSON_IsString(symbol) ? " x " : join;
    }
    int d = 0;
    cJSON_ArrayForEach(dim, shape)
    {
        symbol = cJSON_GetArrayItem(symbols, d);
        if (cJSON_IsNumber(dim)) {
            printf("%s%.0f", d ? join : "", dim->valuedouble);
        } else {
            printf("%s%s", d ? join : "", cJSON_IsString(symbol) ? tn_cli_shown(symbol->valuestring) : "?");
        }
        d++;
    }
    puts(d ? "" : cJSON_IsArray(shape) ? "scalar" : "any shape");
}

static void print_values(const char *what, const cJSON *list)
{
    const cJSON *value;
    cJSON_ArrayForEach(value, list)
    {
        printf("  %s %s%s%s  %s  ", what, tn_cli_bold(), tn_cli_shown(tn_cli_string(value, "name", "?")), tn_cli_plain(),
               tn_cli_string(value, "dtype", "?"));
        print_shape(cJSON_GetObjectItemCaseSensitive(value, "shape"), cJSON_GetObjectItemCaseSensitive(value, "symbols"));
    }
}

// Old models have all their weights among the inputs: the first few stand for the rest.
static void print_initialised(const cJSON *names)
{
    const int count = cJSON_GetArraySize(names), shown = count < 4 ? count : 4;
    for (int i = 0; i < shown; i++) {
        printf("%s%s", i ? ", " : "  in  with a value in the model: ", tn_cli_shown(cJSON_GetArrayItem(names, i)->valuestring));
    }
    if (count > shown) {
        printf(" and %d more", count - shown);
    }
    printf("%s", count ? "\n" : "");
}

// How many planned nodes of each kind, and of those on a reference kernel: {op: {"nodes", "reference"}}.
static cJSON *support(const reports *r)
{
    cJSON *table = cJSON_CreateObject();
    const cJSON *node;
    cJSON_ArrayForEach(node, cJSON_GetObjectItemCaseSensitive(r->explain, "nodes"))
    {
        const char *op = tn_cli_string(node, "op", "?");
        cJSON *row = cJSON_GetObjectItemCaseSensitive(table, op);
        if (!row) {
            row = cJSON_AddObjectToObject(table, op);
            cJSON_AddNumberToObject(row, "nodes", 0);
            cJSON_AddNumberToObject(row, "reference", 0);
        }
        const bool reference = strcmp(tn_cli_string(node, "impl", ""), "reference") == 0;
        cJSON_SetNumberValue(cJSON_GetObjectItem(row, "nodes"), tn_cli_number(row, "nodes", 0) + 1);
        cJSON_SetNumberValue(cJSON_GetObjectItem(row, "reference"), tn_cli_number(row, "reference", 0) + reference);
    }
    return table;
}

static void print_operators(const cJSON *operators)
{
    const cJSON *op;
    int column = 0;
    printf("\nOperators\n ");
    cJSON_ArrayForEach(op, operators)
    {
        const int width = (int)strlen(op->string) + 6;
        if (column && column + width > 100) {
            printf("\n ");
            column = 0;
        }
        column += width;
        printf(" %s:%.0f", tn_cli_shown(op->string), op->valuedouble);
    }
    putchar('\n');
}

static void print_support(const reports *r)
{
    cJSON *table = support(r);
    const cJSON *row;
    double nodes = 0, reference = 0;
    cJSON_ArrayForEach(row, table)
    {
        nodes += tn_cli_number(row, "nodes", 0);
        reference += tn_cli_number(row, "reference", 0);
    }
    printf("\nSupport\n  every operator of the file is supported; the plan has %.0f nodes, %.0f of them on reference kernels\n", nodes,
           reference);
    cJSON_ArrayForEach(row, table)
    {
        if (tn_cli_number(row, "reference", 0) > 0) {
            printf("    reference: %s (%.0f of %.0f)\n", tn_cli_shown(row->string), tn_cli_number(row, "reference", 0),
                   tn_cli_number(row, "nodes", 0));
        }
    }
    cJSON_Delete(table);
}

static void print_blocks(const cJSON *blocks)
{
    static const char *const heads[] = {">offset", ">bytes", ">first", ">last", "tensor", "shares with"};
    tn_cli_table table;
    const cJSON *block;
    tn_cli_table_init(&table, 6, heads);
    cJSON_ArrayForEach(block, blocks)
    {
        tn_cli_table_add(&table, 0, "%.0f", tn_cli_number(block, "offset", 0));
        tn_cli_table_add(&table, 1, "%.0f", tn_cli_number(block, "bytes", 0));
        tn_cli_table_add(&table, 2, "%.0f", tn_cli_number(block, "first", 0));
        tn_cli_table_add(&table, 3, "%.0f", tn_cli_number(block, "last", 0));
        tn_cli_table_add(&table, 4, "%s", tn_cli_string(block, "name", ""));
        tn_cli_table_add(&table, 5, "%s", tn_cli_string(block, "alias_of", ""));
    }
    tn_cli_table_print(&table);
}

static void print_memory(const reports *r, bool blocks)
{
    static const struct { const char *key, *what; } rows[] = {{"peak_bytes", "peak"}, {"arena_bytes", "arena"},
                                                              {"lower_bound_bytes", "lower bound of the arena"},
                                                              {"packed_bytes", "packed weights"}, {"input_bytes", "inputs"},
                                                              {"output_bytes", "results"}, {"scratch_bytes", "workspaces (of the arena)"},
                                                              {"device_bytes", "on other devices"}};
    char size[24];
    printf("\nMemory (%s)\n", cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(r->memory, "exact")) ? "exact" : "of what is planned before data is seen");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const double bytes = tn_cli_number(r->memory, rows[i].key, -1);
        if (bytes > 0 || (bytes == 0 && strcmp(rows[i].key, "device_bytes") != 0)) {
            printf("  %-26s %s\n", rows[i].what, tn_cli_size_text(size, bytes));
        }
    }
    if (blocks) {
        tn_draw_arena_text(r->memory);
        print_blocks(cJSON_GetObjectItemCaseSensitive(r->memory, "blocks"));
    }
}

// "96 avx512, 12 portable": planned nodes by kind of kernel.
static void print_kinds(const reports *r)
{
    cJSON *kinds = cJSON_CreateObject();
    const cJSON *node, *kind;
    cJSON_ArrayForEach(node, cJSON_GetObjectItemCaseSensitive(r->explain, "nodes"))
    {
        const char *impl = tn_cli_string(node, "impl", "?");
        const double before = tn_cli_number(kinds, impl, 0);
        cJSON_DeleteItemFromObjectCaseSensitive(kinds, impl);
        cJSON_AddNumberToObject(kinds, impl, before + 1);
    }
    const char *join = "";
    cJSON_ArrayForEach(kind, kinds)
    {
        printf("%s%.0f %s", join, kind->valuedouble, kind->string);
        join = ", ";
    }
    cJSON_Delete(kinds);
}

static void print_brief(const reports *r)
{
    char a[24], b[24], c[24];
    const cJSON *device;
    printf("  model    %s, %s parameters, %s multiply-accumulates\n", tn_cli_string(r->model, "format", "?"),
           tn_cli_count_text(a, tn_cli_number(r->model, "parameters", 0)), tn_cli_count_text(b, planned_macs(r)));
    cJSON_ArrayForEach(device, r->placement)
    {
        printf("  device   %s, %.0f nodes\n", device->string, tn_cli_number(device, "nodes", 0));
    }
    printf("  kernels  ");
    print_kinds(r);
    printf("\n  memory   peak %s: arena %s, packed weights %s%s\n", tn_cli_size_text(a, tn_cli_number(r->memory, "peak_bytes", 0)),
           tn_cli_size_text(b, tn_cli_number(r->memory, "arena_bytes", 0)),
           tn_cli_size_text(c, tn_cli_number(r->memory, "packed_bytes", 0)),
           cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(r->memory, "exact")) ? "" : " (a bound)");
}

// What a .tenon file says of itself.
static void print_file(const cJSON *file)
{
    char size[24];
    const cJSON *target;
    if (!cJSON_IsObject(file)) {
        return;
    }
    printf("\nFile\n  format %s, written by %s, %s\n", tn_cli_string(file, "version", "?"), tn_cli_shown(tn_cli_string(file, "writer", "?")),
           cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(file, "imported_graph")) ? "with the imported graph" : "optimised graph only");
    printf("  packed weights  ");
    cJSON_ArrayForEach(target, cJSON_GetObjectItemCaseSensitive(file, "targets"))
    {
        printf("%s ", tn_cli_shown(target->valuestring));
    }
    printf("(%.0f forms, %s)\n", tn_cli_number(file, "packs", 0), tn_cli_size_text(size, tn_cli_number(file, "pack_bytes", 0)));
    printf("  graph_sha256    %s\n  weights_sha256  %s (of %.0f chunk hashes)\n", tn_cli_string(file, "graph_sha256", "?"),
           tn_cli_string(file, "weights_sha256", "?"), tn_cli_number(file, "chunks", 0));
    if (tn_cli_string(file, "data_file", NULL)) {
        printf("  weights in      %s\n", tn_cli_shown(tn_cli_string(file, "data_file", "")));
    }
    if (cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(file, "encrypted"))) {
        printf("  encrypted       AES-256-GCM, key '%s'\n", tn_cli_shown(tn_cli_string(file, "key_name", "")));
    }
}

static void print_model(const reports *r, const tn_cli_options *o)
{
    char a[24], b[24];
    const char *producer = tn_cli_string(r->model, "producer", "");
    printf("%s%s%s  %s opset %.0f%s%s\n", tn_cli_bold(), tn_cli_shown(o->model), tn_cli_plain(), tn_cli_string(r->model, "format", "?"),
           tn_cli_number(r->model, "opset", 0), *producer ? ", made by " : "", tn_cli_shown(producer));
    print_values("in ", cJSON_GetObjectItemCaseSensitive(r->model, "inputs"));
    print_initialised(cJSON_GetObjectItemCaseSensitive(r->model, "initialised_inputs"));
    print_values("out", cJSON_GetObjectItemCaseSensitive(r->model, "outputs"));
    printf("  %.0f nodes, %s parameters (%s)\n", tn_cli_number(r->model, "nodes", 0),
           tn_cli_count_text(a, tn_cli_number(r->model, "parameters", 0)),
           tn_cli_size_text(b, tn_cli_number(r->model, "weight_bytes", 0)));
    if (tn_cli_number(r->model, "copied_bytes", 0) > 0) {
        printf("  %s of them copied, because the file holds them at addresses their type does not allow\n",
               tn_cli_size_text(a, tn_cli_number(r->model, "copied_bytes", 0)));
    }
    print_file(cJSON_GetObjectItemCaseSensitive(r->model, "file"));
}

static void print_text(const reports *r, const tn_cli_feeds *feeds, const tn_cli_options *o)
{
    char a[24];
    print_model(r, o);
    printf("\nPlanned for\n");
    tn_cli_feeds_print(feeds);
    printf("  %s multiply-accumulates\n", tn_cli_count_text(a, planned_macs(r)));
    print_operators(cJSON_GetObjectItemCaseSensitive(r->model, "operators"));
    print_support(r);
    print_memory(r, o->memory);
    if (r->graph) {
        printf("\n%s\n", cJSON_IsString(r->graph) ? tn_cli_shown_lines(r->graph->valuestring) : "");
    }
}

// The root, with the model's facts at the top level.
static cJSON *document(reports *r, const tn_cli_options *o)
{
    cJSON *root = tn_cli_document("info", o);
    cJSON *item = r->model->child;
    while (item) {
        cJSON *next = item->next;
        cJSON_AddItemToObject(root, item->string, cJSON_DetachItemViaPointer(r->model, item));
        item = next;
    }
    return root;
}

static void print_json(reports *r, const tn_cli_feeds *feeds, const tn_cli_options *o)
{
    cJSON *root = document(r, o);
    cJSON_AddItemToObject(root, "planned_for", tn_cli_feeds_json(feeds));
    cJSON_AddNumberToObject(root, "planned_macs", planned_macs(r));
    cJSON_AddItemToObject(root, "support", support(r));
    cJSON_AddItemToObject(root, "placement", r->placement);
    r->placement = NULL;
    if (!o->memory) {
        cJSON_DeleteItemFromObject(r->memory, "blocks");
    }
    cJSON_AddItemToObject(root, "memory", r->memory);
    r->memory = NULL;
    if (r->graph) {
        cJSON_AddItemToObject(root, "graph", r->graph);
        r->graph = NULL;
    }
    tn_cli_print_document(root);
}

// The operators that models may hold, one a line: domain, name, opsets, and what it becomes.
static int print_all_operators(const tn_cli_options *options)
{
    char *text = tenon_operators_json();
    cJSON *tree = text ? cJSON_Parse(text) : NULL;
    const cJSON *op;
    free(text);
    if (!tree) {
        return tn_cli_fail(TN_EXIT_LIMIT, "the list of operators could not be made");
    }
    if (options->json) {
        cJSON *root = tn_cli_document("info", options);
        cJSON_AddItemToObject(root, "operators", cJSON_DetachItemFromObject(tree, "operators"));
        cJSON_AddItemToObject(root, "built_in", cJSON_DetachItemFromObject(tree, "built_in"));
        tn_cli_print_document(root);
    } else {
        cJSON_ArrayForEach(op, cJSON_GetObjectItemCaseSensitive(tree, "operators"))
        {
            const char *domain = tn_cli_string(op, "domain", "");
            const double until = tn_cli_number(op, "until", 0);
            char last[16] = "+";     // the newest form has no last opset
            if (until > 0) {
                snprintf(last, sizeof last, "-%.0f", until);
            }
            printf("%-34s %3.0f%-4s %s%s%s\n", tn_cli_string(op, "name", "?"), tn_cli_number(op, "since", 0), last,
                   tn_cli_string(op, "built_in", "a composition"), *domain ? "  " : "", domain);
        }
    }
    cJSON_Delete(tree);
    return TN_EXIT_GOOD;
}

// Of encrypted weights without their key: nothing can be planned, the rest of the file can be told.
static int describe(const tn_cli_session *s, const tn_cli_options *o)
{
    reports r = {0};
    int code = TN_EXIT_GOOD;
    if (o->memory || o->graph || o->svg || o->runs != TN_CLI_UNSET || o->outputs) {
        return tn_cli_fail(TN_EXIT_USAGE, "key: the weights are encrypted, and what is asked for needs them: give --key-file");
    }
    r.model = tn_cli_session_report(s, TENON_REPORT_MODEL, &code);
    if (!code && o->json) {
        tn_cli_print_document(document(&r, o));
    } else if (!code) {
        print_model(&r, o);
        print_operators(cJSON_GetObjectItemCaseSensitive(r.model, "operators"));
        puts("\nThe weights are encrypted: the plan, its memory and its speed are told with the key (--key-file).");
    }
    free_reports(&r);
    return code;
}

static int run(const tn_cli_options *given)
{
    if (given->ops) {
        return print_all_operators(given);
    }
    tn_cli_options with_description = *given;
    const tn_cli_options *options = &with_description;
    with_description.describe = true;
    tn_cli_session session;
    tn_cli_feeds feeds;
    reports r = {0};
    int code = tn_cli_session_open(&session, options);
    if (code) {
        return code;
    }
    if (session.closed) {
        code = describe(&session, options);
        tn_cli_session_close(&session);
        return code;
    }
    code = tn_cli_feeds_make(&feeds, &session, options);
    code = code ? code : tn_cli_session_run_if_asked(&session, options);
    if (!code) {
        code = ask(&r, &session, options->graph);
    }
    if (!code && options->svg) {
        code = tn_draw_arena_svg(r.memory, options->model, options->svg);
    }
    if (!code && options->json) {
        print_json(&r, &feeds, options);
    } else if (!code && options->brief) {
        print_brief(&r);
    } else if (!code) {
        print_text(&r, &feeds, options);
    }
    free_reports(&r);
    tn_cli_session_close(&session);
    tn_cli_feeds_deinit(&feeds);
    return code;
}

#define AT(field) offsetof(tn_cli_options, field)

static const tn_cli_option options_of_info[] = {
    {"memory", NULL, TN_CLI_FLAG, AT(memory), "the arena over time, and each of its blocks: offset, size, first and last step, what it shares"},
    {"svg", "FILE", TN_CLI_TEXT, AT(svg), "draw the arena over time into FILE"},
    {"graph", NULL, TN_CLI_FLAG, AT(graph), "the optimised graph as text"},
    {"brief", NULL, TN_CLI_FLAG, AT(brief), "a few lines: the model, where and with which kernels it runs, its memory"},
    {"ops", NULL, TN_CLI_FLAG, AT(ops), "no model: the operators that models may hold, with --json their types, kernels and devices too"},
    {NULL, NULL, TN_CLI_FLAG, 0, NULL},
};

const tn_cli_verb tn_verb_info = {
    .name = "info",
    .summary = "show a model: inputs, operators, parameters, MACs, memory, support",
    .about = "Opens and plans the model; it runs only with --runs or --outputs. A model with operators that are not supported fails with exit\n"
             "status 4 and a message that lists all of them by node. With --json the keys are those of the reports in tenon.h:\n"
             "memory = {arena_bytes, lower_bound_bytes, peak_bytes, exact, blocks (with --memory)}.\n",
    .examples = "  tenon info model.onnx\n"
                "  tenon info model.onnx --shape input=1x3x640x640 --memory\n"
                "  tenon info model.onnx --memory --svg arena.svg\n"
                "  tenon info model.onnx --memory --json | jq .memory.peak_bytes\n"
                "  tenon info --ops\n",
    .options = options_of_info,
    .run = run,
};
