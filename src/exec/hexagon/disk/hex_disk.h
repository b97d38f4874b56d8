// SPDX-License-Identifier: Apache-2.0
// Weights as the DSP packed them, on disk, one file for each sub-graph: a later process takes them over as a program that was started again
// does. A file that is short, changed, of another sub-graph or of another program is ignored and written again; a disk that is full
// or read-only only costs the next start its time.
// Ownership: none. Threads: any, also of several processes: a file is renamed into place whole.
#ifndef TN_HEX_DISK_H
#define TN_HEX_DISK_H

#include "device/device.h"

#define TN_HEX_DISK_LIMIT ((uint64_t)256 << 20)   // bytes of all files of a folder; the oldest go first

// What packed weights depend on.
typedef struct tn_hex_disk_key {
    uint64_t program, graph;      // hashes: of the DSP program with what it says of itself, of the sub-graph as it is encoded
    uint64_t consts_bytes, nodes_bytes, data_bytes;
} tn_hex_disk_key;

// Fills `bytes` bytes. false: not there, or not usable; what is at `to` is then nothing.
bool tn_hex_disk_load(const char *folder, const tn_hex_disk_key *key, uint8_t *to, size_t bytes);
void tn_hex_disk_store(const char *folder, const tn_hex_disk_key *key, const uint8_t *from, size_t bytes);

// See device.h.
bool tn_hex_disk_list(const char *folder, void (*visit)(const tn_cache_file *file, void *context), void *context);
int tn_hex_disk_prune(const char *folder, uint64_t limit);

// A hash of bytes, four words at a time.
uint64_t tn_hex_mark(const uint8_t *bytes, size_t n, uint64_t seed);

#endif
