// SPDX-License-Identifier: Apache-2.0
// deform_conv: a convolution in two spatial dims whose taps are moved by an offset for each position, and weighted by a mask.
// ONNX DeformConv 22 (arXiv 1703.06211, 1811.11168).
// Ownership: const data. Threads: any.
#ifndef TN_OP_DEFORM_H
#define TN_OP_DEFORM_H

#include "ir/op.h"

// x [N, C, H, W], w [M, C / group, kh, kw], offset [N, G * kh * kw * 2, OH, OW] (rows, then columns, of each tap), bias [M]?,
// mask [N, G * kh * kw, OH, OW]?; G = offset_group. Result [N, M, OH, OW].
typedef struct tn_deform_conv_attr {
    tn_ints kernel, strides, pads, dilations;
    int64_t group, offset_group;
} tn_deform_conv_attr;

extern const tn_op tn_op_deform_conv;

#endif
