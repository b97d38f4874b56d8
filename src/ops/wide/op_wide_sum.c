// SPDX-License-Identifier: Apache-2.0
// wide_conv and wide_matmul: products of 16 bits, summed exactly (in double precision, which holds 2^53; operands bound the sums far
// below), brought to 32 bits by a shift that the weights decide, and requantised by base/requant.h.
// Ownership: const data. Threads: any.
#include "base/num.h"
#include "ops/nn/nn_reference.h"
#include "ops/op_facts.h"
#include "ops/op_rows.h"
#include "ops/wide/op_wide.h"

#include <assert.h>

enum { X, X_SCALE, W, W_SCALE, Y_SCALE, BIAS };

static_assert(offsetof(tn_wide_conv_attr, conv) == 0, "the window comes first");
static const tn_attr conv_attrs[] = {
    {"kernel", TN_ATTR_INTS, offsetof(tn_conv_attr, kernel), NULL},
    {"strides", TN_ATTR_INTS, offsetof(tn_conv_attr, strides), NULL},
    {"pads", TN_ATTR_INTS, offsetof(tn_conv_attr, pads), NULL},
    {"dilations", TN_ATTR_INTS, offsetof(tn_conv_attr, dilations), NULL},
    {"group", TN_ATTR_INT, offsetof(tn_conv_attr, group), NULL},
    {"auto_pad", TN_ATTR_ENUM, offsetof(tn_conv_attr, auto_pad), tn_auto_pad_texts},
    TN_QLINEAR_ATTRS(tn_wide_conv_attr, q),
};
static const tn_wide_conv_attr conv_defaults = {.conv = {.group = 1, .act = {.code = TN_LOOP_CONST}}, .q = TN_QLINEAR_DEFAULTS};

static const tn_attr matmul_attrs[] = {
    {"rounding", TN_ATTR_ENUM, offsetof(tn_qlinear_attr, rounding), tn_rounding_texts},
    {"low", TN_ATTR_INT, offsetof(tn_qlinear_attr, low), NULL},
    {"high", TN_ATTR_INT, offsetof(tn_qlinear_attr, high), NULL},
};
static const tn_qlinear_attr matmul_defaults = TN_QLINEAR_DEFAULTS;

// ---- infer ----

// That they are there comes before what shapes they have.
static tn_status check_factors(const tn_infer *infer)
{
    TN_TRY(tn_infer_type(infer, X, TN_BIT(I16)));
    return tn_infer_type(infer, W, TN_BIT(I8) | TN_BIT(I16));
}

static tn_status check_operands(const tn_infer *infer, int64_t channels)
{
    for (int i = X_SCALE; i <= Y_SCALE; i += i == X_SCALE ? 2 : 1) {
        TN_TRY(tn_infer_type(infer, i, TN_BIT(F32)));
    }
    TN_TRY(tn_infer_scalar(infer, X_SCALE));
    TN_TRY(tn_infer_scalar(infer, Y_SCALE));
    const tn_shape *scale = &infer->in[W_SCALE]->shape;
    if (scale->rank > 1 || (scale->rank == 1 && scale->dims[0] != 1)) {
        TN_TRY(tn_infer_vector(infer, W_SCALE, channels));
    }
    TN_TRY(tn_infer_optional(infer, BIAS, TN_BIT(I64)));
    return tn_infer_vector(infer, BIAS, channels);
}

static tn_status infer_conv(tn_infer *infer)
{
    tn_shape y;
    TN_TRY(check_factors(infer));
    TN_TRY(tn_conv_infer(infer, infer->attr, X, W, &y));
    TN_TRY(check_operands(infer, y.rank < 0 ? TN_DIM_UNKNOWN : y.dims[1]));
    tn_infer_out(infer, 0, TN_I16, &y);
    return TN_OK;
}

static tn_status infer_matmul(tn_infer *infer)
{
    tn_shape y;
    TN_TRY(check_factors(infer));
    TN_TRY(tn_matmul_infer(infer, X, W, false, false, &y));
    TN_TRY(tn_infer_rank(infer, W, 2, 2));
    TN_TRY(check_operands(infer, y.rank < 1 ? TN_DIM_UNKNOWN : y.dims[y.rank - 1]));
    tn_infer_out(infer, 0, TN_I16, &y);
    return TN_OK;
}

static int64_t macs_conv(const void *attr, const tn_fact *const *in, int n_in, const tn_fact *out, int n_out)
{
    (void)attr, (void)n_out, (void)n_in;
    return tn_conv_macs(&in[W]->shape, &out->shape);
}

static int64_t macs_matmul(const void *attr, const tn_fact *const *in, int n_in, const tn_fact *out, int n_out)
{
    (void)attr, (void)n_in, (void)n_out;
    int64_t macs;
    const tn_shape *a = &in[X]->shape;
    return a->rank >= 1 && tn_shape_count(&out->shape, &macs) && tn_mul_i64(macs, a->dims[a->rank - 1], &macs) ? macs : INT64_MAX;
}

// ---- bounds ----

int tn_wide_sum_down(const tn_tensor *w, int64_t lines, int64_t count, int64_t line_step, int64_t step, const tn_tensor *bias)
{
    uint64_t most = 0;
    for (int64_t m = 0; m < lines; m++) {
        uint64_t sum = 0;
        for (int64_t k = 0; k < count; k++) {
            const int64_t v = tn_dtype_load_i64(w->dtype, w->data, (size_t)(m * line_step + k * step));
            sum += (uint64_t)(v < 0 ? -v : v);
        }
        const int64_t b = bias ? tn_dtype_load_i64(TN_I64, bias->data, (size_t)m) : 0;
        const uint64_t size = b < 0 ? 0 - (uint64_t)b : (uint64_t)b;
        // No sum reaches 2^62: larger biases saturate, as the sums with them would.
        sum = TN_MIN(sum, UINT64_C(1) << 46) * 32768 + TN_MIN(size, UINT64_C(1) << 61);
        most = TN_MAX(most, sum);
    }
    return tn_wide_down(most);
}

int tn_wide_conv_down(const tn_tensor *w, const tn_tensor *bias)
{
    const int64_t lines = w->shape.dims[0], count = lines ? tn_tensor_count(w) / lines : 0;
    return tn_wide_sum_down(w, lines, count, count, 1, bias);
}

int tn_wide_matmul_down(const tn_tensor *w, const tn_tensor *bias)
{
    return tn_wide_sum_down(w, w->shape.dims[1], w->shape.dims[0], 1, w->shape.dims[1], bias);
}

// ---- reference ----

typedef struct finish {
    const tn_qlinear_attr *q;
    int down;
} finish;

static void finish_sums(const tn_call *call, const finish *f, int64_t channel, int64_t step, int64_t count, double *sums)
{
    const tn_tensor *bias = tn_call_in(call, BIAS), *scale = call->in[W_SCALE];
    const bool one = tn_tensor_count(scale) == 1;
    int32_t low, high;
    tn_qlinear_range(f->q, TN_I16, &low, &high);
    for (int64_t i = 0; i < count; i++) {
        const int64_t m = channel + i * step;
        const tn_requant factor = tn_wide_factor(f->q->rounding, (float)tn_element(call->in[X_SCALE], 0),
                                                 (float)tn_element(scale, one ? 0 : m), (float)tn_element(call->in[Y_SCALE], 0), f->down);
        int64_t whole = bias ? tn_dtype_load_i64(TN_I64, bias->data, (size_t)m) : 0;
        whole = TN_MIN(TN_MAX(whole, -(INT64_C(1) << 61)), INT64_C(1) << 61) + (int64_t)sums[i];
        sums[i] = tn_requant_wide(&factor, whole, f->down, low, high);
    }
}

static void store_conv(const tn_conv_reference *r, int64_t m, int64_t start, int64_t count, double *sums)
{
    finish_sums(r->call, r->context, m, 0, count, sums);
    tn_row_store(TN_I16, r->y->data, start, 1, count, sums);
}

static tn_status run_wide_conv(const tn_call *call)
{
    const tn_wide_conv_attr *attr = call->attr;
    const finish f = {&attr->q, tn_wide_conv_down(call->in[W], tn_call_in(call, BIAS))};
    tn_conv_reference r = {.call = call, .x = call->in[X], .w = call->in[W], .y = call->out[0], .group = attr->conv.group,
                           .store = store_conv, .context = &f};
    if (!tn_conv_window(&attr->conv, &r.x->shape, &r.w->shape, &r.window)) {
        return tn_fail(call->diag, TN_INTERNAL, call->name, "%s: the window was not checked", call->op->name);
    }
    return tn_conv_reference_run(&r);
}

static void store_matmul(const tn_product *p, int64_t batch, int64_t row, int64_t col, int64_t count, double *sums)
{
    finish_sums(p->call, p->context, col, 1, count, sums);
    tn_row_store(TN_I16, p->y->data, (batch * p->m + row) * p->n + col, 1, count, sums);
}

static tn_status run_wide_matmul(const tn_call *call)
{
    const finish f = {call->attr, tn_wide_matmul_down(call->in[W], tn_call_in(call, BIAS))};
    tn_product p = {.call = call, .store = store_matmul, .context = &f};
    tn_product_set(&p, call->in[X], false, NULL, call->in[W], false, NULL, call->out[0]);
    return tn_product_run(&p);
}

// ---- export ----

const tn_op tn_op_wide_conv = {
    .name = "wide_conv", .version = 1, .min_in = 5, .max_in = 6, .min_out = 1, .max_out = 1, .attrs = conv_attrs,
    .n_attrs = TN_COUNT(conv_attrs), .attr_size = sizeof(tn_wide_conv_attr), .defaults = &conv_defaults, .infer = infer_conv,
    .macs = macs_conv,
};
const tn_op tn_op_wide_matmul = {
    .name = "wide_matmul", .version = 1, .min_in = 5, .max_in = 6, .min_out = 1, .max_out = 1, .attrs = matmul_attrs,
    .n_attrs = TN_COUNT(matmul_attrs), .attr_size = sizeof(tn_qlinear_attr), .defaults = &matmul_defaults, .infer = infer_matmul,
    .macs = macs_matmul,
};

static const tn_op *const ops[] = {&tn_op_wide_conv, &tn_op_wide_matmul};
TN_EXPORT_OPS(op_wide_sum, ops);

static const tn_kernel rows[] = {
    TN_REFERENCE_SCRATCH(wide_conv, tn_conv_reference_prepare, run_wide_conv),
    TN_REFERENCE_SCRATCH(wide_matmul, tn_product_prepare, run_wide_matmul),
};
TN_EXPORT_KERNELS(op_wide_sum, rows);
