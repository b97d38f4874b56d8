// SPDX-License-Identifier: Apache-2.0
// image_decoder(encoded uint8 [n]) -> uint8 [height, width, channels] (ONNX ImageDecoder 20), through libtenon-image (picture/).
// Ownership: const data. Threads: any.
#ifndef TN_OP_IMAGE_H
#define TN_OP_IMAGE_H

#include "ir/op.h"

enum { TN_PIXEL_RGB, TN_PIXEL_BGR, TN_PIXEL_GRAY };

typedef struct tn_image_attr { int format; } tn_image_attr;

extern const tn_op tn_op_image_decoder;

#endif
