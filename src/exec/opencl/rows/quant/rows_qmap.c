// SPDX-License-Identifier: Apache-2.0
// Sums, products, tables, means, maxima, softmax and joins of 8-bit tensors, with the references' bits.
// Ownership: const data. Threads: any.
#include "exec/opencl/rows/quant/cl_requant.h"

#include "ops/op_facts.h"
#include "ops/op_rows.h"
#include "ops/quant/op_qlinear.h"
#include "ops/quant/op_qmap.h"
#include "ops/quant/op_qpair.h"
#include "ops/quant/op_qpool.h"

#include <math.h>

// ---- sums, differences, products ----

static bool match_pair(const tn_query *query, const char **why)
{
    if (!tn_cl_known(query, 1, 2, true, why) || !tn_cl_known(query, 4, 4, true, why)) {
        return false;
    }
    *why = "8-bit tensors with finite scales only";
    for (int i = 1; i < 7; i += i == 4 ? 2 : 3) {
        if (!isfinite(tn_cl_scale_at(query->in[i], 0))) {
            return false;
        }
    }
    return tn_cl_is_byte(query->in[0]);
}

static void factor_define(tn_cl_build *b, const char *name, const tn_requant *r)
{
    tn_cl_define(b, name, "(int2)(%d, %d)", (int)r->multiplier, (int)r->shift);
}

static void emit_pair(tn_cl_build *b, const tn_query *query, tn_cl_value *const *in, tn_cl_value *const *out)
{
    const tn_qlinear_attr *attr = query->attr;
    tn_cl_value *operands[2] = {in[0], in[3]};
    tn_requant_pair pair;
    tn_qpair_params(query->op, attr, query->in, query->n_in, out[0]->dtype, &pair);
    tn_cl_elementwise_begin(b, operands, 2, out[0]);
    tn_cl_requant_begin(b, attr, out[0]->dtype, pair.y_zero);
    tn_cl_define(b, "PAIR", "%d", query->op == &tn_op_qlinear_mul ? 2 : query->op == &tn_op_qlinear_sub);
    tn_cl_define(b, "A_ZERO", "(%d)", (int)pair.a_zero);
    tn_cl_define(b, "B_ZERO", "(%d)", (int)pair.b_zero);
    if (attr->rounding == TN_ROUND_FIXED_Q31) {
        factor_define(b, "FACTOR_A", &pair.a);
        factor_define(b, "FACTOR_B", &pair.b);
        factor_define(b, "FACTOR_Y", &pair.y);
    } else {
        tn_cl_define(b, "A_SCALE", "(%af)", (double)pair.a_scale);
        tn_cl_define(b, "B_SCALE", "(%af)", (double)pair.b_scale);
        tn_cl_define(b, "Y_SCALE", "(%af)", (double)pair.y_scale);
    }
    tn_cl_define(b, "program", "pair");
    tn_cl_end(b, (size_t)tn_cl_count(out[0]), 1, 1);
}

// ---- tables and joins ----

// Lines of `count` bytes through a table, to `offset` in lines of `pitch`.
static void map_step(tn_cl_build *b, tn_cl_mem *from, tn_cl_mem *table, tn_cl_mem *to, int64_t count, int64_t lines, int64_t offset, int64_t pitch)
{
    tn_cl_begin(b, "map_bytes");
    tn_cl_in(b, "uchar", "x", from);
    tn_cl_in(b, "uchar", "t", table);
    tn_cl_out(b, "uchar", "y", to);
    tn_cl_int(b, "offset", offset);
    tn_cl_int(b, "pitch", pitch);
    tn_cl_end(b, (size_t)count, (size_t)lines, 1);
}

static bool match_table(const tn_query *query, const char **why)
{
    *why = "only tables of 256 bytes";
    return tn_cl_is_byte(query->in[0]) && tn_tensor_count(query->in[1]) == 256;
}

static void emit_table(tn_cl_build *b, const tn_query *query, tn_cl_value *const *in, tn_cl_value *const *out)
{
    const int64_t count = tn_cl_count(out[0]);
    tn_cl_mem *from = tn_cl_plain(b, in[0]), *table = tn_cl_plain(b, in[1]);
    map_step(b, from, table, tn_cl_new_plain(b, out[0]), count, 1, 0, count);
    (void)query;
}

static bool match_join(const tn_query *query, const char **why)
{
    int axis;
    const tn_qconcat_attr *attr = query->attr;
    if (!tn_cl_known(query, 0, 2, true, why)) {
        return false;
    }
    for (int i = 2; i < query->n_in; i += 3) {
        if (!tn_cl_known(query, i + 1, 2, true, why)) {
            return false;
        }
    }
    return tn_axis(attr->axis, query->out[0]->shape.rank, &axis);
}

static void emit_join(tn_cl_build *b, const tn_query *query, tn_cl_value *const *in, tn_cl_value *const *out)
{
    const tn_qconcat_attr *attr = query->attr;
    const tn_shape *y = &out[0]->shape;
    const float y_scale = tn_cl_scale_at(query->in[0], 0);
    const int32_t y_zero = tn_cl_zero_at(query->in[1], 0);
    int axis = 0;
    (void)tn_axis(attr->axis, y->rank, &axis);
    const int64_t inner = tn_shape_span(y, axis + 1, y->rank), pitch = y->dims[axis] * inner, lines = tn_shape_span(y, 0, axis);
    int64_t offset = 0;
    tn_cl_mem *parts[TN_MAX_IN] = {NULL};
    for (int i = 2; i < query->n_in; i += 3) {
        parts[i] = tn_cl_plain(b, in[i]);
    }
    tn_cl_mem *to = tn_cl_new_plain(b, out[0]);
    for (int i = 2; i < query->n_in; i += 3) {
        const float x_scale = tn_cl_scale_at(query->in[i + 1], 0);
        const int32_t x_zero = tn_cl_zero_at(tn_cl_operand(query, i + 2), 0);
        const int64_t count = in[i]->shape.dims[axis] * inner;
        uint8_t table[256];
        // As the reference: a part with the result's scale and zero point keeps its bytes.
        for (int k = 0; k < 256; k++) {
            const uint8_t byte = (uint8_t)k;
            const float real = (float)(tn_dtype_load(out[0]->dtype, &byte, 0) - x_zero) * x_scale;
            table[k] = byte;
            if (x_scale != y_scale || x_zero != y_zero) {
                tn_dtype_store(out[0]->dtype, table, (size_t)k, rint((double)(real / y_scale)) + y_zero);
            }
        }
        map_step(b, parts[i], tn_cl_upload(b, table, sizeof table), to, count, lines, offset, pitch);
        offset += count;
    }
}

// ---- windows ----

static bool window_of(const tn_query *query, tn_window *w)
{
    if (!tn_pool_window(query->attr, &query->in[0]->shape, w) || w->rank < 1 || w->rank > 2) {
        return false;
    }
    if (w->rank == 1) {
        w->kernel[1] = w->kernel[0], w->stride[1] = w->stride[0], w->dilation[1] = w->dilation[0];
        w->pad_begin[1] = w->pad_begin[0], w->pad_end[1] = w->pad_end[0];
        w->kernel[0] = w->stride[0] = w->dilation[0] = 1;
        w->pad_begin[0] = w->pad_end[0] = 0;
    }
    for (int i = 0; i < 2; i++) {
        const int64_t far = 1 << 20;
        if (w->kernel[i] > 256 || w->kernel[i] * w->dilation[i] > far || w->stride[i] > far || w->pad_begin[i] > far || w->pad_end[i] > far) {
            return false;
        }
    }
    return true;
}

static bool match_pool(const tn_query *query, const char **why)
{
    tn_window w;
    const bool largest = query->op == &tn_op_max_pool;
    *why = "only 8-bit tensors, windows of one or two dims of usual sizes, no indices";
    if (!tn_cl_is_byte(query->in[0]) || !window_of(query, &w) || (query->n_out > 1 && query->out[1])) {
        return false;
    }
    return largest || tn_cl_known(query, 1, 4, true, why);
}

// The factors of a mean of 1 .. n elements; number 0 is not used.
static tn_cl_mem *mean_factors(tn_cl_build *b, const tn_query *query, const tn_qlinear_attr *attr, int64_t first, int64_t n)
{
    tn_requant *factors = tn_arena_array(&b->scratch, (size_t)(n - first + 1), sizeof *factors);
    if (!factors) {
        b->status = tn_fail_memory(b->diag, query->name, (size_t)n * sizeof *factors);
        return NULL;
    }
    for (int64_t i = first; i <= n; i++) {
        factors[i - first] = tn_requant_mean(attr->rounding, tn_cl_scale_at(query->in[1], 0), tn_cl_scale_at(query->in[3], 0), TN_MAX(i, 1));
    }
    return tn_cl_factors(b, factors, n - first + 1);
}

static void mean_args(tn_cl_build *b, const tn_query *query, const tn_qlinear_attr *attr, tn_cl_mem *factors)
{
    tn_cl_factor_arg(b, attr, factors);
    tn_cl_requant_begin(b, attr, query->out[0]->dtype, tn_cl_zero_at(tn_cl_operand(query, 4), 0));
    tn_cl_define(b, "X_ZERO", "(%d)", (int)tn_cl_zero_at(tn_cl_operand(query, 2), 0));
}

static void emit_pool(tn_cl_build *b, const tn_query *query, tn_cl_value *const *in, tn_cl_value *const *out)
{
    const bool largest = query->op == &tn_op_max_pool;
    const tn_shape *x = &in[0]->shape, *y = &out[0]->shape;
    tn_window w;
    (void)window_of(query, &w);
    const tn_qpool_attr *attr = query->attr;
    tn_cl_mem *factors = largest ? NULL : mean_factors(b, query, &attr->q, 0, w.kernel[0] * w.kernel[1]);
    tn_cl_mem *from = tn_cl_plain(b, in[0]), *to = tn_cl_new_plain(b, out[0]);
    tn_cl_begin(b, "pool_bytes");
    tn_cl_in(b, tn_cl_type(in[0]->dtype), "x", from);
    tn_cl_out(b, tn_cl_type(out[0]->dtype), "y", to);
    tn_cl_define(b, "LEAST", "(%d)", in[0]->dtype == TN_I8 ? INT8_MIN : 0);
    if (largest) {
        tn_cl_define(b, "MAX", "1");
        tn_cl_define(b, "X_ZERO", "0");
    } else {
        mean_args(b, query, &attr->q, factors);
    }
    if (!largest && attr->pool.count_include_pad) {
        tn_cl_define(b, "COUNT_PAD", "1");
    }
    const struct { const char *name; int64_t value; } defines[] = {
        {"KH", w.kernel[0]}, {"KW", w.kernel[1]}, {"STRIDE_Y", w.stride[0]}, {"STRIDE_X", w.stride[1]}, {"DIL_Y", w.dilation[0]},
        {"DIL_X", w.dilation[1]}, {"PAD_Y", w.pad_begin[0]}, {"PAD_X", w.pad_begin[1]}, {"END_Y", w.pad_end[0]}, {"END_X", w.pad_end[1]},
    };
    for (size_t i = 0; i < TN_COUNT(defines); i++) {
        tn_cl_define(b, defines[i].name, "(%lld)", (long long)defines[i].value);
    }
    const bool line = w.rank == 1;
    tn_cl_int(b, "h", line ? 1 : x->dims[2]);
    tn_cl_int(b, "w", x->dims[x->rank - 1]);
    tn_cl_end(b, (size_t)y->dims[y->rank - 1], (size_t)(line ? 1 : y->dims[2]), (size_t)(y->dims[0] * y->dims[1]));
}

static bool match_mean(const tn_query *query, const char **why)
{
    *why = "only 8-bit tensors";
    return tn_cl_is_byte(query->in[0]) && query->in[0]->shape.rank >= 2 && tn_cl_known(query, 1, 4, true, why);
}

static void emit_mean(tn_cl_build *b, const tn_query *query, tn_cl_value *const *in, tn_cl_value *const *out)
{
    const tn_qlinear_attr *attr = query->attr;
    const int64_t count = tn_shape_span(&in[0]->shape, 2, in[0]->shape.rank);
    const size_t limit = TN_MIN(b->cl->facts.max_group, (size_t)(b->cl->facts.is_cpu ? 8 : 64));
    size_t parts = 1;
    while (parts * 2 <= limit && (int64_t)parts * 2 < count) {
        parts *= 2;
    }
    tn_cl_mem *factors = mean_factors(b, query, attr, count, count);
    tn_cl_mem *from = tn_cl_plain(b, in[0]), *to = tn_cl_new_plain(b, out[0]);
    tn_cl_begin(b, "mean_bytes");
    tn_cl_in(b, tn_cl_type(in[0]->dtype), "x", from);
    tn_cl_out(b, tn_cl_type(out[0]->dtype), "y", to);
    mean_args(b, query, attr, factors);
    tn_cl_int(b, "count", count);
    tn_cl_local(b, "int", "sums", parts * sizeof(int32_t));
    tn_cl_define(b, "PARTS", "%zu", parts);
    tn_cl_group(b, parts, 1, 1);
    tn_cl_end(b, parts, (size_t)(in[0]->shape.dims[0] * in[0]->shape.dims[1]), 1);
}

// ---- softmax ----

static void emit_softmax(tn_cl_build *b, const tn_query *query, tn_cl_value *const *in, tn_cl_value *const *out)
{
    const tn_qsoftmax_attr *attr = query->attr;
    const tn_shape *shape = &in[0]->shape;
    uint32_t table[256], inverse;
    int axis = 0;
    tn_softmax_table(tn_cl_scale_at(query->in[1], 0), tn_cl_scale_at(query->in[3], 0), table, &inverse);
    (void)tn_axis(attr->axis, shape->rank, &axis);
    const int64_t n = shape->rank ? shape->dims[axis] : 1, inner = tn_shape_span(shape, axis + 1, shape->rank);
    tn_cl_mem *from = tn_cl_plain(b, in[0]), *exps = tn_cl_upload(b, table, sizeof table), *to = tn_cl_new_plain(b, out[0]);
    tn_qlinear_attr rounding = attr->q;
    rounding.rounding = TN_ROUND_FLOAT_RNE;     // it has no factor
    tn_cl_begin(b, "softmax_bytes");
    tn_cl_in(b, tn_cl_type(in[0]->dtype), "x", from);
    tn_cl_in(b, "uint", "t", exps);
    tn_cl_out(b, tn_cl_type(out[0]->dtype), "y", to);
    tn_cl_requant_begin(b, &rounding, out[0]->dtype, tn_cl_zero_at(tn_cl_operand(query, 4), 0));
    tn_cl_define(b, "INVERSE", "%uu", inverse);
    tn_cl_int(b, "n", n);
    tn_cl_int(b, "inner", inner);
    tn_cl_end(b, (size_t)(tn_cl_count(in[0]) / n), 1, 1);
}

static bool match_softmax(const tn_query *query, const char **why)
{
    *why = "only 8-bit tensors";
    return tn_cl_is_byte(query->in[0]) && tn_cl_known(query, 1, 4, true, why);
}

static const tn_cl_row rows[] = {
    {.op = &tn_op_qlinear_add, .match = match_pair, .emit = emit_pair},
    {.op = &tn_op_qlinear_sub, .match = match_pair, .emit = emit_pair},
    {.op = &tn_op_qlinear_mul, .match = match_pair, .emit = emit_pair},
    {.op = &tn_op_qlinear_table, .match = match_table, .emit = emit_table},
    {.op = &tn_op_qlinear_concat, .match = match_join, .emit = emit_join},
    {.op = &tn_op_qlinear_average_pool, .match = match_pool, .emit = emit_pool},
    {.op = &tn_op_max_pool, .match = match_pool, .emit = emit_pool},
    {.op = &tn_op_qlinear_global_average_pool, .match = match_mean, .emit = emit_mean},
    {.op = &tn_op_qlinear_softmax, .match = match_softmax, .emit = emit_softmax},
};

TN_CL_EXPORT(qmap, rows);
