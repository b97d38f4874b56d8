// SPDX-License-Identifier: Apache-2.0
// Affinity policies. Linux tells a core's relative speed as cpu_capacity (arm64) and its highest clock as cpuinfo_max_freq; where neither
// is told all cores count as equal.
#include "sys/threads/affinity.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t read_number(const char *format, unsigned core)
{
    char path[128];
    unsigned long value = 0;
    snprintf(path, sizeof path, format, core);
    FILE *file = fopen(path, "r");
    if (file) {
        value = fscanf(file, "%lu", &value) == 1 ? value : 0;
        fclose(file);
    }
    return value > UINT32_MAX ? UINT32_MAX : (uint32_t)value;
}

size_t tn_topology_read(tn_core *cores, size_t room)
{
    cpu_set_t set;
    size_t count = 0;
    if (sched_getaffinity(0, sizeof set, &set) != 0) {
        return 0;
    }
    for (unsigned id = 0; id < TN_MAX_CORES && id < CPU_SETSIZE && count < room; id++) {
        if (CPU_ISSET(id, &set)) {
            cores[count++] = (tn_core){.id = id,
                                       .capacity = read_number("/sys/devices/system/cpu/cpu%u/cpu_capacity", id),
                                       .max_khz = read_number("/sys/devices/system/cpu/cpu%u/cpufreq/cpuinfo_max_freq", id)};
        }
    }
    return count;
}

// Capacity tells more than the clock (a little core may clock as high as a big one).
static uint64_t speed(const tn_core *core) { return core->capacity ? (uint64_t)core->capacity << 32 : core->max_khz; }

static int faster_first(const void *a, const void *b)
{
    const tn_core *x = a, *y = b;
    if (speed(x) != speed(y)) {
        return speed(x) > speed(y) ? -1 : 1;
    }
    return x->id < y->id ? -1 : x->id > y->id;
}

static int slower_first(const void *a, const void *b)
{
    const tn_core *x = a, *y = b;
    if (speed(x) != speed(y)) {
        return speed(x) < speed(y) ? -1 : 1;
    }
    return x->id < y->id ? -1 : x->id > y->id;
}

size_t tn_affinity_choose(tn_affinity policy, const tn_core *cores, size_t count, unsigned threads, unsigned *ids, const char **why)
{
    tn_core sorted[TN_MAX_CORES];
    size_t taken = 0;
    count = count > TN_MAX_CORES ? TN_MAX_CORES : count;
    memcpy(sorted, cores, count * sizeof *sorted);
    const bool slow = policy == TN_AFFINITY_LITTLE || policy == TN_AFFINITY_POWER_SAVE;
    const bool one = policy == TN_AFFINITY_BIG || policy == TN_AFFINITY_LITTLE;
    qsort(sorted, count, sizeof *sorted, slow ? slower_first : faster_first);
    const bool equal = count == 0 || speed(&sorted[0]) == speed(&sorted[count - 1]);
    *why = policy == TN_AFFINITY_NONE ? NULL
           : count == 0               ? "the system does not describe its cores"
           : equal                    ? "all cores are of one speed, or the system does not tell their speeds"
                                      : NULL;
    while (taken < count) {
        // A cluster is taken whole: the threads may move inside it.
        const uint64_t cluster = speed(&sorted[taken]);
        if (taken && !equal && policy != TN_AFFINITY_NONE && (one || taken >= threads)) {
            break;
        }
        for (; taken < count && speed(&sorted[taken]) == cluster; taken++) {
            ids[taken] = sorted[taken].id;
        }
    }
    return taken;
}

bool tn_affinity_set(const unsigned *ids, size_t count, tn_affinity_saved *saved)
{
    cpu_set_t old, set;
    memset(saved, 0, sizeof *saved);
    if (count == 0 || sched_getaffinity(0, sizeof old, &old) != 0) {
        return false;
    }
    CPU_ZERO(&set);
    for (size_t i = 0; i < count; i++) {
        CPU_SET(ids[i], &set);
    }
    for (unsigned id = 0; id < TN_MAX_CORES; id++) {
        saved->mask[id / 64] |= CPU_ISSET(id, &old) ? (uint64_t)1 << id % 64 : 0;
    }
    saved->valid = sched_setaffinity(0, sizeof set, &set) == 0;
    return saved->valid;
}

void tn_affinity_restore(const tn_affinity_saved *saved)
{
    cpu_set_t set;
    if (!saved->valid) {
        return;
    }
    CPU_ZERO(&set);
    for (unsigned id = 0; id < TN_MAX_CORES; id++) {
        if (saved->mask[id / 64] >> id % 64 & 1) {
            CPU_SET(id, &set);
        }
    }
    (void)sched_setaffinity(0, sizeof set, &set);
}
