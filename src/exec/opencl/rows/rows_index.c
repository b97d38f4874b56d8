// SPDX-License-Identifier: Apache-2.0
// Gathering by index tensors: slices of an axis, single elements, and slices named by tuples.
// Ownership: const data. Threads: any.
#include "exec/opencl/rows/cl_rows.h"

#include "ops/index/op_gather.h"

static bool match_indices(const tn_query *query, const char **why)
{
    *why = "elements or indices of this type";
    return tn_cl_type(query->in[0]->dtype) && (query->in[1]->dtype == TN_I32 || query->in[1]->dtype == TN_I64);
}

static bool match_gather(const tn_query *query, const char **why)
{
    const tn_gather_attr *attr = query->attr;
    int axis;
    return match_indices(query, why) && tn_axis(attr->axis, query->in[0]->shape.rank, &axis);
}

// Begins a step over data, indices and result; what lies outside is told in `bad`.
static void begin(tn_cl_build *b, const char *kernel, tn_cl_value *const *in, tn_cl_value *out)
{
    const char *type = tn_cl_bits_type(in[0]->dtype), *index = in[1]->dtype == TN_I64 ? "long" : "int";
    tn_cl_mem *from = tn_cl_plain(b, in[0]), *indices = tn_cl_plain(b, in[1]), *to = tn_cl_new_plain(b, out);
    tn_cl_mem *bad = tn_cl_flag(b);
    tn_cl_begin(b, kernel);
    tn_cl_in(b, type, "a", from);
    tn_cl_in(b, index, "t", indices);
    tn_cl_out(b, type, "y", to);
    tn_cl_out(b, "int", "bad", bad);
    tn_cl_define(b, "INDEX", "%s", index);
}

static void emit_gather(tn_cl_build *b, const tn_query *query, tn_cl_value *const *in, tn_cl_value *const *out)
{
    const tn_gather_attr *attr = query->attr;
    const tn_shape *shape = &in[0]->shape;
    int axis = 0;
    (void)tn_axis(attr->axis, shape->rank, &axis);
    const int64_t inner = tn_shape_span(shape, axis + 1, shape->rank), outer = tn_shape_span(shape, 0, axis);
    begin(b, "gather", in, out[0]);
    tn_cl_int(b, "n", shape->dims[axis]);
    tn_cl_int(b, "inner", inner);
    tn_cl_end(b, (size_t)inner, (size_t)tn_cl_count(in[1]), (size_t)outer);
}

static void emit_elements(tn_cl_build *b, const tn_query *query, tn_cl_value *const *in, tn_cl_value *const *out)
{
    const tn_gather_attr *attr = query->attr;
    const tn_shape *shape = &in[0]->shape, *places = &in[1]->shape;
    int axis = 0;
    (void)tn_axis(attr->axis, shape->rank, &axis);
    begin(b, "gather_elements", in, out[0]);
    tn_cl_int(b, "n", shape->dims[axis]);
    tn_cl_int(b, "stride", tn_shape_span(shape, axis + 1, shape->rank));
    tn_cl_code(b, "#define BASE(i) (0");
    for (int d = 0; d < places->rank; d++) {
        if (d != axis && places->dims[d] > 1) {
            tn_cl_code(b, " + (i) / %lld %% %lld * %lld", (long long)tn_shape_span(places, d + 1, places->rank), (long long)places->dims[d],
                       (long long)tn_shape_span(shape, d + 1, shape->rank));
        }
    }
    tn_cl_code(b, ")\n");
    tn_cl_end(b, (size_t)tn_cl_count(out[0]), 1, 1);
}

static void emit_tuples(tn_cl_build *b, const tn_query *query, tn_cl_value *const *in, tn_cl_value *const *out)
{
    const tn_gather_nd_attr *attr = query->attr;
    const tn_shape *shape = &in[0]->shape, *places = &in[1]->shape;
    const int batch = (int)attr->batch_dims, size = (int)places->dims[places->rank - 1];
    const int64_t tuples = tn_shape_span(places, 0, places->rank - 1), inner = tn_shape_span(shape, batch + size, shape->rank);
    begin(b, "gather_tuples", in, out[0]);
    tn_cl_int(b, "each", tn_shape_span(places, batch, places->rank - 1));
    tn_cl_int(b, "stride", tn_shape_span(shape, batch, shape->rank));
    tn_cl_define(b, "SIZE", "%d", size);
    tn_cl_code(b, "#define DIMS 0");
    for (int d = 0; d < size; d++) {
        tn_cl_code(b, d ? ", %lld" : "\n#undef DIMS\n#define DIMS %lld", (long long)shape->dims[batch + d]);
    }
    tn_cl_code(b, "\n#define STRIDES 0");
    for (int d = 0; d < size; d++) {
        tn_cl_code(b, d ? ", %lld" : "\n#undef STRIDES\n#define STRIDES %lld", (long long)tn_shape_span(shape, batch + d + 1, shape->rank));
    }
    tn_cl_code(b, "\n");
    tn_cl_end(b, (size_t)inner, (size_t)tuples, 1);
}

static const tn_cl_row rows[] = {
    {.op = &tn_op_gather, .match = match_gather, .emit = emit_gather},
    {.op = &tn_op_gather_elements, .match = match_gather, .emit = emit_elements},
    {.op = &tn_op_gather_nd, .match = match_indices, .emit = emit_tuples},
};

TN_CL_EXPORT(index, rows);
