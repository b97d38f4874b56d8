// SPDX-License-Identifier: Apache-2.0
// Offset assignment. Finding the smallest arena is NP-hard (dynamic storage allocation); placing the blocks one by one at the lowest
// free offset comes close when the order is good, so several orders are tried and, while the result is away from the lower bound,
// random exchanges of the best one (seeded, so that the same plan always gets the same offsets).
#include "plan/memory/offsets.h"

#include <stdlib.h>
#include <string.h>

#define MAX_TRIES 20000
#define MAX_WORK 20000000      // pairs looked at in all tries
#define ENOUGH_WORK 4000000    // the same once the result is within 2 % of the bound

typedef struct search {
    tn_block *blocks;
    size_t count;
    uint32_t *order, *best_order;
    uint32_t *placed;         // indices of placed blocks by offset
    size_t *offset, *best_offset;
    size_t best;
    size_t work;
} search;

// Places blocks in the order given, each in the smallest gap that holds it; returns the arena's size.
static size_t place(search *s)
{
    size_t total = 0, n = 0;
    for (size_t k = 0; k < s->count; k++) {
        const uint32_t b = s->order[k];
        const tn_block *block = &s->blocks[b];
        size_t cursor = 0, spot = SIZE_MAX, gap = SIZE_MAX;
        for (size_t i = 0; i < n; i++) {
            const tn_block *other = &s->blocks[s->placed[i]];
            if (other->last < block->first || block->last < other->first) {
                continue;
            }
            const size_t at = s->offset[s->placed[i]];
            if (at > cursor && at - cursor >= block->bytes && at - cursor < gap) {
                gap = at - cursor;
                spot = cursor;
            }
            cursor = at + other->bytes > cursor ? at + other->bytes : cursor;
        }
        spot = spot == SIZE_MAX ? cursor : spot;
        s->offset[b] = spot;
        s->work += n;
        size_t at = n++;
        for (; at > 0 && s->offset[s->placed[at - 1]] > spot; at--) {
            s->placed[at] = s->placed[at - 1];
        }
        s->placed[at] = b;
        total = spot + block->bytes > total ? spot + block->bytes : total;
    }
    if (total < s->best) {
        s->best = total;
        memcpy(s->best_offset, s->offset, s->count * sizeof *s->offset);
        memcpy(s->best_order, s->order, s->count * sizeof *s->order);
    }
    return total;
}

// Whether block a goes before block b in order number `kind`.
static bool before(const tn_block *a, const tn_block *b, int kind)
{
    const size_t a_life = (size_t)(a->last - a->first + 1), b_life = (size_t)(b->last - b->first + 1);
    switch (kind) {
    case 0: return a->bytes != b->bytes ? a->bytes > b->bytes : a->first < b->first;
    case 1: return (double)a->bytes * (double)a_life > (double)b->bytes * (double)b_life;
    case 2: return a->first != b->first ? a->first < b->first : a->bytes > b->bytes;
    case 3: return a->last != b->last ? a->last > b->last : a->bytes > b->bytes;
    default: return a_life != b_life ? a_life > b_life : a->bytes > b->bytes;
    }
}

static void sort(search *s, int kind)
{
    for (uint32_t i = 0; i < s->count; i++) {
        s->order[i] = i;
    }
    for (size_t gap = s->count / 2; gap > 0; gap /= 2) {      // shell sort: short, no callback state, stable enough by construction
        for (size_t i = gap; i < s->count; i++) {
            const uint32_t moving = s->order[i];
            size_t j = i;
            for (; j >= gap && before(&s->blocks[moving], &s->blocks[s->order[j - gap]], kind); j -= gap) {
                s->order[j] = s->order[j - gap];
            }
            s->order[j] = moving;
        }
    }
}

// The largest sum of live bytes. It rises only where a block begins: begins in order, with the ends before each taken away.
static size_t lower_bound_of(search *s)
{
    size_t bound = 0, sum = 0;
    sort(s, 3);
    memcpy(s->best_order, s->order, s->count * sizeof *s->order);     // by end, the latest first
    sort(s, 2);
    for (size_t i = 0, ended = s->count; i < s->count; i++) {
        const tn_block *block = &s->blocks[s->order[i]];
        for (; ended > 0 && s->blocks[s->best_order[ended - 1]].last < block->first; ended--) {
            sum -= s->blocks[s->best_order[ended - 1]].bytes;
        }
        sum += block->bytes;
        bound = sum > bound ? sum : bound;
    }
    return bound;
}

static void improve(search *s, size_t bound)
{
    uint64_t state = 0x9e3779b97f4a7c15u;
    for (int i = 0; i < MAX_TRIES && s->best > bound; i++) {
        if (s->work > (s->best > bound + bound / 50 ? MAX_WORK : ENOUGH_WORK)) {
            break;
        }
        memcpy(s->order, s->best_order, s->count * sizeof *s->order);
        for (int swaps = 1 + i % 3; swaps > 0; swaps--) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            const size_t from = (size_t)(state >> 33) % s->count;
            state = state * 6364136223846793005u + 1442695040888963407u;
            const size_t to = (size_t)(state >> 33) % s->count;
            const uint32_t moved = s->order[from];
            memmove(&s->order[from], &s->order[from + 1], (s->count - from - 1) * sizeof moved);
            memmove(&s->order[to + 1], &s->order[to], (s->count - to - 1) * sizeof moved);
            s->order[to] = moved;
        }
        place(s);
    }
}

bool tn_offsets_assign(tn_block *blocks, size_t count, size_t *total, size_t *lower_bound, tn_heap *heap)
{
    *total = *lower_bound = 0;
    if (count == 0) {
        return true;
    }
    search s = {.blocks = blocks, .count = count, .best = SIZE_MAX};
    s.order = tn_take_zero(heap, count, 3 * sizeof(uint32_t) + 2 * sizeof(size_t) + 8);
    if (!s.order) {
        return false;
    }
    s.best_order = s.order + count;
    s.placed = s.best_order + count;
    s.offset = (size_t *)(void *)((char *)s.order + (count * 3 * sizeof(uint32_t) + 7) / 8 * 8);
    s.best_offset = s.offset + count;
    *lower_bound = lower_bound_of(&s);
    for (int kind = 0; kind < 5 && s.best > *lower_bound; kind++) {
        sort(&s, kind);
        place(&s);
    }
    improve(&s, *lower_bound);
    for (size_t i = 0; i < count; i++) {
        blocks[i].offset = s.best_offset[i];
    }
    *total = s.best;
    tn_give(heap, s.order);
    return true;
}
