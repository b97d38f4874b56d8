// SPDX-License-Identifier: Apache-2.0
// Average pooling in integers: y = clamp(requant(sum of (x - x_zero)) + y_zero) with a factor for the number of elements that count,
// which differs at the borders (ONNX AveragePool 22). Sums of up to 2^23 elements are exact.
// Ownership: const data. Threads: any.
#include "ops/quant/op_qpool.h"

#include "base/num.h"
#include "ops/op_facts.h"
#include "ops/op_rows.h"

#include <assert.h>

#define SET_BYTE (TN_BIT(I8) | TN_BIT(U8))
#define MAX_COUNT (1 << 23)

static_assert(offsetof(tn_qpool_attr, pool) == 0, "the window comes first");

static const tn_attr pool_attrs[] = {
    TN_POOL_ATTRS,
    TN_QLINEAR_ATTRS(tn_qpool_attr, q),
};
static const tn_qpool_attr pool_defaults = {.pool = {.p = 2}, .q = TN_QLINEAR_DEFAULTS};

static const tn_attr global_attrs[] = {
    {"rounding", TN_ATTR_ENUM, offsetof(tn_qlinear_attr, rounding), tn_rounding_texts},
    {"low", TN_ATTR_INT, offsetof(tn_qlinear_attr, low), NULL},
    {"high", TN_ATTR_INT, offsetof(tn_qlinear_attr, high), NULL},
};
static const tn_qlinear_attr global_defaults = TN_QLINEAR_DEFAULTS;

// ---- infer ----

static tn_status check_operands(const tn_infer *infer, tn_dtype *dtype)
{
    TN_TRY(tn_infer_type(infer, 0, SET_BYTE));
    for (int i = 1; i < 5; i += 2) {
        TN_TRY(tn_infer_type(infer, i, TN_BIT(F32)));
        TN_TRY(tn_infer_scalar(infer, i));
        TN_TRY(tn_infer_optional(infer, i + 1, SET_BYTE));
        TN_TRY(tn_infer_in(infer, i + 1) ? tn_infer_scalar(infer, i + 1) : TN_OK);
    }
    TN_TRY(tn_infer_like(infer, 2, 0));
    const tn_fact *zero = tn_infer_in(infer, 4);
    *dtype = zero ? zero->dtype : infer->in[0]->dtype;
    return TN_OK;
}

static tn_status infer_pool(tn_infer *infer)
{
    const tn_qpool_attr *attr = infer->attr;
    tn_dtype dtype;
    tn_window w;
    TN_TRY(check_operands(infer, &dtype));
    const tn_shape *x = &infer->in[0]->shape;
    if (!tn_pool_window(&attr->pool, x, &w)) {
        return tn_infer_fail(infer, "the window does not fit x");
    }
    for (int i = 0, count = 1; i < w.rank; i++) {
        if (w.kernel[i] > MAX_COUNT / count) {
            return tn_infer_fail(infer, "a window of more than %d elements", MAX_COUNT);
        }
        count *= (int)w.kernel[i];
    }
    tn_shape y = {.rank = w.rank + 2, .dims = {TN_DIM_UNKNOWN, TN_DIM_UNKNOWN}};
    for (int i = 0; i < y.rank; i++) {
        y.dims[i] = i >= 2 ? w.out[i - 2] : x->rank >= 0 ? x->dims[i] : TN_DIM_UNKNOWN;
    }
    tn_infer_out(infer, 0, dtype, &y);
    return TN_OK;
}

static tn_status infer_global(tn_infer *infer)
{
    tn_dtype dtype;
    int64_t count = 1;
    TN_TRY(check_operands(infer, &dtype));
    TN_TRY(tn_infer_rank(infer, 0, 2, TN_MAX_RANK));
    tn_shape y = infer->in[0]->shape;
    for (int i = 2; i < y.rank; i++) {
        if (tn_dim_known(y.dims[i]) && (!tn_mul_i64(count, y.dims[i], &count) || count > MAX_COUNT)) {
            return tn_infer_fail(infer, "a mean of more than %d elements", MAX_COUNT);
        }
        y.dims[i] = 1;
    }
    tn_infer_out(infer, 0, dtype, &y);
    return TN_OK;
}

static int64_t macs_global(const void *attr, const tn_fact *const *in, int n_in, const tn_fact *out, int n_out)
{
    (void)attr, (void)n_in, (void)out, (void)n_out;
    int64_t macs;
    return tn_shape_count(&in[0]->shape, &macs) ? macs : INT64_MAX;
}

// ---- reference ----

typedef struct mean {
    const tn_call *call;
    const tn_pool_attr *pool;   // NULL: over everything
    tn_window w;
    int rounding;
    float x_scale, y_scale;
    int32_t x_zero, y_zero, low, high;
    bool is_signed;
} mean;

static int32_t finish(const mean *m, int64_t sum, int64_t count)
{
    const tn_requant factor = tn_requant_mean(m->rounding, m->x_scale, m->y_scale, count);
    return tn_clamp_i32(tn_requant_apply(&factor, (int32_t)sum) + m->y_zero, m->low, m->high);
}

static int32_t byte_at(const mean *m, const uint8_t *x, int64_t i) { return m->is_signed ? (int8_t)x[i] : x[i]; }

// The range of taps of a window that lie inside x; *counted: those inside x with its pads.
static void taps(const tn_window *w, int i, int64_t o, int64_t *first, int64_t *last, int64_t *counted)
{
    const int64_t base = o * w->stride[i] - w->pad_begin[i];
    *first = base >= 0 ? 0 : TN_CEIL_DIV(-base, w->dilation[i]);
    *last = base >= w->in[i] ? 0 : TN_MIN(w->kernel[i], (w->in[i] - 1 - base) / w->dilation[i] + 1);
    *counted = TN_MIN(w->kernel[i], (w->in[i] + w->pad_end[i] - 1 - base) / w->dilation[i] + 1);
}

static int32_t window_mean(const mean *m, const uint8_t *plane, int64_t od, int64_t oh, int64_t ow)
{
    const tn_window *w = &m->w;
    const int64_t o[3] = {od, oh, ow};
    int64_t first[3], last[3], counted[3], sum = 0, inside = 1, padded = 1;
    for (int i = 0; i < 3; i++) {
        taps(w, i, o[i], &first[i], &last[i], &counted[i]);
        inside *= TN_MAX(last[i] - first[i], 0);
        padded *= TN_MAX(counted[i], 0);
    }
    const int64_t count = m->pool->count_include_pad ? padded : inside;
    for (int64_t d = first[0]; d < last[0]; d++) {
        for (int64_t h = first[1]; h < last[1]; h++) {
            const int64_t row = ((od * w->stride[0] - w->pad_begin[0] + d * w->dilation[0]) * w->in[1] + oh * w->stride[1] -
                                 w->pad_begin[1] + h * w->dilation[1]) * w->in[2] + ow * w->stride[2] - w->pad_begin[2];
            for (int64_t k = first[2]; k < last[2]; k++) {
                sum += byte_at(m, plane, row + k * w->dilation[2]) - m->x_zero;
            }
        }
    }
    return count > 0 ? finish(m, sum, count) : tn_clamp_i32(m->y_zero, m->low, m->high);
}

static void pool_plane(const mean *m, const uint8_t *x, uint8_t *y)
{
    const tn_window *w = &m->w;
    for (int64_t d = 0; d < w->out[0]; d++) {
        for (int64_t h = 0; h < w->out[1]; h++) {
            for (int64_t k = 0; k < w->out[2]; k++) {
                *y++ = (uint8_t)window_mean(m, x, d, h, k);
            }
        }
    }
}

static void mean_task(void *context, size_t first, size_t count, unsigned slot)
{
    const mean *m = context;
    const tn_tensor *x = m->call->in[0], *y = m->call->out[0];
    const int64_t in = tn_shape_span(&x->shape, 2, x->shape.rank), out = tn_shape_span(&y->shape, 2, y->shape.rank);
    (void)slot;
    for (size_t plane = first; plane < first + count && !tn_cancelled(m->call); plane++) {
        const uint8_t *from = (const uint8_t *)x->data + (int64_t)plane * in;
        uint8_t *to = (uint8_t *)y->data + (int64_t)plane * out;
        if (m->pool) {
            pool_plane(m, from, to);
            continue;
        }
        int64_t sum = 0;
        for (int64_t i = 0; i < in; i++) {
            sum += byte_at(m, from, i) - m->x_zero;
        }
        *to = (uint8_t)(in ? finish(m, sum, in) : tn_clamp_i32(m->y_zero, m->low, m->high));
    }
}

static tn_status run_mean(const tn_call *call, const tn_qlinear_attr *q, mean *m)
{
    const tn_tensor *x_zero = tn_call_in(call, 2), *y_zero = tn_call_in(call, 4);
    m->call = call;
    m->rounding = q->rounding;
    m->x_scale = (float)tn_element(call->in[1], 0);
    m->y_scale = (float)tn_element(call->in[3], 0);
    m->x_zero = x_zero ? (int32_t)tn_element(x_zero, 0) : 0;
    m->y_zero = y_zero ? (int32_t)tn_element(y_zero, 0) : 0;
    m->is_signed = call->in[0]->dtype == TN_I8;
    tn_qlinear_range(q, call->out[0]->dtype, &m->low, &m->high);
    if (tn_tensor_count(call->out[0]) == 0) {
        return TN_OK;
    }
    tn_workers_run(call->workers, mean_task, m, (size_t)(call->out[0]->shape.dims[0] * call->out[0]->shape.dims[1]), 8);
    return tn_call_status(call);
}

static tn_status run_qlinear_average_pool(const tn_call *call)
{
    const tn_qpool_attr *attr = call->attr;
    mean m = {.pool = &attr->pool};
    if (!tn_pool_window(&attr->pool, &call->in[0]->shape, &m.w)) {
        return tn_fail(call->diag, TN_INTERNAL, call->name, "qlinear_average_pool: the window was not checked");
    }
    tn_window_widen(&m.w);
    return run_mean(call, &attr->q, &m);
}

static tn_status run_qlinear_global_average_pool(const tn_call *call)
{
    mean m = {.pool = NULL};
    return run_mean(call, call->attr, &m);
}

// ---- export ----

const tn_op tn_op_qlinear_average_pool = {
    .name = "qlinear_average_pool", .version = 1, .flags = TN_OP_HOLES, .min_in = 4, .max_in = 5, .min_out = 1, .max_out = 1, .attrs = pool_attrs,
    .n_attrs = TN_COUNT(pool_attrs), .attr_size = sizeof(tn_qpool_attr), .defaults = &pool_defaults, .infer = infer_pool,
    .macs = tn_pool_macs,
};
const tn_op tn_op_qlinear_global_average_pool = {
    .name = "qlinear_global_average_pool", .version = 1, .flags = TN_OP_HOLES, .min_in = 4, .max_in = 5, .min_out = 1, .max_out = 1, .attrs = global_attrs,
    .n_attrs = TN_COUNT(global_attrs), .attr_size = sizeof(tn_qlinear_attr), .defaults = &global_defaults, .infer = infer_global,
    .macs = macs_global,
};

static const tn_op *const ops[] = {&tn_op_qlinear_average_pool, &tn_op_qlinear_global_average_pool};
TN_EXPORT_OPS(op_qpool, ops);

static const tn_kernel rows[] = {
    TN_REFERENCE(qlinear_average_pool, NULL, run_qlinear_average_pool),
    TN_REFERENCE(qlinear_global_average_pool, NULL, run_qlinear_global_average_pool),
};
TN_EXPORT_KERNELS(op_qpool, rows);
