// SPDX-License-Identifier: Apache-2.0
// Boxes: non_max_suppression(boxes, scores, max?, iou?, score?), roi_align(x, rois, batch_indices), max_roi_pool(x, rois).
// Ownership: const data. Threads: any.
#ifndef TN_OP_BOX_H
#define TN_OP_BOX_H

#include "ir/op.h"

typedef struct tn_nms_attr { bool center_point_box; } tn_nms_attr;
typedef struct tn_roi_align_attr { int64_t output_height, output_width, sampling_ratio; double spatial_scale; bool half_pixel, max_mode; } tn_roi_align_attr;
typedef struct tn_roi_pool_attr { int64_t output_height, output_width; double spatial_scale; } tn_roi_pool_attr;

extern const tn_op tn_op_non_max_suppression;
extern const tn_op tn_op_roi_align;
extern const tn_op tn_op_max_roi_pool;

#endif
