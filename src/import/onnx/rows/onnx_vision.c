// SPDX-License-Identifier: Apache-2.0
// Resizing, sampling, boxes.
// Ownership: const data. Threads: any.
#include "import/onnx/rows/onnx_rows.h"

#include "ops/image/op_image.h"
#include "ops/vision/op_box.h"
#include "ops/vision/op_fold.h"
#include "ops/vision/op_resize.h"
#include "ops/vision/op_sample.h"

#include <stddef.h>

// Each in the order of its enum in ops/vision/op_resize.h.
static const char *const resize_modes[] = {"nearest", "linear", "cubic", NULL};
static const char *const old_resize_modes[] = {"nearest", "bilinear", NULL};
static const char *const coords[] = {
    "half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric", "tf_crop_and_resize", NULL};
static const char *const nearest_modes[] = {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil", NULL};
static const char *const policies[] = {"stretch", "not_larger", "not_smaller", NULL};
static const char *const sample_modes[] = {"nearest", "linear", "cubic", NULL};
static const char *const old_sample_modes[] = {"nearest", "bilinear", "bicubic", NULL};
static const char *const paddings[] = {"zeros", "border", "reflection", NULL};
static const char *const roi_modes[] = {"avg", "max", NULL};
static const char *const roi_coords[] = {"output_half_pixel", "half_pixel", NULL};

static const tn_onnx_field resize_fields[] = {
    TN_FIELD_ENUM(tn_resize_attr, mode, "mode", resize_modes, TN_RESIZE_NEAREST),
    TN_FIELD_ENUM(tn_resize_attr, coord, "coordinate_transformation_mode", coords, TN_COORD_HALF_PIXEL),
    TN_FIELD_ENUM(tn_resize_attr, nearest, "nearest_mode", nearest_modes, TN_NEAREST_ROUND_PREFER_FLOOR),
    TN_FIELD_ENUM(tn_resize_attr, policy, "keep_aspect_ratio_policy", policies, TN_RATIO_STRETCH),
    TN_FIELD_BOOL(tn_resize_attr, antialias, "antialias", 0),
    TN_FIELD_BOOL(tn_resize_attr, exclude_outside, "exclude_outside", 0),
    TN_FIELD_REAL(tn_resize_attr, cubic_a, "cubic_coeff_a", -0.75f),
    TN_FIELD_REAL(tn_resize_attr, extrapolation, "extrapolation_value", 0.0f),
    TN_FIELD_INTS(tn_resize_attr, axes, "axes"),
};

// Opset 11 and 12 require all operands: those without meaning come as tensors without elements.
static void map_resize(tn_onnx_node *node)
{
    for (int i = 1; i < node->n_in; ++i) {
        int64_t count;
        if (node->in[i] && tn_shape_count(&node->in[i]->shape, &count) && count == 0) {
            node->in[i] = NULL;
        }
    }
    const tn_onnx_attr *coord = tn_onnx_find(node, "coordinate_transformation_mode");
    if (node->n_in > 1 && !(coord && tn_span_is(coord->bytes, "tf_crop_and_resize"))) {
        node->in[1] = NULL;
    }
    tn_onnx_plain(node);
}

// Upsample and the Resize of opset 10 took source positions x / scale. They rounded down when they enlarged and, as onnxruntime
// and its exporters have it, up when they shrank.
static void finish_old_resize(tn_onnx_node *node, int mode, tn_value *scales)
{
    tn_resize_attr attr = {.mode = mode, .coord = TN_COORD_ASYMMETRIC, .nearest = TN_NEAREST_FLOOR, .cubic_a = -0.75};
    bool smaller = false, larger = false;
    int64_t count = 0;
    if (scales && scales->constant && scales->dtype == TN_F32 && tn_shape_count(&scales->shape, &count)) {
        for (int64_t i = 0; i < count; ++i) {
            const double scale = tn_dtype_load(TN_F32, scales->constant->data, (size_t)i);
            smaller = smaller || scale < 1;
            larger = larger || scale > 1;
        }
    }
    if (smaller && larger && mode == TN_RESIZE_NEAREST) {
        tn_onnx_refuse(node, "nearest samples of a tensor that grows in one dim and shrinks in another");
    }
    attr.nearest = smaller ? TN_NEAREST_CEIL : TN_NEAREST_FLOOR;
    tn_onnx_finish(node, &tn_op_resize, &attr, TN_IN(tn_onnx_in(node, 0), NULL, scales));
}

static void map_resize_10(tn_onnx_node *node)
{
    const int mode = tn_onnx_choice(node, "mode", resize_modes, TN_RESIZE_NEAREST);
    finish_old_resize(node, mode, tn_onnx_in(node, 1));
}

static tn_value *const_reals(tn_onnx_node *node, const float *v, int64_t count)
{
    const tn_shape shape = tn_shape_of(1, &count);
    return tn_onnx_const(node, TN_F32, &shape, v);
}

// Opset 7: scales as an attribute. Opset 1: the scales of height and width.
static void map_upsample_attr(tn_onnx_node *node)
{
    tn_value *scales;
    int mode;
    if (node->opset >= 7) {
        const tn_reals list = tn_onnx_reals(node, "scales");
        mode = tn_onnx_choice(node, "mode", resize_modes, TN_RESIZE_NEAREST);
        scales = const_reals(node, list.v, list.count);
    } else {
        const float list[4] = {1, 1, (float)tn_onnx_real(node, "height_scale", 0), (float)tn_onnx_real(node, "width_scale", 0)};
        mode = tn_onnx_choice(node, "mode", old_resize_modes, TN_RESIZE_NEAREST);
        scales = const_reals(node, list, 4);
    }
    finish_old_resize(node, mode, scales);
}

static const tn_onnx_field sample_fields[] = {
    TN_FIELD_ENUM(tn_grid_sample_attr, mode, "mode", sample_modes, TN_RESIZE_LINEAR),
    TN_FIELD_ENUM(tn_grid_sample_attr, padding, "padding_mode", paddings, 0),
    TN_FIELD_BOOL(tn_grid_sample_attr, align_corners, "align_corners", 0),
};
static const tn_onnx_field old_sample_fields[] = {
    TN_FIELD_ENUM(tn_grid_sample_attr, mode, "mode", old_sample_modes, TN_RESIZE_LINEAR),
    TN_FIELD_ENUM(tn_grid_sample_attr, padding, "padding_mode", paddings, 0),
    TN_FIELD_BOOL(tn_grid_sample_attr, align_corners, "align_corners", 0),
};

static const tn_onnx_field nms_fields[] = {TN_FIELD_BOOL(tn_nms_attr, center_point_box, "center_point_box", 0)};

#define ROI_FIELDS(half_pixel_default)                                                                                             \
    TN_FIELD_INT(tn_roi_align_attr, output_height, "output_height", 1),                                                            \
        TN_FIELD_INT(tn_roi_align_attr, output_width, "output_width", 1),                                                          \
        TN_FIELD_INT(tn_roi_align_attr, sampling_ratio, "sampling_ratio", 0),                                                      \
        TN_FIELD_REAL(tn_roi_align_attr, spatial_scale, "spatial_scale", 1.0f),                                                    \
        TN_FIELD_CHOICE(tn_roi_align_attr, max_mode, "mode", roi_modes, 0),                                                        \
        TN_FIELD_CHOICE(tn_roi_align_attr, half_pixel, "coordinate_transformation_mode", roi_coords, half_pixel_default)

static const tn_onnx_field old_roi_fields[] = {ROI_FIELDS(0)};
static const tn_onnx_field roi_fields[] = {ROI_FIELDS(1)};

static const tn_onnx_field affine_fields[] = {TN_FIELD_BOOL(tn_affine_grid_attr, align_corners, "align_corners", 0)};

static void map_max_roi_pool(tn_onnx_node *node)
{
    const tn_ints shape = tn_onnx_ints(node, "pooled_shape");
    if (tn_onnx_good(node) && shape.count != 2) {
        tn_onnx_fail(node, TN_INVALID_MODEL, "pooled_shape must hold a height and a width");
        return;
    }
    const tn_roi_pool_attr attr = {.output_height = shape.v ? shape.v[0] : 0,
                                   .output_width = shape.v ? shape.v[1] : 0,
                                   .spatial_scale = tn_onnx_real(node, "spatial_scale", 1)};
    tn_onnx_finish(node, &tn_op_max_roi_pool, &attr, TN_IN(tn_onnx_in(node, 0), tn_onnx_in(node, 1)));
}

static const tn_onnx_field fold_fields[] = {
    TN_FIELD_INTS(tn_col2im_attr, strides, "strides"),
    TN_FIELD_INTS(tn_col2im_attr, pads, "pads"),
    TN_FIELD_INTS(tn_col2im_attr, dilations, "dilations"),
};

static const char *const pixel_formats[] = {"RGB", "BGR", "Grayscale", NULL}; // TN_PIXEL_RGB ...
static const tn_onnx_field image_fields[] = {TN_FIELD_ENUM(tn_image_attr, format, "pixel_format", pixel_formats, TN_PIXEL_RGB)};

static const tn_onnx_row rows[] = {
    {.type = "AffineGrid", .since = 20, .op = &tn_op_affine_grid, TN_FIELDS(affine_fields)},
    {.type = "Col2Im", .since = 18, .op = &tn_op_col2im, TN_FIELDS(fold_fields)},
    {.type = "GridSample", .since = 16, .until = 19, .op = &tn_op_grid_sample, TN_FIELDS(old_sample_fields)},
    {.type = "GridSample", .since = 20, .op = &tn_op_grid_sample, TN_FIELDS(sample_fields)},
    {.type = "ImageDecoder", .since = 20, .op = &tn_op_image_decoder, TN_FIELDS(image_fields)},
    {.type = "MaxRoiPool", .since = 1, .max_in = 2, .op = &tn_op_max_roi_pool, .map = map_max_roi_pool},
    {.type = "NonMaxSuppression", .since = 10, .op = &tn_op_non_max_suppression, TN_FIELDS(nms_fields)},
    {.type = "Resize", .since = 10, .until = 10, .max_in = 2, .op = &tn_op_resize, .map = map_resize_10},
    {.type = "Resize", .since = 11, .op = &tn_op_resize, .map = map_resize, TN_FIELDS(resize_fields)},
    {.type = "RoiAlign", .since = 10, .until = 15, .op = &tn_op_roi_align, TN_FIELDS(old_roi_fields)},
    {.type = "RoiAlign", .since = 16, .op = &tn_op_roi_align, TN_FIELDS(roi_fields)},
    {.type = "Upsample", .since = 1, .until = 8, .max_in = 1, .op = &tn_op_resize, .map = map_upsample_attr},
    {.type = "Upsample", .since = 9, .max_in = 2, .op = &tn_op_resize, .map = map_resize_10},
    {0},
};

const tn_onnx_table tn_onnx_vision = {"", rows};
