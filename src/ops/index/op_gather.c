// SPDX-License-Identifier: Apache-2.0
// Reading and writing by index tensors. Every index is checked when the operator runs; a negative one counts from the end, once. What
// is only moved is moved by element size; the reductions of the scatters compute in lanes.
// Ownership: const data. Threads: any.
#include "ops/index/op_gather.h"

#include "base/num.h"
#include "ops/walk/lanes.h"
#include "ops/walk/strided.h"
#include "ops/op_facts.h"
#include "ops/walk/walk.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

// ---- attributes ----

static const char *const reductions[] = {"none", "add", "mul", "max", "min", NULL};
static const char *const modes[] = {"linear", "circular", NULL};
static const tn_attr gather_attrs[] = {{"axis", TN_ATTR_INT, offsetof(tn_gather_attr, axis), NULL}};
static const tn_attr gather_nd_attrs[] = {{"batch_dims", TN_ATTR_INT, offsetof(tn_gather_nd_attr, batch_dims), NULL}};
static const tn_attr scatter_attrs[] = {
    {"axis", TN_ATTR_INT, offsetof(tn_scatter_attr, axis), NULL},
    {"reduction", TN_ATTR_ENUM, offsetof(tn_scatter_attr, reduction), reductions},
};
static const tn_attr write_attrs[] = {
    {"axis", TN_ATTR_INT, offsetof(tn_tensor_scatter_attr, axis), NULL},
    {"circular", TN_ATTR_ENUM, offsetof(tn_tensor_scatter_attr, circular), modes},
};
static const tn_gather_attr one_hot_defaults = {-1};
static const tn_tensor_scatter_attr write_defaults = {-2, 0};

// An index that may be negative, against n elements; false: out of range.
static bool wrap_index(int64_t *index, int64_t n)
{
    *index += *index < 0 ? n : 0;
    return *index >= 0 && *index < n;
}

// Data of the run, not the model, is to blame: TN_INVALID_ARGUMENT.
static tn_status fail_index(const tn_call *call, int64_t index, int64_t n)
{
    return tn_fail(call->diag, TN_INVALID_ARGUMENT, call->name, "%s: index %lld is out of range for %lld elements", call->op->name,
                   (long long)index, (long long)n);
}

// int32 and int64 indices alike.
static int64_t index_at(const tn_tensor *indices, int64_t i) { return tn_dtype_load_i64(indices->dtype, indices->data, (size_t)i); }

// ---- infer: gathers ----

static tn_status too_many_dims(const tn_infer *infer, int rank)
{
    return tn_infer_fail(infer, "the result has %d dims, at most %d are supported", rank, TN_MAX_RANK);
}

// data of rank 1: element indices[i] of a small integer tensor.
static tn_status gather_elems(tn_infer *infer)
{
    const tn_fact *data = infer->in[0], *indices = infer->in[1];
    const int64_t count = tn_fact_count(indices);
    if (data->shape.rank != 1 || !tn_infer_tells(infer, 0) || tn_fact_count(&infer->out[0]) != count) {
        return TN_OK;
    }
    int64_t *elems = tn_infer_elems(infer, 0, count);
    if (!elems) {
        return TN_OUT_OF_MEMORY;
    }
    for (int64_t i = 0; i < count; i++) {
        int64_t index;
        if (tn_fact_int(indices, i, &index) && wrap_index(&index, data->shape.dims[0])) {
            elems[i] = tn_fact_elem(data, index);
        }
    }
    return TN_OK;
}

// data [outer, length, inner], indices [n...] -> [outer, n..., inner]
static tn_status infer_gather(tn_infer *infer)
{
    const tn_gather_attr *attr = infer->attr;
    TN_TRY(tn_infer_type(infer, 0, TN_SET_ANY));
    TN_TRY(tn_infer_type(infer, 1, TN_SET_INDEX));
    TN_TRY(tn_infer_rank(infer, 0, 1, TN_MAX_RANK));
    const tn_shape *x = &infer->in[0]->shape, *at = &infer->in[1]->shape;
    tn_shape shape = tn_shape_unknown();
    int axis;
    if (x->rank >= 0) {
        TN_TRY(tn_infer_axis(infer, "axis", attr->axis, x->rank, &axis));
    }
    if (x->rank >= 0 && at->rank >= 0) {
        if (x->rank + at->rank - 1 > TN_MAX_RANK) {
            return too_many_dims(infer, x->rank + at->rank - 1);
        }
        shape.rank = 0;
        for (int d = 0; d < axis; d++) {
            shape.dims[shape.rank++] = x->dims[d];
        }
        for (int d = 0; d < at->rank; d++) {
            shape.dims[shape.rank++] = at->dims[d];
        }
        for (int d = axis + 1; d < x->rank; d++) {
            shape.dims[shape.rank++] = x->dims[d];
        }
    }
    tn_infer_out(infer, 0, infer->in[0]->dtype, &shape);
    return gather_elems(infer);
}

// Dims of the index tensor lie inside those of the data, except along the axis.
static tn_status infer_inside(const tn_infer *infer, int64_t given)
{
    const tn_shape *x = &infer->in[0]->shape, *at = &infer->in[1]->shape;
    int axis;
    TN_TRY(tn_infer_rank(infer, 0, 1, TN_MAX_RANK));
    if (x->rank < 0) {
        return TN_OK;
    }
    TN_TRY(tn_infer_axis(infer, "axis", given, x->rank, &axis));
    TN_TRY(tn_infer_rank(infer, 1, x->rank, x->rank));
    for (int d = 0; d < x->rank && at->rank >= 0; d++) {
        if (d != axis && tn_dim_known(at->dims[d]) && tn_dim_known(x->dims[d]) && at->dims[d] > x->dims[d]) {
            return tn_infer_fail(infer, "the indices have %lld entries along axis %d, the data only %lld", (long long)at->dims[d], d,
                                 (long long)x->dims[d]);
        }
    }
    return TN_OK;
}

// data, indices of one rank -> the shape of indices
static tn_status infer_gather_elements(tn_infer *infer)
{
    TN_TRY(tn_infer_type(infer, 0, TN_SET_ANY));
    TN_TRY(tn_infer_type(infer, 1, TN_SET_INDEX));
    TN_TRY(infer_inside(infer, ((const tn_gather_attr *)infer->attr)->axis));
    tn_infer_out(infer, 0, infer->in[0]->dtype, &infer->in[1]->shape);
    return TN_OK;
}

// Entries of one index tuple, the last dim of the index tensor; TN_DIM_UNKNOWN when not known.
static tn_status tuple_size(const tn_infer *infer, int batch, int64_t *size)
{
    const tn_shape *x = &infer->in[0]->shape, *at = &infer->in[1]->shape;
    *size = at->rank < 0 ? TN_DIM_UNKNOWN : at->dims[at->rank - 1];
    if (tn_dim_known(*size) && x->rank >= 0 && *size > x->rank - batch) {
        return tn_infer_fail(infer, "an index has %lld entries for %d dims", (long long)*size, x->rank - batch);
    }
    return TN_OK;
}

// data [batch..., d..., inner...], indices [batch..., n..., size] -> [batch..., n..., inner...]. The rank needs `size`.
static tn_status infer_gather_nd(tn_infer *infer)
{
    const int64_t given = ((const tn_gather_nd_attr *)infer->attr)->batch_dims;
    int64_t size;
    TN_TRY(tn_infer_type(infer, 0, TN_SET_ANY));
    TN_TRY(tn_infer_type(infer, 1, TN_SET_INDEX));
    TN_TRY(tn_infer_rank(infer, 0, 1, TN_MAX_RANK));
    TN_TRY(tn_infer_rank(infer, 1, 1, TN_MAX_RANK));
    const tn_shape *x = &infer->in[0]->shape, *at = &infer->in[1]->shape;
    const int bound = TN_MIN(x->rank < 0 ? TN_MAX_RANK : x->rank, at->rank < 0 ? TN_MAX_RANK : at->rank);
    if (given < 0 || given >= bound) {
        return tn_infer_fail(infer, "batch_dims is %lld, expected 0 to %d", (long long)given, bound - 1);
    }
    const int batch = (int)given;
    TN_TRY(tuple_size(infer, batch, &size));
    tn_shape shape = tn_shape_unknown();
    if (x->rank >= 0 && at->rank >= 0 && tn_dim_known(size)) {
        const int rank = at->rank - 1 + x->rank - batch - (int)size;
        if (rank > TN_MAX_RANK) {
            return too_many_dims(infer, rank);
        }
        shape.rank = 0;
        for (int d = 0; d < at->rank - 1; d++) {
            int64_t dim = at->dims[d];
            if (d < batch && !tn_dim_join(dim, x->dims[d], &dim)) {
                return tn_infer_fail(infer, "batch dim %d has %lld elements in the data and %lld in the indices", d,
                                     (long long)x->dims[d], (long long)at->dims[d]);
            }
            shape.dims[shape.rank++] = dim;
        }
        for (int d = batch + (int)size; d < x->rank; d++) {
            shape.dims[shape.rank++] = x->dims[d];
        }
    }
    tn_infer_out(infer, 0, infer->in[0]->dtype, &shape);
    return TN_OK;
}

// ---- infer: scatters ----

// Operands of both scatters: data and updates of one type, which a reduction must be able to compute with.
static tn_status infer_scatter(tn_infer *infer, tn_dtype *dtype)
{
    const int reduction = ((const tn_scatter_attr *)infer->attr)->reduction;
    *dtype = TN_NONE;
    if (reduction < TN_SCATTER_NONE || reduction > TN_SCATTER_MIN) {
        return tn_infer_fail(infer, "reduction %d is none of none, add, mul, max, min", reduction);
    }
    const uint32_t set = reduction == TN_SCATTER_NONE ? TN_SET_ANY : TN_SET_NUMBER | TN_BIT(BOOL);
    TN_TRY(tn_infer_type(infer, 0, set));
    TN_TRY(tn_infer_type(infer, 1, TN_SET_INDEX));
    TN_TRY(tn_infer_type(infer, 2, set));
    *dtype = infer->in[0]->dtype != TN_NONE ? infer->in[0]->dtype : infer->in[2]->dtype;
    if (infer->in[2]->dtype != TN_NONE && infer->in[2]->dtype != *dtype) {
        return tn_infer_fail(infer, "the updates have type %s, the data %s", tn_dtype_text(infer->in[2]->dtype), tn_dtype_text(*dtype));
    }
    return TN_OK;
}

// data; indices and updates of one shape inside it.
static tn_status infer_scatter_elements(tn_infer *infer)
{
    tn_dtype dtype = TN_NONE;
    TN_TRY(infer_scatter(infer, &dtype));
    TN_TRY(infer_inside(infer, ((const tn_scatter_attr *)infer->attr)->axis));
    TN_TRY(tn_infer_shape(infer, 2, &infer->in[1]->shape));
    tn_infer_out(infer, 0, dtype, &infer->in[0]->shape);
    return TN_OK;
}

// updates: [indices' dims but the last, data's dims past the tuple].
static tn_status infer_scatter_nd(tn_infer *infer)
{
    tn_dtype dtype = TN_NONE;
    int64_t size;
    TN_TRY(infer_scatter(infer, &dtype));
    TN_TRY(tn_infer_rank(infer, 0, 1, TN_MAX_RANK));
    TN_TRY(tn_infer_rank(infer, 1, 1, TN_MAX_RANK));
    TN_TRY(tuple_size(infer, 0, &size));
    const tn_shape *x = &infer->in[0]->shape, *at = &infer->in[1]->shape;
    if (x->rank >= 0 && at->rank >= 0 && tn_dim_known(size)) {
        tn_shape want = {.rank = 0};
        const int rank = at->rank - 1 + x->rank - (int)size;
        if (rank > TN_MAX_RANK) {
            return too_many_dims(infer, rank);
        }
        for (int d = 0; d < at->rank - 1; d++) {
            want.dims[want.rank++] = at->dims[d];
        }
        for (int d = (int)size; d < x->rank; d++) {
            want.dims[want.rank++] = x->dims[d];
        }
        TN_TRY(tn_infer_shape(infer, 2, &want));
    }
    tn_infer_out(infer, 0, dtype, x);
    return TN_OK;
}

// cache [B, ..., length, ...], update [B, ..., n, ...], write indices [B]? (ONNX TensorScatter 24)
static tn_status infer_tensor_scatter(tn_infer *infer)
{
    const tn_tensor_scatter_attr *attr = infer->attr;
    tn_dtype dtype = TN_NONE;
    TN_TRY(tn_infer_types(infer, 0, 1, TN_SET_ANY, &dtype));
    if (attr->circular < 0 || attr->circular > 1) {
        return tn_infer_fail(infer, "mode %d is neither linear nor circular", attr->circular);
    }
    const tn_shape *x = &infer->in[0]->shape, *update = &infer->in[1]->shape;
    if (tn_infer_in(infer, 2)) {
        TN_TRY(tn_infer_type(infer, 2, TN_SET_INDEX));
        TN_TRY(tn_infer_rank(infer, 2, 1, 1));
    }
    if (x->rank >= 0) {
        int axis;
        tn_shape want = *x;
        TN_TRY(tn_infer_axis(infer, "axis", attr->axis, x->rank, &axis));
        if (axis == 0) {
            return tn_infer_fail(infer, "axis 0 is the batch, which cannot be written along");
        }
        want.dims[axis] = update->rank == x->rank ? update->dims[axis] : TN_DIM_UNKNOWN;
        TN_TRY(tn_infer_shape(infer, 1, &want));
        if (tn_dim_known(x->dims[axis]) && tn_dim_known(want.dims[axis]) && want.dims[axis] > x->dims[axis]) {
            return tn_infer_fail(infer, "the update has %lld entries along axis %d, the cache %lld", (long long)want.dims[axis], axis,
                                 (long long)x->dims[axis]);
        }
        const tn_shape batch = tn_shape_of(1, x->dims);
        if (tn_infer_in(infer, 2)) {
            TN_TRY(tn_infer_shape(infer, 2, &batch));
        }
    }
    tn_infer_out(infer, 0, dtype, x);
    return TN_OK;
}

// indices [n...], depth: one number of any type, values [off, on] -> [n..., depth] with depth put in at the axis.
static tn_status infer_one_hot(tn_infer *infer)
{
    const tn_gather_attr *attr = infer->attr;
    bool known;
    int64_t depth = TN_DIM_UNKNOWN;
    TN_TRY(tn_infer_type(infer, 0, TN_SET_NUMBER));
    TN_TRY(tn_infer_type(infer, 1, TN_SET_NUMBER));
    TN_TRY(tn_infer_type(infer, 2, TN_SET_ANY));
    TN_TRY(tn_infer_int(infer, 1, &depth, &known));
    TN_TRY(tn_infer_rank(infer, 2, 1, 1));
    const tn_shape *values = &infer->in[2]->shape, *at = &infer->in[0]->shape;
    if (values->rank == 1 && tn_dim_known(values->dims[0]) && values->dims[0] != 2) {
        return tn_infer_fail(infer, "values has %lld elements, expected [off, on]", (long long)values->dims[0]);
    }
    if (known && depth < 0) {
        return tn_infer_fail(infer, "depth is %lld", (long long)depth);
    }
    tn_shape shape = tn_shape_unknown();
    if (at->rank >= 0) {
        int axis;
        if (at->rank == TN_MAX_RANK) {
            return too_many_dims(infer, at->rank + 1);
        }
        TN_TRY(tn_infer_axis(infer, "axis", attr->axis, at->rank + 1, &axis));
        shape.rank = at->rank + 1;
        for (int d = 0, from = 0; d < shape.rank; d++) {
            shape.dims[d] = d == axis ? (known ? depth : tn_fact_count(infer->in[1]) == 1 ? tn_fact_elem(infer->in[1], 0) : TN_DIM_UNKNOWN)
                                      : at->dims[from++];
        }
    }
    tn_infer_out(infer, 0, infer->in[2]->dtype, &shape);
    return TN_OK;
}

// ---- movement: a gather by few constants ----

#define MAX_KNOWN_INDICES 4096

// Index i of the gather as a place in the data; false: not known, or out of range (the kernel will say so).
static bool place(const tn_move *move, int64_t i, int64_t length, int64_t *at)
{
    return tn_fact_int(move->in[1], i, at) && wrap_index(at, length);
}

// x [outer, length, inner], indices [n]: each run of indices in equal steps is one box, so that a gather that flips, strides or
// takes every element is one, like the slice that it stands for.
static bool regions_gather(tn_move *move)
{
    const tn_shape *x = &move->in[0]->shape;
    const int64_t n = tn_fact_count(move->in[1]);
    int axis;
    if (tn_move_empty(move)) {
        return true;
    }
    if (n < 1 || n > MAX_KNOWN_INDICES || !tn_axis(((const tn_gather_attr *)move->attr)->axis, x->rank, &axis)) {
        return false;
    }
    const int64_t outer = tn_shape_span(x, 0, axis), length = x->dims[axis], inner = tn_shape_span(x, axis + 1, x->rank);
    int64_t i = 0, first, next;
    while (i < n) {
        if (!place(move, i, length, &first)) {
            return false;
        }
        int64_t run = 1, step = 0;
        if (i + 1 < n && place(move, i + 1, length, &next)) {
            step = next - first;
            while (i + run < n && place(move, i + run, length, &next) && next == first + run * step) {
                run++;
            }
        }
        tn_region *region = tn_move_add(move, 0);
        if (!region) {
            return false;
        }
        region->src_offset = first * inner;
        region->dst_offset = i * inner;
        tn_region_dim(region, outer, length * inner, n * inner);
        tn_region_dim(region, run, step * inner, inner);
        tn_region_dim(region, inner, 1, 1);
        i += run;
    }
    return true;
}

// ---- descriptors ----

#define INDEXED(NAME, OPERANDS, FLAGS, ATTRS, TYPE, ...)                                                           \
    const tn_op tn_op_##NAME = {                                                                                   \
        .name = #NAME, .version = 1, .flags = FLAGS, .min_in = OPERANDS, .max_in = OPERANDS, .min_out = 1,         \
        .max_out = 1, .attrs = ATTRS, .n_attrs = TN_COUNT(ATTRS), .attr_size = sizeof(TYPE), .infer = infer_##NAME, \
        __VA_ARGS__                                                                                                \
    }

INDEXED(gather, 2, 0, gather_attrs, tn_gather_attr, .regions = regions_gather);
INDEXED(gather_elements, 2, 0, gather_attrs, tn_gather_attr, .regions = NULL);
INDEXED(gather_nd, 2, 0, gather_nd_attrs, tn_gather_nd_attr, .regions = NULL);
INDEXED(scatter_elements, 3, TN_OP_INPLACE, scatter_attrs, tn_scatter_attr, .regions = NULL);
INDEXED(scatter_nd, 3, TN_OP_INPLACE, scatter_attrs, tn_scatter_attr, .regions = NULL);
INDEXED(one_hot, 3, 0, gather_attrs, tn_gather_attr, .defaults = &one_hot_defaults, .shape_operands = 2);

const tn_op tn_op_tensor_scatter = {
    .name = "tensor_scatter", .version = 1, .flags = TN_OP_INPLACE, .min_in = 2, .max_in = 3, .min_out = 1, .max_out = 1,
    .attrs = write_attrs, .n_attrs = TN_COUNT(write_attrs), .attr_size = sizeof(tn_tensor_scatter_attr), .defaults = &write_defaults,
    .infer = infer_tensor_scatter,
};

// ---- reference: gathers ----

// data [outer, length, inner], indices [n] -> [outer, n, inner]
static tn_status run_gather(const tn_call *call)
{
    const tn_tensor *x = call->in[0], *at = call->in[1];
    const int64_t n = tn_tensor_count(at);
    int axis;
    if (!tn_axis(((const tn_gather_attr *)call->attr)->axis, x->shape.rank, &axis)) {
        return tn_fail(call->diag, TN_INTERNAL, call->name, "axis was not checked");
    }
    const int64_t length = x->shape.dims[axis];
    for (int64_t i = 0; i < n; i++) {
        int64_t index = index_at(at, i);
        if (!wrap_index(&index, length)) {
            return fail_index(call, index_at(at, i), length);
        }
    }
    if (tn_tensor_count(call->out[0]) == 0) {
        return TN_OK;
    }
    const int64_t outer = tn_shape_span(&x->shape, 0, axis);
    const size_t inner = (size_t)tn_shape_span(&x->shape, axis + 1, x->shape.rank) * tn_dtype_bytes(x->dtype);
    char *to = call->out[0]->data;
    for (int64_t o = 0; o < outer; o++) {
        const char *from = (const char *)x->data + (size_t)(o * length) * inner;
        if (tn_cancelled(call)) {
            return tn_fail_cancelled(call);
        }
        for (int64_t i = 0; i < n; i++, to += inner) {
            int64_t index = index_at(at, i);
            wrap_index(&index, length);
            memcpy(to, from + (size_t)index * inner, inner);
        }
    }
    return TN_OK;
}

// Walks the index tensor beside the data, whose stride along the axis counts as 0: offsets[1] is where the axis begins.
// The index then picks the place on the axis:  data[i0, index[i0, i1, i2], i2]  for axis 1.
static bool walk_axis(tn_walk *walk, const tn_shape *at, const tn_shape *data, int axis)
{
    int64_t strides[2][TN_MAX_RANK];
    tn_strides_of(at, strides[0]);
    tn_strides_of(data, strides[1]);
    strides[1][axis] = 0;
    return tn_walk_init_strides(walk, at, 2, strides);
}

// data, indices: the same rank; result: the shape of indices.
static tn_status run_gather_elements(const tn_call *call)
{
    const tn_tensor *x = call->in[0], *at = call->in[1];
    const size_t size = tn_dtype_bytes(x->dtype);
    int64_t strides[TN_MAX_RANK];
    int axis;
    tn_walk walk;
    if (!tn_axis(((const tn_gather_attr *)call->attr)->axis, x->shape.rank, &axis)) {
        return tn_fail(call->diag, TN_INTERNAL, call->name, "axis was not checked");
    }
    tn_strides_of(&x->shape, strides);
    const int64_t length = x->shape.dims[axis];
    char *to = call->out[0]->data;
    for (bool more = walk_axis(&walk, &at->shape, &x->shape, axis); more; more = tn_walk_next(&walk)) {
        if (tn_cancelled(call)) {
            return tn_fail_cancelled(call);
        }
        for (int64_t i = 0; i < walk.row; i++, to += size) {
            const int64_t given = index_at(at, walk.offsets[0] + i);
            int64_t index = given;
            if (!wrap_index(&index, length)) {
                return fail_index(call, given, length);
            }
            const int64_t from = walk.offsets[1] + i * walk.steps[1] + index * strides[axis];
            memcpy(to, (const char *)x->data + (size_t)from * size, size);
        }
    }
    return TN_OK;
}

// Reads one index tuple as an offset into the data's dims first .. first+size-1. Tuples lie one after another: [tuples, size].
static tn_status read_tuple(const tn_call *call, int64_t i, int size, int first, const int64_t *strides, int64_t *offset)
{
    const tn_tensor *x = call->in[0], *at = call->in[1];
    *offset = 0;
    for (int k = 0; k < size; k++) {
        const int64_t given = index_at(at, i * size + k), length = x->shape.dims[first + k];
        int64_t index = given;
        if (!wrap_index(&index, length)) {
            return fail_index(call, given, length);
        }
        *offset += index * strides[first + k];
    }
    return TN_OK;
}

// data [batch..., d..., inner...], indices [batch..., n..., size] -> [batch..., n..., inner...]
static tn_status run_gather_nd(const tn_call *call)
{
    const tn_tensor *x = call->in[0], *at = call->in[1];
    const int batch = (int)((const tn_gather_nd_attr *)call->attr)->batch_dims, last = at->shape.rank - 1;
    const int size = (int)at->shape.dims[last];
    int64_t strides[TN_MAX_RANK];
    if (tn_tensor_count(call->out[0]) == 0) {
        return TN_OK;
    }
    tn_strides_of(&x->shape, strides);
    const int64_t batches = tn_shape_span(&at->shape, 0, batch), tuples = tn_shape_span(&at->shape, batch, last);
    const int64_t batch_step = tn_shape_span(&x->shape, batch, x->shape.rank);
    const size_t element = tn_dtype_bytes(x->dtype);
    const size_t inner = (size_t)tn_shape_span(&x->shape, batch + size, x->shape.rank) * element;
    char *to = call->out[0]->data;
    for (int64_t i = 0; i < batches * tuples; i++, to += inner) {
        int64_t offset;
        if (tn_cancelled(call)) {
            return tn_fail_cancelled(call);
        }
        TN_TRY(read_tuple(call, i, size, batch, strides, &offset));
        offset += i / tuples * batch_step;
        memcpy(to, (const char *)x->data + (size_t)offset * element, inner);
    }
    return TN_OK;
}

// ---- reference: scatters ----

// NaN if either is NaN, as in max and min.
static double least(double a, double b) { return a != a || b != b ? a + b : a < b ? a : b; }

// a = f(a, b). Sums and products of integers wrap, which unsigned numbers do by definition.
static void reduce_lanes(int reduction, tn_lane lane, tn_lanes *a, const tn_lanes *b, int n)
{
    for (int i = 0; i < n; i++) {
        if (lane == TN_LANE_F64) {
            const double x = a->f64[i], y = b->f64[i];
            a->f64[i] = reduction == TN_SCATTER_ADD   ? x + y
                        : reduction == TN_SCATTER_MUL ? x * y
                        : reduction == TN_SCATTER_MIN ? least(x, y)
                                                      : -least(-x, -y);
            continue;
        }
        const uint64_t x = a->u64[i], y = b->u64[i];
        const bool less = lane == TN_LANE_I64 ? (int64_t)x < (int64_t)y : x < y;
        a->u64[i] = reduction == TN_SCATTER_ADD   ? x + y
                    : reduction == TN_SCATTER_MUL ? x * y
                    : reduction == TN_SCATTER_MIN ? (less ? x : y)
                                                  : (less ? y : x);
    }
}

// result[to ...] = f(result, updates[from ...]), n elements.
static void scatter_run(const tn_call *call, int64_t to, int64_t from, int64_t n)
{
    const int reduction = ((const tn_scatter_attr *)call->attr)->reduction;
    const tn_tensor *y = call->out[0], *updates = call->in[2];
    const size_t size = tn_dtype_bytes(y->dtype);
    if (reduction == TN_SCATTER_NONE) {
        memcpy((char *)y->data + (size_t)to * size, (const char *)updates->data + (size_t)from * size, (size_t)n * size);
        return;
    }
    const tn_lane lane = tn_dtype_is_float(y->dtype) ? TN_LANE_F64 : tn_lane_of(y->dtype);
    tn_lanes a, b;
    for (int64_t i = 0; i < n; i += TN_LANES) {
        const int count = (int)TN_MIN(n - i, TN_LANES);
        tn_lanes_load(&a, lane, y->dtype, y->data, to + i, 1, count);
        tn_lanes_load(&b, lane, y->dtype, updates->data, from + i, 1, count);
        reduce_lanes(reduction, lane, &a, &b, count);
        tn_lanes_store(&a, lane, y->dtype, y->data, to + i, count);
    }
}

// data, and indices and updates of one shape, all of the same rank. Entries are taken in order: of duplicates the last one wins, and
// sums round in that order.
static tn_status run_scatter_elements(const tn_call *call)
{
    const tn_tensor *x = call->in[0], *at = call->in[1];
    int64_t strides[TN_MAX_RANK], from = 0;
    int axis;
    tn_walk walk;
    TN_TRY(tn_move_same(call));
    if (!tn_axis(((const tn_scatter_attr *)call->attr)->axis, x->shape.rank, &axis)) {
        return tn_fail(call->diag, TN_INTERNAL, call->name, "axis was not checked");
    }
    tn_strides_of(&x->shape, strides);
    for (bool more = walk_axis(&walk, &at->shape, &x->shape, axis); more; more = tn_walk_next(&walk)) {
        if (tn_cancelled(call)) {
            return tn_fail_cancelled(call);
        }
        for (int64_t i = 0; i < walk.row; i++, from++) {
            const int64_t given = index_at(at, from);
            int64_t index = given;
            if (!wrap_index(&index, x->shape.dims[axis])) {
                return fail_index(call, given, x->shape.dims[axis]);
            }
            scatter_run(call, walk.offsets[1] + i * walk.steps[1] + index * strides[axis], from, 1);
        }
    }
    return TN_OK;
}

// data [d..., inner...], indices [n..., size], updates [n..., inner...]
static tn_status run_scatter_nd(const tn_call *call)
{
    const tn_tensor *x = call->in[0], *at = call->in[1];
    const int last = at->shape.rank - 1, size = (int)at->shape.dims[last];
    int64_t strides[TN_MAX_RANK];
    TN_TRY(tn_move_same(call));
    if (tn_tensor_count(call->in[2]) == 0) {
        return TN_OK;
    }
    tn_strides_of(&x->shape, strides);
    const int64_t tuples = tn_shape_span(&at->shape, 0, last), inner = tn_shape_span(&x->shape, size, x->shape.rank);
    for (int64_t i = 0; i < tuples; i++) {
        int64_t to;
        if (tn_cancelled(call)) {
            return tn_fail_cancelled(call);
        }
        TN_TRY(read_tuple(call, i, size, 0, strides, &to));
        scatter_run(call, to, i * inner, inner);
    }
    return TN_OK;
}

// cache [B, middle, length, inner], update [B, middle, n, inner], indices [B]?: update row i goes to row indices[b] + i.
static tn_status run_tensor_scatter(const tn_call *call)
{
    const tn_tensor_scatter_attr *attr = call->attr;
    const tn_tensor *update = call->in[1], *at = call->n_in > 2 ? call->in[2] : NULL;
    const tn_shape *x = &call->in[0]->shape;
    int axis;
    TN_TRY(tn_move_same(call));
    if (!tn_axis(attr->axis, x->rank, &axis) || axis == 0) {
        return tn_fail(call->diag, TN_INTERNAL, call->name, "axis was not checked");
    }
    if (tn_tensor_count(update) == 0) {
        return TN_OK;
    }
    const int64_t middle = tn_shape_span(x, 1, axis), length = x->dims[axis], n = update->shape.dims[axis];
    const size_t inner = (size_t)tn_shape_span(x, axis + 1, x->rank) * tn_dtype_bytes(update->dtype);
    const char *from = update->data;
    for (int64_t outer = 0; outer < x->dims[0] * middle; outer++) {
        int64_t first = at ? index_at(at, outer / middle) : 0;
        if (attr->circular) {
            first = (first % length + length) % length;
        } else if (first < 0 || first > length - n) {
            return tn_fail(call->diag, TN_INVALID_ARGUMENT, call->name, "tensor_scatter: %lld rows do not fit at row %lld of %lld",
                           (long long)n, (long long)first, (long long)length);
        }
        if (tn_cancelled(call)) {
            return tn_fail_cancelled(call);
        }
        for (int64_t i = 0; i < n; i++, from += inner) {
            const int64_t row = (first + i) % length;
            memcpy((char *)call->out[0]->data + (size_t)(outer * length + row) * inner, from, inner);
        }
    }
    return TN_OK;
}

// indices [outer, inner], values [off, on] -> [outer, depth, inner]. An index out of range leaves all off.
static tn_status run_one_hot(const tn_call *call)
{
    const tn_tensor *at = call->in[0], *y = call->out[0];
    const size_t size = tn_dtype_bytes(y->dtype);
    const char *off = call->in[2]->data, *on = off + size;
    int axis;
    if (!tn_axis(((const tn_gather_attr *)call->attr)->axis, y->shape.rank, &axis)) {
        return tn_fail(call->diag, TN_INTERNAL, call->name, "axis was not checked");
    }
    const int64_t count = tn_tensor_count(y), depth = y->shape.dims[axis];
    if (count == 0) {
        return TN_OK;
    }
    const int64_t inner = tn_shape_span(&y->shape, axis + 1, y->shape.rank), indices = tn_tensor_count(at);
    char *to = y->data;
    for (int64_t i = 0; i < count; i++) {
        memcpy(to + (size_t)i * size, off, size);
    }
    for (int64_t i = 0; i < indices; i++) {
        int64_t index = index_at(at, i);
        if (wrap_index(&index, depth)) {
            memcpy(to + (size_t)((i / inner * depth + index) * inner + i % inner) * size, on, size);
        }
    }
    return TN_OK;
}

// ---- export ----

static const tn_kernel rows[] = {
    TN_REFERENCE(gather, NULL, run_gather),
    TN_REFERENCE(gather_elements, NULL, run_gather_elements),
    TN_REFERENCE(gather_nd, NULL, run_gather_nd),
    TN_REFERENCE(scatter_elements, NULL, run_scatter_elements),
    TN_REFERENCE(scatter_nd, NULL, run_scatter_nd),
    TN_REFERENCE(tensor_scatter, NULL, run_tensor_scatter),
    TN_REFERENCE(one_hot, NULL, run_one_hot),
};

static const tn_op *const ops[] = {
    &tn_op_gather, &tn_op_gather_elements, &tn_op_gather_nd, &tn_op_scatter_elements, &tn_op_scatter_nd, &tn_op_tensor_scatter,
    &tn_op_one_hot,
};

TN_EXPORT_OPS(op_gather, ops);
TN_EXPORT_KERNELS(op_gather, rows);
