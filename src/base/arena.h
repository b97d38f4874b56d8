// SPDX-License-Identifier: Apache-2.0
// A bump allocator: things that die together (a graph, a plan) are taken from one arena and freed by one call.
// Ownership: the arena owns all that was taken from it. Threads: one at a time.
#ifndef TN_ARENA_H
#define TN_ARENA_H

#include "base/alloc.h"

#include <stdbool.h>
#include <stdarg.h>

typedef struct tn_arena {
    tn_heap *heap;
    struct tn_arena_block *head;
    size_t used;       // bytes handed out
    size_t reserved;   // bytes taken from the heap
} tn_arena;

void tn_arena_init(tn_arena *arena, tn_heap *heap);
void tn_arena_deinit(tn_arena *arena);

// `bytes` zeroed bytes aligned to 16; NULL when there is no memory.
void *tn_arena_take(tn_arena *arena, size_t bytes);

// count * size zeroed bytes (checked).
void *tn_arena_array(tn_arena *arena, size_t count, size_t size);

// A copy of bytes.
void *tn_arena_copy(tn_arena *arena, const void *data, size_t bytes);

// A zero-terminated copy of `length` characters.
char *tn_arena_text(tn_arena *arena, const char *text, size_t length);

// A printed string; NULL when there is no memory.
char *tn_arena_print(tn_arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));

// Makes room for one more element of a growing array in the arena: returns the (possibly moved) array, NULL when there is
// no memory (the old array stays valid). `capacity` is in elements.
void *tn_arena_grow(tn_arena *arena, void *array, size_t count, size_t *capacity, size_t size);

#endif
