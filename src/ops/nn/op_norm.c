// SPDX-License-Identifier: Apache-2.0
// Normalisations (ONNX BatchNormalization 15, InstanceNormalization 22, LayerNormalization 17, RMSNormalization 23,
// GroupNormalization 21, LRN 13, LpNormalization 22, MeanVarianceNormalization 13). References take mean and variance in two
// passes of double sums; what ONNX computes in stash_type is therefore computed in more.
// Ownership: const data. Threads: any.
#include "ops/nn/op_norm.h"

#include "base/num.h"
#include "ops/op_facts.h"
#include "ops/op_rows.h"

#include <math.h>

// ---- attributes ----

static const tn_attr batch_norm_attrs[] = {
    {"epsilon", TN_ATTR_REAL, offsetof(tn_batch_norm_attr, epsilon), NULL},
    {"momentum", TN_ATTR_REAL, offsetof(tn_batch_norm_attr, momentum), NULL},
    {"training", TN_ATTR_BOOL, offsetof(tn_batch_norm_attr, training), NULL},
};
static const tn_batch_norm_attr batch_norm_defaults = {.epsilon = 1e-5f, .momentum = 0.9f};

static const tn_attr instance_norm_attrs[] = {{"epsilon", TN_ATTR_REAL, offsetof(tn_instance_norm_attr, epsilon), NULL}};
static const tn_instance_norm_attr instance_norm_defaults = {.epsilon = 1e-5f};

static const tn_attr layer_norm_attrs[] = {
    {"axis", TN_ATTR_INT, offsetof(tn_layer_norm_attr, axis), NULL},
    {"epsilon", TN_ATTR_REAL, offsetof(tn_layer_norm_attr, epsilon), NULL},
    {"stash_type", TN_ATTR_INT, offsetof(tn_layer_norm_attr, stash_type), NULL},
};
static const tn_layer_norm_attr layer_norm_defaults = {.axis = -1, .epsilon = 1e-5f, .stash_type = TN_F32};

static const tn_attr group_norm_attrs[] = {
    {"groups", TN_ATTR_INT, offsetof(tn_group_norm_attr, groups), NULL},
    {"epsilon", TN_ATTR_REAL, offsetof(tn_group_norm_attr, epsilon), NULL},
    {"stash_type", TN_ATTR_INT, offsetof(tn_group_norm_attr, stash_type), NULL},
};
static const tn_group_norm_attr group_norm_defaults = {.groups = 1, .epsilon = 1e-5f, .stash_type = TN_F32};

static const tn_attr lrn_attrs[] = {
    {"alpha", TN_ATTR_REAL, offsetof(tn_lrn_attr, alpha), NULL},
    {"beta", TN_ATTR_REAL, offsetof(tn_lrn_attr, beta), NULL},
    {"bias", TN_ATTR_REAL, offsetof(tn_lrn_attr, bias), NULL},
    {"size", TN_ATTR_INT, offsetof(tn_lrn_attr, size), NULL},
};
static const tn_lrn_attr lrn_defaults = {.alpha = 1e-4f, .beta = 0.75, .bias = 1, .size = 1};

static const tn_attr lp_norm_attrs[] = {
    {"axis", TN_ATTR_INT, offsetof(tn_lp_norm_attr, axis), NULL},
    {"p", TN_ATTR_INT, offsetof(tn_lp_norm_attr, p), NULL},
};
static const tn_lp_norm_attr lp_norm_defaults = {.axis = -1, .p = 2};

static const tn_attr mvn_attrs[] = {{"axes", TN_ATTR_INTS, offsetof(tn_mvn_attr, axes), NULL}};
static const int64_t mvn_axes[] = {0, 2, 3};   // when not set

// ---- infer ----

// ONNX counts a vector as [N] with one channel.
static int64_t channels(const tn_shape *x) { return x->rank < 0 ? TN_DIM_UNKNOWN : x->rank == 1 ? 1 : x->dims[1]; }

// x [N, C, ...], scale, bias, mean and variance [C] -> y like x; training: running mean and variance [C].
static tn_status infer_batch_norm(tn_infer *infer)
{
    const tn_batch_norm_attr *attr = infer->attr;
    TN_TRY(tn_infer_type(infer, 0, TN_SET_FLOAT));
    const tn_fact *x = infer->in[0];
    TN_TRY(tn_infer_rank(infer, 0, 1, TN_MAX_RANK));
    tn_shape stat = {.rank = 1, .dims = {channels(&x->shape)}};
    for (int i = 1; i < 5; i++) {
        TN_TRY(tn_infer_type(infer, i, TN_SET_FLOAT));
        TN_TRY(tn_infer_vector(infer, i, stat.dims[0]));
    }
    if (infer->n_out > 1 && !attr->training) {
        return tn_infer_fail(infer, "running statistics are results of training only");
    }
    tn_infer_out(infer, 0, x->dtype, &x->shape);
    tn_infer_out(infer, 1, infer->in[3]->dtype, &stat);
    tn_infer_out(infer, 2, infer->in[4]->dtype, &stat);
    return TN_OK;
}

// x with scale and bias for each channel.
static tn_status infer_channel_norm(tn_infer *infer, int rank)
{
    tn_dtype dtype;
    TN_TRY(tn_infer_types(infer, 0, 2, TN_SET_FLOAT, &dtype));
    TN_TRY(tn_infer_rank(infer, 0, rank, TN_MAX_RANK));
    TN_TRY(tn_infer_vector(infer, 1, channels(&infer->in[0]->shape)));
    TN_TRY(tn_infer_vector(infer, 2, channels(&infer->in[0]->shape)));
    tn_infer_out(infer, 0, dtype, &infer->in[0]->shape);
    return TN_OK;
}

static tn_status infer_instance_norm(tn_infer *infer) { return infer_channel_norm(infer, 2); }

// As instance_norm: scale and bias are for each channel, not for each group (since opset 21).
static tn_status infer_group_norm(tn_infer *infer)
{
    const tn_group_norm_attr *attr = infer->attr;
    TN_TRY(infer_channel_norm(infer, 2));
    const int64_t c = channels(&infer->in[0]->shape);
    if (attr->groups < 1 || (tn_dim_known(c) && c % attr->groups != 0)) {
        return tn_infer_fail(infer, "groups is %lld, which does not divide the channels", (long long)attr->groups);
    }
    return TN_OK;
}

// The type that ONNX computes statistics in. The reference always computes in more; the type shows in layer_norm's results.
static tn_status check_stash(const tn_infer *infer, int64_t stash_type)
{
    if (stash_type == TN_F32 || stash_type == TN_BF16 || stash_type == TN_F16 || stash_type == TN_F64) {
        return TN_OK;
    }
    return tn_infer_fail(infer, "stash_type %lld is no floating-point type", (long long)stash_type);
}

// x [..., normalised dims from axis on], scale and bias broadcast to x -> y like x, mean and 1 / deviation [..., 1, ...].
static tn_status infer_layer_norm(tn_infer *infer)
{
    const tn_layer_norm_attr *attr = infer->attr;
    TN_TRY(tn_infer_type(infer, 0, TN_SET_FLOAT));
    TN_TRY(tn_infer_type(infer, 1, TN_SET_FLOAT));
    TN_TRY(tn_infer_optional(infer, 2, TN_SET_FLOAT));
    TN_TRY(check_stash(infer, attr->stash_type));
    const tn_fact *x = infer->in[0];
    tn_shape stat = x->shape;
    if (stat.rank >= 0) {
        int axis;
        TN_TRY(tn_infer_axis(infer, "axis", attr->axis, stat.rank, &axis));
        for (int i = axis; i < stat.rank; i++) {
            stat.dims[i] = 1;
        }
    }
    TN_TRY(tn_infer_fits(infer, 1, &x->shape));
    TN_TRY(tn_infer_fits(infer, 2, &x->shape));
    // RMSNormalization alone lets scale have a type of its own, which the result takes.
    const bool rms = infer->op == &tn_op_rms_norm;
    if (!rms) {
        TN_TRY(tn_infer_like(infer, 1, 0));
        TN_TRY(tn_infer_like(infer, 2, 0));
    }
    tn_infer_out(infer, 0, rms ? infer->in[1]->dtype : x->dtype, &x->shape);
    tn_infer_out(infer, 1, (tn_dtype)attr->stash_type, &stat);
    tn_infer_out(infer, 2, (tn_dtype)attr->stash_type, &stat);
    return TN_OK;
}

// x [N, C, ...]; size is the number of channels around each that count.
static tn_status infer_lrn(tn_infer *infer)
{
    const tn_lrn_attr *attr = infer->attr;
    tn_dtype dtype;
    TN_TRY(tn_infer_types(infer, 0, 0, TN_SET_FLOAT, &dtype));
    TN_TRY(tn_infer_rank(infer, 0, 2, TN_MAX_RANK));
    if (attr->size < 1) {
        return tn_infer_fail(infer, "size is %lld, expected at least 1", (long long)attr->size);
    }
    tn_infer_out(infer, 0, dtype, &infer->in[0]->shape);
    return TN_OK;
}

static tn_status infer_lp_norm(tn_infer *infer)
{
    const tn_lp_norm_attr *attr = infer->attr;
    tn_dtype dtype;
    int axis;
    TN_TRY(tn_infer_types(infer, 0, 0, TN_SET_FLOAT, &dtype));
    if (infer->in[0]->shape.rank >= 0) {
        TN_TRY(tn_infer_axis(infer, "axis", attr->axis, infer->in[0]->shape.rank, &axis));
    }
    if (attr->p != 1 && attr->p != 2) {
        return tn_infer_fail(infer, "p is %lld, expected 1 or 2", (long long)attr->p);
    }
    tn_infer_out(infer, 0, dtype, &infer->in[0]->shape);
    return TN_OK;
}

// ONNX's default: all but the channels of a picture.
static tn_ints axes_of(const tn_mvn_attr *attr)
{
    const tn_ints otherwise = {mvn_axes, TN_COUNT(mvn_axes), true};
    return attr->axes.set ? attr->axes : otherwise;
}

static tn_status infer_mvn(tn_infer *infer)
{
    const tn_ints axes = axes_of(infer->attr);
    tn_dtype dtype;
    uint32_t mask;
    TN_TRY(tn_infer_types(infer, 0, 0, TN_SET_FLOAT, &dtype));
    if (infer->in[0]->shape.rank >= 0) {
        TN_TRY(tn_infer_axes(infer, axes.v, axes.count, infer->in[0]->shape.rank, &mask, NULL));
    }
    tn_infer_out(infer, 0, dtype, &infer->in[0]->shape);
    return TN_OK;
}

// ---- reference ----

enum { RUN = 512 };   // elements that are converted at a time

// Mean and population variance (divided by size, not by size - 1) of a row.
static void moments(const double *row, int64_t size, double *mean, double *variance)
{
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < size; i++) {
        sum += row[i];
    }
    *mean = sum / (double)size;
    for (int64_t i = 0; i < size; i++) {
        squares += (row[i] - *mean) * (row[i] - *mean);
    }
    *variance = squares / (double)size;
}

// ---- batch_norm: y = x * factor[c] + shift[c] ----

typedef struct batch_job {
    const tn_call *call;
    int64_t batch, channels, plane;     // x is [batch][channels][plane]
} batch_job;

// Mean and variance of channel c over batch and plane.
static void batch_moments(const batch_job *job, int64_t c, double *mean, double *variance)
{
    const tn_tensor *x = job->call->in[0];
    const double count = (double)job->batch * (double)job->plane;
    double run[RUN], sums[2] = {0, 0};
    for (int pass = 0; pass < 2; pass++) {
        const double about = pass ? sums[0] / count : 0;
        for (int64_t n = 0; n < job->batch; n++) {
            for (int64_t at = 0; at < job->plane; at += RUN) {
                const int64_t length = TN_MIN(job->plane - at, RUN);
                tn_row_load(x->dtype, x->data, (n * job->channels + c) * job->plane + at, 1, length, run);
                for (int64_t i = 0; i < length; i++) {
                    sums[pass] += pass ? (run[i] - about) * (run[i] - about) : run[i];
                }
            }
        }
    }
    *mean = sums[0] / count;
    *variance = sums[1] / count;
}

// One item is one channel.
static void batch_task(void *context, size_t first, size_t count, unsigned slot)
{
    const batch_job *job = context;
    const tn_call *call = job->call;
    const tn_batch_norm_attr *attr = call->attr;
    const tn_tensor *x = call->in[0];
    tn_tensor *y = call->out[0];
    double run[RUN];
    (void)slot;
    for (int64_t c = (int64_t)first; c < (int64_t)(first + count) && !tn_cancelled(call); c++) {
        double mean = tn_element(call->in[3], c), variance = tn_element(call->in[4], c);
        if (attr->training) {
            const double old[2] = {mean, variance}, keep = attr->momentum;
            batch_moments(job, c, &mean, &variance);
            for (int i = 0; i < 2; i++) {
                tn_tensor *out = tn_call_out(call, 1 + i);
                if (out) {
                    tn_dtype_store(out->dtype, out->data, (size_t)c, old[i] * keep + (i ? variance : mean) * (1 - keep));
                }
            }
        }
        const double factor = tn_element(call->in[1], c) / sqrt(variance + attr->epsilon), bias = tn_element(call->in[2], c);
        for (int64_t n = 0; n < job->batch; n++) {
            for (int64_t at = 0; at < job->plane; at += RUN) {
                const int64_t length = TN_MIN(job->plane - at, RUN), start = (n * job->channels + c) * job->plane + at;
                tn_row_load(x->dtype, x->data, start, 1, length, run);
                for (int64_t i = 0; i < length; i++) {
                    run[i] = (run[i] - mean) * factor + bias;
                }
                tn_row_store(y->dtype, y->data, start, 1, length, run);
            }
        }
    }
}

// Items are channels: in training each needs its own statistics over batch and plane first.
static tn_status run_batch_norm(const tn_call *call)
{
    const tn_tensor *x = call->in[0];
    batch_job job = {.call = call, .batch = x->shape.dims[0], .channels = channels(&x->shape)};
    job.plane = tn_tensor_span(x, TN_MIN(2, x->shape.rank), x->shape.rank);
    job.batch = job.plane ? job.batch : 0;   // next to a dim of 0 the batch can be any number
    return tn_call_split(call, batch_task, &job, (size_t)job.channels, 1);
}

// ---- instance_norm, group_norm: a row is a group of channels of one image ----

typedef struct group_job {
    const tn_call *call;
    int64_t groups, members, plane;     // x is [N][groups][members][plane]
    double epsilon;
} group_job;

// One item is one group of one image, as a row [members][plane]: normalised, then scaled channel by channel.
static void group_task(void *context, size_t first, size_t count, unsigned slot)
{
    const group_job *job = context;
    const tn_call *call = job->call;
    const tn_tensor *x = call->in[0];
    tn_tensor *y = call->out[0];
    const int64_t size = job->members * job->plane;
    double *row = tn_slot_scratch(call, slot), mean, variance;
    for (int64_t item = (int64_t)first; item < (int64_t)(first + count) && !tn_cancelled(call); item++) {
        tn_row_load(x->dtype, x->data, item * size, 1, size, row);
        moments(row, size, &mean, &variance);
        const double inverse = 1 / sqrt(variance + job->epsilon);
        for (int64_t m = 0; m < job->members; m++) {
            const int64_t c = item % job->groups * job->members + m;
            const double factor = inverse * tn_element(call->in[1], c), bias = tn_element(call->in[2], c);
            for (int64_t i = m * job->plane; i < (m + 1) * job->plane; i++) {
                row[i] = (row[i] - mean) * factor + bias;
            }
        }
        tn_row_store(y->dtype, y->data, item * size, 1, size, row);
    }
}

static tn_status prepare_instance_norm(tn_prepare *prepare)
{
    const tn_tensor *x = prepare->query->in[0];
    return tn_prepare_rows(prepare, tn_tensor_span(x, 2, x->shape.rank));
}

static tn_status prepare_group_norm(tn_prepare *prepare)
{
    const tn_group_norm_attr *attr = prepare->query->attr;
    const tn_tensor *x = prepare->query->in[0];
    return tn_prepare_rows(prepare, tn_tensor_span(x, 1, x->shape.rank) / attr->groups);
}

// instance_norm is the case of one channel a group.
static tn_status run_groups(const tn_call *call, int64_t groups, double epsilon)
{
    const tn_shape *x = &call->in[0]->shape;
    if (tn_tensor_count(call->in[0]) == 0) {
        return TN_OK;
    }
    group_job job = {.call = call, .groups = groups, .members = x->dims[1] / groups, .plane = tn_shape_span(x, 2, x->rank),
                     .epsilon = epsilon};
    return tn_call_split(call, group_task, &job, (size_t)(x->dims[0] * groups), 1);
}

static tn_status run_instance_norm(const tn_call *call)
{
    const tn_instance_norm_attr *attr = call->attr;
    return run_groups(call, call->in[0]->shape.dims[1], attr->epsilon);
}

static tn_status run_group_norm(const tn_call *call)
{
    const tn_group_norm_attr *attr = call->attr;
    return run_groups(call, attr->groups, attr->epsilon);
}

// ---- layer_norm, rms_norm: a row is everything from the axis on ----

typedef struct layer_job {
    const tn_call *call;
    int64_t size, last;      // elements of a row; the last dim of x
    bool rms;
} layer_job;

// row[i] = row[i] * scale[i] + bias[i], both broadcast to x. `line` is the first of the row's lines along the last dim.
static void scale_row(const layer_job *job, double *row, int64_t line)
{
    const tn_call *call = job->call;
    const tn_tensor *scale = call->in[1], *bias = tn_call_in(call, 2);
    for (int64_t at = 0; at < job->size; at += job->last, line++) {
        int64_t step, bias_step = 0;
        const int64_t start = tn_broadcast_row(&scale->shape, &call->in[0]->shape, line, &step);
        const int64_t bias_start = bias ? tn_broadcast_row(&bias->shape, &call->in[0]->shape, line, &bias_step) : 0;
        for (int64_t i = 0; i < job->last; i++) {
            const double shift = bias ? tn_element(bias, bias_start + i * bias_step) : 0;
            row[at + i] = row[at + i] * tn_element(scale, start + i * step) + shift;
        }
    }
}

// One item is one row: all elements that share their statistics.
static void layer_task(void *context, size_t first, size_t count, unsigned slot)
{
    const layer_job *job = context;
    const tn_call *call = job->call;
    const tn_layer_norm_attr *attr = call->attr;
    const tn_tensor *x = call->in[0];
    tn_tensor *y = call->out[0], *means = tn_call_out(call, 1), *inverses = tn_call_out(call, 2);
    double *row = tn_slot_scratch(call, slot), mean, variance;
    for (int64_t item = (int64_t)first; item < (int64_t)(first + count) && !tn_cancelled(call); item++) {
        tn_row_load(x->dtype, x->data, item * job->size, 1, job->size, row);
        moments(row, job->size, &mean, &variance);
        if (job->rms) {
            variance += mean * mean;   // the mean of squares
            mean = 0;
        }
        const double inverse = 1 / sqrt(variance + attr->epsilon);
        for (int64_t i = 0; i < job->size; i++) {
            row[i] = (row[i] - mean) * inverse;
        }
        scale_row(job, row, item * (job->size / job->last));
        tn_row_store(y->dtype, y->data, item * job->size, 1, job->size, row);
        if (means) {
            tn_dtype_store(means->dtype, means->data, (size_t)item, mean);
        }
        if (inverses) {
            tn_dtype_store(inverses->dtype, inverses->data, (size_t)item, inverse);
        }
    }
}

static tn_status prepare_layer_norm(tn_prepare *prepare)
{
    const tn_layer_norm_attr *attr = prepare->query->attr;
    const tn_tensor *x = prepare->query->in[0];
    int axis = 0;
    tn_axis(attr->axis, x->shape.rank, &axis);
    return tn_prepare_rows(prepare, tn_tensor_span(x, axis, x->shape.rank));
}

// Mean and deviation of nothing are no numbers; there may be some of them all the same.
static void fill_with_nan(const tn_tensor *tensor)
{
    for (int64_t i = 0; tensor && i < tn_tensor_count(tensor); i++) {
        tn_dtype_store(tensor->dtype, tensor->data, (size_t)i, NAN);
    }
}

static tn_status run_layers(const tn_call *call, bool rms)
{
    const tn_layer_norm_attr *attr = call->attr;
    const tn_shape *x = &call->in[0]->shape;
    int axis;
    if (tn_tensor_count(call->in[0]) == 0 || !tn_axis(attr->axis, x->rank, &axis)) {
        fill_with_nan(tn_call_out(call, 1));
        fill_with_nan(tn_call_out(call, 2));
        return TN_OK;
    }
    layer_job job = {.call = call, .size = tn_shape_span(x, axis, x->rank), .last = x->dims[x->rank - 1], .rms = rms};
    return tn_call_split(call, layer_task, &job, (size_t)tn_shape_span(x, 0, axis), 4);
}

static tn_status run_layer_norm(const tn_call *call) { return run_layers(call, false); }
static tn_status run_rms_norm(const tn_call *call) { return run_layers(call, true); }

// ---- lrn: y = x / (bias + alpha / size * sum of squares of neighbour channels) ^ beta ----

// The window of channel c is c - floor((size - 1) / 2) .. c + ceil((size - 1) / 2), cut at the ends (ONNX LRN).
static tn_status run_lrn(const tn_call *call)
{
    const tn_lrn_attr *attr = call->attr;
    const tn_tensor *x = call->in[0];
    const int64_t c = x->shape.dims[1], plane = tn_tensor_span(x, 2, x->shape.rank);
    const int64_t before = (attr->size - 1) / 2, after = attr->size - 1 - before;
    for (int64_t item = 0; plane && item < x->shape.dims[0] * c && !tn_cancelled(call); item++) {
        const int64_t channel = item % c, image = item - channel;
        const int64_t low = channel > before ? channel - before : 0, high = after < c - channel ? channel + after : c - 1;
        for (int64_t at = 0; at < plane; at += RUN) {
            const int64_t length = TN_MIN(plane - at, RUN);
            double run[RUN], squares[RUN] = {0};
            for (int64_t k = low; k <= high; k++) {
                tn_row_load(x->dtype, x->data, (image + k) * plane + at, 1, length, run);
                for (int64_t i = 0; i < length; i++) {
                    squares[i] += run[i] * run[i];
                }
            }
            tn_row_load(x->dtype, x->data, item * plane + at, 1, length, run);
            for (int64_t i = 0; i < length; i++) {
                run[i] /= pow(attr->bias + attr->alpha / (double)attr->size * squares[i], attr->beta);
            }
            tn_row_store(call->out[0]->dtype, call->out[0]->data, item * plane + at, 1, length, run);
        }
    }
    return tn_call_status(call);
}

// ---- lp_norm: y = x / |x|_p along an axis, 0 where the norm is 0 ----

static tn_status prepare_lp_norm(tn_prepare *prepare)
{
    const tn_lp_norm_attr *attr = prepare->query->attr;
    const tn_tensor *x = prepare->query->in[0];
    int axis = 0;
    tn_axis(attr->axis, x->shape.rank, &axis);
    return tn_prepare_rows(prepare, tn_tensor_span(x, axis, TN_MIN(axis + 1, x->shape.rank)));
}

// Lines along the axis, as in softmax.
static tn_status run_lp_norm(const tn_call *call)
{
    const tn_lp_norm_attr *attr = call->attr;
    const tn_tensor *x = call->in[0];
    int axis;
    if (tn_tensor_count(x) == 0 || !tn_axis(attr->axis, x->shape.rank, &axis)) {
        return TN_OK;
    }
    const int64_t size = x->shape.dims[axis], inner = tn_shape_span(&x->shape, axis + 1, x->shape.rank);
    const int64_t lines = tn_shape_span(&x->shape, 0, axis) * inner;
    double *row = tn_slot_scratch(call, 0);
    for (int64_t line = 0; line < lines && !tn_cancelled(call); line++) {
        const int64_t start = line / inner * size * inner + line % inner;
        double norm = 0;
        tn_row_load(x->dtype, x->data, start, inner, size, row);
        for (int64_t i = 0; i < size; i++) {
            norm += attr->p == 1 ? fabs(row[i]) : row[i] * row[i];
        }
        norm = attr->p == 1 ? norm : sqrt(norm);
        for (int64_t i = 0; i < size; i++) {
            row[i] = norm == 0 ? 0 : row[i] / norm;
        }
        tn_row_store(call->out[0]->dtype, call->out[0]->data, start, inner, size, row);
    }
    return tn_call_status(call);
}

// ---- mvn: y = (x - mean) / (deviation + 1e-9) over any axes ----

// The shape of the statistics: x with the axes taken as 1.
static tn_shape mvn_shape(const tn_mvn_attr *attr, const tn_shape *x)
{
    const tn_ints axes = axes_of(attr);
    tn_shape stat = *x;
    for (int i = 0; i < axes.count; i++) {
        int axis;
        if (tn_axis(axes.v[i], x->rank, &axis)) {
            stat.dims[axis] = 1;
        }
    }
    return stat;
}

// Scratch: sums and squares for each element of the statistics' shape.
static tn_status prepare_mvn(tn_prepare *prepare)
{
    const tn_tensor *x = prepare->query->in[0];
    const tn_shape stat = mvn_shape(prepare->query->attr, &x->shape);
    return tn_prepare_rows(prepare, tn_tensor_count(x) ? 2 * tn_shape_span(&stat, 0, stat.rank) : 0);
}

// What one pass does with a run of x. `stat` and `step` say which statistics the elements belong to.
typedef void (*mvn_pass)(double *run, int64_t count, double *means, double *squares, int64_t stat, int64_t step);

static void add_means(double *run, int64_t count, double *means, double *squares, int64_t stat, int64_t step)
{
    (void)squares;
    for (int64_t i = 0; i < count; i++) {
        means[stat + i * step] += run[i];
    }
}

static void add_squares(double *run, int64_t count, double *means, double *squares, int64_t stat, int64_t step)
{
    for (int64_t i = 0; i < count; i++) {
        const double d = run[i] - means[stat + i * step];
        squares[stat + i * step] += d * d;
    }
}

static void normalise(double *run, int64_t count, double *means, double *squares, int64_t stat, int64_t step)
{
    for (int64_t i = 0; i < count; i++) {
        run[i] = (run[i] - means[stat + i * step]) / (sqrt(squares[stat + i * step]) + 1e-9);
    }
}

// Walks x in runs that belong to statistics at a fixed step, whatever axes are normalised.
static void mvn_walk(const tn_call *call, const tn_shape *stat_shape, double *means, double *squares, mvn_pass pass)
{
    const tn_tensor *x = call->in[0];
    tn_tensor *y = call->out[0];
    const int rank = x->shape.rank;
    const int64_t last = rank ? x->shape.dims[rank - 1] : 1, lines = rank ? tn_shape_span(&x->shape, 0, rank - 1) : 1;
    for (int64_t line = 0; line < lines && !tn_cancelled(call); line++) {
        int64_t step;
        const int64_t stat = tn_broadcast_row(stat_shape, &x->shape, line, &step);
        for (int64_t at = 0; at < last; at += RUN) {
            double run[RUN];
            const int64_t count = TN_MIN(last - at, RUN);
            tn_row_load(x->dtype, x->data, line * last + at, 1, count, run);
            pass(run, count, means, squares, stat + at * step, step);
            if (pass == normalise) {
                tn_row_store(y->dtype, y->data, line * last + at, 1, count, run);
            }
        }
    }
}

// Three walks: means, squares about the means, results. Safe in place: results come last.
static tn_status run_mvn(const tn_call *call)
{
    const tn_tensor *x = call->in[0];
    const int64_t count = tn_tensor_count(x);
    if (count == 0) {
        return TN_OK;
    }
    const tn_shape stat = mvn_shape(call->attr, &x->shape);
    const int64_t stats = tn_shape_span(&stat, 0, stat.rank);
    double *means = tn_slot_scratch(call, 0), *squares = means + stats;
    memset(means, 0, 2 * (size_t)stats * sizeof *means);
    mvn_walk(call, &stat, means, squares, add_means);
    for (int64_t i = 0; i < stats; i++) {
        means[i] /= (double)(count / stats);
    }
    mvn_walk(call, &stat, means, squares, add_squares);
    for (int64_t i = 0; i < stats; i++) {
        squares[i] /= (double)(count / stats);
    }
    mvn_walk(call, &stat, means, squares, normalise);
    return tn_call_status(call);
}

// ---- export ----

// Each element sums the squares of its window.
static int64_t macs_lrn(const void *attr, const tn_fact *const *in, int n_in, const tn_fact *out, int n_out)
{
    (void)n_in;
    (void)out;
    (void)n_out;
    const int64_t channels = in[0]->shape.rank > 1 && tn_dim_known(in[0]->shape.dims[1]) ? in[0]->shape.dims[1] : 1;
    int64_t macs;
    return tn_mul_i64(TN_MAX(tn_fact_count(in[0]), 0), TN_MIN(((const tn_lrn_attr *)attr)->size, channels), &macs) ? macs : INT64_MAX;
}

#define NORM(NAME, INFER, LOW, HIGH, RESULTS, ...)                                                                  \
    const tn_op tn_op_##NAME = {                                                                                    \
        .name = #NAME, .version = 1, .min_in = LOW, .max_in = HIGH, .min_out = 1, .max_out = RESULTS,               \
        .attrs = NAME##_attrs, .n_attrs = TN_COUNT(NAME##_attrs), .attr_size = sizeof(tn_##NAME##_attr),            \
        .defaults = &NAME##_defaults, .infer = INFER, __VA_ARGS__                                                   \
    }
NORM(batch_norm, infer_batch_norm, 5, 5, 3, .flags = TN_OP_INPLACE);
NORM(instance_norm, infer_instance_norm, 3, 3, 1, .flags = TN_OP_INPLACE);
NORM(layer_norm, infer_layer_norm, 2, 3, 3, .flags = TN_OP_INPLACE);
NORM(group_norm, infer_group_norm, 3, 3, 1, .flags = TN_OP_INPLACE);
NORM(lrn, infer_lrn, 1, 1, 1, .macs = macs_lrn);
NORM(lp_norm, infer_lp_norm, 1, 1, 1, .flags = TN_OP_INPLACE);

const tn_op tn_op_rms_norm = {
    .name = "rms_norm", .version = 1, .min_in = 2, .max_in = 2, .min_out = 1, .max_out = 1,
    .attrs = layer_norm_attrs, .n_attrs = TN_COUNT(layer_norm_attrs), .attr_size = sizeof(tn_layer_norm_attr),
    .defaults = &layer_norm_defaults, .infer = infer_layer_norm,
};
const tn_op tn_op_mvn = {
    .name = "mvn", .version = 1, .flags = TN_OP_INPLACE, .min_in = 1, .max_in = 1, .min_out = 1, .max_out = 1,
    .attrs = mvn_attrs, .n_attrs = TN_COUNT(mvn_attrs), .attr_size = sizeof(tn_mvn_attr), .infer = infer_mvn,
};

static const tn_op *const ops[] = {&tn_op_batch_norm, &tn_op_instance_norm, &tn_op_layer_norm, &tn_op_rms_norm,
                                   &tn_op_group_norm, &tn_op_lrn,           &tn_op_lp_norm,    &tn_op_mvn};
TN_EXPORT_OPS(op_norm, ops);

static const tn_kernel rows[] = {
    TN_REFERENCE(batch_norm, NULL, run_batch_norm),
    TN_REFERENCE_SCRATCH(instance_norm, prepare_instance_norm, run_instance_norm),
    TN_REFERENCE_SCRATCH(layer_norm, prepare_layer_norm, run_layer_norm),
    TN_REFERENCE_SCRATCH(rms_norm, prepare_layer_norm, run_rms_norm),
    TN_REFERENCE_SCRATCH(group_norm, prepare_group_norm, run_group_norm),
    TN_REFERENCE(lrn, NULL, run_lrn),
    TN_REFERENCE_SCRATCH(lp_norm, prepare_lp_norm, run_lp_norm),
    TN_REFERENCE_SCRATCH(mvn, prepare_mvn, run_mvn),
};
TN_EXPORT_KERNELS(op_norm, rows);
