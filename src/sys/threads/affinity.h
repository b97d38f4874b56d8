// SPDX-License-Identifier: Apache-2.0
// Which cores threads may run on: policies over the machine's topology (fast and slow clusters).
// Ownership: plain values. Threads: set and restore concern the calling thread and the threads it makes meanwhile.
#ifndef TN_AFFINITY_H
#define TN_AFFINITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TN_MAX_CORES 256

// X(NAME, number, text)
#define TN_AFFINITY_LIST(X)                                                                                  \
    X(NONE, 0, "none")                            /* wherever the system puts them */                       \
    X(BIG, 1, "big")                              /* only cores of the fastest cluster */                   \
    X(LITTLE, 2, "little")                        /* only cores of the slowest cluster */                   \
    X(HIGH_PERFORMANCE, 3, "high-performance")    /* the fastest clusters that hold all threads */          \
    X(POWER_SAVE, 4, "power-save")                /* the slowest clusters that hold all threads */

typedef enum tn_affinity {
#define X(name, number, text) TN_AFFINITY_##name = number,
    TN_AFFINITY_LIST(X)
#undef X
} tn_affinity;

typedef struct tn_core {
    unsigned id;             // as the system numbers it
    uint32_t capacity;       // relative speed (Linux cpu_capacity), 0: not told
    uint32_t max_khz;        // highest clock, 0: not told
} tn_core;

// Cores that this process may use, from the system's description; 0: not told.
size_t tn_topology_read(tn_core *cores, size_t room);

// Ids of the cores that a policy allows for `threads` threads, fastest first (slowest first for little and power-save). Cores of equal
// speed are one cluster. *why is NULL, or why the policy changes nothing here (one cluster, speeds not told): then all cores come back.
size_t tn_affinity_choose(tn_affinity policy, const tn_core *cores, size_t count, unsigned threads, unsigned *ids, const char **why);

typedef struct tn_affinity_saved {
    uint64_t mask[TN_MAX_CORES / 64];
    bool valid;
} tn_affinity_saved;

// Binds the calling thread to the cores; false: the system refused. *saved gets what was before.
bool tn_affinity_set(const unsigned *ids, size_t count, tn_affinity_saved *saved);
void tn_affinity_restore(const tn_affinity_saved *saved);

#endif
