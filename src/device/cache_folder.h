// SPDX-License-Identifier: Apache-2.0
// Files that devices keep in a cache folder: found by the ending of their names, whole or not, the oldest first to go. What a file holds
// and when it is whole is its device's. A disk that is full or read-only only costs the next start its time.
// Ownership: none. Threads: any, also of several processes: a file is renamed into place whole.
#ifndef TN_CACHE_FOLDER_H
#define TN_CACHE_FOLDER_H

#include "device/device.h"

#define TN_CACHE_PATH 1024      // bytes of a path; files with a longer one are not kept

// A kind of file. A list of them ends with one that has no ending.
typedef struct tn_cache_kind {
    const char *ending;                                   // of its names
    const char *text;                                     // tn_cache_file's kind
    bool (*whole)(const uint8_t *bytes, size_t size);
    bool ages;                                            // the oldest go where all such take more than a limit; else they stay until broken
} tn_cache_kind;

// FOLDER/ab.ENDING, a and b as 16 hexadecimal digits each. false: too long.
bool tn_cache_path(char path[TN_CACHE_PATH], const char *folder, uint64_t a, uint64_t b, const char *ending);

// Writes head and payload to a path in the folder, which is made where it is not there yet; then the oldest go until at most `limit` bytes are
// left.
void tn_cache_store(const char *folder, const char *path, const tn_cache_kind *kinds, uint64_t limit, const void *head, size_t head_bytes,
                    const void *payload, size_t bytes);

// Whether files can be kept there; the folder is made where it is not there yet.
bool tn_cache_writable(const char *folder);

// cache_list and cache_prune of device.h. A file that cannot be read is not whole. What a process that was killed while it wrote has left
// is no file of any kind; pruning and storing remove it when an hour has gone by.
bool tn_cache_list(const char *folder, const tn_cache_kind *kinds, void (*visit)(const tn_cache_file *file, void *context), void *context);
int tn_cache_prune(const char *folder, const tn_cache_kind *kinds, uint64_t limit);

#endif
