// SPDX-License-Identifier: Apache-2.0
// Pooling (ONNX MaxPool, AveragePool, LpPool, MaxUnpool 22, Global* 22). The reference makes one output row at a time: each input
// row that the window touches is converted once and folded into a row of accumulators.
// Ownership: const data. Threads: any.
#include "ops/nn/op_pool.h"

#include "base/num.h"
#include "ops/op_facts.h"
#include "ops/op_rows.h"

#include <math.h>

// ---- attributes ----

static const tn_attr pool_attrs[] = {
    TN_POOL_ATTRS,
    {"storage_order", TN_ATTR_INT, offsetof(tn_pool_attr, storage_order), NULL},
    {"p", TN_ATTR_INT, offsetof(tn_pool_attr, p), NULL},
};
static const tn_pool_attr pool_defaults = {.p = 2};

static const tn_attr global_attrs[] = {{"p", TN_ATTR_INT, offsetof(tn_global_pool_attr, p), NULL}};
static const tn_global_pool_attr global_defaults = {.p = 2};

// ---- infer ----

// Rank, kernel and input sizes; returns a broken rule.
static const char *pool_sizes(const tn_pool_attr *attr, const tn_shape *x, tn_window *window)
{
    memset(window, 0, sizeof *window);
    if (!attr->kernel.set || attr->kernel.count < 1 || attr->kernel.count > 3) {
        return "kernel must be given for 1 to 3 spatial dims";
    }
    window->rank = attr->kernel.count;
    if (x->rank >= 0 && x->rank != window->rank + 2) {
        return "x must have two dims more than the kernel";
    }
    for (int i = 0; i < window->rank; i++) {
        window->in[i] = x->rank >= 0 ? x->dims[2 + i] : TN_DIM_UNKNOWN;
        window->kernel[i] = attr->kernel.v[i];
        // The common rule takes an unknown kernel for one that is known later; here there is no later.
        if (!tn_dim_known(window->kernel[i])) {
            return "the kernel must have at least one element in each spatial dim";
        }
    }
    return NULL;
}

// A window over x [N, C, in...]: everything checked and filled in, or the broken rule.
static const char *pool_slide(const tn_pool_attr *attr, const tn_shape *x, tn_window *window)
{
    const tn_sliding sliding = {attr->strides, attr->pads, attr->dilations, attr->auto_pad, attr->ceil_mode};
    const char *wrong = pool_sizes(attr, x, window);
    return wrong ? wrong : tn_window_slide(&sliding, window);
}

bool tn_pool_window(const tn_pool_attr *attr, const tn_shape *x, tn_window *window) { return !pool_slide(attr, x, window); }

// x [N, C, in...] -> y [N, C, out...], and for max_pool the places of the maxima, int64 of the same shape.
static tn_status infer_pool(tn_infer *infer, uint32_t set)
{
    const tn_pool_attr *attr = infer->attr;
    tn_dtype dtype;
    tn_window window;
    TN_TRY(tn_infer_types(infer, 0, 0, set, &dtype));
    const tn_shape *x = &infer->in[0]->shape;
    const char *wrong = pool_slide(attr, x, &window);
    if (!wrong && infer->op == &tn_op_lp_pool && attr->p < 1) {
        wrong = "p must be at least 1";
    }
    if (wrong) {
        return tn_infer_fail(infer, "%s", wrong);
    }
    tn_shape y = {.rank = window.rank + 2, .dims = {TN_DIM_UNKNOWN, TN_DIM_UNKNOWN}};
    for (int i = 0; i < y.rank; i++) {
        y.dims[i] = i >= 2 ? window.out[i - 2] : x->rank >= 0 ? x->dims[i] : TN_DIM_UNKNOWN;
    }
    tn_infer_out(infer, 0, dtype, &y);
    tn_infer_out(infer, 1, TN_I64, &y);
    return TN_OK;
}

static tn_status infer_float_pool(tn_infer *infer) { return infer_pool(infer, TN_SET_FLOAT); }
static tn_status infer_max_pool(tn_infer *infer) { return infer_pool(infer, TN_SET_FLOAT | TN_BIT(I8) | TN_BIT(U8) | TN_BIT(I16)); }

// x [N, C, ...] -> [N, C, 1, ...].
static tn_status infer_global(tn_infer *infer)
{
    const tn_global_pool_attr *attr = infer->attr;
    tn_dtype dtype;
    TN_TRY(tn_infer_types(infer, 0, 0, TN_SET_FLOAT, &dtype));
    TN_TRY(tn_infer_rank(infer, 0, 2, TN_MAX_RANK));
    if (attr && attr->p < 1) {
        return tn_infer_fail(infer, "p is %lld, expected at least 1", (long long)attr->p);
    }
    tn_shape y = infer->in[0]->shape;
    for (int i = 2; i < y.rank; i++) {
        y.dims[i] = 1;
    }
    tn_infer_out(infer, 0, dtype, &y);
    return TN_OK;
}

// Size of an unpooled dim: what a pool with these attributes would have made `in` of.
static const char *unpool_axis(const tn_pool_attr *attr, const tn_window *w, int i, int64_t *out)
{
    int64_t grown;
    const int64_t pads = w->pad_begin[i] + w->pad_end[i];
    *out = TN_DIM_UNKNOWN;
    if (!tn_dim_known(w->in[i])) {
        return NULL;
    }
    if (!tn_mul_i64(w->in[i] - 1, w->stride[i], &grown) || !tn_add_i64(grown, attr->kernel.v[i] - pads, out)) {
        return "a spatial dim is too large";
    }
    return *out < 0 ? "the pads take away more than there is" : NULL;
}

const char *tn_unpool_shape(const tn_pool_attr *attr, const tn_shape *x, tn_shape *y)
{
    tn_window window, slid;
    const char *wrong = pool_sizes(attr, x, &window);
    if (wrong) {
        return wrong;
    }
    // Pads and strides are read by the common rule; its output sizes mean nothing here.
    const tn_sliding sliding = {attr->strides, attr->pads, {0}, TN_PAD_NOTSET, false};
    slid = window;
    for (int i = 0; i < slid.rank; i++) {
        slid.in[i] = TN_DIM_UNKNOWN;
    }
    wrong = tn_window_slide(&sliding, &slid);
    *y = *x;
    y->rank = window.rank + 2;
    for (int i = 0; i < window.rank && !wrong; i++) {
        slid.in[i] = window.in[i];
        wrong = unpool_axis(attr, &slid, i, &y->dims[2 + i]);
    }
    if (x->rank < 0) {
        y->dims[0] = y->dims[1] = TN_DIM_UNKNOWN;
    }
    return wrong;
}

// x and indices [N, C, in...] -> [N, C, out...]; output_shape, when given, says the sizes (all dims).
static tn_status infer_unpool(tn_infer *infer)
{
    tn_dtype dtype;
    tn_shape y;
    TN_TRY(tn_infer_types(infer, 0, 0, TN_SET_FLOAT, &dtype));
    TN_TRY(tn_infer_type(infer, 1, TN_BIT(I64)));
    TN_TRY(tn_infer_shape(infer, 1, &infer->in[0]->shape));
    const char *wrong = tn_unpool_shape(infer->attr, &infer->in[0]->shape, &y);
    if (wrong) {
        return tn_infer_fail(infer, "%s", wrong);
    }
    if (tn_infer_in(infer, 2)) {
        int64_t dims[TN_MAX_RANK];
        int count;
        TN_TRY(tn_infer_type(infer, 2, TN_BIT(I64)));
        TN_TRY(tn_infer_ints(infer, 2, TN_MAX_RANK, dims, &count));
        tn_shape given = {.rank = y.rank};
        for (int i = 0; i < y.rank; i++) {
            given.dims[i] = count == y.rank ? dims[i] : TN_DIM_UNKNOWN;
            if (count >= 0 && (count != y.rank || dims[i] < 0 || (tn_dim_known(y.dims[i]) && dims[i] < y.dims[i]))) {
                return tn_infer_fail(infer, "output_shape must be one size for each dim, not smaller than the unpooled ones");
            }
        }
        y = given;
    }
    tn_infer_out(infer, 0, dtype, &y);
    return TN_OK;
}

// One step for each tap of each result, padding included.
int64_t tn_pool_macs(const void *attr, const tn_fact *const *in, int n_in, const tn_fact *out, int n_out)
{
    const tn_pool_attr *pool = attr;
    (void)in, (void)n_in, (void)n_out;
    int64_t macs;
    bool fits = tn_shape_count(&out->shape, &macs);
    for (int i = 0; fits && i < pool->kernel.count; i++) {
        fits = tn_mul_i64(macs, pool->kernel.v[i], &macs);
    }
    return fits ? macs : INT64_MAX;
}

static int64_t macs_global(const void *attr, const tn_fact *const *in, int n_in, const tn_fact *out, int n_out)
{
    (void)attr, (void)n_in, (void)out, (void)n_out;
    int64_t macs;
    return tn_shape_count(&in[0]->shape, &macs) ? macs : INT64_MAX;
}

// ---- reference ----

enum { MAX, AVERAGE, LP };

typedef struct pool_job {
    const tn_call *call;
    const tn_pool_attr *attr;
    tn_window window;    // 3 dims
    int kind;
} pool_job;

// Scratch of a slot: an input row, then accumulators of an output row, then (as int64) where each maximum was.
static tn_status prepare_pool(tn_prepare *prepare)
{
    const tn_tensor *x = prepare->query->in[0], *y = prepare->query->out[0];
    const int last = x->shape.rank - 1;
    return tn_prepare_rows(prepare, tn_tensor_span(x, last, last + 1) + 2 * tn_tensor_span(y, last, last + 1));
}

// Taps of axis i that lie at positions limit_low .. limit_high-1 for output o: *low .. *high-1. Returns the position of tap 0.
static int64_t taps(const tn_window *w, int i, int64_t o, int64_t limit_low, int64_t limit_high, int64_t *low, int64_t *high)
{
    const int64_t start = o * w->stride[i] - w->pad_begin[i], step = w->dilation[i];
    *low = start >= limit_low ? 0 : TN_CEIL_DIV(limit_low - start, step);
    *high = start >= limit_high ? 0 : TN_MIN(w->kernel[i], (limit_high - 1 - start) / step + 1);
    return start;
}

// Folds one input row (elements from `element` on in x) into the accumulators. `index` is what the row's first element is called
// in the second result, `index_step` the difference between neighbours.
static void fold_row(const pool_job *job, const double *row, int64_t index, int64_t index_step, double *sums, int64_t *where)
{
    const tn_window *w = &job->window;
    for (int64_t o = 0; o < w->out[2]; o++) {
        int64_t low, high;
        const int64_t start = taps(w, 2, o, 0, w->in[2], &low, &high);
        for (int64_t k = low; k < high; k++) {
            const int64_t at = start + k * w->dilation[2];
            const double v = row[at];
            if (job->kind == AVERAGE) {
                sums[o] += v;
            } else if (job->kind == LP) {
                sums[o] += job->attr->p == 1 ? fabs(v) : job->attr->p == 2 ? v * v : pow(fabs(v), (double)job->attr->p);
            } else if (v > sums[o] || isnan(v) || where[o] < 0) {
                sums[o] = v;
                where[o] = index + at * index_step;
            }
        }
    }
}

// How many positions the window of output (od, oh, ow) counts: its taps inside x, or inside the padded x.
static double window_count(const pool_job *job, const int64_t o[3])
{
    const tn_window *w = &job->window;
    double count = 1;
    for (int i = 0; i < 3; i++) {
        const bool padded = job->attr->count_include_pad;
        int64_t low, high;
        taps(w, i, o[i], padded ? -w->pad_begin[i] : 0, padded ? w->in[i] + w->pad_end[i] : w->in[i], &low, &high);
        count *= (double)TN_MAX(high - low, 0);
    }
    return count;
}

// Turns accumulators into results and stores the row.
static void finish_row(const pool_job *job, int64_t od, int64_t oh, int64_t start, double *sums, const int64_t *where)
{
    const tn_window *w = &job->window;
    tn_tensor *y = job->call->out[0], *indices = tn_call_out(job->call, 1);
    for (int64_t ow = 0; ow < w->out[2] && job->kind != MAX; ow++) {
        const int64_t o[3] = {od, oh, ow};
        if (job->kind == LP) {
            sums[ow] = job->attr->p == 1 ? sums[ow] : job->attr->p == 2 ? sqrt(sums[ow])
                : pow(sums[ow], 1.0 / (double)job->attr->p);
        } else {
            const double count = window_count(job, o);
            sums[ow] = count > 0 ? sums[ow] / count : 0;
        }
    }
    tn_row_store(y->dtype, y->data, start, 1, w->out[2], sums);
    if (indices) {
        tn_row_store_i64(indices->dtype, indices->data, start, 1, w->out[2], where);
    }
}

// One item is one output row: index ((n * C + c) * OD + od) * OH + oh.
static void pool_task(void *context, size_t first, size_t count, unsigned slot)
{
    const pool_job *job = context;
    const tn_window *w = &job->window;
    const tn_tensor *x = job->call->in[0];
    // an operand without elements has no rows to load, and no room for one
    double *row = tn_slot_scratch(job->call, slot), *sums = row + tn_tensor_span(x, x->shape.rank - 1, x->shape.rank);
    int64_t *where = (int64_t *)(sums + w->out[2]);
    const bool columns = job->attr->storage_order == 1;   // indices count down columns of the last two dims
    for (size_t item = first; item < first + count && !tn_cancelled(job->call); item++) {
        const int64_t oh = (int64_t)item % w->out[1], od = (int64_t)item / w->out[1] % w->out[0];
        const int64_t plane = (int64_t)item / w->out[1] / w->out[0];
        for (int64_t o = 0; o < w->out[2]; o++) {
            sums[o] = job->kind == MAX ? -INFINITY : 0;
            where[o] = -1;
        }
        int64_t low_d, high_d, low_h, high_h;
        const int64_t d0 = taps(w, 0, od, 0, w->in[0], &low_d, &high_d), h0 = taps(w, 1, oh, 0, w->in[1], &low_h, &high_h);
        for (int64_t kd = low_d; kd < high_d; kd++) {
            const int64_t slice = plane * w->in[0] + d0 + kd * w->dilation[0];
            for (int64_t kh = low_h; kh < high_h; kh++) {
                const int64_t ih = h0 + kh * w->dilation[1], element = (slice * w->in[1] + ih) * w->in[2];
                tn_row_load(x->dtype, x->data, element, 1, w->in[2], row);
                fold_row(job, row, columns ? slice * w->in[1] * w->in[2] + ih : element, columns ? w->in[1] : 1, sums, where);
            }
        }
        finish_row(job, od, oh, (int64_t)item * w->out[2], sums, where);
    }
}

// Shared by the three kinds: only what a tap adds and how a sum ends differ.
static tn_status run_pool(const tn_call *call, int kind)
{
    pool_job job = {.call = call, .attr = call->attr, .kind = kind};
    if (!tn_pool_window(job.attr, &call->in[0]->shape, &job.window)) {
        return tn_fail(call->diag, TN_INTERNAL, call->name, "%s: the window was not checked", call->op->name);
    }
    if (tn_tensor_count(call->out[0]) == 0) {
        return TN_OK;
    }
    tn_window_widen(&job.window);
    const tn_shape *y = &call->out[0]->shape;
    return tn_call_split(call, pool_task, &job, (size_t)tn_shape_span(y, 0, y->rank - 1), 8);
}

static tn_status run_max_pool(const tn_call *call) { return run_pool(call, MAX); }
static tn_status run_average_pool(const tn_call *call) { return run_pool(call, AVERAGE); }
static tn_status run_lp_pool(const tn_call *call) { return run_pool(call, LP); }

typedef struct global_job {
    const tn_call *call;
    int64_t size;      // elements of a plane
    double p;          // LP
    int kind;
} global_job;

enum { RUN = 512 };    // elements that are converted at a time

// One item is one plane: all spatial elements of one channel of one image.
static void global_task(void *context, size_t first, size_t count, unsigned slot)
{
    const global_job *job = context;
    const tn_tensor *x = job->call->in[0], *y = job->call->out[0];
    double run[RUN];
    (void)slot;
    for (size_t plane = first; plane < first + count && !tn_cancelled(job->call); plane++) {
        double sum = job->kind == MAX ? -INFINITY : 0;
        for (int64_t at = 0; at < job->size; at += RUN) {
            const int64_t n = TN_MIN(job->size - at, RUN);
            tn_row_load(x->dtype, x->data, (int64_t)plane * job->size + at, 1, n, run);
            for (int64_t i = 0; i < n; i++) {
                if (job->kind == MAX) {
                    sum = run[i] > sum || isnan(run[i]) ? run[i] : sum;
                } else {
                    sum += job->kind == AVERAGE ? run[i] : pow(fabs(run[i]), job->p);
                }
            }
        }
        sum = job->kind == AVERAGE ? sum / (double)job->size : job->kind == LP ? pow(sum, 1 / job->p) : sum;
        tn_dtype_store(y->dtype, y->data, plane, sum);
    }
}

static tn_status run_global(const tn_call *call, int kind)
{
    const tn_global_pool_attr *attr = call->attr;
    const int64_t planes = tn_tensor_count(call->out[0]);
    global_job job = {.call = call, .p = attr ? (double)attr->p : 0, .kind = kind};
    job.size = planes ? tn_tensor_count(call->in[0]) / planes : 0;
    return tn_call_split(call, global_task, &job, (size_t)planes, 4);
}

static tn_status run_global_max(const tn_call *call) { return run_global(call, MAX); }
static tn_status run_global_average(const tn_call *call) { return run_global(call, AVERAGE); }
static tn_status run_global_lp(const tn_call *call) { return run_global(call, LP); }

// The result is zero but for the maxima. Indices count in the unpooled shape; a larger output_shape only adds zeros at the ends
// (ONNX reference implementation).
static tn_status run_unpool(const tn_call *call)
{
    const tn_tensor *x = call->in[0], *indices = call->in[1];
    tn_tensor *y = call->out[0];
    tn_shape shape;
    size_t bytes = 0;
    int64_t room;
    if (tn_unpool_shape(call->attr, &x->shape, &shape) || !tn_tensor_bytes(y, &bytes) || !tn_shape_count(&shape, &room)) {
        return tn_fail(call->diag, TN_INTERNAL, call->name, "max_unpool: the window was not checked");
    }
    if (bytes) {
        memset(y->data, 0, bytes);
    }
    for (int d = 0; d < shape.rank; d++) {
        if (y->shape.dims[d] < shape.dims[d]) {
            return tn_fail(call->diag, TN_INVALID_ARGUMENT, call->name,
                           "max_unpool: output_shape is smaller than the unpooled shape");
        }
    }
    const int64_t count = tn_tensor_count(x);
    for (int64_t i = 0; i < count; i++) {
        int64_t index = tn_dtype_load_i64(indices->dtype, indices->data, (size_t)i), at = 0, step = 1;
        if (index < 0 || index >= room) {
            return tn_fail(call->diag, TN_INVALID_ARGUMENT, call->name, "max_unpool: index %lld is not in 0 .. %lld",
                           (long long)index, (long long)room - 1);
        }
        for (int d = shape.rank - 1; d >= 0; d--) {
            at += index % shape.dims[d] * step;
            index /= shape.dims[d];
            step *= y->shape.dims[d];
        }
        tn_dtype_store(y->dtype, y->data, (size_t)at, tn_element(x, i));
    }
    return TN_OK;
}

// ---- export ----

#define POOL(NAME, INFER, OUT)                                                                                     \
    const tn_op tn_op_##NAME = {                                                                                   \
        .name = #NAME, .version = 1, .min_in = 1, .max_in = 1, .min_out = 1, .max_out = OUT,                       \
        .attrs = pool_attrs, .n_attrs = TN_COUNT(pool_attrs), .attr_size = sizeof(tn_pool_attr),                   \
        .defaults = &pool_defaults, .infer = INFER, .macs = tn_pool_macs,                                             \
    }
POOL(max_pool, infer_max_pool, 2);
POOL(average_pool, infer_float_pool, 1);
POOL(lp_pool, infer_float_pool, 1);

const tn_op tn_op_max_unpool = {
    .name = "max_unpool", .version = 1, .min_in = 2, .max_in = 3, .min_out = 1, .max_out = 1,
    .attrs = pool_attrs, .n_attrs = TN_COUNT(pool_attrs), .attr_size = sizeof(tn_pool_attr), .defaults = &pool_defaults,
    .infer = infer_unpool, .shape_operands = 1u << 2,
};
const tn_op tn_op_global_average_pool = {
    .name = "global_average_pool", .version = 1, .min_in = 1, .max_in = 1, .min_out = 1, .max_out = 1,
    .infer = infer_global, .macs = macs_global,
};
const tn_op tn_op_global_max_pool = {
    .name = "global_max_pool", .version = 1, .min_in = 1, .max_in = 1, .min_out = 1, .max_out = 1,
    .infer = infer_global, .macs = macs_global,
};
const tn_op tn_op_global_lp_pool = {
    .name = "global_lp_pool", .version = 1, .min_in = 1, .max_in = 1, .min_out = 1, .max_out = 1,
    .attrs = global_attrs, .n_attrs = TN_COUNT(global_attrs), .attr_size = sizeof(tn_global_pool_attr),
    .defaults = &global_defaults, .infer = infer_global, .macs = macs_global,
};

static const tn_op *const ops[] = {&tn_op_max_pool,            &tn_op_average_pool,    &tn_op_lp_pool,       &tn_op_max_unpool,
                                   &tn_op_global_average_pool, &tn_op_global_max_pool, &tn_op_global_lp_pool};
TN_EXPORT_OPS(op_pool, ops);

static const tn_kernel rows[] = {
    TN_REFERENCE_SCRATCH(max_pool, prepare_pool, run_max_pool),
    TN_REFERENCE_SCRATCH(average_pool, prepare_pool, run_average_pool),
    TN_REFERENCE_SCRATCH(lp_pool, prepare_pool, run_lp_pool),
    TN_REFERENCE(max_unpool, NULL, run_unpool),
    TN_REFERENCE(global_average_pool, NULL, run_global_average),
    TN_REFERENCE(global_max_pool, NULL, run_global_max),
    TN_REFERENCE(global_lp_pool, NULL, run_global_lp),
};
TN_EXPORT_KERNELS(op_pool, rows);
