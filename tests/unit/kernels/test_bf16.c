// SPDX-License-Identifier: Apache-2.0
// Products with weights kept as bf16 have the bits of the float32 row of the same tier whose weights were rounded to bf16 before: in each
// shape that takes another way through the kernels, with one thread and three, and nothing is written past the result. Tensors in NCHW32B
// have every element rounded, at its place, and zeros past the last channel.
#include "support/unit.h"
#include "base/macros.h"
#include "base/num.h"
#include "dispatch/registry.h"
#include "ops/move/op_relayout.h"
#include "ops/nn/op_matmul.h"

#include <tenon/tenon.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST 200000           // floats of an operand
#define CANARY 12345.5f

typedef struct bench {
    tn_heap heap;
    tn_arena arena;
    tn_cpu cpu;
    tn_workers *workers;
    float *a, *b, *rounded, *bias, *got, *want;
    unsigned compared;
} bench;

static float *numbers(uint32_t seed)
{
    float *v = malloc(MOST * sizeof *v);
    assert_non_null(v);
    for (int i = 0; i < MOST; i++) {
        seed = seed * 1664525u + 1013904223u;
        v[i] = (float)(seed >> 8) / 16777216.0f - 0.5f;
    }
    return v;
}

static int set_up(void **state)
{
    bench *x = calloc(1, sizeof *x);
    assert_non_null(x);
    tn_heap_init(&x->heap, NULL, NULL, NULL);
    tn_arena_init(&x->arena, &x->heap);
    tn_cpu_detect(&x->cpu);
    x->cpu.features |= TN_CPU_BF16_WEIGHTS;
    assert_int_equal(tn_workers_create(&x->workers, &x->heap, 3, NULL, NULL), TN_OK);
    x->a = numbers(1);
    x->b = numbers(2);
    x->bias = numbers(3);
    x->rounded = numbers(2);
    x->got = numbers(4);
    x->want = numbers(4);
    for (int i = 0; i < MOST; i++) {
        x->rounded[i] = tn_bf16_to_f32(tn_bf16_from_f32(x->b[i]));
    }
    *state = x;
    return 0;
}

static int tear_down(void **state)
{
    bench *x = *state;
    tn_workers_destroy(x->workers);
    tn_arena_deinit(&x->arena);
    free(x->a), free(x->b), free(x->bias), free(x->rounded), free(x->got), free(x->want);
    free(x);
    return 0;
}

typedef struct shape { int64_t m, k, n; } shape;

// y = row(a, weights), into `result`.
static void run_row(bench *x, const tn_kernel *row, const void *attr, bool trans_b, const shape *s, const float *weights, float *result,
                    tn_workers *workers)
{
    tn_tensor a = {.dtype = TN_F32, .shape = {2, {s->m, s->k}}}, b = {.dtype = TN_F32, .shape = {2, {s->k, s->n}}, .data = (void *)(uintptr_t)weights};
    tn_tensor bias = {.dtype = TN_F32, .shape = {1, {s->n}}}, y = {.dtype = TN_F32, .shape = {2, {s->m, s->n}}};
    if (trans_b) {
        b.shape = (tn_shape){2, {s->n, s->k}};
    }
    const tn_tensor *in[] = {&a, &b, &bias}, *out[] = {&y};
    tn_tensor *results[] = {&y};
    tn_diag diag = {0};
    const tn_query query = {.op = row->op, .attr = attr, .name = "product", .n_in = 3, .n_out = 1, .in = in, .out = out, .cpu = &x->cpu, .threads = 3};
    tn_prepare prepare = {.query = &query, .row = row, .arena = &x->arena, .diag = &diag};
    const char *why = NULL;
    assert_true(row->match(&query, &why));
    assert_int_equal(row->prepare(&prepare), TN_OK);
    assert_int_equal(prepare.n_packs, 1);
    void *packed = aligned_alloc(64, (prepare.packs[0].bytes + 127) / 64 * 64), *scratch = aligned_alloc(64, (prepare.scratch_bytes + 127) / 64 * 64);
    assert_true(packed && scratch);
    prepare.packs[0].pack(packed, &query, prepare.params);
    a.data = x->a;
    bias.data = x->bias;
    y.data = result;
    const int64_t count = s->m * s->n;
    result[count] = CANARY;
    const tn_call call = {.op = row->op, .attr = attr, .name = "product", .n_in = 3, .n_out = 1, .in = in, .out = results, .params = prepare.params,
                          .packed = {packed}, .scratch = scratch, .workers = workers, .heap = &x->heap, .diag = &diag};
    assert_int_equal(row->run(&call), TN_OK);
    assert_true(result[count] == CANARY);
    free(packed), free(scratch);
}

typedef struct search {
    char name[64];
    const tn_kernel *found;
} search;

static bool by_name(const tn_kernel *row, void *context)
{
    search *s = context;
    s->found = strcmp(row->name, s->name) == 0 ? row : s->found;
    return true;
}

static void compare(bench *x, const char *family, const tn_op *op, const void *attr, bool trans_b, const shape *s)
{
    static const char *const tiers[] = {"portable", "avx2", "avx512"};
    for (size_t i = 0; i < TN_COUNT(tiers); i++) {
        search half = {.found = NULL}, whole = {.found = NULL};
        snprintf(half.name, sizeof half.name, "%s_bf16_%s", family, tiers[i]);
        snprintf(whole.name, sizeof whole.name, "%s_f32_%s", family, tiers[i]);
        tn_registry_visit(op, by_name, &half);
        tn_registry_visit(op, by_name, &whole);
        if (!half.found || half.found->cpu & ~x->cpu.features) {
            continue;
        }
        assert_true((half.found->cpu & TN_CPU_BF16_WEIGHTS) && whole.found);
        run_row(x, whole.found, attr, trans_b, s, x->rounded, x->want, NULL);
        for (int threads = 0; threads < 2; threads++) {
            run_row(x, half.found, attr, trans_b, s, x->b, x->got, threads ? x->workers : NULL);
            if (memcmp(x->got, x->want, (size_t)(s->m * s->n) * sizeof(float)) != 0) {
                fail_msg("%s differs at %dx%dx%d", half.found->name, (int)s->m, (int)s->k, (int)s->n);
            }
        }
        x->compared++;
    }
}

static void test_bits(void **state)
{
    static const int64_t rows[] = {1, 2, 3, 4, 7, 150}, steps[] = {1, 8, 37, 700}, columns[] = {1, 16, 33, 192, 250};
    bench *x = *state;
    const tn_matmul_attr plain = {.alpha = 1.0, .act = {TN_LOOP_CONST, 0.0, 0.0}}, clipped = {.trans_b = true, .alpha = 1.0, .act = {TN_LOOP_RELU, 0.0, 0.0}};
    const tn_gemm_attr scaled = {.alpha = 0.5, .beta = 2.0};
    for (size_t m = 0; m < TN_COUNT(rows); m++) {
        for (size_t k = 0; k < TN_COUNT(steps); k++) {
            for (size_t n = 0; n < TN_COUNT(columns); n++) {
                const shape s = {rows[m], steps[k], columns[n]};
                compare(x, "matmul", &tn_op_matmul, &plain, false, &s);
                compare(x, "matmul", &tn_op_matmul, &clipped, true, &s);
                compare(x, "gemm", &tn_op_gemm, &scaled, false, &s);
            }
        }
    }
    assert_true(x->compared > 0);
}

// By the reference row, from plain to lines of 32 and back.
static void test_lines(void **state)
{
    enum { C = 35, S = 3, LINES = 2 };
    const bench *x = *state;
    float back[C * S];
    uint16_t lines[LINES * S * 32];
    memset(lines, 0xff, sizeof lines);
    const tn_shape shape = {.rank = 3, .dims = {1, C, S}};
    tn_tensor plain = {.dtype = TN_F32, .shape = shape, .data = x->a}, line = {.dtype = TN_F32, .layout = TN_LAYOUT_NCHW32B, .shape = shape, .data = lines};
    tn_tensor again = {.dtype = TN_F32, .shape = shape, .data = back};
    tn_tensor *tensors[] = {&plain, &line, &again};
    x->a[0] = 1e-40f;
    for (int i = 0; i < 2; i++) {
        const tn_relayout_attr attr = {.layout = i == 0 ? TN_LAYOUT_NCHW32B : TN_LAYOUT_PLAIN};
        const tn_tensor *in[] = {tensors[i]};
        const tn_query query = {.op = &tn_op_relayout, .attr = &attr, .name = "test", .n_in = 1, .n_out = 1, .in = in,
                                .out = (const tn_tensor *const *)&tensors[i + 1], .cpu = &x->cpu, .threads = 1};
        const tn_kernel *row = tn_registry_reference(&query);
        const tn_call call = {.op = query.op, .attr = &attr, .name = "test", .n_in = 1, .n_out = 1, .in = in, .out = &tensors[i + 1]};
        assert_non_null(row);
        assert_int_equal(row->run(&call), TN_OK);
    }
    for (int c = 0; c < LINES * 32; c++) {
        for (int s = 0; s < S; s++) {
            const uint16_t want = c >= C || (c == 0 && s == 0) ? 0 : tn_bf16_from_f32(x->a[c * S + s]);
            assert_int_equal(lines[(c / 32 * S + s) * 32 + c % 32], want);
            assert_true(c >= C || back[c * S + s] == tn_bf16_to_f32(want));
        }
    }
}

// The precision belongs to the CPU.
static void test_session(void **state)
{
    tenon_model *model = NULL;
    tenon_session *session = NULL;
    tenon_error *error = NULL;
    tenon_session_options options;
    assert_int_equal(tenon_model_open(&model, "data/session/swallow.onnx", NULL, &error), TENON_OK);
    tenon_session_options_init(&options);
    options.precision = "bf16";
    options.device = "opencl";
    assert_int_equal(tenon_session_create(&session, model, &options, &error), TENON_INVALID_ARGUMENT);
    assert_string_equal(tenon_error_place(error), "precision");
    tenon_error_destroy(error);
    options.device = "cpu";
    error = NULL;
    assert_int_equal(tenon_session_create(&session, model, &options, &error), TENON_OK);
    tenon_session_destroy(session);
    tenon_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_bits, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_lines, set_up, tear_down),
        cmocka_unit_test(test_session),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
