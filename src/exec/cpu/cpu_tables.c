// SPDX-License-Identifier: Apache-2.0
// Tables are small, so pruning takes only broken ones and no limit of bytes.
// Ownership: see the header. Threads: see the header.
#include "exec/cpu/cpu_tables.h"

#include "device/tuning.h"
#include "plan/tune/choices.h"
#include "sys/file.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PATH_ROOM 1024

bool tn_cpu_tables_list(const char *folder, void (*visit)(const tn_cache_file *file, void *context), void *context)
{
    static const char tail[] = ".rows";
    DIR *list = opendir(folder);
    if (!list) {
        return false;
    }
    for (const struct dirent *entry = readdir(list); entry; entry = readdir(list)) {
        const size_t length = strlen(entry->d_name);
        char path[PATH_ROOM];
        tn_file file;
        const int n = snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (length < sizeof tail || strcmp(entry->d_name + length - (sizeof tail - 1), tail) != 0 || n < 0 || n >= PATH_ROOM ||
            tn_file_open(&file, path, NULL) != TN_OK) {
            continue;
        }
        const tn_cache_file seen = {entry->d_name, "rows", file.size,
                                    file.size <= TN_TUNING_MOST_BYTES && tn_choices_whole((const char *)file.data, file.size)};
        tn_file_close(&file);
        visit(&seen, context);
    }
    (void)closedir(list);
    return true;
}

typedef struct broken { const char *folder; char path[PATH_ROOM]; } broken;

static void note_broken(const tn_cache_file *file, void *context)
{
    broken *b = context;
    if (!file->whole && !b->path[0]) {
        const int n = snprintf(b->path, PATH_ROOM, "%s/%s", b->folder, file->name);
        b->path[0] = n > 0 && n < PATH_ROOM ? b->path[0] : 0;
    }
}

int tn_cpu_tables_prune(const char *folder, uint64_t limit)
{
    int removed = 0;
    (void)limit;
    for (broken b = {.folder = folder}; tn_cpu_tables_list(folder, note_broken, &b) && b.path[0]; removed++) {
        if (unlink(b.path) != 0) {
            return -1;
        }
        b.path[0] = 0;
    }
    return removed;
}
