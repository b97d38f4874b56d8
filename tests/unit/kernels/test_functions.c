// SPDX-License-Identifier: Apache-2.0
// The accuracy of the vector functions over the whole range of floats, denormal numbers, infinities and NaN included: every row of the
// elementwise operators that stand for one function runs on a sweep through the bit patterns.
#include "support/unit.h"
#include "base/num.h"
#include "dispatch/registry.h"
#include "ops/math/op_unary.h"
#include "ops/nn/op_activation.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define COUNT (1 << 20)          // every 4096th float and some
#define LARGEST_ERROR 5e-7       // relative; of denormal results two units in the last place
#define LARGEST_LOST 0x1p-125    // of functions that give 0 in the place of results near the end of the normal range

static double exact_exp(double x) { return exp(x); }
static double exact_log(double x) { return log(x); }
static double exact_tanh(double x) { return tanh(x); }
static double exact_erf(double x) { return erf(x); }
static double exact_sigmoid(double x) { return 1 / (1 + exp(-x)); }
static double exact_softplus(double x) { return x > 0 ? x + log1p(exp(-x)) : log1p(exp(x)); }
static double exact_elu(double x) { return x < 0 ? expm1(x) : x; }

typedef struct function {
    const tn_op *op;
    double (*exact)(double x);
    bool flushes; // its rows may give 0 where the result is below LARGEST_LOST: sigmoid, in whose sums it counts for nothing
} function;

static const function functions[] = {
    {&tn_op_exp, exact_exp, false},         {&tn_op_log, exact_log, false},           {&tn_op_tanh, exact_tanh, false},
    {&tn_op_sigmoid, exact_sigmoid, true},  {&tn_op_softplus, exact_softplus, false}, {&tn_op_erf, exact_erf, false},
    {&tn_op_elu, exact_elu, false},
};

typedef struct sweep {
    const function *of;
    tn_heap heap;
    tn_arena arena;
    tn_cpu cpu;
    float *x, *y;
    int rows;
} sweep;

static bool good(float got, double exact, bool flushes)
{
    const float want = (float)exact;
    if (isnan(want) || isnan(got)) {
        return isnan(want) && isnan(got);
    }
    if (isinf(want) || want == 0) {
        return got == want;
    }
    if (flushes && got == 0 && fabs(exact) < LARGEST_LOST) {
        return true;
    }
    return fabs(got - exact) <= LARGEST_ERROR * fabs(exact) + 2 * 0x1p-149;
}

static void run_row(const tn_kernel *row, sweep *s)
{
    const int64_t count = COUNT;
    tn_tensor x = {.dtype = TN_F32, .shape = tn_shape_of(1, &count)}, y = x;
    const tn_tensor *in[1] = {&x}, *query_out[1] = {&y};
    tn_tensor *out[1] = {&y};
    const tn_query query = {.op = row->op, .attr = row->op->defaults, .name = "sweep", .n_in = 1, .n_out = 1, .in = in,
                            .out = query_out, .cpu = &s->cpu, .threads = 1};
    const char *why;
    if (!tn_kernel_accepts(row, &query, s->cpu.features, &why)) {
        return;
    }
    tn_prepare prepare = {.query = &query, .row = row, .arena = &s->arena};
    assert_true(!row->prepare || row->prepare(&prepare) == TN_OK);
    const uintptr_t scratch = (uintptr_t)tn_arena_take(&s->arena, prepare.scratch_bytes + 64);
    x.data = s->x;
    y.data = s->y;
    const tn_call call = {.op = row->op, .attr = row->op->defaults, .name = "sweep", .n_in = 1, .n_out = 1, .in = in, .out = out,
                          .params = prepare.params, .scratch = (void *)((scratch + 63) / 64 * 64), .heap = &s->heap};
    assert_int_equal(row->run(&call), TN_OK);
    for (int i = 0; i < COUNT; i++) {
        const double exact = s->of->exact(s->x[i]);
        if (!good(s->y[i], exact, s->of->flushes)) {
            fail_msg("%s(%a) is %a, expected %a", row->name, s->x[i], s->y[i], (float)exact);
        }
    }
    s->rows++;
}

static bool visit(const tn_kernel *row, void *context)
{
    if (row->impl != TN_IMPL_REFERENCE) {
        run_row(row, context);
    }
    return true;
}

static void test_functions(void **state)
{
    sweep s = {.x = malloc(COUNT * sizeof(float)), .y = malloc(COUNT * sizeof(float))};
    assert_true(s.x && s.y);
    tn_heap_init(&s.heap, NULL, NULL, NULL);
    tn_arena_init(&s.arena, &s.heap);
    tn_cpu_detect(&s.cpu);
    for (uint32_t i = 0; i < COUNT; i++) {
        s.x[i] = tn_f32_from_bits(i * 4096u + (i * 2654435761u >> 20));
    }
    for (size_t k = 0; k < sizeof functions / sizeof *functions; k++) {
        s.of = &functions[k];
        s.rows = 0;
        tn_registry_visit(s.of->op, visit, &s);
        assert_true(s.rows > 0);
    }
    tn_arena_deinit(&s.arena);
    free(s.x);
    free(s.y);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_functions)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
