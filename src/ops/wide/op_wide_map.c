// SPDX-License-Identifier: Apache-2.0
// Values of 16 bits: sums and products of two with broadcasting, the mean of a picture, and functions by a table, one for all or one for
// each channel. Definitions: base/requant.h.
// Ownership: const data. Threads: any.
#include "base/num.h"
#include "ops/op_facts.h"
#include "ops/op_rows.h"
#include "ops/wide/op_wide.h"

#define SET_ANY_BITS (TN_BIT(I8) | TN_BIT(U8) | TN_BIT(I16))

static const tn_attr q_attrs[] = {
    {"rounding", TN_ATTR_ENUM, offsetof(tn_qlinear_attr, rounding), tn_rounding_texts},
    {"low", TN_ATTR_INT, offsetof(tn_qlinear_attr, low), NULL},
    {"high", TN_ATTR_INT, offsetof(tn_qlinear_attr, high), NULL},
};
static const tn_qlinear_attr q_defaults = TN_QLINEAR_DEFAULTS;

static const tn_attr table_attrs[] = {{"to", TN_ATTR_DTYPE, offsetof(tn_wide_table_attr, to), NULL}};
static const tn_wide_table_attr table_defaults = {.to = TN_I16};

// ---- infer ----

static tn_status check_scale(const tn_infer *infer, int i)
{
    TN_TRY(tn_infer_type(infer, i, TN_BIT(F32)));
    return tn_infer_scalar(infer, i);
}

static tn_status infer_pair(tn_infer *infer)
{
    tn_shape y;
    for (int i = 0; i < 4; i += 2) {
        TN_TRY(tn_infer_type(infer, i, TN_BIT(I16)));
        TN_TRY(check_scale(infer, i + 1));
    }
    TN_TRY(check_scale(infer, 4));
    if (!tn_shape_broadcast(&infer->in[0]->shape, &infer->in[2]->shape, &y)) {
        return tn_infer_fail(infer, "a and b cannot be broadcast");
    }
    tn_infer_out(infer, 0, TN_I16, &y);
    return TN_OK;
}

static tn_status infer_mean(tn_infer *infer)
{
    int64_t count = 1;
    TN_TRY(tn_infer_type(infer, 0, TN_BIT(I16)));
    TN_TRY(check_scale(infer, 1));
    TN_TRY(check_scale(infer, 2));
    TN_TRY(tn_infer_rank(infer, 0, 2, TN_MAX_RANK));
    tn_shape y = infer->in[0]->shape;
    for (int i = 2; i < y.rank; i++) {
        if (tn_dim_known(y.dims[i]) && (!tn_mul_i64(count, y.dims[i], &count) || count > TN_WIDE_MEAN)) {
            return tn_infer_fail(infer, "a mean of more than %d elements", TN_WIDE_MEAN);
        }
        y.dims[i] = 1;
    }
    tn_infer_out(infer, 0, TN_I16, &y);
    return TN_OK;
}

static tn_status infer_table(tn_infer *infer)
{
    const tn_wide_table_attr *attr = infer->attr;
    TN_TRY(tn_infer_type(infer, 0, SET_ANY_BITS));
    TN_TRY(tn_infer_type(infer, 1, TN_BIT(I16)));
    if (attr->to != TN_I16 && attr->to != TN_U8 && attr->to != TN_I8) {
        return tn_infer_fail(infer, "the result must be int16, uint8 or int8");
    }
    const tn_shape *x = &infer->in[0]->shape;
    tn_shape table = infer->in[1]->shape;
    const int64_t entries = infer->in[0]->dtype == TN_I16 ? TN_WIDE_ENTRIES : 256;
    if (table.rank == 2 && x->rank >= 2) {
        table.dims[0] = x->dims[1];
        table.dims[1] = infer->in[0]->dtype == TN_NONE ? TN_DIM_UNKNOWN : entries;
        TN_TRY(tn_infer_shape(infer, 1, &table));
    } else if (infer->in[0]->dtype != TN_NONE) {
        TN_TRY(tn_infer_vector(infer, 1, entries));
    }
    tn_infer_out(infer, 0, (tn_dtype)attr->to, x);
    return TN_OK;
}

// ---- pairs ----

void tn_wide_pair_params(const tn_op *op, const tn_qlinear_attr *attr, const tn_tensor *const *in, tn_requant_pair *pair)
{
    *pair = (tn_requant_pair){.rounding = attr->rounding};
    tn_wide_pair_scales(pair, attr->rounding, (float)tn_element(in[1], 0), (float)tn_element(in[3], 0), (float)tn_element(in[4], 0),
                        op == &tn_op_wide_mul);
    tn_qlinear_range(attr, TN_I16, &pair->low, &pair->high);
}

typedef struct pair_job {
    const tn_call *call;
    tn_requant_pair pair;
    int64_t last;        // elements of a row
} pair_job;

static void pair_task(void *context, size_t first, size_t count, unsigned slot)
{
    const pair_job *job = context;
    const tn_tensor *a = job->call->in[0], *b = job->call->in[2], *y = job->call->out[0];
    const bool product = job->call->op == &tn_op_wide_mul, minus = job->call->op == &tn_op_wide_sub;
    (void)slot;
    for (size_t line = first; line < first + count && !tn_cancelled(job->call); line++) {
        int64_t a_step, b_step;
        const int16_t *u = (const int16_t *)a->data + tn_broadcast_row(&a->shape, &y->shape, (int64_t)line, &a_step);
        const int16_t *v = (const int16_t *)b->data + tn_broadcast_row(&b->shape, &y->shape, (int64_t)line, &b_step);
        int16_t *to = (int16_t *)y->data + (int64_t)line * job->last;
        for (int64_t i = 0; i < job->last; i++) {
            to[i] = (int16_t)(product ? tn_requant_product(&job->pair, u[i * a_step], v[i * b_step])
                                      : tn_wide_sum(&job->pair, u[i * a_step], v[i * b_step], minus));
        }
    }
}

static tn_status run_pair(const tn_call *call)
{
    const tn_tensor *y = call->out[0];
    const int64_t count = tn_tensor_count(y);
    pair_job job = {.call = call, .last = y->shape.rank ? y->shape.dims[y->shape.rank - 1] : 1};
    if (count == 0) {
        return TN_OK;
    }
    tn_wide_pair_params(call->op, call->attr, call->in, &job.pair);
    tn_workers_run(call->workers, pair_task, &job, (size_t)(count / job.last), (size_t)TN_MAX(1, 4096 / job.last));
    return tn_call_status(call);
}

// ---- mean ----

static tn_status run_mean(const tn_call *call)
{
    const tn_qlinear_attr *attr = call->attr;
    const tn_tensor *x = call->in[0], *y = call->out[0];
    const int64_t planes = tn_tensor_count(y), inner = planes ? tn_tensor_count(x) / planes : 0;
    const tn_requant factor = tn_requant_mean(attr->rounding, (float)tn_element(call->in[1], 0), (float)tn_element(call->in[2], 0),
                                              TN_MAX(inner, 1));
    int32_t low, high;
    tn_qlinear_range(attr, TN_I16, &low, &high);
    for (int64_t p = 0; p < planes && !tn_cancelled(call); p++) {
        const int16_t *from = (const int16_t *)x->data + p * inner;
        int32_t sum = 0;
        for (int64_t i = 0; i < inner; i++) {
            sum += from[i];
        }
        ((int16_t *)y->data)[p] = (int16_t)tn_clamp_i32(tn_requant_apply(&factor, sum), low, high);
    }
    return tn_call_status(call);
}

// ---- tables ----

typedef struct table_job {
    const tn_call *call;
    int64_t inner;       // elements that share a table
    int64_t channels;
    int64_t entries;
} table_job;

static void table_run(const table_job *job, const int16_t *table, int64_t start, int64_t count)
{
    const tn_tensor *x = job->call->in[0], *y = job->call->out[0];
    const int32_t low = y->dtype == TN_I8 ? INT8_MIN : 0, high = y->dtype == TN_I8 ? INT8_MAX : UINT8_MAX;
    for (int64_t i = start; i < start + count; i++) {
        const int32_t v = x->dtype == TN_I16 ? tn_wide_look(table, ((const int16_t *)x->data)[i]) : table[((const uint8_t *)x->data)[i]];
        if (y->dtype == TN_I16) {
            ((int16_t *)y->data)[i] = (int16_t)v;
        } else {
            ((uint8_t *)y->data)[i] = (uint8_t)tn_wide_byte(v, low, high);
        }
    }
}

static void table_task(void *context, size_t first, size_t count, unsigned slot)
{
    const table_job *job = context;
    (void)slot;
    for (size_t i = first; i < first + count && !tn_cancelled(job->call); i++) {
        table_run(job, (const int16_t *)job->call->in[1]->data + (int64_t)i % job->channels * job->entries, (int64_t)i * job->inner,
                  job->inner);
    }
}

static tn_status run_table(const tn_call *call)
{
    const tn_tensor *x = call->in[0], *table = call->in[1];
    const int64_t count = tn_tensor_count(x);
    const bool many = table->shape.rank == 2;
    if (count == 0) {
        return TN_OK;
    }
    const table_job job = {.call = call, .channels = many ? table->shape.dims[0] : 1, .entries = x->dtype == TN_I16 ? TN_WIDE_ENTRIES : 256,
                           .inner = many ? tn_shape_span(&x->shape, 2, x->shape.rank) : 1024};
    if (!many) {
        const int64_t whole = count / job.inner;
        tn_workers_run(call->workers, table_task, (void *)&job, (size_t)whole, 4);
        table_run(&job, table->data, whole * job.inner, count - whole * job.inner);
    } else {
        tn_workers_run(call->workers, table_task, (void *)&job, (size_t)(count / job.inner), (size_t)TN_MAX(1, 4096 / job.inner));
    }
    return tn_call_status(call);
}

// ---- export ----

#define WIDE(NAME, IN, INFER, ATTRS, TYPE, DEFAULTS)                                                                  \
    const tn_op tn_op_##NAME = {                                                                                      \
        .name = #NAME, .version = 1, .min_in = IN, .max_in = IN, .min_out = 1, .max_out = 1, .attrs = ATTRS,          \
        .n_attrs = TN_COUNT(ATTRS), .attr_size = sizeof(TYPE), .defaults = &DEFAULTS, .infer = INFER,                 \
    }
WIDE(wide_add, 5, infer_pair, q_attrs, tn_qlinear_attr, q_defaults);
WIDE(wide_sub, 5, infer_pair, q_attrs, tn_qlinear_attr, q_defaults);
WIDE(wide_mul, 5, infer_pair, q_attrs, tn_qlinear_attr, q_defaults);
WIDE(wide_mean, 3, infer_mean, q_attrs, tn_qlinear_attr, q_defaults);
WIDE(wide_table, 2, infer_table, table_attrs, tn_wide_table_attr, table_defaults);

static const tn_op *const ops[] = {&tn_op_wide_add, &tn_op_wide_sub, &tn_op_wide_mul, &tn_op_wide_mean, &tn_op_wide_table};
TN_EXPORT_OPS(op_wide_map, ops);

static const tn_kernel rows[] = {
    TN_REFERENCE(wide_add, NULL, run_pair),     TN_REFERENCE(wide_sub, NULL, run_pair), TN_REFERENCE(wide_mul, NULL, run_pair),
    TN_REFERENCE(wide_mean, NULL, run_mean),    TN_REFERENCE(wide_table, NULL, run_table),
};
TN_EXPORT_KERNELS(op_wide_map, rows);
