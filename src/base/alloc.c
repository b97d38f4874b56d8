// SPDX-License-Identifier: Apache-2.0
// The heap: counts bytes over the C library or over the user's functions. A header before each block remembers its size, because
// the user's give function does not get one:
//
//   | size, 64 bytes in all | the caller's bytes ... |
//   ^ what take returned    ^ what tn_take returns, a multiple of 64
//
// Threads: any; the counters are atomic and the take and give functions must be safe to call from any thread.
#include "base/alloc.h"
#include "base/num.h"

#include <stdlib.h>

static void *library_take(void *context, size_t bytes, size_t alignment)
{
    (void)context;
    void *block = NULL;
    return posix_memalign(&block, alignment, bytes) == 0 ? block : NULL;
}

static void library_give(void *context, void *block)
{
    (void)context;
    free(block);
}

void tn_heap_init(tn_heap *heap, void *(*take)(void *, size_t, size_t), void (*give)(void *, void *), void *context)
{
    heap->take = take ? take : library_take;
    heap->give = take ? give : library_give;
    heap->context = take ? context : NULL;
    atomic_init(&heap->live_bytes, 0);
    atomic_init(&heap->peak_bytes, 0);
    atomic_init(&heap->live_blocks, 0);
    atomic_init(&heap->ids, 0);
}

static void count_up(tn_heap *heap, size_t bytes)
{
    const size_t live = atomic_fetch_add(&heap->live_bytes, bytes) + bytes;
    atomic_fetch_add(&heap->live_blocks, 1);
    size_t peak = atomic_load(&heap->peak_bytes);
    while (live > peak && !atomic_compare_exchange_weak(&heap->peak_bytes, &peak, live)) {
    }
}

void *tn_take(tn_heap *heap, size_t bytes)
{
    size_t total;
    if (!tn_add_size(bytes, TN_ALIGNMENT, &total)) {
        return NULL;
    }
    char *block = heap->take(heap->context, total, TN_ALIGNMENT);
    if (!block) {
        return NULL;
    }
    if ((uintptr_t)block % TN_ALIGNMENT != 0) {   // a user's function that does not keep its promise
        if (heap->give) {
            heap->give(heap->context, block);
        }
        return NULL;
    }
    memcpy(block, &bytes, sizeof bytes);
    count_up(heap, bytes);
    return block + TN_ALIGNMENT;
}

void *tn_take_zero(tn_heap *heap, size_t count, size_t size)
{
    size_t bytes;
    if (!tn_mul_size(count, size, &bytes)) {
        return NULL;
    }
    void *block = tn_take(heap, bytes);
    if (block) {
        memset(block, 0, bytes);
    }
    return block;
}

void tn_give(tn_heap *heap, void *block)
{
    if (!block) {
        return;
    }
    char *start = (char *)block - TN_ALIGNMENT;
    size_t bytes;
    memcpy(&bytes, start, sizeof bytes);
    atomic_fetch_sub(&heap->live_bytes, bytes);
    atomic_fetch_sub(&heap->live_blocks, 1);
    if (heap->give) {
        heap->give(heap->context, start);
    }
}

uint32_t tn_heap_id(tn_heap *heap)
{
    return atomic_fetch_add(&heap->ids, 1) + 1;
}
