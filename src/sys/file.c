// SPDX-License-Identifier: Apache-2.0
// Files through POSIX calls: read by mapping, written whole or not at all. A path that comes out of a model is walked component by
// component from an open folder, so that nothing on the way can be exchanged for a link between a check and its use.
// Ownership: see sys/file.h. Threads: any.
#include "sys/file.h"
#include "sys/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static tn_status fail_system(tn_diag *diag, const char *path, const char *what)
{
    const int code = errno;
    return tn_fail(diag, code == ENOMEM ? TN_OUT_OF_MEMORY : TN_IO, path, "cannot %s: %s", what, strerror(code));
}

// Maps an open file and closes the descriptor.
static tn_status map_descriptor(tn_file *file, int descriptor, const char *path, bool one_link, tn_diag *diag)
{
    tn_status status = TN_OK;
    struct stat facts;
    if (fstat(descriptor, &facts) != 0) {
        TN_GO(fail_system(diag, path, "look at the file"));
    }
    if (!S_ISREG(facts.st_mode)) {
        TN_GO(tn_fail(diag, one_link ? TN_INVALID_MODEL : TN_IO, path, "not a regular file"));
    }
    if (one_link && facts.st_nlink != 1) {
        TN_GO(tn_fail(diag, TN_INVALID_MODEL, path, "the file has more than one name (hard link), which external data may not have"));
    }
    if ((uintmax_t)facts.st_size > PTRDIFF_MAX) {
        TN_GO(tn_fail(diag, TN_IO, path, "the file does not fit in the address space"));
    }
    file->device = (uint64_t)facts.st_dev;
    file->number = (uint64_t)facts.st_ino;
    if (facts.st_size > 0) {
        void *data = mmap(NULL, (size_t)facts.st_size, PROT_READ, MAP_PRIVATE, descriptor, 0);
        if (data == MAP_FAILED) {
            TN_GO(fail_system(diag, path, "map the file"));
        }
        file->data = data;
        file->size = (size_t)facts.st_size;
        file->mapped = true;
    }
done:
    close(descriptor);
    return status;
}

// O_NONBLOCK: opening a pipe must not wait for a writer. It means nothing for regular files.
#define OPEN_FLAGS (O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)

tn_status tn_file_open(tn_file *file, const char *path, tn_diag *diag)
{
    *file = (tn_file){0};
    const int descriptor = open(path, OPEN_FLAGS);
    if (descriptor < 0) {
        return fail_system(diag, path, "open the file");
    }
    return map_descriptor(file, descriptor, path, false, diag);
}

// Opens one component below `folder`, never through a link. On failure the status tells a broken rule from a system error.
static tn_status open_component(int *out, int folder, const char *name, bool last, const char *path, tn_diag *diag)
{
    const int flags = last ? OPEN_FLAGS | O_NOFOLLOW : O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    *out = openat(folder, name, flags);
    if (*out >= 0) {
        return TN_OK;
    }
    struct stat facts;
    const int code = errno;
    if (fstatat(folder, name, &facts, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(facts.st_mode)) {
        return tn_fail(diag, TN_INVALID_MODEL, path, "'%s' is a symbolic link, which external data may not be", name);
    }
    errno = code;
    return fail_system(diag, path, "open the file");
}

// Copies the next component (what is before a slash) to name; *rest moves behind it. false: too long.
static bool next_component(const char **rest, char *name, size_t size)
{
    const char *at = *rest;
    const size_t length = strcspn(at, "/");
    if (length >= size) {
        return false;
    }
    memcpy(name, at, length);
    name[length] = 0;
    at += length;
    while (*at == '/') {
        at++;
    }
    *rest = at;
    return true;
}

tn_status tn_file_open_below(tn_file *file, const char *folder, const char *path, tn_diag *diag)
{
    *file = (tn_file){0};
    const size_t length = strlen(path);
    if (length == 0 || path[0] == '/' || path[length - 1] == '/') {
        return tn_fail(diag, TN_INVALID_MODEL, path, "external data must be named by a path relative to the model's folder");
    }
    tn_status status = TN_OK;
    int at = open(folder[0] ? folder : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (at < 0) {
        return fail_system(diag, folder, "open the folder");
    }
    const char *rest = path;
    while (*rest) {
        char name[NAME_MAX + 1];
        int below;
        if (!next_component(&rest, name, sizeof name)) {
            TN_GO(tn_fail(diag, TN_INVALID_MODEL, path, "a name in this path is too long"));
        }
        if (strcmp(name, "..") == 0) {
            TN_GO(tn_fail(diag, TN_INVALID_MODEL, path, "external data may not lie outside the model's folder (\"..\")"));
        }
        if (strcmp(name, ".") == 0 && *rest) {
            continue;
        }
        TN_GO(open_component(&below, at, name, *rest == 0, path, diag));
        close(at);
        at = below;
    }
    return map_descriptor(file, at, path, true, diag);
done:
    close(at);
    return status;
}

void tn_file_close(tn_file *file)
{
    if (file->mapped) {
        munmap((void *)(uintptr_t)file->data, file->size);
    }
    *file = (tn_file){0};
}

bool tn_file_is(const tn_file *file, const char *path)
{
    struct stat facts;
    return file->mapped && stat(path, &facts) == 0 && file->device == (uint64_t)facts.st_dev && file->number == (uint64_t)facts.st_ino;
}

static bool write_all(int descriptor, const char *data, size_t size)
{
    while (size) {
        const ssize_t n = write(descriptor, data, size);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            return false;
        }
        data += n;
        size -= (size_t)n;
    }
    return true;
}

// A new file beside path under a name that was free. Writes the name to temporary; -1 and errno on failure.
static int create_beside(const char *path, char *temporary, size_t size)
{
    for (int attempt = 0; attempt < 100; attempt++) {
        const unsigned long long number = tn_clock_ns() + (unsigned long long)attempt;
        const int n = snprintf(temporary, size, "%s.%ld-%llx", path, (long)getpid(), number);
        if (n < 0 || (size_t)n >= size) {
            errno = ENAMETOOLONG;
            return -1;
        }
        const int descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (descriptor >= 0 || errno != EEXIST) {
            return descriptor;
        }
    }
    return -1;
}

// Removes the temporary file and says why.
static tn_status give_up(tn_file_writer *writer, tn_diag *diag)
{
    const int code = errno;
    tn_file_abandon(writer);
    errno = code;
    return fail_system(diag, writer->path, "write the file");
}

tn_status tn_file_create(tn_file_writer *writer, const char *path, tn_diag *diag)
{
    writer->descriptor = -1;
    if (strlen(path) >= sizeof writer->path) {
        errno = ENAMETOOLONG;
        return fail_system(diag, "", "create the file");
    }
    memcpy(writer->path, path, strlen(path) + 1);
    struct stat facts;
    if (stat(path, &facts) == 0 && !S_ISREG(facts.st_mode)) {
        // The rename at the end would put a file in the place of a device.
        return tn_fail(diag, TN_IO, path, "cannot write the file: what is there is no regular one");
    }
    writer->descriptor = create_beside(path, writer->temporary, sizeof writer->temporary);
    return writer->descriptor < 0 ? fail_system(diag, path, "create the file") : TN_OK;
}

tn_status tn_file_append(tn_file_writer *writer, const void *data, size_t size, tn_diag *diag)
{
    return write_all(writer->descriptor, data, size) ? TN_OK : give_up(writer, diag);
}

tn_status tn_file_commit(tn_file_writer *writer, tn_diag *diag)
{
    if (fsync(writer->descriptor) != 0) {
        return give_up(writer, diag);
    }
    const int descriptor = writer->descriptor;
    writer->descriptor = -1;
    // Some file systems report a full disk only when the file is closed.
    if (close(descriptor) != 0 || rename(writer->temporary, writer->path) != 0) {
        const int code = errno;
        unlink(writer->temporary);
        errno = code;
        return fail_system(diag, writer->path, "write the file");
    }
    return TN_OK;
}

void tn_file_abandon(tn_file_writer *writer)
{
    if (writer->descriptor >= 0) {
        close(writer->descriptor);
        unlink(writer->temporary);
        writer->descriptor = -1;
    }
}

tn_status tn_file_write(const char *path, const void *data, size_t size, tn_diag *diag)
{
    tn_file_writer writer;
    TN_TRY(tn_file_create(&writer, path, diag));
    TN_TRY(tn_file_append(&writer, data, size, diag));
    return tn_file_commit(&writer, diag);
}

void tn_file_forget(const tn_file *file, const void *data, size_t bytes)
{
    const uintptr_t page = 4096, start = (uintptr_t)file->data, from = (uintptr_t)data;
    if (!file->mapped || from < start || from - start > file->size || bytes > file->size - (from - start)) {
        return;
    }
    const uintptr_t first = (from + page - 1) & ~(page - 1), last = (from + bytes) & ~(page - 1);
    if (first < last) {
        (void)madvise((void *)first, last - first, MADV_DONTNEED);
    }
}
