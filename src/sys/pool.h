// SPDX-License-Identifier: Apache-2.0
// The kinds of thread pools behind tn_workers. The build names the default one (TN_POOL_DEFAULT) and leaves out what it lacks.
// Ownership: what make fills in is given back by pool->destroy(pool->pool). Threads: one job at a time per pool.
#ifndef TN_POOL_H
#define TN_POOL_H

#include "sys/workers.h"

// Each fills *pool for `threads` >= 2 threads, the caller's own included.
tn_status tn_pool_pthreadpool(tn_pool *pool, tn_heap *heap, unsigned threads, tn_diag *diag);
tn_status tn_pool_plain(tn_pool *pool, tn_heap *heap, unsigned threads, tn_diag *diag);

#endif
