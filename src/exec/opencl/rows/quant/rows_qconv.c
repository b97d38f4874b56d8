// SPDX-License-Identifier: Apache-2.0
// Convolutions and products of 8-bit tensors: sums are exact in 32 bits and requantised by the rules of base/requant.h, so results have the
// reference's bits.
// Ownership: const data. Threads: any.
#include "exec/opencl/rows/quant/cl_requant.h"

#include "ops/nn/nn_reference.h"
#include "ops/op_facts.h"
#include "ops/op_rows.h"
#include "ops/quant/op_qlinear.h"

#include <string.h>

static bool single(const tn_tensor *tensor) { return !tensor || tn_tensor_count(tensor) == 1; }

// Operand numbers of conv_integer and matmul_integer (a, b, a_zero?, b_zero?) and of the qlinear forms.
typedef struct places {
    int b, a_zero, b_zero, a_scale, b_scale, y_scale, y_zero, bias;
} places;

static places places_of(const tn_query *query)
{
    const bool integer = query->op == &tn_op_conv_integer || query->op == &tn_op_matmul_integer;
    return integer ? (places){.b = 1, .a_zero = 2, .b_zero = 3} : (places){3, 2, 5, 1, 4, 6, 7, 8};
}

// A zero point as a macro over the argument `name`, or 0; one for each channel is read at [index].
static void zero_arg(tn_cl_build *b, const char *macro, const char *name, const char *index, tn_cl_value *value, tn_cl_mem *mem)
{
    if (mem) {
        tn_cl_in(b, tn_cl_type(value->dtype), name, mem);
        tn_cl_define(b, macro, "%s[%s]", name, tn_cl_count(value) == 1 ? "0" : index);
    } else {
        tn_cl_define(b, macro, "0");
    }
}

// Factor and bias of each channel (column) of a requantised result; in the step that is begun.
typedef struct epilogue {
    const tn_qlinear_attr *attr;
    tn_cl_mem *factors, *bias;
    tn_dtype dtype;
    int32_t y_zero;
} epilogue;

static epilogue epilogue_of(tn_cl_build *b, const tn_query *query, const tn_qlinear_attr *attr, int64_t channels, tn_cl_value *bias)
{
    epilogue e = {.attr = attr, .dtype = query->out[0]->dtype, .y_zero = tn_cl_zero_at(tn_cl_operand(query, 7), 0)};
    tn_requant *factors = tn_arena_array(&b->scratch, (size_t)channels, sizeof *factors);
    if (!factors) {
        b->status = tn_fail_memory(b->diag, query->name, (size_t)channels * sizeof *factors);
        return e;
    }
    for (int64_t i = 0; i < channels; i++) {
        factors[i] = tn_requant_factor(attr->rounding, tn_cl_scale_at(query->in[1], 0), tn_cl_scale_at(query->in[4], i),
                                       tn_cl_scale_at(query->in[6], 0));
    }
    e.factors = tn_cl_factors(b, factors, channels);
    e.bias = bias ? tn_cl_plain(b, bias) : NULL;
    return e;
}

static void epilogue_args(tn_cl_build *b, const epilogue *e, bool bias)
{
    tn_cl_factor_arg(b, e->attr, e->factors);
    if (bias && e->bias) {
        tn_cl_in(b, "int", "bias", e->bias);
        tn_cl_define(b, "BIAS", "1");
    }
    tn_cl_requant_begin(b, e->attr, e->dtype, e->y_zero);
}

// ---- convolution ----

static bool match_conv(const tn_query *query, const char **why)
{
    const places at = places_of(query);
    const tn_tensor *w_zero = tn_cl_operand(query, at.b_zero);
    tn_window window;
    *why = "only 8-bit pictures of rank 4";
    if (!tn_cl_is_byte(query->in[0]) || !tn_cl_is_byte(query->in[at.b]) || query->in[0]->shape.rank != 4 || !single(tn_cl_operand(query, at.a_zero)) ||
        (w_zero && w_zero->dtype != query->in[at.b]->dtype)) {
        return false;
    }
    if (at.a_scale && (!tn_cl_known(query, 1, 2, true, why) || !tn_cl_known(query, 4, 2, false, why) || !tn_cl_known(query, 6, 2, true, why))) {
        return false;
    }
    return tn_conv_window(query->attr, &query->in[0]->shape, &query->in[at.b]->shape, &window) && window.rank == 2;
}

static void window_args(tn_cl_build *b, const tn_window *w, const int64_t *x, const int64_t *y)
{
    const struct { const char *name; int64_t value; } numbers[] = {{"h", x[2]}, {"w", x[3]}, {"oh", y[2]}, {"ow", y[3]}}, defines[] = {
        {"KH", w->kernel[0]}, {"KW", w->kernel[1]}, {"STRIDE_Y", w->stride[0]}, {"STRIDE_X", w->stride[1]}, {"DIL_Y", w->dilation[0]},
        {"DIL_X", w->dilation[1]}, {"PAD_Y", w->pad_begin[0]}, {"PAD_X", w->pad_begin[1]},
    };
    for (size_t i = 0; i < TN_COUNT(numbers); i++) {
        tn_cl_int(b, numbers[i].name, numbers[i].value);
    }
    for (size_t i = 0; i < TN_COUNT(defines); i++) {
        tn_cl_define(b, defines[i].name, "(%lld)", (long long)defines[i].value);
    }
}

// Sizes of the kernels over words of four channels.
typedef struct words {
    int64_t out, in, taps;            // output channels; input channels of one group
    int64_t blocks, group_blocks;     // words of all, of one group's input channels
    bool depthwise;                   // one input channel to each output
} words;

typedef enum word_form { BYTES_BY_OUTPUT, BYTES_BY_INPUT, FLOATS, INTS } word_form;   // of weights in conv_bytes (DOT, else, FLOATS), depthwise

#define CHUNK 128                     // blocks of four products of bytes whose sum is below 2^24

static void put_weight(void *f, word_form form, const words *s, int64_t o, int64_t c, int64_t t, int32_t v)
{
    const int64_t block = ((o / 4) * s->taps + t) * s->group_blocks + c / 4;
    if (form == FLOATS) {
        ((float *)f)[(block * 4 + c % 4) * 4 + o % 4] = (float)v;
    } else if (form == INTS) {
        ((int32_t *)f)[((o / 4) * s->taps + t) * 4 + o % 4] = v;
    } else {
        const int64_t word = form == BYTES_BY_INPUT ? o % 4 : c % 4, byte = form == BYTES_BY_INPUT ? c % 4 : o % 4;
        ((int8_t *)f)[(block * 4 + word) * 4 + byte] = (int8_t)v;
    }
}

// The weights less their zero points, and the sum that each channel starts with. false: a weight does not fit in 8 bits then.
static bool fill_words(const tn_query *query, const words *s, word_form form, void *f, int32_t *start)
{
    const tn_tensor *w = query->in[3], *w_zero = tn_cl_operand(query, 5), *bias = tn_cl_operand(query, 8);
    const int32_t x_zero = tn_cl_zero_at(tn_cl_operand(query, 2), 0);
    for (int64_t o = 0; o < s->out; o++) {
        const int32_t zero = tn_cl_zero_at(w_zero, o);
        uint32_t sum = bias ? (uint32_t)(int32_t)tn_element(bias, o) : 0;
        for (int64_t i = 0; i < s->in * s->taps; i++) {
            const int32_t v = (int32_t)tn_element(w, o * s->in * s->taps + i) - zero;
            if (v < INT8_MIN || v > INT8_MAX) {
                return false;
            }
            put_weight(f, form, s, o, i / s->taps, i % s->taps, v);
            sum -= (uint32_t)(x_zero * v);     // modulo 2^32, as sums are
        }
        start[o] = (int32_t)sum;
    }
    return true;
}

static tn_cl_mem *packed_of(tn_cl_build *b, tn_cl_value *x, int64_t blocks)
{
    const int64_t *d = x->shape.dims;
    tn_cl_mem *from = tn_cl_plain(b, x), *to = tn_cl_take_plain(b, (size_t)(d[0] * blocks * d[2] * d[3]) * 4);
    tn_cl_begin(b, "pack_bytes");
    tn_cl_in(b, "uchar", "x", from);
    tn_cl_out(b, "uint", "y", to);
    tn_cl_int(b, "channels", d[1]);
    tn_cl_end(b, (size_t)(d[2] * d[3]), (size_t)blocks, (size_t)d[0]);
    return to;
}

static void word_args(tn_cl_build *b, const tn_query *query, const words *s, const tn_window *window, const int64_t *x, const int64_t *y)
{
    window_args(b, window, x, y);
    tn_cl_int(b, "blocks", s->blocks);
    tn_cl_int(b, "channels", y[1]);
    tn_cl_define(b, "OUTER_WORD", "0x%xu", (unsigned)(uint8_t)tn_cl_zero_at(tn_cl_operand(query, 2), 0) * 0x01010101u);
    if (query->in[0]->dtype == TN_I8) {
        tn_cl_define(b, "SIGNED", "1");
    }
}

// What is of conv_bytes alone: its tile, and how weights lie.
static void tile_args(tn_cl_build *b, const words *s, word_form form, int64_t group, int64_t pixels)
{
    const int64_t out_blocks = TN_CEIL_DIV(s->out, 4);
    const int p = pixels * out_blocks >= 65536 ? 4 : pixels * out_blocks >= 16384 ? 2 : 1;
    const int ob = form == FLOATS && group == 1 && out_blocks > 1 ? 2 : 1;
    tn_cl_int(b, "pixels", pixels);
    tn_cl_int(b, "group_blocks", s->group_blocks);
    tn_cl_int(b, "group_out", s->out / group);
    tn_cl_int(b, "out_blocks", out_blocks);
    tn_cl_define(b, "P", "%d", p);
    tn_cl_define(b, "OB", "%d", ob);
    tn_cl_define(b, "CHUNK", "%d", form == FLOATS ? CHUNK : INT32_MAX / 2);
    if (form != BYTES_BY_OUTPUT) {
        tn_cl_define(b, form == FLOATS ? "FLOATS" : "DOT", "1");
    }
    tn_cl_end(b, (size_t)TN_CEIL_DIV(pixels, p), (size_t)TN_CEIL_DIV(out_blocks, ob), 1);
}

// The convolution over words of four channels; false: it does not suit the layer.
static bool emit_words(tn_cl_build *b, const tn_query *query, tn_cl_value *const *in, tn_cl_value *out, const tn_window *window)
{
    const tn_qconv_attr *attr = query->attr;
    const int64_t *x = in[0]->shape.dims, *y = out->shape.dims, group = attr->conv.group;
    const words s = {y[1], x[1] / group, window->kernel[0] * window->kernel[1], TN_CEIL_DIV(x[1], 4), TN_CEIL_DIV(x[1] / group, 4),
                     group > 1 && group == x[1] && group == y[1]};
    const word_form form = s.depthwise ? INTS : b->cl->facts.dot ? BYTES_BY_INPUT : b->cl->float_sums ? FLOATS : BYTES_BY_OUTPUT;
    const int64_t out_blocks = TN_CEIL_DIV(y[1], 4), bytes = out_blocks * s.taps * s.group_blocks * (form == FLOATS ? 64 : 16);
    const bool whole = s.depthwise || group == 1 || (s.in % 4 == 0 && y[1] / group % 4 == 0), bias_known = !tn_cl_operand(query, 8) || query->in[8]->data;
    if (!whole || !query->in[3]->data || !bias_known || bytes > INT32_MAX / 8) {
        return false;
    }
    void *f = tn_arena_array(&b->scratch, (size_t)bytes / 4, 4);
    int32_t *start = tn_arena_array(&b->scratch, (size_t)out_blocks * 4, sizeof *start);
    if (!f || !start) {
        b->status = tn_fail_memory(b->diag, query->name, (size_t)bytes);
        return true;
    }
    if (!fill_words(query, &s, form, f, start)) {
        return false;
    }
    const epilogue e = epilogue_of(b, query, &attr->q, y[1], NULL);
    tn_cl_mem *x4 = packed_of(b, in[0], s.blocks), *weights = tn_cl_upload(b, f, (size_t)bytes);
    tn_cl_mem *starts = tn_cl_upload(b, start, (size_t)out_blocks * 4 * sizeof *start), *to = tn_cl_new_plain(b, out);
    tn_cl_begin(b, s.depthwise ? "conv_bytes_depthwise" : "conv_bytes");
    tn_cl_in(b, "uint", "x4", x4);
    tn_cl_in(b, s.depthwise ? "int" : form == FLOATS ? "float" : "uint", s.depthwise ? "f" : "f4", weights);
    tn_cl_in(b, "int", "start", starts);
    tn_cl_out(b, tn_cl_type(out->dtype), "y", to);
    epilogue_args(b, &e, false);
    word_args(b, query, &s, window, x, y);
    if (s.depthwise) {
        tn_cl_end(b, (size_t)y[3], (size_t)out_blocks, (size_t)(y[0] * y[2]));
    } else {
        tile_args(b, &s, form, group, y[0] * y[2] * y[3]);
    }
    return true;
}

static void emit_conv(tn_cl_build *b, const tn_query *query, tn_cl_value *const *in, tn_cl_value *const *out)
{
    const places at = places_of(query);
    const tn_conv_attr *attr = query->attr;
    const int64_t *x = in[0]->shape.dims, *y = out[0]->shape.dims;
    const bool integer = !at.a_scale;
    tn_window w;
    epilogue e = {.attr = NULL};
    (void)tn_conv_window(attr, &in[0]->shape, &in[at.b]->shape, &w);
    if (!integer && emit_words(b, query, in, out[0], &w)) {
        return;
    }
    if (!integer) {
        e = epilogue_of(b, query, &((const tn_qconv_attr *)query->attr)->q, y[1], query->n_in > 8 ? in[8] : NULL);
    }
    tn_cl_value *zeros[2] = {at.a_zero < query->n_in ? in[at.a_zero] : NULL, at.b_zero < query->n_in ? in[at.b_zero] : NULL};
    tn_cl_mem *zero[2] = {zeros[0] ? tn_cl_plain(b, zeros[0]) : NULL, zeros[1] ? tn_cl_plain(b, zeros[1]) : NULL};
    tn_cl_mem *from = tn_cl_plain(b, in[0]), *filter = tn_cl_plain(b, in[at.b]), *to = tn_cl_new_plain(b, out[0]);
    tn_cl_begin(b, "conv_integer");
    tn_cl_in(b, tn_cl_type(in[0]->dtype), "x", from);
    tn_cl_in(b, tn_cl_type(in[at.b]->dtype), "f", filter);
    zero_arg(b, "XZ", "x_zero_at", "0", zeros[0], zero[0]);
    zero_arg(b, "FZ", "f_zero_at", "o", zeros[1], zero[1]);
    tn_cl_out(b, tn_cl_type(out[0]->dtype), "y", to);
    if (integer) {
        tn_cl_define(b, "INTEGER", "1");
    } else {
        epilogue_args(b, &e, true);
    }
    window_args(b, &w, x, y);
    tn_cl_int(b, "channels", x[1]);
    tn_cl_int(b, "group_in", x[1] / attr->group);
    tn_cl_int(b, "group_out", y[1] / attr->group);
    tn_cl_end(b, (size_t)(y[2] * y[3]), (size_t)y[1], (size_t)y[0]);
}

// ---- products ----

static bool match_matmul(const tn_query *query, const char **why)
{
    const places at = places_of(query);
    const tn_tensor *b = query->in[at.b], *zero = tn_cl_operand(query, at.b_zero), *scale = at.b_scale ? query->in[at.b_scale] : NULL;
    *why = "only 8-bit matrices; one zero point and scale for a, and for b or each of its columns";
    if (!tn_cl_is_byte(query->in[0]) || !tn_cl_is_byte(b) || !single(tn_cl_operand(query, at.a_zero)) || (!single(zero) && zero->shape.rank != 1) ||
        (scale && !single(scale) && scale->shape.rank != 1)) {
        return false;
    }
    return !at.a_scale || (query->in[1]->dtype == TN_F32 && tn_cl_is_byte(query->out[0]) && tn_cl_known(query, 1, 2, true, why) &&
                           tn_cl_known(query, 4, 2, false, why) && tn_cl_known(query, 6, 2, true, why));
}

static tn_cl_mem *offsets(tn_cl_build *b, const tn_product *p, const tn_shape *stack)
{
    int32_t *table = tn_arena_array(&b->scratch, (size_t)p->batch + 1, sizeof *table);
    if (!table) {
        b->status = tn_fail_memory(b->diag, b->node->name, (size_t)p->batch * sizeof *table);
        return NULL;
    }
    for (int64_t i = 0; i < p->batch; i++) {
        table[i] = (int32_t)tn_product_offset(p, stack, i);
    }
    return tn_cl_upload(b, table, (size_t)p->batch * sizeof *table);
}

static void emit_matmul(tn_cl_build *b, const tn_query *query, tn_cl_value *const *in, tn_cl_value *const *out)
{
    const places at = places_of(query);
    tn_product p = {.call = NULL};
    tn_tensor y = *query->out[0];
    epilogue e = {.attr = NULL};
    tn_product_set(&p, query->in[0], false, NULL, query->in[at.b], false, NULL, &y);
    if (at.a_scale) {
        e = epilogue_of(b, query, &((const tn_qmatmul_attr *)query->attr)->q, p.n, query->n_in > 8 ? in[8] : NULL);
    }
    tn_cl_value *zeros[2] = {at.a_zero < query->n_in ? in[at.a_zero] : NULL, at.b_zero < query->n_in ? in[at.b_zero] : NULL};
    tn_cl_mem *zero[2] = {zeros[0] ? tn_cl_plain(b, zeros[0]) : NULL, zeros[1] ? tn_cl_plain(b, zeros[1]) : NULL};
    tn_cl_mem *a = tn_cl_plain(b, in[0]), *right = tn_cl_plain(b, in[at.b]), *to = tn_cl_new_plain(b, out[0]);
    tn_cl_mem *a_at = offsets(b, &p, &p.a.stack), *b_at = offsets(b, &p, &p.b.stack);
    tn_cl_begin(b, "matmul_integer");
    tn_cl_in(b, tn_cl_type(in[0]->dtype), "a", a);
    tn_cl_in(b, tn_cl_type(in[at.b]->dtype), "b", right);
    zero_arg(b, "AZ", "a_zero", "0", zeros[0], zero[0]);
    zero_arg(b, "BZ", "b_zero", "col", zeros[1], zero[1]);
    tn_cl_in(b, "int", "a_at", a_at);
    tn_cl_in(b, "int", "b_at", b_at);
    tn_cl_out(b, tn_cl_type(out[0]->dtype), "y", to);
    if (at.a_scale) {
        epilogue_args(b, &e, true);
    } else {
        tn_cl_define(b, "INTEGER", "1");
    }
    tn_cl_int(b, "k", p.k);
    tn_cl_end(b, (size_t)p.n, (size_t)p.m, (size_t)p.batch);
}

static const tn_cl_row rows[] = {
    {.op = &tn_op_qlinear_conv, .match = match_conv, .emit = emit_conv},
    {.op = &tn_op_conv_integer, .match = match_conv, .emit = emit_conv},
    {.op = &tn_op_matmul_integer, .match = match_matmul, .emit = emit_matmul},
    {.op = &tn_op_qlinear_matmul, .match = match_matmul, .emit = emit_matmul},
};

TN_CL_EXPORT(qconv, rows);
