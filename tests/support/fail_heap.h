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

#endif
