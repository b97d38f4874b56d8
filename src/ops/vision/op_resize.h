// SPDX-License-Identifier: Apache-2.0
// resize(x, roi?, scales?, sizes?). ONNX Resize 19; Upsample is a resize.
// Ownership: const data. Threads: any.
#ifndef TN_OP_RESIZE_H
#define TN_OP_RESIZE_H

#include "ops/vision/op_sample.h"

enum { TN_RESIZE_NEAREST, TN_RESIZE_LINEAR, TN_RESIZE_CUBIC };
enum { TN_COORD_HALF_PIXEL, TN_COORD_HALF_PIXEL_SYMMETRIC, TN_COORD_PYTORCH_HALF_PIXEL, TN_COORD_ALIGN_CORNERS, TN_COORD_ASYMMETRIC,
       TN_COORD_TF_CROP };
enum { TN_NEAREST_ROUND_PREFER_FLOOR, TN_NEAREST_ROUND_PREFER_CEIL, TN_NEAREST_FLOOR, TN_NEAREST_CEIL };
enum { TN_RATIO_STRETCH, TN_RATIO_NOT_LARGER, TN_RATIO_NOT_SMALLER };
typedef struct tn_resize_attr {
    int mode, coord, nearest, policy;
    bool antialias, exclude_outside;
    double cubic_a, extrapolation;
    tn_ints axes;
} tn_resize_attr;

extern const tn_op tn_op_resize;

#endif
