// SPDX-License-Identifier: Apache-2.0
// One operator on known operands, and the registry behind it: results, limits, refusals, failing memory; and what must hold for every
// registered descriptor and row.
#include "support/unit.h"
#include "ops/math/op_binary.h"
#include "ops/op_eval.h"

#include <string.h>

static const int64_t dims_a[2] = {2, 3}, dims_b[1] = {3};
static float a[6] = {1, 2, 3, 4, 5, 6}, b[3] = {10, 20, 30};

typedef struct setting {
    tn_heap heap;
    tn_arena arena;
    tn_diag diag;
    tn_tensor left, right, out;
} setting;

static void prepare(setting *s)
{
    memset(s, 0, sizeof *s);
    tn_heap_init(&s->heap, NULL, NULL, NULL);
    tn_arena_init(&s->arena, &s->heap);
    s->left = (tn_tensor){.dtype = TN_F32, .shape = tn_shape_of(2, dims_a), .data = a};
    s->right = (tn_tensor){.dtype = TN_F32, .shape = tn_shape_of(1, dims_b), .data = b};
}

static void finish(setting *s)
{
    tn_arena_deinit(&s->arena);
    assert_int_equal(atomic_load(&s->heap.live_blocks), 0);
}

static tn_status add(setting *s, int n_in, size_t max_bytes)
{
    const tn_tensor *in[3] = {&s->left, &s->right, &s->right};
    return tn_op_eval(&tn_op_add, NULL, "adder", in, n_in, &s->out, 1, max_bytes, &s->arena, &s->heap, &s->diag);
}

static void test_result(void **state)
{
    setting s;
    const float want[6] = {11, 22, 33, 14, 25, 36};
    prepare(&s);
    assert_int_equal(add(&s, 2, 24), TN_OK);
    assert_int_equal(s.out.dtype, TN_F32);
    assert_int_equal(s.out.shape.rank, 2);
    assert_memory_equal(s.out.data, want, sizeof want);
    finish(&s);
}

static void test_unaligned_operands(void **state)
{
    setting s;
    char bytes[1 + sizeof a];
    prepare(&s);
    memcpy(bytes + 1, a, sizeof a);
    s.left.data = bytes + 1;
    assert_int_equal(add(&s, 2, 1000), TN_OK);
    assert_true(((const float *)s.out.data)[5] == 36);
    finish(&s);
}

static void test_refusals(void **state)
{
    setting s;
    prepare(&s);
    assert_int_equal(add(&s, 2, 23), TN_LIMIT);
    assert_string_equal(s.diag.place, "adder");
    tn_diag_clear(&s.diag);
    assert_int_equal(add(&s, 3, 1000), TN_INVALID_MODEL);
    tn_diag_clear(&s.diag);
    s.right.shape.dims[0] = 2;
    assert_int_not_equal(add(&s, 2, 1000), TN_OK);
    finish(&s);
}

static bool add_failing(tn_heap *heap, void *context)
{
    setting s;
    prepare(&s);
    tn_arena arena;
    tn_arena_init(&arena, heap);
    const tn_tensor *in[2] = {&s.left, &s.right};
    const tn_status status = tn_op_eval(&tn_op_add, NULL, "adder", in, 2, &s.out, 1, 1000, &arena, heap, &s.diag);
    if (status != TN_OK) {
        assert_int_equal(status, TN_OUT_OF_MEMORY);
    }
    tn_arena_deinit(&arena);
    finish(&s);
    return status == TN_OK;
}

static void test_survives_every_failing_request(void **state)
{
    assert_true(tn_fail_every_request(add_failing, NULL) >= 1);
}

static void check_op(const tn_op *op)
{
    if (!op->name || !op->infer || tn_registry_op(op->name) != op) {
        fail_msg("%s: no name, no infer, or its name is taken", op->name ? op->name : "?");
    }
    size_t end = 0;
    for (int i = 0; i < op->n_attrs; i++) {
        static const size_t sizes[] = {
#define X(kind, type) sizeof(type),
            TN_ATTR_LIST(X)
#undef X
        };
        const tn_attr *row = &op->attrs[i];
        if (row->offset + sizes[row->kind] > op->attr_size || (row->kind == TN_ATTR_ENUM && !row->texts)) {
            fail_msg("%s: attribute %s lies outside its struct or has no texts", op->name, row->name);
        }
        end += sizes[row->kind];
    }
    if (end > op->attr_size || (op->attr_size && !op->n_attrs)) {
        fail_msg("%s: the attribute list does not fit its struct", op->name);
    }
}

static bool check_row(const tn_kernel *row, void *context)
{
    size_t *rows = context;
    ++*rows;
    if (!row->name || !row->op || !row->run || !row->tag || tn_registry_op(row->op->name) != row->op) {
        fail_msg("%s: an incomplete row, or its operator is not registered", row->name ? row->name : "?");
    }
    return true;
}

static void test_every_registered_thing_is_complete(void **state)
{
    size_t ops = 0, rows = 0;
    for (const tn_op_list *const *list = tn_registry_ops; *list; list++) {
        for (size_t i = 0; i < (*list)->count; i++, ops++) {
            check_op((*list)->ops[i]);
        }
    }
    tn_registry_visit(NULL, check_row, &rows);
    assert_true(ops > 0 && rows > 0);
    assert_null(tn_registry_op("no such operator"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_result),
        cmocka_unit_test(test_unaligned_operands),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_survives_every_failing_request),
        cmocka_unit_test(test_every_registered_thing_is_complete),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
