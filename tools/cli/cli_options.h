// SPDX-License-Identifier: Apache-2.0
// The options of the tenon command: one struct for all verbs, filled from tables, so that a flag means the same everywhere.
// Ownership: texts point into argv; lists are freed by tn_cli_options_deinit. Threads: one.
#ifndef TN_CLI_OPTIONS_H
#define TN_CLI_OPTIONS_H

#include "cli.h"

typedef struct tn_cli_list {
    const char **items;
    size_t count;
} tn_cli_list;

typedef struct tn_cli_options {
    const char *model;             // path, or "-" for stdin
    // every verb
    uint64_t threads;              // 0: one for each core
    uint64_t runs, warmup;         // TN_CLI_UNSET: the verb's default
    const char *device, *precision, *isa, *pin, *store, *cache, *power;
    const char *calibrate;
    unsigned strict;               // TENON_STRICT_*
    uint64_t memory_limit, limit_peak, device_log, deadline;
    bool no_optimise, verify;
    const char *sha256, *key_file;
    bool describe;                 // set by a verb that can do with less where weights are encrypted and no key is given
    tn_cli_list shapes;            // NAME=1x3x224x224
    const char *inputs, *outputs;
    uint64_t seed;
    bool json, quiet, no_progress;
    const char *color;             // auto, always, never
    // run
    tn_cli_list pictures, wanted;
    const char *resize, *fit, *normalise, *mean, *std, *channels, *layout;
    const char *npy, *labels;
    uint64_t top;
    // profile, info
    const char *html, *trace, *svg;
    // info, explain, compare
    bool memory, graph, brief, ops;
    const char *node;
    tn_cli_list a, b, rtol;
    const char *atol;
    // convert
    const char *out, *target, *encrypt, *key_name;
    bool split_weights, drop_imported;
    uint64_t chunk;
    // tune, cache
    uint64_t seconds;              // TN_CLI_UNSET: the verb's default
    uint64_t keep;                 // bytes; TN_CLI_UNSET: the verb's default
} tn_cli_options;

#define TN_CLI_UNSET UINT64_MAX

typedef enum tn_cli_kind { TN_CLI_FLAG, TN_CLI_NUMBER, TN_CLI_BYTES, TN_CLI_TEXT, TN_CLI_LIST, TN_CLI_STRICT } tn_cli_kind;

typedef struct tn_cli_option {
    const char *name;              // without the dashes
    const char *value;             // what the help calls its value; NULL for flags
    tn_cli_kind kind;
    size_t offset;                 // in tn_cli_options
    const char *help;
} tn_cli_option;

typedef struct tn_cli_verb {
    const char *name, *summary;
    const char *about;             // paragraphs of the help
    const char *examples;          // lines of the help, indented
    const tn_cli_option *options;  // of this verb alone; ends with a NULL name; may be NULL
    bool no_model;                 // takes no model
    const char *operand;           // what stands where others have their model; NULL: a model
    int (*run)(const tn_cli_options *options);
} tn_cli_verb;

// Reads argv[first..]. Returns TN_EXIT_GOOD; TN_EXIT_USAGE after telling what is wrong; -1 when it printed the help.
int tn_cli_options_read(tn_cli_options *options, const tn_cli_verb *verb, int argc, char **argv, int first);
void tn_cli_options_deinit(tn_cli_options *options);

void tn_cli_print_help(const tn_cli_verb *verb);

// The nearest of `count` names reached through `name_of`, or NULL when none is near enough to be meant.
const char *tn_cli_nearest(const char *word, const char *(*name_of)(const void *table, size_t i), const void *table, size_t count);

// "12", "1.5M", "2GiB" (powers of 1024) -> bytes. False: not a size.
bool tn_cli_parse_bytes(const char *text, uint64_t *bytes);
bool tn_cli_parse_number(const char *text, uint64_t *number);

#endif
