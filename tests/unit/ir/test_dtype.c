// SPDX-License-Identifier: Apache-2.0
// Elements of every type as numbers: all codes of the small floats, rounding, saturation, unaligned arrays.
#include "support/unit.h"
#include "ir/dtype.h"

#include <math.h>
#include <string.h>

#define NAN_ (double)NAN
#define INF_ (double)INFINITY

static void test_names_and_sizes(void **state)
{
    assert_string_equal(tn_dtype_text(TN_F8E4M3FN), "float8_e4m3fn");
    assert_string_equal(tn_dtype_text((tn_dtype)99), "invalid");
    assert_int_equal(tn_dtype_bytes(TN_C128), 16);
    assert_int_equal(tn_dtype_bytes((tn_dtype)99), 0);
    assert_true(tn_dtype_is_float(TN_BF16) && !tn_dtype_is_float(TN_I4) && !tn_dtype_is_float(TN_C64));
    assert_true(tn_dtype_is_int(TN_U2) && !tn_dtype_is_int(TN_BOOL));
    assert_true(tn_dtype_is_signed(TN_F4E2M1) && !tn_dtype_is_signed(TN_U8));
}

static void test_every_small_float_survives_a_round_trip(void **state)
{
    const tn_dtype kinds[] = {TN_F8E4M3FN, TN_F8E4M3FNUZ, TN_F8E5M2, TN_F8E5M2FNUZ, TN_F8E8M0, TN_F4E2M1};
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        for (unsigned code = 0; code < (kinds[k] == TN_F4E2M1 ? 16 : 256); code++) {
            const uint8_t byte = (uint8_t)code;
            const double value = tn_dtype_load(kinds[k], &byte, 0);
            const uint8_t back = tn_dtype_small_float(kinds[k], value, false);
            if (isnan(value)) {
                assert_true(isnan(tn_dtype_load(kinds[k], &back, 0)));
            } else {
                assert_int_equal(back, code);
            }
        }
    }
}

static void test_small_float_values(void **state)
{
    // code, value: the largest numbers, the smallest, and the specials of each kind (OCP and FNUZ papers).
    static const struct {
        tn_dtype kind;
        uint8_t code;
        double value;
    } rows[] = {
        {TN_F8E4M3FN, 0x7e, 448}, {TN_F8E4M3FN, 0x01, 0x1p-9}, {TN_F8E4M3FN, 0x38, 1}, {TN_F8E4M3FNUZ, 0x7f, 240},
        {TN_F8E4M3FNUZ, 0x01, 0x1p-10}, {TN_F8E5M2, 0x7b, 57344}, {TN_F8E5M2, 0x7c, INFINITY}, {TN_F8E5M2, 0x01, 0x1p-16},
        {TN_F8E5M2FNUZ, 0x7f, 57344}, {TN_F8E5M2FNUZ, 0x01, 0x1p-17}, {TN_F4E2M1, 0x7, 6}, {TN_F4E2M1, 0x9, -0.5},
        {TN_F8E8M0, 0x00, 0x1p-127}, {TN_F8E8M0, 0xfe, 0x1p127},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_true(tn_dtype_load(rows[i].kind, &rows[i].code, 0) == rows[i].value);
    }
}

static void test_small_floats_past_their_range(void **state)
{
    assert_int_equal(tn_dtype_small_float(TN_F8E4M3FN, 464, false), 0x7e);   // the tie goes to the even 448
    assert_int_equal(tn_dtype_small_float(TN_F8E4M3FN, 465, false), 0x7f);
    assert_int_equal(tn_dtype_small_float(TN_F8E4M3FN, -INF_, false), 0xff);
    assert_int_equal(tn_dtype_small_float(TN_F8E4M3FN, -1e9, true), 0xfe);
    assert_int_equal(tn_dtype_small_float(TN_F8E4M3FNUZ, 1e9, false), 0x80);
    assert_int_equal(tn_dtype_small_float(TN_F8E4M3FNUZ, -0.0, false), 0);
    assert_int_equal(tn_dtype_small_float(TN_F8E4M3FNUZ, -1e-9, true), 0);
    assert_int_equal(tn_dtype_small_float(TN_F8E5M2, 1e9, false), 0x7c);
    assert_int_equal(tn_dtype_small_float(TN_F8E5M2, INF_, true), 0x7b);
    assert_int_equal(tn_dtype_small_float(TN_F4E2M1, -1e9, false), 0xf);
    assert_int_equal(tn_dtype_small_float(TN_F4E2M1, NAN_, true), 0x8);
    assert_int_equal(tn_dtype_small_float(TN_F4E2M1, 5, true), 0x6);   // tie between 4 and 6
    assert_int_equal(tn_dtype_small_float(TN_F8E8M0, 0, true), 0);
    assert_int_equal(tn_dtype_small_float(TN_F8E8M0, -1, true), 0xff);
    assert_int_equal(tn_dtype_small_float(TN_F8E8M0, 3, true), 129);
    assert_int_equal(tn_dtype_small_float(TN_F8E8M0, 2.9, true), 128);
}

static void test_integers_saturate(void **state)
{
    static const struct {
        tn_dtype kind;
        double low, high;
    } rows[] = {
        {TN_U8, 0, 255}, {TN_I8, -128, 127}, {TN_U16, 0, 65535}, {TN_I16, -32768, 32767}, {TN_U32, 0, 4294967295.0},
        {TN_I32, -2147483648.0, 2147483647}, {TN_U4, 0, 15}, {TN_I4, -8, 7}, {TN_U2, 0, 3}, {TN_I2, -2, 1},
        {TN_I64, -0x1p63, 0x1p63}, {TN_U64, 0, 0x1p64},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char element[8];
        tn_dtype_store(rows[i].kind, element, 0, 1e30);
        assert_true(tn_dtype_load(rows[i].kind, element, 0) == rows[i].high);
        tn_dtype_store(rows[i].kind, element, 0, -INF_);
        assert_true(tn_dtype_load(rows[i].kind, element, 0) == rows[i].low);
        tn_dtype_store(rows[i].kind, element, 0, NAN_);
        assert_true(tn_dtype_load(rows[i].kind, element, 0) == 0);
        tn_dtype_store(rows[i].kind, element, 0, 1.9);
        assert_true(tn_dtype_load(rows[i].kind, element, 0) == 1);
    }
}

static void test_integers_wrap_through_i64(void **state)
{
    char element[8];
    tn_dtype_store_i64(TN_U8, element, 0, 257);
    assert_int_equal(tn_dtype_load_i64(TN_U8, element, 0), 1);
    tn_dtype_store_i64(TN_I4, element, 0, 15);
    assert_int_equal(tn_dtype_load_i64(TN_I4, element, 0), -1);
    tn_dtype_store_i64(TN_U2, element, 0, -1);
    assert_int_equal(tn_dtype_load_i64(TN_U2, element, 0), 3);
    tn_dtype_store_i64(TN_I64, element, 0, INT64_MAX);
    assert_true(tn_dtype_load_i64(TN_I64, element, 0) == INT64_MAX);
    tn_dtype_store_i64(TN_BOOL, element, 0, 256);
    assert_int_equal(tn_dtype_load_i64(TN_BOOL, element, 0), 1);
    tn_dtype_store_i64(TN_F32, element, 0, 16777217);
    assert_true(tn_dtype_load(TN_F32, element, 0) == 16777216);
    tn_dtype_store(TN_F64, element, 0, -7.9);
    assert_int_equal(tn_dtype_load_i64(TN_F64, element, 0), -7);
}

static void test_arrays_may_lie_anywhere(void **state)
{
    char bytes[1 + 8 * 4];
    const tn_dtype kinds[] = {TN_F32, TN_F64, TN_F16, TN_BF16, TN_I16, TN_I32, TN_I64, TN_U64};
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        for (size_t i = 0; i < 4; i++) {
            tn_dtype_store(kinds[k], bytes + 1, i, (double)i + 3);
        }
        for (size_t i = 0; i < 4; i++) {
            assert_true(tn_dtype_load(kinds[k], bytes + 1, i) == (double)i + 3);
        }
    }
}

static void test_kinds_without_numbers_are_left_alone(void **state)
{
    char bytes[16];
    memset(bytes, 5, sizeof bytes);
    tn_dtype_store(TN_STRING, bytes, 0, 1);
    tn_dtype_store(TN_C64, bytes, 0, 1);
    assert_int_equal(bytes[0], 5);
    assert_true(tn_dtype_load(TN_C128, bytes, 0) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_and_sizes),
        cmocka_unit_test(test_every_small_float_survives_a_round_trip),
        cmocka_unit_test(test_small_float_values),
        cmocka_unit_test(test_small_floats_past_their_range),
        cmocka_unit_test(test_integers_saturate),
        cmocka_unit_test(test_integers_wrap_through_i64),
        cmocka_unit_test(test_arrays_may_lie_anywhere),
        cmocka_unit_test(test_kinds_without_numbers_are_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
