// SPDX-License-Identifier: Apache-2.0
// What every way of looking at the processor shares: cores that this process may use, usual values for what could not be found, and
// masks of instruction-set levels.
// Ownership: plain values. Threads: any.
#include "sys/cpu.h"
#include "base/macros.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

// Processor seconds per second that the control group grants (Linux cgroup v2, cpu.max: "quota period" or "max period"), rounded up;
// 0: no limit known.
static unsigned quota_cores(void)
{
    unsigned long quota = 0, period = 0;
    FILE *file = fopen("/sys/fs/cgroup/cpu.max", "re");
    if (!file) {
        return 0;
    }
    const int fields = fscanf(file, "%lu %lu", &quota, &period);
    fclose(file);
    const unsigned long cores = fields == 2 && period ? TN_CEIL_DIV(quota, period) : 0;
    return cores > 65536 ? 0 : (unsigned)cores;
}

static unsigned usable_cores(void)
{
    cpu_set_t set;
    long cores = 0;
    if (sched_getaffinity(0, sizeof set, &set) == 0) {
        cores = CPU_COUNT(&set);
    }
    if (cores < 1) {
        cores = sysconf(_SC_NPROCESSORS_ONLN);   // more processors than the set can name
    }
    const unsigned quota = quota_cores();
    if (quota && quota < cores) {
        cores = quota;
    }
    return cores < 1 ? 1 : (unsigned)cores;
}

void tn_cpu_detect(tn_cpu *cpu)
{
    *cpu = (tn_cpu){0};
    tn_cpu_probe(cpu);
    cpu->features |= cpu->features & TN_CPU_AVX512BF16 ? tn_cpu_tiles() : 0;
    cpu->cores = usable_cores();
    cpu->l1d = cpu->l1d ? cpu->l1d : 32 << 10;
    cpu->l2 = cpu->l2 ? cpu->l2 : 512 << 10;
    cpu->l3 = cpu->l3 ? cpu->l3 : TN_MAX(cpu->l2, (size_t)8 << 20);
    if (!cpu->name[0]) {
        snprintf(cpu->name, sizeof cpu->name, "unknown processor");
    }
}

uint32_t tn_cpu_mask(const char *level, int *known)
{
    static const struct {
        const char *text;
        int bit;
    } levels[] = {
#define X(name, bit, text) {text, bit},
        TN_CPU_LIST(X)
#undef X
    };
    *known = 1;
    if (!level) {
        return UINT32_MAX;
    }
    if (strcmp(level, "portable") == 0) {
        return 0;
    }
    for (size_t i = 0; i < TN_COUNT(levels); i++) {
        if (strcmp(level, levels[i].text) == 0) {
            // Each architecture has eight bits, from the lowest tier up.
            const int bit = levels[i].bit, lowest = bit / 8 * 8;
            return (UINT32_C(2) << bit) - (UINT32_C(1) << lowest);
        }
    }
    *known = 0;
    return 0;
}
