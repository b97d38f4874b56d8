// SPDX-License-Identifier: Apache-2.0
// The wire reader: numbers, fields, packed lists, and every way in which bytes can be malformed.
#include "support/unit.h"

#include "import/wire/protobuf.h"

#include <string.h>

#define SPAN(...) ((tn_span){(const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__})})

static void test_fields(void **state)
{
    // 1: varint 300; 2: "ab"; 3: fixed32; 4: fixed64
    tn_wire wire = tn_wire_open(SPAN(0x08, 0xac, 0x02, 0x12, 2, 'a', 'b', 0x1d, 0, 0, 0x80, 0x3f, 0x21, 1, 2, 3, 4, 5, 6, 7, 8));
    assert_true(tn_wire_next(&wire));
    assert_int_equal(wire.key, TN_WIRE_KEY(1, TN_WIRE_VARINT));
    assert_int_equal(wire.value, 300);
    assert_true(tn_wire_next(&wire));
    assert_int_equal(wire.key, TN_WIRE_KEY(2, TN_WIRE_BYTES));
    assert_true(tn_span_is(wire.bytes, "ab"));
    assert_true(tn_wire_next(&wire));
    assert_int_equal(wire.key, TN_WIRE_KEY(3, TN_WIRE_FIXED32));
    assert_true(tn_wire_f32(wire.value) == 1.0f);
    assert_true(tn_wire_next(&wire));
    assert_true(wire.value == 0x0807060504030201u);
    assert_false(tn_wire_next(&wire));
    assert_null(wire.fault);
}

static void test_empty(void **state)
{
    tn_wire wire = tn_wire_open((tn_span){NULL, 0});
    assert_false(tn_wire_next(&wire));
    assert_null(wire.fault);
    wire = tn_wire_open(SPAN(0x0a, 0));
    assert_true(tn_wire_next(&wire));
    assert_int_equal(wire.bytes.size, 0);
    assert_non_null(wire.bytes.data);
}

static void test_largest_number(void **state)
{
    tn_wire wire = tn_wire_open(SPAN(0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1));
    assert_true(tn_wire_next(&wire));
    assert_true(wire.value == UINT64_MAX);
}

static void test_faults(void **state)
{
    static const struct {
        uint8_t bytes[12];
        size_t size;
    } cases[] = {
        {{0x08}, 1},                                                                 // no number after the key
        {{0x08, 0x80}, 2},                                                           // a number without end
        {{0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2}, 11},       // 65 bits
        {{0x08, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1}, 12}, // 11 bytes
        {{0x0a, 2, 0}, 3},                                                           // a field longer than the rest
        {{0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1}, 11},       // ... by far
        {{0x0d, 0, 0, 0}, 4},                                                        // a cut fixed32
        {{0x09, 0, 0, 0, 0, 0, 0, 0}, 8},                                            // a cut fixed64
        {{0x0b}, 1},                                                                 // a group
        {{0x0e}, 1},                                                                 // wire type 6
        {{0x00, 0}, 2},                                                              // field number 0
        {{0x80, 0x80, 0x80, 0x80, 0x10, 0}, 6},                                      // field number of 30 bits
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        tn_wire wire = tn_wire_open((tn_span){cases[i].bytes, cases[i].size});
        assert_false(tn_wire_next(&wire));
        assert_non_null(wire.fault);
        assert_false(tn_wire_next(&wire)); // it stays so
    }
}

static void test_lists(void **state)
{
    // Field 4: 1, then packed {2, 300}, then an empty run, then 5; field 5 between.
    const tn_span message = SPAN(0x20, 1, 0x22, 3, 2, 0xac, 2, 0x28, 9, 0x22, 0, 0x20, 5);
    const uint64_t expected[] = {1, 2, 300, 5};
    size_t count;
    const char *fault;
    uint64_t value;
    assert_true(tn_wire_count(message, 4, TN_WIRE_VARINT, &count, &fault));
    assert_int_equal(count, 4);
    tn_wire_each each = tn_wire_each_open(message, 4, TN_WIRE_VARINT);
    for (size_t i = 0; i < 4; ++i) {
        assert_true(tn_wire_each_next(&each, &value));
        assert_true(value == expected[i]);
    }
    assert_false(tn_wire_each_next(&each, &value));
    assert_null(each.fault);
    assert_null(tn_wire_run(message, 4).data);
}

static void test_runs(void **state)
{
    const tn_span message = SPAN(0x22, 8, 0, 0, 0, 0, 0, 0, 0x80, 0x3f, 0x28, 1);
    assert_int_equal(tn_wire_run(message, 4).size, 8);
    assert_ptr_equal(tn_wire_run(message, 4).data, message.data + 2);
    // A run cut in the middle of a number counts that number and fails when it is read.
    const tn_span cut = SPAN(0x22, 5, 0, 0, 0, 0, 0);
    size_t count;
    const char *fault;
    uint64_t value;
    assert_true(tn_wire_count(cut, 4, TN_WIRE_FIXED32, &count, &fault));
    assert_int_equal(count, 2);
    tn_wire_each each = tn_wire_each_open(cut, 4, TN_WIRE_FIXED32);
    assert_true(tn_wire_each_next(&each, &value));
    assert_false(tn_wire_each_next(&each, &value));
    assert_non_null(each.fault);
    assert_false(tn_wire_each_next(&each, &value));
}

static void test_spans(void **state)
{
    assert_true(tn_span_is((tn_span){NULL, 0}, ""));
    assert_false(tn_span_is(SPAN('a', 'b'), "a"));
    assert_true(tn_span_equal((tn_span){NULL, 0}, SPAN('a')) == false);
    assert_true(tn_span_equal(SPAN('a', 0), SPAN('a', 0)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fields), cmocka_unit_test(test_empty), cmocka_unit_test(test_largest_number),
        cmocka_unit_test(test_faults), cmocka_unit_test(test_lists), cmocka_unit_test(test_runs),
        cmocka_unit_test(test_spans),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
