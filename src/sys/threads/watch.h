// SPDX-License-Identifier: Apache-2.0
// Watching the workers: which thread did how much of each job, for profiles. Apart from sys/workers.h, which every kernel includes.
// Ownership: the arrays are the watcher's. Threads: a slot's entries are written by the thread that has the slot, and read by the caller
// between jobs.
#ifndef TN_WATCH_H
#define TN_WATCH_H

#include "sys/workers.h"

#include <stdatomic.h>

// What one slot did of one job.
typedef struct tn_share {
    uint64_t begin_ns, end_ns;
    uint32_t tiles;
} tn_share;

typedef struct tn_watch {
    tn_share *shares;          // [slot][room]
    size_t *used;              // by slot
    size_t room;               // of each slot
    atomic_ullong dropped;     // shares that found no room
} tn_watch;

// From now on every job that is split reports to `watch`; NULL: none does. Not during a job. workers may be NULL.
void tn_workers_watch(tn_workers *workers, tn_watch *watch);

#endif
