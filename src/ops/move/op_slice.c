// SPDX-License-Identifier: Apache-2.0
// slice, pad and center_crop_pad: windows of a tensor, larger or smaller than it. A slice is one box; a pad is the product of a few runs
// per axis (the middle, and what lies before and after it by the mode's rule).
// Ownership: const data. Threads: any.
#include "ops/move/op_slice.h"

#include "base/num.h"
#include "ops/walk/strided.h"
#include "ops/walk/walk.h"

#include <stddef.h>
#include <string.h>

// ---- attributes ----

static const char *const pad_modes[] = {"constant", "reflect", "edge", "wrap", NULL};
static const tn_attr pad_attrs[] = {{"mode", TN_ATTR_ENUM, offsetof(tn_pad_attr, mode), pad_modes}};
static const tn_attr crop_attrs[] = {{"axes", TN_ATTR_INTS, offsetof(tn_crop_attr, axes), NULL}};

// ---- slice ----

// One axis of a slice, resolved against a known dim (ONNX Slice 13: what is out of range is clamped).
// Forward a start of n and an end of n are the last that make sense, backward a start of n - 1 and an end of -1, which no number of
// the model can say: it is reached by clamping only.
typedef struct window {
    int64_t start, step, count;
} window;

static int64_t clamp(int64_t v, int64_t low, int64_t high) { return v < low ? low : v > high ? high : v; }

// Adding the dim to a negative number cannot overflow; what is left is compared, never negated.
static window resolve(int64_t dim, int64_t start, int64_t end, int64_t step)
{
    window w = {0, step, 0};
    if (dim == 0) {
        return w;
    }
    start = start < 0 ? start + dim : start;
    end = end < 0 ? end + dim : end;
    if (step > 0) {
        w.start = clamp(start, 0, dim);
        end = clamp(end, 0, dim);
        w.count = end > w.start ? (end - w.start - 1) / step + 1 : 0;
    } else {
        const uint64_t back = 0 - (uint64_t)step;   // also for the number that has no negative
        w.start = clamp(start, 0, dim - 1);
        end = clamp(end, -1, dim - 1);
        w.count = w.start > end ? (int64_t)((uint64_t)(w.start - end - 1) / back) + 1 : 0;
    }
    return w;
}

// What a slice does to the axes of an operand of known rank, as far as its operands tell.
typedef struct slice {
    int n;                                  // axes given; -1: not known which
    int axes[TN_MAX_RANK];
    int64_t starts[TN_MAX_RANK], ends[TN_MAX_RANK], steps[TN_MAX_RANK];
    bool start_known[TN_MAX_RANK], end_known[TN_MAX_RANK], step_known[TN_MAX_RANK];
} slice;

// Entry i of an operand; `otherwise` where the operand is absent. false: not known.
static bool entry(const tn_fact *fact, int i, int64_t otherwise, int64_t *v)
{
    *v = otherwise;
    return !fact || tn_fact_int(fact, i, v);
}

// Fills in s from the operands; entries that are not known are marked. false: an axis is out of range, or a step is 0.
static bool read_slice(const tn_fact *const *in, int n_in, int rank, int n, slice *s)
{
    const tn_fact *axes = n_in > 3 ? in[3] : NULL, *steps = n_in > 4 ? in[4] : NULL;
    s->n = n;
    for (int i = 0; i < n; i++) {
        int64_t axis;
        if (!entry(axes, i, i, &axis)) {
            s->n = -1;
            return true;
        }
        if (!tn_axis(axis, rank, &s->axes[i])) {
            return false;
        }
        s->start_known[i] = tn_fact_int(in[1], i, &s->starts[i]);
        s->end_known[i] = tn_fact_int(in[2], i, &s->ends[i]);
        s->step_known[i] = entry(steps, i, 1, &s->steps[i]);
        if (s->step_known[i] && s->steps[i] == 0) {
            return false;
        }
    }
    return true;
}

// The dim that axis i of the slice leaves of `dim`. What takes all of a dim keeps its symbol.
static int64_t sliced_dim(const slice *s, int i, int64_t dim)
{
    if (dim == 0) {
        return 0;
    }
    if (!s->start_known[i] || !s->end_known[i] || !s->step_known[i]) {
        return TN_DIM_UNKNOWN;
    }
    if (tn_dim_known(dim)) {
        return resolve(dim, s->starts[i], s->ends[i], s->steps[i]).count;
    }
    const bool forward = s->steps[i] == 1 && s->starts[i] == 0 && s->ends[i] >= INT32_MAX;
    const bool backward = s->steps[i] == -1 && s->starts[i] == -1 && s->ends[i] <= INT32_MIN;
    return forward || backward ? dim : TN_DIM_UNKNOWN;
}

// A shape sliced by constants is the usual way to one of its dims.
static tn_status slice_elems(tn_infer *infer, const slice *s)
{
    const tn_fact *x = infer->in[0];
    if (x->shape.rank != 1 || !tn_infer_tells(infer, 0) || s->n < 0) {
        return TN_OK;
    }
    const window w = s->n == 1 ? resolve(x->shape.dims[0], s->starts[0], s->ends[0], s->steps[0]) : (window){0, 1, x->shape.dims[0]};
    int64_t *elems = tn_infer_elems(infer, 0, w.count);
    if (!elems) {
        return TN_OUT_OF_MEMORY;
    }
    for (int64_t i = 0; i < w.count; i++) {
        elems[i] = tn_fact_elem(x, w.start + i * w.step);
    }
    return TN_OK;
}

// starts, ends, axes?, steps? are lists of one length; *n is -1 when it is not known.
static tn_status slice_length(const tn_infer *infer, int *n)
{
    *n = -1;
    for (int i = 1; i < 5; i++) {
        if (i > 2 && !tn_infer_in(infer, i)) {
            continue;
        }
        TN_TRY(tn_infer_type(infer, i, TN_SET_INDEX));
        TN_TRY(tn_infer_rank(infer, i, 0, 1));
        const int64_t count = tn_fact_count(infer->in[i]);
        if (count > TN_MAX_RANK || (*n >= 0 && count >= 0 && count != *n)) {
            return tn_infer_fail(infer, "operand %d has %lld entries, expected one per axis, at most %d", i, (long long)count, TN_MAX_RANK);
        }
        *n = count >= 0 ? (int)count : *n;
    }
    return TN_OK;
}

// x [d...], starts, ends, axes?, steps? [n] -> [count...]. Axes that are not known make all dims unknown.
static tn_status infer_slice(tn_infer *infer)
{
    int n;
    slice s = {0};
    TN_TRY(tn_infer_type(infer, 0, TN_SET_ANY));
    TN_TRY(slice_length(infer, &n));
    const tn_fact *x = infer->in[0];
    tn_shape shape = x->shape;
    s.n = -1;
    if (shape.rank >= 0 && n > shape.rank) {
        return tn_infer_fail(infer, "%d axes are given for an operand of rank %d", n, shape.rank);
    }
    if (shape.rank >= 0 && n >= 0 && !read_slice(infer->in, infer->n_in, shape.rank, n, &s)) {
        return tn_infer_fail(infer, "an axis is out of range for rank %d, or a step is 0", shape.rank);
    }
    uint32_t seen = 0;
    for (int i = 0; i < s.n; i++) {
        if (seen >> s.axes[i] & 1) {
            return tn_infer_fail(infer, "axis %d is given twice", s.axes[i]);
        }
        seen |= UINT32_C(1) << s.axes[i];
        shape.dims[s.axes[i]] = sliced_dim(&s, i, shape.dims[s.axes[i]]);
    }
    for (int d = 0; d < shape.rank && s.n < 0; d++) {
        shape.dims[d] = shape.dims[d] == 0 ? 0 : TN_DIM_UNKNOWN;
    }
    tn_infer_out(infer, 0, x->dtype, &shape);
    return slice_elems(infer, &s);
}

// One box: it begins at the starts and steps by the steps.
static bool regions_slice(tn_move *move)
{
    const tn_shape *x = &move->in[0]->shape, *y = &move->out->shape;
    const int64_t n = tn_fact_count(move->in[1]);
    int64_t from[TN_MAX_RANK], to[TN_MAX_RANK], offset = 0;
    slice s = {0};
    if (tn_move_empty(move)) {
        return true;
    }
    if (n < 0 || n > x->rank || !read_slice(move->in, move->n_in, x->rank, (int)n, &s) || s.n < 0) {
        return false;
    }
    tn_strides_of(x, from);
    tn_strides_of(y, to);
    for (int i = 0; i < s.n; i++) {
        const int axis = s.axes[i];
        if (!s.start_known[i] || !s.end_known[i] || !s.step_known[i]) {
            return false;
        }
        const window w = resolve(x->dims[axis], s.starts[i], s.ends[i], s.steps[i]);
        if (w.count != y->dims[axis]) {
            return false;
        }
        offset += w.start * from[axis];
        // a step that leaves one element may be any number
        from[axis] = w.count > 1 ? from[axis] * w.step : 0;
    }
    tn_region *region = tn_move_add(move, 0);
    region->src_offset = offset;
    for (int d = 0; d < y->rank; d++) {
        tn_region_dim(region, y->dims[d], from[d], to[d]);
    }
    return true;
}

// ---- pad: geometry ----

typedef struct pads {
    int64_t before[TN_MAX_RANK], after[TN_MAX_RANK];
    bool known[TN_MAX_RANK];
} pads;

// Sums of a few such numbers fit.
static bool in_reach(int64_t v) { return v > -(INT64_C(1) << 60) && v < INT64_C(1) << 60; }

// The pads of each dim of an operand of known rank. false: the operands contradict each other.
static bool read_pads(const tn_fact *const *in, int n_in, int rank, pads *p)
{
    const tn_fact *axes = n_in > 3 ? in[3] : NULL;
    const int64_t n = axes ? tn_fact_count(axes) : rank, have = tn_fact_count(in[1]);
    uint32_t seen = 0;
    *p = (pads){{0}, {0}, {0}};
    if (n < 0 || have < 0) {
        return true;
    }
    if (n > rank || have != 2 * n) {
        return false;
    }
    for (int d = 0; d < rank; d++) {
        p->known[d] = axes != NULL;
    }
    for (int i = 0; i < n; i++) {
        int64_t axis;
        int d;
        if (!entry(axes, i, i, &axis)) {
            *p = (pads){{0}, {0}, {0}};
            return true;
        }
        if (!tn_axis(axis, rank, &d) || seen >> d & 1) {
            return false;
        }
        seen |= UINT32_C(1) << d;
        p->known[d] = tn_fact_int(in[1], i, &p->before[d]) && tn_fact_int(in[1], n + i, &p->after[d]);
        if (p->known[d] && !(in_reach(p->before[d]) && in_reach(p->after[d]))) {
            return false;
        }
    }
    return true;
}

// x [d...], pads [2 n] (before each axis, then after), value: one element?, axes [n]? -> [before + d + after...]
static tn_status infer_pad(tn_infer *infer)
{
    const tn_pad_attr *attr = infer->attr;
    tn_dtype dtype;
    pads p;
    if (attr->mode < TN_PAD_CONSTANT || attr->mode > TN_PAD_WRAP) {
        return tn_infer_fail(infer, "mode %d is none of constant, reflect, edge, wrap", attr->mode);
    }
    TN_TRY(tn_infer_type(infer, 0, TN_SET_ANY));
    TN_TRY(tn_infer_type(infer, 1, TN_SET_INDEX));
    TN_TRY(tn_infer_rank(infer, 1, 1, 1));
    if (tn_infer_in(infer, 2)) {
        TN_TRY(tn_infer_type(infer, 2, TN_SET_ANY));
        TN_TRY(tn_infer_scalar(infer, 2));
        dtype = infer->in[2]->dtype;
        if (dtype != TN_NONE && infer->in[0]->dtype != TN_NONE && dtype != infer->in[0]->dtype) {
            return tn_infer_fail(infer, "the value has type %s, the operand %s", tn_dtype_text(dtype), tn_dtype_text(infer->in[0]->dtype));
        }
    }
    if (tn_infer_in(infer, 3)) {
        TN_TRY(tn_infer_type(infer, 3, TN_SET_INDEX));
        TN_TRY(tn_infer_rank(infer, 3, 1, 1));
    }
    tn_shape shape = infer->in[0]->shape;
    if (shape.rank >= 0 && !read_pads(infer->in, infer->n_in, shape.rank, &p)) {
        return tn_infer_fail(infer, "pads must hold two numbers below 2^60 for each axis, and axes be different ones of rank %d", shape.rank);
    }
    for (int d = 0; d < shape.rank; d++) {
        const int64_t dim = shape.dims[d];
        int64_t *out = &shape.dims[d];
        if (p.known[d] && p.before[d] == 0 && p.after[d] == 0) {
            continue;
        }
        if (!p.known[d] || !tn_dim_known(dim)) {
            *out = TN_DIM_UNKNOWN;
        } else if (!tn_add_i64(dim, p.before[d], out) || !tn_add_i64(*out, p.after[d], out) || *out < 0) {
            return tn_infer_fail(infer, "pads %lld and %lld of axis %d do not fit a dim of %lld", (long long)p.before[d],
                                 (long long)p.after[d], d, (long long)dim);
        } else if (dim == 0 && *out > 0 && attr->mode != TN_PAD_CONSTANT) {
            return tn_infer_fail(infer, "axis %d has no elements to repeat", d);
        }
    }
    tn_infer_out(infer, 0, infer->in[0]->dtype, &shape);
    return TN_OK;
}

// ---- pad: where elements come from ----

// Places outside take the nearest element.
static int64_t map_edge(int64_t i, int64_t n) { return clamp(i, 0, n - 1); }

// Places outside take the element a whole number of lengths away.
static int64_t map_wrap(int64_t i, int64_t n)
{
    const int64_t m = i % n;
    return m < 0 ? m + n : m;
}

// There and back without repeating the ends: 0 1 2 3 2 1 0 1 ...
static int64_t map_reflect(int64_t i, int64_t n)
{
    if (n == 1) {
        return 0;
    }
    const int64_t period = 2 * (n - 1), m = map_wrap(i, period);
    return m < n ? m : period - m;
}

// A run of result indices whose sources go up, down or stand still. source -1: the constant. For n = 4, three before and three after:
//
//   result     0  1  2  3  4  5  6  7  8  9
//   reflect    3  2  1 |0  1  2 |3  2  1 |0        runs end where the direction turns
//   edge       0  0  0 |0  1  2  3 |3  3  3
//   wrap       1  2  3 |0  1  2  3 |0  1  2
typedef struct run {
    int64_t at, length, source, step;
} run;

// The run that begins at result index `at` of `total`.
static run run_at(int mode, int64_t n, int64_t before, int64_t at, int64_t total)
{
    const int64_t i = at - before;
    run r = {at, total - at, i, 1};
    if (mode == TN_PAD_CONSTANT || mode == TN_PAD_EDGE) {
        if (i < 0) {
            r.length = -i;
        } else if (i < n) {
            r.length = n - i;
        }
        if (i < 0 || i >= n) {
            r.source = mode == TN_PAD_CONSTANT ? -1 : clamp(i, 0, n - 1);
            r.step = 0;
        }
    } else if (mode == TN_PAD_WRAP) {
        r.source = map_wrap(i, n);
        r.length = n - r.source;
    } else if (n == 1) {
        r.source = 0;
        r.step = 0;
    } else {
        // up to the last element, or down to the one after the first
        const int64_t m = map_wrap(i, 2 * (n - 1));
        r.source = map_reflect(i, n);
        r.step = m < n - 1 ? 1 : -1;
        r.length = m < n - 1 ? n - 1 - m : r.source;
    }
    r.length = TN_MIN(r.length, total - at);
    return r;
}

// The runs of one axis; 0: more than `room`.
static int axis_runs(int mode, int64_t n, int64_t before, int64_t total, run *runs, int room)
{
    int count = 0;
    for (int64_t at = 0; at < total; at += runs[count++].length) {
        if (count == room) {
            return 0;
        }
        runs[count] = run_at(mode, n, before, at, total);
    }
    return count;
}

// The value of a constant pad; false: not known.
static bool read_fill(tn_move *move)
{
    const tn_fact *value = move->n_in > 2 ? move->in[2] : NULL;
    const size_t size = tn_dtype_bytes(move->in[0]->dtype);
    memset(move->fill, 0, sizeof move->fill);
    if (!value) {
        return size <= sizeof move->fill;
    }
    if (!value->value || !value->value->data || tn_fact_count(value) != 1 || size > sizeof move->fill) {
        return false;
    }
    memcpy(move->fill, value->value->data, size);
    return true;
}

// One box: a run of each axis. If one of them is the constant, so is the box.
static bool add_box(tn_move *move, const run *const *box)
{
    const tn_shape *x = &move->in[0]->shape, *y = &move->out->shape;
    int64_t from[TN_MAX_RANK], to[TN_MAX_RANK];
    bool fill = false;
    tn_strides_of(x, from);
    tn_strides_of(y, to);
    for (int d = 0; d < y->rank; d++) {
        fill |= box[d]->source < 0;
    }
    tn_region *region = tn_move_add(move, fill ? -1 : 0);
    for (int d = 0; d < y->rank && region; d++) {
        region->dst_offset += box[d]->at * to[d];
        region->src_offset += fill ? 0 : box[d]->source * from[d];
        tn_region_dim(region, box[d]->length, fill || box[d]->length == 1 ? 0 : from[d] * box[d]->step, to[d]);
    }
    return region != NULL;
}

// A constant pad of rank r as at most 2 r + 1 boxes that do not overlap: what lies before and after the middle of axis 0, then of
// axis 1 inside that middle, and so on; later axes are taken whole.
//
//   +-------------------+
//   |      axis 0       |
//   +---+-----------+---+
//   | 1 |  operand  | 1 |
//   +---+-----------+---+
//   |      axis 0       |
//   +-------------------+
static bool constant_boxes(tn_move *move, const int64_t *before)
{
    const tn_shape *x = &move->in[0]->shape, *y = &move->out->shape;
    run runs[3], middle[TN_MAX_RANK], whole[TN_MAX_RANK];
    const run *box[TN_MAX_RANK];
    for (int d = 0; d < y->rank; d++) {
        whole[d] = (run){0, y->dims[d], 0, 0};
        box[d] = &whole[d];
    }
    for (int d = 0; d < y->rank; d++) {
        const int count = axis_runs(TN_PAD_CONSTANT, x->dims[d], before[d], y->dims[d], runs, (int)TN_COUNT(runs));
        bool any = false;
        for (int k = 0; k < count; k++) {
            if (runs[k].source >= 0) {
                middle[d] = runs[k];
                any = true;
                continue;
            }
            box[d] = &runs[k];
            if (!add_box(move, box)) {
                return false;
            }
        }
        if (!any) {
            return true;
        }
        box[d] = &middle[d];
    }
    return add_box(move, box);
}

// The product of the runs of all axes; false: too many boxes.
static bool product_boxes(tn_move *move, int mode, const int64_t *before)
{
    const tn_shape *x = &move->in[0]->shape, *y = &move->out->shape;
    run runs[TN_MAX_RANK][TN_MAX_REGIONS];
    const run *box[TN_MAX_RANK];
    int counts[TN_MAX_RANK], boxes = 1;
    for (int d = 0; d < x->rank; d++) {
        counts[d] = axis_runs(mode, x->dims[d], before[d], y->dims[d], runs[d], TN_MAX_REGIONS);
        boxes *= counts[d];
        if (boxes == 0 || boxes > TN_MAX_REGIONS) {
            return false;
        }
    }
    for (int i = 0; i < boxes; i++) {
        for (int d = x->rank - 1, rest = i; d >= 0; rest /= counts[d--]) {
            box[d] = &runs[d][rest % counts[d]];
        }
        if (!add_box(move, box)) {
            return false;
        }
    }
    return true;
}

// Boxes by mode; false also where the value of a constant pad is not known yet.
static bool regions_pad(tn_move *move)
{
    const int mode = ((const tn_pad_attr *)move->attr)->mode;
    const tn_shape *x = &move->in[0]->shape, *y = &move->out->shape;
    pads p;
    if (tn_move_empty(move)) {
        return true;
    }
    if (x->rank != y->rank || !read_pads(move->in, move->n_in, x->rank, &p)) {
        return false;
    }
    for (int d = 0; d < x->rank; d++) {
        if (!p.known[d] || y->dims[d] != x->dims[d] + p.before[d] + p.after[d]) {
            return false;
        }
    }
    if (mode == TN_PAD_CONSTANT) {
        return read_fill(move) && constant_boxes(move, p.before);
    }
    return product_boxes(move, mode, p.before);
}

// x, pads [2 n], value?, axes [n]?
static tn_status run_pad(const tn_call *call)
{
    static int64_t (*const maps[])(int64_t, int64_t) = {NULL, map_reflect, map_edge, map_wrap};
    const int mode = ((const tn_pad_attr *)call->attr)->mode;
    const tn_shape *x = &call->in[0]->shape, *y = &call->out[0]->shape;
    bool done;
    TN_TRY(tn_move_try(call, 0, &done));
    if (done) {
        return TN_OK;
    }
    tn_fact facts[4];
    const tn_fact *in[4] = {NULL};
    pads p;
    for (int i = 0; i < call->n_in && i < 4; i++) {
        if (call->in[i]) {
            facts[i] = tn_fact_of(call->in[i]);
            in[i] = &facts[i];
        }
    }
    bool fits = mode != TN_PAD_CONSTANT && x->rank == y->rank && read_pads(in, call->n_in, x->rank, &p);
    for (int d = 0; d < x->rank && fits; d++) {
        fits = p.known[d] && y->dims[d] == x->dims[d] + p.before[d] + p.after[d];
    }
    if (!fits) {
        return tn_fail(call->diag, TN_INTERNAL, call->name, "pad: the operands do not fit the planned result");
    }
    return tn_move_mapped(call, maps[mode], p.before);
}

// ---- center_crop_pad ----

// Result dims: those of the shape operand on the axes given, the operand's own on the others. false: the operands contradict.
static bool crop_shape(const tn_crop_attr *attr, const tn_shape *x, const tn_fact *want, tn_shape *out)
{
    const int n = attr->axes.set ? attr->axes.count : x->rank;
    uint32_t seen = 0;
    *out = *x;
    if (n > x->rank || (tn_fact_count(want) >= 0 && tn_fact_count(want) != n)) {
        return false;
    }
    for (int i = 0; i < n; i++) {
        int d;
        if (!tn_axis(attr->axes.set ? attr->axes.v[i] : i, x->rank, &d) || seen >> d & 1) {
            return false;
        }
        seen |= UINT32_C(1) << d;
        out->dims[d] = tn_fact_elem(want, i);
        if (tn_dim_known(out->dims[d]) && out->dims[d] < 0) {
            return false;
        }
    }
    return true;
}

// x [d...], shape [n] -> x with the wanted dims on n axes
static tn_status infer_center_crop_pad(tn_infer *infer)
{
    TN_TRY(tn_infer_type(infer, 0, TN_SET_ANY));
    TN_TRY(tn_infer_type(infer, 1, TN_SET_INDEX));
    TN_TRY(tn_infer_rank(infer, 1, 1, 1));
    tn_shape shape = infer->in[0]->shape;
    if (shape.rank >= 0 && !crop_shape(infer->attr, &infer->in[0]->shape, infer->in[1], &shape)) {
        return tn_infer_fail(infer, "shape must hold a dim >= 0 for each axis, and axes be different ones of rank %d",
                             infer->in[0]->shape.rank);
    }
    tn_infer_out(infer, 0, infer->in[0]->dtype, &shape);
    return TN_OK;
}

// An axis that grows gets (grown / 2) zeros before it; one that shrinks loses (lost / 2) elements there.
static bool regions_center_crop_pad(tn_move *move)
{
    const tn_shape *x = &move->in[0]->shape, *y = &move->out->shape;
    int64_t before[TN_MAX_RANK];
    tn_shape want;
    if (!crop_shape(move->attr, x, move->in[1], &want) || !tn_shape_equal(&want, y)) {
        return false;
    }
    if (tn_move_empty(move)) {
        return true;
    }
    for (int d = 0; d < x->rank; d++) {
        before[d] = y->dims[d] >= x->dims[d] ? (y->dims[d] - x->dims[d]) / 2 : -((x->dims[d] - y->dims[d]) / 2);
    }
    memset(move->fill, 0, sizeof move->fill);
    return constant_boxes(move, before);
}

// ---- descriptors ----

const tn_op tn_op_slice = {
    .name = "slice", .version = 1, .min_in = 3, .max_in = 5, .min_out = 1, .max_out = 1, .infer = infer_slice,
    .regions = regions_slice, .shape_operands = 2 | 4 | 8 | 16,
};

const tn_op tn_op_pad = {
    .name = "pad", .version = 1, .min_in = 2, .max_in = 4, .min_out = 1, .max_out = 1, .attrs = pad_attrs,
    .n_attrs = TN_COUNT(pad_attrs), .attr_size = sizeof(tn_pad_attr), .infer = infer_pad, .regions = regions_pad,
    .shape_operands = 2 | 8,
};

const tn_op tn_op_center_crop_pad = {
    .name = "center_crop_pad", .version = 1, .min_in = 2, .max_in = 2, .min_out = 1, .max_out = 1, .attrs = crop_attrs,
    .n_attrs = TN_COUNT(crop_attrs), .attr_size = sizeof(tn_crop_attr), .infer = infer_center_crop_pad,
    .regions = regions_center_crop_pad, .shape_operands = 2,
};

// ---- export ----

static const tn_kernel rows[] = {
    TN_REFERENCE(slice, NULL, tn_move_run),
    TN_REFERENCE(pad, NULL, run_pad),
    TN_REFERENCE(center_crop_pad, NULL, tn_move_run),
};

static const tn_op *const ops[] = {&tn_op_slice, &tn_op_pad, &tn_op_center_crop_pad};

TN_EXPORT_OPS(op_slice, ops);
TN_EXPORT_KERNELS(op_slice, rows);
