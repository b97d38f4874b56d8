// SPDX-License-Identifier: Apache-2.0
// FlatBuffers: what the builder writes the reader reads, and a buffer with any byte changed or cut off gives a fault or an answer,
// never an access outside (the sanitizers look).
#include "support/unit.h"

#include "import/wire/flat.h"
#include "import/wire/flat_build.h"

#include <stdlib.h>
#include <string.h>

// Table: 0 u8, 1 u64, 2 text, 3 vector of u64, 4 vector of tables {0 text}, 5 absent.
static void build(tn_flat_build *b, tn_heap *heap)
{
    static const uint64_t numbers[3] = {1, 2, UINT64_MAX};
    tn_flat_ref subs[3];
    tn_flat_build_init(b, heap);
    for (int i = 0; i < 3; i++) {
        const tn_flat_ref name = tn_flat_put_text(b, i ? "abc" : "");
        tn_flat_open(b);
        tn_flat_field_ref(b, 0, name);
        subs[i] = tn_flat_close(b);
    }
    const tn_flat_ref list = tn_flat_put_refs(b, subs, 3), text = tn_flat_put_text(b, "hello"), vector = tn_flat_put_vector(b, numbers, 3, 8);
    tn_flat_open(b);
    tn_flat_field(b, 0, 200, 1, 0);
    tn_flat_field(b, 1, 1, 8, 0);
    tn_flat_field_ref(b, 2, text);
    tn_flat_field_ref(b, 3, vector);
    tn_flat_field_ref(b, 4, list);
    const tn_flat_ref place = b->fields[1], root = tn_flat_close(b);
    tn_flat_finish(b, root, "TEST", 64);
    tn_flat_patch(b, place, UINT64_C(0x0102030405060708), 8);
}

// Everything there is, read once; the sum keeps it from being left out.
static uint64_t read_all(tn_flat *flat)
{
    const tn_flat_table root = tn_flat_root(flat, "TEST");
    uint64_t sum = tn_flat_scalar(flat, &root, 0, 1, 0) + tn_flat_scalar(flat, &root, 1, 8, 0) + tn_flat_scalar(flat, &root, 9, 2, 7);
    const char *text = tn_flat_text(flat, &root, 2);
    const tn_flat_vector numbers = tn_flat_array(flat, &root, 3, 8), tables = tn_flat_array(flat, &root, 4, 4);
    sum += text ? strlen(text) : 0;
    for (size_t i = 0; i < numbers.count; i++) {
        sum += tn_flat_load(numbers.data + 8 * i, 8);
    }
    for (size_t i = 0; i < tables.count; i++) {
        const tn_flat_table sub = tn_flat_table_at(flat, &tables, i);
        const char *name = tn_flat_text(flat, &sub, 0);
        sum += name ? strlen(name) : 0;
    }
    return sum;
}

static void test_round_trip(void **state)
{
    tn_heap heap;
    tn_flat_build b;
    tn_heap_init(&heap, NULL, NULL, NULL);
    build(&b, &heap);
    assert_false(b.failed);
    assert_int_equal(b.used % 64, 0);
    tn_flat flat = {.data = b.data + b.capacity - b.used, .size = b.used};
    const tn_flat_table root = tn_flat_root(&flat, "TEST");
    assert_int_equal(tn_flat_scalar(&flat, &root, 0, 1, 0), 200);
    assert_true(tn_flat_scalar(&flat, &root, 1, 8, 0) == UINT64_C(0x0102030405060708));
    assert_int_equal(tn_flat_scalar(&flat, &root, 5, 4, 42), 42);
    assert_string_equal(tn_flat_text(&flat, &root, 2), "hello");
    const tn_flat_vector numbers = tn_flat_array(&flat, &root, 3, 8), tables = tn_flat_array(&flat, &root, 4, 4);
    assert_int_equal(numbers.count, 3);
    assert_int_equal((numbers.data - flat.data) % 8, 0);
    assert_true(tn_flat_load(numbers.data + 16, 8) == UINT64_MAX);
    const tn_flat_table first = tn_flat_table_at(&flat, &tables, 0), last = tn_flat_table_at(&flat, &tables, 2);
    assert_string_equal(tn_flat_text(&flat, &first, 0), "");
    assert_string_equal(tn_flat_text(&flat, &last, 0), "abc");
    assert_int_equal(first.vtable, last.vtable);     // tables of one form share it
    assert_null(flat.fault);
    tn_flat_root(&flat, "ELSE");
    assert_non_null(flat.fault);
    tn_flat_build_deinit(&b);
    assert_int_equal(heap.live_blocks, 0);
}

static void test_damage(void **state)
{
    tn_heap heap;
    tn_flat_build b;
    size_t faults = 0;
    tn_heap_init(&heap, NULL, NULL, NULL);
    build(&b, &heap);
    const uint8_t *good = b.data + b.capacity - b.used;
    for (size_t size = 0; size <= b.used; size++) {
        for (int change = 0; change < (size == b.used ? (int)b.used * 4 : 1); change++) {
            static const uint8_t masks[4] = {0x01, 0x80, 0xff, 0x10};
            uint8_t *copy = malloc(size ? size : 1);     // of the very size, so that a sanitizer sees the end
            memcpy(copy, good, size);
            if (size == b.used) {
                copy[change / 4] ^= masks[change % 4];
            }
            tn_flat flat = {.data = copy, .size = size};
            (void)read_all(&flat);
            faults += flat.fault != NULL;
            free(copy);
        }
    }
    assert_true(faults > b.used);
    tn_flat_build_deinit(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_round_trip), cmocka_unit_test(test_damage)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
