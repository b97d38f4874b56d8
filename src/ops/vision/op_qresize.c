// SPDX-License-Identifier: Apache-2.0
// Linear resizing in integers: y = clamp(requant(sum of four (x - x_zero) * weight) + y_zero). Weights are rounded to 1/2048, which moves a
// result by an eighth of a step of x at most; those of int16 to 1/16384. Strips of columns: what lies between two columns is computed once for each row of x.
// Ownership: const data. Threads: any.
#include "ops/vision/op_qresize.h"

#include "base/num.h"
#include "ops/op_facts.h"
#include "ops/op_rows.h"

#include <math.h>
#include <string.h>

#define SET_BYTE (TN_BIT(I8) | TN_BIT(U8) | TN_BIT(I16))
#define STRIP 256

enum { IN_X, IN_X_SCALE, IN_X_ZERO, IN_Y_SCALE, IN_Y_ZERO, IN_ROWS, IN_COLUMNS };

static const tn_attr attrs[] = {
    {"rounding", TN_ATTR_ENUM, offsetof(tn_qlinear_attr, rounding), tn_rounding_texts},
    {"low", TN_ATTR_INT, offsetof(tn_qlinear_attr, low), NULL},
    {"high", TN_ATTR_INT, offsetof(tn_qlinear_attr, high), NULL},
};
static const tn_qlinear_attr defaults = TN_QLINEAR_DEFAULTS;

// ---- infer ----

static tn_status infer_resize(tn_infer *infer)
{
    const tn_shape entries = {2, {TN_DIM_UNKNOWN, 3}};
    tn_shape y = {.rank = 4, .dims = {TN_DIM_UNKNOWN, TN_DIM_UNKNOWN, TN_DIM_UNKNOWN, TN_DIM_UNKNOWN}};
    TN_TRY(tn_infer_type(infer, IN_X, SET_BYTE));
    TN_TRY(tn_infer_rank(infer, IN_X, 4, 4));
    for (int i = IN_X_SCALE; i <= IN_Y_SCALE; i += 2) {
        TN_TRY(tn_infer_type(infer, i, TN_BIT(F32)));
        TN_TRY(tn_infer_scalar(infer, i));
        TN_TRY(tn_infer_optional(infer, i + 1, SET_BYTE));
        TN_TRY(tn_infer_in(infer, i + 1) ? tn_infer_scalar(infer, i + 1) : TN_OK);
    }
    TN_TRY(tn_infer_like(infer, IN_X_ZERO, IN_X));
    for (int k = 0; k < 2; k++) {
        TN_TRY(tn_infer_type(infer, IN_ROWS + k, TN_BIT(I32)));
        TN_TRY(tn_infer_shape(infer, IN_ROWS + k, &entries));
        const tn_shape *x = &infer->in[IN_X]->shape, *table = &infer->in[IN_ROWS + k]->shape;
        y.dims[k] = x->rank == 4 ? x->dims[k] : TN_DIM_UNKNOWN;
        y.dims[2 + k] = table->rank == 2 ? table->dims[0] : TN_DIM_UNKNOWN;
    }
    const tn_fact *zero = tn_infer_in(infer, IN_Y_ZERO);
    if (zero && zero->dtype != TN_NONE && infer->in[IN_X]->dtype != TN_NONE && (zero->dtype == TN_I16) != (infer->in[IN_X]->dtype == TN_I16)) {
        return tn_infer_fail(infer, "y is of %s and x of %s, of 16 bits are both or none", tn_dtype_text(zero->dtype), tn_dtype_text(infer->in[IN_X]->dtype));
    }
    tn_infer_out(infer, 0, zero ? zero->dtype : infer->in[IN_X]->dtype, &y);
    return TN_OK;
}

static int64_t macs_resize(const void *attr, const tn_fact *const *in, int n_in, const tn_fact *out, int n_out)
{
    (void)attr, (void)in, (void)n_in, (void)n_out;
    int64_t count;
    return tn_shape_count(&out[0].shape, &count) && tn_mul_i64(count, 4, &count) ? count : INT64_MAX;
}

// ---- tables ----

tn_requant tn_qresize_factor(int rounding, tn_dtype dtype, float x_scale, float y_scale)
{
    return tn_requant_factor(rounding, x_scale, 1.0F / (dtype == TN_I16 ? 4 * TN_WIDE_WEIGHT : TN_QRESIZE_ONE * TN_QRESIZE_ONE), y_scale);
}

bool tn_qresize_fits(const tn_resize_attr *attr, const tn_resize_table *table)
{
    return attr->mode == TN_RESIZE_LINEAR && attr->coord != TN_COORD_TF_CROP && (table->taps == 0 || table->taps == 2) &&
           table->length > 0 && table->length <= INT32_MAX && table->resized > 0 && table->resized <= INT32_MAX;
}

void tn_qresize_words(const tn_resize_table *table, int32_t one, int32_t *words)
{
    for (int64_t i = 0; i < table->resized; i++, words += 3) {
        const bool whole = table->taps == 0;
        words[0] = (int32_t)(whole ? i : table->index[2 * i]);
        words[1] = (int32_t)(whole ? i : table->index[2 * i + 1]);
        const double weight = whole ? 0 : rint(table->weight[2 * i + 1] * one);
        words[2] = (int32_t)(weight > 0 ? fmin(weight, one) : 0);
    }
}

bool tn_qresize_good(const void *words, int32_t one, int64_t resized, int64_t length)
{
    for (int64_t i = 0; i < resized; i++) {
        int32_t w[3];
        memcpy(w, (const char *)words + (size_t)i * sizeof w, sizeof w);
        if (w[0] < 0 || w[0] >= length || w[1] < 0 || w[1] >= length || w[2] < 0 || w[2] > one) {
            return false;
        }
    }
    return true;
}

// ---- reference ----

typedef struct resize {
    const tn_call *call;
    const int32_t *rows, *columns;
    tn_requant factor;
    int32_t x_zero, y_zero, low, high;
    bool is_signed, wide;
} resize;

static int32_t between(int32_t a, int32_t b, int32_t weight) { return a * TN_QRESIZE_ONE + (b - a) * weight; }

// Between the columns of one row of x.
static void fill_line(const resize *r, const uint8_t *row, const int32_t *columns, int64_t n, int32_t *line)
{
    for (int64_t k = 0; k < n; k++, columns += 3) {
        const int32_t a = r->is_signed ? (int8_t)row[columns[0]] : row[columns[0]];
        const int32_t b = r->is_signed ? (int8_t)row[columns[1]] : row[columns[1]];
        line[k] = between(a - r->x_zero, b - r->x_zero, columns[2]);
    }
}

static void fill_wide(const int16_t *row, const int32_t *columns, int64_t n, int32_t *line)
{
    for (int64_t k = 0; k < n; k++, columns += 3) {
        line[k] = tn_wide_across(row[columns[0]], row[columns[1]], columns[2]);
    }
}

static void finish_wide(const resize *r, const int32_t *top, const int32_t *bottom, int32_t weight, int64_t n, int16_t *y)
{
    for (int64_t k = 0; k < n; k++) {
        y[k] = (int16_t)tn_clamp_i32(tn_requant_apply(&r->factor, tn_wide_between(top[k], bottom[k], weight)), r->low, r->high);
    }
}

static void finish_row(const resize *r, const int32_t *top, const int32_t *bottom, int32_t weight, int64_t n, uint8_t *y)
{
    if (r->factor.rounding == TN_ROUND_FLOAT_RNE) {
        for (int64_t k = 0; k < n; k++) {
            const int32_t v = tn_requant_rne(between(top[k], bottom[k], weight), r->factor.scale);
            y[k] = (uint8_t)tn_clamp_i32(v + r->y_zero, r->low, r->high);
        }
        return;
    }
    for (int64_t k = 0; k < n; k++) {
        const int32_t v = tn_requant_apply(&r->factor, between(top[k], bottom[k], weight));
        y[k] = (uint8_t)tn_clamp_i32(v + r->y_zero, r->low, r->high);
    }
}

// x, y: planes of bytes or of int16.
static void resize_strip(const resize *r, const void *x, void *y, int64_t first, int64_t n)
{
    const int64_t height = r->call->out[0]->shape.dims[2], width = r->call->out[0]->shape.dims[3], pitch = r->call->in[IN_X]->shape.dims[3];
    int32_t room[2][STRIP], *lines[2] = {room[0], room[1]}, held[2] = {-1, -1};
    for (int64_t i = 0; i < height; i++) {
        const int32_t *row = r->rows + 3 * i;
        if (held[1] == row[0]) {
            int32_t *line = lines[0];
            lines[0] = lines[1];
            lines[1] = line;
            held[1] = held[0];
            held[0] = row[0];
        }
        for (int k = 0; k < 2; k++) {
            if (held[k] != row[k] && r->wide) {
                fill_wide((const int16_t *)x + row[k] * pitch, r->columns + 3 * first, n, lines[k]);
            } else if (held[k] != row[k]) {
                fill_line(r, (const uint8_t *)x + row[k] * pitch, r->columns + 3 * first, n, lines[k]);
            }
            held[k] = row[k];
        }
        if (r->wide) {
            finish_wide(r, lines[0], lines[1], row[2], n, (int16_t *)y + i * width + first);
        } else {
            finish_row(r, lines[0], lines[1], row[2], n, (uint8_t *)y + i * width + first);
        }
    }
}

static void plane_task(void *context, size_t first, size_t count, unsigned slot)
{
    const resize *r = context;
    const tn_tensor *x = r->call->in[IN_X], *y = r->call->out[0];
    const int64_t in = x->shape.dims[2] * x->shape.dims[3], out = y->shape.dims[2] * y->shape.dims[3], width = y->shape.dims[3], size = r->wide ? 2 : 1;
    (void)slot;
    for (size_t plane = first; plane < first + count && !tn_cancelled(r->call); plane++) {
        for (int64_t at = 0; at < width; at += STRIP) {
            resize_strip(r, (const char *)x->data + (int64_t)plane * in * size, (char *)y->data + (int64_t)plane * out * size, at,
                         TN_MIN(STRIP, width - at));
        }
    }
}

static tn_status run_qlinear_resize(const tn_call *call)
{
    const tn_qlinear_attr *q = call->attr;
    const tn_tensor *x = call->in[IN_X], *y = call->out[0], *x_zero = tn_call_in(call, IN_X_ZERO), *y_zero = tn_call_in(call, IN_Y_ZERO);
    resize r = {.call = call, .rows = call->in[IN_ROWS]->data, .columns = call->in[IN_COLUMNS]->data, .is_signed = x->dtype == TN_I8,
                .wide = x->dtype == TN_I16};
    const int32_t one = TN_QRESIZE_ONE_OF(x->dtype);
    if (tn_tensor_count(y) == 0) {
        return TN_OK;
    }
    if (!tn_qresize_good(r.rows, one, y->shape.dims[2], x->shape.dims[2]) || !tn_qresize_good(r.columns, one, y->shape.dims[3], x->shape.dims[3])) {
        return tn_fail(call->diag, TN_INVALID_ARGUMENT, call->name,
                       "qlinear_resize: rows or columns name a place that x does not have, or a weight that is not within 0 .. %d",
                       (int)one);
    }
    r.factor = tn_qresize_factor(q->rounding, x->dtype, (float)tn_element(call->in[IN_X_SCALE], 0), (float)tn_element(call->in[IN_Y_SCALE], 0));
    r.x_zero = x_zero ? (int32_t)tn_element(x_zero, 0) : 0;
    r.y_zero = y_zero ? (int32_t)tn_element(y_zero, 0) : 0;
    tn_qlinear_range(q, y->dtype, &r.low, &r.high);
    tn_workers_run(call->workers, plane_task, &r, (size_t)(y->shape.dims[0] * y->shape.dims[1]), 1);
    return tn_call_status(call);
}

// ---- export ----

const tn_op tn_op_qlinear_resize = {
    .name = "qlinear_resize", .version = 1, .flags = TN_OP_HOLES, .min_in = 7, .max_in = 7, .min_out = 1, .max_out = 1, .attrs = attrs,
    .n_attrs = TN_COUNT(attrs), .attr_size = sizeof(tn_qlinear_attr), .defaults = &defaults, .infer = infer_resize, .macs = macs_resize,
};

static const tn_op *const ops[] = {&tn_op_qlinear_resize};
TN_EXPORT_OPS(op_qresize, ops);

static const tn_kernel rows[] = {TN_REFERENCE(qlinear_resize, NULL, run_qlinear_resize)};
TN_EXPORT_KERNELS(op_qresize, rows);
