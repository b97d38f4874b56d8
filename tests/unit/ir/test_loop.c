// SPDX-License-Identifier: Apache-2.0
// The loop IR: building, evaluating, and the edge values of its functions.
#include "support/unit.h"
#include "loop/loop.h"

#include <math.h>

#define NANF ((float)NAN)
#define INFF ((float)INFINITY)

static float eval(tn_loop_code code, float a, float b)
{
    return tn_loop_eval_code(code, a, b, 0, 0.5f, 2);
}

static void test_programs_run_in_order(void **state)
{
    tn_loop_build build = {.loop = {.n_inputs = 2}};
    const int sum = tn_loop_add(&build, TN_LOOP_ADD, 0, 1, 0, 0, 0);
    const int product = tn_loop_add(&build, TN_LOOP_MUL, sum, 0, 0, 0, 0);
    tn_loop_add(&build, TN_LOOP_MADD, product, sum, 1, 0, 0);
    const float in[2] = {3, 4};
    assert_int_equal(sum, 2);
    assert_true(tn_loop_eval(&build.loop, in) == 21 * 7 + 4);
    const tn_loop nothing = {.n_inputs = 2};
    assert_true(tn_loop_eval(&nothing, in) == 4);
}

static void test_too_long_programs_say_so(void **state)
{
    tn_loop_build build = {.loop = {.n_inputs = 1}};
    for (int i = 0; i < TN_LOOP_MAX_CODE; i++) {
        assert_int_equal(tn_loop_add(&build, TN_LOOP_NEG, i, 0, 0, 0, 0), i + 1);
    }
    assert_false(build.full);
    assert_int_equal(tn_loop_add(&build, TN_LOOP_NEG, 0, 0, 0, 0, 0), 0);
    assert_true(build.full);
    assert_int_equal(build.loop.n_code, TN_LOOP_MAX_CODE);
}

static void test_nan_stays(void **state)
{
    const tn_loop_code codes[] = {TN_LOOP_MIN, TN_LOOP_MAX, TN_LOOP_RELU, TN_LOOP_LEAKY, TN_LOOP_CLIP, TN_LOOP_HARD_SIGMOID,
                                  TN_LOOP_HARD_SWISH, TN_LOOP_SILU, TN_LOOP_GELU, TN_LOOP_ELU, TN_LOOP_SOFTPLUS, TN_LOOP_PRELU};
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
        assert_true(isnan(eval(codes[i], NANF, 1)));
    }
    assert_true(isnan(eval(TN_LOOP_MIN, 1, NANF)));
    assert_true(isnan(eval(TN_LOOP_MAX, 1, NANF)));
}

static void test_values(void **state)
{
    assert_true(eval(TN_LOOP_CONST, 0, 0) == 0.5f);
    assert_true(signbit(eval(TN_LOOP_MIN, 0.0f, -0.0f)));
    assert_false(signbit(eval(TN_LOOP_MAX, -0.0f, 0.0f)));
    assert_true(eval(TN_LOOP_CLIP, 9, 0) == 2 && eval(TN_LOOP_CLIP, -9, 0) == 0.5f);
    assert_true(eval(TN_LOOP_ROUND, 2.5f, 0) == 2 && eval(TN_LOOP_ROUND, -3.5f, 0) == -4);
    assert_true(eval(TN_LOOP_SIGMOID, -200, 0) >= 0 && eval(TN_LOOP_SIGMOID, 200, 0) == 1);
    assert_true(eval(TN_LOOP_SOFTPLUS, 500, 0) == 500 && eval(TN_LOOP_SOFTPLUS, -INFF, 0) == 0);
    assert_true(eval(TN_LOOP_HARD_SWISH, 4, 0) == 4 && eval(TN_LOOP_HARD_SWISH, -4, 0) == 0);
    assert_true(eval(TN_LOOP_ELU, -INFF, 0) == -0.5f);
    assert_true(eval(TN_LOOP_PRELU, -2, 3) == -6 && eval(TN_LOOP_PRELU, 2, 3) == 2);
    assert_true(eval(TN_LOOP_AFFINE, 4, 0) == 4);
    assert_float_equal(eval(TN_LOOP_GELU, 1, 0), 0.8413447f, 1e-7f);
    assert_float_equal(eval(TN_LOOP_GELU_TANH, 1, 0), 0.8411920f, 1e-6f);
    assert_float_equal(eval(TN_LOOP_ERF, 0.5f, 0), 0.5204999f, 1e-7f);
    assert_float_equal(eval(TN_LOOP_RSQRT, 16, 0), 0.25f, 0);
}

static void test_names(void **state)
{
    for (int code = 0; code < TN_LOOP_COUNT; code++) {
        assert_non_null(tn_loop_code_text((tn_loop_code)code));
        assert_in_range(tn_loop_code_operands((tn_loop_code)code), 0, 3);
    }
    assert_string_equal(tn_loop_code_text(TN_LOOP_HARD_SWISH), "hard_swish");
    assert_string_equal(tn_loop_code_text(TN_LOOP_COUNT), "invalid");
    assert_int_equal(tn_loop_code_operands(TN_LOOP_MADD), 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_programs_run_in_order),
        cmocka_unit_test(test_too_long_programs_say_so),
        cmocka_unit_test(test_nan_stays),
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
