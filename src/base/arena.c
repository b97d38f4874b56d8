// SPDX-License-Identifier: Apache-2.0
// The arena: a list of heap blocks that double in size, filled from the front. With TN_ARENA_EXACT (set by the address-sanitizer
// build) every request gets a block of its own, so that an overrun meets the sanitizer's guard instead of a neighbour.
// Ownership: blocks go back to the heap in tn_arena_deinit. Threads: one at a time.
#include "base/arena.h"
#include "base/num.h"

#include <stdio.h>

#define GRAIN 16
#define FIRST_BLOCK ((size_t)4096)
#define LAST_BLOCK ((size_t)1 << 20)

typedef struct tn_arena_block {
    struct tn_arena_block *next;
    size_t size, used;         // bytes of data, bytes of it handed out
    _Alignas(GRAIN) char data[];
} tn_arena_block;

void tn_arena_init(tn_arena *arena, tn_heap *heap)
{
    *arena = (tn_arena){.heap = heap};
}

void tn_arena_deinit(tn_arena *arena)
{
    while (arena->head) {
        tn_arena_block *block = arena->head;
        arena->head = block->next;
        tn_give(arena->heap, block);
    }
    arena->used = arena->reserved = 0;
}

static tn_arena_block *add_block(tn_arena *arena, size_t need)
{
#ifdef TN_ARENA_EXACT
    size_t size = need;
#else
    size_t size = arena->head ? arena->head->size * 2 : FIRST_BLOCK;
    size = size > LAST_BLOCK ? LAST_BLOCK : size;
    size = size < need ? need : size;
#endif
    size_t total;
    if (!tn_add_size(size, sizeof(tn_arena_block), &total)) {
        return NULL;
    }
    tn_arena_block *block = tn_take(arena->heap, total);
    if (!block) {
        return NULL;
    }
    block->size = size;
    block->used = 0;
    block->next = arena->head;
    arena->head = block;
    arena->reserved += total;
    return block;
}

void *tn_arena_take(tn_arena *arena, size_t bytes)
{
    size_t need;
    if (!tn_align_size(bytes ? bytes : 1, GRAIN, &need)) {
        return NULL;
    }
    tn_arena_block *block = arena->head;
    if (!block || block->size - block->used < need) {
#ifdef TN_ARENA_EXACT
        need = bytes ? bytes : 1;
#endif
        block = add_block(arena, need);
        if (!block) {
            return NULL;
        }
    }
    char *data = block->data + block->used;
    block->used += need;
    arena->used += need;
    memset(data, 0, need);
    return data;
}

void *tn_arena_array(tn_arena *arena, size_t count, size_t size)
{
    size_t bytes;
    return tn_mul_size(count, size, &bytes) ? tn_arena_take(arena, bytes) : NULL;
}

void *tn_arena_copy(tn_arena *arena, const void *data, size_t bytes)
{
    void *copy = tn_arena_take(arena, bytes);
    if (copy && bytes) {
        memcpy(copy, data, bytes);
    }
    return copy;
}

char *tn_arena_text(tn_arena *arena, const char *text, size_t length)
{
    size_t bytes;
    char *copy = tn_add_size(length, 1, &bytes) ? tn_arena_take(arena, bytes) : NULL;
    if (copy && length) {
        memcpy(copy, text, length);
    }
    return copy;
}

char *tn_arena_print(tn_arena *arena, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    const int length = vsnprintf(NULL, 0, format, values);
    va_end(values);
    char *text = length < 0 ? NULL : tn_arena_take(arena, (size_t)length + 1);
    if (text) {
        va_start(values, format);
        vsnprintf(text, (size_t)length + 1, format, values);
        va_end(values);
    }
    return text;
}

void *tn_arena_grow(tn_arena *arena, void *array, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity) {
        return array;
    }
    size_t more;
    if (!tn_mul_size(count < 4 ? 4 : count, 2, &more)) {
        return NULL;
    }
    void *moved = tn_arena_array(arena, more, size);
    if (!moved) {
        return NULL;
    }
    if (count) {
        memcpy(moved, array, count * size);
    }
    *capacity = more;
    return moved;
}
