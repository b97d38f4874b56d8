// SPDX-License-Identifier: Apache-2.0
// tenon cache: what devices keep in a cache folder (built programs, tables of tuned sizes): list, verify, prune.
#include "cmd.h"

#include "cli_session.h"
#include "cli_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_KEEP ((uint64_t)64 << 20)

static void print_files(const cJSON *tree, bool all)
{
    static const char *const heads[] = {"file", "kind", ">size", "state"};
    const cJSON *file;
    tn_cli_table table;
    tn_cli_table_init(&table, 4, heads);
    cJSON_ArrayForEach(file, cJSON_GetObjectItemCaseSensitive(tree, "files"))
    {
        char size[24];
        const bool whole = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(file, "whole"));
        if (all || !whole) {
            tn_cli_table_add(&table, 0, "%s", tn_cli_string(file, "name", "?"));
            tn_cli_table_add(&table, 1, "%s", tn_cli_string(file, "kind", "?"));
            tn_cli_table_add(&table, 2, "%s", tn_cli_size_text(size, tn_cli_number(file, "bytes", 0)));
            tn_cli_table_add(&table, 3, "%s", whole ? "whole" : "broken");
        }
    }
    tn_cli_table_print(&table);
}

static void print_all(cJSON *tree, const tn_cli_options *options, const char *action, double removed)
{
    char size[24];
    if (options->json) {
        cJSON *root = tn_cli_document("cache", options);
        cJSON_AddStringToObject(root, "action", action);
        cJSON_AddNumberToObject(root, "removed", removed);
        cJSON_AddItemToObject(root, "folder", cJSON_Duplicate(tree, 1));
        tn_cli_print_document(root);
        return;
    }
    if (strcmp(action, "prune") != 0) {
        print_files(tree, strcmp(action, "ls") == 0);
    }
    printf("files=%.0f bytes=%.0f (%s) broken=%.0f removed=%.0f\n", tn_cli_number(tree, "count", 0), tn_cli_number(tree, "bytes", 0),
           tn_cli_size_text(size, tn_cli_number(tree, "bytes", 0)), tn_cli_number(tree, "broken", 0), removed);
}

static int run(const tn_cli_options *options)
{
    const char *action = options->model;
    const bool prune = strcmp(action, "prune") == 0, verify = strcmp(action, "verify") == 0;
    if (!prune && !verify && strcmp(action, "ls") != 0) {
        return tn_cli_fail(TN_EXIT_USAGE, "tenon cache takes ls, verify or prune, not '%s'", action);
    }
    if (!options->cache) {
        return tn_cli_fail(TN_EXIT_USAGE, "tenon cache %s needs --cache DIR", action);
    }
    const double removed = prune ? (double)tenon_cache_prune(options->cache, options->keep == TN_CLI_UNSET ? DEFAULT_KEEP : options->keep) : 0;
    char *text = tenon_cache_json(options->cache);
    cJSON *tree = text ? cJSON_Parse(text) : NULL;
    free(text);
    if (!tree) {
        return tn_cli_fail(TN_EXIT_LIMIT, "the list of files could not be made");
    }
    int code = TN_EXIT_GOOD;
    if (removed < 0) {
        code = tn_cli_fail(TN_EXIT_CHECK, "files of the folder '%s' cannot be removed; is it read-only?", options->cache);
    } else if (!cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(tree, "readable"))) {
        code = tn_cli_fail(TN_EXIT_USAGE, "the folder '%s' cannot be read, or this build has no device that keeps files", options->cache);
    } else {
        print_all(tree, options, action, removed);
        code = verify && tn_cli_number(tree, "broken", 0) > 0 ? TN_EXIT_CHECK : TN_EXIT_GOOD;
    }
    cJSON_Delete(tree);
    return code;
}

static const tn_cli_option options_of_cache[] = {
    {"keep", "BYTES", TN_CLI_BYTES, offsetof(tn_cli_options, keep), "prune: keep the newest programs up to this size (default 64M)"},
    {NULL, NULL, TN_CLI_FLAG, 0, NULL},
};

const tn_cli_verb tn_verb_cache = {
    .name = "cache",
    .summary = "list, verify or prune a folder of built programs",
    .about = "ls lists what devices keep in the --cache folder: built programs, packed weights and tables of tuned sizes. verify lists files that\n"
             "are cut short or changed and exits with 1 when there are any (they are never used; the next run writes them again).\n"
             "prune removes those, and then the oldest programs until at most --keep bytes are left.\n",
    .examples = "  tenon cache ls --cache ~/.cache/tenon\n"
                "  tenon cache verify --cache ~/.cache/tenon --json\n"
                "  tenon cache prune --cache ~/.cache/tenon --keep 16M\n",
    .options = options_of_cache,
    .operand = "ls|verify|prune",
    .run = run,
};
