// SPDX-License-Identifier: Apache-2.0
// Linear quantisation (ONNX QuantizeLinear 28, DequantizeLinear 28, DynamicQuantizeLinear 11), rounding float_rne: to nearest, ties
// to even. A scale belongs to the whole tensor, to an index of one axis, or to a block of indices of that axis; in each case the
// tensor falls into rows whose scales lie at a fixed step (0 or 1).
// Ownership: const data. Threads: any.
#include "ops/quant/op_quantize.h"

#include "ops/op_facts.h"
#include "ops/op_rows.h"

#include <math.h>

// ---- attributes ----

static const tn_attr quantize_attrs[] = {
    {"axis", TN_ATTR_INT, offsetof(tn_quantize_attr, axis), NULL},
    {"block_size", TN_ATTR_INT, offsetof(tn_quantize_attr, block_size), NULL},
    {"saturate", TN_ATTR_BOOL, offsetof(tn_quantize_attr, saturate), NULL},
    {"output_dtype", TN_ATTR_DTYPE, offsetof(tn_quantize_attr, output_dtype), NULL},
    {"precision", TN_ATTR_DTYPE, offsetof(tn_quantize_attr, precision), NULL},
};
static const tn_quantize_attr quantize_defaults = {.axis = 1, .saturate = true};

#define SET_REAL (TN_BIT(F32) | TN_BIT(F16) | TN_BIT(BF16))
#define SET_QUANTISED                                                                                                   \
    (TN_BIT(I8) | TN_BIT(U8) | TN_BIT(I16) | TN_BIT(U16) | TN_SET_SMALL_INT | TN_SET_F8 | TN_BIT(F4E2M1))

static bool in_set(tn_dtype dtype, uint32_t set) { return dtype > TN_NONE && dtype < TN_DTYPE_COUNT && (set >> dtype & 1); }

// ---- infer ----

// A scale for each block of an axis: the shape of x, but for the axis.
static tn_status check_blocks(const tn_infer *infer, const tn_quantize_attr *attr, int axis)
{
    const tn_shape *x = &infer->in[0]->shape, *scale = &infer->in[1]->shape;
    if (attr->block_size < 1) {
        return tn_infer_fail(infer, "block_size must be given when the scale has the rank of x");
    }
    for (int i = 0; i < x->rank; i++) {
        int64_t want = x->dims[i], same;
        if (i == axis) {
            want = tn_dim_known(want) ? want / attr->block_size + (want % attr->block_size != 0) : TN_DIM_UNKNOWN;
        }
        if (!tn_dim_join(want, scale->dims[i], &same)) {
            return tn_infer_fail(infer, "the scale has %lld in dim %d, expected %lld", (long long)scale->dims[i], i,
                                 (long long)want);
        }
    }
    return TN_OK;
}

// One element for all: rank 0, or a vector of one.
static bool is_single(const tn_shape *scale) { return scale->rank == 0 || (scale->rank == 1 && scale->dims[0] == 1); }

static tn_status check_scales(const tn_infer *infer)
{
    const tn_quantize_attr *attr = infer->attr;
    const tn_shape *x = &infer->in[0]->shape, *scale = &infer->in[1]->shape;
    const tn_fact *zero = tn_infer_in(infer, 2);
    int axis;
    if (attr->block_size < 0) {
        return tn_infer_fail(infer, "block_size is %lld, expected a positive number", (long long)attr->block_size);
    }
    if (zero && !is_single(scale)) {
        TN_TRY(tn_infer_shape(infer, 2, scale));
    } else if (zero && scale->rank >= 0) {
        TN_TRY(tn_infer_scalar(infer, 2));
    }
    if (x->rank < 0 || scale->rank < 0 || is_single(scale)) {
        return TN_OK;
    }
    TN_TRY(tn_infer_axis(infer, "axis", attr->axis, x->rank, &axis));
    if (attr->block_size > 0 && scale->rank == x->rank) {
        return check_blocks(infer, attr, axis);
    }
    if (scale->rank != 1) {
        return tn_infer_fail(infer, "the scale has rank %d, expected 0, 1 or, with block_size, that of x", scale->rank);
    }
    return tn_infer_vector(infer, 1, x->dims[axis]);
}

static tn_status infer_quantize(tn_infer *infer)
{
    const tn_quantize_attr *attr = infer->attr;
    TN_TRY(tn_infer_type(infer, 0, SET_REAL | TN_BIT(I32)));
    TN_TRY(tn_infer_type(infer, 1, SET_REAL | TN_BIT(I32) | TN_BIT(F8E8M0)));
    TN_TRY(tn_infer_optional(infer, 2, SET_QUANTISED));
    const tn_fact *zero = tn_infer_in(infer, 2);
    const tn_dtype out = zero ? zero->dtype : attr->output_dtype != TN_NONE ? attr->output_dtype : TN_U8;
    if ((!zero && !in_set(out, SET_QUANTISED)) || (attr->output_dtype != TN_NONE && out != TN_NONE && attr->output_dtype != out)) {
        return tn_infer_fail(infer, "output_dtype must be a quantised type, that of the zero point if there is one");
    }
    if (attr->precision != TN_NONE && !in_set(attr->precision, SET_REAL | TN_BIT(F64))) {
        return tn_infer_fail(infer, "precision must be a floating-point type");
    }
    TN_TRY(check_scales(infer));
    tn_infer_out(infer, 0, out, &infer->in[0]->shape);
    return TN_OK;
}

static tn_status infer_dequantize(tn_infer *infer)
{
    const tn_quantize_attr *attr = infer->attr;
    TN_TRY(tn_infer_type(infer, 0, SET_QUANTISED | TN_BIT(I32)));
    TN_TRY(tn_infer_type(infer, 1, SET_REAL | TN_BIT(F8E8M0)));
    TN_TRY(tn_infer_optional(infer, 2, SET_QUANTISED | TN_BIT(I32)));
    TN_TRY(tn_infer_like(infer, 2, 0));
    const tn_dtype out = attr->output_dtype != TN_NONE ? attr->output_dtype : infer->in[1]->dtype;
    if (out != TN_NONE && !in_set(out, SET_REAL)) {
        return tn_infer_fail(infer, "the result would be %s, expected float32, float16 or bfloat16", tn_dtype_text(out));
    }
    TN_TRY(check_scales(infer));
    tn_infer_out(infer, 0, out, &infer->in[0]->shape);
    return TN_OK;
}

static tn_status infer_dynamic(tn_infer *infer)
{
    const tn_shape scalar = {.rank = 0};
    TN_TRY(tn_infer_type(infer, 0, TN_BIT(F32)));
    tn_infer_out(infer, 0, TN_U8, &infer->in[0]->shape);
    tn_infer_out(infer, 1, TN_F32, &scalar);
    tn_infer_out(infer, 2, TN_U8, &scalar);
    return TN_OK;
}

// ---- reference ----

enum { RUN = 256, PIECE = 4096 };   // elements that are converted at a time; elements of a row where its length does not matter

// x as [outer][pieces][length][inner]; a row is one piece: contiguous, with scales at `step`.
//   one scale                 a row is any piece of x, step 0
//   axis, inner 1             a row runs along the axis, step 1
//   axis                      a row is what lies inside one index of the axis, step 0
//   blocks, inner 1           a row is a block, step 0
//   blocks                    a row is what lies inside one index of the axis, step 1
typedef struct rows {
    int64_t count;                    // rows
    int64_t outer_rows;               // rows inside one outer index
    int64_t size;                     // elements of one outer index
    int64_t length;                   // elements of a row (the last of an outer index may have fewer)
    int64_t scale_outer, scale_row;   // scales to the next outer index; elements of x to the next scale row
    int64_t scale_width;              // scales side by side inside a scale row
    int64_t step;
} rows;

static rows rows_of(const tn_quantize_attr *attr, const tn_tensor *x, const tn_tensor *scale)
{
    const int64_t count = tn_tensor_count(x);
    rows r = {.size = count, .length = PIECE, .scale_row = count, .scale_width = 1};
    r.count = r.outer_rows = TN_CEIL_DIV(count, PIECE);
    int axis;
    if (tn_tensor_count(scale) == 1 || !tn_axis(attr->axis, x->shape.rank, &axis)) {
        return r;
    }
    const int64_t dim = x->shape.dims[axis], inner = tn_shape_span(&x->shape, axis + 1, x->shape.rank);
    const bool blocks = scale->shape.rank == x->shape.rank && attr->block_size > 0;
    const int64_t block = blocks ? TN_MIN(attr->block_size, dim) : 1;
    r.size = dim * inner;
    r.scale_outer = blocks ? TN_CEIL_DIV(dim, block) * inner : 0;
    r.scale_row = block * inner;
    r.scale_width = blocks ? inner : 1;
    r.length = inner > 1 ? inner : blocks ? block : dim;
    r.step = inner > 1 ? blocks : !blocks;
    r.outer_rows = TN_CEIL_DIV(r.size, r.length);
    r.count = count / r.size * r.outer_rows;
    return r;
}

// Elements of row i, and where its scales begin.
static void row_at(const rows *r, int64_t i, int64_t *start, int64_t *length, int64_t *scale)
{
    const int64_t outer = i / r->outer_rows, at = i % r->outer_rows * r->length;
    *start = outer * r->size + at;
    *length = TN_MIN(r->length, r->size - at);
    *scale = outer * r->scale_outer + at / r->scale_row * r->scale_width;
}

typedef struct quantize_job {
    const tn_call *call;
    rows rows;
    tn_dtype precision;      // of the division
    // Turns n elements into results, given their scales and zero points.
    void (*run)(const struct quantize_job *job, double *v, const double *scales, const double *zeros, int64_t n);
} quantize_job;

// Stores n results: integers have been rounded and are saturated here.
static void store_run(const quantize_job *job, int64_t start, int64_t n, const double *v)
{
    const tn_quantize_attr *attr = job->call->attr;
    tn_tensor *y = job->call->out[0];
    if (in_set(y->dtype, TN_SET_F8) && !attr->saturate) {
        for (int64_t i = 0; i < n; i++) {
            ((uint8_t *)y->data)[start + i] = tn_dtype_small_float(y->dtype, v[i], false);
        }
        return;
    }
    tn_row_store(y->dtype, y->data, start, 1, n, v);
}

static void quantize_task(void *context, size_t first, size_t count, unsigned slot)
{
    const quantize_job *job = context;
    const tn_tensor *x = job->call->in[0], *scale = job->call->in[1], *zero = tn_call_in(job->call, 2);
    double v[RUN], scales[RUN], zeros[RUN] = {0};
    (void)slot;
    for (size_t row = first; row < first + count && !tn_cancelled(job->call); row++) {
        int64_t start, length, at;
        row_at(&job->rows, (int64_t)row, &start, &length, &at);
        for (int64_t from = 0; from < length; from += RUN) {
            const int64_t n = TN_MIN(length - from, RUN), step = job->rows.step;
            tn_row_load(x->dtype, x->data, start + from, 1, n, v);
            tn_row_load(scale->dtype, scale->data, at + from * step, step, n, scales);
            if (zero) {
                tn_row_load(zero->dtype, zero->data, at + from * step, step, n, zeros);
            }
            job->run(job, v, scales, zeros, n);
            store_run(job, start + from, n, v);
        }
    }
}

// saturate(round(x / scale) + zero); the division has one rounding to `precision`. A NaN becomes the smallest integer, as with the
// vector instructions' maximum.
static void quantize_run(const quantize_job *job, double *v, const double *scales, const double *zeros, int64_t n)
{
    const bool ints = tn_dtype_is_int(job->call->out[0]->dtype);
    for (int64_t i = 0; i < n; i++) {
        const double q = tn_dtype_round(job->precision, v[i] / scales[i]);
        v[i] = !ints ? q + zeros[i] : isnan(q) ? -INFINITY : rint(q) + zeros[i];
    }
}

// (x - zero) * scale, each step in float32, then rounded to the result's type.
static void dequantize_run(const quantize_job *job, double *v, const double *scales, const double *zeros, int64_t n)
{
    (void)job;
    for (int64_t i = 0; i < n; i++) {
        v[i] = (float)(v[i] - zeros[i]) * (float)scales[i];
    }
}

static tn_status run_rows(quantize_job *job)
{
    const tn_call *call = job->call;
    if (tn_tensor_count(call->in[0]) == 0) {
        return TN_OK;
    }
    job->rows = rows_of(call->attr, call->in[0], call->in[1]);
    return tn_call_split(call, quantize_task, job, (size_t)job->rows.count, 16);
}

static tn_status run_quantize(const tn_call *call)
{
    const tn_quantize_attr *attr = call->attr;
    const tn_dtype scale = call->in[1]->dtype;
    quantize_job job = {.call = call, .run = quantize_run};
    job.precision = attr->precision != TN_NONE ? attr->precision : in_set(scale, SET_REAL) ? scale : TN_F32;
    return run_rows(&job);
}

static tn_status run_dequantize(const tn_call *call)
{
    quantize_job job = {.call = call, .run = dequantize_run};
    return run_rows(&job);
}

static uint8_t to_u8(float v) { return v > 0 ? v < 255 ? (uint8_t)v : 255 : 0; }   // NaN becomes 0

// The range is made to hold 0. All steps are float32; a range of nothing gets scale 1.
static tn_status run_dynamic(const tn_call *call)
{
    const float *x = call->in[0]->data;
    const int64_t count = tn_tensor_count(call->in[0]);
    tn_tensor *y = call->out[0], *scales = tn_call_out(call, 1), *zeros = tn_call_out(call, 2);
    float low = 0, high = 0;
    for (int64_t i = 0; i < count; i++) {
        low = fminf(low, x[i]);
        high = fmaxf(high, x[i]);
    }
    const float scale = low == high ? 1 : (high - low) / 255;
    const uint8_t zero = to_u8(rintf(fminf(fmaxf(0 - low / scale, 0), 255)));
    for (int64_t i = 0; y && i < count && !tn_cancelled(call); i++) {
        ((uint8_t *)y->data)[i] = to_u8(rintf(x[i] / scale) + zero);
    }
    if (scales) {
        *(float *)scales->data = scale;
    }
    if (zeros) {
        *(uint8_t *)zeros->data = zero;
    }
    return tn_call_status(call);
}

// ---- export ----

#define QUANTIZE(NAME, INFER)                                                                                                  \
    const tn_op tn_op_##NAME = {                                                                                               \
        .name = #NAME, .version = 1, .min_in = 2, .max_in = 3, .min_out = 1, .max_out = 1, .attrs = quantize_attrs,            \
        .n_attrs = TN_COUNT(quantize_attrs), .attr_size = sizeof(tn_quantize_attr), .defaults = &quantize_defaults,            \
        .infer = INFER,                                                                                                        \
    }
QUANTIZE(quantize_linear, infer_quantize);
QUANTIZE(dequantize_linear, infer_dequantize);

const tn_op tn_op_dynamic_quantize_linear = {
    .name = "dynamic_quantize_linear", .version = 1, .min_in = 1, .max_in = 1, .min_out = 1, .max_out = 3, .infer = infer_dynamic,
};

static const tn_op *const ops[] = {&tn_op_quantize_linear, &tn_op_dequantize_linear, &tn_op_dynamic_quantize_linear};
TN_EXPORT_OPS(op_quantize, ops);

static const tn_kernel kernels[] = {
    TN_REFERENCE(quantize_linear, NULL, run_quantize),
    TN_REFERENCE(dequantize_linear, NULL, run_dequantize),
    TN_REFERENCE(dynamic_quantize_linear, NULL, run_dynamic),
};
TN_EXPORT_KERNELS(op_quantize, kernels);
