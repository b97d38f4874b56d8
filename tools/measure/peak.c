// SPDX-License-Identifier: Apache-2.0
// Multiply-adds: independent chains in registers, twelve to cover a latency of four to six cycles on two units. Copying: memcpy of a block
// far larger than the caches, split among the threads. Threads begin together at a barrier; the slowest ends the round.
#include "peak.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CHAINS 12
#define TRIPS 20000
#define ROUNDS 40
#define COPY_ROUNDS 5
#define COPY_BYTES ((size_t)96 << 20)
#define MAX_THREADS 256

// One thread by its own time, which other work on the machine hardly changes; several by the wall clock.
static double seconds(unsigned threads)
{
    struct timespec t;
    if (threads > 1 || clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t) != 0) {
        clock_gettime(CLOCK_MONOTONIC, &t);
    }
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#define CHAIN_LOOP(type, set, step, keep)                           \
    type sums[CHAINS];                                              \
    for (int i = 0; i < CHAINS; i++) {                              \
        sums[i] = set((float)i);                                    \
    }                                                               \
    const type a = set(0.999f), b = set(0.001f);                    \
    for (int t = 0; t < TRIPS; t++) {                               \
        _Pragma("GCC unroll 16") for (int i = 0; i < CHAINS; i++) { \
            sums[i] = step(sums[i], a, b);                          \
        }                                                           \
    }                                                               \
    for (int i = 0; i < CHAINS; i++) {                              \
        __asm__ volatile("" : keep(sums[i]));                       \
    }

#if defined(__x86_64__)
#include <immintrin.h>

__attribute__((target("avx512f"))) static void run_512(void)
{
    CHAIN_LOOP(__m512, _mm512_set1_ps, _mm512_fmadd_ps, "+v")
}

__attribute__((target("avx2,fma"))) static void run_256(void)
{
    CHAIN_LOOP(__m256, _mm256_set1_ps, _mm256_fmadd_ps, "+v")
}

static __m128 multiply_add(__m128 x, __m128 a, __m128 b) { return _mm_add_ps(_mm_mul_ps(x, a), b); }

static void run_128(void)
{
    CHAIN_LOOP(__m128, _mm_set1_ps, multiply_add, "+x")
}

unsigned tn_peak_widest(void)
{
    return __builtin_cpu_supports("avx512f") ? 512 : __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? 256 : 128;
}
#elif defined(__aarch64__)
#include <arm_neon.h>

static float32x4_t multiply_add(float32x4_t x, float32x4_t a, float32x4_t b) { return vfmaq_f32(b, x, a); }

static void run_128(void)
{
    CHAIN_LOOP(float32x4_t, vdupq_n_f32, multiply_add, "+w")
}

#define run_512 NULL
#define run_256 NULL
unsigned tn_peak_widest(void) { return 128; }
#else
static float multiply_add(float x, float a, float b) { return x * a + b; }
static float same(float x) { return x; }

static void run_32(void)
{
    CHAIN_LOOP(float, same, multiply_add, "+m")
}

#define run_512 NULL
#define run_256 NULL
#define run_128 NULL
unsigned tn_peak_widest(void) { return 32; }
#endif

typedef struct part {
    pthread_barrier_t *barrier;
    void (*work)(void);            // NULL: copies
    char *from, *to;
    size_t bytes;
    int rounds;
} part;

static void *run_part(void *argument)
{
    const part *p = argument;
    for (int r = 0; r < p->rounds; r++) {
        pthread_barrier_wait(p->barrier);
        if (p->work) {
            p->work();
        } else {
            memcpy(p->to, p->from, p->bytes);
        }
        pthread_barrier_wait(p->barrier);
    }
    return NULL;
}

// Seconds of the fastest round of all parts together; the caller takes part 0. 0: threads could not be started.
static double fastest(part *parts, unsigned threads, int rounds)
{
    pthread_barrier_t barrier;
    pthread_t ids[MAX_THREADS];
    double best = 0;
    for (unsigned t = 0; t < threads; t++) {
        parts[t].barrier = &barrier;
        parts[t].rounds = rounds;
    }
    if (pthread_barrier_init(&barrier, NULL, threads) != 0) {
        return 0;
    }
    for (unsigned t = 1; t < threads; t++) {
        if (pthread_create(&ids[t], NULL, run_part, &parts[t]) != 0) {
            return 0;              // threads at the barrier stay there: a machine that refuses a thread is out of order
        }
    }
    for (int r = 0; r < rounds; r++) {
        pthread_barrier_wait(&barrier);
        const double begin = seconds(threads);
        if (parts[0].work) {
            parts[0].work();
        } else {
            memcpy(parts[0].to, parts[0].from, parts[0].bytes);
        }
        pthread_barrier_wait(&barrier);
        const double took = seconds(threads) - begin;
        best = r == 0 || took < best ? took : best;
    }
    for (unsigned t = 1; t < threads; t++) {
        pthread_join(ids[t], NULL);
    }
    pthread_barrier_destroy(&barrier);
    return best;
}

static unsigned sane(unsigned threads) { return threads < 1 ? 1 : threads > MAX_THREADS ? MAX_THREADS : threads; }

double tn_peak_gflops(unsigned vector_bits, unsigned threads)
{
    part parts[MAX_THREADS] = {{0}};
    const unsigned bits = vector_bits ? vector_bits : tn_peak_widest();
    threads = sane(threads);
#if defined(__x86_64__) || defined(__aarch64__)
    void (*const work)(void) = bits > tn_peak_widest() ? NULL : bits == 512 ? run_512 : bits == 256 ? run_256 : bits == 128 ? run_128 : NULL;
#else
    void (*const work)(void) = bits == 32 ? run_32 : NULL;
#endif
    if (!work) {
        return 0;
    }
    for (unsigned t = 0; t < threads; t++) {
        parts[t].work = work;
    }
    const double took = fastest(parts, threads, ROUNDS);
    return took > 0 ? 2e-9 * CHAINS * TRIPS * (bits / 32) * threads / took : 0;
}

double tn_peak_copy(unsigned threads)
{
    part parts[MAX_THREADS] = {{0}};
    threads = sane(threads);
    char *block = malloc(2 * COPY_BYTES);
    const size_t each = COPY_BYTES / threads / 64 * 64;
    double took = 0;
    if (block) {
        memset(block, 1, 2 * COPY_BYTES);      // pages are there before the clock runs
        for (unsigned t = 0; t < threads; t++) {
            parts[t].from = block + t * each;
            parts[t].to = block + COPY_BYTES + t * each;
            parts[t].bytes = each;
        }
        took = fastest(parts, threads, COPY_ROUNDS);
    }
    free(block);
    return took > 0 ? 2e-9 * (double)each * threads / took : 0;
}
