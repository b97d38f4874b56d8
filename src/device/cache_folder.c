// SPDX-License-Identifier: Apache-2.0
// Going through cache folders.
// Ownership: see the header. Threads: see the header.
#include "device/cache_folder.h"

#include "sys/file.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define LEFT_S 3600      // a temporary file that nobody has touched for so long is nobody's

bool tn_cache_path(char path[TN_CACHE_PATH], const char *folder, uint64_t a, uint64_t b, const char *ending)
{
    const int n = snprintf(path, TN_CACHE_PATH, "%s/%016" PRIx64 "%016" PRIx64 "%s", folder, a, b, ending);
    return n > 0 && n < TN_CACHE_PATH;
}

bool tn_cache_writable(const char *folder)
{
    struct stat facts;
    (void)mkdir(folder, 0700);
    return stat(folder, &facts) == 0 && S_ISDIR(facts.st_mode) && access(folder, W_OK | X_OK) == 0;
}

typedef struct entry {
    const char *name;
    char path[TN_CACHE_PATH];
    const tn_cache_kind *kind;      // NULL: left by a writer that was killed
    uint64_t bytes;
    struct timespec when;
} entry;

// Of a name with the ending: 1; of a temporary one of sys/file.h (ENDING.PID-TIME): 0; else -1.
static int ends(const char *name, const char *ending)
{
    const size_t tail = strlen(ending);
    const char *at = strstr(name, ending);
    if (!at || at == name) {
        return -1;
    }
    at += tail;
    return !*at ? 1 : *at == '.' && !at[1 + strspn(at + 1, "0123456789abcdef-")] ? 0 : -1;
}

// The next regular file that is of a kind, or was to be.
static bool next(DIR *list, const char *folder, const tn_cache_kind *kinds, entry *e)
{
    for (const struct dirent *d = readdir(list); d; d = readdir(list)) {
        int is = -1;
        for (e->kind = kinds; e->kind->ending && (is = ends(d->d_name, e->kind->ending)) < 0; e->kind++) {
        }
        struct stat facts;
        const int n = is < 0 ? -1 : snprintf(e->path, sizeof e->path, "%s/%s", folder, d->d_name);
        if (n > 0 && n < TN_CACHE_PATH && lstat(e->path, &facts) == 0 && S_ISREG(facts.st_mode)) {
            e->kind = is ? e->kind : NULL;
            e->name = d->d_name;
            e->bytes = (uint64_t)facts.st_size;
            e->when = facts.st_mtim;
            return true;
        }
    }
    return false;
}

static bool is_whole(const entry *e)
{
    tn_file file;
    if (tn_file_open(&file, e->path, NULL) != TN_OK) {
        return false;
    }
    const bool whole = e->kind->whole(file.data, file.size);
    tn_file_close(&file);
    return whole;
}

bool tn_cache_list(const char *folder, const tn_cache_kind *kinds, void (*visit)(const tn_cache_file *file, void *context), void *context)
{
    DIR *list = opendir(folder);
    if (!list) {
        return false;
    }
    for (entry e; next(list, folder, kinds, &e);) {
        if (e.kind) {
            const tn_cache_file seen = {e.name, e.kind->text, e.bytes, is_whole(&e)};
            visit(&seen, context);
        }
    }
    (void)closedir(list);
    return true;
}

// 1: it is gone by our hand; 0: by that of another process; -1: it stays.
static int removed(const char *path) { return unlink(path) == 0 ? 1 : errno == ENOENT ? 0 : -1; }

// Removes leftovers, and broken files where asked for. The number of broken ones removed, or -1.
static int sweep(const char *folder, const tn_cache_kind *kinds, bool broken)
{
    DIR *list = opendir(folder);
    int count = 0;
    if (!list) {
        return 0;
    }
    for (entry e; count >= 0 && next(list, folder, kinds, &e);) {
        if (!e.kind && time(NULL) - e.when.tv_sec > LEFT_S) {
            (void)unlink(e.path);
        } else if (e.kind && broken && !is_whole(&e)) {
            const int gone = removed(e.path);
            count = gone < 0 ? -1 : count + gone;
        }
    }
    (void)closedir(list);
    return count;
}

// Bytes of all files that age, and the one written longest ago, where there is any: kind is NULL else.
static uint64_t oldest(const char *folder, const tn_cache_kind *kinds, entry *first)
{
    DIR *list = opendir(folder);
    uint64_t sum = 0;
    first->kind = NULL;
    for (entry e; list && next(list, folder, kinds, &e);) {
        if (!e.kind || !e.kind->ages) {
            continue;
        }
        sum += e.bytes;
        const bool older = e.when.tv_sec < first->when.tv_sec || (e.when.tv_sec == first->when.tv_sec && e.when.tv_nsec < first->when.tv_nsec);
        if (!first->kind || older) {
            *first = e;
        }
    }
    if (list) {
        (void)closedir(list);
    }
    return sum;
}

// The oldest. The number of files removed, or -1.
static int drop_oldest(const char *folder, const tn_cache_kind *kinds, uint64_t limit)
{
    entry first;
    int count = 0;
    while (oldest(folder, kinds, &first) > limit && first.kind) {
        const int gone = removed(first.path);
        if (gone < 0) {
            return -1;
        }
        count += gone;
    }
    return count;
}

int tn_cache_prune(const char *folder, const tn_cache_kind *kinds, uint64_t limit)
{
    const int broken = sweep(folder, kinds, true), old = broken < 0 ? -1 : drop_oldest(folder, kinds, limit);
    return old < 0 ? -1 : broken + old;
}

void tn_cache_store(const char *folder, const char *path, const tn_cache_kind *kinds, uint64_t limit, const void *head, size_t head_bytes,
                    const void *payload, size_t bytes)
{
    tn_file_writer writer;
    (void)mkdir(folder, 0700);
    if (tn_file_create(&writer, path, NULL) == TN_OK && tn_file_append(&writer, head, head_bytes, NULL) == TN_OK &&
        tn_file_append(&writer, payload, bytes, NULL) == TN_OK && tn_file_commit(&writer, NULL) == TN_OK) {
        (void)sweep(folder, kinds, false);
        (void)drop_oldest(folder, kinds, limit);
    }
}
