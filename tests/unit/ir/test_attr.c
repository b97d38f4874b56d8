// SPDX-License-Identifier: Apache-2.0
// Attribute structs with every kind of field: equality, deep copies, text.
#include "support/unit.h"
#include "base/text.h"
#include "ir/attr/attr_codec.h"
#include "loop/loop.h"

#include <math.h>
#include <string.h>

typedef struct all_attr {
    int64_t count;
    double scale;
    bool keep;
    tn_dtype to;
    int mode;
    const char *text;
    tn_ints ints;
    tn_reals reals;
    const tn_loop *loop;
    const tn_regions *regions;
} all_attr;

static const char *const modes[] = {"none", "same", NULL};
#define ROW(name, kind) {#name, TN_ATTR_##kind, offsetof(all_attr, name), NULL}
static const tn_attr rows[] = {
    ROW(count, INT), ROW(scale, REAL), ROW(keep, BOOL), ROW(to, DTYPE), {"mode", TN_ATTR_ENUM, offsetof(all_attr, mode), modes},
    ROW(text, TEXT), ROW(ints, INTS), ROW(reals, REALS), ROW(loop, LOOP), ROW(regions, REGIONS),
};
static const tn_op op_all = {.name = "all", .attrs = rows, .n_attrs = sizeof rows / sizeof rows[0], .attr_size = sizeof(all_attr)};

static const int64_t ints[3] = {1, -2, 3};
static const float reals[2] = {0.5f, 2};
static const tn_loop program = {2, 2, {{TN_LOOP_ADD, 0, 1, 0, 0, 0}, {TN_LOOP_LEAKY, 2, 0, 0, 0.5f, 0}}};
static const tn_region boxes[1] = {{.source = 0, .rank = 1, .sizes = {4}, .src_strides = {-1}, .dst_strides = {1}, .src_offset = 3}};
static const tn_regions regions = {.count = 1, .source_count = 1, .regions = boxes};

static all_attr full(void)
{
    return (all_attr){.count = 7, .scale = 0.25, .keep = true, .to = TN_F16, .mode = 1, .text = "t", .ints = {ints, 3, true},
                      .reals = {reals, 2, true}, .loop = &program, .regions = &regions};
}

static void test_text(void **state)
{
    tn_heap heap;
    tn_text text;
    const all_attr attr = full(), none = {0};
    tn_heap_init(&heap, NULL, NULL, NULL);
    tn_text_init(&text, &heap);
    tn_attr_print(&op_all, &attr, &text);
    assert_string_equal(text.data, "{count=7, scale=0.25, keep=true, to=float16, mode=same, text=\"t\", ints=[1,-2,3], "
                                   "reals=[0.5,2], loop=(add r0 r1; leaky r2 x=0.5 y=0), regions=1}");
    tn_text_deinit(&text);
    tn_attr_print(&op_all, &none, &text);
    assert_int_equal(text.length, 0);
    tn_text_deinit(&text);
}

static void test_equal_looks_at_contents(void **state)
{
    const int64_t other_ints[3] = {1, -2, 4};
    const all_attr a = full();
    all_attr b = full();
    tn_loop loop = program;
    tn_region box = boxes[0];
    tn_regions list = regions;
    list.regions = &box;
    b.loop = &loop;
    b.regions = &list;
    assert_true(tn_attr_equal(&op_all, &a, &b));
    box.dst_offset = 1;
    assert_false(tn_attr_equal(&op_all, &a, &b));
    b = full();
    loop.code[1].x = 0.25f;
    b.loop = &loop;
    assert_false(tn_attr_equal(&op_all, &a, &b));
    b = full();
    b.ints.v = other_ints;
    assert_false(tn_attr_equal(&op_all, &a, &b));
    b = full();
    b.reals.set = false;
    assert_false(tn_attr_equal(&op_all, &a, &b));
    b = full();
    b.text = NULL;
    assert_false(tn_attr_equal(&op_all, &a, &b));
    all_attr c = full();
    c.scale = b.scale = (double)NAN;
    b.text = "t";
    assert_true(tn_attr_equal(&op_all, &c, &b));
}

static bool copy(tn_heap *heap, void *context)
{
    tn_arena arena;
    const all_attr attr = full();
    tn_arena_init(&arena, heap);
    const all_attr *made = tn_attr_copy(&op_all, &attr, &arena);
    if (made) {
        assert_true(tn_attr_equal(&op_all, &attr, made));
        assert_true(made->text != attr.text && made->ints.v != attr.ints.v && made->reals.v != attr.reals.v);
        assert_true(made->loop != attr.loop && made->regions != attr.regions && made->regions->regions != boxes);
    }
    tn_arena_deinit(&arena);
    return made != NULL;
}

static void test_copies_are_deep(void **state)
{
    tn_fail_every_request(copy, NULL);
}

// All kinds but regions, which belong to plans; the writer's enum has its values in another order.
static void test_codec(void **state)
{
    static const int32_t enums[] = {1, 0}, codes[TN_LOOP_COUNT] = {[TN_LOOP_ADD] = TN_LOOP_ADD, [TN_LOOP_LEAKY] = TN_LOOP_LEAKY};
    static const tn_op op = {.name = "most", .attrs = rows, .n_attrs = sizeof rows / sizeof rows[0] - 1, .attr_size = sizeof(all_attr)};
    tn_attr_wire wire[sizeof rows / sizeof rows[0] - 1];
    tn_heap heap;
    tn_arena arena;
    tn_text bytes;
    const char *why;
    all_attr attr = full(), wanted;
    tn_heap_init(&heap, NULL, NULL, NULL);
    tn_arena_init(&arena, &heap);
    tn_text_init(&bytes, &heap);
    for (int i = 0; i < op.n_attrs; i++) {
        wire[i] = (tn_attr_wire){.row = &rows[i], .enums = enums, .n_enums = 2};
    }
    const tn_attr_wires wires = {.rows = wire, .n_rows = (size_t)op.n_attrs, .codes = codes, .n_codes = TN_LOOP_COUNT};
    assert_true(tn_attr_encode(&op, &attr, &bytes));
    const all_attr *back = tn_attr_decode(&op, &wires, (const uint8_t *)bytes.data, bytes.length, &arena, &why);
    assert_non_null(back);
    wanted = attr;
    wanted.mode = 0;
    assert_true(tn_attr_equal(&op, back, &wanted));
    assert_false(tn_attr_encode(&op_all, &attr, &bytes));
    // Every cut, and bytes too many.
    tn_text_deinit(&bytes);
    assert_true(tn_attr_encode(&op, &attr, &bytes));
    for (size_t size = 0; size < bytes.length; size++) {
        assert_null(tn_attr_decode(&op, &wires, (const uint8_t *)bytes.data, size, &arena, &why));
        assert_non_null(why);
    }
    tn_text_bytes(&bytes, "x", 1);
    assert_null(tn_attr_decode(&op, &wires, (const uint8_t *)bytes.data, bytes.length, &arena, &why));
    // A program that reads a register before it is written.
    tn_loop loop = program;
    loop.code[0].b = 2;
    attr.loop = &loop;
    tn_text_deinit(&bytes);
    assert_true(tn_attr_encode(&op, &attr, &bytes));
    assert_null(tn_attr_decode(&op, &wires, (const uint8_t *)bytes.data, bytes.length, &arena, &why));
    assert_non_null(strstr(why, "instruction"));
    tn_text_deinit(&bytes);
    tn_arena_deinit(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_codec), cmocka_unit_test(test_text),
        cmocka_unit_test(test_equal_looks_at_contents),
        cmocka_unit_test(test_copies_are_deep),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
