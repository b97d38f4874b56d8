// SPDX-License-Identifier: Apache-2.0
// Sums, differences and products of two quantised tensors with broadcasting, by base/requant.h:
//   float_rne   y = clamp(round((a_scale * (a - a_zero) op b_scale * (b - b_zero)) / y_scale + y_zero)), each step in float32
//   fixed_q31   TensorFlow Lite's ADD, SUB and MUL
// Ownership: const data. Threads: any.
#include "ops/quant/op_qpair.h"

#include "ops/op_facts.h"
#include "ops/op_rows.h"

static const tn_attr pair_attrs[] = {
    {"rounding", TN_ATTR_ENUM, offsetof(tn_qlinear_attr, rounding), tn_rounding_texts},
    {"low", TN_ATTR_INT, offsetof(tn_qlinear_attr, low), NULL},
    {"high", TN_ATTR_INT, offsetof(tn_qlinear_attr, high), NULL},
};
static const tn_qlinear_attr pair_defaults = TN_QLINEAR_DEFAULTS;

#define SET_BYTE (TN_BIT(I8) | TN_BIT(U8))

// a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero, all of one type.
static tn_status infer_pair(tn_infer *infer)
{
    tn_shape y;
    for (int i = 0; i < 8; i += 3) {
        const int scale = i == 6 ? 6 : i + 1, zero = scale + 1;
        TN_TRY(i == 6 ? TN_OK : tn_infer_type(infer, i, SET_BYTE));
        TN_TRY(i == 3 ? tn_infer_like(infer, 3, 0) : TN_OK);
        TN_TRY(tn_infer_type(infer, scale, TN_BIT(F32)));
        TN_TRY(tn_infer_scalar(infer, scale));
        TN_TRY(tn_infer_optional(infer, zero, SET_BYTE));
        TN_TRY(tn_infer_like(infer, zero, 0));
        TN_TRY(tn_infer_in(infer, zero) ? tn_infer_scalar(infer, zero) : TN_OK);
    }
    if (!tn_shape_broadcast(&infer->in[0]->shape, &infer->in[3]->shape, &y)) {
        return tn_infer_fail(infer, "a and b cannot be broadcast");
    }
    tn_infer_out(infer, 0, infer->in[0]->dtype, &y);
    return TN_OK;
}

static int32_t zero_at(const tn_tensor *const *in, int n_in, int i)
{
    return i < n_in && in[i] ? (int32_t)tn_element(in[i], 0) : 0;
}

void tn_qpair_params(const tn_op *op, const tn_qlinear_attr *attr, const tn_tensor *const *in, int n_in, tn_dtype dtype,
                     tn_requant_pair *pair)
{
    tn_requant_pair_scales(pair, attr->rounding, (float)tn_element(in[1], 0), (float)tn_element(in[4], 0), (float)tn_element(in[6], 0),
                           op == &tn_op_qlinear_mul);
    pair->a_zero = zero_at(in, n_in, 2);
    pair->b_zero = zero_at(in, n_in, 5);
    pair->y_zero = zero_at(in, n_in, 7);
    tn_qlinear_range(attr, dtype, &pair->low, &pair->high);
}

enum { KIND_ADD, KIND_SUB, KIND_MUL };

typedef struct pair_job {
    const tn_call *call;
    tn_requant_pair pair;
    int kind;
    bool is_signed;
    int64_t last;        // elements of a row
} pair_job;

static int32_t byte_at(const pair_job *job, const uint8_t *data, int64_t i) { return job->is_signed ? (int8_t)data[i] : data[i]; }

static void pair_row(const pair_job *job, const uint8_t *a, int64_t a_step, const uint8_t *b, int64_t b_step, uint8_t *y)
{
    const tn_requant_pair pair = job->pair;
    for (int64_t i = 0; i < job->last; i++) {
        const int32_t u = byte_at(job, a, i * a_step), v = byte_at(job, b, i * b_step);
        y[i] = (uint8_t)(job->kind == KIND_MUL ? tn_requant_product(&pair, u, v) : tn_requant_sum(&pair, u, v, job->kind == KIND_SUB));
    }
}

static void pair_task(void *context, size_t first, size_t count, unsigned slot)
{
    const pair_job *job = context;
    const tn_tensor *a = job->call->in[0], *b = job->call->in[3], *y = job->call->out[0];
    (void)slot;
    for (size_t line = first; line < first + count && !tn_cancelled(job->call); line++) {
        int64_t a_step, b_step;
        const int64_t a_at = tn_broadcast_row(&a->shape, &y->shape, (int64_t)line, &a_step);
        const int64_t b_at = tn_broadcast_row(&b->shape, &y->shape, (int64_t)line, &b_step);
        pair_row(job, (const uint8_t *)a->data + a_at, a_step, (const uint8_t *)b->data + b_at, b_step,
                 (uint8_t *)y->data + (int64_t)line * job->last);
    }
}

static tn_status run_pair(const tn_call *call, int kind)
{
    const tn_tensor *y = call->out[0];
    const int64_t count = tn_tensor_count(y);
    pair_job job = {.call = call, .kind = kind, .is_signed = y->dtype == TN_I8, .last = y->shape.rank ? y->shape.dims[y->shape.rank - 1] : 1};
    if (count == 0) {
        return TN_OK;
    }
    tn_qpair_params(call->op, call->attr, call->in, call->n_in, y->dtype, &job.pair);
    tn_workers_run(call->workers, pair_task, &job, (size_t)(count / job.last), (size_t)TN_MAX(1, 4096 / job.last));
    return tn_call_status(call);
}

static tn_status run_qlinear_add(const tn_call *call) { return run_pair(call, KIND_ADD); }
static tn_status run_qlinear_sub(const tn_call *call) { return run_pair(call, KIND_SUB); }
static tn_status run_qlinear_mul(const tn_call *call) { return run_pair(call, KIND_MUL); }

// ---- export ----

#define PAIR(NAME)                                                                                                    \
    const tn_op tn_op_##NAME = {                                                                                      \
        .name = #NAME, .version = 1, .flags = TN_OP_HOLES, .min_in = 7, .max_in = 8, .min_out = 1, .max_out = 1, .attrs = pair_attrs,       \
        .n_attrs = TN_COUNT(pair_attrs), .attr_size = sizeof(tn_qlinear_attr), .defaults = &pair_defaults,            \
        .infer = infer_pair,                                                                                          \
    }
PAIR(qlinear_add);
PAIR(qlinear_sub);
PAIR(qlinear_mul);

static const tn_op *const ops[] = {&tn_op_qlinear_add, &tn_op_qlinear_sub, &tn_op_qlinear_mul};
TN_EXPORT_OPS(op_qpair, ops);

static const tn_kernel rows[] = {
    TN_REFERENCE(qlinear_add, NULL, run_qlinear_add),
    TN_REFERENCE(qlinear_sub, NULL, run_qlinear_sub),
    TN_REFERENCE(qlinear_mul, NULL, run_qlinear_mul),
};
TN_EXPORT_KERNELS(op_qpair, rows);
