// SPDX-License-Identifier: Apache-2.0
// Offset assignment. Finding the smallest arena is NP-hard (dynamic storage allocation); placing the blocks one by one at the lowest
// free offset comes close when the order is good, so several orders are tried and, while the result is away from the lower bound,
// random exchanges of the best one (seeded, so that the same plan always gets the same offsets).
#include "plan/memory/offsets.h"

#include "base/macros.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define MAX_TRIES 20000
#define MAX_WORK 20000000      // pairs looked at in all tries
#define ENOUGH_WORK 4000000    // the same once the result is within 2 % of the bound

#define MANY 1000              // blocks; fewer are scanned faster than they are looked up
#define SPARSE 16              // one pair in so many, or fewer, is live at the same time

// A placed block that lies in the way of another.
typedef struct span {
    size_t from, to;
} span;

// The placed blocks by lifetime: a tree over all blocks in the order of their begins, with the last end below each node. It finds those that
// are live together with a block without a look at all others, which makes models of tens of thousands of nodes quadratic.
typedef struct lives {
    int *late;                // by node, the root is 1, leaves from `leaves` on; INT_MIN: nothing placed below
    int *begin;               // by leaf
    uint32_t *leaf_of, *block_of;
    span *found;
    size_t leaves, n_found;
} lives;

typedef struct search {
    tn_block *blocks;
    size_t count;
    uint32_t *order, *best_order;
    uint32_t *placed;         // indices of placed blocks by offset
    size_t *offset, *best_offset;
    size_t best;
    size_t work;
    size_t pairs;             // blocks that are live together
    lives lives;              // leaves 0: not used
} search;

// Spans of the placed blocks below `node` that begin before leaf `end` and live at `first` or later.
static void find_lives(search *s, size_t node, size_t left, size_t width, size_t end, int first)
{
    lives *l = &s->lives;
    if (left >= end || l->late[node] < first) {
        return;
    }
    if (width == 1) {
        const uint32_t b = l->block_of[left];
        l->found[l->n_found++] = (span){s->offset[b], s->offset[b] + s->blocks[b].bytes};
        return;
    }
    find_lives(s, 2 * node, left, width / 2, end, first);
    find_lives(s, 2 * node + 1, left + width / 2, width / 2, end, first);
}

static void add_life(search *s, uint32_t block)
{
    lives *l = &s->lives;
    for (size_t node = l->leaves + l->leaf_of[block]; node > 0; node /= 2) {
        l->late[node] = TN_MAX(l->late[node], s->blocks[block].last);
    }
}

static int by_start(const void *a, const void *b)
{
    const span *x = a, *y = b;
    return (x->from > y->from) - (x->from < y->from);
}

// The placed blocks that live together with `block`, by offset.
static void list_lives(search *s, const tn_block *block)
{
    lives *l = &s->lives;
    size_t low = 0, high = s->count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (l->begin[middle] <= block->last) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    l->n_found = 0;
    find_lives(s, 1, 0, l->leaves, low, block->first);
    qsort(l->found, l->n_found, sizeof *l->found, by_start);
}

// The lowest offset of the smallest gap that holds a block: `spot` after all spans were shown, in the order of their offsets.
typedef struct gaps {
    size_t bytes, cursor, spot, gap;
} gaps;

static void show(gaps *g, size_t from, size_t to)
{
    if (from > g->cursor && from - g->cursor >= g->bytes && from - g->cursor < g->gap) {
        g->gap = from - g->cursor;
        g->spot = g->cursor;
    }
    g->cursor = to > g->cursor ? to : g->cursor;
}

static void insert_placed(search *s, size_t n, uint32_t block)
{
    const size_t spot = s->offset[block];
    for (; n > 0 && s->offset[s->placed[n - 1]] > spot; n--) {
        s->placed[n] = s->placed[n - 1];
    }
    s->placed[n] = block;
}

// Places blocks in the order given, each in the smallest gap that holds it; returns the arena's size.
static size_t place(search *s)
{
    size_t total = 0;
    for (size_t i = 0; i < 2 * s->lives.leaves; i++) {
        s->lives.late[i] = INT_MIN;
    }
    for (size_t n = 0; n < s->count; n++) {
        const uint32_t b = s->order[n];
        const tn_block *block = &s->blocks[b];
        gaps g = {.bytes = block->bytes, .spot = SIZE_MAX, .gap = SIZE_MAX};
        if (s->lives.leaves) {
            list_lives(s, block);
            for (size_t i = 0; i < s->lives.n_found; i++) {
                show(&g, s->lives.found[i].from, s->lives.found[i].to);
            }
        }
        for (size_t i = 0; i < n && !s->lives.leaves; i++) {
            const tn_block *other = &s->blocks[s->placed[i]];
            if (other->last >= block->first && block->last >= other->first) {
                show(&g, s->offset[s->placed[i]], s->offset[s->placed[i]] + other->bytes);
            }
        }
        s->offset[b] = g.spot == SIZE_MAX ? g.cursor : g.spot;
        s->work += n;
        if (s->lives.leaves) {
            add_life(s, b);
        } else {
            insert_placed(s, n, b);
        }
        total = TN_MAX(total, s->offset[b] + block->bytes);
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
    size_t bound = 0, sum = 0, live = 0;
    sort(s, 3);
    memcpy(s->best_order, s->order, s->count * sizeof *s->order);     // by end, the latest first
    sort(s, 2);
    for (size_t i = 0, ended = s->count; i < s->count; i++) {
        const tn_block *block = &s->blocks[s->order[i]];
        for (; ended > 0 && s->blocks[s->best_order[ended - 1]].last < block->first; ended--) {
            sum -= s->blocks[s->best_order[ended - 1]].bytes;
            live--;
        }
        sum += block->bytes;
        s->pairs += live++;
        bound = sum > bound ? sum : bound;
    }
    return bound;
}

// Without memory for it the blocks are scanned: slower, with the same result. Expects the order by begins.
static void open_lives(search *s, tn_heap *heap)
{
    lives *l = &s->lives;
    size_t leaves = 1;
    while (leaves < s->count) {
        leaves *= 2;
    }
    if (s->count < MANY || s->pairs > s->count * s->count / 2 / SPARSE) {
        return;
    }
    l->found = tn_take_zero(heap, leaves, sizeof(span) + 3 * sizeof(int) + 2 * sizeof(uint32_t));
    if (!l->found) {
        return;
    }
    l->leaves = leaves;
    l->late = (int *)(void *)(l->found + leaves);
    l->begin = l->late + 2 * leaves;
    l->leaf_of = (uint32_t *)(void *)(l->begin + leaves);
    l->block_of = l->leaf_of + leaves;
    for (uint32_t i = 0; i < s->count; i++) {
        l->block_of[i] = s->order[i];
        l->leaf_of[s->order[i]] = i;
        l->begin[i] = s->blocks[s->order[i]].first;
    }
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
    open_lives(&s, heap);
    for (int kind = 0; kind < 5 && s.best > *lower_bound; kind++) {
        sort(&s, kind);
        place(&s);
    }
    improve(&s, *lower_bound);
    for (size_t i = 0; i < count; i++) {
        blocks[i].offset = s.best_offset[i];
    }
    *total = s.best;
    tn_give(heap, s.lives.found);
    tn_give(heap, s.order);
    return true;
}
