// SPDX-License-Identifier: Apache-2.0
// Columns to images. The reference goes through the pixels and gathers what the blocks say of each, so that no pixel is rounded
// twice.
// Ownership: const data. Threads: any.
#include "ops/vision/op_fold.h"

#include "base/num.h"
#include "ops/op_facts.h"
#include "ops/op_rows.h"

// ---- attributes ----

static const tn_attr col2im_attrs[] = {
    {"strides", TN_ATTR_INTS, offsetof(tn_col2im_attr, strides), NULL},
    {"pads", TN_ATTR_INTS, offsetof(tn_col2im_attr, pads), NULL},
    {"dilations", TN_ATTR_INTS, offsetof(tn_col2im_attr, dilations), NULL},
};

// ---- infer ----

enum { MAX_SPATIAL = TN_MAX_RANK - 2, NUMBER_MAX = 1 << 30 };

typedef struct fold {
    int rank;                                              // spatial dims
    int64_t image[MAX_SPATIAL], block[MAX_SPATIAL], stride[MAX_SPATIAL], dilation[MAX_SPATIAL], pad[MAX_SPATIAL];
    int64_t count[MAX_SPATIAL];                            // blocks along a dim
    int64_t taps, columns;                                 // elements of a block; blocks in all
} fold;

static bool list_value(const tn_ints *list, int length, int i, int64_t low, int64_t otherwise, int64_t *v)
{
    *v = list->set && list->count == length ? list->v[i] : otherwise;
    return (!list->set || list->count == length) && *v >= low && *v <= NUMBER_MAX;
}

// Fills in the rest from image and block sizes. Returns a broken rule.
static const char *fold_blocks(const tn_col2im_attr *attr, fold *f)
{
    f->taps = f->columns = 1;
    for (int i = 0; i < f->rank; i++) {
        int64_t end;
        if (!list_value(&attr->strides, f->rank, i, 1, 1, &f->stride[i]) ||
            !list_value(&attr->dilations, f->rank, i, 1, 1, &f->dilation[i]) ||
            !list_value(&attr->pads, 2 * f->rank, i, 0, 0, &f->pad[i]) ||
            !list_value(&attr->pads, 2 * f->rank, f->rank + i, 0, 0, &end)) {
            return "strides, dilations and pads must be one (pads: two) numbers for each dim of the image, not negative";
        }
        if (f->image[i] < 0 || f->image[i] > INT64_MAX / 4 || f->block[i] < 1 || f->block[i] > NUMBER_MAX) {
            return "image and block sizes must be positive";
        }
        const int64_t room = f->image[i] + f->pad[i] + end - f->dilation[i] * (f->block[i] - 1) - 1;
        if (room < 0) {
            return "a block is larger than the padded image";
        }
        f->count[i] = room / f->stride[i] + 1;
        if (!tn_mul_i64(f->taps, f->block[i], &f->taps) || !tn_mul_i64(f->columns, f->count[i], &f->columns)) {
            return "too many blocks";
        }
    }
    return NULL;
}

static tn_status infer_col2im(tn_infer *infer)
{
    tn_dtype dtype;
    fold f = {0};
    int blocks;
    TN_TRY(tn_infer_types(infer, 0, 0, TN_SET_NUMBER | TN_BIT(BOOL), &dtype));
    TN_TRY(tn_infer_type(infer, 1, TN_BIT(I64)));
    TN_TRY(tn_infer_type(infer, 2, TN_BIT(I64)));
    TN_TRY(tn_infer_rank(infer, 0, 3, 3));
    TN_TRY(tn_infer_ints(infer, 1, MAX_SPATIAL, f.image, &f.rank));
    TN_TRY(tn_infer_ints(infer, 2, MAX_SPATIAL, f.block, &blocks));
    tn_shape y = tn_shape_unknown();
    if (f.rank >= 0 && blocks >= 0) {
        const tn_shape *x = &infer->in[0]->shape;
        const bool paired = f.rank == blocks && f.rank >= 1;
        const char *wrong = paired ? fold_blocks(infer->attr, &f) : "image_shape and block_shape must have the same length";
        if (wrong) {
            return tn_infer_fail(infer, "%s", wrong);
        }
        int64_t rows = x->rank == 3 ? x->dims[1] : TN_DIM_UNKNOWN, columns = x->rank == 3 ? x->dims[2] : TN_DIM_UNKNOWN;
        if ((tn_dim_known(rows) && rows % f.taps != 0) || !tn_dim_join(columns, f.columns, &columns)) {
            return tn_infer_fail(infer, "x has %lld rows and %lld columns, expected a multiple of %lld and %lld", (long long)rows,
                                 (long long)x->dims[2], (long long)f.taps, (long long)f.columns);
        }
        y = (tn_shape){.rank = f.rank + 2,
                       .dims = {x->rank == 3 ? x->dims[0] : TN_DIM_UNKNOWN, tn_dim_known(rows) ? rows / f.taps : rows}};
        for (int i = 0; i < f.rank; i++) {
            y.dims[2 + i] = f.image[i];
        }
    }
    tn_infer_out(infer, 0, dtype, &y);
    return TN_OK;
}

// ---- reference ----

typedef struct fold_job {
    const tn_call *call;
    fold f;
    int64_t pixels;      // of an image
} fold_job;

// The column that tap `tap` of some block has over pixel `at`; -1: no block has it there.
static int64_t column_of(const fold *f, const int64_t at[MAX_SPATIAL], int64_t tap)
{
    int64_t column = 0, step = 1;
    for (int i = f->rank - 1; i >= 0; i--) {
        const int64_t k = tap % f->block[i], from = at[i] + f->pad[i] - k * f->dilation[i];
        tap /= f->block[i];
        if (from < 0 || from % f->stride[i] != 0 || from / f->stride[i] >= f->count[i]) {
            return -1;
        }
        column += from / f->stride[i] * step;
        step *= f->count[i];
    }
    return column;
}

// One item is one pixel of one channel: index plane * pixels + pixel.
static void fold_task(void *context, size_t first, size_t count, unsigned slot)
{
    const fold_job *job = context;
    const fold *f = &job->f;
    const tn_tensor *x = job->call->in[0];
    tn_tensor *y = job->call->out[0];
    const bool ints = !tn_dtype_is_float(x->dtype);
    (void)slot;
    for (size_t item = first; item < first + count && !tn_cancelled(job->call); item++) {
        const int64_t plane = (int64_t)item / job->pixels;
        int64_t at[MAX_SPATIAL] = {0}, rest = (int64_t)item % job->pixels;
        for (int i = f->rank - 1; i >= 0; i--) {
            at[i] = rest % f->image[i];
            rest /= f->image[i];
        }
        double sum = 0;
        uint64_t total = 0;
        for (int64_t tap = 0; tap < f->taps; tap++) {
            const int64_t column = column_of(f, at, tap);
            if (column >= 0 && ints) {
                total += (uint64_t)tn_dtype_load_i64(x->dtype, x->data, (size_t)((plane * f->taps + tap) * f->columns + column));
            } else if (column >= 0) {
                sum += tn_element(x, (plane * f->taps + tap) * f->columns + column);
            }
        }
        if (ints) {
            tn_dtype_store_i64(y->dtype, y->data, item, x->dtype == TN_BOOL ? total != 0 : (int64_t)total);
        } else {
            tn_dtype_store(y->dtype, y->data, item, sum);
        }
    }
}

static tn_status run_col2im(const tn_call *call)
{
    const tn_tensor *x = call->in[0], *blocks = call->in[2];
    const tn_shape *y = &call->out[0]->shape;
    fold_job job = {.call = call, .f = {.rank = y->rank - 2}};
    if (tn_tensor_count(call->out[0]) == 0) {
        return TN_OK;
    }
    bool planned = tn_tensor_count(blocks) == job.f.rank;
    for (int i = 0; planned && i < job.f.rank; i++) {
        job.f.image[i] = y->dims[2 + i];
        job.f.block[i] = tn_dtype_load_i64(blocks->dtype, blocks->data, (size_t)i);
    }
    if (!planned || fold_blocks(call->attr, &job.f) || job.f.columns != x->shape.dims[2] ||
        y->dims[1] != x->shape.dims[1] / job.f.taps) {
        return tn_fail(call->diag, TN_INVALID_ARGUMENT, call->name, "col2im: block_shape is not the one that was planned for");
    }
    job.pixels = tn_shape_span(y, 2, y->rank);
    tn_workers_run(call->workers, fold_task, &job, (size_t)tn_tensor_count(call->out[0]), 256);
    return tn_call_status(call);
}

// ---- export ----

const tn_op tn_op_col2im = {
    .name = "col2im", .version = 1, .min_in = 3, .max_in = 3, .min_out = 1, .max_out = 1, .attrs = col2im_attrs,
    .n_attrs = TN_COUNT(col2im_attrs), .attr_size = sizeof(tn_col2im_attr), .infer = infer_col2im,
    .shape_operands = 1u << 1 | 1u << 2,
};
static const tn_op *const ops[] = {&tn_op_col2im};
TN_EXPORT_OPS(op_fold, ops);

static const tn_kernel rows[] = {TN_REFERENCE(col2im, NULL, run_col2im)};
TN_EXPORT_KERNELS(op_fold, rows);
