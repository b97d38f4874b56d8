// SPDX-License-Identifier: Apache-2.0
// resize (ONNX Resize 19, all modes). Interpolation is separable: for each resized axis a table says, for every result coordinate, which
// elements of the operand count and how much. The value is the weighted sum over the product of the axes' taps, in float64.
//
//   scale, coordinate mode  ->  x, a real place in the operand  ->  taps floor(x) + ... with weights by mode
//
// nearest copies whole elements and so works on any type.
// Ownership: tables lie in the call's scratch. Threads: any.
#include "ops/vision/op_resize.h"

#include "base/num.h"
#include "ops/op_facts.h"
#include "ops/walk/walk.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

// ---- attributes ----

static const char *const modes[] = {"nearest", "linear", "cubic", NULL};
static const char *const coords[] = {"half_pixel",    "half_pixel_symmetric", "pytorch_half_pixel",
                                     "align_corners", "asymmetric",           "tf_crop_and_resize", NULL};
static const char *const nearest_modes[] = {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil", NULL};
static const char *const policies[] = {"stretch", "not_larger", "not_smaller", NULL};

static const tn_attr resize_attrs[] = {
    {"mode", TN_ATTR_ENUM, offsetof(tn_resize_attr, mode), modes},
    {"coord", TN_ATTR_ENUM, offsetof(tn_resize_attr, coord), coords},
    {"nearest", TN_ATTR_ENUM, offsetof(tn_resize_attr, nearest), nearest_modes},
    {"policy", TN_ATTR_ENUM, offsetof(tn_resize_attr, policy), policies},
    {"antialias", TN_ATTR_BOOL, offsetof(tn_resize_attr, antialias), NULL},
    {"exclude_outside", TN_ATTR_BOOL, offsetof(tn_resize_attr, exclude_outside), NULL},
    {"cubic_a", TN_ATTR_REAL, offsetof(tn_resize_attr, cubic_a), NULL},
    {"extrapolation", TN_ATTR_REAL, offsetof(tn_resize_attr, extrapolation), NULL},
    {"axes", TN_ATTR_INTS, offsetof(tn_resize_attr, axes), NULL},
};
static const tn_resize_attr resize_defaults = {.cubic_a = -0.75};

enum { IN_X, IN_ROI, IN_SCALES, IN_SIZES };

// ---- geometry: what scales, sizes and policy say of each axis ----

typedef struct geometry {
    int64_t dims[TN_MAX_RANK];     // of the result; TN_DIM_UNKNOWN where it cannot be told
    double scales[TN_MAX_RANK];    // 1 for axes that are not resized
    bool by_scale;                 // given as scales: a resized length may be fractional
} geometry;

// An operand that is there and not an empty list (older opsets give an empty one for none).
static const tn_fact *given(const tn_fact *const *in, int n_in, int i)
{
    return i < n_in && in[i] && tn_fact_count(in[i]) != 0 ? in[i] : NULL;
}

// Positive and finite; the bound keeps products of dim and scale inside int64.
static bool valid_scale(double scale) { return scale > 0 && scale < 0x1p31; }

// The dim that a scale gives (in float32, as the standard's shape inference computes it). false: not a dim.
static bool scaled_dim(int64_t dim, double scale, int64_t *out)
{
    if (!tn_dim_known(dim)) {
        *out = scale == 1 ? dim : TN_DIM_UNKNOWN;
        return true;
    }
    const float product = floorf((float)dim * (float)scale);
    *out = scale == 1 ? dim : product < 0x1p62f ? (int64_t)product : -1;
    return *out >= 0;
}

// Dims follow from the scales, which must be known for that.
static const char *from_scales(const tn_fact *scales, const tn_shape *x, const int *axes, int n, geometry *g)
{
    const tn_tensor *value = scales->value;
    g->by_scale = true;
    for (int i = 0; i < n; i++) {
        int64_t *dim = &g->dims[axes[i]];
        if (!value || !value->data) {
            *dim = TN_DIM_UNKNOWN;
            continue;
        }
        const double scale = tn_dtype_load(value->dtype, value->data, (size_t)i);
        if (!valid_scale(scale) || !scaled_dim(x->dims[axes[i]], scale, dim)) {
            return "a scale is not positive, or too large";
        }
        g->scales[axes[i]] = scale;
    }
    return NULL;
}

// Dims are given; the scales follow. Policies other than stretch use one scale for all axes.
static const char *from_sizes(const tn_resize_attr *attr, const tn_fact *sizes, const tn_shape *x, const int *axes, int n, geometry *g)
{
    double common = 0;
    bool known = true;
    for (int i = 0; i < n; i++) {
        const int64_t dim = x->dims[axes[i]], size = tn_fact_elem(sizes, i);
        g->dims[axes[i]] = size;
        if (tn_dim_known(size) && (size < 0 || (dim == 0 && size > 0))) {
            return "a size is negative, or an axis without elements is to grow";
        }
        known &= tn_dim_known(size) && tn_dim_known(dim);
        const double scale = known && dim > 0 ? (double)size / (double)dim : 1;
        g->scales[axes[i]] = scale;
        common = i == 0 ? scale : attr->policy == TN_RATIO_NOT_LARGER ? fmin(common, scale) : fmax(common, scale);
    }
    for (int i = 0; i < n && attr->policy != TN_RATIO_STRETCH; i++) {
        const double length = common * (double)x->dims[axes[i]];
        if (known && !(length < 0x1p62)) {
            return "a size does not fit in 64 bits";
        }
        g->dims[axes[i]] = known ? (int64_t)floor(length + 0.5) : TN_DIM_UNKNOWN;
        g->scales[axes[i]] = common;
    }
    return NULL;
}

// Fills in the geometry of an operand of known rank; the text says what is wrong, NULL: nothing.
static const char *read_geometry(const tn_resize_attr *attr, const tn_fact *const *in, int n_in, geometry *g)
{
    const tn_shape *x = &in[IN_X]->shape;
    const tn_fact *scales = given(in, n_in, IN_SCALES), *sizes = given(in, n_in, IN_SIZES);
    const int n = attr->axes.set ? attr->axes.count : x->rank;
    int axes[TN_MAX_RANK];
    uint32_t seen = 0;
    if (n < 0 || n > x->rank) {
        return "there are more axes than dims";
    }
    for (int i = 0; i < n; i++) {
        if (!tn_axis(attr->axes.set ? attr->axes.v[i] : i, x->rank, &axes[i]) || seen >> axes[i] & 1) {
            return "an axis is out of range, or given twice";
        }
        seen |= UINT32_C(1) << axes[i];
    }
    *g = (geometry){.by_scale = false};
    for (int d = 0; d < x->rank; d++) {
        g->dims[d] = x->dims[d];
        g->scales[d] = 1;
    }
    if (!scales == !sizes) {
        return "one of scales and sizes must be given";
    }
    const int64_t count = tn_fact_count(scales ? scales : sizes);
    if (count >= 0 && count != n) {
        return "scales or sizes have another length than the axes";
    }
    if (count < 0) {
        for (int i = 0; i < n; i++) {
            g->dims[axes[i]] = TN_DIM_UNKNOWN;
        }
        return NULL;
    }
    return scales ? from_scales(scales, x, axes, n, g) : from_sizes(attr, sizes, x, axes, n, g);
}

// ---- infer ----

// Enums from a file are any number.
static tn_status check_attributes(const tn_infer *infer)
{
    const tn_resize_attr *attr = infer->attr;
    if (attr->mode < TN_RESIZE_NEAREST || attr->mode > TN_RESIZE_CUBIC || attr->coord < TN_COORD_HALF_PIXEL ||
        attr->coord > TN_COORD_TF_CROP || attr->nearest < TN_NEAREST_ROUND_PREFER_FLOOR || attr->nearest > TN_NEAREST_CEIL ||
        attr->policy < TN_RATIO_STRETCH || attr->policy > TN_RATIO_NOT_SMALLER) {
        return tn_infer_fail(infer, "a mode is out of range");
    }
    if (attr->antialias && attr->mode == TN_RESIZE_NEAREST) {
        return tn_infer_fail(infer, "antialias needs the linear or the cubic mode");
    }
    if (!isfinite(attr->cubic_a)) {
        return tn_infer_fail(infer, "the cubic coefficient is not finite");
    }
    return TN_OK;
}

// x [d...], roi [2 n]?, scales [n]?, sizes [n]? -> [resized...]
static tn_status infer_resize(tn_infer *infer)
{
    const tn_resize_attr *attr = infer->attr;
    TN_TRY(check_attributes(infer));
    const bool moves = attr->mode == TN_RESIZE_NEAREST && attr->coord != TN_COORD_TF_CROP;
    TN_TRY(tn_infer_type(infer, IN_X, moves ? TN_SET_ANY : TN_SET_NUMBER));
    TN_TRY(tn_infer_optional(infer, IN_ROI, TN_SET_FLOAT));
    TN_TRY(tn_infer_optional(infer, IN_SCALES, TN_SET_FLOAT));
    TN_TRY(tn_infer_optional(infer, IN_SIZES, TN_SET_INDEX));
    for (int i = IN_ROI; i <= IN_SIZES; i++) {
        if (tn_infer_in(infer, i)) {
            TN_TRY(tn_infer_rank(infer, i, 1, 1));
        }
    }
    const tn_fact *x = infer->in[IN_X], *roi = given(infer->in, infer->n_in, IN_ROI);
    tn_shape shape = x->shape;
    if (x->shape.rank >= 0) {
        geometry g;
        const int64_t n = attr->axes.set ? attr->axes.count : x->shape.rank, have = roi ? tn_fact_count(roi) : 0;
        const char *wrong = read_geometry(attr, infer->in, infer->n_in, &g);
        if (wrong) {
            return tn_infer_fail(infer, "%s", wrong);
        }
        if (attr->coord == TN_COORD_TF_CROP && have >= 0 && have != 2 * n) {
            return tn_infer_fail(infer, "roi has %lld numbers, expected two for each axis", (long long)have);
        }
        shape = tn_shape_of(x->shape.rank, g.dims);
    }
    tn_infer_out(infer, 0, x->dtype, &shape);
    return TN_OK;
}

// ---- descriptor ----

const tn_op tn_op_resize = {
    .name = "resize", .version = 1, .min_in = 1, .max_in = 4, .min_out = 1, .max_out = 1, .attrs = resize_attrs,
    .n_attrs = TN_COUNT(resize_attrs), .attr_size = sizeof(tn_resize_attr), .defaults = &resize_defaults, .infer = infer_resize,
    .shape_operands = 1 << IN_SCALES | 1 << IN_SIZES,
};

// ---- tables ----

typedef tn_resize_table table;

// Half the width of the filter, in operand elements: taps floor(x) - half + 1 .. floor(x) + half.
//
//   linear        o . x . o              half 1
//   cubic     o . o . x . o . o          half 2
//   antialias: the filter is 1 / scale times as wide, so that every operand element counts in some result
static int64_t half_taps(const tn_resize_attr *attr, double scale)
{
    const int64_t reach = attr->mode == TN_RESIZE_LINEAR ? 1 : attr->mode == TN_RESIZE_CUBIC ? 2 : 0;
    if (!attr->antialias || scale >= 1) {
        return reach;
    }
    return (int64_t)-floor(-(double)reach / scale);
}

// Axes that stay as they are need no table.
static bool is_resized(const tn_resize_attr *attr, int64_t from, int64_t to, double scale)
{
    return from != to || scale != 1 || attr->coord == TN_COORD_TF_CROP;
}

// Upper bound of the taps of an axis before its scale is known: rounding makes a dim at most 1/2 larger than the scale says.
static int64_t most_taps(const tn_resize_attr *attr, int64_t from, int64_t to)
{
    return TN_MAX(2 * half_taps(attr, ((double)to - 0.5) / (double)from), 1);
}

// Where result coordinate i lies in the operand (ONNX Resize, coordinate_transformation_mode).
static double original(int coord, double i, double length, double resized, double width, double scale, const double *roi)
{
    switch (coord) {
    case TN_COORD_HALF_PIXEL_SYMMETRIC: return length / 2 * (1 - resized / width) + (i + 0.5) / scale - 0.5;
    case TN_COORD_PYTORCH_HALF_PIXEL: return resized > 1 ? (i + 0.5) / scale - 0.5 : 0;
    case TN_COORD_ALIGN_CORNERS: return width == 1 ? 0 : i * (length - 1) / (width - 1);
    case TN_COORD_ASYMMETRIC: return i / scale;
    case TN_COORD_TF_CROP:
        return resized > 1 ? roi[0] * (length - 1) + i * (roi[1] - roi[0]) * (length - 1) / (resized - 1)
                           : 0.5 * (roi[0] + roi[1]) * (length - 1);
    default: return (i + 0.5) / scale - 0.5;
    }
}

// The same in float32, for the nearest mode: there the last bit decides which element is taken, and engines that models were made with
// compute in float32, where 4 / (4.0f / 3) is 3.
static float original_f32(int coord, float i, float length, float resized, float width, float scale, const double *roi)
{
    switch (coord) {
    case TN_COORD_HALF_PIXEL_SYMMETRIC: return length / 2 * (1 - resized / width) + (i + 0.5f) / scale - 0.5f;
    case TN_COORD_PYTORCH_HALF_PIXEL: return resized > 1 ? (i + 0.5f) / scale - 0.5f : 0;
    case TN_COORD_ALIGN_CORNERS: return width == 1 ? 0 : i * (length - 1) / (width - 1);
    case TN_COORD_ASYMMETRIC: return i / scale;
    case TN_COORD_TF_CROP: return (float)original(coord, i, length, resized, width, scale, roi);
    default: return (i + 0.5f) / scale - 0.5f;
    }
}

// ONNX Resize, nearest_mode. Ties go down or up by name; floor and ceil look at no distance.
static double nearest_of(int mode, double x)
{
    switch (mode) {
    case TN_NEAREST_ROUND_PREFER_CEIL: return floor(x + 0.5);
    case TN_NEAREST_FLOOR: return floor(x);
    case TN_NEAREST_CEIL: return ceil(x);
    default: return ceil(x - 0.5);
    }
}

// Keys, "Cubic convolution interpolation for digital image processing", 1981, equation 4; and the hat function.
static double filter(const tn_resize_attr *attr, double distance)
{
    const double a = attr->cubic_a, d = fabs(distance);
    if (attr->mode == TN_RESIZE_LINEAR) {
        return d < 1 ? 1 - d : 0;
    }
    if (d <= 1) {
        return ((a + 2) * d - (a + 3)) * d * d + 1;
    }
    return d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0;
}

// Outside the operand its border counts.
static int64_t clamp_index(double x, int64_t length)
{
    return x > 0 ? (x < (double)length ? (int64_t)x : length - 1) : 0;   // NaN becomes 0
}

// The taps of a coordinate x: weights of the filter, stretched where it is scaled down, normalised where that changes their sum.
static void fill_taps(const tn_resize_attr *attr, const table *t, double x, double scale, int64_t *index, double *weight)
{
    const int64_t half = t->taps / 2;
    const bool stretched = attr->antialias && scale < 1;
    // the tap on x itself is the last of the left half, so x = floor counts from the one before
    const double base = ceil(x) - 1;
    double sum = 0;
    for (int64_t k = 0; k < t->taps; k++) {
        const double at = base - (double)(half - 1) + (double)k;
        const bool outside = !(at >= 0 && at < (double)t->length);
        index[k] = clamp_index(at, t->length);
        weight[k] = attr->exclude_outside && outside ? 0 : filter(attr, (at - x) * (stretched ? scale : 1));
        sum += weight[k];
    }
    for (int64_t k = 0; k < t->taps && (stretched || attr->exclude_outside) && sum != 0; k++) {
        weight[k] /= sum;
    }
}

// One axis: where each result coordinate lies, then its taps.
static void fill_table(const tn_resize_attr *attr, const table *t, const double *roi)
{
    const double length = (double)t->length, resized = (double)t->resized, width = t->by_scale ? t->scale * length : resized;
    for (int64_t i = 0; i < t->resized; i++) {
        const double x = original(attr->coord, (double)i, length, resized, width, t->scale, roi);
        int64_t *index = t->index + i * t->taps;
        double *weight = t->weight + i * t->taps;
        if (attr->coord == TN_COORD_TF_CROP && !(x >= 0 && x <= length - 1)) {
            memset(weight, 0, (size_t)t->taps * sizeof *weight);
            memset(index, 0, (size_t)t->taps * sizeof *index);
            index[0] = -1;
        } else if (attr->mode == TN_RESIZE_NEAREST) {
            const float at = original_f32(attr->coord, (float)i, (float)length, (float)resized, (float)width, (float)t->scale, roi);
            index[0] = clamp_index(nearest_of(attr->nearest, at), t->length);
            weight[0] = 1;
        } else {
            fill_taps(attr, t, x, t->scale, index, weight);
        }
    }
}

// The start and end of an axis's region of interest.
static void read_roi(const tn_resize_attr *attr, const tn_tensor *const *in, int n_in, int axis, double *roi)
{
    const tn_tensor *operand = n_in > IN_ROI ? in[IN_ROI] : NULL;
    const int rank = in[IN_X]->shape.rank, n = attr->axes.set ? attr->axes.count : rank;
    roi[0] = 0;
    roi[1] = 1;
    for (int i = 0; operand && operand->data && tn_tensor_count(operand) == 2 * n && i < n; i++) {
        int at = i;
        if ((!attr->axes.set || tn_axis(attr->axes.v[i], rank, &at)) && at == axis) {
            roi[0] = tn_dtype_load(operand->dtype, operand->data, (size_t)i);
            roi[1] = tn_dtype_load(operand->dtype, operand->data, (size_t)(n + i));
        }
    }
}

void tn_resize_fill(const tn_resize_attr *attr, const tn_tensor *const *in, int n_in, int axis, const tn_resize_table *t)
{
    double roi[2];
    read_roi(attr, in, n_in, axis, roi);
    fill_table(attr, t, roi);
}

const char *tn_resize_tables(const tn_resize_attr *attr, const tn_tensor *const *in, int n_in, const tn_shape *y,
                             tn_resize_table tables[TN_MAX_RANK])
{
    const tn_shape *x = &in[IN_X]->shape;
    tn_fact facts[4];
    const tn_fact *list[4] = {NULL};
    geometry g;
    for (int i = 0; i < n_in && i < 4; i++) {
        if (in[i]) {
            facts[i] = tn_fact_of(in[i]);
            list[i] = &facts[i];
        }
    }
    const char *wrong = read_geometry(attr, list, n_in, &g);
    for (int d = 0; d < x->rank && !wrong; d++) {
        table *t = &tables[d];
        *t = (table){.length = x->dims[d], .resized = y->dims[d], .scale = g.scales[d], .by_scale = g.by_scale};
        if (g.dims[d] != y->dims[d]) {
            return "the operands do not fit the planned result";
        }
        if (is_resized(attr, t->length, t->resized, t->scale)) {
            t->taps = TN_MIN(TN_MAX(2 * half_taps(attr, t->scale), 1), most_taps(attr, t->length, t->resized));
        }
    }
    return wrong;
}

// ---- reference ----

// Scratch: the tables of all resized axes, sized by the upper bound.
static tn_status prepare_resize(tn_prepare *prepare)
{
    const tn_query *query = prepare->query;
    const tn_resize_attr *attr = query->attr;
    const tn_shape *x = &query->in[IN_X]->shape, *y = &query->out[0]->shape;
    size_t total = 0;
    for (int d = 0; d < x->rank && tn_tensor_count(query->out[0]) > 0; d++) {
        size_t entries;
        if (x->dims[d] == 0 || y->dims[d] == 0) {
            continue;
        }
        if (!tn_mul_size((size_t)y->dims[d], (size_t)most_taps(attr, x->dims[d], y->dims[d]), &entries) ||
            !tn_mul_size(entries, sizeof(int64_t) + sizeof(double), &entries) || !tn_add_size(total, entries, &total)) {
            return tn_fail_memory(prepare->diag, query->name, SIZE_MAX);
        }
    }
    prepare->scratch_bytes = total;
    return TN_OK;
}

typedef struct resize {
    const tn_call *call;
    int active;                        // axes with a table, in order
    int axes[TN_MAX_RANK];
    table tables[TN_MAX_RANK];
    int64_t strides[TN_MAX_RANK];      // of the operand
    int64_t index[TN_MAX_RANK];        // current result coordinates
} resize;

// Tables for the axes that change, one after another in the scratch.
static tn_status make_tables(const tn_call *call, resize *r)
{
    const tn_shape *x = &call->in[IN_X]->shape;
    table tables[TN_MAX_RANK];
    char *room = call->scratch;
    const char *wrong = tn_resize_tables(call->attr, call->in, call->n_in, &call->out[0]->shape, tables);
    if (wrong) {
        return tn_fail(call->diag, TN_INVALID_ARGUMENT, call->name, "resize: %s", wrong);
    }
    for (int d = 0; d < x->rank; d++) {
        if (!tables[d].taps) {
            continue;
        }
        table *t = &r->tables[r->active];
        *t = tables[d];
        t->weight = (double *)room;
        t->index = (int64_t *)(t->weight + t->resized * t->taps);
        room = (char *)(t->index + t->resized * t->taps);
        tn_resize_fill(call->attr, call->in, call->n_in, d, t);
        r->axes[r->active++] = d;
    }
    return TN_OK;
}

// Weighted sum over active axes a, a+1, ... at the operand element `offset`.
static double sum_taps(const resize *r, int a, int64_t offset)
{
    const tn_tensor *x = r->call->in[IN_X];
    if (a == r->active) {
        return x->dtype == TN_F32 ? ((const float *)x->data)[offset] : tn_dtype_load(x->dtype, x->data, (size_t)offset);
    }
    const table *t = &r->tables[a];
    const int64_t first = r->index[r->axes[a]] * t->taps, stride = r->strides[r->axes[a]];
    double sum = 0;
    for (int64_t k = 0; k < t->taps; k++) {
        if (t->weight[first + k] != 0) {
            sum += t->weight[first + k] * sum_taps(r, a + 1, offset + t->index[first + k] * stride);
        }
    }
    return sum;
}

// One element of the result, at r->index.
static void resize_one(const resize *r, int64_t to)
{
    const tn_resize_attr *attr = r->call->attr;
    const tn_tensor *x = r->call->in[IN_X], *y = r->call->out[0];
    const size_t size = tn_dtype_bytes(x->dtype);
    int64_t offset = 0, first[TN_MAX_RANK];
    bool outside = false;
    for (int a = 0; a < r->active; a++) {
        first[a] = r->tables[a].index[r->index[r->axes[a]] * r->tables[a].taps];
        outside |= first[a] < 0;
    }
    if (outside) {
        tn_dtype_store(y->dtype, y->data, (size_t)to, attr->extrapolation);
        return;
    }
    for (int d = 0, a = 0; d < x->shape.rank; d++) {
        if (a < r->active && r->axes[a] == d) {
            offset += attr->mode == TN_RESIZE_NEAREST ? first[a] * r->strides[d] : 0;
            a++;
        } else {
            offset += r->index[d] * r->strides[d];
        }
    }
    if (attr->mode == TN_RESIZE_NEAREST) {
        memcpy((char *)y->data + (size_t)to * size, (const char *)x->data + (size_t)offset * size, size);
    } else {
        const double sum = sum_taps(r, 0, offset);
        tn_dtype_store(y->dtype, y->data, (size_t)to, tn_dtype_is_int(y->dtype) ? rint(sum) : sum);
    }
}

// x, roi [2 n]?, scales [n]?, sizes [n]?; n = rank or the number of axes
static tn_status run_resize(const tn_call *call)
{
    const tn_tensor *x = call->in[IN_X], *y = call->out[0];
    const int64_t count = tn_tensor_count(y);
    resize r = {.call = call};
    if (count == 0) {
        return TN_OK;
    }
    if (tn_tensor_count(x) == 0) {
        return tn_fail(call->diag, TN_INTERNAL, call->name, "resize: the operand has no elements");
    }
    TN_TRY(make_tables(call, &r));
    tn_strides_of(&x->shape, r.strides);
    const int rank = y->shape.rank;
    for (int64_t i = 0; i < count; i++) {
        if (i % 1024 == 0 && tn_cancelled(call)) {
            return tn_fail_cancelled(call);
        }
        resize_one(&r, i);
        for (int d = rank - 1; d >= 0 && ++r.index[d] == y->shape.dims[d]; d--) {
            r.index[d] = 0;
        }
    }
    return TN_OK;
}

// ---- export ----

static const tn_kernel rows[] = {
    {.name = "resize_reference", .op = &tn_op_resize, .impl = TN_IMPL_REFERENCE, .tag = "", .version = 1, .aligned_constants = true,
     .prepare = prepare_resize, .run = run_resize},
};

static const tn_op *const ops[] = {&tn_op_resize};

TN_EXPORT_OPS(op_resize, ops);
TN_EXPORT_KERNELS(op_resize, rows);
