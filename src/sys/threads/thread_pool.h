// SPDX-License-Identifier: Apache-2.0
// The thread pools behind tn_workers.
// Ownership: what make fills in is given back by pool->destroy(pool->pool). Threads: one job at a time per pool.
#ifndef TN_THREAD_POOL_H
#define TN_THREAD_POOL_H

#include "sys/workers.h"

// The usual one, pool_plain.c: fills *pool for `threads` >= 2 threads, the caller's own included.
tn_status tn_pool_plain(tn_pool *pool, tn_heap *heap, unsigned threads, tn_diag *diag);

// A pool that many sessions use; `own` NULL makes a default one, else the caller's is wrapped (its destroy is called at the end).
typedef struct tn_pool_shared tn_pool_shared;
tn_status tn_pool_shared_create(tn_pool_shared **out, tn_heap *heap, const tn_pool *own, unsigned threads, tn_diag *diag);
void tn_pool_shared_hold(tn_pool_shared *shared);
void tn_pool_shared_drop(tn_pool_shared *shared);      // NULL allowed
unsigned tn_pool_shared_threads(const tn_pool_shared *shared);
tn_pool tn_pool_shared_view(tn_pool_shared *shared);   // for tn_workers_create; valid while the pool is held

#endif
