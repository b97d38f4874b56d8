// SPDX-License-Identifier: Apache-2.0
// Checked arithmetic and the 16-bit floats: every half, and the ties between neighbours.
#include "support/unit.h"
#include "base/num.h"

#include <math.h>

static void test_checked_arithmetic(void **state)
{
    size_t s = 5;
    int64_t i = 5;
    assert_false(tn_mul_size(SIZE_MAX, 2, &s));
    assert_false(tn_align_size(SIZE_MAX - 3, 64, &s));
    assert_false(tn_mul_i64(INT64_MIN, -1, &i));
    assert_true(tn_align_size(65, 64, &s));
    assert_int_equal(s, 128);
    assert_true(tn_sub_i64(INT64_MIN, -1, &i));
    assert_true(i == INT64_MIN + 1);
}

static void test_every_half_survives_a_round_trip(void **state)
{
    for (unsigned bits = 0; bits < 0x10000; bits++) {
        const float f = tn_f16_to_f32((uint16_t)bits);
        if (isnan(f)) {
            assert_true((bits & 0x7fff) > 0x7c00);
            assert_true(isnan(tn_f16_to_f32(tn_f16_from_f32(f))));
            continue;
        }
        assert_int_equal(tn_f16_from_f32(f), bits);
        assert_int_equal(tn_f16_from_f64((double)f), bits);
    }
}

static void test_halves_round_to_even(void **state)
{
    for (unsigned bits = 0; bits < 0x7c00; bits++) {
        // The number in the middle between a half and the next one (past the largest: 65520, which rounds to infinity).
        const double low = (double)tn_f16_to_f32((uint16_t)bits);
        const double high = bits == 0x7bff ? 65536 : (double)tn_f16_to_f32((uint16_t)(bits + 1));
        const double middle = (low + high) / 2;
        const unsigned even = bits & 1 ? bits + 1 : bits;
        assert_int_equal(tn_f16_from_f32((float)middle), even);
        assert_int_equal(tn_f16_from_f64(middle), even);
        assert_int_equal(tn_f16_from_f32(nextafterf((float)middle, 1e9f)), bits + 1);
        assert_int_equal(tn_f16_from_f64(nextafter(middle, 0)), bits);
        assert_int_equal(tn_f16_from_f32((float)-middle), even | 0x8000);
    }
}

static void test_one_rounding_from_double(void **state)
{
    // Just above a tie, by less than a float can tell: by way of float it would round down.
    assert_int_equal(tn_f16_from_f64(1 + 0x1p-11 + 0x1p-40), 0x3c01);
    assert_int_equal(tn_bf16_from_f64(1 + 0x1p-8 + 0x1p-40), 0x3f81);
    assert_int_equal(tn_bf16_from_f64(1 + 0x1p-8 - 0x1p-40), 0x3f80);
    assert_int_equal(tn_bf16_from_f64(-(1 + 0x1p-8 + 0x1p-40)), 0xbf81);
    assert_int_equal(tn_f16_from_f64(1e300), 0x7c00);
    assert_int_equal(tn_bf16_from_f64(-1e300), 0xff80);
}

static void test_bfloat16_rounds_to_even(void **state)
{
    assert_int_equal(tn_bf16_from_f32(1 + 0x1p-8f), 0x3f80);
    assert_int_equal(tn_bf16_from_f32(1 + 3 * 0x1p-8f), 0x3f82);
    assert_int_equal(tn_bf16_from_f32(3.4e38f), 0x7f80);
    assert_int_equal(tn_bf16_from_f32(-0.0f), 0x8000);
    assert_true(isnan(tn_bf16_to_f32(tn_bf16_from_f32(tn_f32_from_bits(0x7f800001)))));
    assert_true(isnan(tn_f16_to_f32(tn_f16_from_f32(tn_f32_from_bits(0xff800001)))));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_checked_arithmetic),
        cmocka_unit_test(test_every_half_survives_a_round_trip),
        cmocka_unit_test(test_halves_round_to_even),
        cmocka_unit_test(test_one_rounding_from_double),
        cmocka_unit_test(test_bfloat16_rounds_to_even),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
