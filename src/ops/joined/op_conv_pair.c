// SPDX-License-Identifier: Apache-2.0
// Two convolutions as one node. The reference runs one after the other, with the first result in its workspace.
// Ownership: const data. Threads: any.
#include "ops/joined/op_conv_pair.h"

#include "base/num.h"
#include "ops/nn/nn_reference.h"
#include "ops/op_facts.h"
#include "ops/op_rows.h"

#define HALF(prefix, half)                                                                                            \
    {prefix "kernel", TN_ATTR_INTS, offsetof(tn_conv_pair_attr, half.kernel), NULL},                                  \
    {prefix "strides", TN_ATTR_INTS, offsetof(tn_conv_pair_attr, half.strides), NULL},                                \
    {prefix "pads", TN_ATTR_INTS, offsetof(tn_conv_pair_attr, half.pads), NULL},                                      \
    {prefix "dilations", TN_ATTR_INTS, offsetof(tn_conv_pair_attr, half.dilations), NULL},                            \
    {prefix "group", TN_ATTR_INT, offsetof(tn_conv_pair_attr, half.group), NULL},                                     \
    {prefix "auto_pad", TN_ATTR_ENUM, offsetof(tn_conv_pair_attr, half.auto_pad), tn_auto_pad_texts},                 \
    {prefix "act", TN_ATTR_INT, offsetof(tn_conv_pair_attr, half.act.code), NULL},                                    \
    {prefix "act_x", TN_ATTR_REAL, offsetof(tn_conv_pair_attr, half.act.x), NULL},                                    \
    {prefix "act_y", TN_ATTR_REAL, offsetof(tn_conv_pair_attr, half.act.y), NULL}

static const tn_attr attrs[] = {HALF("first_", first), HALF("second_", second)};
static const tn_conv_pair_attr defaults = {.first = {.group = 1, .act = {.code = TN_LOOP_CONST}},
                                           .second = {.group = 1, .act = {.code = TN_LOOP_CONST}}};

// ---- infer ----

static tn_status infer_pair(tn_infer *infer)
{
    const tn_conv_pair_attr *attr = infer->attr;
    tn_fact between = {.kind = TN_KIND_TENSOR, .dtype = TN_F32};
    tn_shape y;
    for (int i = 0; i < TN_PAIR_IN; i++) {
        TN_TRY(i <= TN_PAIR_W2 ? tn_infer_type(infer, i, TN_BIT(F32)) : tn_infer_optional(infer, i, TN_BIT(F32)));
    }
    if (!tn_act_valid(&attr->first.act) || !tn_act_valid(&attr->second.act)) {
        return tn_infer_fail(infer, "unknown activation");
    }
    TN_TRY(tn_conv_infer(infer, &attr->first, TN_PAIR_X, TN_PAIR_W1, &between.shape));
    const tn_fact *in[] = {&between, infer->in[TN_PAIR_W2]};
    tn_infer second = *infer;
    second.in = in;
    second.n_in = 2;
    TN_TRY(tn_conv_infer(&second, &attr->second, 0, 1, &y));
    TN_TRY(tn_infer_vector(infer, TN_PAIR_BIAS1, between.shape.rank < 0 ? TN_DIM_UNKNOWN : between.shape.dims[1]));
    TN_TRY(tn_infer_vector(infer, TN_PAIR_BIAS2, y.rank < 0 ? TN_DIM_UNKNOWN : y.dims[1]));
    TN_TRY(tn_infer_shape(infer, TN_PAIR_RESIDUAL, &y));
    tn_infer_out(infer, 0, TN_F32, &y);
    return TN_OK;
}

// The shape between the two.
static bool shape_between(const tn_conv_pair_attr *attr, const tn_shape *x, const tn_shape *w, tn_shape *between)
{
    tn_window window;
    if (!tn_conv_window(&attr->first, x, w, &window)) {
        return false;
    }
    *between = (tn_shape){.rank = x->rank, .dims = {x->dims[0], w->dims[0]}};
    for (int i = 0; i < window.rank; i++) {
        between->dims[2 + i] = window.out[i];
    }
    return true;
}

static int64_t macs_pair(const void *attr, const tn_fact *const *in, int n_in, const tn_fact *out, int n_out)
{
    (void)n_in, (void)n_out;
    tn_shape between;
    int64_t macs = tn_conv_macs(&in[TN_PAIR_W2]->shape, &out->shape);
    return shape_between(attr, &in[TN_PAIR_X]->shape, &in[TN_PAIR_W1]->shape, &between) &&
                   tn_add_i64(macs, tn_conv_macs(&in[TN_PAIR_W1]->shape, &between), &macs)
               ? macs
               : INT64_MAX;
}

bool tn_conv_pair_split(const tn_query *query, tn_conv_halves *h)
{
    const tn_conv_pair_attr *attr = query->attr;
    const tn_tensor *in[TN_PAIR_IN] = {NULL};
    for (int i = 0; i < query->n_in && i < TN_PAIR_IN; i++) {
        in[i] = query->in[i];
    }
    *h = (tn_conv_halves){.between = {.kind = TN_KIND_TENSOR, .dtype = TN_F32, .layout = query->out[0]->layout},
                          .in = {{in[TN_PAIR_X], in[TN_PAIR_W1], in[TN_PAIR_BIAS1]},
                                 {&h->between, in[TN_PAIR_W2], in[TN_PAIR_BIAS2], in[TN_PAIR_RESIDUAL]}},
                          .out = {&h->between, query->out[0]}};
    for (int i = 0; i < 2; i++) {
        h->query[i] = *query;
        h->query[i].op = &tn_op_conv;
        h->query[i].attr = i ? &attr->second : &attr->first;
        h->query[i].in = h->in[i];
        h->query[i].n_in = 4;
        h->query[i].out = &h->out[i];
        h->query[i].n_out = 1;
    }
    return shape_between(attr, &in[TN_PAIR_X]->shape, &in[TN_PAIR_W1]->shape, &h->between.shape);
}

// ---- reference ----

typedef struct half {
    const tn_act *act;
    const tn_tensor *bias, *residual;
} half;

static void store_half(const tn_conv_reference *r, int64_t m, int64_t start, int64_t count, double *sums)
{
    const half *h = r->context;
    const double b = h->bias ? tn_element(h->bias, m) : 0;
    for (int64_t i = 0; i < count; i++) {
        const double sum = sums[i] + b + (h->residual ? tn_element(h->residual, start + i) : 0);
        sums[i] = h->act->code == TN_LOOP_CONST ? sum : (double)tn_act_apply(h->act, (float)sum);
    }
    tn_row_store(r->y->dtype, r->y->data, start, 1, count, sums);
}

static tn_status prepare(tn_prepare *prepare)
{
    tn_conv_halves h;
    size_t bytes;
    TN_TRY(tn_conv_reference_prepare(prepare));
    if (!tn_conv_pair_split(prepare->query, &h)) {
        return tn_fail(prepare->diag, TN_INTERNAL, prepare->query->name, "conv_pair: the window was not checked");
    }
    if (!tn_tensor_bytes(&h.between, &bytes) || !tn_align_size(bytes, TN_ALIGNMENT, &bytes) ||
        !tn_add_size(prepare->scratch_bytes, bytes, &prepare->scratch_bytes)) {
        return tn_fail_memory(prepare->diag, prepare->query->name, SIZE_MAX);
    }
    return TN_OK;
}

static tn_status run(const tn_call *call)
{
    const tn_conv_pair_attr *attr = call->attr;
    const half halves[] = {{&attr->first.act, tn_call_in(call, TN_PAIR_BIAS1), NULL},
                           {&attr->second.act, tn_call_in(call, TN_PAIR_BIAS2), tn_call_in(call, TN_PAIR_RESIDUAL)}};
    const tn_tensor *x = call->in[TN_PAIR_X], *w1 = call->in[TN_PAIR_W1], *w2 = call->in[TN_PAIR_W2];
    tn_tensor between = {.kind = TN_KIND_TENSOR, .dtype = TN_F32};
    tn_conv_reference first = {.call = call, .x = x, .w = w1, .y = &between, .group = attr->first.group, .store = store_half, .context = &halves[0]};
    tn_conv_reference second = {.call = call, .x = &between, .w = w2, .y = call->out[0], .group = attr->second.group, .store = store_half,
                                .context = &halves[1]};
    if (!shape_between(attr, &x->shape, &w1->shape, &between.shape) || !tn_conv_window(&attr->first, &x->shape, &w1->shape, &first.window) ||
        !tn_conv_window(&attr->second, &between.shape, &w2->shape, &second.window)) {
        return tn_fail(call->diag, TN_INTERNAL, call->name, "conv_pair: the window was not checked");
    }
    between.data = tn_shared_scratch(call);
    TN_TRY(tn_conv_reference_run(&first));
    return tn_conv_reference_run(&second);
}

// ---- export ----

const tn_op tn_op_conv_pair = {
    .name = "conv_pair", .version = 1, .min_in = 3, .max_in = TN_PAIR_IN, .min_out = 1, .max_out = 1,
    .attrs = attrs, .n_attrs = TN_COUNT(attrs), .attr_size = sizeof(tn_conv_pair_attr), .defaults = &defaults,
    .infer = infer_pair, .macs = macs_pair,
};

static const tn_op *const ops[] = {&tn_op_conv_pair};
TN_EXPORT_OPS(op_conv_pair, ops);

static const tn_kernel rows[] = {TN_REFERENCE_SCRATCH(conv_pair, prepare, run)};
TN_EXPORT_KERNELS(op_conv_pair, rows);
