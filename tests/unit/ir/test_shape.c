// SPDX-License-Identifier: Apache-2.0
// Shapes, broadcasting over unknown dims, and tensor sizes.
#include "support/unit.h"
#include "ir/tensor.h"

#include <string.h>

#define U TN_DIM_UNKNOWN
#define S(n) (TN_DIM_SYMBOL + (n))
#define SHAPE(...) \
    tn_shape_of((int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (const int64_t[]){__VA_ARGS__})

static void test_count_is_checked(void **state)
{
    int64_t n = -1;
    tn_shape shape = SHAPE(2, 3, 4);
    assert_true(tn_shape_count(&shape, &n));
    assert_int_equal(n, 24);
    shape = tn_shape_of(0, NULL);
    assert_true(tn_shape_count(&shape, &n));
    assert_int_equal(n, 1);
    shape = SHAPE(INT64_MAX, 0, INT64_MAX);
    assert_true(tn_shape_count(&shape, &n));
    assert_int_equal(n, 0);
    shape = SHAPE(INT64_MAX, 2);
    assert_false(tn_shape_count(&shape, &n));
    shape = SHAPE(2, U);
    assert_false(tn_shape_count(&shape, &n));
    shape = SHAPE(2, -1);
    assert_false(tn_shape_count(&shape, &n));
    shape = tn_shape_unknown();
    assert_false(tn_shape_count(&shape, &n));
}

static void check_broadcast(tn_shape a, tn_shape b, tn_shape want)
{
    tn_shape got;
    assert_true(tn_shape_broadcast(&a, &b, &got));
    assert_true(tn_shape_equal(&got, &want));
    assert_true(tn_shape_broadcast(&b, &a, &got));
    assert_true(tn_shape_equal(&got, &want));
}

static void test_broadcast(void **state)
{
    tn_shape got, a = SHAPE(2, 3), b = SHAPE(4, 3);
    check_broadcast(SHAPE(2, 1, 3), SHAPE(4, 1), SHAPE(2, 4, 3));
    check_broadcast(SHAPE(2, 3), tn_shape_of(0, NULL), SHAPE(2, 3));
    check_broadcast(SHAPE(0), SHAPE(1), SHAPE(0));
    check_broadcast(SHAPE(U, 3), SHAPE(5, 1), SHAPE(5, 3));
    check_broadcast(SHAPE(U), SHAPE(1), SHAPE(U));
    check_broadcast(SHAPE(S(1)), SHAPE(S(1)), SHAPE(S(1)));
    check_broadcast(SHAPE(S(1)), SHAPE(S(2)), SHAPE(U));
    check_broadcast(SHAPE(S(1)), SHAPE(1), SHAPE(S(1)));
    check_broadcast(tn_shape_unknown(), SHAPE(3), tn_shape_unknown());
    assert_false(tn_shape_broadcast(&a, &b, &got));
}

static void test_print(void **state)
{
    char text[192];
    tn_shape shape = SHAPE(1, 3, U, S(2));
    assert_string_equal(tn_shape_print(&shape, text, sizeof text), "[1,3,?,s2]");
    // The model's names; what has none is not known by any; a long one is cut between characters.
    static const char *const given[] = {"batch", "p\xc3\xa4", "abcdefghijklmnopqrstuvwxyzabcdefghijklm\xc3\xa4 and so on"};
    const tn_dim_names names = {given, 3};
    shape = SHAPE(S(0), 3, S(1), S(3), U);
    assert_string_equal(tn_shape_print_named(&shape, &names, text, sizeof text), "[batch,3,p\xc3\xa4,?,?]");
    shape = SHAPE(S(2), 1);
    assert_string_equal(tn_shape_print_named(&shape, &names, text, sizeof text), "[abcdefghijklmnopqrstuvwxyzabcdefghijklm,1]");
    shape = tn_shape_unknown();
    assert_string_equal(tn_shape_print(&shape, text, sizeof text), "[*]");
    shape = tn_shape_of(0, NULL);
    assert_string_equal(tn_shape_print(&shape, text, sizeof text), "[]");
    const int64_t big = INT64_MAX;
    shape = SHAPE(big, big, big, big, big, big, big, big);
    char small[20];
    assert_int_equal(strlen(tn_shape_print(&shape, small, sizeof small)), sizeof small - 1);   // cut, not past the end
}

static void test_axis(void **state)
{
    int axis = 9;
    assert_true(tn_axis(-1, 4, &axis));
    assert_int_equal(axis, 3);
    assert_true(tn_axis(0, 4, &axis));
    assert_int_equal(axis, 0);
    assert_false(tn_axis(4, 4, &axis));
    assert_false(tn_axis(-5, 4, &axis));
    assert_false(tn_axis(INT64_MIN, 4, &axis));
    assert_false(tn_axis(0, 0, &axis));
}

static void test_tensor_bytes(void **state)
{
    size_t bytes = 0;
    tn_tensor tensor = {.dtype = TN_F32, .shape = SHAPE(2, 9, 5)};
    assert_true(tn_tensor_bytes(&tensor, &bytes));
    assert_int_equal(bytes, 2 * 9 * 5 * 4);
    assert_int_equal(tn_tensor_count(&tensor), 90);
    tensor.layout = TN_LAYOUT_NCHW8C;
    assert_true(tn_tensor_bytes(&tensor, &bytes));
    assert_int_equal(bytes, 2 * 16 * 5 * 4);
    tensor.layout = TN_LAYOUT_NCHW32B;
    assert_true(tn_tensor_bytes(&tensor, &bytes));
    assert_int_equal(bytes, 2 * 32 * 5 * 2);
    assert_int_equal(tn_tensor_unit(&tensor), 2);
    tensor.dtype = TN_I32;
    assert_false(tn_tensor_bytes(&tensor, &bytes));   // float32 is rounded, nothing else
    tensor.dtype = TN_F32;
    tensor.shape = SHAPE(2, INT64_MAX, 1);
    assert_false(tn_tensor_bytes(&tensor, &bytes));
    tensor.shape = SHAPE(2, 9);
    assert_false(tn_tensor_bytes(&tensor, &bytes));   // no blocked layout at rank 2
    tensor = (tn_tensor){.dtype = TN_F64, .shape = SHAPE(INT64_MAX / 4)};
    assert_false(tn_tensor_bytes(&tensor, &bytes));
    assert_string_equal(tn_layout_text(TN_LAYOUT_NCHW16C), "nchw16c");
    assert_int_equal(tn_layout_block(TN_LAYOUT_NCHW16C), 16);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_count_is_checked),
        cmocka_unit_test(test_broadcast),
        cmocka_unit_test(test_print),
        cmocka_unit_test(test_axis),
        cmocka_unit_test(test_tensor_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
