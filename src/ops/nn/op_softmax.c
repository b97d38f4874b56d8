// SPDX-License-Identifier: Apache-2.0
// softmax, log_softmax and hardmax along one axis (ONNX Softmax, LogSoftmax, Hardmax 13). A tensor is seen as
// [outer][size][inner] around the axis; each of the outer * inner lines is loaded as a row, worked on and stored.
// Ownership: const data. Threads: any.
#include "ops/nn/op_softmax.h"

#include "ops/op_facts.h"
#include "ops/op_rows.h"

#include <math.h>

// ---- attributes ----

static const tn_attr attrs[] = {{"axis", TN_ATTR_INT, offsetof(tn_softmax_attr, axis), NULL}};
static const tn_softmax_attr defaults = {.axis = -1};

// ---- infer ----

// x of any rank but 0 -> the same shape.
static tn_status infer_softmax(tn_infer *infer)
{
    const tn_softmax_attr *attr = infer->attr;
    const tn_shape *x;
    tn_dtype dtype;
    int axis;
    TN_TRY(tn_infer_types(infer, 0, 0, TN_SET_FLOAT, &dtype));
    x = &infer->in[0]->shape;
    if (x->rank >= 0) {
        TN_TRY(tn_infer_axis(infer, "axis", attr->axis, x->rank, &axis));
    }
    tn_infer_out(infer, 0, dtype, x);
    return TN_OK;
}

// ---- reference ----

// Works on one line in place. step: a 16-bit type that every step rounds to, as ONNX's function does; TN_NONE: no rounding here.
typedef void (*line_fn)(double *row, int64_t size, tn_dtype step);

typedef struct softmax_job {
    const tn_call *call;
    int64_t size, inner;
    tn_dtype step;
    line_fn line;
} softmax_job;

static double narrow(tn_dtype step, double v) { return step == TN_NONE ? v : tn_dtype_round(step, v); }

// The first of equal maxima, which is what hardmax marks.
static double maximum(const double *row, int64_t size, int64_t *where)
{
    *where = 0;
    for (int64_t i = 1; i < size; i++) {
        if (row[i] > row[*where]) {
            *where = i;
        }
    }
    return row[*where];
}

// exp(x - max) / sum: the maximum is taken off so that nothing overflows.
static void softmax_line(double *row, int64_t size, tn_dtype step)
{
    int64_t where;
    const double top = maximum(row, size, &where);
    double sum = 0;
    for (int64_t i = 0; i < size; i++) {
        row[i] = narrow(step, exp(narrow(step, row[i] - top)));
        sum = narrow(step == TN_BF16 ? step : TN_NONE, sum + row[i]);   // float16 sums stay wide, as in numpy
    }
    sum = narrow(step, sum);
    for (int64_t i = 0; i < size; i++) {
        row[i] /= sum;
    }
}

// x - max - log(sum of exp(x - max)): no logarithm of a small quotient.
static void log_softmax_line(double *row, int64_t size, tn_dtype step)
{
    (void)step;
    int64_t where;
    const double top = maximum(row, size, &where);
    double sum = 0;
    for (int64_t i = 0; i < size; i++) {
        sum += exp(row[i] - top);
    }
    const double shift = log(sum);
    for (int64_t i = 0; i < size; i++) {
        row[i] = row[i] - top - shift;
    }
}

static void hardmax_line(double *row, int64_t size, tn_dtype step)
{
    (void)step;
    int64_t where;
    maximum(row, size, &where);
    for (int64_t i = 0; i < size; i++) {
        row[i] = i == where;
    }
}

// One item is one line: elements start, start + inner, ... of x.
static void softmax_task(void *context, size_t first, size_t count, unsigned slot)
{
    const softmax_job *job = context;
    const tn_tensor *x = job->call->in[0];
    tn_tensor *y = job->call->out[0];
    double *row = tn_slot_scratch(job->call, slot);
    for (size_t line = first; line < first + count && !tn_cancelled(job->call); line++) {
        const int64_t start = (int64_t)line / job->inner * job->size * job->inner + (int64_t)line % job->inner;
        tn_row_load(x->dtype, x->data, start, job->inner, job->size, row);
        job->line(row, job->size, job->step);
        tn_row_store(y->dtype, y->data, start, job->inner, job->size, row);
    }
}

static tn_status prepare_softmax(tn_prepare *prepare)
{
    const tn_softmax_attr *attr = prepare->query->attr;
    const tn_shape *x = &prepare->query->in[0]->shape;
    int axis;
    return tn_prepare_rows(prepare, tn_axis(attr->axis, x->rank, &axis) ? x->dims[axis] : 0);
}

static tn_status run_lines(const tn_call *call, line_fn line)
{
    const tn_softmax_attr *attr = call->attr;
    const tn_shape *x = &call->in[0]->shape;
    int axis;
    if (tn_tensor_count(call->in[0]) == 0 || !tn_axis(attr->axis, x->rank, &axis)) {
        return TN_OK;
    }
    const tn_dtype dtype = call->in[0]->dtype, step = dtype == TN_F16 || dtype == TN_BF16 ? dtype : TN_NONE;
    softmax_job job = {.call = call, .step = step, .size = x->dims[axis], .inner = tn_shape_span(x, axis + 1, x->rank),
                       .line = line};
    return tn_call_split(call, softmax_task, &job, (size_t)(tn_shape_span(x, 0, axis) * job.inner), 16);
}

static tn_status run_softmax(const tn_call *call) { return run_lines(call, softmax_line); }
static tn_status run_log_softmax(const tn_call *call) { return run_lines(call, log_softmax_line); }
static tn_status run_hardmax(const tn_call *call) { return run_lines(call, hardmax_line); }

// ---- export ----

#define SOFTMAX(NAME)                                                                                              \
    const tn_op tn_op_##NAME = {                                                                                   \
        .name = #NAME, .version = 1, .flags = TN_OP_INPLACE, .min_in = 1, .max_in = 1, .min_out = 1, .max_out = 1, \
        .attrs = attrs, .n_attrs = TN_COUNT(attrs), .attr_size = sizeof(tn_softmax_attr), .defaults = &defaults,   \
        .infer = infer_softmax,                                                                                    \
    }
SOFTMAX(softmax);
SOFTMAX(log_softmax);
SOFTMAX(hardmax);

static const tn_op *const ops[] = {&tn_op_softmax, &tn_op_log_softmax, &tn_op_hardmax};
TN_EXPORT_OPS(op_softmax, ops);

static const tn_kernel rows[] = {
    TN_REFERENCE_SCRATCH(softmax, prepare_softmax, run_softmax),
    TN_REFERENCE_SCRATCH(log_softmax, prepare_softmax, run_log_softmax),
    TN_REFERENCE_SCRATCH(hardmax, prepare_softmax, run_hardmax),
};
TN_EXPORT_KERNELS(op_softmax, rows);
