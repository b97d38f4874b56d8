// SPDX-License-Identifier: Apache-2.0
// Worker threads behind a small table of functions. One job at a time per tn_workers.
// Ownership: create/destroy. Threads: tn_workers_run from one thread at a time.
#ifndef TN_WORKERS_H
#define TN_WORKERS_H

#include "base/alloc.h"
#include "base/diag.h"

typedef struct tn_workers tn_workers;

// Calls task(context, slot) for every slot 0 .. slots-1, each exactly once, possibly at the same time, and waits for all.
typedef struct tn_pool {
    void (*run)(void *pool, void (*task)(void *context, size_t slot), void *context, size_t slots);
    void (*destroy)(void *pool);   // may be NULL: the pool is the caller's
    void *pool;
    unsigned threads;
} tn_pool;

// threads >= 1; with 1 everything runs on the caller's thread and no thread is made. `pool` NULL means the default kind.
tn_status tn_workers_create(tn_workers **out, tn_heap *heap, unsigned threads, const tn_pool *pool, tn_diag *diag);
void tn_workers_destroy(tn_workers *workers);
unsigned tn_workers_count(const tn_workers *workers);   // 1 when workers is NULL

// Work on items first .. first+count-1; slot (0 .. tn_workers_count-1) names the caller's share of any per-thread scratch.
typedef void (*tn_task)(void *context, size_t first, size_t count, unsigned slot);

// Splits items 0 .. total-1 into tiles of at most `tile` items (>= 1) which the threads take in turn. workers may be NULL.
// Which thread gets a tile is not determined, so nothing in a result may depend on it.
void tn_workers_run(tn_workers *workers, tn_task task, void *context, size_t total, size_t tile);

#endif
