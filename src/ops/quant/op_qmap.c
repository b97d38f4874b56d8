// SPDX-License-Identifier: Apache-2.0
// qlinear_table: 256 results for 256 bytes, whatever the function. qlinear_softmax: exp by a table of the distance from the largest
// value in whole numbers of 2^-23, sums in 64 bits, one division each (base/requant.h), so that every device has the same bits; so has
// qlinear_layer_norm (base/requant.h), for which gains and biases become steps of the result in fixed point.
// Ownership: const data. Threads: any.
#include "ops/quant/op_qmap.h"

#include "base/num.h"
#include "ops/op_facts.h"
#include "ops/op_rows.h"

#include <math.h>

#define SET_BYTE (TN_BIT(I8) | TN_BIT(U8))

static const tn_attr softmax_attrs[] = {{"axis", TN_ATTR_INT, offsetof(tn_qsoftmax_attr, axis), NULL},
                                        TN_QLINEAR_ATTRS(tn_qsoftmax_attr, q)};
static const tn_qsoftmax_attr softmax_defaults = {.axis = -1, .q = TN_QLINEAR_DEFAULTS};

static const tn_attr layer_norm_attrs[] = {{"axis", TN_ATTR_INT, offsetof(tn_qlayer_norm_attr, axis), NULL},
                                           {"epsilon", TN_ATTR_REAL, offsetof(tn_qlayer_norm_attr, epsilon), NULL},
                                           TN_QLINEAR_ATTRS(tn_qlayer_norm_attr, q)};
static const tn_qlayer_norm_attr layer_norm_defaults = {.axis = -1, .epsilon = 1e-5f, .q = TN_QLINEAR_DEFAULTS};

enum { X, X_SCALE, X_ZERO, Y_SCALE, Y_ZERO, GAIN, BIAS };     // operands; softmax has no more than Y_ZERO

// ---- infer ----

static tn_status infer_table(tn_infer *infer)
{
    TN_TRY(tn_infer_type(infer, 0, SET_BYTE));
    TN_TRY(tn_infer_type(infer, 1, SET_BYTE));
    TN_TRY(tn_infer_vector(infer, 1, 256));
    tn_infer_out(infer, 0, infer->in[1]->dtype, &infer->in[0]->shape);
    return TN_OK;
}

// Scales, zero points and the type of the result.
static tn_status infer_scales(tn_infer *infer, tn_dtype *dtype)
{
    TN_TRY(tn_infer_type(infer, X, SET_BYTE));
    for (int i = X_SCALE; i <= Y_SCALE; i += 2) {
        TN_TRY(tn_infer_type(infer, i, TN_BIT(F32)));
        TN_TRY(tn_infer_scalar(infer, i));
        TN_TRY(tn_infer_optional(infer, i + 1, SET_BYTE));
        TN_TRY(tn_infer_in(infer, i + 1) ? tn_infer_scalar(infer, i + 1) : TN_OK);
    }
    TN_TRY(tn_infer_like(infer, X_ZERO, X));
    const tn_fact *zero = tn_infer_in(infer, Y_ZERO);
    *dtype = zero ? zero->dtype : infer->in[X]->dtype;
    return TN_OK;
}

static tn_status infer_softmax(tn_infer *infer)
{
    const tn_qsoftmax_attr *attr = infer->attr;
    tn_dtype dtype;
    int axis;
    TN_TRY(infer_scales(infer, &dtype));
    const tn_shape *x = &infer->in[X]->shape;
    TN_TRY(x->rank >= 0 ? tn_infer_axis(infer, "axis", attr->axis, x->rank, &axis) : TN_OK);
    tn_infer_out(infer, 0, dtype, x);
    return TN_OK;
}

static tn_status infer_layer_norm(tn_infer *infer)
{
    const tn_qlayer_norm_attr *attr = infer->attr;
    tn_dtype dtype;
    int axis;
    TN_TRY(infer_scales(infer, &dtype));
    const tn_shape *x = &infer->in[X]->shape;
    for (int i = GAIN; i <= BIAS; i++) {
        TN_TRY(i == GAIN ? tn_infer_type(infer, i, TN_BIT(F32)) : tn_infer_optional(infer, i, TN_BIT(F32)));
    }
    if (x->rank >= 0) {
        TN_TRY(tn_infer_axis(infer, "axis", attr->axis, x->rank, &axis));
        const tn_shape line = tn_shape_of(x->rank - axis, x->dims + axis);
        int64_t count;
        for (int i = GAIN; i <= BIAS; i++) {
            TN_TRY(tn_infer_in(infer, i) ? tn_infer_shape(infer, i, &line) : TN_OK);
        }
        if (tn_shape_count(&line, &count) && count > TN_NORM_LINE) {
            return tn_infer_fail(infer, "a line of %lld elements, at most %d are normalised in integers", (long long)count, TN_NORM_LINE);
        }
    }
    tn_infer_out(infer, 0, dtype, x);
    return TN_OK;
}

// ---- reference ----

static tn_status run_qlinear_table(const tn_call *call)
{
    const uint8_t *x = call->in[0]->data, *table = call->in[1]->data;
    uint8_t *y = call->out[0]->data;
    const int64_t count = tn_tensor_count(call->out[0]);
    for (int64_t i = 0; i < count && !tn_cancelled(call); i++) {
        y[i] = table[x[i]];
    }
    return tn_call_status(call);
}

typedef struct softmax {
    uint32_t table[256], inverse;
    int32_t zero, low, high;
    bool is_signed;
    int64_t length, step;
} softmax;

static int32_t byte_of(const softmax *s, uint8_t v) { return s->is_signed ? (int8_t)v : v; }

static void softmax_line(const softmax *s, const uint8_t *x, uint8_t *y)
{
    int32_t most = INT32_MIN;
    uint64_t sum = 0;
    for (int64_t i = 0; i < s->length; i++) {
        most = TN_MAX(most, byte_of(s, x[i * s->step]));
    }
    for (int64_t i = 0; i < s->length; i++) {
        sum += s->table[most - byte_of(s, x[i * s->step])];
    }
    for (int64_t i = 0; i < s->length; i++) {
        const uint32_t e = s->table[most - byte_of(s, x[i * s->step])];
        y[i * s->step] = (uint8_t)tn_requant_softmax(e, sum, s->inverse, s->zero, s->low, s->high);
    }
}

static tn_status run_qlinear_softmax(const tn_call *call)
{
    const tn_qsoftmax_attr *attr = call->attr;
    const tn_tensor *x = call->in[0], *zero = tn_call_in(call, 4);
    tn_tensor *y = call->out[0];
    softmax s = {.zero = zero ? (int32_t)tn_element(zero, 0) : 0, .is_signed = x->dtype == TN_I8, .length = 1, .step = 1};
    int axis;
    tn_qlinear_range(&attr->q, y->dtype, &s.low, &s.high);
    tn_softmax_table((float)tn_element(call->in[1], 0), (float)tn_element(call->in[3], 0), s.table, &s.inverse);
    if (tn_tensor_count(x) == 0) {
        return TN_OK;
    }
    if (tn_axis(attr->axis, x->shape.rank, &axis)) {
        s.length = x->shape.dims[axis];
        s.step = tn_shape_span(&x->shape, axis + 1, x->shape.rank);
    }
    const int64_t outer = tn_tensor_count(x) / (s.length * s.step);
    for (int64_t i = 0; i < outer * s.step && !tn_cancelled(call); i++) {
        const int64_t at = i / s.step * s.length * s.step + i % s.step;
        softmax_line(&s, (const uint8_t *)x->data + at, (uint8_t *)y->data + at);
    }
    return tn_call_status(call);
}

// ---- layer_norm ----

static double number(const tn_tensor *const *in, int n_in, int i, int64_t at)
{
    return i < n_in && in[i] ? tn_element(in[i], at) : 0;
}

bool tn_qnorm_of(const tn_qlayer_norm_attr *attr, const tn_tensor *const *in, int n_in, tn_dtype y, tn_qnorm *q)
{
    const tn_shape *shape = &in[X]->shape;
    const double x_scale = tn_element(in[X_SCALE], 0), y_scale = tn_element(in[Y_SCALE], 0);
    double gain = 0, bias = 0;
    int axis = 0, up = 0;
    (void)tn_axis(attr->axis, shape->rank, &axis);
    const int64_t n = tn_shape_span(shape, axis, shape->rank);
    *q = (tn_qnorm){.n = (int32_t)TN_MAX(TN_MIN(n, TN_NORM_LINE), 1), .y_zero = (int32_t)number(in, n_in, Y_ZERO, 0)};
    for (int64_t i = 0; i < q->n; i++) {
        gain = TN_MAX(gain, fabs(number(in, n_in, GAIN, i) / y_scale));
        bias = TN_MAX(bias, fabs(number(in, n_in, BIAS, i) / y_scale));
    }
    // Room for the largest of both: gains below 2^31, biases up to 2^29.
    while (up < TN_NORM_BITS - TN_NORM_DOWN && !(gain < ldexp(1, up) && bias <= ldexp(1, up + 7))) {
        up++;
    }
    q->down = TN_NORM_BITS - up;
    const double epsilon = ldexp((double)q->n * q->n * attr->epsilon / (x_scale * x_scale), 48 - 2 * tn_norm_log(q->n));
    q->epsilon = epsilon > 0 ? epsilon < (double)TN_NORM_EPSILON ? (uint64_t)rint(epsilon) : TN_NORM_EPSILON : 0;
    tn_qlinear_range(&attr->q, y, &q->low, &q->high);
    return n == q->n && isnormal(x_scale) && x_scale > 0 && isnormal(y_scale) && y_scale > 0 && gain < ldexp(1, up) && bias <= ldexp(1, up + 7) &&
           epsilon >= 0 && epsilon <= (double)TN_NORM_EPSILON;
}

// To nearest, within `most`; what is no number is 0.
static int32_t fixed(double v, double most) { return v >= -most ? v <= most ? (int32_t)rint(v) : (int32_t)most : v < 0 ? -(int32_t)most : 0; }

void tn_qnorm_words(const tn_qnorm *q, const tn_tensor *const *in, int n_in, int32_t *gain, int32_t *bias)
{
    const double y_scale = tn_element(in[Y_SCALE], 0);
    for (int64_t i = 0; i < q->n; i++) {
        gain[i] = fixed(number(in, n_in, GAIN, i) / y_scale * ldexp(1, TN_NORM_GAIN_BITS + q->down), INT32_MAX);
        bias[i] = fixed(number(in, n_in, BIAS, i) / y_scale * ldexp(1, q->down), 1 << 30) + (1 << (q->down - 1));
    }
}

static void norm_line(const tn_qnorm *q, bool is_signed, const int32_t *gain, const int32_t *bias, const uint8_t *x, uint8_t *y)
{
    int64_t sum = 0, squares = 0;
    for (int32_t i = 0; i < q->n; i++) {
        const int32_t v = is_signed ? (int8_t)x[i] : x[i];
        sum += v;
        squares += v * v;
    }
    const tn_norm_factor f = tn_norm_factor_of(q->n, tn_norm_root(tn_norm_square(q->n, sum, squares, q->epsilon)));
    for (int32_t i = 0; i < q->n; i++) {
        const int32_t v = is_signed ? (int8_t)x[i] : x[i], z = tn_norm_scaled(&f, q->n * v - (int32_t)sum);
        y[i] = (uint8_t)tn_norm_result(z, gain[i], bias[i], q->down, q->y_zero, q->low, q->high);
    }
}

// gain and bias of a line, in the first slot.
static tn_status prepare_layer_norm(tn_prepare *prepare)
{
    const tn_tensor *x = prepare->query->in[X];
    const tn_qlayer_norm_attr *attr = prepare->query->attr;
    int axis = 0;
    (void)tn_axis(attr->axis, x->shape.rank, &axis);
    return tn_prepare_rows(prepare, tn_tensor_span(x, axis, x->shape.rank));
}

static tn_status run_qlinear_layer_norm(const tn_call *call)
{
    const tn_tensor *x = call->in[X];
    tn_qnorm q;
    if (tn_tensor_count(x) == 0) {
        return TN_OK;
    }
    (void)tn_qnorm_of(call->attr, call->in, call->n_in, call->out[0]->dtype, &q);
    int32_t *gain = tn_slot_scratch(call, 0), *bias = gain + q.n;
    tn_qnorm_words(&q, call->in, call->n_in, gain, bias);
    for (int64_t at = 0; at < tn_tensor_count(x) && !tn_cancelled(call); at += q.n) {
        norm_line(&q, x->dtype == TN_I8, gain, bias, (const uint8_t *)x->data + at, (uint8_t *)call->out[0]->data + at);
    }
    return tn_call_status(call);
}

// ---- export ----

const tn_op tn_op_qlinear_table = {
    .name = "qlinear_table", .version = 1, .min_in = 2, .max_in = 2, .min_out = 1, .max_out = 1, .infer = infer_table,
};
const tn_op tn_op_qlinear_softmax = {
    .name = "qlinear_softmax", .version = 1, .flags = TN_OP_HOLES, .min_in = 4, .max_in = 5, .min_out = 1, .max_out = 1, .attrs = softmax_attrs,
    .n_attrs = TN_COUNT(softmax_attrs), .attr_size = sizeof(tn_qsoftmax_attr), .defaults = &softmax_defaults, .infer = infer_softmax,
};

const tn_op tn_op_qlinear_layer_norm = {
    .name = "qlinear_layer_norm", .version = 1, .flags = TN_OP_HOLES, .min_in = 6, .max_in = 7, .min_out = 1, .max_out = 1,
    .attrs = layer_norm_attrs, .n_attrs = TN_COUNT(layer_norm_attrs), .attr_size = sizeof(tn_qlayer_norm_attr), .defaults = &layer_norm_defaults,
    .infer = infer_layer_norm,
};

static const tn_op *const ops[] = {&tn_op_qlinear_table, &tn_op_qlinear_softmax, &tn_op_qlinear_layer_norm};
TN_EXPORT_OPS(op_qmap, ops);

static const tn_kernel rows[] = {
    TN_REFERENCE(qlinear_table, NULL, run_qlinear_table),
    TN_REFERENCE(qlinear_softmax, NULL, run_qlinear_softmax),
    TN_REFERENCE_SCRATCH(qlinear_layer_norm, prepare_layer_norm, run_qlinear_layer_norm),
};
TN_EXPORT_KERNELS(op_qmap, rows);
