// SPDX-License-Identifier: Apache-2.0
// Heap and arena: alignment, accounting, refusals.
#include "support/unit.h"
#include "base/arena.h"

#include <stdlib.h>
#include <string.h>

static void test_take_aligns_and_counts(void **state)
{
    tn_heap heap;
    tn_heap_init(&heap, NULL, NULL, NULL);
    char *a = tn_take(&heap, 100), *b = tn_take(&heap, 0);
    assert_non_null(a);
    assert_non_null(b);
    assert_int_equal((uintptr_t)a % TN_ALIGNMENT, 0);
    assert_int_equal((uintptr_t)b % TN_ALIGNMENT, 0);
    assert_int_equal(atomic_load(&heap.live_bytes), 100);
    assert_int_equal(atomic_load(&heap.live_blocks), 2);
    memset(a, 1, 100);
    tn_give(&heap, a);
    tn_give(&heap, b);
    tn_give(&heap, NULL);
    assert_int_equal(atomic_load(&heap.live_bytes), 0);
    assert_int_equal(atomic_load(&heap.peak_bytes), 100);
    assert_int_equal(atomic_load(&heap.live_blocks), 0);
}

static void test_take_refuses_sizes_past_the_end(void **state)
{
    tn_heap heap;
    tn_heap_init(&heap, NULL, NULL, NULL);
    assert_null(tn_take(&heap, SIZE_MAX));
    assert_null(tn_take_zero(&heap, SIZE_MAX / 2, 3));
    assert_int_equal(atomic_load(&heap.live_blocks), 0);
}

static void test_take_zero_clears(void **state)
{
    tn_heap heap;
    tn_heap_init(&heap, NULL, NULL, NULL);
    const char zeros[64] = {0};
    char *block = tn_take_zero(&heap, 8, 8);
    assert_memory_equal(block, zeros, 64);
    tn_give(&heap, block);
}

static void test_ids_never_repeat(void **state)
{
    tn_heap heap;
    tn_heap_init(&heap, NULL, NULL, NULL);
    const uint32_t first = tn_heap_id(&heap);
    assert_int_not_equal(first, 0);
    assert_int_not_equal(tn_heap_id(&heap), first);
}

// A user's allocator that breaks its promise about alignment.
static char unaligned_room[4096];
static int unaligned_given;
static void *take_unaligned(void *context, size_t bytes, size_t alignment)
{
    return unaligned_room + 64 - (uintptr_t)unaligned_room % 64 + 8;
}
static void give_unaligned(void *context, void *block) { unaligned_given++; }

static void test_take_refuses_unaligned_blocks(void **state)
{
    tn_heap heap;
    tn_heap_init(&heap, take_unaligned, give_unaligned, NULL);
    assert_null(tn_take(&heap, 100));
    assert_int_equal(unaligned_given, 1);
}

static void test_arena_gives_zeroed_aligned_pieces(void **state)
{
    tn_heap heap;
    tn_arena arena;
    tn_heap_init(&heap, NULL, NULL, NULL);
    tn_arena_init(&arena, &heap);
    for (size_t bytes = 0; bytes < 3000; bytes += 7) {
        unsigned char *piece = tn_arena_take(&arena, bytes);
        assert_non_null(piece);
        assert_int_equal((uintptr_t)piece % 16, 0);
        for (size_t i = 0; i < bytes; i++) {
            assert_int_equal(piece[i], 0);
            piece[i] = 0xff;
        }
    }
    assert_non_null(tn_arena_take(&arena, 3 << 20));   // larger than any block it would make
    assert_true(arena.reserved >= arena.used);
    tn_arena_deinit(&arena);
    assert_int_equal(atomic_load(&heap.live_blocks), 0);
}

static void test_arena_copies(void **state)
{
    tn_heap heap;
    tn_arena arena;
    tn_heap_init(&heap, NULL, NULL, NULL);
    tn_arena_init(&arena, &heap);
    assert_string_equal(tn_arena_text(&arena, "abcdef", 3), "abc");
    assert_string_equal(tn_arena_text(&arena, NULL, 0), "");
    assert_string_equal(tn_arena_print(&arena, "%d-%s", 7, "x"), "7-x");
    assert_non_null(tn_arena_copy(&arena, NULL, 0));
    assert_null(tn_arena_array(&arena, SIZE_MAX, 2));
    assert_null(tn_arena_take(&arena, SIZE_MAX));
    assert_null(tn_arena_take(&arena, SIZE_MAX - 64));
    tn_arena_deinit(&arena);
}

static void test_arena_grow_keeps_elements(void **state)
{
    tn_heap heap;
    tn_arena arena;
    tn_heap_init(&heap, NULL, NULL, NULL);
    tn_arena_init(&arena, &heap);
    int *array = NULL;
    size_t capacity = 0;
    for (int i = 0; i < 1000; i++) {
        array = tn_arena_grow(&arena, array, (size_t)i, &capacity, sizeof *array);
        assert_non_null(array);
        array[i] = i;
    }
    for (int i = 0; i < 1000; i++) {
        assert_int_equal(array[i], i);
    }
    tn_arena_deinit(&arena);
}

static bool fill_arena(tn_heap *heap, void *context)
{
    tn_arena arena;
    tn_arena_init(&arena, heap);
    bool ok = true;
    for (int i = 0; i < 100 && ok; i++) {
        ok = tn_arena_take(&arena, 1000) && tn_arena_print(&arena, "%d", i);
    }
    tn_arena_deinit(&arena);
    return ok;
}

static void test_arena_survives_every_failing_request(void **state)
{
    assert_true(tn_fail_every_request(fill_arena, NULL) > 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_take_aligns_and_counts),
        cmocka_unit_test(test_take_refuses_sizes_past_the_end),
        cmocka_unit_test(test_take_zero_clears),
        cmocka_unit_test(test_ids_never_repeat),
        cmocka_unit_test(test_take_refuses_unaligned_blocks),
        cmocka_unit_test(test_arena_gives_zeroed_aligned_pieces),
        cmocka_unit_test(test_arena_copies),
        cmocka_unit_test(test_arena_grow_keeps_elements),
        cmocka_unit_test(test_arena_survives_every_failing_request),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
