// SPDX-License-Identifier: Apache-2.0
// Affinity policies over topologies of real phones (public data: core counts, cpu_capacity as their kernels report it, highest clocks).
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "sys/threads/affinity.h"

typedef struct topology {
    const char *name;
    size_t count;
    tn_core cores[8];
} topology;

// Snapdragon 845 (4 + 4), Snapdragon 888 (1 + 3 + 4), Exynos 9810 (4 + 4), Helio G25 (8 alike), Kirin 970 without capacities.
static const topology sd845 = {"sd845", 8, {{0, 414, 1766400}, {1, 414, 1766400}, {2, 414, 1766400}, {3, 414, 1766400},
                                            {4, 1024, 2803200}, {5, 1024, 2803200}, {6, 1024, 2803200}, {7, 1024, 2803200}}};
static const topology sd888 = {"sd888", 8, {{0, 250, 1804800}, {1, 250, 1804800}, {2, 250, 1804800}, {3, 250, 1804800},
                                            {4, 800, 2419200}, {5, 800, 2419200}, {6, 800, 2419200}, {7, 1024, 2841600}}};
static const topology alike = {"alike", 8, {{0, 0, 2001000}, {1, 0, 2001000}, {2, 0, 2001000}, {3, 0, 2001000},
                                            {4, 0, 2001000}, {5, 0, 2001000}, {6, 0, 2001000}, {7, 0, 2001000}}};
static const topology clocks = {"clocks", 8, {{0, 0, 1844000}, {1, 0, 1844000}, {2, 0, 1844000}, {3, 0, 1844000},
                                              {4, 0, 2362000}, {5, 0, 2362000}, {6, 0, 2362000}, {7, 0, 2362000}}};

static void expect(const topology *t, tn_affinity policy, unsigned threads, size_t count, const unsigned *want, bool note)
{
    unsigned ids[TN_MAX_CORES];
    const char *why;
    assert_int_equal(tn_affinity_choose(policy, t->cores, t->count, threads, ids, &why), count);
    assert_int_equal(why != NULL, note);
    for (size_t i = 0; want && i < count; i++) {
        assert_int_equal(ids[i], want[i]);
    }
}

static void policies_choose_clusters(void **unused)
{
    (void)unused;
    expect(&sd845, TN_AFFINITY_BIG, 8, 4, (const unsigned[]){4, 5, 6, 7}, false);
    expect(&sd845, TN_AFFINITY_LITTLE, 2, 4, (const unsigned[]){0, 1, 2, 3}, false);
    expect(&sd845, TN_AFFINITY_HIGH_PERFORMANCE, 4, 4, (const unsigned[]){4, 5, 6, 7}, false);
    expect(&sd845, TN_AFFINITY_HIGH_PERFORMANCE, 5, 8, NULL, false);
    expect(&sd888, TN_AFFINITY_BIG, 4, 1, (const unsigned[]){7}, false);
    expect(&sd888, TN_AFFINITY_HIGH_PERFORMANCE, 1, 1, (const unsigned[]){7}, false);
    expect(&sd888, TN_AFFINITY_HIGH_PERFORMANCE, 4, 4, (const unsigned[]){7, 4, 5, 6}, false);
    expect(&sd888, TN_AFFINITY_POWER_SAVE, 5, 7, (const unsigned[]){0, 1, 2, 3, 4, 5, 6}, false);
    expect(&clocks, TN_AFFINITY_BIG, 2, 4, (const unsigned[]){4, 5, 6, 7}, false);
    expect(&alike, TN_AFFINITY_BIG, 2, 8, NULL, true);
    expect(&alike, TN_AFFINITY_NONE, 2, 8, NULL, false);
}

static void odd_inputs(void **unused)
{
    const topology none = {"none", 0, {{0, 0, 0}}};
    (void)unused;
    expect(&none, TN_AFFINITY_BIG, 4, 0, NULL, true);
    expect(&sd845, TN_AFFINITY_POWER_SAVE, 100, 8, NULL, false);
}

static void set_and_restore(void **unused)
{
    tn_core before[TN_MAX_CORES], during[TN_MAX_CORES];
    tn_affinity_saved saved;
    const size_t count = tn_topology_read(before, TN_MAX_CORES);
    (void)unused;
    assert_true(count > 0);
    if (tn_affinity_set(&before[0].id, 1, &saved)) {
        assert_int_equal(tn_topology_read(during, TN_MAX_CORES), 1);
        assert_int_equal(during[0].id, before[0].id);
        tn_affinity_restore(&saved);
    }
    assert_int_equal(tn_topology_read(during, TN_MAX_CORES), count);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(policies_choose_clusters), cmocka_unit_test(odd_inputs),
                                       cmocka_unit_test(set_and_restore)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
