// SPDX-License-Identifier: Apache-2.0
// A plain pool over POSIX threads, one mutex and two conditions. Nobody waits for a thread that has not begun: the caller takes what the
// others leave, so that a job ends when it would on one thread if the cores have other work, other sessions' for instance.
//
//   caller:  job, generation + 1, wake all --> takes slots itself --> waits until none is running
//   worker:  waits for a new generation    --> takes slots        --> the last one wakes the caller
//
// Who waits looks on for a moment before he sleeps, since to be woken takes longer than most steps of a model. The moment shrinks while
// waits are longer than that, as they are where threads outnumber cores, and grows again when it would have paid.
//
// Ownership: see sys/threads/thread_pool.h. Threads: one job at a time.
#include "base/macros.h"
#include "sys/clock.h"
#include "sys/threads/thread_pool.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#define LOOK_MOST_NS 100000
#define LOOK_LEAST_NS 1000

typedef struct plain_pool {
    tn_heap *heap;
    pthread_mutex_t mutex;      // of what follows; who looks on reads the atomic words without it
    pthread_cond_t wake, done;
    void (*task)(void *context, size_t slot);
    void *context;
    size_t slots, next;         // of the job; slots handed out so far
    size_t running;             // slots handed out and not finished
    atomic_ulong busy;          // running > 0
    atomic_ulong generation;    // counts jobs
    bool stop;
    uint64_t look_ns;           // the caller's moment
    unsigned n_threads;         // made, without the caller
    pthread_t threads[];
} plain_pool;

static void pause_core(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

// The mutex is held for some instructions only, and who has looked on comes while the other still has it: to sleep then, and be woken by the
// system, would take longer than many a job.
#define LOCK_TRIES 100

static void lock(plain_pool *pool)
{
    for (int i = 0; i < LOCK_TRIES; i++) {
        if (pthread_mutex_trylock(&pool->mutex) == 0) {
            return;
        }
        pause_core();
    }
    pthread_mutex_lock(&pool->mutex);
}

// Waits with the mutex, held before and after, while *word is `value`: looking on for *look_ns, then asleep until `changed` is signalled.
static void wait_while(plain_pool *pool, atomic_ulong *word, unsigned long value, pthread_cond_t *changed, uint64_t *look_ns)
{
    if (atomic_load_explicit(word, memory_order_relaxed) != value) {
        return;
    }
    const uint64_t begin = tn_clock_ns();
    pthread_mutex_unlock(&pool->mutex);
    while (atomic_load_explicit(word, memory_order_acquire) == value && tn_clock_ns() - begin < *look_ns) {
        for (int i = 0; i < 8 && atomic_load_explicit(word, memory_order_relaxed) == value; i++) {
            pause_core();
        }
    }
    lock(pool);
    while (atomic_load_explicit(word, memory_order_relaxed) == value) {
        pthread_cond_wait(changed, &pool->mutex);
    }
    const bool pays = tn_clock_ns() - begin < LOOK_MOST_NS;
    *look_ns = pays ? TN_MIN(*look_ns * 2, LOOK_MOST_NS) : TN_MAX(*look_ns / 2, LOOK_LEAST_NS);
}

// Takes slots of the current job until none is left. Called and left with the mutex held.
static void take_slots(plain_pool *pool)
{
    while (pool->next < pool->slots) {
        const size_t slot = pool->next++;
        void (*const task)(void *, size_t) = pool->task;
        void *const context = pool->context;
        pool->running++;
        atomic_store_explicit(&pool->busy, 1, memory_order_relaxed);
        pthread_mutex_unlock(&pool->mutex);
        task(context, slot);
        lock(pool);
        pool->running--;
    }
    if (pool->running == 0) {
        atomic_store_explicit(&pool->busy, 0, memory_order_release);
        pthread_cond_signal(&pool->done);
    }
}

static void *worker(void *argument)
{
    plain_pool *pool = argument;
    unsigned long seen = 0;
    uint64_t look_ns = LOOK_MOST_NS;
    pthread_mutex_lock(&pool->mutex);
    for (;;) {
        wait_while(pool, &pool->generation, seen, &pool->wake, &look_ns);
        if (pool->stop) {
            break;
        }
        seen = atomic_load_explicit(&pool->generation, memory_order_relaxed);
        take_slots(pool);
    }
    pthread_mutex_unlock(&pool->mutex);
    return NULL;
}

// Called with the mutex held.
static void announce(plain_pool *pool)
{
    atomic_fetch_add_explicit(&pool->generation, 1, memory_order_release);
    pthread_cond_broadcast(&pool->wake);
}

static void run(void *context_pool, void (*task)(void *context, size_t slot), void *context, size_t slots)
{
    plain_pool *pool = context_pool;
    pthread_mutex_lock(&pool->mutex);
    pool->task = task;
    pool->context = context;
    pool->slots = slots;
    pool->next = 0;
    announce(pool);
    take_slots(pool);
    wait_while(pool, &pool->busy, 1, &pool->done, &pool->look_ns);
    pthread_mutex_unlock(&pool->mutex);
}

static void destroy(void *context_pool)
{
    plain_pool *pool = context_pool;
    pthread_mutex_lock(&pool->mutex);
    pool->stop = true;
    announce(pool);
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
    made->look_ns = LOOK_MOST_NS;
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
