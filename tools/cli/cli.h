// SPDX-License-Identifier: Apache-2.0
// What every part of the tenon command shares: exit codes, memory that cannot fail, and how failures are told.
// The command is an ordinary user of include/tenon/tenon.h. Data goes to stdout, talk to stderr.
// Ownership: what tn_cli_take gives is freed with free(). Threads: the command has one.
#ifndef TN_CLI_H
#define TN_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tenon/tenon.h>

typedef enum tn_exit {
    TN_EXIT_GOOD = 0,
    TN_EXIT_CHECK = 1,         // ran, and the check failed or a result could not be written
    TN_EXIT_USAGE = 2,         // the command line or a file named on it does not fit
    TN_EXIT_MODEL = 3,         // the model cannot be read or is not correct
    TN_EXIT_UNSUPPORTED = 4,   // a correct model that needs what is not there
    TN_EXIT_DEVICE = 5,        // the named device is absent or failed
    TN_EXIT_LIMIT = 6,         // out of memory, or a limit refused
    TN_EXIT_INTERRUPT = 130    // Ctrl-C
} tn_exit;

// Zeroed memory; ends the command with TN_EXIT_LIMIT when there is none.
void *tn_cli_take(size_t count, size_t size);
void *tn_cli_grow(void *block, size_t count, size_t size);
char *tn_cli_copy(const char *text);

#if defined(__GNUC__)
#define TN_CLI_PRINTF(text_at, first) __attribute__((format(printf, text_at, first)))
#else
#define TN_CLI_PRINTF(text_at, first)
#endif

// A formatted string that the caller frees.
char *tn_cli_format(const char *format, ...) TN_CLI_PRINTF(1, 2);

// Writes "tenon: ..." to stderr and returns `code`, so that `return tn_cli_fail(...)` reads well.
int tn_cli_fail(int code, const char *format, ...) TN_CLI_PRINTF(2, 3);

// A note for people on stderr; silent with --quiet.
void tn_cli_note(const char *format, ...) TN_CLI_PRINTF(1, 2);
void tn_cli_set_quiet(bool quiet);

// Tells a failure of the library, frees the error, and gives the exit code that belongs to its status.
int tn_cli_error(tenon_error *error);
int tn_cli_exit_of(tenon_status status);

// Text from a model or a file as a terminal may see it: control characters as \xNN (newlines too). The result lives until the eighth next
// call.
const char *tn_cli_shown(const char *text);
const char *tn_cli_shown_lines(const char *text);   // newlines stay

// One JSON document on stdout, in well-formed UTF-8 whatever the names in it are.
struct cJSON;
void tn_cli_print_json(const struct cJSON *root);

// With --json a failure is also told as one JSON document on stdout; `verb` names the command.
void tn_cli_set_json_errors(const char *verb);

#endif
