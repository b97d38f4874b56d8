// SPDX-License-Identifier: Apache-2.0
// Worker threads of the DSP: the serving thread hands out a job and takes part. Which thread takes a tile is open, what a tile computes
// is not, so results do not depend on the number of threads. Each thread holds the HVX lock only while it works.
// Ownership: static. Threads: tn_hx_parallel by the serving thread.
#include "exec/hexagon/dsp/hx_graph.h"
#include "exec/hexagon/dsp/hx_workers.h"
#include "exec/hexagon/wire/hex_control.h"

static const tn_hx_os *const os = &tn_hx_os_table;

static struct {
    uint32_t workers;            // beside the serving thread
    uint32_t generation;         // grows with each job; workers sleep on it
    uint32_t next, n;            // tiles
    uint32_t busy;               // workers that have not ended their part
    void (*tile)(void *, uint32_t);
    void *context;
    uint32_t node, graph, call;
    uint32_t counts[3];          // of the workers, since the start
} job;

static void take_tiles(void)
{
    os->hvx_lock();
    for (;;) {
        const uint32_t i = __atomic_fetch_add(&job.next, 1, __ATOMIC_RELAXED);
        if (i >= job.n) {
            break;
        }
        job.tile(job.context, i);
    }
    os->hvx_unlock();
}

static void work(void *context)
{
    (void)context;
    uint32_t seen = 0;
    for (;;) {
        uint32_t now;
        while ((now = __atomic_load_n(&job.generation, __ATOMIC_ACQUIRE)) == seen) {
            os->wait(&job.generation, seen);
        }
        seen = now;
        tn_hx_self *me = os->self();
        me->node = job.node;
        me->graph = job.graph;
        me->call = job.call;
        uint32_t before[3], after[3];
        os->counters(before);
        take_tiles();
        os->counters(after);
        for (int i = 0; i < 3; i++) {
            __atomic_fetch_add(&job.counts[i], after[i] - before[i], __ATOMIC_RELAXED);
        }
        if (__atomic_sub_fetch(&job.busy, 1, __ATOMIC_ACQ_REL) == 0) {
            os->wake(&job.busy);
        }
    }
}

void tn_hx_workers_start(uint32_t threads)
{
    for (uint32_t i = 1; i < threads && i < TN_HEX_MAX_THREADS; i++) {
        if (os->thread_start(i, work, NULL) != 0) {
            break;
        }
        job.workers++;
    }
}

uint32_t tn_hx_workers(void) { return job.workers + 1; }

void tn_hx_parallel(void (*tile)(void *context, uint32_t tile), void *context, uint32_t n)
{
    const tn_hx_self *me = os->self();
    job.tile = tile;
    job.context = context;
    job.n = n;
    job.node = me->node;
    job.graph = me->graph;
    job.call = me->call;
    __atomic_store_n(&job.next, 0, __ATOMIC_RELAXED);
    if (job.workers == 0 || n < 2) {
        take_tiles();
        return;
    }
    __atomic_store_n(&job.busy, job.workers, __ATOMIC_RELAXED);
    __atomic_fetch_add(&job.generation, 1, __ATOMIC_RELEASE);
    os->wake(&job.generation);
    take_tiles();
    uint32_t busy;
    while ((busy = __atomic_load_n(&job.busy, __ATOMIC_ACQUIRE)) != 0) {
        os->wait(&job.busy, busy);
    }
}

void tn_hx_worker_counts(uint32_t out[3])
{
    uint32_t mine[3];
    os->counters(mine);
    for (int i = 0; i < 3; i++) {
        out[i] = mine[i] + __atomic_load_n(&job.counts[i], __ATOMIC_RELAXED);
    }
}
