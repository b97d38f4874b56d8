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

// How one axis reads the operand: result coordinate i is the sum over k < taps of weight[i * taps + k] times element
// index[i * taps + k]. An index of -1 in the first place: the coordinate lies outside, and the value is the extrapolation.
typedef struct tn_resize_table {
    int64_t length, resized;   // of the operand and of the result
    int64_t taps;              // 0: the axis is not resized, there is no table
    double scale;
    bool by_scale;             // scales were given: a resized length may be fractional
    int64_t *index;            // [resized, taps]
    double *weight;            // [resized, taps]
} tn_resize_table;

// Fills in all but the arrays for every axis of x = in[0]; scales or sizes must be known. Returns what is wrong, NULL: nothing.
const char *tn_resize_tables(const tn_resize_attr *attr, const tn_tensor *const *in, int n_in, const tn_shape *y,
                             tn_resize_table tables[TN_MAX_RANK]);

// Fills the arrays of the table of an axis.
void tn_resize_fill(const tn_resize_attr *attr, const tn_tensor *const *in, int n_in, int axis, const tn_resize_table *table);

#endif
