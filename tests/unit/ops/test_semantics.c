// SPDX-License-Identifier: Apache-2.0
// What the reference kernels make of the numbers where languages and engines differ: integer division and shifts, remainders, casts out
// of range, NaN, empty reductions, ties, indices out of range. Expected values are written by hand from the ONNX operator documents.
#include "support/unit.h"
#include "base/macros.h"
#include "ops/index/op_find.h"
#include "ops/index/op_gather.h"
#include "ops/math/op_binary.h"
#include "ops/math/op_cast.h"
#include "ops/math/op_reduce.h"
#include "ops/math/op_unary.h"
#include "ops/move/op_slice.h"
#include "ops/op_eval.h"
#include "ops/vision/op_resize.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct setting {
    tn_heap heap;
    tn_arena arena;
    tn_diag diag;
    tn_tensor in[5], out[4];
    int n_in;
} setting;

static int prepare(void **state)
{
    setting *s = calloc(1, sizeof *s);
    tn_heap_init(&s->heap, NULL, NULL, NULL);
    tn_arena_init(&s->arena, &s->heap);
    *state = s;
    return 0;
}

static int finish(void **state)
{
    setting *s = *state;
    tn_arena_deinit(&s->arena);
    free(s);
    return 0;
}

// A list operand; `data` must outlive the call.
static void add_list(setting *s, tn_dtype dtype, int64_t count, const void *data)
{
    s->in[s->n_in++] = (tn_tensor){.dtype = dtype, .shape = tn_shape_of(1, &count), .data = (void *)(uintptr_t)data};
}

static tn_status run(setting *s, const tn_op *op, const void *attr, int n_out)
{
    const tn_tensor *in[5];
    for (int i = 0; i < s->n_in; i++) {
        in[i] = s->in[i].data ? &s->in[i] : NULL;
    }
    tn_diag_clear(&s->diag);
    const tn_status status = tn_op_eval(op, attr, "node", in, s->n_in, s->out, n_out, 1 << 20, &s->arena, &s->heap, &s->diag);
    s->n_in = 0;
    return status;
}

#define LIST(setting, dtype, type, ...) \
    add_list(setting, dtype, (int64_t)TN_COUNT(((const type[]){__VA_ARGS__})), (const type[]){__VA_ARGS__})
#define EXPECT(setting, index, type, ...)                                                                          \
    do {                                                                                                           \
        const type want_[] = {__VA_ARGS__};                                                                        \
        assert_int_equal(tn_tensor_count(&(setting)->out[index]), TN_COUNT(want_));                                \
        assert_memory_equal((setting)->out[index].data, want_, sizeof want_);                                      \
    } while (0)

static void test_integer_division(void **state)
{
    setting *s = *state;
    LIST(s, TN_I32, int32_t, 7, -7, 7, -7, INT32_MIN);
    LIST(s, TN_I32, int32_t, 2, 2, -2, -2, -1);
    assert_int_equal(run(s, &tn_op_div, NULL, 1), TN_OK);
    EXPECT(s, 0, int32_t, 3, -3, -3, 3, INT32_MIN);
    LIST(s, TN_I64, int64_t, INT64_MIN, 5);
    LIST(s, TN_I64, int64_t, -1, 3);
    assert_int_equal(run(s, &tn_op_div, NULL, 1), TN_OK);
    EXPECT(s, 0, int64_t, INT64_MIN, 1);
    LIST(s, TN_U8, uint8_t, 200, 9);
    LIST(s, TN_U8, uint8_t, 3, 0);
    assert_int_equal(run(s, &tn_op_div, NULL, 1), TN_INVALID_ARGUMENT);
    assert_string_equal(s->diag.place, "node");
}

static void test_remainders(void **state)
{
    setting *s = *state;
    const tn_mod_attr floored = {false}, truncated = {true};
    LIST(s, TN_I32, int32_t, -4, 7, 5, 4, -7, 8, INT32_MIN);
    LIST(s, TN_I32, int32_t, 2, -3, 8, -2, 3, 5, -1);
    assert_int_equal(run(s, &tn_op_mod, &floored, 1), TN_OK);
    EXPECT(s, 0, int32_t, 0, -2, 5, 0, 2, 3, 0);
    LIST(s, TN_I32, int32_t, -4, 7, 5, 4, -7, 8);
    LIST(s, TN_I32, int32_t, 2, -3, 8, -2, 3, 5);
    assert_int_equal(run(s, &tn_op_mod, &truncated, 1), TN_OK);
    EXPECT(s, 0, int32_t, 0, 1, 5, 0, -1, 3);
    LIST(s, TN_F32, float, -4.5f, 4.5f, -1, 1, 0);
    LIST(s, TN_F32, float, 2, -2, INFINITY, INFINITY, -3);
    assert_int_equal(run(s, &tn_op_mod, &floored, 1), TN_OK);
    EXPECT(s, 0, float, 1.5f, -1.5f, INFINITY, 1, -0.0f);
    LIST(s, TN_I64, int64_t, 1);
    LIST(s, TN_I64, int64_t, 0);
    assert_int_equal(run(s, &tn_op_mod, &floored, 1), TN_INVALID_ARGUMENT);
}

static void test_shifts_and_powers(void **state)
{
    setting *s = *state;
    const tn_bit_shift_attr left = {true}, right = {false};
    LIST(s, TN_I8, int8_t, -8, 64, 1, -1, 1);
    LIST(s, TN_I8, int8_t, 1, 1, 7, 9, -1);
    assert_int_equal(run(s, &tn_op_bit_shift, &right, 1), TN_OK);
    EXPECT(s, 0, int8_t, -4, 32, 0, -1, 0);
    LIST(s, TN_I8, int8_t, -8, 64, 1, -1);
    LIST(s, TN_I8, int8_t, 1, 1, 7, 8);
    assert_int_equal(run(s, &tn_op_bit_shift, &left, 1), TN_OK);
    EXPECT(s, 0, int8_t, -16, -128, -128, 0);
    LIST(s, TN_I32, int32_t, 2, -3, 0, -1, 5);
    LIST(s, TN_I32, int32_t, 10, 3, 0, -3, -1);
    assert_int_equal(run(s, &tn_op_pow, NULL, 1), TN_OK);
    EXPECT(s, 0, int32_t, 1024, -27, 1, -1, 0);
    LIST(s, TN_I32, int32_t, 2, 9);
    LIST(s, TN_F32, float, 0.5f, 0.5f);
    assert_int_equal(run(s, &tn_op_pow, NULL, 1), TN_OK);
    EXPECT(s, 0, int32_t, 1, 3);
}

static void test_nan_and_signs(void **state)
{
    setting *s = *state;
    LIST(s, TN_F32, float, NAN, 1, -0.0f);
    LIST(s, TN_F32, float, 1, NAN, 0.0f);
    assert_int_equal(run(s, &tn_op_max, NULL, 1), TN_OK);
    const float *largest = s->out[0].data;
    assert_true(isnan(largest[0]) && isnan(largest[1]) && largest[2] == 0 && !signbit(largest[2]));
    LIST(s, TN_F32, float, 0.5f, 1.5f, 2.5f, -0.5f, -1.5f);
    assert_int_equal(run(s, &tn_op_round, NULL, 1), TN_OK);
    EXPECT(s, 0, float, 0, 2, 2, -0.0f, -2);
    LIST(s, TN_I32, int32_t, INT32_MIN, -5, 5);
    assert_int_equal(run(s, &tn_op_abs, NULL, 1), TN_OK);
    EXPECT(s, 0, int32_t, INT32_MIN, 5, 5);
    LIST(s, TN_F32, float, 3);
    LIST(s, TN_F32, float, NAN);
    assert_int_equal(run(s, &tn_op_equal, NULL, 1), TN_OK);
    EXPECT(s, 0, uint8_t, 0);
}

static void test_casts(void **state)
{
    setting *s = *state;
    tn_cast_attr attr = {.to = TN_I8, .saturate = true};
    LIST(s, TN_F32, float, 1.9f, -1.9f, 300, -300, NAN, INFINITY);
    assert_int_equal(run(s, &tn_op_cast, &attr, 1), TN_OK);
    EXPECT(s, 0, int8_t, 1, -1, 127, -128, 0, 127);
    LIST(s, TN_I16, int16_t, 200, -200, 256);
    assert_int_equal(run(s, &tn_op_cast, &attr, 1), TN_OK);
    EXPECT(s, 0, int8_t, -56, 56, 0);
    attr.to = TN_BOOL;
    LIST(s, TN_F32, float, 0, -0.0f, 0.1f, NAN);
    assert_int_equal(run(s, &tn_op_cast, &attr, 1), TN_OK);
    EXPECT(s, 0, uint8_t, 0, 0, 1, 1);
    attr.to = TN_U64;
    LIST(s, TN_F64, double, 1.8446744073709552e19, -1, 4294967296.0);
    assert_int_equal(run(s, &tn_op_cast, &attr, 1), TN_OK);
    EXPECT(s, 0, uint64_t, UINT64_MAX, 0, UINT64_C(4294967296));
    attr.to = TN_F8E4M3FN;
    LIST(s, TN_F32, float, 1000, 448, 1);
    assert_int_equal(run(s, &tn_op_cast, &attr, 1), TN_OK);
    EXPECT(s, 0, uint8_t, 0x7e, 0x7e, 0x38);
    attr.saturate = false;
    LIST(s, TN_F32, float, 1000, 448, 1);
    assert_int_equal(run(s, &tn_op_cast, &attr, 1), TN_OK);
    EXPECT(s, 0, uint8_t, 0x7f, 0x7e, 0x38);
    // half way between two bfloat16 numbers, by a bit that float32 does not have: one rounding only
    attr.to = TN_BF16;
    LIST(s, TN_F64, double, 1 + 0x1p-8 + 0x1p-40);
    assert_int_equal(run(s, &tn_op_cast, &attr, 1), TN_OK);
    EXPECT(s, 0, uint16_t, 0x3f81);
}

static void test_reductions(void **state)
{
    setting *s = *state;
    const tn_reduce_attr attr = {false, false}, noop = {true, true};
    const tn_arg_attr last = {0, false, true}, first = {0, false, false};
    add_list(s, TN_F32, 0, "");
    assert_int_equal(run(s, &tn_op_reduce_max, &attr, 1), TN_OK);
    EXPECT(s, 0, float, -INFINITY);
    add_list(s, TN_I8, 0, "");
    assert_int_equal(run(s, &tn_op_reduce_min, &attr, 1), TN_OK);
    EXPECT(s, 0, int8_t, 127);
    add_list(s, TN_F32, 0, "");
    assert_int_equal(run(s, &tn_op_reduce_log_sum_exp, &attr, 1), TN_OK);
    EXPECT(s, 0, float, -INFINITY);
    LIST(s, TN_U64, uint64_t, 1, UINT64_MAX, 5);
    assert_int_equal(run(s, &tn_op_reduce_max, &attr, 1), TN_OK);
    EXPECT(s, 0, uint64_t, UINT64_MAX);
    LIST(s, TN_F32, float, 2, -3);
    assert_int_equal(run(s, &tn_op_reduce_sum_square, &noop, 1), TN_OK);
    EXPECT(s, 0, float, 4, 9);
    LIST(s, TN_F32, float, 1000, 1000);
    assert_int_equal(run(s, &tn_op_reduce_log_sum_exp, &attr, 1), TN_OK);
    assert_true(fabsf(*(const float *)s->out[0].data - 1000.6931f) < 1e-3f);
    LIST(s, TN_I32, int32_t, 3, 7, 7, 1);
    assert_int_equal(run(s, &tn_op_arg_max, &last, 1), TN_OK);
    EXPECT(s, 0, int64_t, 2);
    LIST(s, TN_I32, int32_t, 3, 7, 7, 1);
    assert_int_equal(run(s, &tn_op_arg_max, &first, 1), TN_OK);
    EXPECT(s, 0, int64_t, 1);
}

static void test_indices(void **state)
{
    setting *s = *state;
    const tn_gather_attr axis0 = {0};
    const tn_scatter_attr add = {0, TN_SCATTER_ADD};
    const tn_top_k_attr top = {0, true, true};
    LIST(s, TN_F32, float, 10, 20, 30);
    LIST(s, TN_I64, int64_t, -1, 0, -3);
    assert_int_equal(run(s, &tn_op_gather, &axis0, 1), TN_OK);
    EXPECT(s, 0, float, 30, 10, 10);
    LIST(s, TN_F32, float, 10, 20, 30);
    LIST(s, TN_I64, int64_t, 0, 3);
    assert_int_equal(run(s, &tn_op_gather, &axis0, 1), TN_INVALID_ARGUMENT);
    assert_string_equal(s->diag.place, "node");
    LIST(s, TN_F32, float, 1, 2, 3);
    LIST(s, TN_I64, int64_t, 0, 0, INT64_MIN);
    LIST(s, TN_F32, float, 1, 1, 1);
    assert_int_equal(run(s, &tn_op_scatter_elements, &add, 1), TN_INVALID_ARGUMENT);
    LIST(s, TN_F32, float, 1, 2, 3);
    LIST(s, TN_I64, int64_t, 0, 0, -1);
    LIST(s, TN_F32, float, 5, 6, 7);
    assert_int_equal(run(s, &tn_op_scatter_elements, &add, 1), TN_OK);
    EXPECT(s, 0, float, 12, 2, 10);
    LIST(s, TN_F32, float, 2, 5, 5, NAN, 1);
    LIST(s, TN_I64, int64_t, 3);
    assert_int_equal(run(s, &tn_op_top_k, &top, 2), TN_OK);
    EXPECT(s, 1, int64_t, 3, 1, 2);
}

static void test_windows(void **state)
{
    setting *s = *state;
    tn_pad_attr attr = {TN_PAD_REFLECT};
    LIST(s, TN_I32, int32_t, 1, 2, 3);
    LIST(s, TN_I64, int64_t, 5, 3);
    assert_int_equal(run(s, &tn_op_pad, &attr, 1), TN_OK);
    EXPECT(s, 0, int32_t, 2, 1, 2, 3, 2, 1, 2, 3, 2, 1, 2);
    attr.mode = TN_PAD_WRAP;
    LIST(s, TN_I32, int32_t, 1, 2, 3);
    LIST(s, TN_I64, int64_t, 4, -1);
    assert_int_equal(run(s, &tn_op_pad, &attr, 1), TN_OK);
    EXPECT(s, 0, int32_t, 3, 1, 2, 3, 1, 2);
    LIST(s, TN_I32, int32_t, 0, 1, 2, 3, 4);
    LIST(s, TN_I64, int64_t, INT64_MAX);
    LIST(s, TN_I64, int64_t, INT64_MIN);
    LIST(s, TN_I64, int64_t, 0);
    LIST(s, TN_I64, int64_t, -2);
    assert_int_equal(run(s, &tn_op_slice, NULL, 1), TN_OK);
    EXPECT(s, 0, int32_t, 4, 2, 0);
}

static void test_resize(void **state)
{
    setting *s = *state;
    tn_resize_attr attr = {.mode = TN_RESIZE_LINEAR, .coord = TN_COORD_HALF_PIXEL, .cubic_a = -0.75};
    LIST(s, TN_F32, float, 1, 2);
    s->n_in++;
    s->in[1].data = NULL;
    LIST(s, TN_F32, float, 2);
    assert_int_equal(run(s, &tn_op_resize, &attr, 1), TN_OK);
    EXPECT(s, 0, float, 1, 1.25f, 1.75f, 2);
    attr.coord = TN_COORD_ALIGN_CORNERS;
    LIST(s, TN_F32, float, 1, 2);
    s->n_in++;
    LIST(s, TN_F32, float, 2);
    assert_int_equal(run(s, &tn_op_resize, &attr, 1), TN_OK);
    assert_true(fabsf(((const float *)s->out[0].data)[1] - 4.0f / 3) < 1e-6f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_integer_division, prepare, finish),
        cmocka_unit_test_setup_teardown(test_remainders, prepare, finish),
        cmocka_unit_test_setup_teardown(test_shifts_and_powers, prepare, finish),
        cmocka_unit_test_setup_teardown(test_nan_and_signs, prepare, finish),
        cmocka_unit_test_setup_teardown(test_casts, prepare, finish),
        cmocka_unit_test_setup_teardown(test_reductions, prepare, finish),
        cmocka_unit_test_setup_teardown(test_indices, prepare, finish),
        cmocka_unit_test_setup_teardown(test_windows, prepare, finish),
        cmocka_unit_test_setup_teardown(test_resize, prepare, finish),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
