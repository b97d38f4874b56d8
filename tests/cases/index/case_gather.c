// SPDX-License-Identifier: Apache-2.0
// Cases of reading and writing by index: negative and repeated indices, all axes, scalars and lists of indices, all reductions.
// Ownership: the caller's arena. Threads: one at a time.
#include "cases/draw.h"
#include "ops/index/op_gather.h"

// Indices of a shape into n elements, negative ones too. Constant half of the time: a gather by constants may become boxes.
static tn_case_in indices(tn_rand *r, tn_shape shape, int64_t n)
{
    return (tn_case_in){.dtype = tn_rand_bool(r) ? TN_I64 : TN_I32, .shape = shape, .low = (double)-n, .high = (double)n - 1,
                        .constant = tn_rand_bool(r)};
}

// No dim of 0 along the axis that is indexed.
static tn_shape draw_data(tn_rand *r, int low, int high)
{
    tn_shape shape = tn_draw_shape(r, low, high);
    for (int d = 0; d < shape.rank; d++) {
        shape.dims[d] = TN_MAX(shape.dims[d], 1);
    }
    return shape;
}

static const struct {
    tn_shape data, indices;
    int64_t axis;
} gathers[] = {
    {{2, {50, 33}}, {2, {3, 7}}, 0}, {{3, {2, 9, 17}}, {1, {5}}, 1}, {{1, {12}}, {0, {0}}, -1}, {{4, {2, 3, 4, 9}}, {1, {4}}, -1},
    {{2, {7, 5}}, {1, {0}}, 0},      {{3, {1, 4096, 4}}, {0, {0}}, 1},
};

static bool make_gather(tn_case *c, tn_arena *arena, tn_rand *r, int which)
{
    const tn_shape data = which >= 0 ? gathers[which].data : draw_data(r, 1, 4);
    const tn_shape at = which >= 0 ? gathers[which].indices : tn_draw_shape(r, 0, 2);
    tn_gather_attr *attr = tn_case_attr(arena, &tn_op_gather);
    if (!attr) {
        return false;
    }
    attr->axis = which >= 0 ? gathers[which].axis : tn_rand_range(r, -data.rank, data.rank - 1);
    c->op = &tn_op_gather;
    c->attr = attr;
    c->n_in = 2;
    c->in[0] = tn_draw_in(which >= 0 ? TN_F32 : tn_draw_dtype(r, TN_DRAW_SIZES), data);
    c->in[1] = indices(r, at, data.dims[attr->axis < 0 ? attr->axis + data.rank : attr->axis]);
    return true;
}

// gather_elements and scatter_elements
static bool make_elements(tn_case *c, tn_arena *arena, tn_rand *r, bool scatters)
{
    const tn_shape data = draw_data(r, 1, 4);
    const int axis = (int)tn_draw_index(r, data.rank);
    tn_shape at = data;
    for (int d = 0; d < at.rank; d++) {
        at.dims[d] = d == axis ? tn_rand_range(r, 0, 9) : tn_rand_range(r, 1, data.dims[d]);
    }
    c->op = scatters ? &tn_op_scatter_elements : &tn_op_gather_elements;
    c->attr = tn_case_attr(arena, c->op);
    if (!c->attr) {
        return false;
    }
    const int reduction = scatters ? (int)tn_draw_index(r, 5) : 0;
    if (scatters) {
        *(tn_scatter_attr *)c->attr = (tn_scatter_attr){axis, reduction};
    } else {
        ((tn_gather_attr *)c->attr)->axis = axis - (tn_rand_bool(r) ? data.rank : 0);
    }
    const tn_dtype dtype = tn_draw_dtype(r, reduction ? TN_DRAW_NUMBERS : TN_DRAW_SIZES);
    c->n_in = scatters ? 3 : 2;
    c->in[0] = tn_draw_in(dtype, data);
    c->in[1] = indices(r, at, data.dims[axis]);
    c->in[2] = tn_draw_in(dtype, at);
    return true;
}

// gather_nd and scatter_nd. All dims of the data are equal, so that one range of indices serves them.
static bool make_nd(tn_case *c, tn_arena *arena, tn_rand *r, bool scatters)
{
    const int64_t n = tn_rand_range(r, 1, 6), size = tn_rand_range(r, 1, 2);
    const int rank = (int)tn_rand_range(r, 3, 5), batch = scatters ? 0 : (int)tn_draw_index(r, 2);
    tn_shape data = {.rank = rank}, at = {.rank = 2 + batch}, updates;
    for (int d = 0; d < rank; d++) {
        data.dims[d] = n;
    }
    for (int d = 0; d < batch; d++) {
        at.dims[d] = n;
    }
    at.dims[batch] = tn_rand_range(r, 0, 9);
    at.dims[batch + 1] = size;
    c->op = scatters ? &tn_op_scatter_nd : &tn_op_gather_nd;
    c->attr = tn_case_attr(arena, c->op);
    if (!c->attr) {
        return false;
    }
    updates = (tn_shape){.rank = 1 + rank - (int)size, .dims = {at.dims[0]}};
    for (int d = 1; d < updates.rank; d++) {
        updates.dims[d] = n;
    }
    const int reduction = scatters ? (int)tn_draw_index(r, 5) : 0;
    if (scatters) {
        ((tn_scatter_attr *)c->attr)->reduction = reduction;
    } else {
        ((tn_gather_nd_attr *)c->attr)->batch_dims = batch;
    }
    const tn_dtype dtype = tn_draw_dtype(r, reduction ? TN_DRAW_NUMBERS : TN_DRAW_SIZES);
    c->n_in = scatters ? 3 : 2;
    c->in[0] = tn_draw_in(dtype, data);
    c->in[1] = indices(r, at, n);
    c->in[1].dtype = TN_I64;
    c->in[2] = tn_draw_in(dtype, updates);
    return true;
}

static bool make_tensor_scatter(tn_case *c, tn_arena *arena, tn_rand *r)
{
    tn_tensor_scatter_attr *attr = tn_case_attr(arena, &tn_op_tensor_scatter);
    const int64_t batch = tn_rand_range(r, 1, 3), length = tn_rand_range(r, 1, 9), rows = tn_rand_range(r, 0, length);
    if (!attr) {
        return false;
    }
    attr->circular = (int)tn_draw_index(r, 2);
    c->op = &tn_op_tensor_scatter;
    c->attr = attr;
    c->n_in = tn_rand_bool(r) ? 3 : 2;
    c->in[0] = tn_draw_in(TN_F32, tn_case_shape(4, batch, (int64_t)2, length, (int64_t)5));
    c->in[1] = tn_draw_in(TN_F32, tn_case_shape(4, batch, (int64_t)2, rows, (int64_t)5));
    c->in[2] = tn_draw_in(TN_I64, tn_case_shape(1, batch));
    c->in[2].low = 0;
    c->in[2].high = (double)(attr->circular ? 3 * length : length - rows);
    return true;
}

static bool make_one_hot(tn_case *c, tn_arena *arena, tn_rand *r)
{
    tn_gather_attr *attr = tn_case_attr(arena, &tn_op_one_hot);
    const tn_shape shape = tn_draw_shape(r, 0, 3);
    const int64_t depth = tn_rand_range(r, 0, 9);
    if (!attr) {
        return false;
    }
    attr->axis = tn_rand_range(r, -shape.rank - 1, shape.rank);
    c->op = &tn_op_one_hot;
    c->attr = attr;
    c->n_in = 3;
    c->in[0] = tn_draw_in(tn_rand_bool(r) ? TN_I64 : TN_F32, shape);
    c->in[0].low = (double)(-depth - 2);
    c->in[0].high = (double)(depth + 2);
    c->in[1] = tn_draw_list(arena, 1, &depth);
    c->in[2] = tn_draw_in(tn_draw_dtype(r, TN_DRAW_NUMBERS), tn_case_shape(1, (int64_t)2));
    return true;
}

static bool make(tn_case *c, tn_arena *arena, tn_rand *r, unsigned i)
{
    c->n_out = 1;
    c->rel = c->abs = 1e-2;   // sums of duplicates may be taken in any order
    if (i < TN_COUNT(gathers)) {
        return make_gather(c, arena, r, (int)i);
    }
    switch (tn_draw_index(r, 8)) {
    case 0: return make_elements(c, arena, r, false);
    case 1: return make_elements(c, arena, r, true);
    case 2: return make_nd(c, arena, r, false);
    case 3: return make_nd(c, arena, r, true);
    case 4: return make_tensor_scatter(c, arena, r);
    case 5: return make_one_hot(c, arena, r);
    default: return make_gather(c, arena, r, -1);
    }
}

TN_CASE_EXPORT(gather) {"gather", TN_COUNT(gathers), make};
