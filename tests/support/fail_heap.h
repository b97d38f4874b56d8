// SPDX-License-Identifier: Apache-2.0
// Heaps that fail on purpose.
// Ownership: a failing heap is the test's. Threads: one.
#ifndef TN_FAIL_HEAP_H
#define TN_FAIL_HEAP_H

#include "base/alloc.h"

#include <stdbool.h>

// A heap over the C library that refuses request number `fail_at` and all that follow (0: none).
typedef struct tn_fail_heap {
    tn_heap heap;
    size_t requests, fail_at;
} tn_fail_heap;

void tn_fail_heap_init(tn_fail_heap *heap, size_t fail_at);

// Runs attempt with the first, the second, ... request failing until it returns true (all it needed was there). After each attempt
// every block must have been given back. Returns how many attempts failed.
size_t tn_fail_every_request(bool (*attempt)(tn_heap *heap, void *context), void *context);

// For tenon_allocator: refuses request number fail_at alone (0: none), so that what comes after it must cope, and counts blocks.
typedef struct tn_fail_counter {
    long count, fail_at;      // requests so far; the one that fails
    long live;
} tn_fail_counter;

void *tn_fail_take(void *counter, size_t bytes, size_t alignment);
void tn_fail_give(void *counter, void *block);

// From one failing request to the next when about `tries` of `total` are to be tried: 1 with TENON_FULL in the environment. The thread
// sanitizer, to which one thread has little to show, gets a tenth.
long tn_fail_stride(long total, long tries);

#endif
