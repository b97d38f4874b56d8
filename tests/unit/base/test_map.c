// SPDX-License-Identifier: Apache-2.0
// The string map: look-ups, replacement, growth, odd keys, failing memory.
#include "support/unit.h"
#include "base/map.h"

#include <stdio.h>
#include <string.h>

static void test_finds_what_was_set(void **state)
{
    static int values[5000];
    tn_heap heap;
    tn_arena arena;
    tn_map map;
    char key[32];
    tn_heap_init(&heap, NULL, NULL, NULL);
    tn_arena_init(&arena, &heap);
    tn_map_init(&map, &arena);
    assert_null(tn_map_find(&map, "x", 1));
    for (int i = 0; i < 5000; i++) {
        const int n = snprintf(key, sizeof key, "key %d", i);
        assert_true(tn_map_set(&map, key, (size_t)n, &values[i]));
    }
    assert_int_equal(map.count, 5000);
    for (int i = 0; i < 5000; i++) {
        const int n = snprintf(key, sizeof key, "key %d", i);
        assert_ptr_equal(tn_map_find(&map, key, (size_t)n), &values[i]);
    }
    assert_null(tn_map_find(&map, "key 5000", 8));
    assert_null(tn_map_find(&map, "key", 3));
    tn_arena_deinit(&arena);
}

static void test_a_later_value_replaces(void **state)
{
    int a, b, c;
    tn_heap heap;
    tn_arena arena;
    tn_map map;
    tn_heap_init(&heap, NULL, NULL, NULL);
    tn_arena_init(&arena, &heap);
    tn_map_init(&map, &arena);
    assert_true(tn_map_set(&map, "k", 1, &a));
    assert_true(tn_map_set(&map, "k", 1, &b));
    assert_true(tn_map_set(&map, "", 0, &c));         // an empty key is a key
    assert_true(tn_map_set(&map, "k\0k", 3, &a));     // so is one with a zero byte
    assert_int_equal(map.count, 3);
    assert_ptr_equal(tn_map_find(&map, "k", 1), &b);
    assert_ptr_equal(tn_map_find(&map, "", 0), &c);
    assert_ptr_equal(tn_map_find(&map, "k\0k", 3), &a);
    tn_arena_deinit(&arena);
}

static void test_hash_is_frozen(void **state)
{
    // Reaches files: must not change between versions or machines.
    assert_true(tn_hash("", 0, 0) == UINT64_C(0xefd01f60ba992926));
    assert_true(tn_hash("tenon", 5, 0) != tn_hash("tenon", 5, 1));
    assert_true(tn_hash("ab", 2, 0) != tn_hash("ba", 2, 0));
}

static bool fill(tn_heap *heap, void *context)
{
    tn_arena arena;
    tn_map map;
    int value = 0;
    char key[32];
    tn_arena_init(&arena, heap);
    tn_map_init(&map, &arena);
    bool ok = true;
    for (int i = 0; i < 300 && ok; i++) {
        const int n = snprintf(key, sizeof key, "a rather long key, number %d", i);
        ok = tn_map_set(&map, key, (size_t)n, &value);
        if (!ok && tn_map_find(&map, key, (size_t)n)) {
            fail_msg("a refused key is in the map");
        }
    }
    tn_arena_deinit(&arena);
    return ok;
}

static void test_survives_every_failing_request(void **state)
{
    assert_true(tn_fail_every_request(fill, NULL) > 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_finds_what_was_set),
        cmocka_unit_test(test_a_later_value_replaces),
        cmocka_unit_test(test_hash_is_frozen),
        cmocka_unit_test(test_survives_every_failing_request),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
