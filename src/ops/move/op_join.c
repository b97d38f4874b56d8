// SPDX-License-Identifier: Apache-2.0
// concat(x...) and split(x, sizes?) along an axis. On small integer tensors of rank 1 both keep what is known of the elements.
// Ownership: const data. Threads: any.
#include "ops/move/op_join.h"

#include "base/num.h"
#include "ops/walk/strided.h"
#include "ops/walk/walk.h"

#include <stddef.h>

// ---- attributes ----

static const tn_attr concat_attrs[] = {{"axis", TN_ATTR_INT, offsetof(tn_concat_attr, axis), NULL}};
static const tn_attr split_attrs[] = {
    {"axis", TN_ATTR_INT, offsetof(tn_split_attr, axis), NULL},
    {"num_outputs", TN_ATTR_INT, offsetof(tn_split_attr, num_outputs), NULL},
};

// ---- concat ----

// Parts whose elements are not known leave a gap; the others are still told (the usual shape [batch, -1, 64]).
static tn_status concat_elems(tn_infer *infer)
{
    const int64_t count = tn_fact_count(&infer->out[0]);
    int64_t at = 0;
    bool tells = false;
    for (int k = 0; k < infer->n_in; k++) {
        tells |= tn_infer_tells(infer, k);
    }
    if (infer->out[0].shape.rank != 1 || !tells) {
        return TN_OK;
    }
    int64_t *elems = tn_infer_elems(infer, 0, count);
    if (!elems) {
        return TN_OUT_OF_MEMORY;
    }
    for (int k = 0; k < infer->n_in; k++) {
        const int64_t n = tn_fact_count(infer->in[k]);
        for (int64_t i = 0; i < n; i++) {
            elems[at++] = tn_fact_elem(infer->in[k], i);
        }
    }
    return TN_OK;
}

// Joins operand k into the shape so far.
static tn_status concat_one(const tn_infer *infer, int k, int axis, tn_shape *shape)
{
    const tn_shape *x = &infer->in[k]->shape;
    if (x->rank != shape->rank) {
        return tn_infer_fail(infer, "operand %d has rank %d, expected %d like the ones before it", k, x->rank, shape->rank);
    }
    for (int d = 0; d < shape->rank; d++) {
        int64_t *dim = &shape->dims[d];
        if (d == axis) {
            if (!tn_dim_known(*dim) || !tn_dim_known(x->dims[d])) {
                *dim = x->dims[d] == 0 ? *dim : *dim == 0 ? x->dims[d] : TN_DIM_UNKNOWN;
            } else if (!tn_add_i64(*dim, x->dims[d], dim)) {
                return tn_infer_fail(infer, "the joined axis does not fit in 64 bits");
            }
        } else if (!tn_dim_join(*dim, x->dims[d], dim)) {
            return tn_infer_fail(infer, "operand %d has %lld elements along axis %d, expected %lld", k, (long long)x->dims[d], d,
                                 (long long)*dim);
        }
    }
    return TN_OK;
}

// x_k [outer, n_k, inner] -> [outer, sum of n_k, inner]
static tn_status infer_concat(tn_infer *infer)
{
    const tn_concat_attr *attr = infer->attr;
    tn_dtype dtype;
    int axis = 0;
    TN_TRY(tn_infer_types(infer, 0, infer->n_in - 1, TN_SET_ANY, &dtype));
    tn_shape shape = tn_shape_unknown();
    bool known = true;
    for (int k = 0; k < infer->n_in; k++) {
        const tn_shape *x = &infer->in[k]->shape;
        if (x->rank < 0) {
            known = false;
        } else if (shape.rank < 0) {
            shape = *x;
            TN_TRY(tn_infer_axis(infer, "axis", attr->axis, shape.rank, &axis));
        } else {
            TN_TRY(concat_one(infer, k, axis, &shape));
        }
    }
    if (!known && shape.rank >= 0) {
        shape.dims[axis] = TN_DIM_UNKNOWN;
    }
    tn_infer_out(infer, 0, dtype, &shape);
    return concat_elems(infer);
}

// One box per operand, at the sum of the lengths before it:
//
//   outer 0   | x0 ...... | x1 .. | x2 ......... |
//   outer 1   | x0 ...... | x1 .. | x2 ......... |
static bool regions_concat(tn_move *move)
{
    const tn_shape *y = &move->out->shape;
    int64_t from[TN_MAX_RANK], to[TN_MAX_RANK], at = 0;
    int axis;
    if (tn_move_empty(move)) {
        return true;
    }
    if (!tn_axis(((const tn_concat_attr *)move->attr)->axis, y->rank, &axis)) {
        return false;
    }
    tn_strides_of(y, to);
    for (int k = 0; k < move->n_in; k++) {
        const tn_shape *x = &move->in[k]->shape;
        if (x->dims[axis] == 0) {
            continue;
        }
        tn_region *region = tn_move_add(move, k);
        tn_strides_of(x, from);
        region->dst_offset = at * to[axis];
        for (int d = 0; d < y->rank; d++) {
            tn_region_dim(region, x->dims[d], from[d], to[d]);
        }
        at += x->dims[axis];
    }
    return at == y->dims[axis];
}

// ---- split ----

// Without sizes the parts are equal; the last ones are smaller when they do not divide the dim.
static int64_t equal_part(int64_t dim, int parts) { return dim / parts + (dim % parts != 0); }

// Sizes of the parts along a dim; entries are TN_DIM_UNKNOWN where they cannot be told.
static tn_status split_sizes(const tn_infer *infer, int64_t dim, int64_t *sizes)
{
    const int n = infer->n_out;
    const tn_fact *given = tn_infer_in(infer, 1);
    int64_t sum = 0;
    if (given) {
        bool known = true;
        const int64_t count = tn_fact_count(given);
        if (count >= 0 && count != n) {
            return tn_infer_fail(infer, "operand 1 has %lld sizes for %d results", (long long)count, n);
        }
        for (int i = 0; i < n; i++) {
            sizes[i] = count < 0 ? TN_DIM_UNKNOWN : tn_fact_elem(given, i);
            if (!tn_dim_known(sizes[i])) {
                known = false;
            } else if (sizes[i] < 0 || !tn_add_i64(sum, sizes[i], &sum)) {
                return tn_infer_fail(infer, "size %d is %lld", i, (long long)sizes[i]);
            }
        }
        if (tn_dim_known(dim) && (known ? sum != dim : sum > dim)) {
            return tn_infer_fail(infer, "the sizes add up to %lld, the axis has %lld elements", (long long)sum, (long long)dim);
        }
        return TN_OK;
    }
    for (int i = 0; i < n; i++) {
        sizes[i] = TN_DIM_UNKNOWN;
        if (tn_dim_known(dim)) {
            sizes[i] = TN_MIN(equal_part(dim, n), dim - TN_MIN(dim, equal_part(dim, n) * i));
        }
    }
    return TN_OK;
}

// Each result gets its piece of what is known.
static tn_status split_elems(tn_infer *infer, const int64_t *sizes)
{
    const tn_fact *x = infer->in[0];
    const int64_t count = tn_fact_count(x);
    const bool integer = x->dtype == TN_I64 || x->dtype == TN_I32 || x->dtype == TN_BOOL;
    if (x->shape.rank != 1 || count < 0 || count > TN_MAX_ELEMS || !integer || !(x->elems || x->value)) {
        return TN_OK;
    }
    int64_t at = 0;
    for (int i = 0; i < infer->n_out; i++) {
        if (!tn_dim_known(sizes[i])) {
            return TN_OK;
        }
        int64_t *elems = tn_infer_elems(infer, i, sizes[i]);
        if (!elems) {
            return TN_OUT_OF_MEMORY;
        }
        for (int64_t k = 0; k < sizes[i]; k++) {
            elems[k] = tn_fact_elem(x, at++);
        }
    }
    return TN_OK;
}

// x [outer, n, inner], sizes [results]? -> [outer, size_k, inner]
static tn_status infer_split(tn_infer *infer)
{
    const tn_split_attr *attr = infer->attr;
    int64_t sizes[TN_MAX_OUT];
    int axis = 0;
    TN_TRY(tn_infer_type(infer, 0, TN_SET_ANY));
    if (tn_infer_in(infer, 1)) {
        TN_TRY(tn_infer_type(infer, 1, TN_SET_INDEX));
        TN_TRY(tn_infer_rank(infer, 1, 1, 1));
    }
    if (infer->n_out < 1 || infer->n_out > TN_MAX_OUT || (attr->num_outputs != 0 && attr->num_outputs != infer->n_out)) {
        return tn_infer_fail(infer, "num_outputs is %lld, the node has %d results", (long long)attr->num_outputs, infer->n_out);
    }
    const tn_shape *x = &infer->in[0]->shape;
    if (x->rank >= 0) {
        TN_TRY(tn_infer_axis(infer, "axis", attr->axis, x->rank, &axis));
    }
    TN_TRY(split_sizes(infer, x->rank >= 0 ? x->dims[axis] : TN_DIM_UNKNOWN, sizes));
    for (int i = 0; i < infer->n_out; i++) {
        tn_shape shape = *x;
        if (shape.rank >= 0) {
            shape.dims[axis] = sizes[i];
        }
        tn_infer_out(infer, i, infer->in[0]->dtype, &shape);
    }
    return split_elems(infer, sizes);
}

// Where the part begins: after the ones before it.
static bool part_offset(const tn_move *move, int64_t dim, int64_t *offset)
{
    const tn_fact *given = move->n_in > 1 ? move->in[1] : NULL;
    *offset = 0;
    for (int i = 0; given && i < move->out_index; i++) {
        int64_t before;
        if (i >= tn_fact_count(given) || !tn_fact_int(given, i, &before) || before < 0 || !tn_add_i64(*offset, before, offset)) {
            return false;
        }
    }
    if (!given) {
        if (move->n_out < 1) {
            return false;
        }
        *offset = TN_MIN(dim, equal_part(dim, move->n_out) * move->out_index);
    }
    return true;
}

// One box per result.
static bool regions_split(tn_move *move)
{
    const tn_shape *x = &move->in[0]->shape, *y = &move->out->shape;
    int64_t from[TN_MAX_RANK], to[TN_MAX_RANK], offset;
    int axis;
    if (tn_move_empty(move)) {
        return true;
    }
    if (!tn_axis(((const tn_split_attr *)move->attr)->axis, x->rank, &axis) || !part_offset(move, x->dims[axis], &offset)) {
        return false;
    }
    tn_region *region = tn_move_add(move, 0);
    tn_strides_of(x, from);
    tn_strides_of(y, to);
    region->src_offset = offset * from[axis];
    for (int d = 0; d < y->rank; d++) {
        tn_region_dim(region, y->dims[d], from[d], to[d]);
    }
    return true;
}

// ---- descriptors ----

const tn_op tn_op_concat = {
    .name = "concat", .version = 1, .min_in = 1, .max_in = -1, .min_out = 1, .max_out = 1, .attrs = concat_attrs,
    .n_attrs = TN_COUNT(concat_attrs), .attr_size = sizeof(tn_concat_attr), .infer = infer_concat, .regions = regions_concat,
};

const tn_op tn_op_split = {
    .name = "split", .version = 1, .min_in = 1, .max_in = 2, .min_out = 1, .max_out = TN_MAX_OUT, .attrs = split_attrs,
    .n_attrs = TN_COUNT(split_attrs), .attr_size = sizeof(tn_split_attr), .infer = infer_split, .regions = regions_split,
    .shape_operands = 2,
};

// ---- export ----

static const tn_kernel rows[] = {
    TN_REFERENCE(concat, NULL, tn_move_run),
    TN_REFERENCE(split, NULL, tn_move_run),
};

static const tn_op *const ops[] = {&tn_op_concat, &tn_op_split};

TN_EXPORT_OPS(op_join, ops);
TN_EXPORT_KERNELS(op_join, rows);
