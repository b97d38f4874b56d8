// SPDX-License-Identifier: Apache-2.0
// Inference on shapes that are known in part: symbols that pass, dims that follow, elements of small integer tensors that carry shape
// arithmetic from operator to operator.
#include "support/unit.h"
#include "base/macros.h"
#include "ops/index/op_gather.h"
#include "ops/index/op_make.h"
#include "ops/math/op_binary.h"
#include "ops/math/op_cast.h"
#include "ops/math/op_reduce.h"
#include "ops/math/op_select.h"
#include "ops/move/op_block.h"
#include "ops/move/op_join.h"
#include "ops/move/op_reshape.h"
#include "ops/move/op_slice.h"
#include "ops/op_eval.h"
#include "ops/vision/op_resize.h"

#include <stdlib.h>
#include <string.h>

#define S(id) (TN_DIM_SYMBOL + (id))
#define UNKNOWN TN_DIM_UNKNOWN

typedef struct setting {
    tn_heap heap;
    tn_arena arena;
    tn_diag diag;
    tn_fact in[6], out[4];
    int n_in;
    int64_t numbers[6][8];       // contents of list operands
    tn_tensor tensors[6];
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

static tn_fact *add_operand(setting *s, tn_dtype dtype, tn_shape shape)
{
    tn_fact *fact = &s->in[s->n_in++];
    *fact = (tn_fact){.kind = TN_KIND_TENSOR, .dtype = dtype, .shape = shape};
    return fact;
}

static void data(setting *s, int rank, const int64_t *dims) { add_operand(s, TN_F32, tn_shape_of(rank, dims)); }

// A list of int64 whose elements are known in part.
static void elems(setting *s, int count, const int64_t *v)
{
    int64_t *numbers = s->numbers[s->n_in];
    memcpy(numbers, v, (size_t)count * sizeof *v);
    add_operand(s, TN_I64, tn_shape_of(1, (const int64_t[]){count}))->elems = numbers;
}

// A list of int64 that is known.
static void list(setting *s, int count, const int64_t *v)
{
    const int at = s->n_in;
    memcpy(s->numbers[at], v, (size_t)count * sizeof *v);
    const tn_shape shape = tn_shape_of(1, (const int64_t[]){count});
    s->tensors[at] = (tn_tensor){.dtype = TN_I64, .shape = shape, .data = s->numbers[at]};
    add_operand(s, TN_I64, shape)->value = &s->tensors[at];
}

static void scalar(setting *s, int64_t v)
{
    list(s, 1, &v);
    s->in[s->n_in - 1].shape.rank = s->tensors[s->n_in - 1].shape.rank = 0;
}

static tn_status infer(setting *s, const tn_op *op, const void *attr, int n_out)
{
    const tn_fact *in[6];
    for (int i = 0; i < s->n_in; i++) {
        in[i] = &s->in[i];
    }
    tn_diag_clear(&s->diag);
    const tn_status status = tn_op_infer(op, attr, "node", in, s->n_in, s->out, n_out, &s->arena, &s->diag);
    s->n_in = 0;
    return status;
}

static void expect_dims(const setting *s, int result, int rank, const int64_t *dims)
{
    const tn_shape want = tn_shape_of(rank, dims);
    char got[160], text[160];
    if (!tn_shape_equal(&s->out[result].shape, &want)) {
        fail_msg("%s instead of %s", tn_shape_print(&s->out[result].shape, got, sizeof got), tn_shape_print(&want, text, sizeof text));
    }
}

static void expect_elems(const setting *s, int result, int count, const int64_t *want)
{
    assert_non_null(s->out[result].elems);
    for (int i = 0; i < count; i++) {
        assert_true(s->out[result].elems[i] == want[i]);
    }
}

#define DIMS(...) (int)TN_COUNT(((const int64_t[]){__VA_ARGS__})), (const int64_t[]){__VA_ARGS__}

static void test_reshape(void **state)
{
    setting *s = *state;
    const tn_reshape_attr plain = {false}, zero = {true};
    data(s, DIMS(S(0), 12, 64));
    list(s, DIMS(0, -1, 8));
    assert_int_equal(infer(s, &tn_op_reshape, &plain, 1), TN_OK);
    expect_dims(s, 0, DIMS(S(0), 96, 8));
    data(s, DIMS(S(0), 3, 4));
    list(s, DIMS(-1, 12));
    assert_int_equal(infer(s, &tn_op_reshape, &plain, 1), TN_OK);
    expect_dims(s, 0, DIMS(S(0), 12));
    data(s, DIMS(UNKNOWN, S(0), 3, 4));
    list(s, DIMS(-1, 12));
    assert_int_equal(infer(s, &tn_op_reshape, &plain, 1), TN_OK);
    expect_dims(s, 0, DIMS(UNKNOWN, 12));
    data(s, DIMS(S(0), S(1), 768));
    elems(s, DIMS(S(0), S(1), 12, UNKNOWN));
    assert_int_equal(infer(s, &tn_op_reshape, &plain, 1), TN_OK);
    expect_dims(s, 0, DIMS(S(0), S(1), 12, 64));
    data(s, DIMS(2, 3));
    list(s, DIMS(4, -1));
    assert_int_equal(infer(s, &tn_op_reshape, &plain, 1), TN_INVALID_MODEL);
    data(s, DIMS(2, 3));
    list(s, DIMS(-1, -1));
    assert_int_equal(infer(s, &tn_op_reshape, &plain, 1), TN_INVALID_MODEL);
    data(s, DIMS(0, 3));
    list(s, DIMS(0, -1));
    assert_int_equal(infer(s, &tn_op_reshape, &zero, 1), TN_INVALID_MODEL);
}

static void test_renaming(void **state)
{
    setting *s = *state;
    const tn_flatten_attr flatten = {1};
    data(s, DIMS(1, S(0), 1));
    list(s, DIMS(0, -1));
    assert_int_equal(infer(s, &tn_op_squeeze, NULL, 1), TN_OK);
    expect_dims(s, 0, DIMS(S(0)));
    data(s, DIMS(1, S(0)));
    assert_int_equal(infer(s, &tn_op_squeeze, NULL, 1), TN_OK);
    assert_int_equal(s->out[0].shape.rank, -1);
    data(s, DIMS(S(0)));
    list(s, DIMS(-1, 0));
    assert_int_equal(infer(s, &tn_op_unsqueeze, NULL, 1), TN_OK);
    expect_dims(s, 0, DIMS(1, S(0), 1));
    data(s, DIMS(S(0), 3, 5));
    assert_int_equal(infer(s, &tn_op_flatten, &flatten, 1), TN_OK);
    expect_dims(s, 0, DIMS(S(0), 15));
    data(s, DIMS(1, 4));
    elems(s, DIMS(S(2), 1));
    assert_int_equal(infer(s, &tn_op_expand, NULL, 1), TN_OK);
    expect_dims(s, 0, DIMS(S(2), 4));
}

// shape -> gather -> mul -> unsqueeze -> concat -> reshape: what exporters write for x.view(batch, -1, 2 * c).
static void test_shape_arithmetic(void **state)
{
    setting *s = *state;
    const tn_shape_attr all = {0, INT64_MAX};
    const tn_gather_attr first = {0};
    const tn_concat_attr axis0 = {0};
    const tn_cast_attr to32 = {.to = TN_I32};
    data(s, DIMS(S(0), 6, S(1)));
    assert_int_equal(infer(s, &tn_op_shape, &all, 1), TN_OK);
    expect_elems(s, 0, DIMS(S(0), 6, S(1)));
    elems(s, DIMS(S(0), 6, S(1)));
    list(s, DIMS(0, -1, 1));
    assert_int_equal(infer(s, &tn_op_gather, &first, 1), TN_OK);
    expect_elems(s, 0, DIMS(S(0), S(1), 6));
    elems(s, DIMS(S(0), 6, UNKNOWN));
    list(s, DIMS(1, 2, 0));
    assert_int_equal(infer(s, &tn_op_mul, NULL, 1), TN_OK);
    expect_elems(s, 0, DIMS(S(0), 12, 0));
    elems(s, DIMS(S(0), 7));
    elems(s, DIMS(S(0), 2));
    assert_int_equal(infer(s, &tn_op_sub, NULL, 1), TN_OK);
    expect_elems(s, 0, DIMS(0, 5));
    elems(s, DIMS(S(0)));
    elems(s, DIMS(-1, UNKNOWN));
    assert_int_equal(infer(s, &tn_op_concat, &axis0, 1), TN_OK);
    expect_elems(s, 0, DIMS(S(0), -1, UNKNOWN));
    elems(s, DIMS(S(0), 3));
    assert_int_equal(infer(s, &tn_op_cast, &to32, 1), TN_OK);
    expect_elems(s, 0, DIMS(S(0), 3));
    data(s, DIMS(S(0), 1));
    assert_int_equal(infer(s, &tn_op_size, NULL, 1), TN_OK);
    expect_elems(s, 0, DIMS(S(0)));
}

// where(shape == -1, ones, shape): how expand's wanted shape is written.
static void test_selection(void **state)
{
    setting *s = *state;
    elems(s, DIMS(S(0), -1, 4));
    list(s, DIMS(-1, -1, -1));
    assert_int_equal(infer(s, &tn_op_equal, NULL, 1), TN_OK);
    expect_elems(s, 0, DIMS(0, 1, 0));
    const int64_t chosen[3] = {s->out[0].elems[0], s->out[0].elems[1], s->out[0].elems[2]};
    elems(s, 3, chosen);
    s->in[0].dtype = TN_BOOL;
    list(s, DIMS(1, 1, 1));
    elems(s, DIMS(S(0), -1, 4));
    assert_int_equal(infer(s, &tn_op_where, NULL, 1), TN_OK);
    expect_elems(s, 0, DIMS(S(0), 1, 4));
}

static void test_windows(void **state)
{
    setting *s = *state;
    const tn_pad_attr constant = {TN_PAD_CONSTANT};
    data(s, DIMS(S(0), 10, S(1)));
    list(s, DIMS(0, 2));
    list(s, DIMS(INT64_MAX, -1));
    list(s, DIMS(0, 1));
    assert_int_equal(infer(s, &tn_op_slice, NULL, 1), TN_OK);
    expect_dims(s, 0, DIMS(S(0), 7, S(1)));
    elems(s, DIMS(S(0), 6, S(1), 8));
    list(s, DIMS(-1));
    list(s, DIMS(INT64_MIN));
    list(s, DIMS(0));
    list(s, DIMS(-2));
    assert_int_equal(infer(s, &tn_op_slice, NULL, 1), TN_OK);
    expect_elems(s, 0, DIMS(8, 6));
    data(s, DIMS(S(0), 10));
    list(s, DIMS(0, 1, 0, 2));
    assert_int_equal(infer(s, &tn_op_pad, &constant, 1), TN_OK);
    expect_dims(s, 0, DIMS(S(0), 13));
    data(s, DIMS(S(0), 10));
    elems(s, DIMS(0, UNKNOWN, 0, 2));
    assert_int_equal(infer(s, &tn_op_pad, &constant, 1), TN_OK);
    expect_dims(s, 0, DIMS(S(0), UNKNOWN));
    data(s, DIMS(3, 1));
    elems(s, DIMS(2, S(1)));
    assert_int_equal(infer(s, &tn_op_tile, NULL, 1), TN_OK);
    expect_dims(s, 0, DIMS(6, S(1)));
}

static void test_made(void **state)
{
    setting *s = *state;
    const tn_reduce_attr keep = {true, false};
    scalar(s, 0);
    elems(s, DIMS(S(3)));
    scalar(s, 1);
    assert_int_equal(infer(s, &tn_op_range, NULL, 1), TN_OK);
    expect_dims(s, 0, DIMS(S(3)));
    scalar(s, 2);
    scalar(s, 9);
    scalar(s, 3);
    assert_int_equal(infer(s, &tn_op_range, NULL, 1), TN_OK);
    expect_elems(s, 0, DIMS(2, 5, 8));
    elems(s, DIMS(S(0), 4));
    scalar(s, 7);
    assert_int_equal(infer(s, &tn_op_constant_of_shape, NULL, 1), TN_OK);
    expect_dims(s, 0, DIMS(S(0), 4));
    data(s, DIMS(S(0), 1, 5));
    add_operand(s, TN_I64, tn_shape_of(1, (const int64_t[]){1}));
    assert_int_equal(infer(s, &tn_op_reduce_sum, &keep, 1), TN_OK);
    expect_dims(s, 0, DIMS(UNKNOWN, 1, UNKNOWN));
}

static void test_resize(void **state)
{
    setting *s = *state;
    float scales[4] = {1, 1, 2, 2};
    const tn_shape four = tn_shape_of(1, (const int64_t[]){4});
    const tn_tensor value = {.dtype = TN_F32, .shape = four, .data = scales};
    tn_resize_attr attr = {.mode = TN_RESIZE_NEAREST};
    data(s, DIMS(S(0), 3, S(1), 13));
    add_operand(s, TN_F32, tn_shape_of(1, (const int64_t[]){0}));
    add_operand(s, TN_F32, four)->value = &value;
    assert_int_equal(infer(s, &tn_op_resize, &attr, 1), TN_OK);
    expect_dims(s, 0, DIMS(S(0), 3, UNKNOWN, 26));
    data(s, DIMS(S(0), 3, 10, 13));
    add_operand(s, TN_F32, tn_shape_of(1, (const int64_t[]){0}));
    add_operand(s, TN_F32, tn_shape_of(1, (const int64_t[]){0}));
    elems(s, DIMS(S(0), 3, S(2), 20));
    assert_int_equal(infer(s, &tn_op_resize, &attr, 1), TN_OK);
    expect_dims(s, 0, DIMS(S(0), 3, S(2), 20));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_reshape, prepare, finish),
        cmocka_unit_test_setup_teardown(test_renaming, prepare, finish),
        cmocka_unit_test_setup_teardown(test_shape_arithmetic, prepare, finish),
        cmocka_unit_test_setup_teardown(test_selection, prepare, finish),
        cmocka_unit_test_setup_teardown(test_windows, prepare, finish),
        cmocka_unit_test_setup_teardown(test_made, prepare, finish),
        cmocka_unit_test_setup_teardown(test_resize, prepare, finish),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
