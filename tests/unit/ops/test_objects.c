// SPDX-License-Identifier: Apache-2.0
// References of operators on sequences, optionals and strings, called by hand: the kernel check knows tensors of numbers only.
#include "support/unit.h"

#include "base/macros.h"
#include "dispatch/registry.h"
#include "ops/index/op_find.h"
#include "ops/math/op_binary.h"
#include "ops/math/op_cast.h"
#include "ops/sequence/op_optional.h"
#include "ops/sequence/op_sequence.h"
#include "ops/text/op_text.h"

#include <string.h>

static tn_heap heap;
static tn_arena arena;
static tn_diag diag;
static uint64_t limit;

static int set_up(void **state)
{
    tn_heap_init(&heap, NULL, NULL, NULL);
    tn_arena_init(&arena, &heap);
    limit = 0;
    return 0;
}

static int tear_down(void **state)
{
    tn_arena_deinit(&arena);
    return heap.live_blocks == 0 ? 0 : -1;
}

static tn_status resize(const tn_call *call, int index, const tn_shape *shape)
{
    size_t bytes;
    call->out[index]->shape = *shape;
    assert_true(tn_tensor_bytes(call->out[index], &bytes));
    call->out[index]->data = tn_arena_take(&arena, bytes + 1);
    return TN_OK;
}

// One operator; out comes described (kind, dtype, and the shape unless the row asks for it).
static tn_status run(const tn_op *op, const void *attr, const tn_tensor *const *in, int n_in, tn_tensor *out, int n_out)
{
    tn_tensor *outs[4] = {NULL, NULL, NULL, NULL};
    for (int i = 0; i < n_out; i++) {
        outs[i] = &out[i];
    }
    const tn_query query = {.op = op, .attr = attr, .name = "n", .n_in = n_in, .n_out = n_out, .in = in,
                            .out = (const tn_tensor *const *)outs};
    const tn_kernel *row = tn_registry_reference(&query);
    const tn_call call = {.op = op, .attr = attr, .name = "n", .n_in = n_in, .n_out = n_out, .in = in, .out = outs, .heap = &heap,
                          .objects = &arena, .objects_limit = limit, .diag = &diag, .resize = resize};
    assert_non_null(row);
    for (int i = 0; i < n_out && out[i].kind == TN_KIND_TENSOR && !(op->flags & TN_OP_DYNAMIC); i++) {
        assert_int_equal(resize(&call, i, &out[i].shape), TN_OK);
    }
    tn_diag_clear(&diag);
    return row->run(&call);
}

static tn_tensor tensor_of(tn_dtype dtype, int64_t n, const void *data) { return (tn_tensor){.dtype = dtype, .shape = {1, {n}}, .data = (void *)data}; }
static tn_tensor scalar_of(const int64_t *v) { return (tn_tensor){.dtype = TN_I64, .data = (void *)v}; }
static const tn_sequence *list(const tn_tensor *t) { return t->data; }

// ---- sequences ----

static tn_status insert(const tn_tensor *s, const tn_tensor *x, const int64_t *at, tn_tensor *out)
{
    const tn_tensor position = at ? scalar_of(at) : (tn_tensor){.dtype = TN_NONE};
    const tn_tensor *in[] = {s, x, &position};
    *out = (tn_tensor){.kind = TN_KIND_SEQUENCE, .dtype = s->dtype};
    return run(&tn_op_sequence_insert, NULL, in, at ? 3 : 2, out, 1);
}

static void check_item(const tn_tensor *s, int64_t i, float first)
{
    assert_true(i < list(s)->count);
    assert_true(*(const float *)list(s)->items[i].data == first);
}

// Two lists that grow out of one share its array only as long as neither sees the other's items.
static void test_grow(void **state)
{
    static const float one[] = {1, 1}, two[] = {2}, three[] = {3};
    static const int64_t front = 0, far = 4, last = -1;
    const tn_sequence_empty_attr f32 = {TN_F32};
    const tn_tensor a = tensor_of(TN_F32, 2, one), b = tensor_of(TN_F32, 1, two), c = tensor_of(TN_F32, 1, three);
    tn_tensor s = {.kind = TN_KIND_SEQUENCE}, t, left, right, got = {.dtype = TN_F32};
    assert_int_equal(run(&tn_op_sequence_empty, &f32, NULL, 0, &s, 1), TN_OK);
    assert_int_equal(list(&s)->count, 0);
    assert_int_equal(insert(&s, &a, NULL, &t), TN_OK);
    assert_int_equal(insert(&t, &b, NULL, &left), TN_OK);
    assert_int_equal(insert(&t, &c, NULL, &right), TN_OK);
    assert_int_equal(list(&t)->count, 1);
    check_item(&left, 1, 2);
    check_item(&right, 1, 3);
    assert_int_equal(insert(&left, &c, &front, &s), TN_OK);
    check_item(&s, 0, 3);
    check_item(&s, 1, 1);
    check_item(&s, 2, 2);
    assert_int_equal(insert(&left, &c, &far, &t), TN_INVALID_ARGUMENT);

    const tn_tensor at = scalar_of(&last), *in[] = {&s, &at};
    assert_int_equal(run(&tn_op_sequence_at, NULL, in, 2, &got, 1), TN_OK);
    assert_true(*(const float *)got.data == 2);
    t = (tn_tensor){.kind = TN_KIND_SEQUENCE, .dtype = TN_F32};
    assert_int_equal(run(&tn_op_sequence_erase, NULL, in, 1, &t, 1), TN_OK);
    assert_int_equal(list(&t)->count, 2);
    assert_int_equal(insert(&t, &b, NULL, &right), TN_OK);
    check_item(&s, 2, 2);
    tn_tensor length = {.dtype = TN_I64};
    assert_int_equal(run(&tn_op_sequence_length, NULL, in, 1, &length, 1), TN_OK);
    assert_int_equal(*(const int64_t *)length.data, 3);
}

static void test_split_and_join(void **state)
{
    static const int64_t numbers[] = {1, 2, 3, 4, 5}, two = 2, none = 0, sizes[] = {1, 4}, wrong[] = {1, 3};
    const tn_sequence_split_attr split = {0, true};
    const tn_sequence_concat_attr concat = {0, false}, stack = {1, true};
    const tn_tensor x = tensor_of(TN_I64, 5, numbers), by = scalar_of(&two), zero = scalar_of(&none);
    const tn_tensor list_of_sizes = tensor_of(TN_I64, 2, sizes), bad = tensor_of(TN_I64, 2, wrong);
    const tn_tensor *in[] = {&x, &by};
    tn_tensor s = {.kind = TN_KIND_SEQUENCE, .dtype = TN_I64}, y = {.dtype = TN_I64};
    assert_int_equal(run(&tn_op_split_to_sequence, &split, in, 2, &s, 1), TN_OK);
    assert_int_equal(list(&s)->count, 3);
    assert_int_equal(list(&s)->items[2].shape.dims[0], 1);
    const tn_tensor *one[] = {&s};
    assert_int_equal(run(&tn_op_concat_from_sequence, &concat, one, 1, &y, 1), TN_OK);
    assert_int_equal(y.shape.dims[0], 5);
    assert_memory_equal(y.data, numbers, sizeof numbers);
    assert_int_equal(run(&tn_op_concat_from_sequence, &stack, one, 1, &y, 1), TN_INVALID_ARGUMENT);
    in[1] = &zero;
    assert_int_equal(run(&tn_op_split_to_sequence, &split, in, 2, &s, 1), TN_INVALID_ARGUMENT);
    in[1] = &bad;
    assert_int_equal(run(&tn_op_split_to_sequence, &split, in, 2, &s, 1), TN_INVALID_ARGUMENT);
    in[1] = &list_of_sizes;
    assert_int_equal(run(&tn_op_split_to_sequence, &split, in, 2, &s, 1), TN_OK);
    assert_int_equal(list(&s)->items[1].shape.dims[0], 4);
    const tn_tensor *pair[] = {&x, &x};
    assert_int_equal(run(&tn_op_sequence_construct, NULL, pair, 2, &s, 1), TN_OK);
    assert_int_equal(run(&tn_op_concat_from_sequence, &stack, one, 1, &y, 1), TN_OK);
    assert_int_equal(((const int64_t *)y.data)[3], 2);
    limit = arena.used + 100;
    assert_int_equal(run(&tn_op_sequence_construct, NULL, pair, 2, &s, 1), TN_LIMIT);
}

static void test_optional(void **state)
{
    static const float v[] = {1, 2};
    const tn_optional_attr attr = {TN_F32, false};
    const tn_tensor x = tensor_of(TN_F32, 2, v), *in[] = {&x};
    tn_tensor box = {.kind = TN_KIND_OPTIONAL, .dtype = TN_F32}, got = {.dtype = TN_F32}, has = {.dtype = TN_BOOL};
    const tn_tensor *boxed[] = {&box};
    assert_int_equal(run(&tn_op_optional, &attr, in, 1, &box, 1), TN_OK);
    assert_int_equal(run(&tn_op_optional_get_element, NULL, boxed, 1, &got, 1), TN_OK);
    assert_memory_equal(got.data, v, sizeof v);
    assert_int_equal(run(&tn_op_optional, &attr, NULL, 0, &box, 1), TN_OK);
    assert_int_equal(run(&tn_op_optional_has_element, NULL, boxed, 1, &has, 1), TN_OK);
    assert_int_equal(*(const uint8_t *)has.data, 0);
    assert_int_equal(run(&tn_op_optional_get_element, NULL, boxed, 1, &got, 1), TN_INVALID_ARGUMENT);
}

// ---- strings ----

static void check_texts(const tn_tensor *t, int n, const char *const *want)
{
    for (int i = 0; i < n; i++) {
        assert_string_equal(((const char *const *)t->data)[i], want[i]);
    }
}

static void test_strings(void **state)
{
    static const char *const words[] = {"a b  c", " ", "Ähre"}, *const more[] = {"!"};
    const tn_tensor x = tensor_of(TN_STRING, 3, words), mark = tensor_of(TN_STRING, 1, more), *in[] = {&x, &mark};
    tn_tensor y[2] = {{.dtype = TN_STRING, .shape = {1, {3}}}, {.dtype = TN_I64}};
    assert_int_equal(run(&tn_op_string_concat, NULL, in, 2, y, 1), TN_OK);
    check_texts(y, 3, (const char *const[]){"a b  c!", " !", "Ähre!"});
    const tn_string_split_attr all = {NULL, -1}, once = {" ", 1};
    assert_int_equal(run(&tn_op_string_split, &all, in, 1, y, 2), TN_OK);
    assert_int_equal(y[0].shape.dims[1], 3);
    check_texts(y, 9, (const char *const[]){"a", "b", "c", "", "", "", "Ähre", "", ""});
    assert_int_equal(((const int64_t *)y[1].data)[1], 0);
    assert_int_equal(run(&tn_op_string_split, &once, in, 1, y, 2), TN_OK);
    check_texts(y, 4, (const char *const[]){"a", "b  c", "", ""});
    static const char *const stop[] = {"ÄHRE", " "};
    const tn_tensor stops = tensor_of(TN_STRING, 2, stop);
    const tn_string_normalizer_attr upper = {TN_CASE_UPPER, false}, exact = {TN_CASE_NONE, true};
    in[1] = &stops;
    assert_int_equal(run(&tn_op_string_normalizer, &upper, in, 2, y, 1), TN_OK);
    assert_int_equal(y[0].shape.dims[0], 1);
    check_texts(y, 1, (const char *const[]){"A B  C"});
    assert_int_equal(run(&tn_op_string_normalizer, &exact, in, 2, y, 1), TN_OK);
    check_texts(y, 2, (const char *const[]){"a b  c", "Ähre"});
    tn_tensor same = {.dtype = TN_BOOL, .shape = {1, {3}}};
    in[1] = &x;
    assert_int_equal(run(&tn_op_equal, NULL, in, 2, &same, 1), TN_OK);
    assert_memory_equal(same.data, "\1\1\1", 3);
    const tn_regex_attr pattern = {"\\w.*"}, broken = {"(a"};
    assert_int_equal(run(&tn_op_regex_full_match, &pattern, in, 1, &same, 1), TN_OK);
    assert_memory_equal(same.data, "\1\0\0", 3);
    assert_int_equal(run(&tn_op_regex_full_match, &broken, in, 1, &same, 1), TN_UNSUPPORTED);
}

// Operators on any type that order or test strings.
static void test_strings_like_numbers(void **state)
{
    static const char *const words[] = {"b", "", "a", "b", "ä", "a"};
    const tn_tensor x = tensor_of(TN_STRING, 6, words), *in[] = {&x};
    const tn_unique_attr sorted = {.sorted = true}, as_found = {.sorted = false};
    tn_tensor y[4] = {{.dtype = TN_STRING}, {.dtype = TN_I64}, {.dtype = TN_I64}, {.dtype = TN_I64}};
    assert_int_equal(run(&tn_op_unique, &sorted, in, 1, y, 4), TN_OK);
    assert_int_equal(y[0].shape.dims[0], 4);
    check_texts(y, 4, (const char *const[]){"", "a", "b", "ä"});
    assert_memory_equal(y[1].data, ((const int64_t[]){1, 2, 0, 4}), 32);
    assert_memory_equal(y[2].data, ((const int64_t[]){2, 0, 1, 2, 3, 1}), 48);
    assert_memory_equal(y[3].data, ((const int64_t[]){1, 2, 2, 1}), 32);
    assert_int_equal(run(&tn_op_unique, &as_found, in, 1, y, 1), TN_OK);
    check_texts(y, 4, (const char *const[]){"b", "", "a", "ä"});
    assert_int_equal(run(&tn_op_non_zero, NULL, in, 1, &y[1], 1), TN_OK);
    assert_int_equal(y[1].shape.dims[1], 5);
    assert_int_equal(((const int64_t *)y[1].data)[1], 2);
}

static void test_numbers_as_text(void **state)
{
    static const float reals[] = {0.1f, -2.5f, 1e30f, __builtin_inff()};
    static const char *const texts[] = {"12", " -7 ", "2.9", "1e3"}, *const bad[] = {"0x10"};
    const tn_cast_attr to_text = {.to = TN_STRING, .saturate = true}, to_i32 = {.to = TN_I32, .saturate = true};
    const tn_tensor x = tensor_of(TN_F32, 4, reals), t = tensor_of(TN_STRING, 4, texts), b = tensor_of(TN_STRING, 1, bad);
    const tn_tensor *in[] = {&x, &b};
    tn_tensor y = {.dtype = TN_STRING, .shape = {1, {4}}}, n = {.dtype = TN_I32, .shape = {1, {4}}};
    assert_int_equal(run(&tn_op_cast, &to_text, in, 1, &y, 1), TN_OK);
    check_texts(&y, 4, (const char *const[]){"0.1", "-2.5", "1e+30", "INF"});
    assert_int_equal(run(&tn_op_cast_like, &to_text, in, 2, &y, 1), TN_OK);
    in[0] = &t;
    assert_int_equal(run(&tn_op_cast, &to_i32, in, 1, &n, 1), TN_OK);
    assert_memory_equal(n.data, ((const int32_t[]){12, -7, 2, 1000}), 16);
    in[0] = &b;
    n.shape.dims[0] = 1;
    assert_int_equal(run(&tn_op_cast, &to_i32, in, 1, &n, 1), TN_INVALID_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_grow, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_split_and_join, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_optional, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_strings, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_strings_like_numbers, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_numbers_as_text, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
