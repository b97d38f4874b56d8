// SPDX-License-Identifier: Apache-2.0
// What sessions share: thread pools, idle arenas, and the affinity of threads.
#include "api/api.h"

#include "sys/threads/affinity.h"

#include <string.h>
#include <unistd.h>

_Static_assert((int)TENON_AFFINITY_BIG == (int)TN_AFFINITY_BIG && (int)TENON_AFFINITY_POWER_SAVE == (int)TN_AFFINITY_POWER_SAVE, "affinity");

#define MAX_THREADS 1024

unsigned *tn_api_cores(tn_heap *heap, tenon_affinity affinity, unsigned threads, size_t *count, const char **note)
{
    tn_core cores[TN_MAX_CORES];
    unsigned ids[TN_MAX_CORES];
    *count = 0;
    *note = NULL;
    if (affinity == TENON_AFFINITY_NONE) {
        return NULL;
    }
    const size_t found = tn_topology_read(cores, TN_MAX_CORES);
    const size_t taken = tn_affinity_choose((tn_affinity)affinity, cores, found, threads, ids, note);
    unsigned *list = *note || !taken ? NULL : tn_take(heap, taken * sizeof *list);
    if (list) {
        memcpy(list, ids, taken * sizeof *list);
        *count = taken;
    }
    return list;
}

// ---- threads ----

static tn_status make_pool(tenon_pool *pool, const tenon_pool_options *options, tn_diag *diag)
{
    tn_cpu cpu;
    tn_affinity_saved saved = {.valid = false};
    size_t n_cores;
    const char *note;
    tn_cpu_detect(&cpu);
    const unsigned threads = options->threads ? options->threads : cpu.cores;
    const tn_pool own = {.run = options->run, .pool = options->context, .threads = threads};
    if (threads > MAX_THREADS) {
        return tn_fail(diag, TN_INVALID_ARGUMENT, "threads", "%u threads are more than %d", threads, MAX_THREADS);
    }
    if (options->affinity < TENON_AFFINITY_NONE || options->affinity > TENON_AFFINITY_POWER_SAVE) {
        return tn_fail(diag, TN_INVALID_ARGUMENT, "affinity", "%d is not a policy", (int)options->affinity);
    }
    unsigned *cores = tn_api_cores(&pool->heap, options->affinity, threads, &n_cores, &note);
    if (cores) {
        (void)tn_affinity_set(cores, n_cores, &saved);      // threads inherit it from their maker
    }
    const tn_status status = tn_pool_shared_create(&pool->shared, &pool->heap, options->run ? &own : NULL, threads, diag);
    tn_affinity_restore(&saved);
    tn_give(&pool->heap, cores);
    return status;
}

tenon_status tenon_pool_create(tenon_pool **out, const tenon_pool_options *given, tenon_error **error)
{
    tn_diag diag = {0};
    tn_heap heap;
    tenon_pool_options options;
    if (out) {
        *out = NULL;
    }
    tenon_pool_options_init(&options);
    if (!out || (given && !tn_api_options(&options, sizeof options, given))) {
        return tn_api_refuse(error, TN_INVALID_ARGUMENT, "tenon_pool_create", "pool must not be NULL; fill the options with their init function");
    }
    tn_heap_init(&heap, NULL, NULL, NULL);
    tenon_pool *pool = tn_take_zero(&heap, 1, sizeof *pool);
    if (!pool) {
        return tn_api_refuse(error, TN_OUT_OF_MEMORY, "pool", "no memory for a pool");
    }
    tn_heap_init(&pool->heap, NULL, NULL, NULL);
    pool->pid = getpid();
    const tn_status status = make_pool(pool, &options, &diag);
    if (status != TN_OK) {
        tn_give(&heap, pool);
        return tn_api_fail(error, status, &diag);
    }
    *out = pool;
    return TENON_OK;
}

void tenon_pool_destroy(tenon_pool *pool)
{
    tn_heap heap;
    if (pool && pool->pid == getpid()) {       // a forked child has no threads to end
        tn_heap_init(&heap, NULL, NULL, NULL);
        tn_pool_shared_drop(pool->shared);
        tn_give(&heap, pool);
    }
}

// ---- idle arenas ----

tenon_status tenon_arenas_create(tenon_arenas **out, size_t max_idle_bytes, tenon_error **error)
{
    tn_heap heap;
    if (!out) {
        return tn_api_refuse(error, TN_INVALID_ARGUMENT, "tenon_arenas_create", "arenas must not be NULL");
    }
    *out = NULL;
    tn_heap_init(&heap, NULL, NULL, NULL);
    tenon_arenas *arenas = tn_take_zero(&heap, 1, sizeof *arenas);
    tn_arena_pool *pool = arenas ? tn_arena_pool_create(&heap, max_idle_bytes) : NULL;
    if (!pool) {
        tn_give(&heap, arenas);
        return tn_api_refuse(error, TN_OUT_OF_MEMORY, "arenas", "no memory for a pool of arenas");
    }
    arenas->pool = pool;
    arenas->pid = getpid();
    *out = arenas;
    return TENON_OK;
}

void tenon_arenas_destroy(tenon_arenas *arenas)
{
    tn_heap heap;
    if (arenas && arenas->pid == getpid()) {   // in a forked child its lock may be held by a thread that is not there
        tn_heap_init(&heap, NULL, NULL, NULL);
        tn_arena_pool_drop(arenas->pool);
        tn_give(&heap, arenas);
    }
}
