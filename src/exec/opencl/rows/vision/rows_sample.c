// SPDX-License-Identifier: Apache-2.0
// Pictures and volumes read at given places: grid_sample, affine_grid, roi_align, on plain tensors.
// Ownership: const data. Threads: any.
#include "exec/opencl/rows/cl_rows.h"

#include "ops/vision/op_box.h"
#include "ops/vision/op_resize.h"
#include "ops/vision/op_sample.h"

#include <stdio.h>
#include <string.h>

#define MAX_SPATIAL 3
#define MAX_SAMPLES 4096      // of a bin along one side, as in the reference

// SPATIAL and SIZES of the dims from 2 on, or from 1.
static void write_sizes(tn_cl_build *b, const tn_shape *shape, int first, int spatial)
{
    char list[128] = "";
    for (int d = 0; d < spatial; d++) {
        const size_t used = strlen(list);
        (void)snprintf(list + used, sizeof list - used, "%s%lld", d ? ", " : "", (long long)shape->dims[first + d]);
    }
    tn_cl_define(b, "SIZES", "%s", list);
    tn_cl_define(b, "SPATIAL", "%d", spatial);
}

static bool match_grid(const tn_query *query, const char **why)
{
    const tn_grid_sample_attr *attr = query->attr;
    const bool nearest = attr->mode == TN_RESIZE_NEAREST;
    *why = "elements of this type, or more than three spatial dims";
    return query->in[1]->dtype == TN_F32 && (query->in[0]->dtype == TN_F32 || (nearest && tn_cl_type(query->in[0]->dtype))) &&
           query->in[0]->shape.rank - 2 <= MAX_SPATIAL;
}

static void emit_grid(tn_cl_build *b, const tn_query *query, tn_cl_value *const *in, tn_cl_value *const *out)
{
    const tn_grid_sample_attr *attr = query->attr;
    const tn_shape *x = &in[0]->shape, *y = &out[0]->shape;
    const char *type = in[0]->dtype == TN_F32 ? "float" : tn_cl_bits_type(in[0]->dtype);
    tn_cl_mem *from = tn_cl_plain(b, in[0]), *grid = tn_cl_plain(b, in[1]), *to = tn_cl_new_plain(b, out[0]);
    tn_cl_begin(b, "grid_sample");
    tn_cl_in(b, type, "x", from);
    tn_cl_in(b, "float", "grid", grid);
    tn_cl_out(b, type, "y", to);
    write_sizes(b, x, 2, x->rank - 2);
    tn_cl_define(b, "PIXELS", "%lld", (long long)tn_shape_span(x, 2, x->rank));
    tn_cl_define(b, "VALUE", "%s", type);
    tn_cl_define(b, "TAPS", "%d", attr->mode == TN_RESIZE_NEAREST ? 1 : attr->mode == TN_RESIZE_LINEAR ? 2 : 4);
    tn_cl_define(b, "PADDING", "%d", attr->padding);
    tn_cl_define(b, "ALIGNED", "%d", attr->align_corners);
    tn_cl_define(b, "EDGE", "%s", attr->align_corners ? "0.0f" : "0.5f");
    tn_cl_end(b, (size_t)tn_shape_span(y, 2, y->rank), (size_t)y->dims[1], (size_t)y->dims[0]);
}

static bool match_affine(const tn_query *query, const char **why)
{
    *why = "only float32 has a kernel";
    return query->in[0]->dtype == TN_F32;
}

static void emit_affine(tn_cl_build *b, const tn_query *query, tn_cl_value *const *in, tn_cl_value *const *out)
{
    const tn_shape *y = &out[0]->shape;
    const int spatial = y->rank - 2;
    tn_cl_mem *theta = tn_cl_plain(b, in[0]), *to = tn_cl_new_plain(b, out[0]);
    tn_cl_begin(b, "affine_grid");
    tn_cl_in(b, "float", "theta", theta);
    tn_cl_out(b, "float", "y", to);
    write_sizes(b, y, 1, spatial);
    tn_cl_define(b, "ALIGNED", "%d", ((const tn_affine_grid_attr *)query->attr)->align_corners);
    tn_cl_end(b, (size_t)tn_shape_span(y, 1, y->rank - 1), (size_t)y->dims[0], 1);
}

static bool match_roi(const tn_query *query, const char **why)
{
    *why = "only float32 has a kernel";
    return query->in[0]->dtype == TN_F32 && query->in[1]->dtype == TN_F32 && (query->in[2]->dtype == TN_I32 || query->in[2]->dtype == TN_I64);
}

static void emit_roi(tn_cl_build *b, const tn_query *query, tn_cl_value *const *in, tn_cl_value *const *out)
{
    const tn_roi_align_attr *attr = query->attr;
    const tn_shape *x = &in[0]->shape, *y = &out[0]->shape;
    tn_cl_mem *mems[3], *to, *bad;
    for (int i = 0; i < 3; i++) {
        mems[i] = tn_cl_plain(b, in[i]);
    }
    to = tn_cl_new_plain(b, out[0]);
    bad = tn_cl_flag(b);
    tn_cl_begin(b, "roi_align");
    tn_cl_in(b, "float", "x", mems[0]);
    tn_cl_in(b, "float", "rois", mems[1]);
    tn_cl_in(b, in[2]->dtype == TN_I64 ? "long" : "int", "batch", mems[2]);
    tn_cl_out(b, "float", "y", to);
    tn_cl_out(b, "int", "bad", bad);
    tn_cl_int(b, "images", x->dims[0]);
    tn_cl_int(b, "h", x->dims[2]);
    tn_cl_int(b, "w", x->dims[3]);
    tn_cl_int(b, "bins_y", y->dims[2]);
    tn_cl_int(b, "bins_x", y->dims[3]);
    tn_cl_real(b, "scale", attr->spatial_scale);
    tn_cl_define(b, "OFFSET", "%s", attr->half_pixel ? "0.5f" : "0.0f");
    tn_cl_define(b, "HALF_PIXEL", "%d", attr->half_pixel);
    tn_cl_define(b, "RATIO", "%d", (int)attr->sampling_ratio);
    tn_cl_define(b, "MAX_SAMPLES", "%d", MAX_SAMPLES);
    tn_cl_define(b, "LARGEST", "%d", attr->max_mode);
    tn_cl_end(b, (size_t)(y->dims[2] * y->dims[3]), (size_t)y->dims[1], (size_t)y->dims[0]);
}

static const tn_cl_row rows[] = {
    {.op = &tn_op_grid_sample, .match = match_grid, .emit = emit_grid},
    {.op = &tn_op_affine_grid, .match = match_affine, .emit = emit_affine},
    {.op = &tn_op_roi_align, .match = match_roi, .emit = emit_roi},
};

TN_CL_EXPORT(sample, rows);
