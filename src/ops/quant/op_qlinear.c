// SPDX-License-Identifier: Apache-2.0
// Integer arithmetic (ONNX MatMulInteger 10, ConvInteger 10, QLinearConv 10, QLinearMatMul 21; com.microsoft QLinearConcat). Sums of
// 8-bit products are exact; results are requantised by base/requant.h, in float32 as onnxruntime does or in fixed point:
//   y = clamp(requant(sum + bias) + y_zero)
// Ownership: const data. Threads: any.
#include "ops/quant/op_qlinear.h"

#include "base/num.h"
#include "ops/nn/nn_reference.h"
#include "ops/op_facts.h"
#include "ops/op_rows.h"

#include <assert.h>
#include <math.h>

// ---- attributes ----

// As conv, but for the activation: that of integers is a clamp.
#define WINDOW_ATTRS                                                               \
    {"kernel", TN_ATTR_INTS, offsetof(tn_conv_attr, kernel), NULL},                \
    {"strides", TN_ATTR_INTS, offsetof(tn_conv_attr, strides), NULL},              \
    {"pads", TN_ATTR_INTS, offsetof(tn_conv_attr, pads), NULL},                    \
    {"dilations", TN_ATTR_INTS, offsetof(tn_conv_attr, dilations), NULL},          \
    {"group", TN_ATTR_INT, offsetof(tn_conv_attr, group), NULL},                   \
    {"auto_pad", TN_ATTR_ENUM, offsetof(tn_conv_attr, auto_pad), tn_auto_pad_texts}

static const tn_attr conv_attrs[] = {WINDOW_ATTRS};
static const tn_conv_attr conv_defaults = {.group = 1, .act = {.code = TN_LOOP_CONST}};

// qlinear_conv can be read as the window of a convolution.
static_assert(offsetof(tn_qconv_attr, conv) == 0, "the window comes first");
static const tn_attr qconv_attrs[] = {WINDOW_ATTRS, TN_QLINEAR_ATTRS(tn_qconv_attr, q)};
static const tn_qconv_attr qconv_defaults = {.conv = {.group = 1, .act = {.code = TN_LOOP_CONST}}, .q = TN_QLINEAR_DEFAULTS};

static const tn_attr qmatmul_attrs[] = {TN_QLINEAR_ATTRS(tn_qmatmul_attr, q)};
static const tn_qmatmul_attr qmatmul_defaults = {.q = TN_QLINEAR_DEFAULTS};
static const tn_attr concat_attrs[] = {{"axis", TN_ATTR_INT, offsetof(tn_qconcat_attr, axis), NULL}};
static const tn_qconcat_attr concat_defaults = {.axis = 1};

#define SET_BYTE (TN_BIT(I8) | TN_BIT(U8))
#define SET_SCALE (TN_BIT(F32) | TN_BIT(F16) | TN_BIT(BF16))

// ---- infer ----

// Operand i, when there, holds one element.
static tn_status check_single(const tn_infer *infer, int i) { return tn_infer_in(infer, i) ? tn_infer_scalar(infer, i) : TN_OK; }

// Operand i, when there, holds one element or one for each channel.
static tn_status check_channels(const tn_infer *infer, int i, int64_t m)
{
    const tn_fact *fact = tn_infer_in(infer, i);
    const bool single = fact && fact->shape.rank == 1 && fact->shape.dims[0] == 1;
    return !fact || fact->shape.rank == 0 || single ? TN_OK : tn_infer_vector(infer, i, m);
}

// Operand i, when there, holds one element, one for each row of a (column of b), or such a vector for each matrix.
static tn_status check_lines(const tn_infer *infer, int i, int matrix, bool is_b)
{
    const tn_fact *fact = tn_infer_in(infer, i);
    const tn_shape *of = &infer->in[matrix]->shape;
    if (!fact || fact->shape.rank <= 0 || of->rank < 0) {
        return TN_OK;
    }
    const int64_t lines = of->rank < 2 ? 1 : of->dims[is_b ? of->rank - 1 : of->rank - 2];
    if (fact->shape.rank == 1) {
        return check_channels(infer, i, lines);
    }
    tn_shape want = *of;
    if (want.rank >= 2) {
        want.dims[is_b ? want.rank - 2 : want.rank - 1] = 1;
    }
    return tn_infer_fits(infer, i, &want);
}

static tn_status infer_matmul_integer(tn_infer *infer)
{
    tn_shape y;
    for (int i = 0; i < 2; i++) {
        TN_TRY(tn_infer_type(infer, i, SET_BYTE));
        TN_TRY(tn_infer_optional(infer, 2 + i, SET_BYTE));
        TN_TRY(tn_infer_like(infer, 2 + i, i));
        TN_TRY(check_lines(infer, 2 + i, i, i == 1));
    }
    TN_TRY(tn_matmul_infer(infer, 0, 1, false, false, &y));
    tn_infer_out(infer, 0, TN_I32, &y);
    return TN_OK;
}

static tn_status infer_conv_integer(tn_infer *infer)
{
    tn_shape y;
    for (int i = 0; i < 2; i++) {
        TN_TRY(tn_infer_type(infer, i, SET_BYTE));
        TN_TRY(tn_infer_optional(infer, 2 + i, SET_BYTE));
        TN_TRY(tn_infer_like(infer, 2 + i, i));
    }
    TN_TRY(tn_conv_infer(infer, infer->attr, 0, 1, &y));
    TN_TRY(check_single(infer, 2));
    TN_TRY(check_channels(infer, 3, y.rank < 0 ? TN_DIM_UNKNOWN : y.dims[1]));
    tn_infer_out(infer, 0, TN_I32, &y);
    return TN_OK;
}

// The operands x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero and their types; *dtype is that of the result.
static tn_status check_qlinear(const tn_infer *infer, uint32_t set, uint32_t scales, tn_dtype *dtype)
{
    for (int i = 0; i <= 3; i += 3) {
        TN_TRY(tn_infer_type(infer, i, set));
        TN_TRY(tn_infer_type(infer, i + 1, scales));
        TN_TRY(tn_infer_optional(infer, i + 2, set));
        TN_TRY(tn_infer_like(infer, i + 2, i));
        TN_TRY(tn_infer_like(infer, i + 1, 1));
    }
    TN_TRY(tn_infer_type(infer, 6, scales));
    TN_TRY(tn_infer_like(infer, 6, 1));
    TN_TRY(tn_infer_optional(infer, 7, set));
    const tn_fact *zero = tn_infer_in(infer, 7);
    *dtype = zero ? zero->dtype : infer->in[0]->dtype;
    TN_TRY(check_single(infer, 6));
    return check_single(infer, 7);
}

static tn_status infer_qlinear_conv(tn_infer *infer)
{
    tn_dtype dtype;
    tn_shape y;
    TN_TRY(check_qlinear(infer, SET_BYTE, TN_BIT(F32), &dtype));
    TN_TRY(tn_infer_optional(infer, 8, TN_BIT(I32)));
    TN_TRY(tn_conv_infer(infer, infer->attr, 0, 3, &y));
    const int64_t m = y.rank < 0 ? TN_DIM_UNKNOWN : y.dims[1];
    TN_TRY(check_single(infer, 1));
    TN_TRY(check_single(infer, 2));
    TN_TRY(check_channels(infer, 4, m));
    TN_TRY(check_channels(infer, 5, m));
    TN_TRY(tn_infer_vector(infer, 8, m));
    tn_infer_out(infer, 0, dtype, &y);
    return TN_OK;
}

static tn_status infer_qlinear_matmul(tn_infer *infer)
{
    tn_dtype dtype;
    tn_shape y;
    TN_TRY(check_qlinear(infer, SET_BYTE | TN_SET_F8, SET_SCALE, &dtype));
    for (int i = 1; i <= 2; i++) {
        TN_TRY(check_lines(infer, i, 0, false));
        TN_TRY(check_lines(infer, 3 + i, 3, true));
    }
    TN_TRY(tn_matmul_infer(infer, 0, 3, false, false, &y));
    TN_TRY(tn_infer_optional(infer, 8, TN_BIT(I32)));
    TN_TRY(tn_infer_vector(infer, 8, y.rank < 1 ? TN_DIM_UNKNOWN : y.dims[y.rank - 1]));
    tn_infer_out(infer, 0, dtype, &y);
    return TN_OK;
}

// y_scale, y_zero, then (x, scale, zero) for each operand.
static tn_status infer_qlinear_concat(tn_infer *infer)
{
    const tn_qconcat_attr *attr = infer->attr;
    if (infer->n_in % 3 != 2) {
        return tn_infer_fail(infer, "%d operands, expected two and then three for each part", infer->n_in);
    }
    TN_TRY(tn_infer_type(infer, 0, TN_BIT(F32)));
    TN_TRY(tn_infer_scalar(infer, 0));
    TN_TRY(tn_infer_optional(infer, 1, SET_BYTE));
    TN_TRY(check_single(infer, 1));
    tn_shape y = tn_shape_unknown();
    bool known = true;
    int64_t length = 0;
    int axis = 0;
    for (int i = 2; i < infer->n_in; i += 3) {
        TN_TRY(tn_infer_type(infer, i, SET_BYTE));
        TN_TRY(tn_infer_like(infer, i, 1));
        TN_TRY(tn_infer_type(infer, i + 1, TN_BIT(F32)));
        TN_TRY(tn_infer_scalar(infer, i + 1));
        TN_TRY(tn_infer_optional(infer, i + 2, SET_BYTE));
        TN_TRY(check_single(infer, i + 2));
        TN_TRY(tn_infer_like(infer, i + 2, i));
        tn_shape x = infer->in[i]->shape;
        if (x.rank < 0) {
            known = false;
            continue;
        }
        TN_TRY(tn_infer_axis(infer, "axis", attr->axis, x.rank, &axis));
        known &= tn_dim_known(x.dims[axis]);
        if (known && !tn_add_i64(length, x.dims[axis], &length)) {
            return tn_infer_fail(infer, "the result is too large");
        }
        x.dims[axis] = TN_DIM_UNKNOWN;
        if (!tn_shape_join(&y, &x, &y)) {
            return tn_infer_fail(infer, "part %d differs in a dim other than the axis", (i - 2) / 3);
        }
    }
    if (y.rank >= 0) {
        y.dims[axis] = known ? length : TN_DIM_UNKNOWN;
    }
    tn_infer_out(infer, 0, infer->in[2]->dtype, &y);
    return TN_OK;
}

static int64_t macs_conv(const void *attr, const tn_fact *const *in, int n_in, const tn_fact *out, int n_out)
{
    (void)attr, (void)n_out;
    return tn_conv_macs(&in[n_in > 4 ? 3 : 1]->shape, &out->shape);   // conv_integer has at most 4 operands
}

static int64_t macs_matmul(const void *attr, const tn_fact *const *in, int n_in, const tn_fact *out, int n_out)
{
    (void)attr, (void)n_in, (void)n_out;
    int64_t macs;
    const tn_shape *a = &in[0]->shape;
    return tn_shape_count(&out->shape, &macs) && tn_mul_i64(macs, a->dims[a->rank - 1], &macs) ? macs : INT64_MAX;
}

// ---- reference: integers ----

// Sums as int32, modulo 2^32 ("accumulation may overflow if and only if in 32 bits").
static void store_sums(tn_tensor *y, int64_t start, int64_t count, const double *sums)
{
    for (int64_t i = 0; i < count; i++) {
        tn_dtype_store_i64(TN_I32, y->data, (size_t)(start + i), (int64_t)sums[i]);
    }
}

static void store_matmul_integer(const tn_product *p, int64_t batch, int64_t row, int64_t col, int64_t count, double *sums)
{
    store_sums(p->y, (batch * p->m + row) * p->n + col, count, sums);
}

static tn_status run_matmul_integer(const tn_call *call)
{
    tn_product p = {.call = call, .store = store_matmul_integer};
    tn_product_set(&p, call->in[0], false, tn_call_in(call, 2), call->in[1], false, tn_call_in(call, 3), call->out[0]);
    return tn_product_run(&p);
}

static void store_conv_integer(const tn_conv_reference *r, int64_t m, int64_t start, int64_t count, double *sums)
{
    (void)m;
    store_sums(r->y, start, count, sums);
}

// Operands x, w and their zero points at the given places.
static tn_status run_conv_at(const tn_call *call, int x_zero, int w, int w_zero,
                             void (*store)(const tn_conv_reference *, int64_t, int64_t, int64_t, double *))
{
    const tn_conv_attr *attr = call->attr;
    const tn_tensor *zero = tn_call_in(call, x_zero);
    tn_conv_reference r = {.call = call, .x = call->in[0], .w = call->in[w], .y = call->out[0], .group = attr->group,
                           .x_zero = zero ? tn_element(zero, 0) : 0, .w_zero = tn_call_in(call, w_zero), .store = store};
    if (!tn_conv_window(attr, &r.x->shape, &r.w->shape, &r.window)) {
        return tn_fail(call->diag, TN_INTERNAL, call->name, "%s: the window was not checked", call->op->name);
    }
    return tn_conv_reference_run(&r);
}

static tn_status run_conv_integer(const tn_call *call) { return run_conv_at(call, 2, 1, 3, store_conv_integer); }

// ---- reference: requantised ----

// Element `i` of a scale or zero point that may be one for all; 0 when absent.
static double element_or_one(const tn_tensor *tensor, int64_t i)
{
    return tensor ? tn_element(tensor, tn_tensor_count(tensor) == 1 ? 0 : i) : 0;
}

static void store_qlinear_conv(const tn_conv_reference *r, int64_t m, int64_t start, int64_t count, double *sums)
{
    const tn_call *call = r->call;
    const tn_qconv_attr *attr = call->attr;
    const tn_tensor *bias = tn_call_in(call, 8);
    const tn_requant factor = tn_requant_factor(attr->q.rounding, (float)tn_element(call->in[1], 0), (float)element_or_one(call->in[4], m),
                                                (float)tn_element(call->in[6], 0));
    const double b = bias ? tn_element(bias, m) : 0;
    const int32_t zero = (int32_t)element_or_one(tn_call_in(call, 7), 0);
    int32_t low, high;
    tn_qlinear_range(&attr->q, r->y->dtype, &low, &high);
    for (int64_t i = 0; i < count; i++) {
        const int32_t sum = (int32_t)(uint32_t)(int64_t)(sums[i] + b);
        sums[i] = tn_clamp_i32(tn_requant_apply(&factor, sum) + zero, low, high);
    }
    tn_row_store(r->y->dtype, r->y->data, start, 1, count, sums);
}

static tn_status run_qlinear_conv(const tn_call *call) { return run_conv_at(call, 2, 3, 5, store_qlinear_conv); }

// A scale of line `line` of matrix `batch`: one for all, a vector, or a vector for each matrix.
static double line_scale(const tn_product *p, const tn_tensor *scale, int64_t batch, int64_t line)
{
    if (tn_tensor_count(scale) == 1) {
        return tn_element(scale, 0);
    }
    tn_shape stack = tn_shape_of(TN_MAX(scale->shape.rank - 2, 0), scale->shape.dims);
    const int rank = scale->shape.rank;
    const int64_t lines = rank < 2 ? scale->shape.dims[0] : scale->shape.dims[rank - 1] * scale->shape.dims[rank - 2];
    stack.dims[stack.rank++] = lines;
    return tn_element(scale, tn_product_offset(p, &stack, batch) + (lines == 1 ? 0 : line));
}

// The factor is computed in the type of the scales (float16 rounds at each step).
static void store_float_matmul(const tn_product *p, int64_t batch, int64_t row, int64_t col, int64_t count, double *sums)
{
    const tn_call *call = p->call;
    const tn_tensor *bias = tn_call_in(call, 8);
    const tn_dtype type = call->in[1]->dtype;
    const double a_scale = line_scale(p, call->in[1], batch, row), y_scale = tn_element(call->in[6], 0);
    const double zero = element_or_one(tn_call_in(call, 7), 0);
    const bool ints = tn_dtype_is_int(p->y->dtype);
    for (int64_t i = 0; i < count; i++) {
        const double product = tn_dtype_round(type, a_scale * line_scale(p, call->in[4], batch, col + i));
        const double sum = sums[i] + (bias ? tn_element(bias, col + i) : 0);
        const float v = (float)sum * (float)tn_dtype_round(type, product / y_scale);
        sums[i] = (ints ? rint((double)v) : (double)v) + zero;
    }
    tn_row_store(p->y->dtype, p->y->data, (batch * p->m + row) * p->n + col, 1, count, sums);
}

// Bytes with float32 scales.
static void store_qlinear_matmul(const tn_product *p, int64_t batch, int64_t row, int64_t col, int64_t count, double *sums)
{
    const tn_call *call = p->call;
    const tn_qmatmul_attr *attr = call->attr;
    const tn_tensor *bias = tn_call_in(call, 8);
    const float a_scale = (float)line_scale(p, call->in[1], batch, row), y_scale = (float)tn_element(call->in[6], 0);
    const int32_t zero = (int32_t)element_or_one(tn_call_in(call, 7), 0);
    int32_t low, high;
    tn_qlinear_range(&attr->q, p->y->dtype, &low, &high);
    for (int64_t i = 0; i < count; i++) {
        const tn_requant factor = tn_requant_factor(attr->q.rounding, a_scale, (float)line_scale(p, call->in[4], batch, col + i), y_scale);
        const int32_t sum = (int32_t)(uint32_t)(int64_t)(sums[i] + (bias ? tn_element(bias, col + i) : 0));
        sums[i] = tn_clamp_i32(tn_requant_apply(&factor, sum) + zero, low, high);
    }
    tn_row_store(p->y->dtype, p->y->data, (batch * p->m + row) * p->n + col, 1, count, sums);
}

static tn_status run_qlinear_matmul(const tn_call *call)
{
    const tn_tensor *y = call->out[0];
    const bool bytes = (y->dtype == TN_U8 || y->dtype == TN_I8) && call->in[1]->dtype == TN_F32;
    tn_product p = {.call = call, .store = bytes ? store_qlinear_matmul : store_float_matmul};
    tn_product_set(&p, call->in[0], false, tn_call_in(call, 2), call->in[3], false, tn_call_in(call, 5), call->out[0]);
    return tn_product_run(&p);
}

// ---- reference: concat ----

// The 256 results that the values of a part have: y for the byte x. A part with the result's scale and zero point keeps its bytes.
static void concat_table(const tn_call *call, int part, uint8_t table[256])
{
    const tn_dtype dtype = call->out[0]->dtype;
    const float y_scale = (float)tn_element(call->in[0], 0), x_scale = (float)tn_element(call->in[part + 1], 0);
    const double y_zero = element_or_one(call->in[1], 0), x_zero = element_or_one(call->in[part + 2], 0);
    for (int i = 0; i < 256; i++) {
        const uint8_t byte = (uint8_t)i;
        const float real = (float)(tn_dtype_load(dtype, &byte, 0) - x_zero) * x_scale;
        table[i] = byte;
        if (x_scale != y_scale || x_zero != y_zero) {
            tn_dtype_store(dtype, table, (size_t)i, rint((double)(real / y_scale)) + y_zero);
        }
    }
}

static tn_status run_qlinear_concat(const tn_call *call)
{
    const tn_qconcat_attr *attr = call->attr;
    const tn_shape *y = &call->out[0]->shape;
    uint8_t *to = call->out[0]->data;
    int axis;
    if (tn_tensor_count(call->out[0]) == 0 || !tn_axis(attr->axis, y->rank, &axis)) {
        return TN_OK;
    }
    const int64_t outer = tn_shape_span(y, 0, axis), inner = tn_shape_span(y, axis + 1, y->rank), row = y->dims[axis] * inner;
    int64_t done = 0;   // of the row
    for (int part = 2; part < call->n_in; part += 3) {
        const uint8_t *from = call->in[part]->data;
        const int64_t length = call->in[part]->shape.dims[axis] * inner;
        uint8_t table[256];
        concat_table(call, part, table);
        for (int64_t o = 0; o < outer && !tn_cancelled(call); o++) {
            for (int64_t i = 0; i < length; i++) {
                to[o * row + done + i] = table[from[o * length + i]];
            }
        }
        done += length;
    }
    return tn_call_status(call);
}

// ---- export ----

#define QLINEAR(NAME, LOW, HIGH, INFER, ...)                                                                          \
    const tn_op tn_op_##NAME = {                                                                                      \
        .name = #NAME, .version = 1, .min_in = LOW, .max_in = HIGH, .min_out = 1, .max_out = 1, .infer = INFER,       \
        __VA_ARGS__                                                                                                   \
    }
#define CONV_ATTRS                                                                                                    \
    .attrs = conv_attrs, .n_attrs = TN_COUNT(conv_attrs), .attr_size = sizeof(tn_conv_attr), .defaults = &conv_defaults

QLINEAR(matmul_integer, 2, 4, infer_matmul_integer, .macs = macs_matmul);
QLINEAR(conv_integer, 2, 4, infer_conv_integer, CONV_ATTRS, .macs = macs_conv);
QLINEAR(qlinear_conv, 8, 9, infer_qlinear_conv, .flags = TN_OP_HOLES, .attrs = qconv_attrs, .n_attrs = TN_COUNT(qconv_attrs),
        .attr_size = sizeof(tn_qconv_attr), .defaults = &qconv_defaults, .macs = macs_conv);
QLINEAR(qlinear_matmul, 8, 9, infer_qlinear_matmul, .flags = TN_OP_HOLES, .attrs = qmatmul_attrs, .n_attrs = TN_COUNT(qmatmul_attrs),
        .attr_size = sizeof(tn_qmatmul_attr), .defaults = &qmatmul_defaults, .macs = macs_matmul);
QLINEAR(qlinear_concat, 5, -1, infer_qlinear_concat, .flags = TN_OP_HOLES, .attrs = concat_attrs, .n_attrs = TN_COUNT(concat_attrs),
        .attr_size = sizeof(tn_qconcat_attr), .defaults = &concat_defaults);

static const tn_op *const ops[] = {&tn_op_matmul_integer, &tn_op_conv_integer, &tn_op_qlinear_conv,  &tn_op_qlinear_matmul,
                                   &tn_op_qlinear_concat};
TN_EXPORT_OPS(op_qlinear, ops);

static const tn_kernel rows[] = {
    TN_REFERENCE_SCRATCH(matmul_integer, tn_product_prepare, run_matmul_integer),
    TN_REFERENCE_SCRATCH(conv_integer, tn_conv_reference_prepare, run_conv_integer),
    TN_REFERENCE_SCRATCH(qlinear_conv, tn_conv_reference_prepare, run_qlinear_conv),
    TN_REFERENCE_SCRATCH(qlinear_matmul, tn_product_prepare, run_qlinear_matmul),
    TN_REFERENCE(qlinear_concat, NULL, run_qlinear_concat),
};
TN_EXPORT_KERNELS(op_qlinear, rows);
