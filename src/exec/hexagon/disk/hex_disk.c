// SPDX-License-Identifier: Apache-2.0
// File: magic, payload bytes, key, hash of the payload, payload. All numbers are 64-bit as this machine has them: it never leaves it.
// Ownership: see the header. Threads: see the header.
#include "exec/hexagon/disk/hex_disk.h"

#include "device/cache_folder.h"
#include "sys/file.h"

#include <string.h>

#define MAGIC UINT64_C(0x31574b5058484e54)   // "TNHXPKW1"
#define ENDING ".hxpack"

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

// The payload of a whole file, or NULL.
static const uint8_t *payload_of(const uint8_t *bytes, size_t size, header *head)
{
    if (size < sizeof *head) {
        return NULL;
    }
    memcpy(head, bytes, sizeof *head);
    const uint8_t *payload = bytes + sizeof *head;
    const bool whole = head->magic == MAGIC && head->bytes == size - sizeof *head &&
                       head->mark == tn_hex_mark(payload, (size_t)head->bytes, head->key.graph);
    return whole ? payload : NULL;
}

static bool weights_whole(const uint8_t *bytes, size_t size)
{
    header head;
    return payload_of(bytes, size, &head) != NULL;
}

static const tn_cache_kind kinds[] = {{ENDING, "weights", weights_whole, true}, {.ending = NULL}};

bool tn_hex_disk_load(const char *folder, const tn_hex_disk_key *key, uint8_t *to, size_t bytes)
{
    char path[TN_CACHE_PATH];
    tn_file file;
    header head;
    if (!tn_cache_path(path, folder, key->program, key->graph, ENDING) || tn_file_open(&file, path, NULL) != TN_OK) {
        return false;
    }
    const uint8_t *payload = payload_of(file.data, file.size, &head);
    const bool fits = payload && head.bytes == bytes && memcmp(&head.key, key, sizeof *key) == 0;
    if (fits && bytes) {
        memcpy(to, payload, bytes);
    }
    tn_file_close(&file);
    return fits;
}

void tn_hex_disk_store(const char *folder, const tn_hex_disk_key *key, const uint8_t *from, size_t bytes)
{
    char path[TN_CACHE_PATH];
    const header head = {.magic = MAGIC, .bytes = bytes, .key = *key, .mark = tn_hex_mark(from, bytes, key->graph)};
    if (tn_cache_path(path, folder, key->program, key->graph, ENDING)) {
        tn_cache_store(folder, path, kinds, TN_HEX_DISK_LIMIT, &head, sizeof head, from, bytes);
    }
}

bool tn_hex_disk_list(const char *folder, void (*visit)(const tn_cache_file *file, void *context), void *context)
{
    return tn_cache_list(folder, kinds, visit, context);
}

int tn_hex_disk_prune(const char *folder, uint64_t limit) { return tn_cache_prune(folder, kinds, limit); }
