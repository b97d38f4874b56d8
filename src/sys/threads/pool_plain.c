// SPDX-License-Identifier: Apache-2.0
// A plain pool over POSIX threads, one mutex and two conditions. Thread sanitizer sees all of it, and it needs no library: the
// default where pthreadpool is not there.
//
//   caller:  job, generation + 1, wake all --> takes slots itself --> waits until none is running
//   worker:  waits for a new generation    --> takes slots        --> the last one wakes the caller
//
// Ownership: see sys/threads/thread_pool.h. Threads: one job at a time.
#include "sys/threads/thread_pool.h"

#include <pthread.h>
#include <stdbool.h>

typedef struct plain_pool {
    tn_heap *heap;
    pthread_mutex_t mutex;
    pthread_cond_t wake, done;
    void (*task)(void *context, size_t slot);
    void *context;
    size_t slots, next;         // of the job; slots handed out so far
    size_t running;             // slots handed out and not finished
    unsigned long generation;   // counts jobs
    bool stop;
    unsigned n_threads;         // made, without the caller
    pthread_t threads[];
} plain_pool;

// Takes slots of the current job until none is left. Called and left with the mutex held.
static void take_slots(plain_pool *pool)
{
    while (pool->next < pool->slots) {
        const size_t slot = pool->next++;
        void (*const task)(void *, size_t) = pool->task;
        void *const context = pool->context;
        pool->running++;
        pthread_mutex_unlock(&pool->mutex);
        task(context, slot);
        pthread_mutex_lock(&pool->mutex);
        pool->running--;
    }
    if (pool->running == 0) {
        pthread_cond_signal(&pool->done);
    }
}

static void *worker(void *argument)
{
    plain_pool *pool = argument;
    unsigned long seen = 0;
    pthread_mutex_lock(&pool->mutex);
    while (!pool->stop) {
        if (pool->generation == seen) {
            pthread_cond_wait(&pool->wake, &pool->mutex);
            continue;
        }
        seen = pool->generation;
        take_slots(pool);
    }
    pthread_mutex_unlock(&pool->mutex);
    return NULL;
}

static void run(void *context_pool, void (*task)(void *context, size_t slot), void *context, size_t slots)
{
    plain_pool *pool = context_pool;
    pthread_mutex_lock(&pool->mutex);
    pool->task = task;
    pool->context = context;
    pool->slots = slots;
    pool->next = 0;
    pool->generation++;
    pthread_cond_broadcast(&pool->wake);
    take_slots(pool);
    while (pool->running) {
        pthread_cond_wait(&pool->done, &pool->mutex);
    }
    pthread_mutex_unlock(&pool->mutex);
}

static void destroy(void *context_pool)
{
    plain_pool *pool = context_pool;
    pthread_mutex_lock(&pool->mutex);
    pool->stop = true;
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->mutex);
    for (unsigned i = 0; i < pool->n_threads; i++) {
        pthread_join(pool->threads[i], NULL);
    }
    pthread_cond_destroy(&pool->done);
    pthread_cond_destroy(&pool->wake);
    pthread_mutex_destroy(&pool->mutex);
    tn_give(pool->heap, pool);
}

tn_status tn_pool_plain(tn_pool *pool, tn_heap *heap, unsigned threads, tn_diag *diag)
{
    const size_t bytes = sizeof(plain_pool) + (size_t)threads * sizeof(pthread_t);
    plain_pool *made = tn_take_zero(heap, 1, bytes);
    if (!made) {
        return tn_fail_memory(diag, "threads", bytes);
    }
    made->heap = heap;
    pthread_mutex_init(&made->mutex, NULL);
    pthread_cond_init(&made->wake, NULL);
    pthread_cond_init(&made->done, NULL);
    while (made->n_threads + 1 < threads) {
        if (pthread_create(&made->threads[made->n_threads], NULL, worker, made) != 0) {
            destroy(made);
            return tn_fail(diag, TN_OUT_OF_MEMORY, "threads", "the system refuses to start %u threads", threads);
        }
        made->n_threads++;
    }
    *pool = (tn_pool){.run = run, .destroy = destroy, .pool = made, .threads = threads};
    return TN_OK;
}
