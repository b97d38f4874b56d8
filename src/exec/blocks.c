// SPDX-License-Identifier: Apache-2.0
// Size classes 2^k and 1.5 * 2^k waste at most a third of a block; arenas are few, so a list by best fit is enough.
#include "exec/blocks.h"

#include "base/num.h"

#define SMALLEST 6     // 64 bytes

// ---- size classes ----

static size_t class_bytes(unsigned index)
{
    const unsigned shift = SMALLEST + index / 2;
    return index % 2 ? (size_t)3 << (shift - 1) : (size_t)1 << shift;
}

static bool class_of(size_t bytes, unsigned *index)
{
    for (*index = 0; *index < TN_BLOCK_CLASSES; ++*index) {
        if (class_bytes(*index) >= bytes) {
            return true;
        }
    }
    return false;
}

size_t tn_block_bytes(size_t bytes)
{
    unsigned index;
    return class_of(bytes, &index) ? class_bytes(index) : bytes;
}

tn_loose_block *tn_block_take(tn_block_cache *cache, size_t bytes)
{
    unsigned index;
    if (!class_of(bytes, &index)) {
        return NULL;
    }
    tn_loose_block *block = cache->idle[index];
    if (block) {
        cache->idle[index] = block->next;
        cache->idle_bytes -= class_bytes(index);
        return block;
    }
    block = tn_take_zero(cache->heap, 1, sizeof *block);
    void *data = block ? tn_take(cache->heap, class_bytes(index)) : NULL;
    if (!data) {
        tn_give(cache->heap, block);
        return NULL;
    }
    block->data = data;
    block->class_index = index;
    return block;
}

void tn_block_give(tn_block_cache *cache, tn_loose_block *block)
{
    block->next = cache->idle[block->class_index];
    cache->idle[block->class_index] = block;
    cache->idle_bytes += class_bytes(block->class_index);
}

void tn_block_trim(tn_block_cache *cache)
{
    for (unsigned i = 0; i < TN_BLOCK_CLASSES; i++) {
        while (cache->idle[i]) {
            tn_loose_block *block = cache->idle[i];
            cache->idle[i] = block->next;
            tn_give(cache->heap, block->data);
            tn_give(cache->heap, block);
        }
    }
    cache->idle_bytes = 0;
}

// ---- memory that a device sees too ----

void *tn_tensor_memory_take(tn_device *device, tn_heap *heap, size_t bytes)
{
    return device ? device->vtable->take(device, bytes) : tn_take(heap, bytes);
}

void tn_tensor_memory_give(tn_device *device, tn_heap *heap, void *data)
{
    if (device && data) {
        device->vtable->give(device, data);
    } else {
        tn_give(heap, data);
    }
}

// ---- idle arenas ----

typedef struct idle_arena {
    struct idle_arena *next;
    size_t bytes;
} idle_arena;      // lies in the arena's own first bytes

struct tn_arena_pool {
    tn_heap heap;
    pthread_mutex_t lock;
    idle_arena *idle;
    size_t idle_bytes, max_bytes;
    unsigned users;
};

tn_arena_pool *tn_arena_pool_create(tn_heap *heap, size_t max_bytes)
{
    tn_arena_pool *pool = tn_take_zero(heap, 1, sizeof *pool);
    if (!pool) {
        return NULL;
    }
    if (pthread_mutex_init(&pool->lock, NULL) != 0) {
        tn_give(heap, pool);
        return NULL;
    }
    tn_heap_init(&pool->heap, heap->take, heap->give, heap->context);
    pool->max_bytes = max_bytes;
    pool->users = 1;
    return pool;
}

void tn_arena_pool_hold(tn_arena_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    pool->users++;
    pthread_mutex_unlock(&pool->lock);
}

void tn_arena_pool_drop(tn_arena_pool *pool)
{
    if (!pool) {
        return;
    }
    pthread_mutex_lock(&pool->lock);
    const bool last = --pool->users == 0;
    pthread_mutex_unlock(&pool->lock);
    if (!last) {
        return;
    }
    while (pool->idle) {
        idle_arena *arena = pool->idle;
        pool->idle = arena->next;
        tn_give(&pool->heap, arena);
    }
    pthread_mutex_destroy(&pool->lock);
    tn_heap heap;
    tn_heap_init(&heap, pool->heap.take, pool->heap.give, pool->heap.context);
    tn_give(&heap, pool);
}

void *tn_arena_pool_take(tn_arena_pool *pool, size_t bytes, size_t *got)
{
    bytes = bytes < sizeof(idle_arena) ? sizeof(idle_arena) : bytes;
    pthread_mutex_lock(&pool->lock);
    idle_arena **best = NULL;
    for (idle_arena **link = &pool->idle; *link; link = &(*link)->next) {
        if ((*link)->bytes >= bytes && (!best || (*link)->bytes < (*best)->bytes)) {
            best = link;
        }
    }
    idle_arena *arena = best ? *best : NULL;
    if (arena) {
        *best = arena->next;
        pool->idle_bytes -= arena->bytes;
        *got = arena->bytes;
    }
    pthread_mutex_unlock(&pool->lock);
    if (!arena) {
        arena = tn_take(&pool->heap, bytes);
        *got = bytes;
    }
    return arena;
}

void tn_arena_pool_give(tn_arena_pool *pool, void *data, size_t bytes)
{
    idle_arena *arena = data;
    pthread_mutex_lock(&pool->lock);
    const bool keep = bytes <= pool->max_bytes - pool->idle_bytes;
    if (keep) {
        arena->bytes = bytes;
        arena->next = pool->idle;
        pool->idle = arena;
        pool->idle_bytes += bytes;
    }
    pthread_mutex_unlock(&pool->lock);
    if (!keep) {
        tn_give(&pool->heap, data);
    }
}
