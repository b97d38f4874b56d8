// SPDX-License-Identifier: Apache-2.0
// Processor facts by the cpuinfo library, which also asks whether the operating system saves the wide registers. Built unless
// TENON_CPUINFO is off.
// Ownership: cpuinfo keeps its tables for the life of the process. Threads: any (cpuinfo_initialize runs once).
#include "sys/cpu.h"

#include <cpuinfo.h>
#include <stdio.h>
#include <unistd.h>

static uint32_t x86_features(void)
{
    uint32_t bits = 0;
    if (cpuinfo_has_x86_avx2() && cpuinfo_has_x86_fma3() && cpuinfo_has_x86_f16c()) {
        bits |= TN_CPU_AVX2;
    }
    if (bits && cpuinfo_has_x86_avx512f() && cpuinfo_has_x86_avx512bw() && cpuinfo_has_x86_avx512dq() &&
        cpuinfo_has_x86_avx512vl()) {
        bits |= TN_CPU_AVX512;
        bits |= cpuinfo_has_x86_avx512vnni() ? TN_CPU_VNNI : 0;
        bits |= cpuinfo_has_x86_avx512bf16() ? TN_CPU_AVX512BF16 : 0;
    }
    return bits;
}

static uint32_t arm_features(void)
{
    uint32_t bits = cpuinfo_has_arm_neon() ? TN_CPU_NEON : 0;
    if (bits && cpuinfo_has_arm_neon_dot()) {
        bits |= TN_CPU_DOTPROD;
    }
    return bits;
}

static size_t cache_bytes(const struct cpuinfo_cache *cache)
{
    return cache ? cache->size : 0;
}

void tn_cpu_probe(tn_cpu *cpu)
{
    // Without /proc the library would print its complaint.
    if (access("/proc/cpuinfo", R_OK) != 0 || !cpuinfo_initialize()) {
        return;
    }
    cpu->features = x86_features() | arm_features();
    cpu->l1d = cpuinfo_get_l1d_caches_count() ? cache_bytes(cpuinfo_get_l1d_cache(0)) : 0;
    cpu->l2 = cpuinfo_get_l2_caches_count() ? cache_bytes(cpuinfo_get_l2_cache(0)) : 0;
    cpu->l3 = cpuinfo_get_l3_caches_count() ? cache_bytes(cpuinfo_get_l3_cache(0)) : 0;
    if (cpuinfo_get_packages_count()) {
        snprintf(cpu->name, sizeof cpu->name, "%s", cpuinfo_get_package(0)->name);
    }
}
