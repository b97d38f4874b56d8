// SPDX-License-Identifier: Apache-2.0
// Losses of classifiers. Both walk the targets: a target's classes are one strided line of operand 0; the cross entropy turns it
// into log-probabilities first.
// Ownership: const data. Threads: any.
#include "ops/train/op_loss.h"

#include "ops/op_facts.h"
#include "ops/op_rows.h"

#include <math.h>

// ---- attributes ----

static const char *const reduction_texts[] = {"none", "sum", "mean", NULL};
static const tn_attr loss_attrs[] = {
    {"reduction", TN_ATTR_ENUM, offsetof(tn_loss_attr, reduction), reduction_texts},
    {"ignore_index", TN_ATTR_INT, offsetof(tn_loss_attr, ignore_index), NULL},
    {"has_ignore", TN_ATTR_BOOL, offsetof(tn_loss_attr, has_ignore), NULL},
};
static const tn_loss_attr loss_defaults = {.reduction = TN_LOSS_MEAN};

// ---- infer ----

static tn_status infer_loss(tn_infer *infer)
{
    const tn_loss_attr *attr = infer->attr;
    tn_dtype dtype;
    TN_TRY(tn_infer_types(infer, 0, 0, TN_SET_FLOAT, &dtype));
    TN_TRY(tn_infer_type(infer, 1, TN_SET_INDEX));
    TN_TRY(tn_infer_optional(infer, 2, TN_SET_FLOAT));
    TN_TRY(tn_infer_like(infer, 2, 0));
    TN_TRY(tn_infer_rank(infer, 0, 2, TN_MAX_RANK));
    if (attr->reduction < TN_LOSS_NONE || attr->reduction > TN_LOSS_MEAN) {
        return tn_infer_fail(infer, "reduction is none of none, sum and mean");
    }
    const tn_shape *x = &infer->in[0]->shape;
    tn_shape target = infer->in[1]->shape;
    if (x->rank >= 0) {
        tn_shape want = {.rank = x->rank - 1, .dims = {x->dims[0]}};
        for (int i = 2; i < x->rank; i++) {
            want.dims[i - 1] = x->dims[i];
        }
        TN_TRY(tn_infer_shape(infer, 1, &want));
        TN_TRY(tn_infer_vector(infer, 2, x->dims[1]));
        tn_shape_join(&want, &target, &target);
    }
    const tn_shape scalar = {.rank = 0};
    tn_infer_out(infer, 0, dtype, attr->reduction == TN_LOSS_NONE ? &target : &scalar);
    tn_infer_out(infer, 1, dtype, x);
    return TN_OK;
}

// ---- reference ----

static tn_status prepare_loss(tn_prepare *prepare)
{
    const tn_tensor *x = prepare->query->in[0];
    return tn_prepare_rows(prepare, tn_tensor_span(x, 1, 2));
}

static void log_softmax(double *row, int64_t count)
{
    double top = -INFINITY, sum = 0;
    for (int64_t i = 0; i < count; i++) {
        top = row[i] > top ? row[i] : top;
    }
    for (int64_t i = 0; i < count; i++) {
        sum += exp(row[i] - top);
    }
    for (int64_t i = 0; i < count; i++) {
        row[i] = row[i] - top - log(sum);
    }
}

static tn_status run_loss(const tn_call *call, bool softmax)
{
    const tn_loss_attr *attr = call->attr;
    const tn_tensor *x = call->in[0], *targets = call->in[1], *weights = tn_call_in(call, 2);
    tn_tensor *loss = tn_call_out(call, 0), *logs = tn_call_out(call, 1);
    const int64_t classes = x->shape.dims[1], inner = tn_tensor_span(x, 2, x->shape.rank);
    const int64_t count = classes ? tn_tensor_count(targets) : 0;
    double *row = tn_slot_scratch(call, 0), sum = 0, total = 0;
    for (int64_t i = 0; i < count && !tn_cancelled(call); i++) {
        const int64_t target = tn_dtype_load_i64(targets->dtype, targets->data, (size_t)i);
        const int64_t start = i / inner * classes * inner + i % inner;
        const bool ignored = attr->has_ignore && target == attr->ignore_index;
        if (!ignored && (target < 0 || target >= classes)) {
            return tn_fail(call->diag, TN_INVALID_ARGUMENT, call->name, "%s: target %lld is not in 0 .. %lld", call->op->name,
                           (long long)target, (long long)classes - 1);
        }
        tn_row_load(x->dtype, x->data, start, inner, classes, row);
        if (softmax) {
            log_softmax(row, classes);
        }
        if (logs) {
            tn_row_store(logs->dtype, logs->data, start, inner, classes, row);
        }
        const double weight = ignored ? 0 : weights ? tn_element(weights, target) : 1, here = ignored ? 0 : -row[target] * weight;
        sum += here;
        total += weight;
        if (loss && attr->reduction == TN_LOSS_NONE) {
            tn_dtype_store(loss->dtype, loss->data, (size_t)i, here);
        }
    }
    if (loss && attr->reduction != TN_LOSS_NONE) {
        tn_dtype_store(loss->dtype, loss->data, 0, attr->reduction == TN_LOSS_MEAN ? sum / total : sum);
    }
    return tn_call_status(call);
}

static tn_status run_likelihood(const tn_call *call) { return run_loss(call, false); }
static tn_status run_cross_entropy(const tn_call *call) { return run_loss(call, true); }

// ---- export ----

#define LOSS(NAME, RESULTS)                                                                                          \
    const tn_op tn_op_##NAME = {                                                                                     \
        .name = #NAME, .version = 1, .min_in = 2, .max_in = 3, .min_out = 1, .max_out = RESULTS, .attrs = loss_attrs, \
        .n_attrs = TN_COUNT(loss_attrs), .attr_size = sizeof(tn_loss_attr), .defaults = &loss_defaults,              \
        .infer = infer_loss,                                                                                         \
    }
LOSS(negative_log_likelihood, 1);
LOSS(softmax_cross_entropy, 2);

static const tn_op *const ops[] = {&tn_op_negative_log_likelihood, &tn_op_softmax_cross_entropy};
TN_EXPORT_OPS(op_loss, ops);

static const tn_kernel rows[] = {
    TN_REFERENCE_SCRATCH(negative_log_likelihood, prepare_loss, run_likelihood),
    TN_REFERENCE_SCRATCH(softmax_cross_entropy, prepare_loss, run_cross_entropy),
};
TN_EXPORT_KERNELS(op_loss, rows);
