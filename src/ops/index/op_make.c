// SPDX-License-Identifier: Apache-2.0
// Tensors from little: shapes, constants, ranges, triangles.
// Ownership: const data. Threads: any.
#include "ops/index/op_make.h"

#include "base/num.h"
#include "ops/walk/strided.h"
#include "ops/walk/walk.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

// ---- attributes ----

static const tn_attr shape_attrs[] = {
    {"start", TN_ATTR_INT, offsetof(tn_shape_attr, start), NULL},
    {"end", TN_ATTR_INT, offsetof(tn_shape_attr, end), NULL},
};
static const tn_shape_attr shape_defaults = {0, INT64_MAX};
static const tn_attr trilu_attrs[] = {{"upper", TN_ATTR_BOOL, offsetof(tn_trilu_attr, upper), NULL}};
static const tn_trilu_attr trilu_defaults = {true};
static const tn_attr eye_attrs[] = {
    {"dtype", TN_ATTR_DTYPE, offsetof(tn_eye_like_attr, dtype), NULL},
    {"k", TN_ATTR_INT, offsetof(tn_eye_like_attr, k), NULL},
};

// ---- infer: shape, size ----

// The dims start .. end of a rank; both may be negative and are clamped (ONNX Shape 15).
static void dim_range(const tn_shape_attr *attr, int rank, int *start, int *end)
{
    int64_t bounds[2] = {attr->start, attr->end};
    for (int i = 0; i < 2; i++) {
        bounds[i] += bounds[i] < 0 ? rank : 0;
        bounds[i] = bounds[i] < 0 ? 0 : bounds[i] > rank ? rank : bounds[i];
    }
    *start = (int)bounds[0];
    *end = (int)TN_MAX(bounds[0], bounds[1]);
}

// x -> [end - start]. The elements are the dims themselves, symbols included: this is where shape arithmetic begins.
static tn_status infer_shape_op(tn_infer *infer)
{
    TN_TRY(tn_infer_type(infer, 0, TN_SET_ANY));
    const tn_shape *x = &infer->in[0]->shape;
    tn_shape shape = {.rank = 1, .dims = {TN_DIM_UNKNOWN}};
    int start = 0, end = 0;
    if (x->rank >= 0) {
        dim_range(infer->attr, x->rank, &start, &end);
        shape.dims[0] = end - start;
    }
    tn_infer_out(infer, 0, TN_I64, &shape);
    if (x->rank >= 0) {
        int64_t *elems = tn_infer_elems(infer, 0, end - start);
        if (!elems) {
            return TN_OUT_OF_MEMORY;
        }
        for (int d = start; d < end; d++) {
            elems[d - start] = x->dims[d];
        }
    }
    return TN_OK;
}

// x -> scalar: a symbol where it is the only factor that is not known.
static tn_status infer_size(tn_infer *infer)
{
    TN_TRY(tn_infer_type(infer, 0, TN_SET_ANY));
    const tn_shape scalar = tn_shape_of(0, NULL);
    const tn_shape *x = &infer->in[0]->shape;
    tn_infer_out(infer, 0, TN_I64, &scalar);
    int64_t *elems = tn_infer_elems(infer, 0, 1);
    if (!elems) {
        return TN_OUT_OF_MEMORY;
    }
    int64_t known = 1, other = 1;
    for (int d = 0; d < x->rank; d++) {
        if (!tn_dim_known(x->dims[d])) {
            other = other == 1 ? x->dims[d] : TN_DIM_UNKNOWN;
        } else if (!tn_mul_i64(known, x->dims[d], &known)) {
            return TN_OK;
        }
    }
    elems[0] = x->rank < 0 ? TN_DIM_UNKNOWN : known == 0 ? 0 : other == 1 ? known : known == 1 ? other : TN_DIM_UNKNOWN;
    return TN_OK;
}

// ---- infer: constant_of_shape ----

// shape [rank], value: one element? -> any shape filled with it; without a value float32 zeros.
static tn_status infer_constant_of_shape(tn_infer *infer)
{
    TN_TRY(tn_infer_type(infer, 0, TN_SET_INDEX));
    TN_TRY(tn_infer_rank(infer, 0, 1, 1));
    tn_dtype dtype = TN_F32;
    const tn_fact *value = tn_infer_in(infer, 1);
    if (value) {
        TN_TRY(tn_infer_type(infer, 1, TN_SET_ANY));
        TN_TRY(tn_infer_scalar(infer, 1));
        dtype = value->dtype;
    }
    const int64_t rank = tn_fact_count(infer->in[0]);
    tn_shape shape = tn_shape_unknown();
    if (rank > TN_MAX_RANK) {
        return tn_infer_fail(infer, "the result has %lld dims, at most %d are supported", (long long)rank, TN_MAX_RANK);
    }
    shape.rank = (int)rank;
    for (int d = 0; d < shape.rank; d++) {
        shape.dims[d] = tn_fact_elem(infer->in[0], d);
        if (tn_dim_known(shape.dims[d]) && shape.dims[d] < 0) {
            return tn_infer_fail(infer, "dim %d is %lld", d, (long long)shape.dims[d]);
        }
    }
    tn_infer_out(infer, 0, dtype, &shape);
    if (value && tn_infer_tells(infer, 1)) {
        const int64_t count = tn_fact_count(&infer->out[0]);
        int64_t *elems = tn_infer_elems(infer, 0, count);
        if (!elems) {
            return TN_OUT_OF_MEMORY;
        }
        for (int64_t i = 0; i < count; i++) {
            elems[i] = tn_fact_elem(value, 0);
        }
    }
    return TN_OK;
}

// One fill, where the value is known when the plan is made.
static bool regions_constant_of_shape(tn_move *move)
{
    const tn_fact *value = move->n_in > 1 ? move->in[1] : NULL;
    const size_t size = tn_dtype_bytes(move->out->dtype);
    if (tn_move_empty(move)) {
        return true;
    }
    memset(move->fill, 0, sizeof move->fill);
    if (value) {
        if (!value->value || !value->value->data || tn_fact_count(value) != 1 || size > sizeof move->fill) {
            return false;
        }
        memcpy(move->fill, value->value->data, size);
    }
    tn_region *region = tn_move_add(move, -1);
    return region && tn_region_dim(region, tn_fact_count(move->out), 0, 1);
}

// ---- infer: range ----

// Elements of a range of integers. false: does not fit.
static bool count_integers(int64_t start, int64_t limit, int64_t delta, int64_t *count)
{
    int64_t span;
    *count = 0;
    if ((delta > 0) != (limit > start) || limit == start) {
        return true;
    }
    if (!tn_sub_i64(limit, start, &span)) {
        return false;
    }
    const uint64_t step = delta > 0 ? (uint64_t)delta : 0 - (uint64_t)delta, reach = span > 0 ? (uint64_t)span : 0 - (uint64_t)span;
    *count = (int64_t)((reach - 1) / step + 1);
    return true;
}

// The same for floats; NaN and infinite bounds give no count.
static bool count_reals(double start, double limit, double delta, int64_t *count)
{
    const double n = ceil((limit - start) / delta);
    *count = n > 0 ? (n < 0x1p62 ? (int64_t)n : INT64_MAX) : 0;
    return n == n && *count != INT64_MAX;
}

// Number of elements as far as the operands tell: float operands must be known entirely.
static tn_status range_count(const tn_infer *infer, tn_dtype dtype, int64_t *count)
{
    bool fits;
    *count = TN_DIM_UNKNOWN;
    if (tn_dtype_is_float(dtype)) {
        double v[3];
        for (int i = 0; i < 3; i++) {
            const tn_tensor *value = infer->in[i]->value;
            if (!value || !value->data || tn_fact_count(infer->in[i]) != 1) {
                return TN_OK;
            }
            v[i] = tn_dtype_load(value->dtype, value->data, 0);
        }
        fits = v[2] != 0 && count_reals(v[0], v[1], v[2], count);
    } else {
        int64_t v[3];
        bool known[3];
        for (int i = 0; i < 3; i++) {
            known[i] = tn_fact_count(infer->in[i]) == 1 && tn_fact_int(infer->in[i], 0, &v[i]);
        }
        // 0 .. n in steps of 1 has n elements, also when n is a symbol
        if (known[0] && known[2] && v[0] == 0 && v[2] == 1 && !known[1] && tn_fact_count(infer->in[1]) == 1) {
            *count = tn_fact_elem(infer->in[1], 0);
            return TN_OK;
        }
        if (!known[0] || !known[1] || !known[2]) {
            return TN_OK;
        }
        fits = v[2] != 0 && count_integers(v[0], v[1], v[2], count);
    }
    return fits ? TN_OK : tn_infer_fail(infer, "delta is 0, or the range has more elements than fit in 64 bits");
}

// start, limit, delta: one element each -> [count]. Elements are inside start .. limit, so they fit.
static tn_status infer_range(tn_infer *infer)
{
    tn_dtype dtype;
    tn_shape shape = {.rank = 1};
    TN_TRY(tn_infer_types(infer, 0, 2, TN_SET_NUMBER, &dtype));
    for (int i = 0; i < 3; i++) {
        TN_TRY(tn_infer_scalar(infer, i));
    }
    if (dtype == TN_U64) {
        return tn_infer_fail(infer, "type uint64 is not supported");
    }
    TN_TRY(range_count(infer, dtype, &shape.dims[0]));
    tn_infer_out(infer, 0, dtype, &shape);
    int64_t start, delta;
    if (!tn_infer_tells(infer, 0) || !tn_fact_int(infer->in[0], 0, &start) || !tn_fact_int(infer->in[2], 0, &delta)) {
        return TN_OK;
    }
    int64_t *elems = tn_infer_elems(infer, 0, shape.dims[0]);
    for (int64_t i = 0; elems && i < shape.dims[0]; i++) {
        elems[i] = start + i * delta;   // inside start .. limit
    }
    return elems ? TN_OK : TN_OUT_OF_MEMORY;
}

// ---- infer: trilu, eye_like ----

// x [batch..., rows, columns], k: one element?
static tn_status infer_trilu(tn_infer *infer)
{
    TN_TRY(tn_infer_type(infer, 0, TN_SET_ANY));   // a zeroed cell is an empty string
    TN_TRY(tn_infer_rank(infer, 0, 2, TN_MAX_RANK));
    if (tn_infer_in(infer, 1)) {
        TN_TRY(tn_infer_type(infer, 1, TN_SET_INDEX));
        TN_TRY(tn_infer_scalar(infer, 1));
    }
    tn_infer_out(infer, 0, infer->in[0]->dtype, &infer->in[0]->shape);
    return TN_OK;
}

// x [rows, columns]: only its shape, and its type where none is given, matter.
static tn_status infer_eye_like(tn_infer *infer)
{
    const tn_eye_like_attr *attr = infer->attr;
    const uint32_t set = TN_SET_NUMBER | TN_BIT(BOOL);
    TN_TRY(tn_infer_type(infer, 0, attr->dtype == TN_NONE ? set : TN_SET_ANY));
    TN_TRY(tn_infer_rank(infer, 0, 2, 2));
    if (attr->dtype != TN_NONE && ((unsigned)attr->dtype >= TN_DTYPE_COUNT || !(set >> attr->dtype & 1))) {
        return tn_infer_fail(infer, "cannot make elements of type %d (%s)", (int)attr->dtype, tn_dtype_text(attr->dtype));
    }
    tn_infer_out(infer, 0, attr->dtype == TN_NONE ? infer->in[0]->dtype : attr->dtype, &infer->in[0]->shape);
    return TN_OK;
}

// ---- descriptors ----

const tn_op tn_op_shape = {
    .name = "shape", .version = 1, .flags = TN_OP_SHAPE_ONLY, .min_in = 1, .max_in = 1, .min_out = 1, .max_out = 1,
    .attrs = shape_attrs, .n_attrs = TN_COUNT(shape_attrs), .attr_size = sizeof(tn_shape_attr), .defaults = &shape_defaults,
    .infer = infer_shape_op,
};

const tn_op tn_op_size = {
    .name = "size", .version = 1, .flags = TN_OP_SHAPE_ONLY, .min_in = 1, .max_in = 1, .min_out = 1, .max_out = 1,
    .infer = infer_size,
};

const tn_op tn_op_constant_of_shape = {
    .name = "constant_of_shape", .version = 1, .min_in = 1, .max_in = 2, .min_out = 1, .max_out = 1,
    .infer = infer_constant_of_shape, .regions = regions_constant_of_shape, .shape_operands = 1,
};

const tn_op tn_op_range = {
    .name = "range", .version = 1, .min_in = 3, .max_in = 3, .min_out = 1, .max_out = 1, .infer = infer_range,
    .shape_operands = 1 | 2 | 4,
};

const tn_op tn_op_trilu = {
    .name = "trilu", .version = 1, .flags = TN_OP_INPLACE, .min_in = 1, .max_in = 2, .min_out = 1, .max_out = 1,
    .attrs = trilu_attrs, .n_attrs = TN_COUNT(trilu_attrs), .attr_size = sizeof(tn_trilu_attr), .defaults = &trilu_defaults,
    .infer = infer_trilu,
};

const tn_op tn_op_eye_like = {
    .name = "eye_like", .version = 1, .flags = TN_OP_SHAPE_ONLY, .min_in = 1, .max_in = 1, .min_out = 1, .max_out = 1,
    .attrs = eye_attrs, .n_attrs = TN_COUNT(eye_attrs), .attr_size = sizeof(tn_eye_like_attr), .infer = infer_eye_like,
};

// ---- reference ----

// x: any shape -> int64 [end - start]
static tn_status run_shape(const tn_call *call)
{
    const tn_shape *x = &call->in[0]->shape;
    int start, end;
    dim_range(call->attr, x->rank, &start, &end);
    for (int d = start; d < end; d++) {
        ((int64_t *)call->out[0]->data)[d - start] = x->dims[d];
    }
    return TN_OK;
}

// x: any shape -> int64 scalar
static tn_status run_size(const tn_call *call)
{
    *(int64_t *)call->out[0]->data = tn_tensor_count(call->in[0]);
    return TN_OK;
}

// start, limit, delta: one element each -> [count]: start + i * delta, rounded once
static tn_status run_range(const tn_call *call)
{
    const tn_tensor *start = call->in[0], *delta = call->in[2], *y = call->out[0];
    const int64_t count = tn_tensor_count(y);
    if (tn_dtype_is_float(y->dtype)) {
        const double first = tn_dtype_load(start->dtype, start->data, 0), step = tn_dtype_load(delta->dtype, delta->data, 0);
        for (int64_t i = 0; i < count; i++) {
            tn_dtype_store(y->dtype, y->data, (size_t)i, first + (double)i * step);
        }
        return TN_OK;
    }
    uint64_t v = (uint64_t)tn_dtype_load_i64(start->dtype, start->data, 0);
    const uint64_t step = (uint64_t)tn_dtype_load_i64(delta->dtype, delta->data, 0);
    for (int64_t i = 0; i < count; i++, v += step) {
        tn_dtype_store_i64(y->dtype, y->data, (size_t)i, (int64_t)v);
    }
    return TN_OK;
}

// x [batch..., rows, columns], k: one element?
static tn_status run_trilu(const tn_call *call)
{
    const bool upper = ((const tn_trilu_attr *)call->attr)->upper;
    const tn_tensor *x = call->in[0], *shift = call->n_in > 1 ? call->in[1] : NULL;
    const int rank = x->shape.rank;
    const int64_t rows = x->shape.dims[rank - 2], columns = x->shape.dims[rank - 1], total = tn_tensor_count(x);
    const int64_t k = shift ? tn_dtype_load_i64(shift->dtype, shift->data, 0) : 0;
    const size_t size = tn_dtype_bytes(x->dtype);
    TN_TRY(tn_move_same(call));
    for (int64_t row = 0; total > 0 && row < total / columns; row++) {
        // columns before `at` lie below the diagonal (upper), or on it and below (lower)
        const int64_t i = row % rows, first = upper ? i : i + 1;
        const int64_t at = k >= columns - first ? columns : k <= -first ? 0 : first + k;
        char *to = (char *)call->out[0]->data + (size_t)(row * columns) * size;
        if (upper) {
            memset(to, 0, (size_t)at * size);
        } else {
            memset(to + (size_t)at * size, 0, (size_t)(columns - at) * size);
        }
    }
    return TN_OK;
}

// x [rows, columns]
static tn_status run_eye_like(const tn_call *call)
{
    const int64_t k = ((const tn_eye_like_attr *)call->attr)->k;
    const tn_tensor *y = call->out[0];
    const int64_t rows = y->shape.dims[0], columns = y->shape.dims[1];
    size_t bytes;
    if (!tn_tensor_bytes(y, &bytes) || bytes == 0) {
        return TN_OK;
    }
    memset(y->data, 0, bytes);
    for (int64_t i = 0; i < rows; i++) {
        if (k >= -i && k < columns - i) {
            tn_dtype_store_i64(y->dtype, y->data, (size_t)(i * columns + i + k), 1);
        }
    }
    return TN_OK;
}

// ---- export ----

static const tn_kernel rows[] = {
    TN_REFERENCE(shape, NULL, run_shape),
    TN_REFERENCE(size, NULL, run_size),
    TN_REFERENCE(constant_of_shape, NULL, tn_move_run),
    TN_REFERENCE(range, NULL, run_range),
    TN_REFERENCE(trilu, NULL, run_trilu),
    TN_REFERENCE(eye_like, NULL, run_eye_like),
};

static const tn_op *const ops[] = {
    &tn_op_shape, &tn_op_size, &tn_op_constant_of_shape, &tn_op_range, &tn_op_trilu, &tn_op_eye_like,
};

TN_EXPORT_OPS(op_make, ops);
TN_EXPORT_KERNELS(op_make, rows);
