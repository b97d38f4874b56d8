// SPDX-License-Identifier: Apache-2.0
// Deformable convolution. For each output position the reference samples all taps of all channels once, bilinear with zeros outside
// of x, and then multiplies them with the weights of every output channel.
// Ownership: const data. Threads: any.
#include "ops/vision/op_deform.h"

#include "base/num.h"
#include "ops/nn/op_conv.h"
#include "ops/op_facts.h"
#include "ops/op_rows.h"

#include <math.h>

// ---- attributes ----

static const tn_attr attrs[] = {
    {"kernel", TN_ATTR_INTS, offsetof(tn_deform_conv_attr, kernel), NULL},
    {"strides", TN_ATTR_INTS, offsetof(tn_deform_conv_attr, strides), NULL},
    {"pads", TN_ATTR_INTS, offsetof(tn_deform_conv_attr, pads), NULL},
    {"dilations", TN_ATTR_INTS, offsetof(tn_deform_conv_attr, dilations), NULL},
    {"group", TN_ATTR_INT, offsetof(tn_deform_conv_attr, group), NULL},
    {"offset_group", TN_ATTR_INT, offsetof(tn_deform_conv_attr, offset_group), NULL},
};
static const tn_deform_conv_attr defaults = {.group = 1, .offset_group = 1};

enum { X, W, OFFSET, BIAS, MASK };

// ---- infer ----

// The same sliding window without offsets.
static tn_conv_attr as_conv(const tn_deform_conv_attr *attr)
{
    const tn_conv_attr conv = {.kernel = attr->kernel, .strides = attr->strides, .pads = attr->pads, .dilations = attr->dilations,
                               .group = attr->group};
    return conv;
}

static tn_status infer_deform(tn_infer *infer)
{
    const tn_deform_conv_attr *attr = infer->attr;
    const tn_conv_attr conv = as_conv(attr);
    tn_dtype dtype;
    tn_shape y;
    TN_TRY(tn_infer_types(infer, X, OFFSET, TN_SET_FLOAT, &dtype));
    for (int i = X; i <= MASK; i++) {
        TN_TRY(tn_infer_optional(infer, i, TN_SET_FLOAT));
        TN_TRY(tn_infer_like(infer, i, X));
    }
    TN_TRY(tn_infer_rank(infer, X, 4, 4));
    TN_TRY(tn_infer_rank(infer, W, 4, 4));
    TN_TRY(tn_conv_infer(infer, &conv, X, W, &y));
    if (y.rank < 0) {
        y = (tn_shape){.rank = 4, .dims = {TN_DIM_UNKNOWN, TN_DIM_UNKNOWN, TN_DIM_UNKNOWN, TN_DIM_UNKNOWN}};
    }
    const tn_shape *x = &infer->in[X]->shape, *w = &infer->in[W]->shape;
    if (attr->offset_group < 1 || (x->rank == 4 && tn_dim_known(x->dims[1]) && x->dims[1] % attr->offset_group != 0)) {
        return tn_infer_fail(infer, "offset_group %lld does not divide the channels", (long long)attr->offset_group);
    }
    tn_shape mask = y, offset = y;
    mask.dims[1] = offset.dims[1] = TN_DIM_UNKNOWN;
    if (w->rank == 4 && (!tn_dim_times(w->dims[2], w->dims[3], &mask.dims[1]) ||
                         !tn_dim_times(mask.dims[1], attr->offset_group, &mask.dims[1]) ||
                         !tn_dim_times(mask.dims[1], 2, &offset.dims[1]))) {
        return tn_infer_fail(infer, "the kernel is too large");
    }
    TN_TRY(tn_infer_shape(infer, OFFSET, &offset));
    TN_TRY(tn_infer_shape(infer, MASK, &mask));
    TN_TRY(tn_infer_vector(infer, BIAS, y.dims[1]));
    tn_infer_out(infer, 0, dtype, &y);
    return TN_OK;
}

static int64_t macs_deform(const void *attr, const tn_fact *const *in, int n_in, const tn_fact *out, int n_out)
{
    (void)attr, (void)n_in, (void)n_out;
    return tn_conv_macs(&in[W]->shape, &out->shape);
}

// ---- reference ----

typedef struct deform_job {
    const tn_call *call;
    const tn_deform_conv_attr *attr;
    tn_window window;
} deform_job;

// Scratch: the samples of one position, [C][kh * kw].
static tn_status prepare_deform(tn_prepare *prepare)
{
    const int64_t *x = prepare->query->in[X]->shape.dims, *w = prepare->query->in[W]->shape.dims;
    int64_t words = 0;
    if (tn_tensor_count(prepare->query->out[0]) > 0 && (!tn_mul_i64(x[1], w[2], &words) || !tn_mul_i64(words, w[3], &words))) {
        return tn_fail_memory(prepare->diag, prepare->query->name, SIZE_MAX);
    }
    return tn_prepare_rows(prepare, words);
}

static double pixel(const tn_tensor *x, int64_t plane, int64_t h, int64_t w)
{
    const int64_t height = x->shape.dims[2], width = x->shape.dims[3];
    return h >= 0 && h < height && w >= 0 && w < width ? tn_element(x, (plane * height + h) * width + w) : 0;
}

// Bilinear; positions outside of x (and those that are no number) are 0.
static double sample(const tn_tensor *x, int64_t plane, double h, double w)
{
    if (!(h > -1 && h < (double)x->shape.dims[2] && w > -1 && w < (double)x->shape.dims[3])) {
        return 0;
    }
    const int64_t top = (int64_t)floor(h), left = (int64_t)floor(w);
    const double down = h - (double)top, right = w - (double)left;
    return (pixel(x, plane, top, left) * (1 - right) + pixel(x, plane, top, left + 1) * right) * (1 - down) +
           (pixel(x, plane, top + 1, left) * (1 - right) + pixel(x, plane, top + 1, left + 1) * right) * down;
}

// All taps of all channels for output position (n, oh, ow).
static void take_samples(const deform_job *job, int64_t n, int64_t oh, int64_t ow, double *samples)
{
    const tn_tensor *x = job->call->in[X], *offset = job->call->in[OFFSET], *mask = tn_call_in(job->call, MASK);
    const tn_window *w = &job->window;
    const int64_t channels = x->shape.dims[1], taps = w->kernel[0] * w->kernel[1], members = channels / job->attr->offset_group;
    const int64_t plane = w->out[0] * w->out[1], place = oh * w->out[1] + ow;
    for (int64_t c = 0; c < channels; c++) {
        for (int64_t k = 0; k < taps; k++) {
            const int64_t tap = (n * job->attr->offset_group + c / members) * taps + k;
            const double h = (double)(oh * w->stride[0] - w->pad_begin[0] + k / w->kernel[1] * w->dilation[0]);
            const double v = (double)(ow * w->stride[1] - w->pad_begin[1] + k % w->kernel[1] * w->dilation[1]);
            const double weight = mask ? tn_element(mask, tap * plane + place) : 1;
            samples[c * taps + k] = weight * sample(x, n * channels + c, h + tn_element(offset, 2 * tap * plane + place),
                                                    v + tn_element(offset, (2 * tap + 1) * plane + place));
        }
    }
}

// One item is one output position of one batch element.
static void deform_task(void *context, size_t first, size_t count, unsigned slot)
{
    const deform_job *job = context;
    const tn_tensor *weights = job->call->in[W], *bias = tn_call_in(job->call, BIAS);
    tn_tensor *y = job->call->out[0];
    const tn_window *w = &job->window;
    const int64_t m = y->shape.dims[1], plane = w->out[0] * w->out[1], members = m / job->attr->group;
    const int64_t size = weights->shape.dims[1] * w->kernel[0] * w->kernel[1];
    double *samples = tn_slot_scratch(job->call, slot);
    for (int64_t item = (int64_t)first; item < (int64_t)(first + count) && !tn_cancelled(job->call); item++) {
        const int64_t n = item / plane, place = item % plane;
        take_samples(job, n, place / w->out[1], place % w->out[1], samples);
        for (int64_t o = 0; o < m; o++) {
            double sum = bias ? tn_element(bias, o) : 0;
            for (int64_t i = 0; i < size; i++) {
                sum += tn_element(weights, o * size + i) * samples[o / members * size + i];
            }
            tn_dtype_store(y->dtype, y->data, (size_t)((n * m + o) * plane + place), sum);
        }
    }
}

static tn_status run_deform(const tn_call *call)
{
    deform_job job = {.call = call, .attr = call->attr};
    const tn_conv_attr conv = as_conv(job.attr);
    if (!tn_conv_window(&conv, &call->in[X]->shape, &call->in[W]->shape, &job.window)) {
        return tn_fail(call->diag, TN_INTERNAL, call->name, "deform_conv: the window was not checked");
    }
    const tn_shape *y = &call->out[0]->shape;
    const bool some = tn_tensor_count(call->out[0]) > 0;
    return tn_call_split(call, deform_task, &job, some ? (size_t)(y->dims[0] * y->dims[2] * y->dims[3]) : 0, 8);
}

// ---- export ----

const tn_op tn_op_deform_conv = {
    .name = "deform_conv", .version = 1, .min_in = 3, .max_in = 5, .min_out = 1, .max_out = 1, .attrs = attrs,
    .n_attrs = TN_COUNT(attrs), .attr_size = sizeof(tn_deform_conv_attr), .defaults = &defaults, .infer = infer_deform,
    .macs = macs_deform,
};

static const tn_op *const ops[] = {&tn_op_deform_conv};
TN_EXPORT_OPS(op_deform, ops);

static const tn_kernel rows[] = {TN_REFERENCE_SCRATCH(deform_conv, prepare_deform, run_deform)};
TN_EXPORT_KERNELS(op_deform, rows);
