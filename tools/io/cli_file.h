// SPDX-License-Identifier: Apache-2.0
// Whole files in and out. A file is written under a temporary name and then renamed, so that Ctrl-C or a full disk leaves no half
// file; what is no regular file (a pipe, /dev/null) is written straight.
// Ownership: tn_cli_file_read gives bytes that the caller frees. Threads: one.
#ifndef TN_CLI_FILE_H
#define TN_CLI_FILE_H

#include "cli.h"

#include <stdio.h>

// Reads path ("-": stdin). False after telling why nothing was read, or silently with *missing set when `missing` is given and
// there is no such file.
bool tn_cli_file_read(const char *path, uint8_t **data, size_t *size, bool *missing);

typedef struct tn_cli_writer {
    FILE *stream;
    char *path, *temporary;   // temporary NULL: written straight
} tn_cli_writer;

// Whether a file could be written there, found out before the work that fills it: makes the temporary file and removes it.
int tn_cli_writer_probe(const char *path);
int tn_cli_folder_probe(const char *path);     // the same of any file in this folder

// Each returns an exit code after telling what went wrong. close gives the file its name; abandon removes the temporary one.
int tn_cli_writer_open(tn_cli_writer *writer, const char *path);
int tn_cli_writer_add(tn_cli_writer *writer, const void *data, size_t size);
int tn_cli_writer_close(tn_cli_writer *writer);
void tn_cli_writer_abandon(tn_cli_writer *writer);

// For the handler of Ctrl-C: removes the temporary file being written, if any. Async-signal-safe.
void tn_cli_writer_remove_pending(void);

#endif
