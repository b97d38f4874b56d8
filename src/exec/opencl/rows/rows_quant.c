// SPDX-License-Identifier: Apache-2.0
// 8-bit arithmetic on plain tensors: sums are exact in 32 bits, roundings are those of the references, so results have their bits.
// Ownership: const data. Threads: any.
#include "exec/opencl/rows/cl_rows.h"

#include "ops/nn/nn_reference.h"
#include "ops/op_facts.h"
#include "ops/quant/op_qlinear.h"
#include "ops/quant/op_qpair.h"
#include "ops/quant/op_quantize.h"

#include <string.h>

static bool is_byte(const tn_tensor *tensor) { return tensor->dtype == TN_U8 || tensor->dtype == TN_I8; }
static const tn_tensor *operand(const tn_query *query, int i) { return i < query->n_in ? query->in[i] : NULL; }
static bool single(const tn_tensor *tensor) { return !tensor || tn_tensor_count(tensor) == 1; }

// The kernels round in float32 and know no bounds but those of the type.
static bool plain_rounding(const tn_qlinear_attr *attr, const char **why)
{
    if (attr->rounding != TN_ROUND_FLOAT_RNE || attr->low > -128 || attr->high < 255) {
        *why = "only results rounded in float32 without an activation";
        return false;
    }
    return true;
}

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
    const bool types = real->dtype == TN_F32 && query->in[1]->dtype == TN_F32 && (is_byte(stored) || (!down && stored->dtype == TN_I32));
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

// ---- convolution ----

// Operand numbers of conv_integer (x, w, x_zero?, w_zero?) and of qlinear_conv.
typedef struct places {
    int w, x_zero, w_zero, x_scale, w_scale, y_scale, y_zero, bias;
} places;

static places places_of(const tn_query *query)
{
    return query->op == &tn_op_conv_integer ? (places){.w = 1, .x_zero = 2, .w_zero = 3} : (places){3, 2, 5, 1, 4, 6, 7, 8};
}

static bool match_conv(const tn_query *query, const char **why)
{
    const places at = places_of(query);
    const tn_tensor *w_zero = operand(query, at.w_zero);
    tn_window window;
    *why = "only 8-bit pictures with one scale, or one for each channel of the weights";
    if (!is_byte(query->in[0]) || !is_byte(query->in[at.w]) || query->in[0]->shape.rank != 4 || !single(operand(query, at.x_zero)) ||
        (w_zero && w_zero->dtype != query->in[at.w]->dtype) || !single(w_zero)) {
        return false;
    }
    if (at.x_scale && !plain_rounding(&((const tn_qconv_attr *)query->attr)->q, why)) {
        return false;
    }
    if (at.x_scale && (!single(query->in[1]) || !single(query->in[6]) || query->in[1]->dtype != TN_F32 || query->in[4]->dtype != TN_F32)) {
        return false;
    }
    return tn_conv_window(query->attr, &query->in[0]->shape, &query->in[at.w]->shape, &window) && window.rank == 2;
}

static void zero_arg(tn_cl_build *b, const char *macro, const char *name, tn_cl_value *value, tn_cl_mem *mem)
{
    if (mem) {
        tn_cl_in(b, tn_cl_type(value->dtype), name, mem);
        tn_cl_define(b, macro, "%s[0]", name);
    } else {
        tn_cl_define(b, macro, "0");
    }
}

static void conv_args(tn_cl_build *b, const tn_query *query, tn_cl_value *const *in, tn_cl_mem *const *mems, tn_cl_value *out, tn_cl_mem *to)
{
    const places at = places_of(query);
    tn_cl_in(b, tn_cl_type(in[0]->dtype), "x", mems[0]);
    tn_cl_in(b, tn_cl_type(in[at.w]->dtype), "f", mems[at.w]);
    zero_arg(b, "XZ", "x_zero_at", in[at.x_zero < query->n_in ? at.x_zero : 0], mems[at.x_zero]);
    zero_arg(b, "FZ", "f_zero_at", in[at.w_zero < query->n_in ? at.w_zero : 0], mems[at.w_zero]);
    tn_cl_out(b, tn_cl_type(out->dtype), "y", to);
    if (!at.x_scale) {
        tn_cl_define(b, "INTEGER", "1");
        return;
    }
    tn_cl_in(b, "float", "x_scale", mems[1]);
    tn_cl_in(b, "float", "f_scale", mems[4]);
    tn_cl_in(b, "float", "y_scale", mems[6]);
    zero_arg(b, "YZ", "y_zero_at", in[at.y_zero < query->n_in ? at.y_zero : 0], mems[at.y_zero]);
    tn_cl_define(b, "F_SCALES", "%d", tn_cl_count(in[4]) > 1);
    tn_cl_define(b, "SATURATE", "%s", saturating(out->dtype));
    if (mems[at.bias]) {
        tn_cl_in(b, "int", "bias", mems[at.bias]);
        tn_cl_define(b, "BIAS", "1");
    }
}

static void emit_conv(tn_cl_build *b, const tn_query *query, tn_cl_value *const *in, tn_cl_value *const *out)
{
    const places at = places_of(query);
    const tn_conv_attr *attr = query->attr;
    const int64_t *x = in[0]->shape.dims, *y = out[0]->shape.dims;
    tn_window w;
    tn_cl_mem *mems[9] = {NULL};
    (void)tn_conv_window(attr, &in[0]->shape, &in[at.w]->shape, &w);
    for (int i = 0; i < query->n_in && i < 9; i++) {
        mems[i] = in[i] ? tn_cl_plain(b, in[i]) : NULL;
    }
    tn_cl_mem *to = tn_cl_new_plain(b, out[0]);
    tn_cl_begin(b, "conv_integer");
    conv_args(b, query, in, mems, out[0], to);
    const struct { const char *name; int64_t value; } numbers[] = {
        {"h", x[2]}, {"w", x[3]}, {"oh", y[2]}, {"ow", y[3]}, {"channels", x[1]}, {"group_in", x[1] / attr->group}, {"group_out", y[1] / attr->group},
    }, defines[] = {
        {"KH", w.kernel[0]}, {"KW", w.kernel[1]}, {"STRIDE_Y", w.stride[0]}, {"STRIDE_X", w.stride[1]}, {"DIL_Y", w.dilation[0]},
        {"DIL_X", w.dilation[1]}, {"PAD_Y", w.pad_begin[0]}, {"PAD_X", w.pad_begin[1]},
    };
    for (size_t i = 0; i < TN_COUNT(numbers); i++) {
        tn_cl_int(b, numbers[i].name, numbers[i].value);
    }
    for (size_t i = 0; i < TN_COUNT(defines); i++) {
        tn_cl_define(b, defines[i].name, "(%lld)", (long long)defines[i].value);
    }
    tn_cl_end(b, (size_t)(y[2] * y[3]), (size_t)y[1], (size_t)y[0]);
}

// ---- matmul_integer ----

static bool match_matmul(const tn_query *query, const char **why)
{
    *why = "only 8-bit matrices with one zero point each";
    return is_byte(query->in[0]) && is_byte(query->in[1]) && single(operand(query, 2)) && single(operand(query, 3));
}

static void emit_matmul(tn_cl_build *b, const tn_query *query, tn_cl_value *const *in, tn_cl_value *const *out)
{
    tn_product p = {.call = NULL};
    tn_tensor y = *query->out[0];
    tn_cl_mem *mems[4] = {NULL}, *at[2] = {NULL};
    tn_product_set(&p, query->in[0], false, NULL, query->in[1], false, NULL, &y);
    for (int i = 0; i < query->n_in && i < 4; i++) {
        mems[i] = in[i] ? tn_cl_plain(b, in[i]) : NULL;
    }
    int32_t *table = tn_arena_array(&b->scratch, (size_t)p.batch + 1, sizeof *table);
    if (!table) {
        b->status = tn_fail_memory(b->diag, query->name, (size_t)p.batch * sizeof *table);
        return;
    }
    for (int side = 0; side < 2; side++) {
        for (int64_t i = 0; i < p.batch; i++) {
            table[i] = (int32_t)tn_product_offset(&p, side ? &p.b.stack : &p.a.stack, i);
        }
        at[side] = tn_cl_upload(b, table, (size_t)p.batch * sizeof *table);
    }
    tn_cl_mem *to = tn_cl_new_plain(b, out[0]);
    tn_cl_begin(b, "matmul_integer");
    tn_cl_in(b, tn_cl_type(in[0]->dtype), "a", mems[0]);
    tn_cl_in(b, tn_cl_type(in[1]->dtype), "b", mems[1]);
    zero_arg(b, "AZ", "a_zero", in[query->n_in > 2 ? 2 : 0], mems[2]);
    zero_arg(b, "BZ", "b_zero", in[query->n_in > 3 ? 3 : 0], mems[3]);
    tn_cl_in(b, "int", "a_at", at[0]);
    tn_cl_in(b, "int", "b_at", at[1]);
    tn_cl_out(b, "int", "y", to);
    tn_cl_int(b, "k", p.k);
    tn_cl_end(b, (size_t)p.n, (size_t)p.m, (size_t)p.batch);
}

// ---- add, mul ----

static bool match_binary(const tn_query *query, const char **why)
{
    *why = "only 8-bit tensors with one scale each";
    for (int i = 0; i < query->n_in; i++) {
        if (!query->in[i] || (i % 3 != 0 && i < 6 && !single(query->in[i])) || (i >= 6 && !single(query->in[i]))) {
            return false;
        }
    }
    return plain_rounding(query->attr, why) && query->n_in == 8 && is_byte(query->in[0]) && query->in[0]->dtype == query->in[3]->dtype && query->in[1]->dtype == TN_F32;
}

static void emit_binary(tn_cl_build *b, const tn_query *query, tn_cl_value *const *in, tn_cl_value *const *out)
{
    tn_cl_value views[8], *operands[8];
    for (int i = 0; i < 8; i++) {
        views[i] = i == 0 || i == 3 ? *in[i] : along(b, in[i], 0, 0);
        (void)(i == 0 || i == 3 ? tn_cl_plain(b, in[i]) : NULL);
        views[i].plain = in[i]->plain;
        operands[i] = &views[i];
    }
    tn_cl_elementwise_begin(b, operands, 8, out[0]);
    static const char *const names[] = {"x", "xs", "xz", "w", "ws", "wz", "ys", "yz"};
    tn_cl_expression(b, operands, names, 8, out[0], "%s(rint((xs * (float)(x - xz) %s ws * (float)(w - wz)) / ys + (float)yz))",
                     saturating(out[0]->dtype), query->op == &tn_op_qlinear_add ? "+" : "*");
    tn_cl_end(b, (size_t)tn_cl_count(out[0]), 1, 1);
}

static const tn_cl_row rows[] = {
    {.op = &tn_op_quantize_linear, .match = match_linear, .emit = emit_linear},
    {.op = &tn_op_dequantize_linear, .match = match_linear, .emit = emit_linear},
    {.op = &tn_op_dynamic_quantize_linear, .match = match_dynamic, .emit = emit_dynamic},
    {.op = &tn_op_qlinear_conv, .match = match_conv, .emit = emit_conv},
    {.op = &tn_op_conv_integer, .match = match_conv, .emit = emit_conv},
    {.op = &tn_op_matmul_integer, .match = match_matmul, .emit = emit_matmul},
    {.op = &tn_op_qlinear_add, .match = match_binary, .emit = emit_binary},
    {.op = &tn_op_qlinear_mul, .match = match_binary, .emit = emit_binary},
};

TN_CL_EXPORT(quant, rows);
