// SPDX-License-Identifier: Apache-2.0
// Opening a model and a session from the options, runs that Ctrl-C can stop, and reports as JSON trees.
// Ownership: tn_cli_session owns model, session and the bytes read from stdin. Threads: one.
#ifndef TN_CLI_SESSION_H
#define TN_CLI_SESSION_H

#include "cli_options.h"

#include <cjson/cJSON.h>

#define TN_CLI_WARNINGS 8       // more are only said to be there

typedef struct tn_cli_session {
    tenon_model *model;
    tenon_session *session;
    uint8_t *bytes;              // the model, when it came from stdin
    size_t size;
    double open_ms, create_ms;
    unsigned warnings;           // of the library, each counted once: the search for shapes plans many times
    char *told[TN_CLI_WARNINGS]; // those that were shown
    uint8_t key[32];             // of encrypted weights, while the model is opened
    bool closed;                 // encrypted, without a key: the model can be described, and there is no session
} tn_cli_session;

// Each gives an exit code after telling what is wrong.
int tn_cli_session_open(tn_cli_session *s, const tn_cli_options *options);
void tn_cli_session_close(tn_cli_session *s);
int tn_cli_session_run(tn_cli_session *s, const char *const *names, size_t count);

// The model options of the command line; the key, if any, is in s->key.
int tn_cli_model_options(tn_cli_session *s, tenon_model_options *mo, const tn_cli_options *options);

// Reads a key file: 32 bytes, or 64 hexadecimal digits. tn_cli_key_give is a tenon_key_fn over such a key.
int tn_cli_key_read(const char *path, uint8_t key[32]);
int tn_cli_key_give(void *context, const char *name, uint8_t *key);

// --power: reads its pairs, and notes which of them this machine does not follow.
int tn_cli_power_read(tenon_power *power, const char *text);
void tn_cli_power_tell(const tn_cli_session *s);

// Writes all outputs of the last run to options->outputs, if given.
int tn_cli_session_write_outputs(const tn_cli_session *s, const tn_cli_options *options);

// For verbs that look at a plan: runs as often as --runs says, or once for --outputs. Stages past the first are planned in the run.
int tn_cli_session_run_if_asked(tn_cli_session *s, const tn_cli_options *options);

// A report, parsed; the caller deletes it. NULL after telling why, with the exit code in *code.
cJSON *tn_cli_session_report(const tn_cli_session *s, tenon_report_kind kind, int *code);

// Ctrl-C stops a run at its next step; a second one ends the command. Temporary files are removed either way.
void tn_cli_catch_interrupt(void);

// Fields of a report, with what to say when they are not there.
double tn_cli_number(const cJSON *object, const char *key, double otherwise);
const char *tn_cli_string(const cJSON *object, const char *key, const char *otherwise);

// The root of a verb's JSON document: schema, verb, model.
cJSON *tn_cli_document(const char *verb, const tn_cli_options *options);
// Prints a document to stdout and deletes it.
void tn_cli_print_document(cJSON *root);

#endif
