// SPDX-License-Identifier: Apache-2.0
// Workers over each kind of pool: every item once, each slot on one thread at a time, no memory taken by a job.
#include "support/unit.h"
#include "sys/clock.h"
#include "sys/threads/thread_pool.h"

#include <dirent.h>
#include <stdatomic.h>
#include <string.h>

#define ITEMS 1000
#define THREADS 4

typedef struct tally {
    atomic_int done[ITEMS];
    atomic_int inside[THREADS];   // calls running in this slot
    atomic_int wrong;
    size_t tile;
} tally;

static void count(void *context, size_t first, size_t n, unsigned slot)
{
    tally *t = context;
    if (slot >= THREADS || n < 1 || n > t->tile || atomic_fetch_add(&t->inside[slot], 1) != 0) {
        atomic_fetch_add(&t->wrong, 1);
    }
    for (size_t i = first; i < first + n; i++) {
        atomic_fetch_add(&t->done[i], 1);
    }
    atomic_fetch_sub(&t->inside[slot], 1);
}

static void check_run(tn_workers *workers, size_t total, size_t tile)
{
    static tally t;
    memset(&t, 0, sizeof t);
    t.tile = tile;
    tn_workers_run(workers, count, &t, total, tile);
    assert_int_equal(atomic_load(&t.wrong), 0);
    for (size_t i = 0; i < ITEMS; i++) {
        assert_int_equal(atomic_load(&t.done[i]), i < total);
    }
}

static void check_all(tn_workers *workers)
{
    for (int round = 0; round < 100; round++) {
        check_run(workers, ITEMS, 1 + (size_t)round);
    }
    check_run(workers, ITEMS, ITEMS);
    check_run(workers, 1, 1);
    check_run(workers, 0, 1);
    check_run(workers, 7, 3);
}

static int count_threads(void)
{
    DIR *tasks = opendir("/proc/self/task");
    int n = 0;
    assert_non_null(tasks);
    for (const struct dirent *e = readdir(tasks); e; e = readdir(tasks)) {
        n += e->d_name[0] != '.';
    }
    closedir(tasks);
    return n;
}

static void test_default_pool(void **state)
{
    const int threads = count_threads();
    tn_heap heap;
    tn_workers *workers;
    tn_diag diag = {0};
    tn_heap_init(&heap, NULL, NULL, NULL);
    assert_int_equal(tn_workers_create(&workers, &heap, THREADS, NULL, &diag), TN_OK);
    assert_int_equal(tn_workers_count(workers), THREADS);
    check_run(workers, 10, 10);   // one tile needs no thread
    assert_int_equal(count_threads(), threads);
    check_run(workers, ITEMS, 1);
    assert_true(count_threads() > threads);
    const size_t before = atomic_load(&heap.live_bytes);
    check_all(workers);
    assert_int_equal(atomic_load(&heap.live_bytes), before);
    tn_workers_destroy(workers);
    assert_int_equal(atomic_load(&heap.live_blocks), 0);
}

static void test_plain_pool(void **state)
{
    tn_heap heap;
    tn_workers *workers;
    tn_pool pool;
    tn_heap_init(&heap, NULL, NULL, NULL);
    assert_int_equal(tn_pool_plain(&pool, &heap, THREADS, NULL), TN_OK);
    assert_int_equal(tn_workers_create(&workers, &heap, THREADS, &pool, NULL), TN_OK);
    check_all(workers);
    tn_workers_destroy(workers);
    assert_int_equal(atomic_load(&heap.live_blocks), 0);
}

// A caller's pool: runs the slots backwards on one thread, and is not destroyed by us.
static void backwards(void *pool, void (*task)(void *context, size_t slot), void *context, size_t slots)
{
    ++*(int *)pool;
    while (slots-- > 0) {
        task(context, slots);
    }
}

static void test_callers_pool(void **state)
{
    int jobs = 0;
    tn_heap heap;
    tn_workers *workers;
    const tn_pool pool = {.run = backwards, .pool = &jobs, .threads = THREADS};
    tn_heap_init(&heap, NULL, NULL, NULL);
    assert_int_equal(tn_workers_create(&workers, &heap, THREADS, &pool, NULL), TN_OK);
    check_run(workers, ITEMS, 10);
    assert_int_equal(jobs, 1);
    check_run(workers, 10, 10);   // one tile: no job
    assert_int_equal(jobs, 1);
    tn_workers_destroy(workers);
}

static void test_one_thread_needs_no_pool(void **state)
{
    tn_heap heap;
    tn_workers *workers;
    tn_diag diag = {0};
    tn_heap_init(&heap, NULL, NULL, NULL);
    check_all(NULL);
    assert_int_equal(tn_workers_count(NULL), 1);
    assert_int_equal(tn_workers_create(&workers, &heap, 1, NULL, &diag), TN_OK);
    check_all(workers);
    tn_workers_destroy(workers);
    tn_workers_destroy(NULL);
    assert_int_equal(tn_workers_create(&workers, &heap, 0, NULL, &diag), TN_INVALID_ARGUMENT);
    assert_null(workers);
}

static bool create(tn_heap *heap, void *context)
{
    tn_workers *workers;
    tn_diag diag = {0};
    const tn_status status = tn_workers_create(&workers, heap, THREADS, NULL, &diag);
    if (status != TN_OK) {
        assert_int_equal(status, TN_OUT_OF_MEMORY);
        assert_null(workers);
    } else {
        check_run(workers, ITEMS, 10);
    }
    tn_workers_destroy(workers);
    return status == TN_OK;
}

static void test_survives_every_failing_request(void **state)
{
    assert_true(tn_fail_every_request(create, NULL) >= 1);
}

static void test_works_without_memory_for_a_pool(void **state)
{
    tn_fail_heap failing;
    tn_workers *workers;
    tn_fail_heap_init(&failing, 2);
    assert_int_equal(tn_workers_create(&workers, &failing.heap, THREADS, NULL, NULL), TN_OK);
    check_all(workers);
    tn_workers_destroy(workers);
}

static void test_clock_goes_forward(void **state)
{
    uint64_t last = tn_clock_ns();
    for (int i = 0; i < 1000; i++) {
        const uint64_t now = tn_clock_ns();
        assert_true(now >= last);
        last = now;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_default_pool),
        cmocka_unit_test(test_plain_pool),
        cmocka_unit_test(test_callers_pool),
        cmocka_unit_test(test_one_thread_needs_no_pool),
        cmocka_unit_test(test_survives_every_failing_request),
        cmocka_unit_test(test_works_without_memory_for_a_pool),
        cmocka_unit_test(test_clock_goes_forward),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
