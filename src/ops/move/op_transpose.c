// SPDX-License-Identifier: Apache-2.0
// transpose(x): dims in another order.
// Ownership: const data. Threads: any.
#include "ops/move/op_transpose.h"

#include "ops/walk/strided.h"
#include "ops/walk/walk.h"

#include <stddef.h>

// ---- attributes ----

static const tn_attr transpose_attrs[] = {{"perm", TN_ATTR_INTS, offsetof(tn_transpose_attr, perm), NULL}};

// Which operand dim becomes result dim d.
static int source_dim(const tn_transpose_attr *attr, int rank, int d) { return attr->perm.set ? (int)attr->perm.v[d] : rank - 1 - d; }

// ---- infer ----

// x [d...] -> [d[perm]...]. perm must be an order of the dims: it is checked before it indexes.
static tn_status infer_transpose(tn_infer *infer)
{
    const tn_transpose_attr *attr = infer->attr;
    TN_TRY(tn_infer_type(infer, 0, TN_SET_ANY));
    const tn_fact *x = infer->in[0];
    tn_shape shape = x->shape;
    if (attr->perm.set) {
        uint32_t seen = 0;
        const int rank = attr->perm.count;
        if (rank > TN_MAX_RANK || (shape.rank >= 0 && rank != shape.rank)) {
            return tn_infer_fail(infer, "perm has %d entries, the operand has rank %d", rank, shape.rank);
        }
        for (int d = 0; d < rank; d++) {
            const int64_t from = attr->perm.v[d];
            if (from < 0 || from >= rank || seen >> from & 1) {
                return tn_infer_fail(infer, "perm is no order of 0 .. %d: entry %d is %lld", rank - 1, d, (long long)from);
            }
            seen |= UINT32_C(1) << from;
        }
    }
    for (int d = 0; d < shape.rank; d++) {
        shape.dims[d] = x->shape.dims[source_dim(attr, shape.rank, d)];
    }
    tn_infer_out(infer, 0, x->dtype, &shape);
    return TN_OK;
}

// One box: the operand's strides in the result's order.
static bool regions_transpose(tn_move *move)
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
        tn_region_dim(region, y->dims[d], from[source_dim(move->attr, y->rank, d)], to[d]);
    }
    return true;
}

// ---- descriptor ----

const tn_op tn_op_transpose = {
    .name = "transpose", .version = 1, .min_in = 1, .max_in = 1, .min_out = 1, .max_out = 1, .attrs = transpose_attrs,
    .n_attrs = TN_COUNT(transpose_attrs), .attr_size = sizeof(tn_transpose_attr), .infer = infer_transpose,
    .regions = regions_transpose,
};

// ---- export ----

static const tn_kernel rows[] = {TN_REFERENCE(transpose, NULL, tn_move_run)};
static const tn_op *const ops[] = {&tn_op_transpose};

TN_EXPORT_OPS(op_transpose, ops);
TN_EXPORT_KERNELS(op_transpose, rows);
