// SPDX-License-Identifier: Apache-2.0
// where(condition, a, b): elements of a where the condition holds, else of b. It moves elements, so it works by their size.
// Ownership: const data. Threads: any.
#include "ops/math/op_select.h"

#include "ops/op_facts.h"
#include "ops/walk/walk.h"

#include <string.h>

// ---- infer ----

// Where an element of the condition is not known, equal elements of both sides still are.
static tn_status infer_elems(tn_infer *infer)
{
    for (int k = 0; k < 3; k++) {
        if (!tn_infer_tells(infer, k)) {
            return TN_OK;
        }
    }
    const tn_shape *of[3] = {&infer->in[0]->shape, &infer->in[1]->shape, &infer->in[2]->shape};
    tn_walk walk;
    bool more = tn_walk_init(&walk, &infer->out[0].shape, 3, of);
    int64_t *elems = tn_infer_elems(infer, 0, tn_fact_count(&infer->out[0]));
    if (!elems) {
        return TN_OUT_OF_MEMORY;
    }
    for (; more; more = tn_walk_next(&walk)) {
        for (int64_t i = 0; i < walk.row; i++, elems++) {
            int64_t v[3];
            for (int k = 0; k < 3; k++) {
                v[k] = tn_fact_elem(infer->in[k], walk.offsets[k] + i * walk.steps[k]);
            }
            if (tn_dim_known(v[0])) {
                *elems = v[0] ? v[1] : v[2];
            } else if (v[1] == v[2]) {
                *elems = v[1];
            }
        }
    }
    return TN_OK;
}

// condition, a, b: shapes that broadcast; a and b of one type, any.
static tn_status infer_where(tn_infer *infer)
{
    tn_dtype dtype;
    tn_shape shape;
    TN_TRY(tn_infer_type(infer, 0, TN_BIT(BOOL)));
    TN_TRY(tn_infer_types(infer, 1, 2, TN_SET_ANY, &dtype));
    TN_TRY(tn_infer_broadcast(infer, 0, 2, &shape));
    tn_infer_out(infer, 0, dtype, &shape);
    return infer_elems(infer);
}

// ---- descriptor ----

const tn_op tn_op_where = {
    .name = "where", .version = 1, .flags = TN_OP_ELEMENTWISE | TN_OP_INPLACE_ANY, .min_in = 3, .max_in = 3, .min_out = 1, .max_out = 1,
    .infer = infer_where,
};

// ---- reference ----

// One row of the walk: n elements of `size` bytes, one after another in the result.
static void select_row(char *y, const char *const *from, const int64_t *steps, int64_t n, size_t size)
{
    for (int64_t i = 0; i < n; i++) {
        const int k = from[0][i * steps[0]] ? 1 : 2;
        memmove(y + (size_t)i * size, from[k] + i * steps[k] * (int64_t)size, size);
    }
}

// condition, a, b: shapes that broadcast to that of the result.
static tn_status run_where(const tn_call *call)
{
    const tn_tensor *y = call->out[0];
    const size_t size = tn_dtype_bytes(y->dtype);
    const tn_shape *of[3] = {&call->in[0]->shape, &call->in[1]->shape, &call->in[2]->shape};
    tn_walk walk;
    int64_t first = 0;
    for (bool more = tn_walk_init(&walk, &y->shape, 3, of); more; more = tn_walk_next(&walk), first += walk.row) {
        if (tn_cancelled(call)) {
            return tn_fail_cancelled(call);
        }
        const char *from[3];
        for (int k = 0; k < 3; k++) {
            const size_t own = k == 0 ? 1 : size;
            from[k] = (const char *)call->in[k]->data + (size_t)walk.offsets[k] * own;
        }
        char *to = (char *)y->data + (size_t)first * size;
        // constant sizes let the compiler turn each memmove into a load and a store
        switch (size) {
        case 1: select_row(to, from, walk.steps, walk.row, 1); break;
        case 2: select_row(to, from, walk.steps, walk.row, 2); break;
        case 4: select_row(to, from, walk.steps, walk.row, 4); break;
        case 8: select_row(to, from, walk.steps, walk.row, 8); break;
        default: select_row(to, from, walk.steps, walk.row, size); break;
        }
    }
    return TN_OK;
}

// ---- export ----

static const tn_kernel rows[] = {TN_REFERENCE(where, NULL, run_where)};
static const tn_op *const ops[] = {&tn_op_where};

TN_EXPORT_OPS(op_select, ops);
TN_EXPORT_KERNELS(op_select, rows);
