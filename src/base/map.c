// SPDX-License-Identifier: Apache-2.0
// The string map: open addressing with linear probing, at most three quarters full. Nothing is ever removed, so a probe ends at
// the first empty slot.
// Ownership: slots and keys are in the arena. Threads: one writer, or many readers.
#include "base/map.h"

#include <string.h>

typedef struct tn_map_slot {
    const char *key;      // NULL: empty
    size_t length;
    uint64_t hash;
    void *value;
} tn_map_slot;

// FNV-1a (Fowler, Noll, Vo), then the finaliser of MurmurHash3 so that the low bits may index a table.
uint64_t tn_hash(const void *data, size_t bytes, uint64_t seed)
{
    const uint8_t *p = data;
    uint64_t h = 0xcbf29ce484222325u ^ seed;
    for (size_t i = 0; i < bytes; i++) {
        h = (h ^ p[i]) * 0x100000001b3u;
    }
    h = (h ^ (h >> 33)) * 0xff51afd7ed558ccdu;
    h = (h ^ (h >> 33)) * 0xc4ceb9fe1a85ec53u;
    return h ^ (h >> 33);
}

void tn_map_init(tn_map *map, tn_arena *arena)
{
    *map = (tn_map){.arena = arena};
}

// The slot that holds the key, or the empty one where it belongs. The table has an empty slot.
// Keys come from files: a seed that a file's maker does not know keeps him from making them all collide.
static uint64_t seed_of(const tn_map *map) { return (uint64_t)(uintptr_t)map->arena; }

static tn_map_slot *probe(tn_map_slot *slots, size_t capacity, const char *key, size_t length, uint64_t hash)
{
    size_t i = hash & (capacity - 1);
    while (slots[i].key && !(slots[i].hash == hash && slots[i].length == length && memcmp(slots[i].key, key, length) == 0)) {
        i = (i + 1) & (capacity - 1);
    }
    return &slots[i];
}

static bool widen(tn_map *map)
{
    const size_t capacity = map->capacity ? map->capacity * 2 : 16;
    tn_map_slot *slots = tn_arena_array(map->arena, capacity, sizeof *slots);
    if (!slots) {
        return false;
    }
    for (size_t i = 0; i < map->capacity; i++) {
        const tn_map_slot *old = &map->slots[i];
        if (old->key) {
            *probe(slots, capacity, old->key, old->length, old->hash) = *old;
        }
    }
    map->slots = slots;
    map->capacity = capacity;
    return true;
}

bool tn_map_set(tn_map *map, const char *key, size_t length, void *value)
{
    if ((map->count + 1) * 4 > map->capacity * 3 && !widen(map)) {
        return false;
    }
    const uint64_t hash = tn_hash(key, length, seed_of(map));
    tn_map_slot *slot = probe(map->slots, map->capacity, key, length, hash);
    if (!slot->key) {
        const char *copy = tn_arena_text(map->arena, key, length);
        if (!copy) {
            return false;
        }
        *slot = (tn_map_slot){.key = copy, .length = length, .hash = hash};
        map->count++;
    }
    slot->value = value;
    return true;
}

void *tn_map_find(const tn_map *map, const char *key, size_t length)
{
    if (!map->count) {
        return NULL;
    }
    const tn_map_slot *slot = probe(map->slots, map->capacity, key, length, tn_hash(key, length, seed_of(map)));
    return slot->key ? slot->value : NULL;
}
