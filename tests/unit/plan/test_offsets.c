// SPDX-License-Identifier: Apache-2.0
// The offset planner: no two live blocks overlap, never below the lower bound, and close to it on random and on nasty inputs.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "plan/memory/offsets.h"

#include <string.h>

static uint64_t state;

static int draw(int low, int high)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return low + (int)((state >> 33) % (uint64_t)(high - low + 1));
}

static void check(const tn_block *blocks, size_t count, size_t total)
{
    for (size_t i = 0; i < count; i++) {
        assert_true(blocks[i].offset + blocks[i].bytes <= total);
        assert_int_equal(blocks[i].offset % 64, 0);
        for (size_t j = 0; j < i; j++) {
            const bool together = blocks[i].first <= blocks[j].last && blocks[j].first <= blocks[i].last;
            const bool apart = blocks[i].offset + blocks[i].bytes <= blocks[j].offset || blocks[j].offset + blocks[j].bytes <= blocks[i].offset;
            assert_true(!together || apart);
        }
    }
}

static void random_lifetimes(void **unused)
{
    tn_heap heap;
    double worst = 0, sum = 0;
    (void)unused;
    tn_heap_init(&heap, NULL, NULL, NULL);
    for (uint64_t seed = 1; seed <= 200; seed++) {
        tn_block blocks[60];
        size_t total, bound;
        state = seed;
        const size_t count = (size_t)draw(1, 60);
        for (size_t i = 0; i < count; i++) {
            blocks[i].first = draw(0, 40);
            blocks[i].last = blocks[i].first + draw(0, 6);
            blocks[i].bytes = 64 * (size_t)draw(1, 100);
        }
        assert_true(tn_offsets_assign(blocks, count, &total, &bound, &heap));
        check(blocks, count, total);
        assert_true(total >= bound);
        const double over = (double)total / (double)bound - 1;
        worst = over > worst ? over : worst;
        sum += over;
    }
    assert_true(worst < 0.25);
    assert_true(sum / 200 < 0.03);
    assert_int_equal(atomic_load(&heap.live_bytes), 0);
}

// A chain, the usual case: each tensor lives until the next is made. The bound is met.
static void chain_is_optimal(void **unused)
{
    tn_heap heap;
    tn_block blocks[50];
    size_t total, bound;
    (void)unused;
    tn_heap_init(&heap, NULL, NULL, NULL);
    state = 7;
    for (int i = 0; i < 50; i++) {
        blocks[i] = (tn_block){.first = i, .last = i + 1, .bytes = 64 * (size_t)draw(1, 1000)};
    }
    assert_true(tn_offsets_assign(blocks, 50, &total, &bound, &heap));
    check(blocks, 50, total);
    assert_int_equal(total, bound);
}

// Long and sparse: the blocks are looked up by lifetime instead of scanned.
static void long_and_sparse(void **unused)
{
    tn_heap heap;
    static tn_block blocks[3000];
    size_t total, bound;
    (void)unused;
    tn_heap_init(&heap, NULL, NULL, NULL);
    for (uint64_t seed = 1; seed <= 5; seed++) {
        state = seed;
        for (int i = 0; i < 3000; i++) {
            const int first = draw(0, 2000);
            blocks[i] = (tn_block){.first = first, .last = first + draw(0, i % 50 ? 5 : 1000), .bytes = 64 * (size_t)draw(1, 100)};
        }
        assert_true(tn_offsets_assign(blocks, 3000, &total, &bound, &heap));
        check(blocks, 3000, total);
        assert_true(total >= bound && total < bound + bound / 4);
    }
    assert_int_equal(atomic_load(&heap.live_bytes), 0);
}

// The smallest arena there is: in some order of offsets each block lies right on what is live with it below.
typedef struct exact {
    tn_block blocks[8];
    size_t count, best;
} exact;

static void try_all(exact *e, unsigned placed, size_t total)
{
    if (total >= e->best) {
        return;
    }
    if (placed == (1u << e->count) - 1) {
        e->best = total;
        return;
    }
    for (size_t i = 0; i < e->count; i++) {
        size_t at = 0;
        if (placed >> i & 1) {
            continue;
        }
        for (size_t j = 0; j < e->count; j++) {
            const bool together = e->blocks[i].first <= e->blocks[j].last && e->blocks[j].first <= e->blocks[i].last;
            if (placed >> j & 1 && together && e->blocks[j].offset + e->blocks[j].bytes > at) {
                at = e->blocks[j].offset + e->blocks[j].bytes;
            }
        }
        e->blocks[i].offset = at;
        try_all(e, placed | 1u << i, at + e->blocks[i].bytes > total ? at + e->blocks[i].bytes : total);
    }
}

static void small_instances_are_optimal(void **unused)
{
    tn_heap heap;
    (void)unused;
    tn_heap_init(&heap, NULL, NULL, NULL);
    for (uint64_t seed = 1; seed <= 400; seed++) {
        exact e = {.best = SIZE_MAX};
        size_t total, bound;
        state = seed;
        e.count = (size_t)draw(2, 8);
        for (size_t i = 0; i < e.count; i++) {
            e.blocks[i].first = draw(0, 8);
            e.blocks[i].last = e.blocks[i].first + draw(0, 5);
            e.blocks[i].bytes = 64 * (size_t)draw(1, 20);
        }
        assert_true(tn_offsets_assign(e.blocks, e.count, &total, &bound, &heap));
        check(e.blocks, e.count, total);
        try_all(&e, 0, 0);
        assert_int_equal(total, e.best);
    }
}

static void none(void **unused)
{
    tn_heap heap;
    size_t total = 1, bound = 1;
    (void)unused;
    tn_heap_init(&heap, NULL, NULL, NULL);
    assert_true(tn_offsets_assign(NULL, 0, &total, &bound, &heap));
    assert_int_equal(total, 0);
    assert_int_equal(bound, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_lifetimes), cmocka_unit_test(chain_is_optimal), cmocka_unit_test(long_and_sparse),
                                       cmocka_unit_test(small_instances_are_optimal), cmocka_unit_test(none)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
