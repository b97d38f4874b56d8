// SPDX-License-Identifier: Apache-2.0
// Blocks of space, channels and repeats. All but reverse_sequence, whose lengths are data, are one box over split dims.
// Ownership: const data. Threads: any.
#include "ops/move/op_block.h"

#include "base/num.h"
#include "ops/walk/strided.h"
#include "ops/walk/walk.h"

#include <stddef.h>
#include <string.h>

// ---- attributes ----

static const tn_attr block_attrs[] = {
    {"blocksize", TN_ATTR_INT, offsetof(tn_block_attr, blocksize), NULL},
    {"crd", TN_ATTR_BOOL, offsetof(tn_block_attr, crd), NULL},
};

static const tn_attr reverse_attrs[] = {
    {"batch_axis", TN_ATTR_INT, offsetof(tn_reverse_sequence_attr, batch_axis), NULL},
    {"time_axis", TN_ATTR_INT, offsetof(tn_reverse_sequence_attr, time_axis), NULL},
};
static const tn_reverse_sequence_attr reverse_defaults = {1, 0};

// ---- infer ----

// blocksize squared, when it is sane: no dim is larger than 2^62.
static tn_status block_area(const tn_infer *infer, int64_t *b, int64_t *area)
{
    *b = ((const tn_block_attr *)infer->attr)->blocksize;
    *area = 1;
    if (*b < 1 || !tn_mul_i64(*b, *b, area)) {
        return tn_infer_fail(infer, "blocksize is %lld, expected a small positive number", (long long)*b);
    }
    TN_TRY(tn_infer_type(infer, 0, TN_SET_ANY));
    return tn_infer_rank(infer, 0, 4, 4);
}

// dim / by and dim * by; unknown stays unknown, and by 1 keeps a symbol.
static tn_status divide(const tn_infer *infer, int axis, int64_t by, int64_t *dim)
{
    if (by == 1) {
        return TN_OK;
    }
    if (!tn_dim_known(*dim)) {
        *dim = TN_DIM_UNKNOWN;
        return TN_OK;
    }
    if (*dim % by != 0) {
        return tn_infer_fail(infer, "axis %d has %lld elements, expected a multiple of %lld", axis, (long long)*dim, (long long)by);
    }
    *dim /= by;
    return TN_OK;
}

// A dim times a factor from the model: checked.
static tn_status multiply(const tn_infer *infer, int axis, int64_t by, int64_t *dim)
{
    if (by == 1) {
        return TN_OK;
    }
    if (!tn_dim_known(*dim)) {
        *dim = TN_DIM_UNKNOWN;
    } else if (!tn_mul_i64(*dim, by, dim)) {
        return tn_infer_fail(infer, "axis %d times %lld does not fit in 64 bits", axis, (long long)by);
    }
    return TN_OK;
}

// x [N, C b b, H, W] -> [N, C, H b, W b]
static tn_status infer_depth_to_space(tn_infer *infer)
{
    int64_t b = 0, area = 0;
    TN_TRY(block_area(infer, &b, &area));
    tn_shape shape = infer->in[0]->shape;
    if (shape.rank == 4) {
        TN_TRY(divide(infer, 1, area, &shape.dims[1]));
        TN_TRY(multiply(infer, 2, b, &shape.dims[2]));
        TN_TRY(multiply(infer, 3, b, &shape.dims[3]));
    }
    tn_infer_out(infer, 0, infer->in[0]->dtype, &shape);
    return TN_OK;
}

// x [N, C, H b, W b] -> [N, C b b, H, W]
static tn_status infer_space_to_depth(tn_infer *infer)
{
    int64_t b = 0, area = 0;
    TN_TRY(block_area(infer, &b, &area));
    tn_shape shape = infer->in[0]->shape;
    if (shape.rank == 4) {
        TN_TRY(multiply(infer, 1, area, &shape.dims[1]));
        TN_TRY(divide(infer, 2, b, &shape.dims[2]));
        TN_TRY(divide(infer, 3, b, &shape.dims[3]));
    }
    tn_infer_out(infer, 0, infer->in[0]->dtype, &shape);
    return TN_OK;
}

// x [d...], repeats [rank] -> [d * repeat...]. A dim of 1 becomes what is known of its repeat, also a symbol.
static tn_status infer_tile(tn_infer *infer)
{
    TN_TRY(tn_infer_type(infer, 0, TN_SET_ANY));
    TN_TRY(tn_infer_type(infer, 1, TN_SET_INDEX));
    TN_TRY(tn_infer_rank(infer, 1, 0, 1));
    tn_shape shape = infer->in[0]->shape;
    const int64_t count = tn_fact_count(infer->in[1]);
    if (shape.rank >= 0 && count >= 0 && count != shape.rank) {
        return tn_infer_fail(infer, "has %lld repeats for an operand of rank %d", (long long)count, shape.rank);
    }
    for (int d = 0; d < shape.rank; d++) {
        const int64_t times = count < 0 ? TN_DIM_UNKNOWN : tn_fact_elem(infer->in[1], d);
        if (times == 0 || shape.dims[d] == 0) {
            shape.dims[d] = 0;
        } else if (!tn_dim_known(times)) {
            shape.dims[d] = shape.dims[d] == 1 ? times : TN_DIM_UNKNOWN;
        } else if (times < 0) {
            return tn_infer_fail(infer, "axis %d is to be repeated %lld times", d, (long long)times);
        } else {
            TN_TRY(multiply(infer, d, times, &shape.dims[d]));
        }
    }
    tn_infer_out(infer, 0, infer->in[0]->dtype, &shape);
    return TN_OK;
}

// x [T, B, ...] or [B, T, ...], lengths [B] -> the same shape
static tn_status infer_reverse_sequence(tn_infer *infer)
{
    const tn_reverse_sequence_attr *attr = infer->attr;
    TN_TRY(tn_infer_type(infer, 0, TN_SET_ANY));
    TN_TRY(tn_infer_type(infer, 1, TN_SET_INDEX));
    TN_TRY(tn_infer_rank(infer, 0, 2, TN_MAX_RANK));
    TN_TRY(tn_infer_rank(infer, 1, 1, 1));
    if (attr->batch_axis < 0 || attr->batch_axis > 1 || attr->time_axis != 1 - attr->batch_axis) {
        return tn_infer_fail(infer, "batch_axis is %lld and time_axis %lld, expected 0 and 1 or 1 and 0", (long long)attr->batch_axis,
                             (long long)attr->time_axis);
    }
    tn_shape shape = infer->in[0]->shape;
    if (shape.rank >= 2 && infer->in[1]->shape.rank == 1) {
        int64_t *batch = &shape.dims[attr->batch_axis];
        if (!tn_dim_join(*batch, infer->in[1]->shape.dims[0], batch)) {
            return tn_infer_fail(infer, "has %lld lengths for a batch of %lld", (long long)infer->in[1]->shape.dims[0], (long long)*batch);
        }
    }
    tn_infer_out(infer, 0, infer->in[0]->dtype, &shape);
    return TN_OK;
}

// ---- movement ----

// One box whose dims are given in the result's order: sizes and the operand's strides.
static void one_box(tn_move *move, int rank, const int64_t *sizes, const int64_t *from)
{
    const tn_shape shape = tn_shape_of(rank, sizes);
    int64_t to[TN_MAX_RANK];
    tn_region *region = tn_move_add(move, 0);
    tn_strides_of(&shape, to);
    for (int d = 0; d < rank; d++) {
        tn_region_dim(region, sizes[d], from[d], to[d]);
    }
}

// [N, b, b, c, H, W] (crd: [N, c, b, b, H, W])  ->  [N, c, H, b, W, b]
// For b = 2 the four channels that become one block of the picture lie c channels apart (DCR) or side by side (CRD):
//
//   DCR   0 . c . 2c . 3c       CRD   0 1 2 3       ->    0 1
//                                                         2 3
static bool regions_depth_to_space(tn_move *move)
{
    const tn_block_attr *attr = move->attr;
    const tn_shape *x = &move->in[0]->shape;
    if (tn_move_empty(move)) {
        return true;
    }
    const int64_t b = attr->blocksize, c = x->dims[1] / (b * b), h = x->dims[2], w = x->dims[3], plane = h * w;
    const int64_t channel = attr->crd ? b * b * plane : plane;
    const int64_t row = attr->crd ? b * plane : b * c * plane, column = attr->crd ? plane : c * plane;
    const int64_t sizes[6] = {x->dims[0], c, h, b, w, b};
    const int64_t from[6] = {x->dims[1] * plane, channel, w, row, 1, column};
    one_box(move, 6, sizes, from);
    return true;
}

// [N, C, h, b, w, b]  ->  [N, b, b, C, h, w] (crd: [N, C, b, b, h, w])
static bool regions_space_to_depth(tn_move *move)
{
    const tn_shape *x = &move->in[0]->shape;
    if (tn_move_empty(move)) {
        return true;
    }
    const tn_block_attr *attr = move->attr;
    const int64_t b = attr->blocksize, c = x->dims[1], h = x->dims[2], w = x->dims[3];
    const int64_t sizes[2][6] = {{x->dims[0], b, b, c, h / b, w / b}, {x->dims[0], c, b, b, h / b, w / b}};
    const int64_t from[2][6] = {{c * h * w, w, 1, h * w, b * w, b}, {c * h * w, h * w, w, 1, b * w, b}};
    one_box(move, 6, sizes[attr->crd], from[attr->crd]);
    return true;
}

// Each repeated dim becomes two: the repeats, which do not move in the operand, and the dim. Six repeated dims are more than a box
// has; then the kernel maps every index.
static bool regions_tile(tn_move *move)
{
    const tn_shape *x = &move->in[0]->shape, *y = &move->out->shape;
    int64_t from[TN_MAX_RANK], to[TN_MAX_RANK];
    if (tn_move_empty(move)) {
        return true;
    }
    tn_region *region = tn_move_add(move, 0);
    tn_strides_of(x, from);
    tn_strides_of(y, to);
    for (int d = 0; d < y->rank; d++) {
        const int64_t times = y->dims[d] / x->dims[d];
        if (!tn_region_dim(region, times, 0, to[d] * x->dims[d]) || !tn_region_dim(region, x->dims[d], from[d], to[d])) {
            return false;
        }
    }
    return true;
}

// ---- descriptors ----

#define BLOCK(NAME)                                                                                                      \
    const tn_op tn_op_##NAME = {                                                                                         \
        .name = #NAME, .version = 1, .min_in = 1, .max_in = 1, .min_out = 1, .max_out = 1, .attrs = block_attrs,          \
        .n_attrs = TN_COUNT(block_attrs), .attr_size = sizeof(tn_block_attr), .infer = infer_##NAME,                     \
        .regions = regions_##NAME                                                                                        \
    }

BLOCK(depth_to_space);
BLOCK(space_to_depth);

const tn_op tn_op_tile = {
    .name = "tile", .version = 1, .min_in = 2, .max_in = 2, .min_out = 1, .max_out = 1, .infer = infer_tile, .regions = regions_tile,
    .shape_operands = 2,
};

const tn_op tn_op_reverse_sequence = {
    .name = "reverse_sequence", .version = 1, .min_in = 2, .max_in = 2, .min_out = 1, .max_out = 1, .attrs = reverse_attrs,
    .n_attrs = TN_COUNT(reverse_attrs), .attr_size = sizeof(tn_reverse_sequence_attr), .defaults = &reverse_defaults,
    .infer = infer_reverse_sequence,
};

// ---- reference ----

// The element a repeated one is a copy of.
static int64_t map_wrap_around(int64_t i, int64_t n) { return i % n; }

// x, repeats [rank]
static tn_status run_tile(const tn_call *call)
{
    static const int64_t before[TN_MAX_RANK] = {0};
    const tn_shape *x = &call->in[0]->shape, *y = &call->out[0]->shape;
    bool fits = x->rank == y->rank, done;
    for (int d = 0; d < x->rank && fits; d++) {
        fits = y->dims[d] == 0 || (x->dims[d] > 0 && y->dims[d] % x->dims[d] == 0);
    }
    if (!fits) {
        return tn_fail(call->diag, TN_INTERNAL, call->name, "tile: the operand does not fit the planned result");
    }
    TN_TRY(tn_move_try(call, 0, &done));
    return done ? TN_OK : tn_move_mapped(call, map_wrap_around, before);
}

// x: [T, B, ...] or [B, T, ...] by time_axis; lengths: [B], each 0 .. T.
static tn_status run_reverse_sequence(const tn_call *call)
{
    const tn_reverse_sequence_attr *attr = call->attr;
    const tn_tensor *x = call->in[0], *lengths = call->in[1];
    const int64_t batch = x->shape.dims[attr->batch_axis], time = x->shape.dims[attr->time_axis];
    const size_t inner = (size_t)tn_shape_span(&x->shape, 2, x->shape.rank) * tn_dtype_bytes(x->dtype);
    const size_t batch_step = attr->batch_axis == 0 ? (size_t)time : 1, time_step = attr->time_axis == 0 ? (size_t)batch : 1;
    if (tn_tensor_count(x) == 0) {
        return TN_OK;
    }
    for (int64_t b = 0; b < batch; b++) {
        const int64_t length = tn_dtype_load_i64(lengths->dtype, lengths->data, (size_t)b);
        if (length < 0 || length > time) {
            return tn_fail(call->diag, TN_INVALID_ARGUMENT, call->name, "reverse_sequence: length %lld of %lld is %lld, expected 0 to %lld",
                           (long long)b, (long long)batch, (long long)length, (long long)time);
        }
        if (tn_cancelled(call)) {
            return tn_fail_cancelled(call);
        }
        for (int64_t t = 0; t < time; t++) {
            const size_t from = (size_t)(t < length ? length - 1 - t : t);
            memcpy((char *)call->out[0]->data + ((size_t)b * batch_step + (size_t)t * time_step) * inner,
                   (const char *)x->data + ((size_t)b * batch_step + from * time_step) * inner, inner);
        }
    }
    return TN_OK;
}

// ---- export ----

static const tn_kernel rows[] = {
    TN_REFERENCE(depth_to_space, NULL, tn_move_run),
    TN_REFERENCE(space_to_depth, NULL, tn_move_run),
    TN_REFERENCE(tile, NULL, run_tile),
    TN_REFERENCE(reverse_sequence, NULL, run_reverse_sequence),
};

static const tn_op *const ops[] = {&tn_op_depth_to_space, &tn_op_space_to_depth, &tn_op_tile, &tn_op_reverse_sequence};

TN_EXPORT_OPS(op_block, ops);
TN_EXPORT_KERNELS(op_block, rows);
