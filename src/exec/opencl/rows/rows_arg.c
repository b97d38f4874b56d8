// SPDX-License-Identifier: Apache-2.0
// The place of the largest or smallest element along an axis, and running sums along one.
// Ownership: const data. Threads: any.
#include "exec/opencl/rows/cl_rows.h"

#include "ops/math/op_reduce.h"
#include "ops/op_facts.h"

static bool match_type(const tn_query *query, const char **why)
{
    const tn_dtype dtype = query->in[0]->dtype;
    *why = "elements of this type";
    return dtype == TN_F32 || tn_dtype_is_int(dtype);
}

static bool match_arg(const tn_query *query, const char **why)
{
    int axis;
    return match_type(query, why) && query->in[0]->shape.rank > 0 && tn_axis(((const tn_arg_attr *)query->attr)->axis, query->in[0]->shape.rank, &axis);
}

static void emit_arg(tn_cl_build *b, const tn_query *query, tn_cl_value *const *in, tn_cl_value *const *out)
{
    const tn_arg_attr *attr = query->attr;
    const tn_shape *shape = &in[0]->shape;
    int axis = 0;
    int64_t count;
    (void)tn_axis(attr->axis, shape->rank, &axis);
    const size_t parts = tn_cl_reduced_parts(b, shape, UINT32_C(1) << axis, &count), size = tn_dtype_bytes(in[0]->dtype);
    tn_cl_mem *from = tn_cl_plain(b, in[0]), *to = tn_cl_new_plain(b, out[0]);
    tn_cl_begin(b, "arg");
    tn_cl_in(b, tn_cl_type(in[0]->dtype), "a", from);
    tn_cl_out(b, "long", "y", to);
    tn_cl_int(b, "count", count);
    tn_cl_int(b, "inner", tn_shape_span(shape, axis + 1, shape->rank));
    tn_cl_local(b, tn_cl_type(in[0]->dtype), "best", parts * size);
    tn_cl_local(b, "int", "place", parts * sizeof(int));
    tn_cl_define(b, "PARTS", "%zu", parts);
    tn_cl_define(b, "ELEMENT", "%s", tn_cl_type(in[0]->dtype));
    tn_cl_define(b, "ABOVE(x, z)", "%s", query->op == &tn_op_arg_max ? "(x) > (z)" : "(x) < (z)");
    tn_cl_define(b, "LAST_WINS", "%d", attr->select_last_index);
    tn_cl_group(b, parts, 1, 1);
    tn_cl_end(b, parts, (size_t)tn_cl_count(out[0]), 1);
}

static bool running_axis(const tn_query *query, int *axis)
{
    const tn_tensor *given = query->n_in > 1 ? query->in[1] : NULL;
    return given && given->data && tn_tensor_count(given) == 1 &&
           tn_axis(tn_dtype_load_i64(given->dtype, given->data, 0), query->in[0]->shape.rank, axis);
}

// Sums of many floats one after the other would round differently from the reference's float64 ones.
static bool match_running(const tn_query *query, const char **why)
{
    int axis;
    if (!match_type(query, why)) {
        return false;
    }
    *why = "an axis that is not known, or a very long one";
    return running_axis(query, &axis) && query->in[0]->shape.dims[axis] <= 65536;
}

static void emit_running(tn_cl_build *b, const tn_query *query, tn_cl_value *const *in, tn_cl_value *const *out)
{
    const tn_cum_attr *attr = query->attr;
    const tn_shape *shape = &in[0]->shape;
    const char *type = tn_cl_type(in[0]->dtype);
    int axis = 0;
    (void)running_axis(query, &axis);
    tn_cl_mem *from = tn_cl_plain(b, in[0]), *to = tn_cl_new_plain(b, out[0]);
    tn_cl_begin(b, "running");
    tn_cl_in(b, type, "a", from);
    tn_cl_out(b, type, "y", to);
    tn_cl_int(b, "length", shape->dims[axis]);
    tn_cl_int(b, "inner", tn_shape_span(shape, axis + 1, shape->rank));
    tn_cl_define(b, "ELEMENT", "%s", type);
    tn_cl_define(b, "ACC", "%s", in[0]->dtype == TN_F32 ? "float" : "ulong");
    tn_cl_define(b, "FLOAT", "%d", in[0]->dtype == TN_F32);
    tn_cl_define(b, "PRODUCT", "%d", query->op == &tn_op_cum_prod);
    tn_cl_define(b, "EXCLUSIVE", "%d", attr->exclusive);
    tn_cl_define(b, "REVERSE", "%d", attr->reverse);
    tn_cl_end(b, (size_t)(tn_cl_count(in[0]) / shape->dims[axis]), 1, 1);
}

static const tn_cl_row rows[] = {
    {.op = &tn_op_arg_max, .match = match_arg, .emit = emit_arg},
    {.op = &tn_op_arg_min, .match = match_arg, .emit = emit_arg},
    {.op = &tn_op_cum_sum, .match = match_running, .emit = emit_running},
    {.op = &tn_op_cum_prod, .match = match_running, .emit = emit_running},
};

TN_CL_EXPORT(arg, rows);
