// SPDX-License-Identifier: Apache-2.0
// Processor facts without the cpuinfo library: cache sizes where the C library knows them, and no instruction sets, so that the
// portable kernels run. Built when TENON_CPUINFO is off.
// Ownership: plain values. Threads: any.
#include "sys/cpu.h"

#include <unistd.h>

static size_t cache_bytes(int name)
{
    const long bytes = sysconf(name);
    return bytes > 0 ? (size_t)bytes : 0;
}

void tn_cpu_probe(tn_cpu *cpu)
{
    cpu->l1d = cache_bytes(_SC_LEVEL1_DCACHE_SIZE);
    cpu->l2 = cache_bytes(_SC_LEVEL2_CACHE_SIZE);
    cpu->l3 = cache_bytes(_SC_LEVEL3_CACHE_SIZE);
}
