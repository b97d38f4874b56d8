// SPDX-License-Identifier: Apache-2.0
// A map from strings (any bytes) to pointers, in an arena. Insert only; a later value replaces an earlier one.
// Ownership: keys are copied into the arena; values are the caller's. Threads: one writer, or many readers.
#ifndef TN_MAP_H
#define TN_MAP_H

#include "base/arena.h"

#include <stdint.h>

typedef struct tn_map {
    tn_arena *arena;
    struct tn_map_slot *slots;
    size_t capacity;   // power of two, or 0
    size_t count;
} tn_map;

void tn_map_init(tn_map *map, tn_arena *arena);
bool tn_map_set(tn_map *map, const char *key, size_t length, void *value);   // false: no memory
void *tn_map_find(const tn_map *map, const char *key, size_t length);        // NULL when absent

// 64-bit hash of bytes (FNV-1a folded); the same on every machine.
uint64_t tn_hash(const void *data, size_t bytes, uint64_t seed);

#endif
