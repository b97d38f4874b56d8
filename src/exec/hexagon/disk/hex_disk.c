// SPDX-License-Identifier: Apache-2.0
// File: magic, payload bytes, key, hash of the payload, payload. All numbers are 64-bit as this machine has them: it never leaves it.
// Ownership: see the header. Threads: see the header.
#include "exec/hexagon/disk/hex_disk.h"

#include "sys/file.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MAGIC UINT64_C(0x31574b5058484e54)   // "TNHXPKW1"
#define ENDING ".hxpack"
#define PATH_ROOM 1024
#define LEFT_S 3600                          // a temporary file that nobody has touched for so long is nobody's

typedef struct header {
    uint64_t magic, bytes;
    tn_hex_disk_key key;
    uint64_t mark;
} header;

// It is taken of all weights at each restart too: by the host, which does it ten times as fast as an emulated program.
uint64_t tn_hex_mark(const uint8_t *bytes, size_t n, uint64_t seed)
{
    uint64_t h[4] = {seed ^ n, seed + 1, seed + 2, seed + 3};
    for (; n >= 32; n -= 32, bytes += 32) {
        uint64_t words[4];
        memcpy(words, bytes, sizeof words);
        for (int i = 0; i < 4; i++) {
            h[i] = (h[i] ^ words[i]) * 0x9e3779b97f4a7c15u;
            h[i] ^= h[i] >> 29;
        }
    }
    uint64_t last[4] = {0}, mark = 0;
    memcpy(last, bytes, n);
    for (int i = 0; i < 4; i++) {
        mark = (mark ^ h[i] ^ last[i]) * 0xff51afd7ed558ccdu;
        mark ^= mark >> 32;
    }
    return mark;
}

static bool path_of(char *path, const char *folder, const tn_hex_disk_key *key)
{
    const int n = snprintf(path, PATH_ROOM, "%s/%016" PRIx64 "%016" PRIx64 ENDING, folder, key->program, key->graph);
    return n > 0 && n < PATH_ROOM;
}

// The payload of a whole file, or NULL.
static const uint8_t *payload_of(const tn_file *file, header *head)
{
    if (file->size < sizeof *head) {
        return NULL;
    }
    memcpy(head, file->data, sizeof *head);
    const uint8_t *payload = file->data + sizeof *head;
    const bool whole = head->magic == MAGIC && head->bytes == file->size - sizeof *head &&
                       head->mark == tn_hex_mark(payload, (size_t)head->bytes, head->key.graph);
    return whole ? payload : NULL;
}

bool tn_hex_disk_load(const char *folder, const tn_hex_disk_key *key, uint8_t *to, size_t bytes)
{
    char path[PATH_ROOM];
    tn_file file;
    header head;
    if (!path_of(path, folder, key) || tn_file_open(&file, path, NULL) != TN_OK) {
        return false;
    }
    const uint8_t *payload = payload_of(&file, &head);
    const bool fits = payload && head.bytes == bytes && memcmp(&head.key, key, sizeof *key) == 0;
    if (fits && bytes) {
        memcpy(to, payload, bytes);
    }
    tn_file_close(&file);
    return fits;
}

static int drop_oldest(const char *folder, uint64_t limit);

void tn_hex_disk_store(const char *folder, const tn_hex_disk_key *key, const uint8_t *from, size_t bytes)
{
    char path[PATH_ROOM];
    tn_file_writer writer;
    const header head = {.magic = MAGIC, .bytes = bytes, .key = *key, .mark = tn_hex_mark(from, bytes, key->graph)};
    if (!path_of(path, folder, key)) {
        return;
    }
    (void)mkdir(folder, 0700);
    if (tn_file_create(&writer, path, NULL) == TN_OK && tn_file_append(&writer, &head, sizeof head, NULL) == TN_OK &&
        tn_file_append(&writer, from, bytes, NULL) == TN_OK && tn_file_commit(&writer, NULL) == TN_OK) {
        (void)drop_oldest(folder, TN_HEX_DISK_LIMIT);
    }
}

// ---- the folder ----

static bool is_ours(const char *name)
{
    const size_t length = strlen(name), tail = strlen(ENDING);
    return length > tail && strcmp(name + length - tail, ENDING) == 0;
}

bool tn_hex_disk_list(const char *folder, void (*visit)(const tn_cache_file *file, void *context), void *context)
{
    DIR *list = opendir(folder);
    if (!list) {
        return false;
    }
    for (const struct dirent *entry = readdir(list); entry; entry = readdir(list)) {
        char path[PATH_ROOM];
        tn_file file;
        header head;
        const int n = snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (!is_ours(entry->d_name) || n < 0 || n >= PATH_ROOM || tn_file_open(&file, path, NULL) != TN_OK) {
            continue;
        }
        const tn_cache_file seen = {entry->d_name, "weights", file.size, payload_of(&file, &head) != NULL};
        tn_file_close(&file);
        visit(&seen, context);
    }
    (void)closedir(list);
    return true;
}

// Bytes of all files, and the path and size of the one that goes first: one that is not whole where `broken` asks for those, else the one
// written longest ago. "": none. What a process that was killed while it wrote has left is removed.
static uint64_t first_to_go(const char *folder, bool broken, char *path)
{
    DIR *list = opendir(folder);
    uint64_t sum = 0;
    struct timespec when = {0};
    path[0] = 0;
    for (const struct dirent *entry = list ? readdir(list) : NULL; entry; entry = readdir(list)) {
        char full[PATH_ROOM];
        struct stat facts;
        header head;
        tn_file file;
        const int n = snprintf(full, sizeof full, "%s/%s", folder, entry->d_name);
        if (n < 0 || n >= PATH_ROOM || lstat(full, &facts) != 0) {
            continue;
        }
        if (strstr(entry->d_name, ENDING ".") && time(NULL) - facts.st_mtim.tv_sec > LEFT_S) {
            (void)unlink(full);
        }
        if (!is_ours(entry->d_name)) {
            continue;
        }
        sum += (uint64_t)facts.st_size;
        bool first = !path[0] || facts.st_mtim.tv_sec < when.tv_sec ||
                     (facts.st_mtim.tv_sec == when.tv_sec && facts.st_mtim.tv_nsec < when.tv_nsec);
        if (broken && tn_file_open(&file, full, NULL) == TN_OK) {
            first = !payload_of(&file, &head);
            tn_file_close(&file);
        }
        if (first) {
            when = facts.st_mtim;
            memcpy(path, full, (size_t)n + 1);
        }
    }
    if (list) {
        (void)closedir(list);
    }
    return sum;
}

static int drop_oldest(const char *folder, uint64_t limit)
{
    char path[PATH_ROOM];
    int removed = 0;
    while (first_to_go(folder, false, path) > limit && path[0]) {
        if (unlink(path) != 0) {
            return -1;
        }
        removed++;
    }
    return removed;
}

int tn_hex_disk_prune(const char *folder, uint64_t limit)
{
    char path[PATH_ROOM];
    int removed = 0;
    for (first_to_go(folder, true, path); path[0]; first_to_go(folder, true, path)) {
        if (unlink(path) != 0) {
            return -1;
        }
        removed++;
    }
    const int old = drop_oldest(folder, limit);
    return old < 0 ? old : removed + old;
}
