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
} tn_file;

// Maps the regular file at path. Errors: TN_IO with the system's reason.
tn_status tn_file_open(tn_file *file, const char *path, tn_diag *diag);

// As tn_file_open for a file that must lie below folder: relative path without "..", not absolute, no symbolic link on the
// way or at its end, a regular file with one hard link. Errors: TN_INVALID_MODEL when the path breaks a rule, TN_IO.
tn_status tn_file_open_below(tn_file *file, const char *folder, const char *path, tn_diag *diag);

void tn_file_close(tn_file *file);

// These bytes will not be read soon: whole pages of a mapped file inside them stop counting as ours (reading them again is still right,
// and slow once). Bytes outside the file are ignored.
void tn_file_forget(const tn_file *file, const void *data, size_t bytes);

// Writes a whole file or nothing: to a temporary name beside it, then renamed. Errors: TN_IO.
tn_status tn_file_write(const char *path, const void *data, size_t size, tn_diag *diag);

#endif
