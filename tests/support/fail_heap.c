// SPDX-License-Identifier: Apache-2.0
// Failing heaps for unit tests. "And all that follow": code that retries with less must not hide a failure.
// Ownership: none. Threads: one.
#include "support/fail_heap.h"

#include <stdlib.h>

static void *take(void *context, size_t bytes, size_t alignment)
{
    tn_fail_heap *heap = context;
    void *block = NULL;
    heap->requests++;
    if (heap->fail_at && heap->requests >= heap->fail_at) {
        return NULL;
    }
    return posix_memalign(&block, alignment, bytes) == 0 ? block : NULL;
}

static void give(void *context, void *block)
{
    free(block);
}

void tn_fail_heap_init(tn_fail_heap *heap, size_t fail_at)
{
    heap->requests = 0;
    heap->fail_at = fail_at;
    tn_heap_init(&heap->heap, take, give, heap);
}

void *tn_fail_take(void *counter, size_t bytes, size_t alignment)
{
    tn_fail_counter *c = counter;
    void *block = NULL;
    if (++c->count == c->fail_at || posix_memalign(&block, alignment, bytes) != 0) {
        return NULL;
    }
    c->live++;
    return block;
}

void tn_fail_give(void *counter, void *block)
{
    ((tn_fail_counter *)counter)->live--;
    free(block);
}

#ifdef __has_feature
#if __has_feature(thread_sanitizer)
#define FEWER 10
#endif
#endif
#if !defined(FEWER) && defined(__SANITIZE_THREAD__)
#define FEWER 10
#endif
#ifndef FEWER
#define FEWER 1
#endif

long tn_fail_stride(long total, long tries)
{
    return getenv("TENON_FULL") ? 1 : total / (tries / FEWER) + 1;
}

size_t tn_fail_every_request(bool (*attempt)(tn_heap *heap, void *context), void *context)
{
    for (size_t n = 1;; n++) {
        tn_fail_heap heap;
        tn_fail_heap_init(&heap, n);
        const bool done = attempt(&heap.heap, context);
        if (atomic_load(&heap.heap.live_blocks) != 0) {
            abort();   // a leak: the debugger shows which n
        }
        if (done) {
            return n - 1;
        }
    }
}
