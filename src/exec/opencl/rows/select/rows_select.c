// SPDX-License-Identifier: Apache-2.0
// Which elements: the largest ones, triangles, one of many, steps in reverse.
// Ownership: const data. Threads: any.
#include "exec/opencl/rows/cl_rows.h"

#include "ops/index/op_find.h"
#include "ops/index/op_gather.h"
#include "ops/index/op_make.h"
#include "ops/move/op_block.h"
#include "ops/nn/op_softmax.h"
#include "ops/op_facts.h"

#define MAX_PAIRS (INT64_C(1) << 31)      // comparisons of a top_k: past them the CPU's heaps are the better way

static bool is_index(const tn_tensor *tensor) { return tensor->dtype == TN_I32 || tensor->dtype == TN_I64; }
static const char *index_type(tn_dtype dtype) { return dtype == TN_I64 ? "long" : "int"; }

// ---- hardmax, top_k ----

static bool match_hardmax(const tn_query *query, const char **why)
{
    int axis;
    return tn_cl_all_f32(query, why) && tn_axis(((const tn_softmax_attr *)query->attr)->axis, query->in[0]->shape.rank, &axis);
}

static void emit_hardmax(tn_cl_build *b, const tn_query *query, tn_cl_value *const *in, tn_cl_value *const *out)
{
    const tn_shape *shape = &in[0]->shape;
    int axis = 0;
    int64_t count;
    (void)tn_axis(((const tn_softmax_attr *)query->attr)->axis, shape->rank, &axis);
    const size_t parts = tn_cl_reduced_parts(b, shape, UINT32_C(1) << axis, &count);
    tn_cl_mem *from = tn_cl_plain(b, in[0]), *to = tn_cl_new_plain(b, out[0]);
    tn_cl_begin(b, "hardmax");
    tn_cl_in(b, "float", "a", from);
    tn_cl_out(b, "float", "y", to);
    tn_cl_int(b, "count", count);
    tn_cl_int(b, "inner", tn_shape_span(shape, axis + 1, shape->rank));
    tn_cl_local(b, "float", "best", parts * sizeof(float));
    tn_cl_local(b, "int", "place", parts * sizeof(int));
    tn_cl_define(b, "PARTS", "%zu", parts);
    tn_cl_group(b, parts, 1, 1);
    tn_cl_end(b, parts, (size_t)(tn_cl_count(in[0]) / count), 1);
}

static bool match_top_k(const tn_query *query, const char **why)
{
    const tn_top_k_attr *attr = query->attr;
    const tn_shape *x = &query->in[0]->shape;
    int axis;
    *why = "elements of this type";
    if (!tn_cl_type(query->in[0]->dtype) || !tn_axis(attr->axis, x->rank, &axis)) {
        return false;
    }
    *why = "an axis so long that sorting is the better way";
    return tn_tensor_count(query->in[0]) <= MAX_PAIRS / x->dims[axis];
}

static void emit_top_k(tn_cl_build *b, const tn_query *query, tn_cl_value *const *in, tn_cl_value *const *out)
{
    const tn_top_k_attr *attr = query->attr;
    const tn_shape *x = &in[0]->shape;
    const char *type = tn_cl_type(in[0]->dtype);
    int axis = 0;
    (void)tn_axis(attr->axis, x->rank, &axis);
    tn_cl_mem *from = tn_cl_plain(b, in[0]), *values = tn_cl_new_plain(b, out[0]);
    tn_cl_mem *places = query->n_out > 1 && out[1] ? tn_cl_new_plain(b, out[1]) : tn_cl_take_plain(b, (size_t)tn_cl_count(out[0]) * sizeof(int64_t));
    tn_cl_begin(b, "top_k");
    tn_cl_in(b, type, "a", from);
    tn_cl_out(b, type, "values", values);
    tn_cl_out(b, "long", "places", places);
    tn_cl_int(b, "count", x->dims[axis]);
    tn_cl_int(b, "k", out[0]->shape.dims[axis]);
    tn_cl_int(b, "inner", tn_shape_span(x, axis + 1, x->rank));
    tn_cl_define(b, "ELEMENT", "%s", type);
    tn_cl_define(b, "LARGEST", "%d", attr->largest);
    tn_cl_end(b, (size_t)x->dims[axis], (size_t)(tn_cl_count(in[0]) / x->dims[axis]), 1);
}

// ---- trilu, one_hot, reverse_sequence ----

static bool match_trilu(const tn_query *query, const char **why)
{
    const tn_tensor *shift = query->n_in > 1 ? query->in[1] : NULL;
    *why = "elements or a diagonal of this type";
    return tn_cl_type(query->in[0]->dtype) && (!shift || is_index(shift));
}

static void emit_trilu(tn_cl_build *b, const tn_query *query, tn_cl_value *const *in, tn_cl_value *const *out)
{
    const tn_shape *x = &in[0]->shape;
    const bool shifted = query->n_in > 1 && in[1];
    const char *type = tn_cl_bits_type(in[0]->dtype);
    tn_cl_mem *from = tn_cl_plain(b, in[0]), *shift = shifted ? tn_cl_plain(b, in[1]) : NULL, *to = tn_cl_new_plain(b, out[0]);
    tn_cl_begin(b, "trilu");
    tn_cl_in(b, type, "a", from);
    tn_cl_out(b, type, "y", to);
    if (shifted) {
        tn_cl_in(b, index_type(in[1]->dtype), "k", shift);
    }
    tn_cl_define(b, "SHIFT", "%s", shifted ? "k[0]" : "0");
    tn_cl_define(b, "UPPER", "%d", ((const tn_trilu_attr *)query->attr)->upper);
    tn_cl_end(b, (size_t)x->dims[x->rank - 1], (size_t)x->dims[x->rank - 2], (size_t)tn_shape_span(x, 0, x->rank - 2));
}

static bool match_one_hot(const tn_query *query, const char **why)
{
    int axis;
    *why = "elements or indices of this type";
    return tn_cl_type(query->out[0]->dtype) && is_index(query->in[0]) && tn_axis(((const tn_gather_attr *)query->attr)->axis, query->out[0]->shape.rank, &axis);
}

static void emit_one_hot(tn_cl_build *b, const tn_query *query, tn_cl_value *const *in, tn_cl_value *const *out)
{
    const tn_shape *y = &out[0]->shape;
    const char *type = tn_cl_bits_type(out[0]->dtype);
    int axis = 0;
    (void)tn_axis(((const tn_gather_attr *)query->attr)->axis, y->rank, &axis);
    tn_cl_mem *indices = tn_cl_plain(b, in[0]), *values = tn_cl_plain(b, in[2]), *to = tn_cl_new_plain(b, out[0]);
    tn_cl_begin(b, "one_hot");
    tn_cl_in(b, index_type(in[0]->dtype), "t", indices);
    tn_cl_in(b, type, "values", values);
    tn_cl_out(b, type, "y", to);
    tn_cl_end(b, (size_t)tn_shape_span(y, axis + 1, y->rank), (size_t)y->dims[axis], (size_t)tn_shape_span(y, 0, axis));
}

static bool match_reverse(const tn_query *query, const char **why)
{
    *why = "elements or lengths of this type";
    return tn_cl_type(query->in[0]->dtype) && is_index(query->in[1]);
}

static void emit_reverse(tn_cl_build *b, const tn_query *query, tn_cl_value *const *in, tn_cl_value *const *out)
{
    const tn_reverse_sequence_attr *attr = query->attr;
    const tn_shape *x = &in[0]->shape;
    const char *type = tn_cl_bits_type(in[0]->dtype);
    const int64_t batch = x->dims[attr->batch_axis], time = x->dims[attr->time_axis], inner = tn_shape_span(x, 2, x->rank);
    tn_cl_mem *from = tn_cl_plain(b, in[0]), *lengths = tn_cl_plain(b, in[1]), *to = tn_cl_new_plain(b, out[0]), *bad = tn_cl_flag(b);
    tn_cl_begin(b, "reverse_sequence");
    tn_cl_in(b, type, "a", from);
    tn_cl_in(b, index_type(in[1]->dtype), "lengths", lengths);
    tn_cl_out(b, type, "y", to);
    tn_cl_out(b, "int", "bad", bad);
    tn_cl_define(b, "BATCH_STEP", "%lld", (long long)(attr->batch_axis == 0 ? time * inner : inner));
    tn_cl_define(b, "TIME_STEP", "%lld", (long long)(attr->time_axis == 0 ? batch * inner : inner));
    tn_cl_end(b, (size_t)inner, (size_t)time, (size_t)batch);
}

static const tn_cl_row rows[] = {
    {.op = &tn_op_hardmax, .match = match_hardmax, .emit = emit_hardmax},
    {.op = &tn_op_top_k, .match = match_top_k, .emit = emit_top_k},
    {.op = &tn_op_trilu, .match = match_trilu, .emit = emit_trilu},
    {.op = &tn_op_one_hot, .match = match_one_hot, .emit = emit_one_hot},
    {.op = &tn_op_reverse_sequence, .match = match_reverse, .emit = emit_reverse},
};

TN_CL_EXPORT(select, rows);
