// SPDX-License-Identifier: Apache-2.0
// Values of a flow in their two forms, and the conversions between them: the kernels buffer_to_image and image_to_buffer for every
// content type.
// Ownership: see cl_build.h. Threads: one.
#include "exec/opencl/cl_build.h"
#include "exec/opencl/rows/cl_rows.h"
#include "exec/opencl/run/cl_watch.h"

#include <string.h>

static bool broken(const tn_cl_build *b) { return b->status != TN_OK; }

tn_cl_value *tn_cl_value_of(tn_cl_build *b, const tn_value *value)
{
    return value ? &b->values[value->id] : NULL;
}

bool tn_cl_grid_dims(const tn_shape *shape, int64_t dims[4])
{
    size_t width, height;
    if (shape->rank != 3 && shape->rank != 4) {
        return false;
    }
    dims[0] = shape->dims[0];
    dims[1] = shape->dims[1];
    dims[2] = shape->rank == 4 ? shape->dims[2] : 1;
    dims[3] = shape->dims[shape->rank - 1];
    return tn_cl_content_size(TN_CL_IN_OUT_CHANNEL, dims, 0, &width, &height) && width && height;
}

bool tn_cl_griddable(const tn_tensor *tensor)
{
    int64_t dims[4];
    return tensor->dtype == TN_F32 && tn_cl_grid_dims(&tensor->shape, dims);
}

tn_cl_mem *tn_cl_flag(tn_cl_build *b)
{
    const cl_int zero = 0;
    if (!b->flow->flag && !broken(b)) {
        b->flow->flag = tn_cl_upload(b, &zero, sizeof zero);
    }
    return b->flow->flag;
}

// ---- conversions ----

static const char *element_type(tn_cl_element element)
{
    return element == TN_CL_I32 ? "int" : element == TN_CL_U8 ? "uchar" : "float";
}

static void dims_args(tn_cl_build *b, tn_cl_content content, const int64_t dims[4], int block, tn_cl_element element)
{
    static const char *const names[] = {"d0", "d1", "d2", "d3"};
    if (broken(b)) {
        return;
    }
    b->step->helper = "content";
    for (int i = 0; i < 4; i++) {
        tn_cl_int(b, names[i], dims[i]);
    }
    tn_cl_define(b, "CONTENT", "%d", (int)content);
    tn_cl_define(b, "ELEMENT", "%s", element_type(element));
    tn_cl_define(b, "TEXEL4", "%s4", element == TN_CL_I32 ? "int" : element == TN_CL_U8 ? "uint" : "float");
    tn_cl_define(b, "BLOCK", "%d", content == TN_CL_WINOGRAD_FILTER ? block : 2);
    if (content != TN_CL_WINOGRAD_FILTER) {
        return;
    }
    double inverse[3][8];
    (void)tn_cl_winograd_inverse(block, inverse);
    tn_cl_code(b, "__constant float g_rows[] = {");
    for (int r = 0; r < block + 2; r++) {
        const float *g = tn_cl_winograd_row(block, r);
        tn_cl_code(b, "%.9ef, %.9ef, %.9ef, ", (double)g[0], (double)g[1], (double)g[2]);
    }
    tn_cl_code(b, "};\n__constant float g_inverse[] = {");
    for (int i = 0; i < 3 * (block + 2); i++) {
        tn_cl_code(b, "%.9ef, ", inverse[i / (block + 2)][i % (block + 2)]);
    }
    tn_cl_code(b, "};\n");
}

void tn_cl_to_grid(tn_cl_build *b, tn_cl_content content, const int64_t dims[4], int block, tn_cl_mem *plain, tn_cl_mem *grid)
{
    if (!plain || !grid) {
        return;
    }
    tn_cl_begin(b, "buffer_to_image");
    tn_cl_in(b, element_type(grid->element), "a", plain);
    tn_cl_out_grid(b, "Y", grid);
    dims_args(b, content, dims, block, grid->element);
    tn_cl_end(b, grid->width, grid->height, 1);
}

void tn_cl_to_plain(tn_cl_build *b, tn_cl_content content, const int64_t dims[4], int block, tn_cl_mem *grid, tn_cl_mem *plain)
{
    if (!plain || !grid) {
        return;
    }
    const bool winograd = content == TN_CL_WINOGRAD_FILTER;
    tn_cl_begin(b, "image_to_buffer");
    tn_cl_in_grid(b, "X", grid);
    tn_cl_out(b, element_type(grid->element), "y", plain);
    dims_args(b, content, dims, block, grid->element);
    // Winograd: one item reads all taps of four filters.
    tn_cl_end(b, grid->width, winograd ? (size_t)dims[0] : grid->height, 1);
}

tn_cl_mem *tn_cl_weight(tn_cl_build *b, tn_cl_content content, const int64_t dims[4], int block, const void *data)
{
    size_t width, height;
    const tn_tensor tensor = {.dtype = TN_F32, .shape = tn_shape_of(4, dims)};
    size_t bytes = 0;
    if (broken(b)) {
        return NULL;
    }
    if (!tn_cl_content_size(content, dims, block, &width, &height) || !tn_tensor_bytes(&tensor, &bytes)) {
        b->status = tn_fail(b->diag, TN_UNSUPPORTED, b->node ? b->node->name : "opencl", "weights too large for %s", tn_cl_content_text(content));
        return NULL;
    }
    // Readers of filters step over whole blocks of four input channels, so in a buffer the row goes on with zeros to the block's end.
    const tn_cl_facts *facts = &b->cl->facts;
    const size_t whole = TN_CEIL_DIV(width, 4) * 4;
    const bool outer_store = b->buffers;
    b->buffers = outer_store || (b->cl->filter_buffers && content != TN_CL_IN_OUT_CHANNEL);
    const bool fits = facts->images && !b->buffers && whole <= facts->max_width && height <= facts->max_height;
    width = content == TN_CL_CONV2D_FILTER && !fits ? whole : width;
    const bool outer = b->once;
    b->once = true;
    tn_cl_mem *plain = tn_cl_upload(b, data, bytes);
    // Lists are short, and transformed filters would round once more: both stay whole floats.
    const bool whole_float = content == TN_CL_ARGUMENT || content == TN_CL_WINOGRAD_FILTER;
    const size_t count = bytes / sizeof(float), filters = content == TN_CL_IN_OUT_CHANNEL ? count : (size_t)dims[0];   // a map has no filters
    const bool half = !whole_float && tn_cl_watch_weight(b, data, count, filters);
    tn_cl_mem *grid = tn_cl_take_grid(b, half ? TN_CL_F16 : TN_CL_F32, width, height);
    tn_cl_to_grid(b, content, dims, block, plain, grid);
    tn_cl_drop(b, plain);
    b->once = outer;
    b->buffers = outer_store;
    return broken(b) ? NULL : grid;
}

// ---- forms ----

static size_t plain_bytes(const tn_cl_value *value)
{
    const tn_tensor tensor = {.dtype = value->dtype, .shape = value->shape};
    size_t bytes = 0;
    return tn_tensor_bytes(&tensor, &bytes) ? bytes : 0;
}

// Whether plain elements and texels of the value are the same bytes: one pixel of whole channel blocks, kept as floats. Images
// also need rows that suit the device.
static bool is_flat(tn_cl_build *b, const tn_cl_value *value, size_t *width, size_t *height)
{
    int64_t d[4];
    if (b->once || value->value->constant || value->dtype != TN_F32 || value->whole || !tn_cl_grid_dims(&value->shape, d) || d[1] % 4 ||
        d[2] * d[3] != 1 || tn_cl_watch_value(b, value)) {
        return false;
    }
    *width = (size_t)d[1] / 4;
    *height = (size_t)d[0];
    const tn_cl_facts *facts = &b->cl->facts;
    return b->buffers || !facts->images ||
           (facts->pitch && *width % facts->pitch == 0 && *width <= facts->max_width && *height <= facts->max_height);
}

tn_cl_mem *tn_cl_new_plain(tn_cl_build *b, tn_cl_value *value)
{
    value->plain = tn_cl_take_plain(b, plain_bytes(value));
    return value->plain;
}

tn_cl_mem *tn_cl_new_grid(tn_cl_build *b, tn_cl_value *value)
{
    int64_t dims[4];
    size_t width = 1, height = 1;
    if (!tn_cl_grid_dims(&value->shape, dims) || !tn_cl_content_size(TN_CL_IN_OUT_CHANNEL, dims, 0, &width, &height)) {
        b->status = broken(b) ? b->status : tn_fail(b->diag, TN_INTERNAL, value->value->name, "has no grid form");
        return NULL;
    }
    const tn_cl_value *whole = value->whole;
    if (!b->buffers && b->cl->facts.images && is_flat(b, value, &width, &height)) {
        value->cells = tn_cl_over_plain(b, tn_cl_take_plain(b, plain_bytes(value)), width, height);
    } else if (whole && whole->cells && whole->cells->height == height) {
        value->cells = tn_cl_view_grid(b, whole->cells, (size_t)(value->block * dims[3]), width);
    } else {
        value->cells = tn_cl_take_grid(b, tn_cl_watch_value(b, value) ? TN_CL_F16 : TN_CL_F32, width, height);
        if (value->cells) {
            value->cells->watch = (int)value->value->id + 1;
        }
    }
    return value->cells;
}

static void upload_constant(tn_cl_build *b, tn_cl_value *value)
{
    if (!value->plain && !value->cells && value->value->constant) {
        value->plain = tn_cl_upload(b, value->value->constant->data, plain_bytes(value));
    }
}

tn_cl_mem *tn_cl_plain(tn_cl_build *b, tn_cl_value *value)
{
    int64_t dims[4];
    if (broken(b)) {
        return NULL;
    }
    size_t width, height;
    upload_constant(b, value);
    if (!value->plain && value->cells && !value->cells->of && (value->cells->below || !value->cells->image) && is_flat(b, value, &width, &height)) {
        value->plain = value->cells->below ? value->cells->below : value->cells;
    }
    if (!value->plain && value->cells && tn_cl_grid_dims(&value->shape, dims)) {
        tn_cl_mem *grid = value->cells;
        tn_cl_to_plain(b, TN_CL_IN_OUT_CHANNEL, dims, 0, grid, tn_cl_new_plain(b, value));
    }
    if (!value->plain && !broken(b)) {
        b->status = tn_fail(b->diag, TN_INTERNAL, value->value->name, "is used before it is made");
    }
    return broken(b) ? NULL : value->plain;
}

tn_cl_mem *tn_cl_grid(tn_cl_build *b, tn_cl_value *value)
{
    int64_t dims[4];
    if (broken(b) || value->cells) {
        return broken(b) ? NULL : value->cells;
    }
    size_t width, height;
    if (value->plain && is_flat(b, value, &width, &height)) {
        value->cells = tn_cl_over_plain(b, value->plain, width, height);
        return value->cells;
    }
    const bool constant = value->value->constant != NULL, outer = b->once;
    b->once = outer || constant;
    tn_cl_mem *plain = tn_cl_plain(b, value);
    tn_cl_mem *grid = tn_cl_new_grid(b, value);
    if (plain && grid && tn_cl_grid_dims(&value->shape, dims)) {
        tn_cl_to_grid(b, TN_CL_IN_OUT_CHANNEL, dims, 0, plain, grid);
    }
    b->once = outer;
    return broken(b) ? NULL : grid;
}

bool tn_cl_wants_grid(tn_cl_build *b, const tn_cl_value *value)
{
    const tn_value *v = value->value;
    for (size_t u = 0; u < v->n_uses; u++) {
        if (v->uses[u].index == 0 && tn_cl_row_takes_grid(v->uses[u].node->op)) {
            return true;
        }
    }
    (void)b;
    return false;
}
