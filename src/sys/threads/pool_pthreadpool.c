// SPDX-License-Identifier: Apache-2.0
// The pthreadpool library as a tn_pool. Its threads spin for a while after a job, which makes the next one start in under a
// microsecond.
// Ownership: see sys/threads/thread_pool.h. Threads: one job at a time.
#include "sys/threads/thread_pool.h"

#include <pthreadpool.h>

static void run(void *pool, void (*task)(void *context, size_t slot), void *context, size_t slots)
{
    pthreadpool_parallelize_1d(pool, task, context, slots, 0);
}

static void destroy(void *pool)
{
    pthreadpool_destroy(pool);
}

tn_status tn_pool_pthreadpool(tn_pool *pool, tn_heap *heap, unsigned threads, tn_diag *diag)
{
    (void)heap;   // the library has no allocator hook
    pthreadpool_t made = pthreadpool_create(threads);
    if (!made) {
        return tn_fail(diag, TN_OUT_OF_MEMORY, "threads", "a pool of %u threads could not be made", threads);
    }
    *pool = (tn_pool){.run = run, .destroy = destroy, .pool = made, .threads = threads};
    return TN_OK;
}
