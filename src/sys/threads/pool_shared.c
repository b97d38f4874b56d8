// SPDX-License-Identifier: Apache-2.0
// One pool for many sessions. A job that finds the threads busy runs on its own caller instead of waiting, so no session ever waits for
// another and there is no lock on the run path. (How a job is split has no influence on its result: see sys/workers.h.)
// Ownership: tn_pool_shared_hold / drop count the users; the inner pool dies with the last. Threads: any.
#include "sys/threads/thread_pool.h"

#include <stdatomic.h>

struct tn_pool_shared {
    tn_heap heap;
    tn_pool inner;
    atomic_flag busy;
    atomic_uint users;
};

static void run(void *context, void (*task)(void *context, size_t slot), void *task_context, size_t slots)
{
    tn_pool_shared *shared = context;
    if (atomic_flag_test_and_set_explicit(&shared->busy, memory_order_acquire)) {
        for (size_t slot = 0; slot < slots; slot++) {
            task(task_context, slot);
        }
        return;
    }
    shared->inner.run(shared->inner.pool, task, task_context, slots);
    atomic_flag_clear_explicit(&shared->busy, memory_order_release);
}

tn_status tn_pool_shared_create(tn_pool_shared **out, tn_heap *heap, const tn_pool *own, unsigned threads, tn_diag *diag)
{
    *out = NULL;
    tn_pool_shared *shared = tn_take_zero(heap, 1, sizeof *shared);
    if (!shared) {
        return tn_fail_memory(diag, "pool", sizeof *shared);
    }
    tn_heap_init(&shared->heap, heap->take, heap->give, heap->context);
    atomic_flag_clear(&shared->busy);
    atomic_init(&shared->users, 1);
    if (own) {
        shared->inner = *own;
        shared->inner.threads = threads;
    } else if (threads > 1) {
        const tn_status status = tn_pool_plain(&shared->inner, &shared->heap, threads, diag);
        if (status != TN_OK) {
            tn_give(heap, shared);
            return status;
        }
    }
    *out = shared;
    return TN_OK;
}

void tn_pool_shared_hold(tn_pool_shared *shared) { atomic_fetch_add(&shared->users, 1); }

void tn_pool_shared_drop(tn_pool_shared *shared)
{
    if (!shared || atomic_fetch_sub(&shared->users, 1) != 1) {
        return;
    }
    if (shared->inner.destroy) {
        shared->inner.destroy(shared->inner.pool);
    }
    tn_heap heap;
    tn_heap_init(&heap, shared->heap.take, shared->heap.give, shared->heap.context);
    tn_give(&heap, shared);
}

unsigned tn_pool_shared_threads(const tn_pool_shared *shared) { return shared->inner.threads ? shared->inner.threads : 1; }

tn_pool tn_pool_shared_view(tn_pool_shared *shared)
{
    return (tn_pool){.run = shared->inner.run ? run : NULL, .pool = shared, .threads = tn_pool_shared_threads(shared)};
}
