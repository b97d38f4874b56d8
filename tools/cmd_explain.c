// SPDX-License-Identifier: Apache-2.0
// tenon explain: for each node of the plan the kernel that was chosen, those that lost and why, layouts and leases; and what runs
// where.
#include "cmd.h"

#include "cli_feed.h"
#include "cli_text.h"

#include <stdio.h>
#include <string.h>

static void shape_text(const cJSON *shape, char *buffer, size_t size)
{
    int64_t dims[8];
    int rank = 0;
    const cJSON *dim;
    cJSON_ArrayForEach(dim, shape)
    {
        if (rank < 8) {
            dims[rank++] = cJSON_IsNumber(dim) ? (int64_t)dim->valuedouble : -1;
        }
    }
    tn_cli_dims_text(buffer, size, cJSON_IsArray(shape) ? rank : -1, dims);
}

static void print_origins(const cJSON *node)
{
    const cJSON *origin, *list = cJSON_GetObjectItemCaseSensitive(node, "origins");
    const char *name = tn_cli_string(node, "name", "");
    if (cJSON_GetArraySize(list) < 2) {
        origin = cJSON_GetArrayItem(list, 0);
        if (!cJSON_IsString(origin) || strcmp(origin->valuestring, name) == 0) {
            return;
        }
    }
    printf("      from ");
    cJSON_ArrayForEach(origin, list)
    {
        printf(" %s", cJSON_IsString(origin) ? tn_cli_shown(origin->valuestring) : "?");
    }
    putchar('\n');
}

static const char *ns_text(char *buffer, size_t size, double ns)
{
    snprintf(buffer, size, ns < 1e3 ? "%.0f ns" : ns < 1e6 ? "%.1f us" : "%.2f ms", ns < 1e3 ? ns : ns < 1e6 ? ns * 1e-3 : ns * 1e-6);
    return buffer;
}

// What each device would charge, or why it refused; of interest where there is more than the CPU.
static void print_bids(const cJSON *node)
{
    const cJSON *bids = cJSON_GetObjectItemCaseSensitive(node, "bids"), *bid;
    char price[32];
    if (cJSON_GetArraySize(bids) < 2) {
        return;
    }
    cJSON_ArrayForEach(bid, bids)
    {
        const double ns = tn_cli_number(bid, "ns", -1);
        const char *why = tn_cli_string(bid, "why", NULL);
        printf("      %sbid%s    %s: %s%s%s\n", tn_cli_dim(), tn_cli_plain(), tn_cli_string(bid, "device", "?"),
               ns < 0 ? "refused" : ns_text(price, sizeof price, ns), why ? ", " : "", why ? why : "");
    }
}

static void print_flow(const cJSON *node)
{
    const cJSON *flow = cJSON_GetObjectItemCaseSensitive(node, "flow"), *transfer;
    char all[32], work[32], call[32], cpu[32];
    if (!flow) {
        return;
    }
    printf("      sub-flow of %.0f nodes: %s, of it work %s and the call %s; on the CPU %s and no transfers\n", tn_cli_number(flow, "nodes", 0),
           ns_text(all, sizeof all, tn_cli_number(flow, "ns", 0)), ns_text(work, sizeof work, tn_cli_number(flow, "work_ns", 0)),
           ns_text(call, sizeof call, tn_cli_number(flow, "call_ns", 0)), ns_text(cpu, sizeof cpu, tn_cli_number(flow, "cpu_ns", 0)));
    const char *remark = tn_cli_string(flow, "remark", NULL);
    if (remark) {
        printf("      %s\n", tn_cli_shown(remark));
    }
    cJSON_ArrayForEach(transfer, cJSON_GetObjectItemCaseSensitive(flow, "transfers"))
    {
        char size[24], ns[32];
        printf("      transfer %s the device: %s, %s, %s\n", tn_cli_string(transfer, "way", "?"), tn_cli_shown(tn_cli_string(transfer, "tensor", "?")),
               tn_cli_size_text(size, tn_cli_number(transfer, "bytes", 0)), ns_text(ns, sizeof ns, tn_cli_number(transfer, "ns", 0)));
    }
}

static void print_node(const cJSON *node, int index, bool brief)
{
    char shape[128], macs[24];
    shape_text(cJSON_GetObjectItemCaseSensitive(node, "shape"), shape, sizeof shape);
    const double n = tn_cli_number(node, "macs", 0);
    const char *in = tn_cli_string(node, "layout_in", "-"), *out = tn_cli_string(node, "layout_out", "-");
    printf("%4d %s%s%s  %s  %s %s\n", index, tn_cli_bold(), tn_cli_shown(tn_cli_string(node, "name", "?")), tn_cli_plain(),
           tn_cli_string(node, "op", "?"), tn_cli_string(node, "dtype", "-"), shape);
    const char *precision = tn_cli_string(node, "precision", NULL);
    printf("      kernel %s (%s) on %s, %s%s%s%s%s, %s%s%s\n", tn_cli_string(node, "kernel", "-"), tn_cli_string(node, "impl", "-"),
           tn_cli_string(node, "device", "-"), in, strcmp(in, out) ? " -> " : "", strcmp(in, out) ? out : "",
           precision ? " kept in " : "", precision ? precision : "", tn_cli_string(node, "lease", "-"), n > 0 ? ", MACs " : "", n > 0 ? tn_cli_count_text(macs, n) : "");
    const char *fallback = tn_cli_string(node, "fallback", NULL);
    if (fallback) {
        printf("      %sfell back%s: %s\n", tn_cli_red(), tn_cli_plain(), fallback);
    }
    if (brief) {
        return;
    }
    print_origins(node);
    print_flow(node);
    print_bids(node);
    const cJSON *row;
    cJSON_ArrayForEach(row, cJSON_GetObjectItemCaseSensitive(node, "lost"))
    {
        printf("      %slost%s   %s: %s\n", tn_cli_dim(), tn_cli_plain(), tn_cli_string(row, "kernel", "?"),
               tn_cli_string(row, "why", "?"));
    }
}

static void print_placement(const cJSON *placement)
{
    static const char *const heads[] = {"device", ">nodes", ">MACs"};
    tn_cli_table table;
    const cJSON *device;
    tn_cli_table_init(&table, 3, heads);
    cJSON_ArrayForEach(device, placement)
    {
        char macs[24];
        tn_cli_table_add(&table, 0, "%s", device->string);
        tn_cli_table_add(&table, 1, "%.0f", tn_cli_number(device, "nodes", 0));
        tn_cli_table_add(&table, 2, "%s", tn_cli_count_text(macs, tn_cli_number(device, "macs", 0)));
    }
    printf("\nPlacement\n");
    tn_cli_table_print(&table);
}

static int print_text(const cJSON *explain, const cJSON *placement, const tn_cli_feeds *feeds, const tn_cli_options *o)
{
    const cJSON *node;
    int index = 0, shown = 0;
    printf("%s%s%s  up to %s, %.0f thread%s\n", tn_cli_bold(), tn_cli_shown(o->model), tn_cli_plain(), tn_cli_string(explain, "isa", "?"),
           tn_cli_number(explain, "threads", 0), tn_cli_number(explain, "threads", 0) == 1 ? "" : "s");
    tn_cli_feeds_print(feeds);
    putchar('\n');
    cJSON_ArrayForEach(node, cJSON_GetObjectItemCaseSensitive(explain, "nodes"))
    {
        if (!o->node || strstr(tn_cli_string(node, "name", ""), o->node)) {
            print_node(node, index, o->brief);
            shown++;
        }
        index++;
    }
    if (o->node && !shown) {
        return tn_cli_fail(TN_EXIT_USAGE, "--node: no node of the plan has '%s' in its name", o->node);
    }
    print_placement(placement);
    const char *failure = tn_cli_string(explain, "device_failure", NULL);
    if (failure) {
        printf("\n%sdevice failed%s: %s\n", tn_cli_red(), tn_cli_plain(), failure);
    }
    return TN_EXIT_GOOD;
}

static int run(const tn_cli_options *options)
{
    tn_cli_session session;
    tn_cli_feeds feeds;
    cJSON *explain = NULL, *placement = NULL;
    int code = tn_cli_session_open(&session, options);
    if (code) {
        return code;
    }
    code = tn_cli_feeds_make(&feeds, &session, options);
    if (!code) {
        code = tn_cli_session_run_if_asked(&session, options);
    }
    if (!code) {
        explain = tn_cli_session_report(&session, TENON_REPORT_EXPLAIN, &code);
    }
    if (!code) {
        placement = tn_cli_session_report(&session, TENON_REPORT_PLACEMENT, &code);
    }
    if (!code && options->json) {
        cJSON *root = tn_cli_document("explain", options);
        cJSON_AddItemToObject(root, "inputs", tn_cli_feeds_json(&feeds));
        cJSON_AddItemToObject(root, "plan", explain);
        cJSON_AddItemToObject(root, "placement", placement);
        explain = placement = NULL;
        tn_cli_print_document(root);
    } else if (!code) {
        code = print_text(explain, placement, &feeds, options);
    }
    cJSON_Delete(explain);
    cJSON_Delete(placement);
    tn_cli_session_close(&session);
    tn_cli_feeds_deinit(&feeds);
    return code;
}

#define AT(field) offsetof(tn_cli_options, field)

static const tn_cli_option options_of_explain[] = {
    {"node", "TEXT", TN_CLI_TEXT, AT(node), "only nodes with TEXT in their name"},
    {"brief", NULL, TN_CLI_FLAG, AT(brief), "two lines a node: no kernels that lost, no origins"},
    {NULL, NULL, TN_CLI_FLAG, 0, NULL},
};

const tn_cli_verb tn_verb_explain = {
    .name = "explain",
    .summary = "why each node runs as it does: kernel, layout, lease, device",
    .about = "Plans the model and prints its nodes in the order they run: operator, result, the kernel that was chosen, the layout\n"
             "it reads and writes, the lease of its result (private, share, output, scratch), the nodes of the file that it came\n"
             "from, and every kernel that lost with the reason. Then nodes and multiply-accumulates per device. Models whose\n"
             "shapes depend on data are planned in stages: --runs 1 plans, and shows, all of them.\n",
    .examples = "  tenon explain model.onnx --brief\n"
                "  tenon explain model.onnx --node conv1 --isa avx2\n"
                "  tenon explain model.onnx --json | jq '.plan.nodes[] | select(.fallback)'\n",
    .options = options_of_explain,
    .run = run,
};
