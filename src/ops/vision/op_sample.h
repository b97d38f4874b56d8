// SPDX-License-Identifier: Apache-2.0
// Reading a picture or volume at given places: grid_sample(x, grid), affine_grid(theta, size). ONNX GridSample 22, AffineGrid 20.
// Ownership: const data. Threads: any.
#ifndef TN_OP_SAMPLE_H
#define TN_OP_SAMPLE_H

#include "ir/op.h"

// mode as TN_RESIZE_*; padding 0 zeros, 1 border, 2 reflection
typedef struct tn_grid_sample_attr { int mode, padding; bool align_corners; } tn_grid_sample_attr;
typedef struct tn_affine_grid_attr { bool align_corners; } tn_affine_grid_attr;

extern const tn_op tn_op_grid_sample;
extern const tn_op tn_op_affine_grid;

#endif
