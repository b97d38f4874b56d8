// SPDX-License-Identifier: Apache-2.0
// slice(x, starts, ends, axes?, steps?), pad(x, pads, value?, axes?), center_crop_pad(x, shape).
// Ownership: const data. Threads: any.
#ifndef TN_OP_SLICE_H
#define TN_OP_SLICE_H

#include "ir/op.h"

enum { TN_PAD_CONSTANT, TN_PAD_REFLECT, TN_PAD_EDGE, TN_PAD_WRAP };
typedef struct tn_pad_attr { int mode; } tn_pad_attr;

typedef struct tn_crop_attr { tn_ints axes; } tn_crop_attr;      // not set: all

extern const tn_op tn_op_slice;
extern const tn_op tn_op_pad;
extern const tn_op tn_op_center_crop_pad;

#endif
