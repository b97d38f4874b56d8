// SPDX-License-Identifier: Apache-2.0
// Gathering by index tensors.
// Ownership: const data. Threads: any.
#include "exec/opencl/rows/cl_rows.h"

#include "ops/index/op_gather.h"

static const char *bits_type(tn_dtype dtype)
{
    const size_t bytes = tn_dtype_bytes(dtype);
    return bytes == 1 ? "uchar" : bytes == 2 ? "ushort" : bytes == 4 ? "uint" : "ulong";
}

static bool match_gather(const tn_query *query, const char **why)
{
    const tn_gather_attr *attr = query->attr;
    int axis;
    *why = "elements or indices of this type";
    return tn_cl_type(query->in[0]->dtype) && (query->in[1]->dtype == TN_I32 || query->in[1]->dtype == TN_I64) &&
           tn_axis(attr->axis, query->in[0]->shape.rank, &axis);
}

static void emit_gather(tn_cl_build *b, const tn_query *query, tn_cl_value *const *in, tn_cl_value *const *out)
{
    const tn_gather_attr *attr = query->attr;
    const tn_shape *shape = &in[0]->shape;
    const char *type = bits_type(in[0]->dtype);
    int axis = 0;
    (void)tn_axis(attr->axis, shape->rank, &axis);
    const int64_t inner = tn_shape_span(shape, axis + 1, shape->rank), outer = tn_shape_span(shape, 0, axis);
    tn_cl_mem *from = tn_cl_plain(b, in[0]), *indices = tn_cl_plain(b, in[1]), *to = tn_cl_new_plain(b, out[0]);
    tn_cl_mem *bad = tn_cl_flag(b);
    tn_cl_begin(b, "gather");
    tn_cl_in(b, type, "a", from);
    tn_cl_in(b, in[1]->dtype == TN_I64 ? "long" : "int", "t", indices);
    tn_cl_out(b, type, "y", to);
    tn_cl_out(b, "int", "bad", bad);
    tn_cl_int(b, "n", shape->dims[axis]);
    tn_cl_int(b, "inner", inner);
    tn_cl_define(b, "INDEX", "%s", in[1]->dtype == TN_I64 ? "long" : "int");
    tn_cl_end(b, (size_t)inner, (size_t)tn_cl_count(in[1]), (size_t)outer);
}

static const tn_cl_row rows[] = {{.op = &tn_op_gather, .match = match_gather, .emit = emit_gather}};

TN_CL_EXPORT(index, rows);
