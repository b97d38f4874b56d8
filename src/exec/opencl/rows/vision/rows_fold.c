// SPDX-License-Identifier: Apache-2.0
// Pictures from blocks, from maxima and their places, and from taps that move: col2im, max_unpool, deform_conv, on plain tensors.
// Ownership: const data. Threads: any.
#include "exec/opencl/rows/cl_rows.h"

#include "ops/nn/op_pool.h"
#include "ops/vision/op_deform.h"
#include "ops/vision/op_fold.h"

#define SMALL (1 << 20)      // numbers of windows that positions are computed from in 32 bits

// ---- col2im ----

typedef struct fold {
    int rank;                 // spatial dims
    int64_t block[TN_MAX_RANK], stride[TN_MAX_RANK], dilation[TN_MAX_RANK], pad[TN_MAX_RANK], blocks[TN_MAX_RANK], taps;
} fold;

// false: the blocks are not known, or too large. The operator has checked that its lists fit.
static bool fold_of(const tn_query *query, fold *f)
{
    const tn_col2im_attr *attr = query->attr;
    const tn_shape *y = &query->out[0]->shape;
    f->rank = y->rank - 2;
    f->taps = 1;
    if (!query->in[2]->data || f->rank < 1 || tn_tensor_count(query->in[2]) != f->rank) {
        return false;
    }
    for (int d = 0; d < f->rank; d++) {
        f->block[d] = ((const int64_t *)query->in[2]->data)[d];
        f->stride[d] = attr->strides.set ? attr->strides.v[d] : 1;
        f->dilation[d] = attr->dilations.set ? attr->dilations.v[d] : 1;
        f->pad[d] = attr->pads.set ? attr->pads.v[d] : 0;
        const int64_t end = attr->pads.set ? attr->pads.v[f->rank + d] : 0;
        if (f->block[d] < 1 || f->block[d] > SMALL || f->stride[d] < 1 || f->stride[d] > SMALL || f->dilation[d] > SMALL || f->pad[d] > SMALL) {
            return false;
        }
        f->blocks[d] = (y->dims[2 + d] + f->pad[d] + end - f->dilation[d] * (f->block[d] - 1) - 1) / f->stride[d] + 1;
        f->taps *= f->block[d];
    }
    return f->taps <= SMALL && f->dilation[0] * f->block[0] <= SMALL;
}

static bool match_fold(const tn_query *query, const char **why)
{
    fold f = {0};
    *why = "only float32 has a kernel";
    if (query->in[0]->dtype != TN_F32) {
        return false;
    }
    *why = "blocks that are not constant, or of unusual sizes";
    return fold_of(query, &f);
}

static void emit_fold(tn_cl_build *b, const tn_query *query, tn_cl_value *const *in, tn_cl_value *const *out)
{
    const tn_shape *y = &out[0]->shape;
    fold f = {0};
    (void)fold_of(query, &f);
    tn_cl_mem *from = tn_cl_plain(b, in[0]), *to = tn_cl_new_plain(b, out[0]);
    tn_cl_begin(b, "col2im");
    tn_cl_in(b, "float", "x", from);
    tn_cl_out(b, "float", "y", to);
    const struct { const char *name; const int64_t *v; } lists[] = {
        {"IMAGE", y->dims + 2}, {"BLOCK", f.block}, {"STRIDE", f.stride}, {"DILATION", f.dilation}, {"PAD", f.pad}, {"BLOCKS", f.blocks},
    };
    for (size_t i = 0; i < TN_COUNT(lists); i++) {
        tn_cl_write_list(b, lists[i].name, lists[i].v, f.rank);
    }
    tn_cl_define(b, "SPATIAL", "%d", f.rank);
    tn_cl_define(b, "TAPS", "%lld", (long long)f.taps);
    tn_cl_define(b, "COLUMNS", "%lld", (long long)in[0]->shape.dims[2]);
    tn_cl_end(b, (size_t)tn_shape_span(y, 2, y->rank), (size_t)(y->dims[0] * y->dims[1]), 1);
}

// ---- max_unpool ----

static bool match_unpool(const tn_query *query, const char **why)
{
    tn_shape shape;
    int64_t room;
    *why = "elements or places of this type";
    if (!tn_cl_type(query->in[0]->dtype) || query->in[1]->dtype != TN_I64) {
        return false;
    }
    *why = "an output_shape smaller than the unpooled one";
    if (tn_unpool_shape(query->attr, &query->in[0]->shape, &shape) || !tn_shape_count(&shape, &room) || room >= INT32_MAX) {
        return false;
    }
    bool fits = true;
    for (int d = 0; d < shape.rank; d++) {
        fits = fits && query->out[0]->shape.dims[d] >= shape.dims[d];
    }
    return fits;
}

static void emit_unpool(tn_cl_build *b, const tn_query *query, tn_cl_value *const *in, tn_cl_value *const *out)
{
    const char *type = tn_cl_bits_type(in[0]->dtype);
    const size_t count = (size_t)tn_cl_count(out[0]);
    tn_shape shape;
    (void)tn_unpool_shape(query->attr, &in[0]->shape, &shape);
    tn_cl_mem *from = tn_cl_plain(b, in[0]), *places = tn_cl_plain(b, in[1]), *to = tn_cl_new_plain(b, out[0]);
    tn_cl_mem *order = tn_cl_take_plain(b, count * sizeof(cl_int)), *bad = tn_cl_flag(b);
    tn_cl_begin(b, "unpool");
    tn_cl_out(b, "int", "order", order);
    tn_cl_define(b, "CLEAR", "1");
    tn_cl_end(b, count, 1, 1);
    tn_cl_begin(b, "unpool_order");
    tn_cl_in(b, "long", "places", places);
    tn_cl_out(b, "int", "order", order);
    tn_cl_out(b, "int", "bad", bad);
    tn_cl_write_list(b, "UNPOOLED", shape.dims, shape.rank);
    tn_cl_write_list(b, "SIDES", out[0]->shape.dims, shape.rank);
    tn_cl_define(b, "RANK", "%d", shape.rank);
    tn_cl_define(b, "ROOM", "%lld", (long long)tn_shape_span(&shape, 0, shape.rank));
    tn_cl_end(b, (size_t)tn_cl_count(in[0]), 1, 1);
    tn_cl_begin(b, "unpool");
    tn_cl_in(b, type, "x", from);
    tn_cl_in(b, "int", "order", order);
    tn_cl_out(b, type, "y", to);
    tn_cl_end(b, count, 1, 1);
}

// ---- deform_conv ----

enum { X, W, OFFSET, BIAS, MASK, OUT = 8 };

static bool deform_window(const tn_query *query, tn_window *w)
{
    const tn_deform_conv_attr *attr = query->attr;
    const tn_conv_attr conv = {.kernel = attr->kernel, .strides = attr->strides, .pads = attr->pads, .dilations = attr->dilations, .group = attr->group};
    bool small = tn_conv_window(&conv, &query->in[X]->shape, &query->in[W]->shape, w);
    for (int d = 0; d < 2 && small; d++) {
        small = w->kernel[d] * w->dilation[d] <= SMALL && w->stride[d] <= SMALL && w->pad_begin[d] <= SMALL;
    }
    return small;
}

static bool match_deform(const tn_query *query, const char **why)
{
    tn_window w;
    if (!tn_cl_all_f32(query, why)) {
        return false;
    }
    *why = "a window of unusual size";
    return deform_window(query, &w);
}

static void emit_deform(tn_cl_build *b, const tn_query *query, tn_cl_value *const *in, tn_cl_value *const *out)
{
    static const char *const names[] = {"x", "f", "offset", "bias", "mask"};
    const tn_deform_conv_attr *attr = query->attr;
    const tn_shape *x = &in[X]->shape, *y = &out[0]->shape;
    tn_cl_mem *mems[5] = {NULL};
    tn_window w;
    (void)deform_window(query, &w);
    for (int i = 0; i < query->n_in; i++) {
        mems[i] = in[i] ? tn_cl_plain(b, in[i]) : NULL;
    }
    tn_cl_mem *to = tn_cl_new_plain(b, out[0]);
    tn_cl_begin(b, "deform_conv");
    for (int i = 0; i < query->n_in; i++) {
        if (in[i]) {
            tn_cl_in(b, "float", names[i], mems[i]);
        }
    }
    tn_cl_out(b, "float", "y", to);
    const struct { const char *name; int64_t value; } numbers[] = {
        {"h", x->dims[2]}, {"w", x->dims[3]}, {"ow", y->dims[3]}, {"channels", x->dims[1]}, {"outputs", y->dims[1]}, {"group_in", x->dims[1] / attr->group},
        {"group_out", y->dims[1] / attr->group}, {"members", x->dims[1] / attr->offset_group},
    }, defines[] = {
        {"KH", w.kernel[0]}, {"KW", w.kernel[1]}, {"STRIDE_Y", w.stride[0]}, {"STRIDE_X", w.stride[1]}, {"DIL_Y", w.dilation[0]}, {"DIL_X", w.dilation[1]},
        {"PAD_Y", w.pad_begin[0]}, {"PAD_X", w.pad_begin[1]}, {"OFFSET_GROUPS", attr->offset_group}, {"OUT", OUT},
    };
    for (size_t i = 0; i < TN_COUNT(numbers); i++) {
        tn_cl_int(b, numbers[i].name, numbers[i].value);
    }
    for (size_t i = 0; i < TN_COUNT(defines); i++) {
        tn_cl_define(b, defines[i].name, "(%lld)", (long long)defines[i].value);
    }
    tn_cl_define(b, "MASK_AT(i)", "%s", query->n_in > MASK && in[MASK] ? "mask[i]" : "1.0f");
    tn_cl_define(b, "BIAS_AT(i)", "%s", query->n_in > BIAS && in[BIAS] ? "bias[i]" : "0.0f");
    tn_cl_end(b, (size_t)(y->dims[2] * y->dims[3]), (size_t)(attr->group * TN_CEIL_DIV(y->dims[1] / attr->group, OUT)), (size_t)y->dims[0]);
}

static const tn_cl_row rows[] = {
    {.op = &tn_op_col2im, .match = match_fold, .emit = emit_fold},
    {.op = &tn_op_max_unpool, .match = match_unpool, .emit = emit_unpool},
    {.op = &tn_op_deform_conv, .match = match_deform, .emit = emit_deform},
};

TN_CL_EXPORT(fold, rows);
