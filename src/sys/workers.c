// SPDX-License-Identifier: Apache-2.0
// Workers: a job is one pool item per slot. Each slot has a range of neighbouring tiles, which it takes from the front, and when none is
// left it takes those of others from behind. So a slot is on one thread at a time whatever the pool does, a slow thread takes fewer tiles,
// and what a slot reads is mostly what it wrote in the job before, still in its core's cache. A job lives on the caller's stack.
// A pool of the default kind is made by the first job that has work for it: to start threads takes milliseconds now and then, until the
// system has given each a core, and a session that has nothing to prepare, or whose steps are small, needs none.
// Ownership: see sys/workers.h. Threads: one job at a time.
#include "sys/workers.h"
#include "base/macros.h"
#include "sys/clock.h"
#include "sys/threads/thread_pool.h"
#include "sys/threads/watch.h"

#include <stdatomic.h>
#include <stdbool.h>

struct tn_workers {
    tn_heap *heap;
    tn_pool pool;         // run NULL: no pool, everything runs on the caller's thread
    unsigned threads;
    bool later;           // the pool is still to be made
    tn_watch *watch;      // NULL: nobody looks
};

#define RANGES_MOST 32   // slots beyond share those of others

typedef struct range {
    _Alignas(64) atomic_llong left;   // on a cache line of its own; below 0 where slots looked for more
    atomic_size_t next, end;          // tiles
} range;

typedef struct job {
    tn_task task;
    void *context;
    size_t total, tile;
    tn_watch *watch;
    size_t n_ranges;
    range ranges[RANGES_MOST];
} job;

tn_status tn_workers_create(tn_workers **out, tn_heap *heap, unsigned threads, const tn_pool *pool, tn_diag *diag)
{
    *out = NULL;
    if (threads < 1) {
        return tn_fail(diag, TN_INVALID_ARGUMENT, "threads", "at least 1 thread is needed");
    }
    tn_workers *workers = tn_take_zero(heap, 1, sizeof *workers);
    if (!workers) {
        return tn_fail_memory(diag, "threads", sizeof *workers);
    }
    workers->heap = heap;
    workers->threads = threads;
    if (threads > 1 && pool) {
        workers->pool = *pool;
    }
    workers->later = threads > 1 && !pool;
    *out = workers;
    return TN_OK;
}

void tn_workers_destroy(tn_workers *workers)
{
    if (!workers) {
        return;
    }
    if (workers->pool.destroy) {
        workers->pool.destroy(workers->pool.pool);
    }
    tn_give(workers->heap, workers);
}

void tn_workers_watch(tn_workers *workers, tn_watch *watch)
{
    if (workers) {
        workers->watch = watch;
    }
}

unsigned tn_workers_count(const tn_workers *workers)
{
    return workers ? workers->threads : 1;
}

static void run_tile(const job *j, size_t index, size_t slot)
{
    const size_t first = index * j->tile;
    j->task(j->context, first, TN_MIN(j->tile, j->total - first), (unsigned)slot);
}

static bool claim(range *r) { return atomic_fetch_sub_explicit(&r->left, 1, memory_order_relaxed) > 0; }

// Takes tiles until none is left; returns how many it got.
static uint32_t take_tiles(job *j, size_t slot)
{
    uint32_t taken = 0;
    const size_t own = slot % j->n_ranges;
    for (range *r = &j->ranges[own]; claim(r); taken++) {
        run_tile(j, atomic_fetch_add_explicit(&r->next, 1, memory_order_relaxed), slot);
    }
    for (size_t i = 1; i < j->n_ranges; i++) {
        for (range *r = &j->ranges[(own + i) % j->n_ranges]; claim(r); taken++) {
            run_tile(j, atomic_fetch_sub_explicit(&r->end, 1, memory_order_relaxed) - 1, slot);
        }
    }
    return taken;
}

static void run_slot(void *context, size_t slot) { (void)take_tiles(context, slot); }

static void run_watched(void *context, size_t slot)
{
    job *j = context;
    tn_watch *watch = j->watch;
    const uint64_t begin = tn_clock_ns();
    const uint32_t tiles = take_tiles(j, slot);
    if (!tiles) {
        return;
    }
    if (watch->used[slot] == watch->room) {
        atomic_fetch_add_explicit(&watch->dropped, 1, memory_order_relaxed);
        return;
    }
    watch->shares[slot * watch->room + watch->used[slot]++] = (tn_share){begin, tn_clock_ns(), tiles};
}

// Without memory for a pool jobs run on the caller's thread: slower, with the same results.
static void make_pool(tn_workers *workers)
{
    workers->later = false;
    if (tn_pool_plain(&workers->pool, workers->heap, workers->threads, NULL) != TN_OK) {
        workers->pool = (tn_pool){0};
    }
}

void tn_workers_run(tn_workers *workers, tn_task task, void *context, size_t total, size_t tile)
{
    tile = tile ? tile : 1;
    if (workers && workers->later && total > tile) {
        make_pool(workers);
    }
    if (!workers || !workers->pool.run || total <= tile) {
        for (size_t first = 0; first < total; first += TN_MIN(tile, total - first)) {
            task(context, first, TN_MIN(tile, total - first), 0);
        }
        return;
    }
    job j;
    j.task = task;
    j.context = context;
    j.total = total;
    j.tile = tile;
    j.watch = workers->watch;
    const size_t tiles = total / tile + (total % tile != 0), slots = TN_MIN(tiles, workers->threads);
    j.n_ranges = TN_MIN(slots, RANGES_MOST);
    const size_t each = tiles / j.n_ranges, more = tiles % j.n_ranges;
    for (size_t i = 0, next = 0; i < j.n_ranges; i++) {
        range *r = &j.ranges[i];
        const size_t count = each + (i < more);
        atomic_init(&r->left, (long long)count);
        atomic_init(&r->next, next);
        atomic_init(&r->end, next += count);
    }
    workers->pool.run(workers->pool.pool, j.watch ? run_watched : run_slot, &j, slots);
}
