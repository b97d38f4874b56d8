// SPDX-License-Identifier: Apache-2.0
// Convolution, transposed convolution and pooling over plain tensors of one to three spatial dims: what grids of pictures do not hold, weights that
// are computed in the run, places of maxima, and norms. Behind the rows on grids, so these see only what those refuse.
// Ownership: const data. Threads: any.
#include "exec/opencl/rows/cl_rows.h"

#include "ops/nn/op_conv.h"
#include "ops/nn/op_pool.h"

// Positions are computed in 32 bits on the device.
static bool usual(const tn_window *w)
{
    const int64_t far = 1 << 20;
    for (int i = 0; i < w->rank; i++) {
        if (w->kernel[i] > 4096 || w->stride[i] > far || w->dilation[i] > far || w->pad_begin[i] > far || w->pad_begin[i] < -far ||
            w->pad_end[i] > far || w->pad_end[i] < -far || w->kernel[i] * w->dilation[i] > far) {
            return false;
        }
    }
    return true;
}

// The window in three dims.
static bool conv_window(const tn_query *query, tn_window *w)
{
    const tn_shape *x = &query->in[0]->shape, *f = &query->in[1]->shape;
    if (!(query->op == &tn_op_deconv ? tn_deconv_window(query->attr, x, f, w) : tn_conv_window(query->attr, x, f, w)) || !usual(w)) {
        return false;
    }
    tn_window_widen(w);
    return true;
}

static bool match_conv(const tn_query *query, const char **why)
{
    tn_window w;
    if (!tn_cl_all_f32(query, why)) {
        return false;
    }
    *why = "windows of unusual sizes";
    return conv_window(query, &w);
}

static void window_args(tn_cl_build *b, const tn_window *w)
{
    static const char *const numbers[4][3] = {{"KD", "KH", "KW"}, {"STRIDE_Z", "STRIDE_Y", "STRIDE_X"}, {"DIL_Z", "DIL_Y", "DIL_X"},
                                              {"PAD_Z", "PAD_Y", "PAD_X"}};
    static const char *const sides[2][3] = {{"d", "h", "w"}, {"od", "oh", "ow"}};
    for (int i = 0; i < 3; i++) {
        const int64_t v[4] = {w->kernel[i], w->stride[i], w->dilation[i], w->pad_begin[i]};
        for (int k = 0; k < 4; k++) {
            tn_cl_define(b, numbers[k][i], "(%lld)", (long long)v[k]);
        }
        tn_cl_int(b, sides[0][i], w->in[i]);
        tn_cl_int(b, sides[1][i], w->out[i]);
    }
}

static void emit_conv(tn_cl_build *b, const tn_query *query, tn_cl_value *const *in, tn_cl_value *const *out)
{
    const bool turned = query->op == &tn_op_deconv;
    const tn_conv_attr *conv = query->attr;
    const tn_deconv_attr *deconv = query->attr;
    const int64_t group = turned ? deconv->group : conv->group, channels = in[0]->shape.dims[1], results = out[0]->shape.dims[1];
    tn_cl_mem *mems[4] = {NULL};
    tn_window w;
    (void)conv_window(query, &w);
    for (int i = 0; i < query->n_in && i < 4; i++) {
        mems[i] = in[i] ? tn_cl_plain(b, in[i]) : NULL;
    }
    tn_cl_mem *to = tn_cl_new_plain(b, out[0]);
    const int lanes = results / group % 4 == 0 ? 4 : 1;      // results of one group that an item makes
    tn_cl_begin(b, "conv_volume");
    tn_cl_in(b, "float", "x", mems[0]);
    tn_cl_in(b, "float", "f", mems[1]);
    tn_cl_plain_result(b, mems[2], mems[3], turned ? &deconv->act : &conv->act);
    tn_cl_out(b, "float", "y", to);
    window_args(b, &w);
    tn_cl_int(b, "channels", channels);
    tn_cl_int(b, "results", results);
    tn_cl_int(b, "group_in", channels / group);
    tn_cl_int(b, "group_out", results / group);
    tn_cl_define(b, "LANES", "%d", lanes);
    if (turned) {
        tn_cl_define(b, "DECONV", "1");
    }
    tn_cl_end(b, (size_t)(w.out[0] * w.out[1] * w.out[2]), (size_t)(results / lanes), (size_t)out[0]->shape.dims[0]);
}

// ---- pooling ----

static bool match_pool(const tn_query *query, const char **why)
{
    const tn_pool_attr *attr = query->attr;
    tn_window w;
    const tn_tensor *places = query->n_out > 1 ? query->out[1] : NULL;
    if (query->in[0]->dtype != TN_F32 || query->out[0]->dtype != TN_F32) {
        *why = "only float32 has a kernel";
        return false;
    }
    if (places && attr->storage_order) {
        *why = "places counted down columns";
        return false;
    }
    *why = "windows of unusual sizes";
    return tn_pool_window(attr, &query->in[0]->shape, &w) && usual(&w);
}

static void emit_pool(tn_cl_build *b, const tn_query *query, tn_cl_value *const *in, tn_cl_value *const *out)
{
    const tn_pool_attr *attr = query->attr;
    tn_window w;
    (void)tn_pool_window(attr, &in[0]->shape, &w);
    tn_window_widen(&w);
    const bool places = query->n_out > 1 && out[1];
    tn_cl_mem *from = tn_cl_plain(b, in[0]), *to = tn_cl_new_plain(b, out[0]), *where = places ? tn_cl_new_plain(b, out[1]) : NULL;
    tn_cl_begin(b, "pool_volume");
    tn_cl_in(b, "float", "x", from);
    tn_cl_out(b, "float", "y", to);
    if (places) {
        tn_cl_out(b, "long", "where", where);
        tn_cl_define(b, "PLACES", "1");
    }
    window_args(b, &w);
    tn_cl_define(b, "KIND", "%d", query->op == &tn_op_max_pool ? 0 : query->op == &tn_op_average_pool ? 1 : 2);
    tn_cl_define(b, "COUNT_PAD", "%d", attr->count_include_pad);
    tn_cl_define(b, "END_Z", "(%lld)", (long long)w.pad_end[0]);
    tn_cl_define(b, "END_Y", "(%lld)", (long long)w.pad_end[1]);
    tn_cl_define(b, "END_X", "(%lld)", (long long)w.pad_end[2]);
    tn_cl_define(b, "NORM", "%lld", (long long)attr->p);
    tn_cl_end(b, (size_t)(w.out[0] * w.out[1] * w.out[2]), (size_t)(out[0]->shape.dims[0] * out[0]->shape.dims[1]), 1);
}

static const tn_cl_row rows[] = {
    {.op = &tn_op_conv, .match = match_conv, .emit = emit_conv},     {.op = &tn_op_deconv, .match = match_conv, .emit = emit_conv},
    {.op = &tn_op_max_pool, .match = match_pool, .emit = emit_pool}, {.op = &tn_op_average_pool, .match = match_pool, .emit = emit_pool},
    {.op = &tn_op_lp_pool, .match = match_pool, .emit = emit_pool},
};

TN_CL_EXPORT(volume, rows);
