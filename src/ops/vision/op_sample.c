// SPDX-License-Identifier: Apache-2.0
// grid_sample reads x at the places that a grid names, in any number of spatial dims; affine_grid makes such a grid.
// Places are computed in float32 (float64 grids: rounded to it), as the standard's reference does, so that the nearest mode agrees on ties.
// Ownership: const data. Threads: any.
#include "ops/vision/op_sample.h"

#include "ops/op_facts.h"
#include "ops/vision/op_resize.h"
#include "ops/walk/walk.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

enum { PAD_ZEROS, PAD_BORDER, PAD_REFLECTION };
enum { MAX_SPATIAL = TN_MAX_RANK - 2, MAX_TAPS = 4 };

// ---- attributes ----

static const char *const modes[] = {"nearest", "linear", "cubic", NULL};
static const char *const paddings[] = {"zeros", "border", "reflection", NULL};
static const tn_attr sample_attrs[] = {
    {"mode", TN_ATTR_ENUM, offsetof(tn_grid_sample_attr, mode), modes},
    {"padding", TN_ATTR_ENUM, offsetof(tn_grid_sample_attr, padding), paddings},
    {"align_corners", TN_ATTR_BOOL, offsetof(tn_grid_sample_attr, align_corners), NULL},
};
static const tn_grid_sample_attr sample_defaults = {.mode = TN_RESIZE_LINEAR};
static const tn_attr affine_attrs[] = {{"align_corners", TN_ATTR_BOOL, offsetof(tn_affine_grid_attr, align_corners), NULL}};

// ---- infer ----

// x [N, C, d...], grid [N, o..., r] -> [N, C, o...], with r spatial dims
static tn_status infer_grid_sample(tn_infer *infer)
{
    const tn_grid_sample_attr *attr = infer->attr;
    if (attr->mode < TN_RESIZE_NEAREST || attr->mode > TN_RESIZE_CUBIC || attr->padding < PAD_ZEROS || attr->padding > PAD_REFLECTION) {
        return tn_infer_fail(infer, "a mode is out of range");
    }
    TN_TRY(tn_infer_type(infer, 0, attr->mode == TN_RESIZE_NEAREST ? TN_SET_ANY : TN_SET_NUMBER));
    TN_TRY(tn_infer_type(infer, 1, TN_SET_FLOAT));
    TN_TRY(tn_infer_rank(infer, 0, 3, TN_MAX_RANK));
    const tn_shape *x = &infer->in[0]->shape, *grid = &infer->in[1]->shape;
    if (x->rank >= 0) {
        TN_TRY(tn_infer_rank(infer, 1, x->rank, x->rank));
    } else {
        TN_TRY(tn_infer_rank(infer, 1, 3, TN_MAX_RANK));
    }
    tn_shape shape = {.rank = x->rank >= 0 ? x->rank : grid->rank};
    for (int d = 0; d < shape.rank; d++) {
        shape.dims[d] = d < 2 ? (x->rank >= 0 ? x->dims[d] : TN_DIM_UNKNOWN) : grid->rank >= 0 ? grid->dims[d - 1] : TN_DIM_UNKNOWN;
        if (x->rank >= 0 && d >= 2 && x->dims[d] == 0) {
            return tn_infer_fail(infer, "axis %d of the operand has no elements to read", d);
        }
    }
    if (grid->rank >= 0) {
        int64_t last = grid->dims[grid->rank - 1];
        if (!tn_dim_join(last, shape.rank - 2, &last)) {
            return tn_infer_fail(infer, "the grid has %lld coordinates for %d spatial dims", (long long)last, shape.rank - 2);
        }
        if (!tn_dim_join(shape.dims[0], grid->dims[0], &shape.dims[0])) {
            return tn_infer_fail(infer, "the batch has %lld elements in the operand and %lld in the grid", (long long)shape.dims[0],
                                 (long long)grid->dims[0]);
        }
    }
    tn_infer_out(infer, 0, infer->in[0]->dtype, &shape);
    return TN_OK;
}

// theta [N, r, r + 1], size [r + 2] = N, C, d... -> [N, d..., r], r = 2 or 3
static tn_status infer_affine_grid(tn_infer *infer)
{
    TN_TRY(tn_infer_type(infer, 0, TN_SET_FLOAT));
    TN_TRY(tn_infer_type(infer, 1, TN_SET_INDEX));
    TN_TRY(tn_infer_rank(infer, 0, 3, 3));
    TN_TRY(tn_infer_rank(infer, 1, 1, 1));
    const tn_shape *theta = &infer->in[0]->shape;
    const int64_t entries = tn_fact_count(infer->in[1]);
    tn_shape shape = tn_shape_unknown();
    if (entries >= 0) {
        if (entries != 4 && entries != 5) {
            return tn_infer_fail(infer, "size has %lld entries, expected 4 or 5", (long long)entries);
        }
        const int spatial = (int)entries - 2;
        const tn_shape want = {.rank = 3, .dims = {tn_fact_elem(infer->in[1], 0), spatial, spatial + 1}};
        TN_TRY(tn_infer_shape(infer, 0, &want));
        shape.rank = spatial + 2;
        shape.dims[0] = theta->rank == 3 && !tn_dim_known(want.dims[0]) ? theta->dims[0] : want.dims[0];
        for (int d = 0; d < spatial; d++) {
            shape.dims[1 + d] = tn_fact_elem(infer->in[1], 2 + d);
            if (tn_dim_known(shape.dims[1 + d]) && shape.dims[1 + d] < 0) {
                return tn_infer_fail(infer, "size %d is %lld", 2 + d, (long long)shape.dims[1 + d]);
            }
        }
        shape.dims[spatial + 1] = spatial;
    }
    tn_infer_out(infer, 0, infer->in[0]->dtype, &shape);
    return TN_OK;
}

// ---- descriptors ----

const tn_op tn_op_grid_sample = {
    .name = "grid_sample", .version = 1, .min_in = 2, .max_in = 2, .min_out = 1, .max_out = 1, .attrs = sample_attrs,
    .n_attrs = TN_COUNT(sample_attrs), .attr_size = sizeof(tn_grid_sample_attr), .defaults = &sample_defaults,
    .infer = infer_grid_sample,
};

const tn_op tn_op_affine_grid = {
    .name = "affine_grid", .version = 1, .min_in = 2, .max_in = 2, .min_out = 1, .max_out = 1, .attrs = affine_attrs,
    .n_attrs = TN_COUNT(affine_attrs), .attr_size = sizeof(tn_affine_grid_attr), .infer = infer_affine_grid, .shape_operands = 2,
};

// ---- reference: grid_sample ----

// A place along one axis: up to four elements with their weights; -1 reads as zero.
typedef struct place {
    int taps;
    int64_t index[MAX_TAPS];
    double weight[MAX_TAPS];
} place;

// -1 .. 1 to element numbers: the ends are the centres of the first and last element, or their outer edges.
static float denormalise(float v, int64_t length, bool align_corners)
{
    return align_corners ? (v + 1) / 2 * (float)(length - 1) : ((v + 1) * (float)length - 1) / 2;
}

// Into low .. high by reflecting at both ends as often as needed.
static double reflect(double x, double low, double high)
{
    const double range = high - low;
    if (!(range > 0) || !isfinite(x)) {
        return low;
    }
    const double m = fmod(fabs(x - low), 2 * range);
    return low + (m <= range ? m : 2 * range - m);
}

static double clamp(double x, double low, double high) { return x > low ? (x < high ? x : high) : low; }   // NaN: low

// The element that stands for number i, which may lie outside.
static int64_t element(const tn_grid_sample_attr *attr, double i, int64_t length)
{
    const double last = (double)(length - 1);
    if (i >= 0 && i <= last) {
        return (int64_t)i;
    }
    if (attr->padding == PAD_ZEROS) {
        return -1;
    }
    if (attr->padding == PAD_BORDER) {
        return (int64_t)clamp(i, 0, last);
    }
    const double edge = attr->align_corners ? 0 : 0.5;
    return (int64_t)clamp(reflect(i, -edge, last + edge), 0, last);
}

// Keys' cubic convolution with a = -3/4, at distance d of a tap.
static double cubic(double d)
{
    const double a = -0.75;
    d = fabs(d);
    return d <= 1 ? ((a + 2) * d - (a + 3)) * d * d + 1 : ((a * d - 5 * a) * d + 8 * a) * d - 4 * a;
}

// A place outside is first moved in by the padding mode; taps that still lie outside are moved one by one. Cubic interpolation moves
// only the taps, as PyTorch and onnxruntime do: the standard's text leaves it open.
static void find_place(const tn_grid_sample_attr *attr, double given, int64_t length, place *p)
{
    const double edge = attr->align_corners ? 0 : 0.5, low = -edge, high = (double)(length - 1) + edge;
    double x = denormalise((float)given, length, attr->align_corners);
    x = attr->mode == TN_RESIZE_NEAREST ? rint(x) : x;
    if (attr->mode != TN_RESIZE_CUBIC && !(x >= low && x <= high)) {
        x = attr->padding == PAD_BORDER ? clamp(x, 0, (double)(length - 1)) : attr->padding == PAD_REFLECTION ? reflect(x, low, high) : x;
    }
    if (!isfinite(x) || attr->mode == TN_RESIZE_NEAREST) {
        p->taps = 1;
        p->weight[0] = 1;
        p->index[0] = isfinite(x) ? element(attr, trunc(x), length) : element(attr, -1, length);
        return;
    }
    const double base = floor(x);
    p->taps = attr->mode == TN_RESIZE_LINEAR ? 2 : 4;
    for (int k = 0; k < p->taps; k++) {
        const double at = base + k - (p->taps == 4 ? 1 : 0);
        p->index[k] = element(attr, at, length);
        p->weight[k] = p->taps == 4 ? cubic(x - at) : 1 - fabs(x - at);
    }
}

// Weighted sum over axes a .. n-1 of x, from element `offset`.
static double sum_places(const tn_tensor *x, const place *places, const int64_t *strides, int a, int n, int64_t offset)
{
    if (a == n) {
        return x->dtype == TN_F32 ? ((const float *)x->data)[offset] : tn_dtype_load(x->dtype, x->data, (size_t)offset);
    }
    const place *p = &places[a];
    double sum = 0;
    for (int k = 0; k < p->taps; k++) {
        if (p->index[k] >= 0 && p->weight[k] != 0) {
            sum += p->weight[k] * sum_places(x, places, strides, a + 1, n, offset + p->index[k] * strides[a]);
        }
    }
    return sum;
}

// The nearest element itself, of any type.
static void copy_place(const tn_tensor *x, const tn_tensor *y, const place *places, const int64_t *strides, int n, int64_t offset, int64_t to)
{
    const size_t size = tn_dtype_bytes(x->dtype);
    bool outside = false;
    for (int a = 0; a < n; a++) {
        outside |= places[a].index[0] < 0;
        offset += places[a].index[0] * strides[a];
    }
    char *at = (char *)y->data + (size_t)to * size;
    if (outside) {
        memset(at, 0, size);
    } else {
        memcpy(at, (const char *)x->data + (size_t)offset * size, size);
    }
}

// x [N, C, d...], grid [N, points..., r]: coordinates of a point are listed from the last spatial dim to the first.
static tn_status run_grid_sample(const tn_call *call)
{
    const tn_grid_sample_attr *attr = call->attr;
    const tn_tensor *x = call->in[0], *grid = call->in[1], *y = call->out[0];
    const int spatial = x->shape.rank - 2;
    int64_t strides[TN_MAX_RANK];
    if (tn_tensor_count(y) == 0) {
        return TN_OK;
    }
    tn_strides_of(&x->shape, strides);
    const int64_t channels = x->shape.dims[1], points = tn_shape_span(&y->shape, 2, y->shape.rank);
    for (int64_t i = 0; i < x->shape.dims[0] * points; i++) {
        place places[MAX_SPATIAL];
        if (tn_cancelled(call)) {
            return tn_fail_cancelled(call);
        }
        for (int a = 0; a < spatial; a++) {
            const double given = tn_dtype_load(grid->dtype, grid->data, (size_t)(i * spatial + spatial - 1 - a));
            find_place(attr, given, x->shape.dims[2 + a], &places[a]);
        }
        for (int64_t c = 0; c < channels; c++) {
            const int64_t plane = i / points * channels + c, to = plane * points + i % points, offset = plane * strides[1];
            if (attr->mode == TN_RESIZE_NEAREST) {
                copy_place(x, y, places, strides + 2, spatial, offset, to);
            } else {
                tn_dtype_store(y->dtype, y->data, (size_t)to, sum_places(x, places, strides + 2, 0, spatial, offset));
            }
        }
    }
    return TN_OK;
}

// ---- reference: affine_grid ----

// Position i of n between -1 and 1: the ends are the first and last centre, or the outer edges.
static double position(int64_t i, int64_t n, bool align_corners)
{
    if (align_corners) {
        return n > 1 ? -1 + 2 * (double)i / (double)(n - 1) : 0;
    }
    return -1 + (2 * (double)i + 1) / (double)n;
}

// theta [N, r, r + 1] -> [N, d..., r]: each row of theta times (last coordinate, ..., first coordinate, 1)
static tn_status run_affine_grid(const tn_call *call)
{
    const bool align = ((const tn_affine_grid_attr *)call->attr)->align_corners;
    const tn_tensor *theta = call->in[0], *y = call->out[0];
    const int r = (int)theta->shape.dims[1];
    const int64_t count = tn_tensor_count(y) / r;
    int64_t index[TN_MAX_RANK] = {0};   // batch and spatial coordinates
    for (int64_t i = 0; i < count; i++) {
        if (i % 1024 == 0 && tn_cancelled(call)) {
            return tn_fail_cancelled(call);
        }
        for (int row = 0; row < r; row++) {
            const size_t first = (size_t)((index[0] * r + row) * (r + 1));
            double sum = tn_dtype_load(theta->dtype, theta->data, first + (size_t)r);
            for (int a = 0; a < r; a++) {
                sum += tn_dtype_load(theta->dtype, theta->data, first + (size_t)a) * position(index[r - a], y->shape.dims[r - a], align);
            }
            tn_dtype_store(y->dtype, y->data, (size_t)(i * r + row), sum);
        }
        for (int d = r; d >= 0 && ++index[d] == y->shape.dims[d]; d--) {
            index[d] = 0;
        }
    }
    return TN_OK;
}

// ---- export ----

static const tn_kernel rows[] = {
    TN_REFERENCE(grid_sample, NULL, run_grid_sample),
    TN_REFERENCE(affine_grid, NULL, run_affine_grid),
};

static const tn_op *const ops[] = {&tn_op_grid_sample, &tn_op_affine_grid};

TN_EXPORT_OPS(op_sample, ops);
TN_EXPORT_KERNELS(op_sample, rows);
