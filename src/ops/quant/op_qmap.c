// SPDX-License-Identifier: Apache-2.0
// qlinear_table: 256 results for 256 bytes, whatever the function. qlinear_softmax: exp by a table of the distance from the largest
// value in whole numbers of 2^-23, sums in 64 bits, one division each (base/requant.h), so that every device has the same bits.
// Ownership: const data. Threads: any.
#include "ops/quant/op_qmap.h"

#include "ops/op_facts.h"
#include "ops/op_rows.h"

#define SET_BYTE (TN_BIT(I8) | TN_BIT(U8))

static const tn_attr softmax_attrs[] = {{"axis", TN_ATTR_INT, offsetof(tn_qsoftmax_attr, axis), NULL},
                                        TN_QLINEAR_ATTRS(tn_qsoftmax_attr, q)};
static const tn_qsoftmax_attr softmax_defaults = {.axis = -1, .q = TN_QLINEAR_DEFAULTS};

// ---- infer ----

static tn_status infer_table(tn_infer *infer)
{
    TN_TRY(tn_infer_type(infer, 0, SET_BYTE));
    TN_TRY(tn_infer_type(infer, 1, SET_BYTE));
    TN_TRY(tn_infer_vector(infer, 1, 256));
    tn_infer_out(infer, 0, infer->in[1]->dtype, &infer->in[0]->shape);
    return TN_OK;
}

static tn_status infer_softmax(tn_infer *infer)
{
    const tn_qsoftmax_attr *attr = infer->attr;
    int axis;
    TN_TRY(tn_infer_type(infer, 0, SET_BYTE));
    const tn_shape *x = &infer->in[0]->shape;
    for (int i = 1; i < 5; i += 2) {
        TN_TRY(tn_infer_type(infer, i, TN_BIT(F32)));
        TN_TRY(tn_infer_scalar(infer, i));
        TN_TRY(tn_infer_optional(infer, i + 1, SET_BYTE));
        TN_TRY(tn_infer_in(infer, i + 1) ? tn_infer_scalar(infer, i + 1) : TN_OK);
    }
    TN_TRY(tn_infer_like(infer, 2, 0));
    if (x->rank >= 0) {
        TN_TRY(tn_infer_axis(infer, "axis", attr->axis, x->rank, &axis));
    }
    const tn_fact *zero = tn_infer_in(infer, 4);
    tn_infer_out(infer, 0, zero ? zero->dtype : infer->in[0]->dtype, x);
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

// ---- export ----

const tn_op tn_op_qlinear_table = {
    .name = "qlinear_table", .version = 1, .min_in = 2, .max_in = 2, .min_out = 1, .max_out = 1, .infer = infer_table,
};
const tn_op tn_op_qlinear_softmax = {
    .name = "qlinear_softmax", .version = 1, .flags = TN_OP_HOLES, .min_in = 4, .max_in = 5, .min_out = 1, .max_out = 1, .attrs = softmax_attrs,
    .n_attrs = TN_COUNT(softmax_attrs), .attr_size = sizeof(tn_qsoftmax_attr), .defaults = &softmax_defaults, .infer = infer_softmax,
};

static const tn_op *const ops[] = {&tn_op_qlinear_table, &tn_op_qlinear_softmax};
TN_EXPORT_OPS(op_qmap, ops);

static const tn_kernel rows[] = {
    TN_REFERENCE(qlinear_table, NULL, run_qlinear_table),
    TN_REFERENCE(qlinear_softmax, NULL, run_qlinear_softmax),
};
TN_EXPORT_KERNELS(op_qmap, rows);
