// SPDX-License-Identifier: Apache-2.0
// Pooling: windows over the pixels of a grid.
// Ownership: const data. Threads: any.
#include "exec/opencl/rows/cl_rows.h"

#include "base/num.h"
#include "ops/nn/op_pool.h"
#include "ops/op_facts.h"

static bool match_grids(const tn_query *query, const char **why)
{
    if (!tn_cl_all_f32(query, why)) {
        return false;
    }
    if (query->n_out > 1 && query->out[1]) {
        *why = "indices are not computed";
        return false;
    }
    if (!tn_cl_griddable(query->in[0]) || !tn_cl_griddable(query->out[0])) {
        *why = "only one or two spatial dims";
        return false;
    }
    return true;
}

// ---- windows ----

static bool pool_window(const tn_query *query, tn_window *w)
{
    if (!tn_pool_window(query->attr, &query->in[0]->shape, w) || w->rank > 2) {
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
        if (w->kernel[i] * w->dilation[i] > far || w->stride[i] > far || w->pad_begin[i] > far || w->pad_end[i] > far) {
            return false;
        }
    }
    return true;
}

static bool match_pool(const tn_query *query, const char **why)
{
    tn_window window;
    if (!match_grids(query, why)) {
        return false;
    }
    *why = "only one or two spatial dims of usual sizes";
    return pool_window(query, &window);
}

static void emit_pool(tn_cl_build *b, const tn_query *query, tn_cl_value *const *in, tn_cl_value *const *out)
{
    const tn_pool_attr *attr = query->attr;
    tn_window w;
    int64_t x[4] = {0}, y[4] = {0};
    (void)pool_window(query, &w);
    (void)tn_cl_grid_dims(&in[0]->shape, x);
    (void)tn_cl_grid_dims(&out[0]->shape, y);
    tn_cl_mem *from = tn_cl_grid(b, in[0]), *to = tn_cl_new_grid(b, out[0]);
    const struct { const char *name; int64_t value; } defines[] = {
        {"KH", w.kernel[0]}, {"KW", w.kernel[1]}, {"STRIDE_Y", w.stride[0]}, {"STRIDE_X", w.stride[1]}, {"DIL_Y", w.dilation[0]},
        {"DIL_X", w.dilation[1]}, {"PAD_Y", w.pad_begin[0]}, {"PAD_X", w.pad_begin[1]}, {"END_Y", w.pad_end[0]}, {"END_X", w.pad_end[1]},
        {"MAX", query->op == &tn_op_max_pool}, {"COUNT_PAD", attr->count_include_pad},
    };
    tn_cl_begin(b, "pool");
    tn_cl_in_grid(b, "X", from);
    tn_cl_out_grid(b, "Y", to);
    tn_cl_int(b, "h", x[2]);
    tn_cl_int(b, "w", x[3]);
    tn_cl_int(b, "oh", y[2]);
    tn_cl_int(b, "ow", y[3]);
    for (size_t i = 0; i < TN_COUNT(defines); i++) {
        tn_cl_define(b, defines[i].name, "(%lld)", (long long)defines[i].value);
    }
    tn_cl_mask(b, y[1]);
    tn_cl_end(b, (size_t)y[3], (size_t)TN_CEIL_DIV(y[1], 4), (size_t)(y[0] * y[2]));
}

static void emit_global(tn_cl_build *b, const tn_query *query, tn_cl_value *const *in, tn_cl_value *const *out)
{
    int64_t x[4] = {0};
    (void)tn_cl_grid_dims(&in[0]->shape, x);
    const bool grid = tn_cl_wants_grid(b, out[0]);
    const size_t limit = TN_MIN(b->cl->facts.max_group, (size_t)(b->cl->facts.is_cpu ? 8 : 64));
    size_t parts = 1;
    while (parts * 2 <= limit && (int64_t)parts < x[2] * x[3]) {
        parts *= 2;
    }
    tn_cl_mem *from = tn_cl_grid(b, in[0]), *to = grid ? tn_cl_new_grid(b, out[0]) : tn_cl_new_plain(b, out[0]);
    tn_cl_begin(b, "pool_global");
    tn_cl_in_grid(b, "X", from);
    if (grid) {
        tn_cl_out_grid(b, "Y", to);
        tn_cl_mask(b, x[1]);
    } else {
        tn_cl_out(b, "float", "y", to);
        tn_cl_define(b, "PLAIN_OUT", "1");
    }
    tn_cl_int(b, "h", x[2]);
    tn_cl_int(b, "w", x[3]);
    tn_cl_int(b, "channels", x[1]);
    tn_cl_local(b, "float4", "sums", parts * 16);
    tn_cl_define(b, "PARTS", "%zu", parts);
    tn_cl_define(b, "MAX", "%d", query->op == &tn_op_global_max_pool);
    tn_cl_group(b, parts, 1, 1);
    tn_cl_end(b, parts, (size_t)TN_CEIL_DIV(x[1], 4), (size_t)x[0]);
}

static const tn_cl_row rows[] = {
    {.op = &tn_op_max_pool, .grid = true, .match = match_pool, .emit = emit_pool},
    {.op = &tn_op_average_pool, .grid = true, .match = match_pool, .emit = emit_pool},
    {.op = &tn_op_global_average_pool, .grid = true, .match = match_grids, .emit = emit_global},
    {.op = &tn_op_global_max_pool, .grid = true, .match = match_grids, .emit = emit_global},
};

TN_CL_EXPORT(pool, rows);
