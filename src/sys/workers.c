// SPDX-License-Identifier: Apache-2.0
// Workers: a job is one pool item per slot, and each slot takes tiles from a shared counter until none is left. So a slot is on one
// thread at a time whatever the pool does, and a slow thread takes fewer tiles. A job lives on the caller's stack.
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

typedef struct job {
    tn_task task;
    void *context;
    size_t total, tile, tiles;
    tn_watch *watch;
    _Alignas(64) atomic_size_t next;   // on a cache line of its own: every thread writes it
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

// Takes tiles until none is left; returns how many it got.
static uint32_t take_tiles(job *j, size_t slot)
{
    for (uint32_t taken = 0;; taken++) {
        const size_t index = atomic_fetch_add_explicit(&j->next, 1, memory_order_relaxed);
        if (index >= j->tiles) {
            return taken;
        }
        const size_t first = index * j->tile;
        j->task(j->context, first, TN_MIN(j->tile, j->total - first), (unsigned)slot);
    }
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
    job j = {.task = task, .context = context, .total = total, .tile = tile, .watch = workers->watch};
    j.tiles = total / tile + (total % tile != 0);
    atomic_init(&j.next, 0);
    workers->pool.run(workers->pool.pool, j.watch ? run_watched : run_slot, &j, TN_MIN(j.tiles, workers->threads));
}
