// SPDX-License-Identifier: Apache-2.0
// Independent chains of multiply-adds in registers: twelve cover a latency of four to six on two units.
// Ownership: none. Threads: any.
#include "bench_peak.h"

#include "sys/clock.h"

#define CHAINS 12
#define TRIPS 20000
#define ROUNDS 40

#if defined(__x86_64__)
#include <immintrin.h>

#define CHAIN_LOOP(type, set, step)                                \
    type sums[CHAINS];                                             \
    for (int i = 0; i < CHAINS; i++) {                             \
        sums[i] = set((float)i);                                   \
    }                                                              \
    const type a = set(0.999f), b = set(0.001f);                   \
    for (int t = 0; t < TRIPS; t++) {                              \
        _Pragma("GCC unroll 16") for (int i = 0; i < CHAINS; i++) { \
            sums[i] = step(sums[i], a, b);                         \
        }                                                          \
    }                                                              \
    for (int i = 0; i < CHAINS; i++) {                             \
        __asm__ volatile("" : "+v"(sums[i]));                      \
    }

__attribute__((target("avx512f"))) static void run_avx512(void)
{
    CHAIN_LOOP(__m512, _mm512_set1_ps, _mm512_fmadd_ps)
}

__attribute__((target("avx2,fma"))) static void run_avx2(void)
{
    CHAIN_LOOP(__m256, _mm256_set1_ps, _mm256_fmadd_ps)
}
#else
static void run_avx512(void) {}
static void run_avx2(void) {}
#endif

double tn_bench_peak(const tn_cpu *cpu, tn_impl impl)
{
    const bool wide = impl == TN_IMPL_AVX512 && (cpu->features & TN_CPU_AVX512), half = impl == TN_IMPL_AVX2 && (cpu->features & TN_CPU_AVX2);
    if (!wide && !half) {
        return 0.0;
    }
    uint64_t best = UINT64_MAX;
    for (int r = 0; r < ROUNDS; r++) {
        const uint64_t start = tn_clock_ns();
        (wide ? run_avx512 : run_avx2)();
        const uint64_t took = tn_clock_ns() - start;
        best = took < best ? took : best;
    }
    return 2.0 * CHAINS * TRIPS * (wide ? 16 : 8) / (double)best;
}
