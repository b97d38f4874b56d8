// SPDX-License-Identifier: Apache-2.0
// Same elements in the same order under other dims, and expand, which repeats them. On partly known shapes they say what is certain:
// a symbol that is copied stays one, and the -1 of a reshape is found by cancelling equal dims on both sides.
// Ownership: const data. Threads: any.
#include "ops/move/op_reshape.h"

#include "base/num.h"
#include "ops/walk/strided.h"
#include "ops/walk/walk.h"

#include <stddef.h>

// ---- attributes ----

static const tn_attr reshape_attrs[] = {{"allowzero", TN_ATTR_BOOL, offsetof(tn_reshape_attr, allowzero), NULL}};
static const tn_attr flatten_attrs[] = {{"axis", TN_ATTR_INT, offsetof(tn_flatten_attr, axis), NULL}};
static const tn_flatten_attr flatten_defaults = {1};

// ---- infer: parts ----

// Small integer tensors keep what is known of their elements: order does not change.
static tn_status pass_elems(tn_infer *infer)
{
    const tn_fact *x = infer->in[0];
    const int64_t count = tn_fact_count(x);
    if (!tn_infer_tells(infer, 0) || tn_fact_count(&infer->out[0]) != count) {
        return TN_OK;
    }
    int64_t *elems = tn_infer_elems(infer, 0, count);
    if (!elems) {
        return TN_OUT_OF_MEMORY;
    }
    for (int64_t i = 0; i < count; i++) {
        elems[i] = tn_fact_elem(x, i);
    }
    return TN_OK;
}

// Rank is bounded by the shape type; a model may ask for more.
static tn_status too_many(const tn_infer *infer, int64_t rank)
{
    return tn_infer_fail(infer, "the result has %lld dims, at most %d are supported", (long long)rank, TN_MAX_RANK);
}

// Product of dims, each known, symbolic or unknown, as far as it can be told. false: does not fit.
// A 0 decides alone; one symbol among ones is itself; two symbols have no name for their product.
static bool product(const int64_t *dims, int count, int64_t *out)
{
    int64_t known = 1, other = 1;
    for (int i = 0; i < count; i++) {
        if (dims[i] == 0) {
            *out = 0;
            return true;
        }
    }
    for (int i = 0; i < count; i++) {
        if (!tn_dim_known(dims[i])) {
            other = other == 1 ? dims[i] : TN_DIM_UNKNOWN;
        } else if (!tn_mul_i64(known, dims[i], &known)) {
            return false;
        }
    }
    *out = other == 1 ? known : known == 1 ? other : TN_DIM_UNKNOWN;
    return true;
}

// ---- infer: reshape ----

// A list of wanted dims against those that there are.
typedef struct wanted {
    int64_t dims[TN_MAX_RANK];
    int rank;
    int free;                  // index of the dim to be found; -1: none
    bool asked;                // by a -1, not only because it is the one that is not known
} wanted;

// The one dim of a list that is not a number, when the numbers beside it are `others` together; TN_DIM_UNKNOWN otherwise.
static int64_t lone_symbol(const int64_t *dims, int count, int64_t others)
{
    int64_t symbol = TN_DIM_UNKNOWN, numbers = 1;
    int open = 0;
    for (int i = 0; i < count; i++) {
        if (!tn_dim_known(dims[i])) {
            symbol = dims[i];
            open++;
        } else if (!tn_mul_i64(numbers, dims[i], &numbers)) {
            return TN_DIM_UNKNOWN;
        }
    }
    return open == 1 && numbers == others && numbers > 0 ? symbol : TN_DIM_UNKNOWN;
}

// Finds the free dim: equal dims on both sides cancel, and what is left of the operand is divided by what is left of the result.
//
//   [s0, 12, 64] -> [s0, -1, 8]      s0 cancels; 12 * 64 / 8 = 96
//   [s0, 3, 4]   -> [-1, 12]         the numbers on both sides have one product; what is left is s0 itself
//   [s0, s1, 6]  -> [-1, 6]          the product of two symbols has no name: unknown
static tn_status find_free(const tn_infer *infer, const tn_shape *x, wanted *want)
{
    int64_t left[TN_MAX_RANK], right[TN_MAX_RANK], have, need;
    int n_left = 0, n_right = 0;
    for (int i = 0; i < x->rank; i++) {
        left[n_left++] = x->dims[i];
    }
    for (int i = 0; i < want->rank; i++) {
        if (i == want->free) {
            continue;
        }
        int same = 0;
        while (same < n_left && (left[same] != want->dims[i] || want->dims[i] == TN_DIM_UNKNOWN)) {
            same++;
        }
        if (same < n_left) {
            left[same] = left[--n_left];
        } else {
            right[n_right++] = want->dims[i];
        }
    }
    if (!product(left, n_left, &have) || !product(right, n_right, &need)) {
        return tn_infer_fail(infer, "the number of elements does not fit in 64 bits");
    }
    int64_t found = TN_DIM_UNKNOWN;
    if (need == 1) {
        found = have;
    } else if (tn_dim_known(have) && tn_dim_known(need)) {
        const bool whole = need != 0 && have % need == 0;
        if (!whole && want->asked) {
            char text[160];
            return tn_infer_fail(infer, "an operand of shape %s has no whole number of elements for the dim -1 (%lld times %lld)",
                                 tn_infer_print(infer, x, text, sizeof text), (long long)have, (long long)need);
        }
        found = whole ? have / need : TN_DIM_UNKNOWN;
    } else if (tn_dim_known(need)) {
        found = lone_symbol(left, n_left, need);
    }
    want->dims[want->free] = found;
    return TN_OK;
}

// The elements of the shape operand, resolved: 0 copies a dim, -1 is free, and so is the only one that is not known.
static tn_status read_wanted(const tn_infer *infer, const tn_shape *x, wanted *want)
{
    const tn_reshape_attr *attr = infer->attr;
    const tn_fact *shape = infer->in[1];
    int unknown = 0, last_unknown = -1;
    bool zero = false;
    want->free = -1;
    for (int i = 0; i < want->rank; i++) {
        int64_t dim = tn_fact_elem(shape, i);
        if (dim == TN_DIM_UNKNOWN) {
            unknown++;
            last_unknown = i;
        } else if (dim == -1) {
            if (want->free >= 0) {
                return tn_infer_fail(infer, "the new shape has more than one -1");
            }
            want->free = i;
            dim = TN_DIM_UNKNOWN;
        } else if (tn_dim_known(dim) && dim < -1) {
            return tn_infer_fail(infer, "the new shape has the dim %lld", (long long)dim);
        } else if (dim == 0 && !attr->allowzero) {
            if (x->rank >= 0 && i >= x->rank) {
                return tn_infer_fail(infer, "dim %d is to be copied from an operand of rank %d", i, x->rank);
            }
            dim = x->rank >= 0 ? x->dims[i] : TN_DIM_UNKNOWN;
        }
        zero |= dim == 0 && attr->allowzero;
        want->dims[i] = dim;
    }
    if (zero && want->free >= 0) {
        return tn_infer_fail(infer, "the new shape has both 0 and -1, with allowzero");
    }
    want->asked = want->free >= 0;
    if (!want->asked && unknown == 1) {
        want->free = last_unknown;
    }
    return TN_OK;
}

// x of any type, shape [rank]: how many dims are wanted; -1: not known.
static tn_status wanted_rank(const tn_infer *infer, int64_t *rank)
{
    TN_TRY(tn_infer_type(infer, 0, TN_SET_ANY));
    TN_TRY(tn_infer_type(infer, 1, TN_SET_INDEX));
    TN_TRY(tn_infer_rank(infer, 1, 0, 1));
    *rank = tn_fact_count(infer->in[1]);
    return *rank > TN_MAX_RANK ? too_many(infer, *rank) : TN_OK;
}

// x: any shape, shape [rank] -> those dims. Where both element counts are known they must agree.
static tn_status infer_reshape(tn_infer *infer)
{
    int64_t rank;
    TN_TRY(wanted_rank(infer, &rank));
    const tn_fact *x = infer->in[0];
    tn_shape shape = tn_shape_unknown();
    if (rank >= 0) {
        wanted want = {.rank = (int)rank};
        int64_t before, after;
        TN_TRY(read_wanted(infer, &x->shape, &want));
        if (want.free >= 0 && x->shape.rank >= 0) {
            TN_TRY(find_free(infer, &x->shape, &want));
        }
        shape = tn_shape_of(want.rank, want.dims);
        if (tn_shape_count(&x->shape, &before) && tn_shape_known(&shape) && (!tn_shape_count(&shape, &after) || after != before)) {
            char from[160], to[160];
            return tn_infer_fail(infer, "an operand of shape %s cannot become %s", tn_infer_print(infer, &x->shape, from, sizeof from),
                                 tn_infer_print(infer, &shape, to, sizeof to));
        }
    }
    tn_infer_out(infer, 0, x->dtype, &shape);
    return pass_elems(infer);
}

// ---- infer: squeeze, unsqueeze, flatten, identity ----

// Without axes every dim of 1 goes, which needs all dims to be known.
static tn_status squeeze_shape(const tn_infer *infer, const tn_shape *x, tn_shape *shape)
{
    int64_t axes[TN_MAX_RANK];
    int count = -1;
    uint32_t mask = 0;
    *shape = tn_shape_unknown();
    if (tn_infer_in(infer, 1)) {
        TN_TRY(tn_infer_type(infer, 1, TN_SET_INDEX));
        TN_TRY(tn_infer_ints(infer, 1, TN_MAX_RANK, axes, &count));
        if (x->rank < 0 || count < 0) {
            return TN_OK;
        }
        TN_TRY(tn_infer_axes(infer, axes, count, x->rank, &mask, NULL));
    } else {
        for (int d = 0; d < x->rank; d++) {
            if (!tn_dim_known(x->dims[d])) {
                return TN_OK;
            }
            mask |= (uint32_t)(x->dims[d] == 1) << d;
        }
    }
    if (x->rank < 0) {
        return TN_OK;
    }
    shape->rank = 0;
    for (int d = 0; d < x->rank; d++) {
        if (!(mask >> d & 1)) {
            shape->dims[shape->rank++] = x->dims[d];
        } else if (tn_dim_known(x->dims[d]) && x->dims[d] != 1) {
            return tn_infer_fail(infer, "axis %d has %lld elements, only a dim of 1 can be removed", d, (long long)x->dims[d]);
        }
    }
    return TN_OK;
}

// x [..., 1, ...], axes [n]? -> x without those dims
static tn_status infer_squeeze(tn_infer *infer)
{
    tn_shape shape;
    TN_TRY(tn_infer_type(infer, 0, TN_SET_ANY));
    TN_TRY(squeeze_shape(infer, &infer->in[0]->shape, &shape));
    tn_infer_out(infer, 0, infer->in[0]->dtype, &shape);
    return pass_elems(infer);
}

// x, axes [n] counted in the result -> x with ones put in
static tn_status infer_unsqueeze(tn_infer *infer)
{
    int64_t axes[TN_MAX_RANK];
    int count;
    TN_TRY(tn_infer_type(infer, 0, TN_SET_ANY));
    TN_TRY(tn_infer_type(infer, 1, TN_SET_INDEX));
    TN_TRY(tn_infer_ints(infer, 1, TN_MAX_RANK, axes, &count));
    const tn_fact *x = infer->in[0];
    const int64_t added = tn_fact_count(infer->in[1]);
    tn_shape shape = tn_shape_unknown();
    if (x->shape.rank >= 0 && added >= 0) {
        uint32_t mask = 0;
        shape.rank = x->shape.rank + (int)added;
        if (shape.rank > TN_MAX_RANK) {
            return too_many(infer, shape.rank);
        }
        if (count >= 0) {
            TN_TRY(tn_infer_axes(infer, axes, count, shape.rank, &mask, NULL));
        }
        for (int d = 0, from = 0; d < shape.rank; d++) {
            shape.dims[d] = count < 0 ? TN_DIM_UNKNOWN : mask >> d & 1 ? 1 : x->shape.dims[from++];
        }
    }
    tn_infer_out(infer, 0, x->dtype, &shape);
    return pass_elems(infer);
}

// x [a..., b...] -> [product of a, product of b], split at the axis
static tn_status infer_flatten(tn_infer *infer)
{
    const tn_flatten_attr *attr = infer->attr;
    TN_TRY(tn_infer_type(infer, 0, TN_SET_ANY));
    const tn_shape *x = &infer->in[0]->shape;
    tn_shape shape = {.rank = 2, .dims = {TN_DIM_UNKNOWN, TN_DIM_UNKNOWN}};
    if (x->rank >= 0) {
        if (attr->axis < -x->rank || attr->axis > x->rank) {
            return tn_infer_fail(infer, "axis %lld is out of range for rank %d", (long long)attr->axis, x->rank);
        }
        const int axis = (int)(attr->axis < 0 ? attr->axis + x->rank : attr->axis);
        if (!product(x->dims, axis, &shape.dims[0]) || !product(x->dims + axis, x->rank - axis, &shape.dims[1])) {
            return tn_infer_fail(infer, "the number of elements does not fit in 64 bits");
        }
    }
    tn_infer_out(infer, 0, infer->in[0]->dtype, &shape);
    return pass_elems(infer);
}

// Of any kind: sequences and optionals pass too.
static tn_status infer_identity(tn_infer *infer)
{
    const tn_fact *x = infer->in[0];
    if (!x) {
        return tn_infer_fail(infer, "operand 0 is missing");
    }
    tn_infer_out(infer, 0, x->dtype, &x->shape);
    infer->out[0].kind = x->kind;
    infer->out[0].inner = x->inner;
    return x->kind == TN_KIND_TENSOR ? pass_elems(infer) : TN_OK;
}

// ---- infer: expand ----

// Repeated elements are as known as their originals.
static tn_status expand_elems(tn_infer *infer)
{
    const tn_fact *x = infer->in[0], *y = &infer->out[0];
    if (!tn_infer_tells(infer, 0)) {
        return TN_OK;
    }
    const tn_shape *of[1] = {&x->shape};
    tn_walk walk;
    bool more = tn_walk_init(&walk, &y->shape, 1, of);
    int64_t *elems = tn_infer_elems(infer, 0, tn_fact_count(y));
    if (!elems) {
        return TN_OUT_OF_MEMORY;
    }
    for (; more; more = tn_walk_next(&walk)) {
        for (int64_t i = 0; i < walk.row; i++) {
            *elems++ = tn_fact_elem(x, walk.offsets[0] + i * walk.steps[0]);
        }
    }
    return TN_OK;
}

// x, shape [rank] -> the broadcast of both. Dims of 1 in the wanted shape leave x's dims as they are.
static tn_status infer_expand(tn_infer *infer)
{
    int64_t rank;
    TN_TRY(wanted_rank(infer, &rank));
    const tn_fact *x = infer->in[0];
    tn_shape shape = tn_shape_unknown();
    if (rank >= 0) {
        tn_shape want = {.rank = (int)rank};
        for (int i = 0; i < want.rank; i++) {
            want.dims[i] = tn_fact_elem(infer->in[1], i);
            if (tn_dim_known(want.dims[i]) && want.dims[i] < 0) {
                return tn_infer_fail(infer, "the wanted shape has the dim %lld", (long long)want.dims[i]);
            }
        }
        if (!tn_shape_broadcast(&x->shape, &want, &shape)) {
            char from[160], to[160];
            return tn_infer_fail(infer, "an operand of shape %s cannot be broadcast with %s", tn_infer_print(infer, &x->shape, from, sizeof from),
                                 tn_infer_print(infer, &want, to, sizeof to));
        }
    }
    tn_infer_out(infer, 0, x->dtype, &shape);
    return expand_elems(infer);
}

// ---- movement ----

// Order does not change: one dense box.
static bool regions_same(tn_move *move)
{
    return tn_fact_count(move->in[0]) == tn_fact_count(move->out) && tn_move_dense(move, tn_fact_count(move->out));
}

// Repeated dims do not move in the operand: stride 0.
static bool regions_expand(tn_move *move)
{
    const tn_shape *x = &move->in[0]->shape, *y = &move->out->shape;
    int64_t from[TN_MAX_RANK], to[TN_MAX_RANK];
    if (tn_move_empty(move)) {
        return true;
    }
    tn_region *region = tn_move_add(move, 0);
    const int skip = y->rank - x->rank;
    tn_strides_of(x, from);
    tn_strides_of(y, to);
    for (int d = 0; d < y->rank; d++) {
        const bool repeats = d < skip || x->dims[d - skip] == 1;
        tn_region_dim(region, y->dims[d], repeats ? 0 : from[d - skip], to[d]);
    }
    return true;
}

// ---- descriptors ----

#define SAME(NAME, MIN, MAX, SHAPE_OPERANDS, ...)                                                            \
    const tn_op tn_op_##NAME = {                                                                             \
        .name = #NAME, .version = 1, .flags = TN_OP_INPLACE, .min_in = MIN, .max_in = MAX, .min_out = 1,     \
        .max_out = 1, .infer = infer_##NAME, .regions = regions_same, .shape_operands = SHAPE_OPERANDS,      \
        __VA_ARGS__                                                                                          \
    }

SAME(reshape, 2, 2, 2, .attrs = reshape_attrs, .n_attrs = TN_COUNT(reshape_attrs), .attr_size = sizeof(tn_reshape_attr));
SAME(squeeze, 1, 2, 2, .attrs = NULL);
SAME(unsqueeze, 2, 2, 2, .attrs = NULL);
SAME(flatten, 1, 1, 0, .attrs = flatten_attrs, .n_attrs = TN_COUNT(flatten_attrs), .attr_size = sizeof(tn_flatten_attr),
     .defaults = &flatten_defaults);
SAME(identity, 1, 1, 0, .attrs = NULL);

const tn_op tn_op_expand = {
    .name = "expand", .version = 1, .min_in = 2, .max_in = 2, .min_out = 1, .max_out = 1, .infer = infer_expand,
    .regions = regions_expand, .shape_operands = 2,
};

// ---- reference: identity ----

// x of any kind. Sequences and what optionals hold never change: the result is the same object.
static tn_status run_identity(const tn_call *call)
{
    const tn_tensor *x = call->in[0];
    if (x->kind == TN_KIND_TENSOR) {
        return tn_move_same(call);
    }
    call->out[0]->kind = x->kind;
    call->out[0]->dtype = x->dtype;
    call->out[0]->data = x->data;
    return TN_OK;
}

// ---- export ----

static const tn_kernel rows[] = {
    TN_REFERENCE(reshape, NULL, tn_move_same),
    TN_REFERENCE(squeeze, NULL, tn_move_same),
    TN_REFERENCE(unsqueeze, NULL, tn_move_same),
    TN_REFERENCE(flatten, NULL, tn_move_same),
    TN_REFERENCE(identity, NULL, run_identity),
    TN_REFERENCE(expand, NULL, tn_move_run),
};

static const tn_op *const ops[] = {&tn_op_reshape, &tn_op_squeeze, &tn_op_unsqueeze, &tn_op_flatten, &tn_op_identity, &tn_op_expand};

TN_EXPORT_OPS(op_reshape, ops);
TN_EXPORT_KERNELS(op_reshape, rows);
