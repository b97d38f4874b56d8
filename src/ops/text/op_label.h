// SPDX-License-Identifier: Apache-2.0
// label_encoder(x, keys [n], values [n], otherwise): for each element of x the value of the key that equals it, or `otherwise`
// (ONNX ai.onnx.ml LabelEncoder 4). NaN equals NaN; of equal keys the last one counts.
// Ownership: const data. Threads: any.
#ifndef TN_OP_LABEL_H
#define TN_OP_LABEL_H

#include "ir/op.h"

extern const tn_op tn_op_label_encoder;

#endif
