// SPDX-License-Identifier: Apache-2.0
// col2im(columns [N, C * block, L], image_shape, block_shape) -> [N, C, image...], the sum of overlapping blocks; affine_grid(theta
// [N, d, d + 1], size [d + 2]) -> [N, size..., d], the positions that grid_sample reads. ONNX Col2Im 18, AffineGrid 20.
// Ownership: const data. Threads: any.
#ifndef TN_OP_FOLD_H
#define TN_OP_FOLD_H

#include "ir/op.h"

typedef struct tn_col2im_attr { tn_ints strides, pads, dilations; } tn_col2im_attr;
typedef struct tn_affine_grid_attr { bool align_corners; } tn_affine_grid_attr;

extern const tn_op tn_op_col2im;
extern const tn_op tn_op_affine_grid;

#endif
