// SPDX-License-Identifier: Apache-2.0
// Whole files in and out (cli_file.h).
// The name of the file being written is kept for the signal handler: it is the one thing that must not stay behind.
#include "cli_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char *volatile pending;

bool tn_cli_file_read(const char *path, uint8_t **data, size_t *size, bool *missing)
{
    *data = NULL;
    *size = 0;
    if (missing) {
        *missing = false;
    }
    FILE *stream = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb");
    if (!stream) {
        if (missing && (errno == ENOENT || errno == ENOTDIR || errno == ENAMETOOLONG)) {
            *missing = true;
            return false;
        }
        tn_cli_fail(TN_EXIT_USAGE, "%s: %s", path, strerror(errno));
        return false;
    }
    size_t capacity = 1 << 16, length = 0;
    uint8_t *bytes = tn_cli_take(capacity, 1);
    errno = 0;
    for (;;) {
        const size_t got = fread(bytes + length, 1, capacity - length, stream);
        length += got;
        if (got == 0) {
            break;
        }
        if (length == capacity) {
            capacity *= 2;
            bytes = tn_cli_grow(bytes, capacity, 1);
        }
    }
    const bool failed = ferror(stream);
    if (failed) {
        tn_cli_fail(TN_EXIT_USAGE, "%s: %s", path, strerror(errno));
        free(bytes);
    } else {
        *data = bytes;
        *size = length;
    }
    if (stream != stdin) {
        fclose(stream);
    }
    return !failed;
}

static int writer_failed(tn_cli_writer *writer)
{
    const int code = tn_cli_fail(TN_EXIT_CHECK, "%s: cannot write: %s", writer->path, strerror(errno));
    tn_cli_writer_abandon(writer);
    return code;
}

int tn_cli_writer_open(tn_cli_writer *writer, const char *path)
{
    struct stat facts;
    *writer = (tn_cli_writer){.path = tn_cli_copy(path)};
    if (stat(path, &facts) == 0 && !S_ISREG(facts.st_mode)) {
        writer->stream = fopen(path, "wb");
        return writer->stream ? TN_EXIT_GOOD : writer_failed(writer);
    }
    writer->temporary = tn_cli_format("%s.%ld.part", path, (long)getpid());
    pending = writer->temporary;
    const int fd = open(writer->temporary, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
    writer->stream = fd >= 0 ? fdopen(fd, "wb") : NULL;
    return writer->stream ? TN_EXIT_GOOD : writer_failed(writer);
}

int tn_cli_writer_probe(const char *path)
{
    struct stat facts;
    tn_cli_writer writer;
    const bool there = stat(path, &facts) == 0;
    if (there && S_ISDIR(facts.st_mode)) {
        return tn_cli_fail(TN_EXIT_USAGE, "%s: is a folder, not a file", path);
    }
    if (there && !S_ISREG(facts.st_mode)) {
        return TN_EXIT_GOOD;      // opening a pipe twice would disturb its reader
    }
    const int code = tn_cli_writer_open(&writer, path);
    if (!code) {
        tn_cli_writer_abandon(&writer);
    }
    return code;
}

int tn_cli_folder_probe(const char *path)
{
    if (access(path, W_OK | X_OK)) {
        return tn_cli_fail(TN_EXIT_CHECK, "%s: no folder that can be written: %s", path, strerror(errno));
    }
    char *inside = tn_cli_format("%s/probe", path);
    const int code = tn_cli_writer_probe(inside);
    free(inside);
    return code;
}

int tn_cli_writer_add(tn_cli_writer *writer, const void *data, size_t size)
{
    return size == 0 || fwrite(data, 1, size, writer->stream) == size ? TN_EXIT_GOOD : writer_failed(writer);
}

int tn_cli_writer_close(tn_cli_writer *writer)
{
    FILE *stream = writer->stream;
    writer->stream = NULL;
    if (fclose(stream) != 0) {
        return writer_failed(writer);
    }
    if (writer->temporary && rename(writer->temporary, writer->path) != 0) {
        return writer_failed(writer);
    }
    pending = NULL;
    free(writer->temporary);
    free(writer->path);
    *writer = (tn_cli_writer){0};
    return TN_EXIT_GOOD;
}

void tn_cli_writer_abandon(tn_cli_writer *writer)
{
    if (writer->stream) {
        fclose(writer->stream);
    }
    if (writer->temporary) {
        unlink(writer->temporary);
    }
    pending = NULL;
    free(writer->temporary);
    free(writer->path);
    *writer = (tn_cli_writer){0};
}

void tn_cli_writer_remove_pending(void)
{
    if (pending) {
        unlink(pending);
    }
}
