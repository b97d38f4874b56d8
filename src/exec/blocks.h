// SPDX-License-Identifier: Apache-2.0
// Memory that runs reuse: blocks of size classes for results whose size is known only in the run, and idle arenas that several sessions
// hand round.
// Ownership: see each call. Threads: a block cache belongs to one session; an arena pool is for any number of threads.
#ifndef TN_BLOCKS_H
#define TN_BLOCKS_H

#include "device/device.h"

#include <pthread.h>
#include <stdbool.h>

// ---- size classes ----

#define TN_BLOCK_CLASSES 96      // two to each power of two

typedef struct tn_loose_block {
    struct tn_loose_block *next;
    void *data;
    unsigned class_index;
} tn_loose_block;

typedef struct tn_block_cache {
    tn_heap *heap;
    tn_loose_block *idle[TN_BLOCK_CLASSES];
    size_t idle_bytes;
} tn_block_cache;

// A block of at least `bytes` bytes, an idle one if there is one; NULL: no memory.
tn_loose_block *tn_block_take(tn_block_cache *cache, size_t bytes);
void tn_block_give(tn_block_cache *cache, tn_loose_block *block);    // becomes idle
void tn_block_trim(tn_block_cache *cache);                           // idle blocks go back to the heap
size_t tn_block_bytes(size_t bytes);                                 // what a block for so many bytes takes

// ---- memory that a device sees too ----

// Bytes for tensors: from the device's memory, or from the heap when it is NULL.
void *tn_tensor_memory_take(tn_device *device, tn_heap *heap, size_t bytes);
void tn_tensor_memory_give(tn_device *device, tn_heap *heap, void *data);    // NULL allowed

// ---- idle arenas ----

typedef struct tn_arena_pool tn_arena_pool;

// Keeps idle arenas up to max_bytes in all. Counted: the last drop frees it.
tn_arena_pool *tn_arena_pool_create(tn_heap *heap, size_t max_bytes);
void tn_arena_pool_hold(tn_arena_pool *pool);
void tn_arena_pool_drop(tn_arena_pool *pool);     // NULL allowed

// An arena of at least `bytes` bytes; *got is its size. NULL: no memory.
void *tn_arena_pool_take(tn_arena_pool *pool, size_t bytes, size_t *got);
void tn_arena_pool_give(tn_arena_pool *pool, void *arena, size_t bytes);

#endif
