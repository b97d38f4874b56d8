// SPDX-License-Identifier: Apache-2.0
// Scattering by index tensors: a copy of the data, then the updates in their order. Updates that may meet the same element are taken by one
// item one after the other, so of equal indices the last one wins and sums round as in the reference, on any device.
// Ownership: const data. Threads: any.
#include "exec/opencl/rows/cl_rows.h"

#include "ops/index/op_gather.h"

// Lists that one item walks alone are for the CPU when there are few items.
#define LONG_LIST 4096
#define FEW_ITEMS 32

// How many items share the updates, and how many updates each takes; 0 items: the shapes are not for it.
static int64_t items_of(const tn_query *query, int64_t *each)
{
    const tn_shape *x = &query->in[0]->shape, *t = &query->in[1]->shape;
    int axis = 0;
    if (query->op == &tn_op_scatter_nd) {
        const int last = t->rank - 1;
        if (t->dims[last] < 1) {
            return 0;
        }
        *each = tn_shape_span(t, 0, last);
        return tn_shape_span(x, (int)t->dims[last], x->rank);
    }
    if (x->rank == 0 || !tn_axis(((const tn_scatter_attr *)query->attr)->axis, x->rank, &axis)) {
        return 0;
    }
    *each = t->dims[axis];
    return tn_tensor_count(query->in[1]) / *each;
}

static bool match_scatter(const tn_query *query, const char **why)
{
    const tn_dtype dtype = query->in[0]->dtype;
    const bool moves = ((const tn_scatter_attr *)query->attr)->reduction == TN_SCATTER_NONE;
    int64_t each = 0;
    *why = "elements or indices of this type";
    if (!tn_cl_type(dtype) || (!moves && dtype != TN_F32 && !tn_dtype_is_int(dtype)) ||
        (query->in[1]->dtype != TN_I32 && query->in[1]->dtype != TN_I64)) {
        return false;
    }
    const int64_t items = items_of(query, &each);
    *why = "a long list of updates that can only be taken one after the other";
    return items > 0 && (items >= FEW_ITEMS || each <= LONG_LIST);
}

// What becomes of an element and its update, in the type of the elements.
static void write_reduction(tn_cl_build *b, int reduction, tn_dtype dtype)
{
    const bool real = dtype == TN_F32;
    const char *form = reduction == TN_SCATTER_ADD   ? "(x) + (u)"
                       : reduction == TN_SCATTER_MUL ? "(x) * (u)"
                       : reduction == TN_SCATTER_MAX ? real ? "NAN_OR(fmax, x, u)" : "max(x, u)"
                       : reduction == TN_SCATTER_MIN ? real ? "NAN_OR(fmin, x, u)" : "min(x, u)" : "(u)";
    tn_cl_define(b, "UPDATE(x, u)", "%s", form);
}

// Where the updates of an item begin and how far apart they are, in updates and in data but for the axis.
static void elements_places(tn_cl_build *b, const tn_shape *x, const tn_shape *t, int axis)
{
    int64_t weight = 1;
    tn_cl_int(b, "n", x->dims[axis]);
    tn_cl_int(b, "step", tn_shape_span(t, axis + 1, t->rank));
    tn_cl_int(b, "stride", tn_shape_span(x, axis + 1, x->rank));
    for (int data = 0; data < 2; data++) {
        weight = 1;
        tn_cl_code(b, "#define %s(i) (0", data ? "DATA" : "FIRST");
        for (int d = t->rank - 1; d >= 0; d--) {
            if (d != axis && t->dims[d] > 1) {
                tn_cl_code(b, " + (i) / %lld %% %lld * %lld", (long long)weight, (long long)t->dims[d],
                           (long long)tn_shape_span(data ? x : t, d + 1, t->rank));
                weight *= t->dims[d];
            }
        }
        tn_cl_code(b, ")\n");
    }
}

static void tuples_places(tn_cl_build *b, const tn_shape *x, int size)
{
    int64_t strides[TN_MAX_RANK];
    for (int d = 0; d < size; d++) {
        strides[d] = tn_shape_span(x, d + 1, x->rank);
    }
    tn_cl_define(b, "SIZE", "%d", size);
    tn_cl_write_list(b, "dims", x->dims, size);
    tn_cl_write_list(b, "strides", strides, size);
}

static void emit_scatter(tn_cl_build *b, const tn_query *query, tn_cl_value *const *in, tn_cl_value *const *out)
{
    const tn_scatter_attr *attr = query->attr;
    const bool tuples = query->op == &tn_op_scatter_nd;
    const tn_shape *x = &in[0]->shape, *t = &in[1]->shape;
    const char *type = attr->reduction == TN_SCATTER_NONE ? tn_cl_bits_type(in[0]->dtype) : tn_cl_type(in[0]->dtype);
    int64_t each = 0;
    int axis = 0;
    const int64_t items = items_of(query, &each);
    tn_cl_mem *data = tn_cl_plain(b, in[0]), *indices = tn_cl_plain(b, in[1]), *updates = tn_cl_plain(b, in[2]);
    tn_cl_mem *to = tn_cl_new_plain(b, out[0]), *bad = tn_cl_flag(b);
    tn_cl_begin(b, "copy_plain");
    tn_cl_in(b, type, "a", data);
    tn_cl_out(b, type, "y", to);
    tn_cl_end(b, (size_t)tn_cl_count(out[0]), 1, 1);
    tn_cl_begin(b, tuples ? "scatter_tuples" : "scatter_elements");
    tn_cl_in(b, in[1]->dtype == TN_I64 ? "long" : "int", "t", indices);
    tn_cl_in(b, type, "u", updates);
    tn_cl_out(b, type, "y", to);
    tn_cl_out(b, "int", "bad", bad);
    tn_cl_define(b, "INDEX", "%s", in[1]->dtype == TN_I64 ? "long" : "int");
    tn_cl_define(b, "ELEMENT", "%s", type);
    write_reduction(b, attr->reduction, in[0]->dtype);
    tn_cl_int(b, "each", each);
    if (tuples) {
        tuples_places(b, x, (int)t->dims[t->rank - 1]);
    } else {
        (void)tn_axis(attr->axis, x->rank, &axis);
        elements_places(b, x, t, axis);
    }
    tn_cl_end(b, (size_t)items, 1, 1);
}

static const tn_cl_row rows[] = {
    {.op = &tn_op_scatter_elements, .match = match_scatter, .emit = emit_scatter},
    {.op = &tn_op_scatter_nd, .match = match_scatter, .emit = emit_scatter},
};

TN_CL_EXPORT(scatter, rows);
