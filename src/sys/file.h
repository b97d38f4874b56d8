// SPDX-License-Identifier: Apache-2.0
// Files as read-only bytes: mapped where possible. A file that another process truncates while mapped can raise SIGBUS.
// Ownership: tn_file_close releases what tn_file_open made. Threads: any, one per tn_file.
#ifndef TN_FILE_H
#define TN_FILE_H

#include "base/alloc.h"
#include "base/diag.h"

#include <stdbool.h>

typedef struct tn_file {
    const uint8_t *data;   // NULL for an empty file
    size_t size;
    bool mapped;
    uint64_t device, number;   // which file it is, whatever its names
} tn_file;

// Maps the regular file at path. Errors: TN_IO with the system's reason.
tn_status tn_file_open(tn_file *file, const char *path, tn_diag *diag);

// As tn_file_open for a file that must lie below folder: relative path without "..", not absolute, no symbolic link on the
// way or at its end, a regular file with one hard link. Errors: TN_INVALID_MODEL when the path breaks a rule, TN_IO.
tn_status tn_file_open_below(tn_file *file, const char *folder, const char *path, tn_diag *diag);

void tn_file_close(tn_file *file);

// Whether the path leads to this file now, by whatever name.
bool tn_file_is(const tn_file *file, const char *path);

// These bytes will not be read soon: whole pages of a mapped file inside them stop counting as ours (reading them again is still right,
// and slow once). Bytes outside the file are ignored.
void tn_file_forget(const tn_file *file, const void *data, size_t bytes);

// A file that is written piece by piece under a temporary name beside its own, and takes its own when all of it is there. A failed call
// has removed the temporary file. Errors: TN_IO.
typedef struct tn_file_writer {
    int descriptor;        // -1: nothing open
    char path[4096], temporary[4096 + 64];
} tn_file_writer;

tn_status tn_file_create(tn_file_writer *writer, const char *path, tn_diag *diag);
tn_status tn_file_append(tn_file_writer *writer, const void *data, size_t size, tn_diag *diag);
tn_status tn_file_commit(tn_file_writer *writer, tn_diag *diag);
void tn_file_abandon(tn_file_writer *writer);    // removes what was not committed

// Writes a whole file or nothing, in the same way. Errors: TN_IO.
tn_status tn_file_write(const char *path, const void *data, size_t size, tn_diag *diag);

#endif
