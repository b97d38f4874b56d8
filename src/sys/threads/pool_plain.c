// SPDX-License-Identifier: Apache-2.0
// A plain pool over POSIX threads: one word that says what is to do, and a mutex with two conditions for those who sleep. Nobody waits for
// a thread that has not begun: the caller takes what the others leave, so that a job ends when it would on one thread if the cores have
// other work, other sessions' for instance.
//
//   caller:  job, word = slots --> takes slots itself --> waits until none is running
//   worker:  waits for a slot  --> takes slots        --> the last one wakes the caller
//
// To take a slot is one exchange of the word, and with it the job's data may be read: they change only while no slot is running or left.
// Who waits looks on for a moment before he sleeps, since to be woken takes longer than most steps of a model. The moment shrinks while
// waits are longer than that, as they are where threads outnumber cores, and grows again when it would have paid. Who goes to sleep says so
// before he reads the word a last time, and who changes the word reads that afterwards, all in one order: one of the two sees the other.
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

// The word: slots that run, slots that are left to take, the end.
#define RUNNING 0xffffffffull
#define LEFT_ONE (1ull << 32)
#define STOP (1ull << 63)

typedef struct plain_pool {
    tn_heap *heap;
    void (*task)(void *context, size_t slot);   // of the job
    void *context;
    uint64_t look_ns;                // the caller's moment
    pthread_mutex_t mutex;           // of who sleeps
    pthread_cond_t wake, done;
    _Alignas(64) atomic_ullong word; // on a cache line with what its writers read
    atomic_uint asleep;              // workers
    atomic_bool caller_asleep;
    _Alignas(64) unsigned n_threads; // made, without the caller
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

// Looks on until the word has one of `bits` (`set`) or none of them, or *look_ns is over; says whether it happened.
static bool look_on(plain_pool *pool, unsigned long long bits, bool set, uint64_t look_ns, uint64_t begin)
{
    do {
        for (int i = 0; i < 8; i++) {
            if (((atomic_load_explicit(&pool->word, memory_order_acquire) & bits) != 0) == set) {
                return true;
            }
            pause_core();
        }
    } while (tn_clock_ns() - begin < look_ns);
    return false;
}

static uint64_t longer(uint64_t look_ns) { return TN_MIN(look_ns * 2, LOOK_MOST_NS); }

// After a sleep.
static uint64_t next_look(uint64_t look_ns, uint64_t begin)
{
    return tn_clock_ns() - begin < LOOK_MOST_NS ? longer(look_ns) : TN_MAX(look_ns / 2, LOOK_LEAST_NS);
}

// Takes slots of the current job until none is left. True if it ended the job's last one.
static bool take_slots(plain_pool *pool)
{
    bool last = false;
    unsigned long long word = atomic_load_explicit(&pool->word, memory_order_relaxed);
    while ((word & ~(RUNNING | STOP)) != 0) {
        if (!atomic_compare_exchange_weak_explicit(&pool->word, &word, word - LEFT_ONE + 1, memory_order_acquire, memory_order_relaxed)) {
            continue;
        }
        pool->task(pool->context, (size_t)(word / LEFT_ONE));
        word = atomic_fetch_sub(&pool->word, 1) - 1;
        last = word == 0;
    }
    return last;
}

static void *worker(void *argument)
{
    plain_pool *pool = argument;
    uint64_t look_ns = LOOK_MOST_NS;
    for (;;) {
        const uint64_t begin = tn_clock_ns();
        if (look_on(pool, ~RUNNING, true, look_ns, begin)) {
            look_ns = longer(look_ns);
        } else {
            pthread_mutex_lock(&pool->mutex);
            atomic_fetch_add(&pool->asleep, 1);
            while ((atomic_load(&pool->word) & ~RUNNING) == 0) {
                pthread_cond_wait(&pool->wake, &pool->mutex);
            }
            atomic_fetch_sub(&pool->asleep, 1);
            pthread_mutex_unlock(&pool->mutex);
            look_ns = next_look(look_ns, begin);
        }
        if (atomic_load_explicit(&pool->word, memory_order_relaxed) & STOP) {
            return NULL;
        }
        if (take_slots(pool) && atomic_load(&pool->caller_asleep)) {
            pthread_mutex_lock(&pool->mutex);
            pthread_cond_signal(&pool->done);
            pthread_mutex_unlock(&pool->mutex);
        }
    }
}

static void announce(plain_pool *pool, unsigned long long word)
{
    atomic_store(&pool->word, word);
    if (atomic_load(&pool->asleep) != 0) {
        pthread_mutex_lock(&pool->mutex);
        pthread_cond_broadcast(&pool->wake);
        pthread_mutex_unlock(&pool->mutex);
    }
}

static void wait_for_others(plain_pool *pool)
{
    if (atomic_load_explicit(&pool->word, memory_order_acquire) == 0) {
        return;
    }
    const uint64_t begin = tn_clock_ns();
    if (look_on(pool, RUNNING, false, pool->look_ns, begin)) {
        pool->look_ns = longer(pool->look_ns);
    } else {
        pthread_mutex_lock(&pool->mutex);
        atomic_store(&pool->caller_asleep, true);
        while (atomic_load(&pool->word) != 0) {
            pthread_cond_wait(&pool->done, &pool->mutex);
        }
        atomic_store(&pool->caller_asleep, false);
        pthread_mutex_unlock(&pool->mutex);
        pool->look_ns = next_look(pool->look_ns, begin);
    }
}

// The caller has the first slot, the workers those behind it.
static void run(void *context_pool, void (*task)(void *context, size_t slot), void *context, size_t slots)
{
    plain_pool *pool = context_pool;
    if (slots == 0) {
        return;
    }
    pool->task = task;
    pool->context = context;
    announce(pool, (slots - 1) * LEFT_ONE + 1);
    task(context, 0);
    atomic_fetch_sub(&pool->word, 1);
    take_slots(pool);
    wait_for_others(pool);
}

static void destroy(void *context_pool)
{
    plain_pool *pool = context_pool;
    announce(pool, STOP);
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
