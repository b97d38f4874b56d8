// SPDX-License-Identifier: Apache-2.0
// Search for an order with a low peak (plan/memory/schedule.h).
//
// A state is the set of nodes that have run: live bytes follow from it, whatever the order was, so of two ways to the same set only the
// one with the lower peak goes on. States are kept by level (nodes run so far), the best `width` of them: by peak, then by live bytes. While the
// width holds all states the answer is exact. A node that is ready, leaves no more bytes live than before and does not raise the peak may
// always run at once: moving it forward in any order raises no other moment. That takes most of the branching away.
#include "plan/memory/schedule.h"

#include "base/macros.h"

#include <stdlib.h>
#include <string.h>

#define MIN_WIDTH 4
#define MAX_WIDTH 96
#define MAX_BRANCHES 32            // candidates of one state
#define MAX_LOOKED 512             // ready nodes looked at from one state: thousands of equal branches would be looked at at each level

typedef struct state {
    size_t peak, live;
    uint64_t hash;
    uint64_t *done, *ready;        // sets of nodes
} state;

// A state that may come next.
typedef struct step {
    size_t peak, live;
    uint64_t hash;
    uint32_t parent, node;
} step;

typedef struct search {
    const tn_schedule *s;
    uint32_t *producer;            // by value: node + 1; 0: comes from outside
    uint32_t *readers, *first;     // by value: nodes that read it, at readers[first[v] .. first[v + 1])
    size_t words, width;
    state *now, *next;
    size_t n_now;
    step *steps;                   // candidates of one level
    uint32_t *parents, *chosen;    // history: [level][width]
} search;

static bool has(const uint64_t *set, uint32_t i) { return set[i / 64] >> (i % 64) & 1; }
static void add(uint64_t *set, uint32_t i) { set[i / 64] |= (uint64_t)1 << (i % 64); }
static void drop(uint64_t *set, uint32_t i) { set[i / 64] &= ~((uint64_t)1 << (i % 64)); }

// A fixed random number for each node (splitmix64).
static uint64_t number_of(uint32_t node)
{
    uint64_t x = (node + 1) * 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static bool link_values(search *f, tn_arena *arena)
{
    const tn_schedule *s = f->s;
    size_t reads = 0;
    f->producer = tn_arena_array(arena, s->n_values + 1, sizeof *f->producer);
    f->first = tn_arena_array(arena, s->n_values + 2, sizeof *f->first);
    for (size_t n = 0; n < s->n_nodes; n++) {
        reads += s->nodes[n].n_in;
    }
    f->readers = tn_arena_array(arena, reads + 1, sizeof *f->readers);
    uint32_t *fill = tn_arena_array(arena, s->n_values + 1, sizeof *fill);
    if (!f->producer || !f->first || !f->readers || !fill) {
        return false;
    }
    for (size_t n = 0; n < s->n_nodes; n++) {
        for (uint32_t i = 0; i < s->nodes[n].n_out; i++) {
            f->producer[s->nodes[n].out[i]] = (uint32_t)n + 1;
        }
        for (uint32_t i = 0; i < s->nodes[n].n_in; i++) {
            f->first[s->nodes[n].in[i] + 1]++;
        }
    }
    for (size_t v = 0; v < s->n_values; v++) {
        f->first[v + 1] += f->first[v];
        fill[v] = f->first[v];
    }
    for (size_t n = 0; n < s->n_nodes; n++) {
        for (uint32_t i = 0; i < s->nodes[n].n_in; i++) {
            f->readers[fill[s->nodes[n].in[i]]++] = (uint32_t)n;
        }
    }
    return true;
}

// Whether a value's last reader is `node`, given what has run.
static bool ends(const search *f, uint32_t value, uint32_t node, const uint64_t *done)
{
    bool last = !f->s->kept[value];
    for (uint32_t r = f->first[value]; r < f->first[value + 1] && last; r++) {
        last = f->readers[r] == node || has(done, f->readers[r]);
    }
    return last;
}

typedef struct effect {
    size_t during, after;          // live bytes while the node runs, and then
} effect;

static effect run_node(const search *f, uint32_t node, size_t live, const uint64_t *done)
{
    const tn_schedule_node *n = &f->s->nodes[node];
    size_t made = 0, unread = 0, freed = 0, shared = 0;
    for (uint32_t i = 0; i < n->n_out; i++) {
        made += f->s->bytes[n->out[i]];
        unread += ends(f, n->out[i], node, done) ? f->s->bytes[n->out[i]] : 0;
    }
    for (uint32_t i = 0; i < n->n_in; i++) {
        const size_t bytes = f->s->bytes[n->in[i]];
        if (bytes && ends(f, n->in[i], node, done)) {
            const bool over = i < n->in_place && n->n_out && bytes == f->s->bytes[n->out[0]];
            freed += bytes;
            shared = over ? bytes : shared;
        }
    }
    return (effect){live + made - shared, live + made - freed - unread};
}

size_t tn_schedule_peak(const tn_schedule *s, const uint32_t *order, tn_arena *arena)
{
    search f = {.s = s};
    size_t live = 0, peak = 0;
    uint64_t *done = tn_arena_array(arena, s->n_nodes / 64 + 1, sizeof *done);
    if (!done || !link_values(&f, arena)) {
        return SIZE_MAX;
    }
    for (size_t i = 0; i < s->n_nodes; i++) {
        const effect e = run_node(&f, order[i], live, done);
        peak = TN_MAX(peak, e.during);
        live = e.after;
        add(done, order[i]);
    }
    return peak;
}

size_t tn_schedule_floor(const tn_schedule *s)
{
    size_t floor = 0;
    for (size_t n = 0; n < s->n_nodes; n++) {
        const tn_schedule_node *node = &s->nodes[n];
        size_t in = 0, out = 0, shared = 0;
        for (uint32_t i = 0; i < node->n_out; i++) {
            out += s->bytes[node->out[i]];
        }
        for (uint32_t i = 0; i < node->n_in; i++) {
            in += s->bytes[node->in[i]];
            shared = i < node->in_place && node->n_out && s->bytes[node->in[i]] == s->bytes[node->out[0]] ? s->bytes[node->in[i]] : shared;
        }
        floor = TN_MAX(floor, in + out - shared);
    }
    return floor;
}

static bool is_ready(const search *f, uint32_t node, const uint64_t *done)
{
    const tn_schedule_node *n = &f->s->nodes[node];
    bool ready = true;
    for (uint32_t i = 0; i < n->n_in && ready; i++) {
        ready = !f->producer[n->in[i]] || has(done, f->producer[n->in[i]] - 1);
    }
    return ready;
}

// Candidates from one state, appended; returns how many there are now.
static size_t expand(search *f, size_t parent, size_t count, size_t limit)
{
    const state *from = &f->now[parent];
    const size_t before = count;
    int looked = 0;
    for (size_t w = 0; w < f->words && looked < MAX_LOOKED; w++) {
        for (uint64_t bits = from->ready[w]; bits; bits &= bits - 1, looked++) {
            const uint32_t node = (uint32_t)(w * 64 + (size_t)__builtin_ctzll(bits));
            const effect e = run_node(f, node, from->live, from->done);
            const step candidate = {.peak = TN_MAX(from->peak, e.during), .live = e.after, .hash = from->hash ^ number_of(node),
                                    .parent = (uint32_t)parent, .node = node};
            if (e.after <= from->live && e.during <= from->peak) {
                f->steps[before] = candidate;
                return before + 1;
            }
            if (candidate.peak < limit && count - before < MAX_BRANCHES) {
                f->steps[count++] = candidate;
            }
        }
    }
    return count;
}

// Equal sets side by side, the lower peak first.
static int by_set(const void *a, const void *b)
{
    const step *x = a, *y = b;
    return x->hash != y->hash ? (x->hash < y->hash ? -1 : 1) : (x->peak > y->peak) - (x->peak < y->peak);
}

static int by_promise(const void *a, const void *b)
{
    const step *x = a, *y = b;
    if (x->peak != y->peak) {
        return x->peak < y->peak ? -1 : 1;
    }
    return x->live != y->live ? (x->live < y->live ? -1 : 1) : (x->hash > y->hash) - (x->hash < y->hash);
}

static size_t choose(search *f, size_t count)
{
    size_t kept = 0;
    qsort(f->steps, count, sizeof *f->steps, by_set);
    for (size_t i = 0; i < count; i++) {
        if (kept == 0 || f->steps[kept - 1].hash != f->steps[i].hash) {
            f->steps[kept++] = f->steps[i];
        }
    }
    if (kept > f->width) {
        qsort(f->steps, kept, sizeof *f->steps, by_promise);
        kept = f->width;
    }
    return kept;
}

static void enter(search *f, size_t level, size_t slot)
{
    const step *taken = &f->steps[slot];
    const state *from = &f->now[taken->parent];
    state *to = &f->next[slot];
    const tn_schedule_node *node = &f->s->nodes[taken->node];
    to->peak = taken->peak;
    to->live = taken->live;
    to->hash = taken->hash;
    memcpy(to->done, from->done, f->words * sizeof *to->done);
    memcpy(to->ready, from->ready, f->words * sizeof *to->ready);
    add(to->done, taken->node);
    drop(to->ready, taken->node);
    for (uint32_t i = 0; i < node->n_out; i++) {
        for (uint32_t r = f->first[node->out[i]]; r < f->first[node->out[i] + 1]; r++) {
            if (is_ready(f, f->readers[r], to->done)) {
                add(to->ready, f->readers[r]);
            }
        }
    }
    f->parents[level * f->width + slot] = taken->parent;
    f->chosen[level * f->width + slot] = taken->node;
}

static bool open_search(search *f, size_t effort, tn_arena *arena)
{
    const size_t n = f->s->n_nodes;
    f->words = n / 64 + 1;
    f->width = TN_MAX((size_t)MIN_WIDTH, TN_MIN((size_t)MAX_WIDTH, effort / n));
    f->now = tn_arena_array(arena, f->width, sizeof *f->now);
    f->next = tn_arena_array(arena, f->width, sizeof *f->next);
    f->steps = tn_arena_array(arena, f->width * MAX_BRANCHES + 1, sizeof *f->steps);
    f->parents = tn_arena_array(arena, n, f->width * sizeof *f->parents);
    f->chosen = tn_arena_array(arena, n, f->width * sizeof *f->chosen);
    uint64_t *sets = tn_arena_array(arena, 4 * f->width, f->words * sizeof *sets);
    if (!f->now || !f->next || !f->steps || !f->parents || !f->chosen || !sets || !link_values(f, arena)) {
        return false;
    }
    for (size_t i = 0; i < f->width; i++, sets += 4 * f->words) {
        f->now[i].done = sets;
        f->now[i].ready = sets + f->words;
        f->next[i].done = sets + 2 * f->words;
        f->next[i].ready = sets + 3 * f->words;
    }
    for (uint32_t i = 0; i < n; i++) {
        if (is_ready(f, i, f->now[0].done)) {
            add(f->now[0].ready, i);
        }
    }
    f->n_now = 1;
    return true;
}

size_t tn_schedule_improve(const tn_schedule *s, uint32_t *order, size_t effort, tn_arena *arena)
{
    search f = {.s = s};
    const size_t before = tn_schedule_peak(s, order, arena);
    if (before == SIZE_MAX || s->n_nodes < 3 || before <= tn_schedule_floor(s)) {
        return before;
    }
    if (!open_search(&f, effort, arena)) {
        return SIZE_MAX;
    }
    for (size_t level = 0; level < s->n_nodes; level++) {
        size_t count = 0;
        for (size_t i = 0; i < f.n_now; i++) {
            count = expand(&f, i, count, before);
        }
        f.n_now = choose(&f, count);
        if (f.n_now == 0) {
            return before;         // nothing better within this width
        }
        for (size_t i = 0; i < f.n_now; i++) {
            enter(&f, level, i);
        }
        state *swap = f.now;
        f.now = f.next;
        f.next = swap;
    }
    for (size_t level = s->n_nodes, at = 0; level-- > 0;) {
        order[level] = f.chosen[level * f.width + at];
        at = f.parents[level * f.width + at];
    }
    return f.now[0].peak;
}
