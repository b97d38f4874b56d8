// SPDX-License-Identifier: Apache-2.0
// Float tensors to 8 bits and back, rounded as the references do, so that results have their bits.
// Ownership: const data. Threads: any.
#include "exec/opencl/rows/quant/cl_requant.h"

#include "ops/op_facts.h"
#include "ops/quant/op_quantize.h"

static bool single(const tn_tensor *tensor) { return !tensor || tn_tensor_count(tensor) == 1; }

static const char *saturating(tn_dtype dtype)
{
    return dtype == TN_I8 ? "convert_char_sat" : "convert_uchar_sat";
}

// ---- quantize, dequantize ----

static bool match_linear(const tn_query *query, const char **why)
{
    const tn_quantize_attr *attr = query->attr;
    const bool down = query->op == &tn_op_quantize_linear;
    const tn_tensor *real = down ? query->in[0] : query->out[0], *stored = down ? query->out[0] : query->in[0];
    int axis;
    *why = "only float32 and whole types, one scale or one for each index of an axis";
    const bool types = real->dtype == TN_F32 && query->in[1]->dtype == TN_F32 && (tn_cl_is_byte(stored) || (!down && stored->dtype == TN_I32));
    const bool axes = single(query->in[1]) || (query->in[1]->shape.rank == 1 && tn_axis(attr->axis, query->in[0]->shape.rank, &axis));
    return types && axes && attr->block_size == 0;
}

// A scale or zero point with its dim put at the axis, so that it broadcasts.
static tn_cl_value along(tn_cl_build *b, tn_cl_value *value, int64_t axis, int rank)
{
    int at = 0;
    (void)tn_cl_plain(b, value);
    tn_cl_value view = *value;
    if (tn_cl_count(value) == 1) {
        view.shape = (tn_shape){.rank = 0};
    } else if (tn_axis(axis, rank, &at)) {
        view.shape = (tn_shape){.rank = rank};
        for (int d = 0; d < rank; d++) {
            view.shape.dims[d] = d == at ? value->shape.dims[0] : 1;
        }
    }
    return view;
}

static void emit_linear(tn_cl_build *b, const tn_query *query, tn_cl_value *const *in, tn_cl_value *const *out)
{
    const tn_quantize_attr *attr = query->attr;
    const bool down = query->op == &tn_op_quantize_linear, zero = query->n_in > 2 && in[2];
    tn_cl_value views[2] = {along(b, in[1], attr->axis, in[0]->shape.rank)};
    if (zero) {
        views[1] = along(b, in[2], attr->axis, in[0]->shape.rank);
    }
    tn_cl_value *operands[3] = {in[0], &views[0], &views[1]};
    tn_cl_elementwise_begin(b, operands, zero ? 3 : 2, out[0]);
    static const char *const names[] = {"x", "s", "z"};
    const char *z = zero ? "z" : "0";
    if (down) {
        tn_cl_expression(b, operands, names, zero ? 3 : 2, out[0], "%s(rint(x / s) + (float)%s)", saturating(out[0]->dtype), z);
    } else {
        tn_cl_expression(b, operands, names, zero ? 3 : 2, out[0], "(float)(x - %s) * s", z);
    }
    tn_cl_end(b, (size_t)tn_cl_count(out[0]), 1, 1);
}

static bool match_dynamic(const tn_query *query, const char **why)
{
    *why = "all three results must be used";
    return query->n_out == 3 && query->out[0] && query->out[1] && query->out[2];
}

static void emit_dynamic(tn_cl_build *b, const tn_query *query, tn_cl_value *const *in, tn_cl_value *const *out)
{
    const int64_t n = tn_cl_count(in[0]);
    const size_t limit = TN_MIN(b->cl->facts.max_group, (size_t)(b->cl->facts.is_cpu ? 8 : 256));
    size_t parts = 1;
    while (parts * 2 <= limit && (int64_t)parts < n) {
        parts *= 2;
    }
    tn_cl_mem *from = tn_cl_plain(b, in[0]);
    tn_cl_mem *to[3] = {tn_cl_new_plain(b, out[0]), tn_cl_new_plain(b, out[1]), tn_cl_new_plain(b, out[2])};
    tn_cl_begin(b, "quantize_dynamic");
    tn_cl_in(b, "float", "a", from);
    tn_cl_out(b, "uchar", "y", to[0]);
    tn_cl_out(b, "float", "scale", to[1]);
    tn_cl_out(b, "uchar", "zero_point", to[2]);
    tn_cl_int(b, "n", n);
    tn_cl_local(b, "float", "lows", parts * sizeof(float));
    tn_cl_local(b, "float", "highs", parts * sizeof(float));
    tn_cl_define(b, "PARTS", "%zu", parts);
    tn_cl_group(b, parts, 1, 1);
    tn_cl_end(b, parts, 1, 1);
    (void)query;
}

static const tn_cl_row rows[] = {
    {.op = &tn_op_quantize_linear, .match = match_linear, .emit = emit_linear},
    {.op = &tn_op_dequantize_linear, .match = match_linear, .emit = emit_linear},
    {.op = &tn_op_dynamic_quantize_linear, .match = match_dynamic, .emit = emit_dynamic},
};

TN_CL_EXPORT(quant, rows);
