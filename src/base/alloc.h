// SPDX-License-Identifier: Apache-2.0
// The one door to the heap. Every block is aligned to 64 bytes and counted.
// Ownership: whoever takes a block gives it back to the same heap. Threads: any, at the same time.
#ifndef TN_ALLOC_H
#define TN_ALLOC_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define TN_ALIGNMENT 64

typedef struct tn_heap {
    void *(*take)(void *context, size_t bytes, size_t alignment);  // NULL when refused
    void (*give)(void *context, void *block);
    void *context;
    atomic_size_t live_bytes;   // bytes handed out now
    atomic_size_t peak_bytes;   // largest live_bytes since the heap was made
    atomic_size_t live_blocks;
    atomic_uint ids;            // handed out by tn_heap_id
} tn_heap;

// A heap over the user's functions, or over the C library when take is NULL.
void tn_heap_init(tn_heap *heap, void *(*take)(void *, size_t, size_t), void (*give)(void *, void *), void *context);

// A block of at least `bytes` bytes at a multiple of 64, contents undefined; NULL when there is no memory. Zero bytes give
// a block too.
void *tn_take(tn_heap *heap, size_t bytes);

// As tn_take, filled with zeros; count * size is checked.
void *tn_take_zero(tn_heap *heap, size_t count, size_t size);

// Gives a block back; NULL is allowed.
void tn_give(tn_heap *heap, void *block);

// A number that this heap has not given before; never 0. Names things that are compared between graphs of one model.
uint32_t tn_heap_id(tn_heap *heap);

#endif
