// SPDX-License-Identifier: Apache-2.0
// col2im(columns [N, C * block, L], image_shape, block_shape) -> [N, C, image...], the sum of overlapping blocks. ONNX Col2Im 18.
// Ownership: const data. Threads: any.
#ifndef TN_OP_FOLD_H
#define TN_OP_FOLD_H

#include "ir/op.h"

typedef struct tn_col2im_attr { tn_ints strides, pads, dilations; } tn_col2im_attr;

extern const tn_op tn_op_col2im;

#endif
