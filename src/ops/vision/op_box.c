// SPDX-License-Identifier: Apache-2.0
// Boxes: non_max_suppression, roi_align, max_roi_pool. Box data is untrusted like everything else: coordinates may be NaN or huge, so they
// are clamped as reals before they become indices, and the work per box is bounded.
// Ownership: const data; lists of candidates are taken from the heap for a call. Threads: any.
#include "ops/vision/op_box.h"

#include "base/num.h"
#include "ops/op_facts.h"
#include "ops/op_rows.h"
#include "ops/walk/walk.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

// ---- attributes ----

static const tn_attr nms_attrs[] = {{"center_point_box", TN_ATTR_BOOL, offsetof(tn_nms_attr, center_point_box), NULL}};
static const tn_attr align_attrs[] = {
    {"output_height", TN_ATTR_INT, offsetof(tn_roi_align_attr, output_height), NULL},
    {"output_width", TN_ATTR_INT, offsetof(tn_roi_align_attr, output_width), NULL},
    {"sampling_ratio", TN_ATTR_INT, offsetof(tn_roi_align_attr, sampling_ratio), NULL},
    {"spatial_scale", TN_ATTR_REAL, offsetof(tn_roi_align_attr, spatial_scale), NULL},
    {"half_pixel", TN_ATTR_BOOL, offsetof(tn_roi_align_attr, half_pixel), NULL},
    {"max_mode", TN_ATTR_BOOL, offsetof(tn_roi_align_attr, max_mode), NULL},
};
static const tn_roi_align_attr align_defaults = {1, 1, 0, 1, true, false};
static const tn_attr pool_attrs[] = {
    {"output_height", TN_ATTR_INT, offsetof(tn_roi_pool_attr, output_height), NULL},
    {"output_width", TN_ATTR_INT, offsetof(tn_roi_pool_attr, output_width), NULL},
    {"spatial_scale", TN_ATTR_REAL, offsetof(tn_roi_pool_attr, spatial_scale), NULL},
};
static const tn_roi_pool_attr pool_defaults = {1, 1, 1};

#define MAX_SIDE (INT64_C(1) << 31)     // of a pooled result
#define MAX_SAMPLES (INT64_C(1) << 12)  // of one result element along one axis: as many as a picture has pixels there

// ---- infer ----

// boxes [B, n, 4], scores [B, C, n], max?, iou?, score? -> [selected, 3]
static tn_status infer_non_max_suppression(tn_infer *infer)
{
    tn_dtype dtype;
    TN_TRY(tn_infer_types(infer, 0, 1, TN_BIT(F32), &dtype));
    TN_TRY(tn_infer_optional(infer, 2, TN_SET_INDEX));
    TN_TRY(tn_infer_optional(infer, 3, TN_SET_FLOAT));
    TN_TRY(tn_infer_optional(infer, 4, TN_SET_FLOAT));
    TN_TRY(tn_infer_rank(infer, 0, 3, 3));
    TN_TRY(tn_infer_rank(infer, 1, 3, 3));
    const tn_shape *boxes = &infer->in[0]->shape, *scores = &infer->in[1]->shape;
    tn_shape want = {.rank = 3, .dims = {TN_DIM_UNKNOWN, TN_DIM_UNKNOWN, 4}};
    TN_TRY(tn_infer_shape(infer, 0, &want));
    if (boxes->rank == 3 && scores->rank == 3) {
        want = (tn_shape){.rank = 3, .dims = {boxes->dims[0], scores->dims[1], boxes->dims[1]}};
        TN_TRY(tn_infer_shape(infer, 1, &want));
    }
    for (int i = 2; i < infer->n_in; i++) {
        if (infer->in[i] && tn_fact_count(infer->in[i]) > 1) {
            return tn_infer_fail(infer, "operand %d has %lld elements, expected one", i, (long long)tn_fact_count(infer->in[i]));
        }
    }
    const tn_shape shape = {.rank = 2, .dims = {TN_DIM_UNKNOWN, 3}};
    tn_infer_out(infer, 0, TN_I64, &shape);
    return TN_OK;
}

// x [N, C, H, W], rois [n, columns] -> [n, C, height, width]
static tn_status infer_pooled(tn_infer *infer, int64_t height, int64_t width, double scale, int64_t columns)
{
    tn_dtype dtype;
    TN_TRY(tn_infer_types(infer, 0, 1, TN_SET_FLOAT, &dtype));
    TN_TRY(tn_infer_rank(infer, 0, 4, 4));
    TN_TRY(tn_infer_rank(infer, 1, 2, 2));
    if (height < 1 || width < 1 || height > MAX_SIDE || width > MAX_SIDE || !isfinite(scale)) {
        return tn_infer_fail(infer, "a result of %lld by %lld, or a scale of %g, is out of range", (long long)height, (long long)width, scale);
    }
    const tn_shape want = {.rank = 2, .dims = {TN_DIM_UNKNOWN, columns}};
    TN_TRY(tn_infer_shape(infer, 1, &want));
    const tn_shape *x = &infer->in[0]->shape, *rois = &infer->in[1]->shape;
    if (x->rank == 4 && (x->dims[2] == 0 || x->dims[3] == 0)) {
        return tn_infer_fail(infer, "the operand has no pixels");
    }
    const tn_shape shape = {
        .rank = 4,
        .dims = {rois->rank == 2 ? rois->dims[0] : TN_DIM_UNKNOWN, x->rank == 4 ? x->dims[1] : TN_DIM_UNKNOWN, height, width},
    };
    tn_infer_out(infer, 0, dtype, &shape);
    return TN_OK;
}

// x [N, C, H, W], rois [n, 4], batch indices [n] -> [n, C, height, width]
static tn_status infer_roi_align(tn_infer *infer)
{
    const tn_roi_align_attr *attr = infer->attr;
    if (attr->sampling_ratio < 0 || attr->sampling_ratio > MAX_SAMPLES) {
        return tn_infer_fail(infer, "sampling_ratio is %lld, expected 0 to %lld", (long long)attr->sampling_ratio, (long long)MAX_SAMPLES);
    }
    TN_TRY(infer_pooled(infer, attr->output_height, attr->output_width, attr->spatial_scale, 4));
    TN_TRY(tn_infer_type(infer, 2, TN_SET_INDEX));
    const tn_shape batch = {.rank = 1, .dims = {infer->out[0].shape.dims[0]}};
    return tn_infer_shape(infer, 2, &batch);
}

// x [N, C, H, W], rois [n, 5] with the image in front -> [n, C, height, width]
static tn_status infer_max_roi_pool(tn_infer *infer)
{
    const tn_roi_pool_attr *attr = infer->attr;
    return infer_pooled(infer, attr->output_height, attr->output_width, attr->spatial_scale, 5);
}

// Four pixels a sample; where the number of samples depends on the regions, at least one is taken.
static int64_t macs_roi_align(const void *attr, const tn_fact *const *in, int n_in, const tn_fact *out, int n_out)
{
    (void)in;
    (void)n_in;
    (void)n_out;
    const int64_t side = TN_MAX(((const tn_roi_align_attr *)attr)->sampling_ratio, 1);
    int64_t macs;
    return tn_mul_i64(TN_MAX(tn_fact_count(out), 0), 4 * side * side, &macs) ? macs : INT64_MAX;
}

// Every box is compared with those kept before it.
static int64_t macs_non_max_suppression(const void *attr, const tn_fact *const *in, int n_in, const tn_fact *out, int n_out)
{
    (void)attr;
    (void)n_in;
    (void)out;
    (void)n_out;
    int64_t macs;
    return tn_mul_i64(TN_MAX(tn_fact_count(in[1]), 0), 64, &macs) ? macs : INT64_MAX;
}

// ---- descriptors ----

const tn_op tn_op_non_max_suppression = {
    .name = "non_max_suppression", .version = 1, .flags = TN_OP_DYNAMIC, .min_in = 2, .max_in = 5, .min_out = 1, .max_out = 1,
    .attrs = nms_attrs, .n_attrs = TN_COUNT(nms_attrs), .attr_size = sizeof(tn_nms_attr), .infer = infer_non_max_suppression,
    .macs = macs_non_max_suppression,
};

const tn_op tn_op_roi_align = {
    .name = "roi_align", .version = 1, .min_in = 3, .max_in = 3, .min_out = 1, .max_out = 1, .attrs = align_attrs,
    .n_attrs = TN_COUNT(align_attrs), .attr_size = sizeof(tn_roi_align_attr), .defaults = &align_defaults, .infer = infer_roi_align,
    .macs = macs_roi_align,
};

const tn_op tn_op_max_roi_pool = {
    .name = "max_roi_pool", .version = 1, .min_in = 2, .max_in = 2, .min_out = 1, .max_out = 1, .attrs = pool_attrs,
    .n_attrs = TN_COUNT(pool_attrs), .attr_size = sizeof(tn_roi_pool_attr), .defaults = &pool_defaults, .infer = infer_max_roi_pool,
};

// ---- reference: non_max_suppression ----

typedef struct rectangle {
    float low[2], high[2];
} rectangle;

// [y1, x1, y2, x2] of any two opposite corners, or [x, y, width, height] around a centre.
static rectangle read_box(const float *v, bool center)
{
    rectangle r;
    for (int i = 0; i < 2; i++) {
        const float a = center ? v[i] - v[2 + i] / 2 : v[i], b = center ? v[i] + v[2 + i] / 2 : v[2 + i];
        r.low[i] = center || a < b ? a : b;
        r.high[i] = center || a < b ? b : a;
    }
    return r;
}

// Intersection over union is above the threshold.
static bool overlaps(const rectangle *a, const rectangle *b, float threshold)
{
    float side[2];
    for (int i = 0; i < 2; i++) {
        side[i] = fminf(a->high[i], b->high[i]) - fmaxf(a->low[i], b->low[i]);
        if (!(side[i] > 0)) {
            return false;
        }
    }
    const float both = side[0] * side[1];
    const float area_a = (a->high[0] - a->low[0]) * (a->high[1] - a->low[1]);
    const float area_b = (b->high[0] - b->low[0]) * (b->high[1] - b->low[1]);
    const float all = area_a + area_b - both;
    return both > 0 && area_a > 0 && area_b > 0 && all > 0 && both / all > threshold;
}

// Higher scores first, then lower indices; NaN last.
static bool ranks_before(const float *scores, int64_t a, int64_t b)
{
    const float x = scores[a], y = scores[b];
    if (x != x || y != y) {
        return x == x || (y != y && a < b);
    }
    return x != y ? x > y : a < b;
}

// Heap sort of candidates by rank: no memory, and no input is slow.
static void sort_candidates(const float *scores, int64_t *list, int64_t n)
{
    for (int64_t start = n / 2, end = n; end > 1;) {
        if (start > 0) {
            start--;
        } else {
            const int64_t last = list[--end];
            list[end] = list[0];
            list[0] = last;
        }
        for (int64_t at = start, child; (child = 2 * at + 1) < end; at = child) {
            child += child + 1 < end && ranks_before(scores, list[child], list[child + 1]);
            if (!ranks_before(scores, list[at], list[child])) {
                break;
            }
            const int64_t swap = list[at];
            list[at] = list[child];
            list[child] = swap;
        }
    }
}

typedef struct selection {
    const tn_call *call;
    int64_t limit;              // per class
    float iou, score;
    bool has_score;
    int64_t *candidates;        // [boxes]; the selected ones move to the front
    int64_t *found;             // [capacity, 3]
    int64_t count, capacity;
} selection;

// The number of kept boxes is not known before: the list doubles.
static tn_status add_found(selection *s, int64_t batch, int64_t class, int64_t box)
{
    if (s->count == s->capacity) {
        const int64_t capacity = TN_MAX(2 * s->capacity, 64);
        int64_t *more = tn_take(s->call->heap, (size_t)capacity * 3 * sizeof *more);
        if (!more) {
            return tn_fail_memory(s->call->diag, s->call->name, (unsigned long long)capacity * 3 * sizeof *more);
        }
        if (s->count > 0) {
            memcpy(more, s->found, (size_t)s->count * 3 * sizeof *more);
        }
        tn_give(s->call->heap, s->found);
        s->found = more;
        s->capacity = capacity;
    }
    int64_t *row = s->found + 3 * s->count++;
    row[0] = batch;
    row[1] = class;
    row[2] = box;
    return TN_OK;
}

// Boxes of one class, best first: each is kept unless it overlaps one that was kept.
static tn_status select_class(selection *s, int64_t batch, int64_t class)
{
    const tn_tensor *boxes = s->call->in[0], *scores = s->call->in[1];
    const bool center = ((const tn_nms_attr *)s->call->attr)->center_point_box;
    const int64_t n = boxes->shape.dims[1], classes = scores->shape.dims[1];
    const float *corners = (const float *)boxes->data + batch * n * 4, *score = (const float *)scores->data + (batch * classes + class) * n;
    int64_t candidates = 0, kept = 0;
    for (int64_t i = 0; i < n; i++) {
        if (!s->has_score || score[i] > s->score) {
            s->candidates[candidates++] = i;
        }
    }
    sort_candidates(score, s->candidates, candidates);
    for (int64_t i = 0; i < candidates && kept < s->limit; i++) {
        const int64_t box = s->candidates[i];
        const rectangle one = read_box(corners + box * 4, center);
        bool keep = true;
        for (int64_t k = 0; k < kept && keep; k++) {
            const rectangle other = read_box(corners + s->candidates[k] * 4, center);
            keep = !overlaps(&one, &other, s->iou);
        }
        if (tn_cancelled(s->call)) {
            return tn_fail_cancelled(s->call);
        }
        if (keep) {
            s->candidates[kept++] = box;
            TN_TRY(add_found(s, batch, class, box));
        }
    }
    return TN_OK;
}

// Thresholds come as scalars or as lists of one; anything else counts as not given.
static const tn_tensor *single(const tn_call *call, int i)
{
    return i < call->n_in && call->in[i] && tn_tensor_count(call->in[i]) == 1 ? call->in[i] : NULL;
}

// boxes [B, n, 4], scores [B, C, n], limit, iou and score: one element each? -> int64 [found, 3] = batch, class, box
static tn_status run_non_max_suppression(const tn_call *call)
{
    const tn_tensor *limit = single(call, 2), *iou = single(call, 3), *score = single(call, 4);
    const int64_t batches = call->in[0]->shape.dims[0], n = call->in[0]->shape.dims[1], classes = call->in[1]->shape.dims[1];
    selection s = {.call = call, .limit = limit ? tn_dtype_load_i64(limit->dtype, limit->data, 0) : 0, .has_score = score != NULL};
    tn_status status = TN_OK;
    s.iou = iou ? (float)tn_dtype_load(iou->dtype, iou->data, 0) : 0;
    s.score = score ? (float)tn_dtype_load(score->dtype, score->data, 0) : 0;
    s.candidates = tn_take(call->heap, (size_t)n * sizeof *s.candidates);
    if (!s.candidates) {
        return tn_fail_memory(call->diag, call->name, (unsigned long long)n * sizeof *s.candidates);
    }
    for (int64_t b = 0; b < batches && s.limit > 0 && n > 0; b++) {
        for (int64_t c = 0; c < classes; c++) {
            TN_GO(select_class(&s, b, c));
        }
    }
    const tn_shape shape = {.rank = 2, .dims = {s.count, 3}};
    TN_GO(call->resize(call, 0, &shape));
    if (s.count > 0) {
        memcpy(call->out[0]->data, s.found, (size_t)s.count * 3 * sizeof *s.found);
    }
done:
    tn_give(call->heap, s.found);
    tn_give(call->heap, s.candidates);
    return status;
}

// ---- reference: roi_align ----

// Four pixels around a place and their weights.
typedef struct corners {
    int64_t at[4];
    double weight[4];
} corners;

// Bilinear weights. Places more than one pixel outside weigh nothing; nearer ones take the border (Mask R-CNN, RoIAlign).
static corners around(double y, double x, int64_t height, int64_t width)
{
    corners c = {{0}, {0}};
    if (!(y >= -1 && y <= (double)height && x >= -1 && x <= (double)width)) {
        return c;
    }
    double place[2] = {fmax(y, 0), fmax(x, 0)};
    const int64_t size[2] = {height, width};
    int64_t low[2], high[2];
    for (int i = 0; i < 2; i++) {
        low[i] = TN_MIN((int64_t)place[i], size[i] - 1);
        high[i] = TN_MIN(low[i] + 1, size[i] - 1);
        place[i] = low[i] == size[i] - 1 ? 0 : place[i] - (double)low[i];
    }
    for (int k = 0; k < 4; k++) {
        c.at[k] = (k & 2 ? high[0] : low[0]) * width + (k & 1 ? high[1] : low[1]);
        c.weight[k] = (k & 2 ? place[0] : 1 - place[0]) * (k & 1 ? place[1] : 1 - place[1]);
    }
    return c;
}

typedef struct region {
    double start[2], bin[2];      // y, x
    int64_t samples[2];           // per bin
    int64_t plane;                // first plane of its image
} region;

// The place and size of a region in pixels of x, and how many samples a bin takes.
static tn_status read_region(const tn_call *call, int64_t i, region *r)
{
    const tn_roi_align_attr *attr = call->attr;
    const tn_tensor *x = call->in[0], *rois = call->in[1], *batch = call->in[2];
    const int64_t image = tn_dtype_load_i64(batch->dtype, batch->data, (size_t)i);
    const int64_t bins[2] = {attr->output_height, attr->output_width};
    if (image < 0 || image >= x->shape.dims[0]) {
        return tn_fail(call->diag, TN_INVALID_ARGUMENT, call->name, "roi_align: batch index %lld of %lld images", (long long)image,
                       (long long)x->shape.dims[0]);
    }
    r->plane = image * x->shape.dims[1];
    for (int a = 0; a < 2; a++) {
        const double offset = attr->half_pixel ? 0.5 : 0;
        r->start[a] = tn_dtype_load(rois->dtype, rois->data, (size_t)(4 * i + 1 - a)) * attr->spatial_scale - offset;
        double size = tn_dtype_load(rois->dtype, rois->data, (size_t)(4 * i + 3 - a)) * attr->spatial_scale - offset - r->start[a];
        size = attr->half_pixel ? size : fmax(size, 1);
        r->bin[a] = size / (double)bins[a];
        const double samples = attr->sampling_ratio > 0 ? (double)attr->sampling_ratio : ceil(r->bin[a]);
        if (!(samples <= (double)MAX_SAMPLES)) {
            return tn_fail(call->diag, TN_INVALID_ARGUMENT, call->name, "roi_align: region %lld is too large, or not a number", (long long)i);
        }
        r->samples[a] = samples > 0 ? (int64_t)samples : 0;
    }
    return TN_OK;
}

// The mean (or largest) of the samples of bin (py, px) in one plane. ONNX's max mode takes the largest weighted pixel.
static double pool_bin(const tn_call *call, const region *r, int64_t py, int64_t px, int64_t plane)
{
    const tn_roi_align_attr *attr = call->attr;
    const tn_tensor *x = call->in[0];
    const int64_t height = x->shape.dims[2], width = x->shape.dims[3];
    double sum = 0, largest = 0;
    bool any = false;
    for (int64_t iy = 0; iy < r->samples[0] && !tn_cancelled(call); iy++) {
        const double y = r->start[0] + r->bin[0] * ((double)py + ((double)iy + 0.5) / (double)r->samples[0]);
        for (int64_t ix = 0; ix < r->samples[1]; ix++) {
            const corners c = around(y, r->start[1] + r->bin[1] * ((double)px + ((double)ix + 0.5) / (double)r->samples[1]), height, width);
            for (int k = 0; k < 4; k++) {
                const double v = c.weight[k] * tn_dtype_load(x->dtype, x->data, (size_t)(plane * height * width + c.at[k]));
                sum += v;
                largest = any ? fmax(largest, v) : v;
                any = true;
            }
        }
    }
    return attr->max_mode ? largest : sum / (double)TN_MAX(r->samples[0] * r->samples[1], 1);
}

// x [N, C, H, W], rois [n, 4] = x1, y1, x2, y2, batch indices [n] -> [n, C, height, width]
static tn_status run_roi_align(const tn_call *call)
{
    const tn_tensor *y = call->out[0];
    const int64_t n = y->shape.dims[0], channels = y->shape.dims[1], height = y->shape.dims[2], width = y->shape.dims[3];
    for (int64_t i = 0; i < n; i++) {
        region r = {.plane = 0};
        TN_TRY(read_region(call, i, &r));
        for (int64_t bin = 0; bin < channels * height * width; bin++) {
            const int64_t c = bin / (height * width), py = bin / width % height, px = bin % width;
            if (tn_cancelled(call)) {
                return tn_fail_cancelled(call);
            }
            tn_dtype_store(y->dtype, y->data, (size_t)(i * channels * height * width + bin), pool_bin(call, &r, py, px, r.plane + c));
        }
    }
    return tn_call_status(call);
}

// ---- reference: max_roi_pool ----

// Clamped as a real number: the region may lie anywhere.
static int64_t to_pixel(double v, int64_t size) { return v > 0 ? (v < (double)size ? (int64_t)v : size) : 0; }   // NaN: 0

// x [N, C, H, W], rois [n, 5] = image, x1, y1, x2, y2 -> [n, C, height, width]; bins without pixels give 0.
// Girshick, "Fast R-CNN", 2015, section 2.1.
static tn_status run_max_roi_pool(const tn_call *call)
{
    const tn_roi_pool_attr *attr = call->attr;
    const tn_tensor *x = call->in[0], *rois = call->in[1], *y = call->out[0];
    const int64_t bins[2] = {attr->output_height, attr->output_width}, planes = y->shape.dims[1], area = bins[0] * bins[1];
    for (int64_t i = 0; i < y->shape.dims[0] * planes * area; i++) {
        const int64_t roi = i / (planes * area), plane = i / area % planes, at[2] = {i / bins[1] % bins[0], i % bins[1]};
        const int64_t image = tn_dtype_load_i64(rois->dtype, rois->data, (size_t)(5 * roi));
        int64_t low[2], high[2];
        if (image < 0 || image >= x->shape.dims[0]) {
            return tn_fail(call->diag, TN_INVALID_ARGUMENT, call->name, "max_roi_pool: batch index %lld of %lld images", (long long)image,
                           (long long)x->shape.dims[0]);
        }
        if (tn_cancelled(call)) {
            return tn_fail_cancelled(call);
        }
        for (int a = 0; a < 2; a++) {
            const double start = round(tn_dtype_load(rois->dtype, rois->data, (size_t)(5 * roi + 2 - a)) * attr->spatial_scale);
            const double end = round(tn_dtype_load(rois->dtype, rois->data, (size_t)(5 * roi + 4 - a)) * attr->spatial_scale);
            const double bin = fmax(end - start + 1, 1) / (double)bins[a];
            low[a] = to_pixel(start + floor((double)at[a] * bin), x->shape.dims[2 + a]);
            high[a] = to_pixel(start + ceil((double)(at[a] + 1) * bin), x->shape.dims[2 + a]);
        }
        double largest = low[0] < high[0] && low[1] < high[1] ? -INFINITY : 0;
        for (int64_t row = low[0]; row < high[0]; row++) {
            for (int64_t column = low[1]; column < high[1]; column++) {
                const int64_t pixel = ((image * planes + plane) * x->shape.dims[2] + row) * x->shape.dims[3] + column;
                largest = fmax(largest, tn_dtype_load(x->dtype, x->data, (size_t)pixel));
            }
        }
        tn_dtype_store(y->dtype, y->data, (size_t)i, largest);
    }
    return TN_OK;
}

// ---- export ----

static const tn_kernel rows[] = {
    TN_REFERENCE(non_max_suppression, NULL, run_non_max_suppression),
    TN_REFERENCE(roi_align, NULL, run_roi_align),
    TN_REFERENCE(max_roi_pool, NULL, run_max_roi_pool),
};

static const tn_op *const ops[] = {&tn_op_non_max_suppression, &tn_op_roi_align, &tn_op_max_roi_pool};

TN_EXPORT_OPS(op_box, ops);
TN_EXPORT_KERNELS(op_box, rows);
