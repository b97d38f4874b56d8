// SPDX-License-Identifier: Apache-2.0
// Whether this processor multiplies bytes faster than floats: what decides in which form a model that comes quantised runs on it. Asked of
// the rows themselves, for one product of a middle size, so that a new tier answers for itself. The shapes of the model do not take part:
// most are open when a model is optimised, and bytes are a quarter of the memory besides.
// Ownership: none. Threads: any.
#include "plan/plan.h"

#include "dispatch/registry.h"
#include "ops/nn/op_conv.h"
#include "ops/quant/op_qlinear.h"

#include <math.h>

enum { CHANNELS = 64, SIDE = 28 };

typedef struct best {
    tn_query query;
    tn_tensor *x, *y;
    uint32_t features;
    double cost;
} best;

static bool visit(const tn_kernel *row, void *context)
{
    best *b = context;
    const char *why;
    b->x->layout = row->layouts.in == TN_LAYOUT_SAME ? TN_LAYOUT_PLAIN : row->layouts.in;
    b->y->layout = row->layouts.out == TN_LAYOUT_SAME ? TN_LAYOUT_PLAIN : row->layouts.out;
    if (row->impl != TN_IMPL_REFERENCE && tn_kernel_accepts(row, &b->query, b->features, &why)) {
        b->cost = fmin(b->cost, tn_kernel_cost(row, &b->query, (uint64_t)CHANNELS * CHANNELS * SIDE * SIDE));
    }
    return true;
}

// The cheapest convolution of one tap, in floats or in bytes.
static double price(const tn_cpu *cpu, bool bytes)
{
    static const float weights[CHANNELS * CHANNELS], one = 1;      // zeros: only their place counts
    const tn_dtype dtype = bytes ? TN_U8 : TN_F32;
    const tn_shape picture = {4, {1, CHANNELS, SIDE, SIDE}};
    tn_tensor x = {.dtype = dtype, .shape = picture}, y = x;
    const tn_tensor w = {.dtype = bytes ? TN_I8 : TN_F32, .shape = {4, {CHANNELS, CHANNELS, 1, 1}}, .data = (void *)weights};
    const tn_tensor scale = {.dtype = TN_F32, .data = (void *)&one};
    const tn_tensor *quantised[] = {&x, &scale, NULL, &w, &scale, NULL, &scale, NULL}, *floats[] = {&x, &w}, *result = &y;
    const tn_op *op = bytes ? &tn_op_qlinear_conv : &tn_op_conv;
    best b = {.query = {.op = op, .attr = op->defaults, .name = "price", .n_in = bytes ? 8 : 2, .n_out = 1, .in = bytes ? quantised : floats,
                        .out = &result, .cpu = cpu, .threads = 1},
              .x = &x, .y = &y, .features = cpu->features, .cost = INFINITY};
    tn_registry_visit(op, visit, &b);
    return b.cost;
}

bool tn_plan_integers_pay(const tn_cpu *cpu) { return price(cpu, true) < price(cpu, false); }
